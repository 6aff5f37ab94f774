//! Memory that graphs allocate.
//!
//! Its address must stay the same from launch to launch, so it is there from when the node is made until nobody has the node: its graph,
//! what was instantiated from that, or a launch. What a launch has allocated also stays until it is freed, as it may be long after its graph is gone.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::allocations;
use crate::boundary::Ptr;
use crate::error::{Answer, Error};

static USED: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);

pub struct GraphMemory {
    pub address: u64,
    pub bytes: u64,
}

impl GraphMemory {
    pub fn new(bytes: u64) -> Result<Arc<GraphMemory>, Error> {
        let address = allocations::allocate_for_graph(bytes)?;
        MOST.fetch_max(USED.fetch_add(bytes, Relaxed) + bytes, Relaxed);
        Ok(Arc::new(GraphMemory { address, bytes }))
    }
}

/// What launches have allocated and nobody has freed since, by its address.
fn allocated() -> MutexGuard<'static, BTreeMap<u64, Arc<GraphMemory>>> {
    static ALLOCATED: Mutex<BTreeMap<u64, Arc<GraphMemory>>> = Mutex::new(BTreeMap::new());
    ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A launch allocates it, again if it is to be freed by the launch.
pub fn allocate(memory: &Arc<GraphMemory>) {
    allocated().insert(memory.address, memory.clone());
}

/// It is freed. Its next launch uses it again.
pub fn free(address: u64) {
    let last = allocated().remove(&address);
    drop(last);
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        USED.fetch_sub(self.bytes, Relaxed);
        allocations::end(self.address);
    }
}

/// Of `CUgraphMem_attribute`: what is used and what is kept for graphs, which is the same, now and at most.
const LAST: u32 = 3;

pub fn attribute(which: u32, value: Ptr<u64>) -> Answer {
    match which {
        0 | 2 => value.set(USED.load(Relaxed)),
        1 | LAST => value.set(MOST.load(Relaxed)),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// What was most can be forgotten.
pub fn set_attribute(which: u32, value: Ptr<u64>) -> Answer {
    if !matches!(which, 1 | LAST) || value.get()? != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    MOST.store(USED.load(Relaxed), Relaxed);
    Ok(())
}

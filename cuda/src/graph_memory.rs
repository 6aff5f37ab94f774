//! Memory that graphs allocate.
//!
//! Its address must stay the same for all launches. So the memory exists from the creation of its
//! node until nobody has the node: neither its graph, nor a graph instantiated from it, nor a
//! launch. Memory that a launch has allocated also stays until it is freed, which may be long after
//! its graph is gone.

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

/// The memory that launches have allocated and that is not freed yet, by address.
fn allocated() -> MutexGuard<'static, BTreeMap<u64, Arc<GraphMemory>>> {
    static ALLOCATED: Mutex<BTreeMap<u64, Arc<GraphMemory>>> = Mutex::new(BTreeMap::new());
    ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a launch allocates the memory, even if the launch also frees it.
pub fn allocate(memory: &Arc<GraphMemory>) {
    allocated().insert(memory.address, memory.clone());
}

/// Frees the memory. The graph's next launch uses it again.
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

/// The last `CUgraphMem_attribute`. The attributes are used and reserved memory, now and at most;
/// both are equal here.
const LAST: u32 = 3;

pub fn attribute(which: u32, value: Ptr<u64>) -> Answer {
    match which {
        0 | 2 => value.set(USED.load(Relaxed)),
        1 | LAST => value.set(MOST.load(Relaxed)),
        _ => Err(Error::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Resets the maximum.
pub fn set_attribute(which: u32, value: Ptr<u64>) -> Answer {
    if !matches!(which, 1 | LAST) || value.get()? != 0 {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    MOST.store(USED.load(Relaxed), Relaxed);
    Ok(())
}

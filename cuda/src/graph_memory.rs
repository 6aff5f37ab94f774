//! Memory that graphs allocate.
//!
//! Its address must stay the same from launch to launch, so it is there from when the node is made until nobody has the node: its graph,
//! what was instantiated from that, or a launch. Freeing it in between does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

//! Memory pools. Freed memory leaves its pool at once, so a pool has only memory in use.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, LazyLock};

use crate::allocations::{self, Kind};
use crate::boundary::Ptr;
use crate::context::Context;
use crate::error::{Answer, Error};
use crate::handles::Table;

static POOLS: Table<Pool> = Table::new();

/// The device's default pool, which always exists.
static DEFAULT: LazyLock<u64> = LazyLock::new(|| create(0));
/// The pool of `cuMemAllocAsync`; 0: the default pool.
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// Values of `CUmemPool_attribute`: 1 to 3 permit reuse, 4 is the memory to keep, 5 to 8 are the
/// present and the highest amounts.
const REUSE: std::ops::RangeInclusive<u32> = 1..=3;
const THRESHOLD: u32 = 4;

pub struct Pool {
    /// The limit in bytes; 0: no limit.
    pub most: u64,
    reuse: [AtomicU32; 3],
    threshold: AtomicU64,
    /// The highest number of bytes in use.
    high: AtomicU64,
}

pub fn create(most: u64) -> u64 {
    let reuse = [1, 1, 1].map(AtomicU32::new);
    POOLS.insert(Arc::new(Pool {
        most,
        reuse,
        threshold: AtomicU64::new(0),
        high: AtomicU64::new(0),
    }))
}

pub fn default() -> u64 {
    *DEFAULT
}

pub fn current() -> u64 {
    match CURRENT.load(Relaxed) {
        0 => default(),
        pool => pool,
    }
}

pub fn set_current(pool: u64) {
    CURRENT.store(pool, Relaxed);
}

pub fn get(handle: u64) -> Result<Arc<Pool>, Error> {
    default();
    POOLS.find(handle).ok_or(Error::CUDA_ERROR_INVALID_VALUE)
}

/// Destroys a pool. Its allocations stay until they are freed.
pub fn destroy(handle: u64) -> Answer {
    if handle == default() {
        return Err(Error::CUDA_ERROR_INVALID_VALUE);
    }
    let _ = CURRENT.compare_exchange(handle, 0, Relaxed, Relaxed);
    POOLS.remove(handle).map(|_| ()).map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)
}

fn used(handle: u64) -> u64 {
    allocations::of_pool(handle).iter().map(|found| found.bytes).sum()
}

pub fn allocate(context: &Context, handle: u64, bytes: u64) -> Result<u64, Error> {
    let pool = get(handle)?;
    let used = used(handle) + bytes;
    if pool.most != 0 && used > pool.most {
        return Err(Error::CUDA_ERROR_OUT_OF_MEMORY);
    }
    let address = allocations::allocate(context, bytes, Kind::Pool(handle), 0)?;
    pool.high.fetch_max(used, Relaxed);
    Ok(address)
}

impl Pool {
    pub fn set(&self, attribute: u32, value: Ptr<u64>) -> Answer {
        if REUSE.contains(&attribute) {
            self.reuse[attribute as usize - 1].store(value.cast::<u32>().get()?, Relaxed);
            return Ok(());
        }
        let value = value.get()?;
        match attribute {
            THRESHOLD => self.threshold.store(value, Relaxed),
            // Programs may reset the maximum.
            6 | 8 if value == 0 => self.high.store(0, Relaxed),
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
        Ok(())
    }

    pub fn put(&self, handle: u64, attribute: u32, value: Ptr<u64>) -> Answer {
        if REUSE.contains(&attribute) {
            return value.cast::<u32>().set(self.reuse[attribute as usize - 1].load(Relaxed));
        }
        value.set(match attribute {
            THRESHOLD => self.threshold.load(Relaxed),
            5 | 7 => used(handle),
            6 | 8 => self.high.load(Relaxed).max(used(handle)),
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        })
    }
}

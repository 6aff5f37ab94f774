//! The allocations of the driver that calls are forwarded to.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::real::{self, watch};
use crate::boundary::Ptr;
use crate::record::Machine;

/// The bytes of each allocation, by address.
static RANGES: RwLock<BTreeMap<u64, u64>> = RwLock::new(BTreeMap::new());

fn ranges() -> RwLockReadGuard<'static, BTreeMap<u64, u64>> {
    RANGES.read().unwrap_or_else(PoisonError::into_inner)
}

fn enter(address: u64, bytes: u64) {
    RANGES.write().unwrap_or_else(PoisonError::into_inner).insert(address, bytes);
}

/// Enters the allocation of a call.
fn allocated(answer: u32, out: Ptr<u64>, bytes: usize) -> u32 {
    if answer == 0
        && let Ok(address) = out.get()
    {
        enter(address, bytes as u64);
    }
    answer
}

/// Frees an allocation by a call. The entry goes first, as other calls may get the addresses before
/// the call returns.
fn freed(address: u64, real: impl FnOnce() -> u32) -> u32 {
    let bytes = RANGES.write().unwrap_or_else(PoisonError::into_inner).remove(&address);
    let answer = real();
    if answer != 0
        && let Some(bytes) = bytes
    {
        enter(address, bytes);
    }
    answer
}

/// Memory of the driver that calls are forwarded to.
pub struct Forwarded;

impl Machine for Forwarded {
    fn find(&self, address: u64) -> Option<(u64, u64)> {
        let ranges = ranges();
        let (&start, &bytes) = ranges.range(..=address).next_back()?;
        (address - start < bytes.max(1)).then_some((start, bytes))
    }

    /// Reads memory in one copy per allocation, as a copy must not leave its allocation. Memory in
    /// no allocation is a variable of a module.
    fn read(&self, address: u64, into: &mut [u8]) {
        let end = address.saturating_add(into.len() as u64);
        let within = |(&start, &bytes): (&u64, &u64)| {
            (start.max(address), start.saturating_add(bytes).min(end))
        };
        let mut parts: Vec<(u64, u64)> =
            ranges().range(..end).rev().map(within).take_while(|(from, to)| from < to).collect();
        if parts.is_empty() {
            parts.push((address, end));
        }
        for (from, to) in parts {
            let part = &mut into[(from - address) as usize..(to - address) as usize];
            // Bytes that cannot be read stay 0.
            real::read(from, part);
        }
    }
}

watch! { WATCHED:
    fn cuMemAlloc_v2(out: Ptr<u64>, bytes: usize) |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemAllocPitch_v2(out: Ptr<u64>, pitch: Ptr<usize>, width: usize, height: usize, element: u32) |real| {
        let answer = real();
        allocated(answer, out, pitch.get().map_or(0, |pitch| pitch.saturating_mul(height)))
    }

    fn cuMemAllocManaged(out: Ptr<u64>, bytes: usize, flags: u32) |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemAllocHost_v2(out: Ptr<u64>, bytes: usize) |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemHostAlloc(out: Ptr<u64>, bytes: usize, flags: u32) |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemHostRegister_v2(address: u64, bytes: usize, flags: u32) |real| {
        let answer = real();
        if answer == 0 {
            enter(address, bytes as u64);
        }
        answer
    }

    fn cuMemAllocAsync(out: Ptr<u64>, bytes: usize, stream: u64) / cuMemAllocAsync_ptsz |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemAllocFromPoolAsync(
        out: Ptr<u64>, bytes: usize, pool: u64, stream: u64,
    ) / cuMemAllocFromPoolAsync_ptsz |real| {
        allocated(real(), out, bytes)
    }

    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) |real| {
        let answer = real();
        if answer == 0 {
            enter(address, bytes as u64);
        }
        answer
    }

    fn cuMemFree_v2(address: u64) |real| {
        freed(address, real)
    }

    fn cuMemFreeHost(address: u64) |real| {
        freed(address, real)
    }

    fn cuMemHostUnregister(address: u64) |real| {
        freed(address, real)
    }

    fn cuMemFreeAsync(address: u64, stream: u64) / cuMemFreeAsync_ptsz |real| {
        freed(address, real)
    }

    /// One call may unmap several mappings.
    fn cuMemUnmap(address: u64, bytes: usize) |real| {
        let end = address.saturating_add(bytes as u64);
        let starts: Vec<u64> = ranges().range(address..end).map(|(&start, _)| start).collect();
        let answer = real();
        if answer == 0 {
            RANGES.write().unwrap_or_else(PoisonError::into_inner).retain(|start, _| !starts.contains(start));
        }
        answer
    }
}

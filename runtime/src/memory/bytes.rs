//! Host memory mapped at its own address, to the byte.
//!
//! The ends of a range, which are no whole pages, are not in the page table, and so not among the
//! pages of a TLB. They are in the runs of a TLB.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::error::MapError;
use super::{Memory, PAGE_BYTES};

/// Ranges by their start, without overlap.
#[derive(Default)]
pub(super) struct Ranges {
    count: AtomicUsize,
    ranges: RwLock<BTreeMap<u64, Range>>,
}

struct Range {
    bytes: u64,
    /// The address of the range's first whole page, if it has one.
    pages: Option<u64>,
}

/// The ranges under a lock: none is unmapped before this value is dropped.
pub(super) struct Held<'a>(RwLockReadGuard<'a, BTreeMap<u64, Range>>);

impl Held<'_> {
    /// Returns whether one range holds all `bytes` bytes at `address`.
    pub(super) fn have(&self, address: u64, bytes: u64) -> bool {
        let before = self.0.range(..=address).next_back();
        before.is_some_and(|(&start, range)| {
            (address - start).checked_add(bytes).is_some_and(|end| end <= range.bytes)
        })
    }
}

impl Ranges {
    /// Keeps all ranges mapped. A thread must not call this again before it drops the result.
    pub(super) fn hold(&self) -> Held<'_> {
        Held(self.ranges.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether one range holds all `bytes` bytes. The thread must not have a [`Held`].
    pub(super) fn have(&self, address: u64, bytes: u64) -> bool {
        self.count.load(Relaxed) != 0 && self.hold().have(address, bytes)
    }

    /// Returns the beginning and the end of the range around an address. The thread must not have a
    /// [`Held`].
    pub(super) fn around(&self, address: u64) -> Option<(u64, u64)> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        let held = self.hold();
        let (&start, range) = held.0.range(..=address).next_back()?;
        (address - start < range.bytes).then_some((start, start + range.bytes))
    }
}

impl Memory {
    /// Maps `bytes` of the caller's memory at its own address, readable and writable.
    ///
    /// # Errors
    /// Another range is mapped there, nothing may be mapped there, or the size is 0.
    ///
    /// # Safety
    /// The memory stays allocated until [`Memory::unmap_bytes`] has returned for it, or this
    /// `Memory` is dropped. `unmap_bytes` waits for launches, [`Memory::read`],
    /// [`Memory::read_cell`], [`Memory::write`], [`Memory::overwrite`] and [`Memory::fill`]. It
    /// does not wait for [`Memory::load`], [`Memory::store`] and [`Memory::atomic`] outside of
    /// launches: these calls must be over before the memory is freed.
    ///
    /// Other code touches the memory through atomics only, or while no launch and none of these
    /// methods touches it.
    pub unsafe fn map_bytes(&self, host: NonNull<u8>, bytes: u64) -> Result<(), MapError> {
        let start = host.as_ptr().expose_provenance() as u64;
        let end = start.checked_add(bytes).ok_or(MapError::TooLong { address: start, bytes })?;
        if bytes == 0 {
            return Err(MapError::ZeroSize);
        }
        if self.forbidden(start, end - 1) {
            return Err(MapError::Forbidden { address: start, bytes });
        }
        let mut ranges = self.bytes.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let other =
            ranges.range(..end).next_back().filter(|(other, range)| *other + range.bytes > start);
        if let Some((&other, _)) = other {
            return Err(MapError::Overlap { address: start, bytes, other });
        }
        let (first, last) = (start.next_multiple_of(PAGE_BYTES), end & !(PAGE_BYTES - 1));
        let mut pages = None;
        if first < last {
            let Some(host) = NonNull::new(host.as_ptr().wrapping_add((first - start) as usize))
            else {
                return Err(MapError::HostMisaligned);
            };
            // SAFETY: the pages are part of the caller's memory, which stays as long as the
            // contract says.
            unsafe { self.map_pages(first, host, last - first) }?;
            pages = Some(first);
        }
        ranges.insert(start, Range { bytes, pages });
        self.bytes.count.store(ranges.len(), Relaxed);
        Ok(())
    }

    /// Unmaps the range of [`Memory::map_bytes`] at this address. After the return no launch and no
    /// copy touches its memory.
    ///
    /// The call waits for launches that have begun, and so must not come from a launch. These
    /// launches may find the memory unmapped.
    pub fn unmap_bytes(&self, address: u64) -> Result<(), MapError> {
        // The lock waits for copies, which hold the ranges. Later copies find neither the range nor
        // its pages.
        let mut ranges = self.bytes.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let range = ranges.remove(&address).ok_or(MapError::NoRange { address })?;
        self.bytes.count.store(ranges.len(), Relaxed);
        let mut regions = self.lock();
        if let Some(pages) = range.pages {
            self.retire(&mut regions, pages);
        }
        // Launches look ranges up, too.
        drop(ranges);
        // TLBs of launches may have the pages. A launch that begins after `retire` finds no page,
        // and the lock keeps it out of the wait.
        self.wait_for_launches(regions);
        Ok(())
    }
}

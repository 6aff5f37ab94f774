//! Host memory at its own address, to the byte. What of it is not a whole page is in no page of the table, and so in no TLB: accesses
//! there are looked up one by one.

use super::error::MapError;
use super::{Access, Memory, PAGE_BYTES, Place};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

/// Ranges by their start, without overlap.
#[derive(Default)]
pub(super) struct Ranges {
    count: AtomicUsize,
    ranges: RwLock<BTreeMap<u64, Range>>,
}

struct Range {
    bytes: u64,
    /// Where the pages that it has as a whole begin.
    pages: Option<u64>,
}

impl Ranges {
    /// Whether there is a range that holds all of so many bytes.
    pub(super) fn hold(&self, address: u64, bytes: u64) -> bool {
        if self.count.load(Relaxed) == 0 {
            return false;
        }
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let before = ranges.range(..=address).next_back();
        before.is_some_and(|(&start, range)| (address - start).checked_add(bytes).is_some_and(|end| end <= range.bytes))
    }
}

impl Memory {
    /// Maps `bytes` of the caller's memory at its own address, readable and writable.
    ///
    /// # Errors
    /// Something else is mapped there, or may not be.
    ///
    /// # Safety
    /// As [`Memory::map_raw`]: the memory stays until [`Memory::unmap_bytes`] was called and all launches that had begun before are
    /// over.
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
        let other = ranges.range(..end).next_back().filter(|(other, range)| *other + range.bytes > start);
        if let Some((&other, _)) = other {
            return Err(MapError::Overlap { address: start, bytes, other });
        }
        let (first, last) = (start.next_multiple_of(PAGE_BYTES), end & !(PAGE_BYTES - 1));
        let mut pages = None;
        if first < last {
            let Some(host) = NonNull::new(host.as_ptr().wrapping_add((first - start) as usize)) else {
                return Err(MapError::HostMisaligned);
            };
            // SAFETY: these pages are part of the caller's memory.
            pages = Some(unsafe { self.map_raw(Place::At(first), host, last - first, Access::READ_WRITE) }?);
        }
        ranges.insert(start, Range { bytes, pages });
        self.bytes.count.store(ranges.len(), Relaxed);
        Ok(())
    }

    /// Ends what [`Memory::map_bytes`] began at this address.
    pub fn unmap_bytes(&self, address: u64) -> Result<(), MapError> {
        let mut ranges = self.bytes.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let range = ranges.remove(&address).ok_or(MapError::NoRange { address })?;
        self.bytes.count.store(ranges.len(), Relaxed);
        range.pages.map_or(Ok(()), |pages| self.release_later(pages))
    }
}

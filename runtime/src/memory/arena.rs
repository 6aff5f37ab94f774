//! Host memory whose addresses are those that the guest has.

use super::error::MapError;
use super::{MemoryConfig, PAGE_BYTES};
use memmap2::{MmapMut, MmapOptions, MmapRaw, UncheckedAdvice};
use std::ops::Range;
use std::ptr::NonNull;

/// Addresses for each byte that may be in use: what is freed is not soon used again, and gaps do not matter.
const SPACE: u64 = 8;

/// A range of the host's addresses, which takes no memory before it is touched.
pub(super) struct Arena {
    map: MmapRaw,
    addresses: Range<u64>,
}

impl Arena {
    pub(super) fn new(config: &MemoryConfig) -> Result<Arena, MapError> {
        let refused = |bytes| MapError::HostOutOfMemory { bytes };
        // A host that limits addresses may have fewer.
        let wanted = [SPACE, 2, 1].map(|times| config.cap_bytes.saturating_mul(times).saturating_add(2 * PAGE_BYTES));
        let map = |&bytes: &u64| MmapOptions::new().len(usize::try_from(bytes).ok()?).no_reserve_swap().map_anon().ok();
        let map: MmapMut = wanted.iter().find_map(map).ok_or(refused(wanted[2]))?;
        let map = MmapRaw::from(map);
        let first = (map.as_mut_ptr().expose_provenance() as u64).next_multiple_of(PAGE_BYTES);
        let end = (map.as_mut_ptr().addr() as u64 + map.len() as u64) & !(PAGE_BYTES - 1);
        Ok(Arena { map, addresses: first..end })
    }

    /// Where ranges may lie.
    pub(super) fn addresses(&self) -> Range<u64> {
        self.addresses.clone()
    }

    /// The host memory at an address of the arena.
    pub(super) fn pointer(&self, address: u64) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(self.map.as_mut_ptr().addr() as u64)?).ok()?;
        if offset >= self.map.len() {
            return None;
        }
        NonNull::new(self.map.as_mut_ptr().wrapping_add(offset))
    }

    /// Gives the memory of whole pages back to the host. They read 0 from then on, and can be used again.
    pub(super) fn discard(&self, address: u64, bytes: u64) {
        let start = self.map.as_mut_ptr().addr() as u64;
        let (Ok(offset), Ok(length)) = (usize::try_from(address - start), usize::try_from(bytes)) else { return };
        // SAFETY: the range stays mapped and is touched through atomics only, for which this is as if zeros were stored. Nothing of
        // Rust's lies in it.
        let discarded = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, offset, length) };
        if discarded.is_err()
            && let Some(pointer) = self.pointer(address)
        {
            // SAFETY: the range lies in the map.
            unsafe { super::raw::fill(pointer.as_ptr(), length, 0) };
        }
    }
}

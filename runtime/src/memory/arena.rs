//! Host memory whose addresses are the guest's addresses.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{MmapMut, MmapOptions, MmapRaw, UncheckedAdvice};

use super::error::MapError;
use super::host::Charge;
use super::{MemoryConfig, PAGE_BYTES};

/// Addresses for each byte that may be in use. With spare addresses, freed ones are not soon
/// reused, and gaps do not matter.
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
        let wanted = [SPACE, 2, 1]
            .map(|times| config.cap_bytes.saturating_mul(times).saturating_add(2 * PAGE_BYTES));
        let map = |&bytes: &u64| {
            MmapOptions::new().len(usize::try_from(bytes).ok()?).no_reserve_swap().map_anon().ok()
        };
        let map: MmapMut = wanted.iter().find_map(map).ok_or(refused(wanted[2]))?;
        let map = MmapRaw::from(map);
        let first = (map.as_mut_ptr().expose_provenance() as u64).next_multiple_of(PAGE_BYTES);
        let end = (map.as_mut_ptr().addr() as u64 + map.len() as u64) & !(PAGE_BYTES - 1);
        Ok(Arena { map, addresses: first..end })
    }

    /// Returns the addresses at which ranges may lie.
    pub(super) fn addresses(&self) -> Range<u64> {
        self.addresses.clone()
    }
}

/// Memory that an allocation has taken from the arena. Its pages go back to the host when nothing
/// is bound to any of them.
pub(super) struct Storage {
    arena: Arc<Arena>,
    /// Address of the first page, a multiple of the page.
    address: u64,
    bytes: u64,
    _charge: Charge,
}

impl Storage {
    /// Takes the pages at an address. Panics if a page lies outside of the arena.
    pub(super) fn new(arena: &Arc<Arena>, address: u64, bytes: u64, charge: Charge) -> Storage {
        let Range { start, end } = arena.addresses;
        let is_inside =
            address >= start && address.checked_add(bytes).is_some_and(|last| last <= end);
        assert!(
            is_inside,
            "{bytes:#x} bytes at {address:#x} are not in the arena, {start:#x} to {end:#x}"
        );
        Storage { arena: arena.clone(), address, bytes, _charge: charge }
    }

    pub(super) fn overlaps(&self, first: u64, last: u64) -> bool {
        first < self.address + self.bytes && self.address <= last
    }

    /// Returns whether `address` is the own address of the page at `offset`. At any other address
    /// the page is an alias.
    pub(super) fn is_at(&self, address: u64, offset: u64) -> bool {
        self.address + offset == address
    }

    /// Returns the host memory of the page at an offset. Panics if the offset lies outside.
    pub(super) fn pointer(&self, offset: u64) -> NonNull<u8> {
        assert!(offset < self.bytes, "offset {offset:#x} of {:#x} bytes", self.bytes);
        let map = &self.arena.map;
        let pointer = map
            .as_mut_ptr()
            .wrapping_add((self.address + offset) as usize - map.as_mut_ptr().addr());
        NonNull::new(pointer).expect("the host maps nothing at 0")
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let map = &self.arena.map;
        let (offset, length) =
            (self.address as usize - map.as_mut_ptr().addr(), self.bytes as usize);
        // SAFETY: `new` has checked that the pages lie in the map. No page table has the pages any
        // more, so no access begins. An access that has begun touches the map through atomics, for
        // which this call is as if zeros were stored. The map stays, and no object of Rust's lies
        // in it.
        let discarded =
            unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, offset, length) };
        if discarded.is_err() {
            // SAFETY: as above.
            unsafe { super::raw::fill(self.pointer(0).as_ptr(), length, 0) };
        }
    }
}

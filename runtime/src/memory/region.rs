//! Ranges of guest addresses: reserve, bind, unbind, release, and the allocator.

mod alias;
mod launches;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use super::arena::Storage;
use super::error::MapError;
use super::host::{Charge, HostBuffer};
use super::table::HOST_ALIGN;
use super::{Access, Memory, PAGE_BYTES, Page};
use crate::warp::{PAGE_BITS, Run};

/// Addresses that the allocator hands out where guest addresses are not host addresses.
///
/// They lie above 4 GiB, so that an address without its upper half faults, and within the 40 bits
/// of Maxwell's virtual addresses.
const ADDRESSES: Range<u64> = 2 << 32..1 << 40;
/// Addresses that the allocator hands out below 4 GiB: far above 0, so that offsets from a null
/// pointer fault.
const LOW_ADDRESSES: Range<u64> = 1 << 28..1 << 32;

/// The most bindings that a run has on either side of the binding around the address.
const RUN_BINDINGS: usize = 1024;

/// The place of a new range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Any free place, aligned to this power of two or the page, whichever is greater.
    Anywhere { align: u64 },
    /// As `Anywhere`, but below 4 GiB, where addresses of 32 bits reach.
    Low { align: u64 },
    /// This address, a multiple of the page.
    At(u64),
}

impl Placement {
    pub const ANYWHERE: Placement = Placement::Anywhere { align: 1 };
}

/// The state of the pages of a reserved range that are not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbound {
    /// Unmapped: accesses fault.
    Faults,
    /// Sparse non-resident.
    Sparse,
}

impl Unbound {
    pub(super) const fn page(self) -> Page {
        match self {
            Unbound::Faults => Page::Unmapped,
            Unbound::Sparse => Page::Sparse,
        }
    }
}

/// Consecutive bound pages.
struct Binding {
    bytes: u64,
    /// The difference from guest addresses to host addresses (wrapping).
    addend: u64,
    access: Access,
    owner: Owner,
}

/// The owner of the host memory of bound pages.
#[derive(Clone)]
enum Owner {
    Caller,
    /// The binding itself, which keeps the buffer.
    Buffer {
        _kept: Arc<HostBuffer>,
    },
    /// An allocation in the arena, of which the binding has the pages from `offset` on.
    Arena {
        storage: Arc<Storage>,
        offset: u64,
    },
}

impl Binding {
    /// Returns the binding of the pages from byte `skip` on, `bytes` long.
    fn part(&self, skip: u64, bytes: u64) -> Binding {
        let mut owner = self.owner.clone();
        if let Owner::Arena { offset, .. } = &mut owner {
            *offset += skip;
        }
        Binding { bytes, owner, ..*self }
    }
}

struct Region {
    bytes: u64,
    unbound: Unbound,
    /// The bindings by guest address, without overlap.
    bindings: BTreeMap<u64, Binding>,
    /// The allocation in the arena that has these addresses. The reference is dead if the region
    /// has no allocation, or if nothing is bound to the allocation.
    storage: Weak<Storage>,
    /// Whether only [`Memory::unmap_bytes`] releases the region.
    of_bytes: bool,
}

impl Region {
    /// Returns the bindings of pages in `[start, end)`, with their addresses.
    fn touched(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Binding)> {
        let first = self.bindings.range(..=start).next_back().map_or(start, |(&bound, _)| bound);
        let all = self.bindings.range(first..end).map(|(&bound, binding)| (bound, binding));
        all.filter(move |(bound, binding)| bound + binding.bytes > start)
    }

    /// Splits the binding that has pages on both sides of an address, if there is one.
    fn split(&mut self, address: u64) {
        let Some((&bound, binding)) = self.bindings.range_mut(..address).next_back() else {
            return;
        };
        let end = bound + binding.bytes;
        if end > address {
            let rest = binding.part(address - bound, end - address);
            binding.bytes = address - bound;
            self.bindings.insert(address, rest);
        }
    }

    /// Removes and returns the bindings of pages in `[start, end)`. Bindings that go beyond keep
    /// the pages outside.
    fn detach(&mut self, start: u64, end: u64) -> Vec<Binding> {
        self.split(start);
        self.split(end);
        let mut rest = self.bindings.split_off(&start);
        let mut behind = rest.split_off(&end);
        self.bindings.append(&mut behind);
        rest.into_values().collect()
    }
}

#[derive(Default)]
pub(super) struct Regions {
    /// The regions by guest address, without overlap.
    map: BTreeMap<u64, Region>,
    /// The address at which the allocator looks first. It lies after the last range that the
    /// allocator handed out, so that a freed address is not soon reused.
    cursor: u64,
    /// The number of the next launch. `launches` has the numbers of the running launches.
    next_launch: u64,
    launches: BTreeSet<u64>,
    /// The addresses of regions that were released during a launch.
    released: Vec<u64>,
    /// Regions that are unmapped, but kept until nobody can hold a host address in them.
    retired: Vec<(u64, Region)>,
    /// Bindings of aliases that ended during a launch. TLBs may still have their pages.
    unaliased: Vec<Binding>,
    /// Allocations in the arena that were released while aliases of them stay. The allocator does
    /// not reuse their addresses.
    aliased: Vec<Weak<Storage>>,
}

impl Regions {
    /// Returns the addresses of all regions and their sizes in bytes.
    pub(super) fn ranges(&self) -> Vec<(u64, u64)> {
        self.map.iter().map(|(&start, region)| (start, region.bytes)).collect()
    }

    /// Returns the first and the last address of a region that touches `[first, last]`.
    fn overlapping(&self, first: u64, last: u64) -> Option<(u64, u64)> {
        let (&base, region) = self.map.range(..=last).next_back()?;
        let end = base + (region.bytes - 1);
        (end >= first).then_some((base, end))
    }

    /// Returns the address of the lowest free range in `addresses`, with an unmapped page after it.
    fn free_range(
        &self,
        addresses: Range<u64>,
        bytes: u64,
        align: u64,
        forbidden: impl Fn(u64, u64) -> bool,
    ) -> Option<u64> {
        let mut base = addresses.start.checked_next_multiple_of(align)?;
        loop {
            let last = base.checked_add(bytes)?.checked_add(PAGE_BYTES - 1)?;
            if last >= addresses.end {
                return None;
            }
            // The guard page before this range belongs to the previous range, if the allocator
            // placed that range.
            let next = match self.overlapping(base, last) {
                Some((_, end)) => end.checked_add(PAGE_BYTES + 1)?,
                None if forbidden(base, last) => base.checked_add(PAGE_BYTES)?,
                None => return Some(base),
            };
            base = next.checked_next_multiple_of(align)?;
        }
    }

    /// Checks that a region starts at `address` that [`Memory::release`] may take away.
    fn releasable(&self, address: u64) -> Result<(), MapError> {
        let region = self.map.get(&address).filter(|region| !region.of_bytes);
        region.map(|_| ()).ok_or(MapError::NoRange { address })
    }

    /// Returns the region that holds a whole range of pages.
    fn holding(&mut self, address: u64, bytes: u64) -> Result<&mut Region, MapError> {
        let missing = MapError::NotReserved { address, bytes };
        let (&base, region) = self.map.range_mut(..=address).next_back().ok_or(missing)?;
        let end = (address - base).checked_add(bytes).ok_or(missing)?;
        if end <= region.bytes { Ok(region) } else { Err(missing) }
    }
}

/// Rounds a size up to whole pages. A size of 0 is an error.
fn whole_pages(bytes: u64) -> Result<u64, MapError> {
    match bytes.checked_next_multiple_of(PAGE_BYTES) {
        Some(0) => Err(MapError::ZeroSize),
        Some(bytes) => Ok(bytes),
        None => Err(MapError::TooLong { address: 0, bytes }),
    }
}

fn page_aligned(value: u64) -> Result<u64, MapError> {
    if value.is_multiple_of(PAGE_BYTES) {
        Ok(value)
    } else {
        Err(MapError::NotPageAligned { value })
    }
}

impl Memory {
    pub(super) fn lock(&self) -> MutexGuard<'_, Regions> {
        // No operation leaves the regions half changed when it panics.
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether nothing may be mapped at a page of `[first, last]`.
    ///
    /// Forbidden are the null page, the last page (so that a range's end is a number) and the
    /// windows.
    pub(super) fn forbidden(&self, first: u64, last: u64) -> bool {
        first < PAGE_BYTES || last > u64::MAX - PAGE_BYTES || self.windows().overlap(first, last)
    }

    /// Adds a region of `bytes` bytes, a multiple of the page, and returns its address.
    fn enter(
        &self,
        regions: &mut Regions,
        place: Placement,
        bytes: u64,
        unbound: Unbound,
    ) -> Result<u64, MapError> {
        let base = match place {
            Placement::At(address) => {
                page_aligned(address)?;
                let last =
                    address.checked_add(bytes - 1).ok_or(MapError::TooLong { address, bytes })?;
                if self.forbidden(address, last) {
                    return Err(MapError::Forbidden { address, bytes });
                }
                if let Some((other, _)) = regions.overlapping(address, last) {
                    return Err(MapError::Overlap { address, bytes, other });
                }
                address
            }
            Placement::Anywhere { align } | Placement::Low { align } => {
                if !align.is_power_of_two() {
                    return Err(MapError::BadAlignment { align });
                }
                let align = align.max(PAGE_BYTES);
                regions.aliased.retain(|storage| storage.strong_count() > 0);
                let aliased: Vec<Arc<Storage>> =
                    regions.aliased.iter().filter_map(Weak::upgrade).collect();
                let forbidden = |first, last| {
                    self.forbidden(first, last)
                        || aliased.iter().any(|storage| storage.overlaps(first, last))
                };
                let is_low = matches!(place, Placement::Low { .. });
                let all = match &self.arena {
                    None if is_low => LOW_ADDRESSES,
                    Some(arena) => arena.addresses(),
                    None => ADDRESSES,
                };
                let start = if is_low { all.start } else { regions.cursor.max(all.start) };
                let base = regions
                    .free_range(start..all.end, bytes, align, forbidden)
                    .or_else(|| regions.free_range(all, bytes, align, forbidden))
                    .ok_or(MapError::NoSpace { bytes, align })?;
                if !is_low {
                    regions.cursor = base + bytes + PAGE_BYTES;
                }
                base
            }
        };
        self.table.set_range(base >> PAGE_BITS, bytes >> PAGE_BITS, unbound.page());
        regions.map.insert(
            base,
            Region {
                bytes,
                unbound,
                bindings: BTreeMap::new(),
                storage: Weak::new(),
                of_bytes: false,
            },
        );
        Ok(base)
    }

    /// Binds unbound pages of a region to host memory from `host` on.
    fn attach(
        &self,
        regions: &mut Regions,
        address: u64,
        bytes: u64,
        host: NonNull<u8>,
        owner: Owner,
        access: Access,
    ) -> Result<(), MapError> {
        if !host.addr().get().is_multiple_of(HOST_ALIGN) {
            return Err(MapError::HostMisaligned);
        }
        page_aligned(address)?;
        page_aligned(bytes)?;
        let region = regions.holding(address, bytes)?;
        if let Some((&bound, binding)) = region.bindings.range(..address + bytes).next_back()
            && bound + binding.bytes > address
        {
            return Err(MapError::AlreadyBound { address: bound.max(address) });
        }
        let addend = (host.as_ptr().expose_provenance() as u64).wrapping_sub(address);
        region.bindings.insert(address, Binding { bytes, addend, access, owner });
        for page in 0..bytes >> PAGE_BITS {
            // SAFETY: the caller has `bytes` of host memory.
            let host = unsafe { host.add((page << PAGE_BITS) as usize) };
            self.table.set((address >> PAGE_BITS) + page, Page::Resident { host, access });
        }
        Ok(())
    }

    fn place_and_attach(
        &self,
        place: Placement,
        bytes: u64,
        host: NonNull<u8>,
        owner: Owner,
        access: Access,
    ) -> Result<u64, MapError> {
        if !host.addr().get().is_multiple_of(HOST_ALIGN) {
            return Err(MapError::HostMisaligned);
        }
        let mut regions = self.lock();
        let base = self.enter(&mut regions, place, bytes, Unbound::Faults)?;
        self.attach(&mut regions, base, bytes, host, owner, access)?;
        Ok(base)
    }

    /// Allocates zeroed memory, readable and writable, and returns its address.
    ///
    /// The address is aligned to `align` (a power of two) and at least to the page. The size is
    /// rounded up to whole pages. The page after them is left unmapped if the allocator has the
    /// choice.
    pub fn alloc(&self, bytes: u64, align: u64) -> Result<u64, MapError> {
        self.alloc_at(Placement::Anywhere { align }, bytes, Access::READ_WRITE)
    }

    /// Allocates as [`Memory::alloc`], at a place and with permissions.
    pub fn alloc_at(&self, place: Placement, bytes: u64, access: Access) -> Result<u64, MapError> {
        let bytes = whole_pages(bytes)?;
        let place = match (place, &self.arena) {
            // Guest addresses are host addresses, of which none is low.
            (Placement::Low { align }, Some(_)) => Placement::Anywhere { align },
            _ => place,
        };
        if let (Some(arena), Placement::Anywhere { .. }) = (&self.arena, place) {
            let charge = Charge::take(&self.in_use, bytes, self.config.cap_bytes)?;
            let mut regions = self.lock();
            let base = self.enter(&mut regions, place, bytes, Unbound::Faults)?;
            let storage = Arc::new(Storage::new(arena, base, bytes, charge));
            regions.holding(base, bytes)?.storage = Arc::downgrade(&storage);
            let host = storage.pointer(0);
            self.attach(
                &mut regions,
                base,
                bytes,
                host,
                Owner::Arena { storage, offset: 0 },
                access,
            )?;
            return Ok(base);
        }
        let buffer = Arc::new(HostBuffer::charged(bytes, &self.in_use, self.config.cap_bytes)?);
        self.place_and_attach(
            place,
            bytes,
            buffer.pointer(),
            Owner::Buffer { _kept: buffer },
            access,
        )
    }

    /// Allocates as [`Memory::alloc_at`], readable and writable, so that the memory ends with its
    /// last page, or up to 15 bytes before that end: the address is a multiple of 16. Accesses
    /// behind the page are faults if the allocator has the choice of the place.
    ///
    /// [`Memory::range_of`] has the address to release.
    pub fn alloc_before_end(&self, place: Placement, bytes: u64) -> Result<u64, MapError> {
        let base = self.alloc_at(place, bytes, Access::READ_WRITE)?;
        let rest = bytes.next_multiple_of(PAGE_BYTES) - bytes;
        Ok(base + (rest & !(HOST_ALIGN as u64 - 1)))
    }

    /// Maps a host buffer in place: guest and host see each other's writes.
    pub fn map_host(
        &self,
        place: Placement,
        buffer: Arc<HostBuffer>,
        access: Access,
    ) -> Result<u64, MapError> {
        self.place_and_attach(
            place,
            buffer.bytes(),
            buffer.pointer(),
            Owner::Buffer { _kept: buffer },
            access,
        )
    }

    /// Maps `bytes` (a multiple of the page) of the caller's memory in place.
    ///
    /// # Safety
    /// The memory stays allocated until this `Memory` is dropped, or until the range is released or
    /// unbound and this `Memory` was then borrowed mutably. Until then launches and every method
    /// that takes `&self` may touch the memory. Meanwhile other code touches it through atomics
    /// only, or by other means while no launch and no such method runs.
    pub unsafe fn map_raw(
        &self,
        place: Placement,
        host: NonNull<u8>,
        bytes: u64,
        access: Access,
    ) -> Result<u64, MapError> {
        let bytes = whole_pages(page_aligned(bytes)?)?;
        self.place_and_attach(place, bytes, host, Owner::Caller, access)
    }

    /// Maps the whole pages of a range of [`Memory::map_bytes`].
    ///
    /// # Safety
    /// As for [`Memory::map_bytes`].
    pub(super) unsafe fn map_pages(
        &self,
        address: u64,
        host: NonNull<u8>,
        bytes: u64,
    ) -> Result<(), MapError> {
        let mut regions = self.lock();
        let base = self.enter(&mut regions, Placement::At(address), bytes, Unbound::Faults)?;
        regions.holding(base, bytes)?.of_bytes = true;
        self.attach(&mut regions, base, bytes, host, Owner::Caller, Access::READ_WRITE)
    }

    /// Reserves a range of addresses, rounded up to whole pages, to which memory can be bound.
    pub fn reserve(&self, place: Placement, bytes: u64, unbound: Unbound) -> Result<u64, MapError> {
        let bytes = whole_pages(bytes)?;
        self.enter(&mut self.lock(), place, bytes, unbound)
    }

    /// Makes pages of a reserved range resident, zeroed.
    ///
    /// Address and size are multiples of the page. The pages must not be bound yet.
    pub fn bind(&self, address: u64, bytes: u64, access: Access) -> Result<(), MapError> {
        let bytes = whole_pages(page_aligned(bytes)?)?;
        self.lock().holding(address, bytes)?;
        let buffer = Arc::new(HostBuffer::charged(bytes, &self.in_use, self.config.cap_bytes)?);
        self.bind_host(address, bytes, buffer, 0, access)
    }

    /// Binds pages as [`Memory::bind`], to `bytes` bytes of a host buffer from `offset` on.
    ///
    /// `offset` is a multiple of 16. A buffer may be bound several times.
    pub fn bind_host(
        &self,
        address: u64,
        bytes: u64,
        buffer: Arc<HostBuffer>,
        offset: u64,
        access: Access,
    ) -> Result<(), MapError> {
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let offset = buffer.range(offset, bytes)?;
        // SAFETY: `range` has checked that the buffer has these bytes.
        let host = unsafe { buffer.pointer().add(offset) };
        self.attach(&mut self.lock(), address, bytes, host, Owner::Buffer { _kept: buffer }, access)
    }

    /// Unbinds pages of a reserved range. Pages that are not bound stay as they are.
    ///
    /// Host memory is freed when no page of its binding is left.
    pub fn unbind(&mut self, address: u64, bytes: u64) -> Result<(), MapError> {
        page_aligned(address)?;
        let bytes = whole_pages(page_aligned(bytes)?)?;
        self.reclaim();
        let mut regions = self.lock();
        let region = regions.holding(address, bytes)?;
        drop(region.detach(address, address + bytes));
        let unbound = region.unbound.page();
        drop(regions);
        self.table.set_range(address >> PAGE_BITS, bytes >> PAGE_BITS, unbound);
        self.table.prune(address >> PAGE_BITS, bytes >> PAGE_BITS);
        Ok(())
    }

    /// Changes the permissions of the resident pages of a range.
    pub fn protect(&mut self, address: u64, bytes: u64, access: Access) -> Result<(), MapError> {
        self.set_access(address, bytes, access)
    }

    fn set_access(&self, address: u64, bytes: u64, access: Access) -> Result<(), MapError> {
        page_aligned(address)?;
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let mut regions = self.lock();
        let region = regions.holding(address, bytes)?;
        region.split(address);
        region.split(address + bytes);
        for (bound, binding) in region.bindings.range_mut(address..address + bytes) {
            binding.access = access;
            for page in bound >> PAGE_BITS..(bound + binding.bytes) >> PAGE_BITS {
                if let Page::Resident { host, .. } = self.table.lookup(page) {
                    self.table.set(page, Page::Resident { host, access });
                }
            }
        }
        Ok(())
    }

    /// Unmaps the range that starts at `address`, with all its bindings, and frees its host memory.
    pub fn release(&mut self, address: u64) -> Result<(), MapError> {
        let mut regions = self.lock();
        regions.releasable(address)?;
        self.retire(&mut regions, address);
        drop(regions);
        self.reclaim();
        Ok(())
    }

    /// Releases a range as [`Memory::release`], while launches may be running.
    ///
    /// The range stays mapped until the last launch has ended. Its host memory stays until the next
    /// call of [`Memory::reclaim`] (or of another operation that takes `&mut self`).
    pub fn release_later(&self, address: u64) -> Result<(), MapError> {
        let mut regions = self.lock();
        regions.releasable(address)?;
        if regions.released.contains(&address) {
            return Err(MapError::NoRange { address });
        }
        if !regions.launches.is_empty() {
            regions.released.push(address);
        } else {
            self.retire(&mut regions, address);
        }
        Ok(())
    }

    pub(super) fn retire(&self, regions: &mut Regions, address: u64) {
        let Some(mut region) = regions.map.remove(&address) else { return };
        self.table.set_range(address >> PAGE_BITS, region.bytes >> PAGE_BITS, Page::Unmapped);
        region.bindings.retain(|_, binding| !matches!(binding.owner, Owner::Arena { .. }));
        if region.storage.strong_count() > 0 {
            regions.aliased.push(region.storage.clone());
        }
        // The nodes over an arena's pages need no pruning here, since their number is bounded. The
        // caller's memory is not kept.
        let is_kept =
            region.bindings.values().any(|binding| matches!(binding.owner, Owner::Buffer { .. }));
        if self.arena.is_none() || is_kept {
            regions.retired.push((address, region));
        }
    }

    /// Frees the ranges that were released while the memory was shared.
    pub fn reclaim(&mut self) {
        let regions = self.regions.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (address, region) in regions.retired.drain(..) {
            self.table.prune(address >> PAGE_BITS, region.bytes >> PAGE_BITS);
        }
    }

    /// Returns the run around an address. All of it can be read, and with `write` written too.
    ///
    /// A run is pages that follow each other in guest and host memory, or a range of
    /// [`Memory::map_bytes`] without the bytes at its ends that are no multiple of 16.
    pub(super) fn run(&self, address: u64, write: bool) -> Option<Run> {
        if let Some((start, end)) = self.bytes.around(address) {
            let first = start.next_multiple_of(HOST_ALIGN as u64);
            let bytes = (end & !(HOST_ALIGN as u64 - 1)).saturating_sub(first);
            let run = Run { first, bytes, addend: 0 };
            return run.holds(address).then_some(run);
        }
        let regions = self.lock();
        let (_, region) = regions.map.range(..=address).next_back()?;
        let allows = |binding: &Binding| binding.access.read && (binding.access.write || !write);
        let (&first, binding) = region.bindings.range(..=address).next_back()?;
        let (mut first, mut end, addend) = (first, first + binding.bytes, binding.addend);
        if address >= end || !allows(binding) {
            return None;
        }
        let follows = |binding: &Binding| binding.addend == addend && allows(binding);
        for (&bound, before) in region.bindings.range(..first).rev().take(RUN_BINDINGS) {
            if bound + before.bytes != first || !follows(before) {
                break;
            }
            first = bound;
        }
        for (&bound, behind) in region.bindings.range(end..).take(RUN_BINDINGS) {
            if bound != end || !follows(behind) {
                break;
            }
            end += behind.bytes;
        }
        Some(Run { first, bytes: end - first, addend })
    }

    /// Returns the address in the host of bytes that lie there one after the other, if all of them
    /// can be read and written.
    pub fn host_address(&self, address: u64, bytes: u64) -> Option<u64> {
        if self.bytes.have(address, bytes) {
            return Some(address);
        }
        let run = self.run(address, true)?;
        let room = run.bytes - (address - run.first);
        (bytes <= room).then(|| address.wrapping_add(run.addend))
    }

    /// Host memory in use that counts against the cap, in bytes.
    pub fn bytes_in_use(&self) -> u64 {
        self.in_use.load(Relaxed)
    }

    /// Returns address and size of the range that holds `address`.
    ///
    /// Released ranges are left out, though launches may still see them.
    pub fn range_of(&self, address: u64) -> Option<(u64, u64)> {
        let regions = self.lock();
        let (&base, region) = regions.map.range(..=address).next_back()?;
        (address - base < region.bytes && !regions.released.contains(&base))
            .then_some((base, region.bytes))
    }
}

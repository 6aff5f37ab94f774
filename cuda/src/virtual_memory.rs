//! Virtual memory: addresses that programs reserve, memory without addresses, and the mappings
//! between them.
//!
//! The memory lies in the arena like all other memory, but kernels never get these addresses. A
//! mapping gives its pages other addresses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warploom_runtime::memory::{Access, Placement, Unbound};

use crate::context::CONTEXTS;
use crate::error::{Answer, Error, of_map};
use crate::handles::{Table, fresh};
use crate::{allocations, driver};

/// The granularity of sizes and addresses.
pub const GRANULARITY: u64 = 2 << 20;

/// The stored part of `CUmemAllocationProp`.
pub type Properties = [u64; 4];

/// Memory without an address that programs know.
pub struct Physical {
    handle: u64,
    /// The address in the arena.
    address: u64,
    bytes: u64,
    pub properties: Properties,
    /// The number of references that programs have to the handle.
    holders: AtomicU64,
}

impl Drop for Physical {
    fn drop(&mut self) {
        // Errors do not matter: memory that is not there needs no release.
        let _ = driver::memory().release_later(self.address);
    }
}

static HANDLES: Table<Physical> = Table::new();

struct Mapping {
    bytes: u64,
    memory: Arc<Physical>,
}

struct Reservation {
    bytes: u64,
    /// The mappings by address, without overlap.
    mappings: BTreeMap<u64, Mapping>,
}

static RESERVED: Mutex<BTreeMap<u64, Reservation>> = Mutex::new(BTreeMap::new());

const INVALID: Error = Error::CUDA_ERROR_INVALID_VALUE;

fn lock() -> MutexGuard<'static, BTreeMap<u64, Reservation>> {
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn require(condition: bool) -> Answer {
    if condition { Ok(()) } else { Err(INVALID) }
}

/// Returns a range, which must consist of whole units of [`GRANULARITY`].
fn range(address: u64, bytes: u64) -> Result<Range<u64>, Error> {
    require(bytes > 0 && address.is_multiple_of(GRANULARITY) && bytes.is_multiple_of(GRANULARITY))?;
    Ok(address..address.checked_add(bytes).ok_or(INVALID)?)
}

impl Reservation {
    /// Returns the mappings that fill a range exactly, without gaps.
    fn within(&mut self, range: &Range<u64>) -> Result<Vec<u64>, Error> {
        let mut next = range.start;
        let mut all = vec![];
        for (&address, mapping) in self.mappings.range(range.clone()) {
            require(address == next)?;
            next = address + mapping.bytes;
            all.push(address);
        }
        require(next == range.end)?;
        Ok(all)
    }
}

/// Returns the reservation that contains a range.
fn holding<'a>(
    all: &'a mut BTreeMap<u64, Reservation>,
    range: &Range<u64>,
) -> Result<&'a mut Reservation, Error> {
    let (&start, reservation) = all.range_mut(..=range.start).next_back().ok_or(INVALID)?;
    require(range.end <= start + reservation.bytes)?;
    Ok(reservation)
}

pub fn reserve(bytes: u64, align: u64) -> Result<u64, Error> {
    range(0, bytes)?;
    require(align == 0 || align.is_power_of_two())?;
    let place = Placement::Anywhere { align: align.max(GRANULARITY) };
    let address = driver::memory().reserve(place, bytes, Unbound::Faults).map_err(of_map)?;
    lock().insert(address, Reservation { bytes, mappings: BTreeMap::new() });
    Ok(address)
}

/// Frees reserved addresses that have no mappings.
pub fn free(address: u64, bytes: u64) -> Answer {
    let mut all = lock();
    let found = all.get(&address).filter(|found| found.bytes == bytes && found.mappings.is_empty());
    found.ok_or(INVALID)?;
    all.remove(&address);
    driver::memory().release_later(address).map_err(of_map)
}

/// Creates memory, and a handle that holds it.
pub fn create(bytes: u64, properties: Properties) -> Result<u64, Error> {
    range(0, bytes)?;
    let address =
        driver::memory().alloc_at(Placement::ANYWHERE, bytes, Access::NONE).map_err(of_map)?;
    let handle = fresh();
    let holders = AtomicU64::new(1);
    HANDLES.insert_at(handle, Arc::new(Physical { handle, address, bytes, properties, holders }));
    Ok(handle)
}

pub fn get(handle: u64) -> Result<Arc<Physical>, Error> {
    HANDLES.find(handle).ok_or(INVALID)
}

/// Drops a reference to a handle. The memory lasts as long as a handle or a mapping holds it.
pub fn release(handle: u64) -> Answer {
    if get(handle)?.holders.fetch_sub(1, Relaxed) == 1 {
        HANDLES.remove(handle)?;
    }
    Ok(())
}

/// Returns the handle of the memory mapped at an address, with one more reference.
pub fn retain(address: u64) -> Result<u64, Error> {
    let mut all = lock();
    let reservation = holding(&mut all, &(address..address + 1))?;
    let (&start, mapping) = reservation.mappings.range(..=address).next_back().ok_or(INVALID)?;
    require(address - start < mapping.bytes)?;
    let memory = &mapping.memory;
    if memory.holders.fetch_add(1, Relaxed) == 0 {
        HANDLES.insert_at(memory.handle, memory.clone());
    }
    Ok(memory.handle)
}

/// Maps all of some memory at an address. Accesses are forbidden until [`set_access`].
pub fn map(address: u64, bytes: u64, handle: u64) -> Answer {
    let range = range(address, bytes)?;
    let memory = get(handle)?;
    require(bytes == memory.bytes)?;
    let mut all = lock();
    let reservation = holding(&mut all, &range)?;
    let before = reservation.mappings.range(..range.end).next_back();
    require(before.is_none_or(|(other, mapping)| other + mapping.bytes <= address))?;
    driver::memory().alias(address, bytes, memory.address, Access::NONE).map_err(of_map)?;
    reservation.mappings.insert(address, Mapping { bytes, memory });
    allocations::enter_mapping(address, bytes);
    Ok(())
}

/// Unmaps the memory in a range, after all work that may use it.
pub fn unmap(address: u64, bytes: u64) -> Answer {
    let range = range(address, bytes)?;
    holding(&mut lock(), &range)?.within(&range)?;
    CONTEXTS.all().iter().for_each(|context| context.lines.wait_for_all());
    let mut all = lock();
    let reservation = holding(&mut all, &range)?;
    let gone = reservation.within(&range)?;
    driver::memory().unalias(address, bytes).map_err(of_map)?;
    for address in gone {
        reservation.mappings.remove(&address);
        allocations::free_now(address)?;
    }
    Ok(())
}

/// Sets the access of kernels and copies to the memory in a range: `CUmemAccess_flags`.
pub fn set_access(address: u64, bytes: u64, flags: u32) -> Answer {
    let access = match flags {
        0 => Access::NONE,
        1 => Access::READ,
        3 => Access::READ_WRITE,
        _ => return Err(INVALID),
    };
    let range = range(address, bytes)?;
    let mut all = lock();
    let reservation = holding(&mut all, &range)?;
    let changed = reservation.within(&range)?;
    driver::memory().permit(address, bytes, access).map_err(of_map)?;
    changed.into_iter().for_each(|address| allocations::set_flags(address, flags));
    Ok(())
}

pub fn access(address: u64) -> Result<u32, Error> {
    let found = allocations::find(address).filter(|found| found.kind == allocations::Kind::Mapped);
    Ok(found.ok_or(INVALID)?.flags)
}

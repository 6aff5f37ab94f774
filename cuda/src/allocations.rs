//! The allocations of programs, by address.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use warploom::{Allocations, Checks, Written};
use warploom_runtime::memory::Placement;

use crate::boundary::{self, Ptr};
use crate::context::{CONTEXTS, Context};
use crate::error::{Answer, Error, of_map};
use crate::handles::fresh;
use crate::{advice, driver, graph_memory, record, stacks};

/// The alignment of addresses that `cuMemAlloc` returns.
pub const ALIGN: u64 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    Managed,
    /// Host memory that the driver allocated.
    Pinned,
    /// Host memory of the program that kernels may use.
    Registered,
    /// Memory of the pool with this handle.
    Pool(u64),
    /// Memory of a graph, which keeps it for all its launches.
    Graph,
    /// Memory mapped to addresses that the program reserved. The allocation's flags hold the
    /// permitted accesses.
    Mapped,
}

impl Kind {
    /// Returns whether only the driver and launches write to the memory.
    fn is_of_device(self) -> bool {
        matches!(self, Kind::Device | Kind::Pool(_) | Kind::Graph)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub address: u64,
    /// The requested size.
    pub bytes: u64,
    pub kind: Kind,
    /// The handle of its context; 0: none.
    pub context: u64,
    /// A number unique to this allocation.
    pub id: u64,
    pub flags: u32,
}

impl Allocation {
    fn for_checks(&self) -> Option<warploom::Allocation> {
        let is_whole = !matches!(self.kind, Kind::Registered | Kind::Mapped);
        is_whole.then(|| warploom::Allocation {
            name: format!("the allocation at {:#x}", self.address),
            address: self.address,
            bytes: self.bytes,
        })
    }

    /// Returns whether host code may access the allocation.
    pub fn is_for_host(&self) -> bool {
        matches!(self.kind, Kind::Managed | Kind::Pinned | Kind::Registered)
    }

    pub fn is_host(&self) -> bool {
        matches!(self.kind, Kind::Pinned | Kind::Registered)
    }
}

static ALLOCATIONS: RwLock<BTreeMap<u64, Allocation>> = RwLock::new(BTreeMap::new());

fn read() -> RwLockReadGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the allocation that contains an address.
pub fn find(address: u64) -> Option<Allocation> {
    let all = read();
    let (_, found) = all.range(..=address).next_back()?;
    (address - found.address < found.bytes.max(1)).then_some(*found)
}

/// Returns whether an address lies in memory that the program registered.
pub fn is_registered(address: u64) -> bool {
    find(address).is_some_and(|found| found.kind == Kind::Registered)
}

/// Returns whether `bytes` bytes from an address are device memory: of an allocation or of a
/// module.
pub fn is_mapped(address: u64, bytes: u64) -> bool {
    match find(address) {
        Some(found) if found.kind == Kind::Mapped => {
            let here = found.bytes - (address - found.address);
            found.flags != 0 && (bytes <= here || is_mapped(address + here, bytes - here))
        }
        Some(found) => bytes <= found.bytes - (address - found.address),
        None => {
            let range = driver::memory().range_of(address);
            // Reserved addresses may have no memory.
            range.is_some_and(|(start, length)| bytes <= length - (address - start))
                && driver::memory().permits(address, 1, false)
        }
    }
}

/// The allocations that were freed last, if launches are checked.
static FREED: Mutex<VecDeque<warploom::Allocation>> = Mutex::new(VecDeque::new());
const MOST_FREED: usize = 1 << 12;

/// The device memory that has been written, if launches are checked for reads of other memory.
pub fn written() -> Option<&'static Arc<Written>> {
    static WRITTEN: LazyLock<Arc<Written>> = LazyLock::new(Arc::default);
    driver::get().checks.is_some_and(|checks| checks.init).then(|| &*WRITTEN)
}

/// Returns the allocations that begin with a page of their own.
pub fn known() -> Vec<warploom::Allocation> {
    read().values().filter_map(Allocation::for_checks).collect()
}

/// Returns what checks need to know: the allocations, those that were freed last, and the memory
/// that has been written.
pub fn for_checks(checks: Checks) -> Allocations {
    let (mut live, mut freed) = (vec![], vec![]);
    if checks.memory {
        live = known();
        freed.extend(FREED.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
    }
    Allocations { live, freed, written: written().cloned() }
}

fn enter(address: u64, bytes: u64, kind: Kind, context: u64, flags: u32) {
    let allocation = Allocation { address, bytes, kind, context, id: fresh(), flags };
    stacks::allocated(address);
    if let Some(written) = written().filter(|_| kind.is_of_device()) {
        written.allocated(address, bytes);
    }
    if allocation.is_for_host() {
        driver::get().shared_with_host.fetch_add(1, Relaxed);
    }
    write().insert(address, allocation);
}

/// Allocates memory in a context.
pub fn allocate(context: &Context, bytes: u64, kind: Kind, flags: u32) -> Result<u64, Error> {
    let address = new_memory(bytes)?;
    enter(address, bytes, kind, context.handle, flags);
    Ok(address)
}

fn new_memory(bytes: u64) -> Result<u64, Error> {
    let (memory, bytes) = (driver::memory(), bytes.max(1));
    let placed = match driver::get().guard {
        true => memory.alloc_before_end(Placement::ANYWHERE, bytes),
        false => memory.alloc(bytes, ALIGN),
    };
    placed.map_err(of_map)
}

/// Allocates memory for a graph. It belongs to no context.
pub fn allocate_for_graph(bytes: u64) -> Result<u64, Error> {
    let address = new_memory(bytes)?;
    enter(address, bytes, Kind::Graph, 0, 0);
    Ok(address)
}

/// Enters memory that the program mapped at an address. It belongs to no context and permits no
/// access yet.
pub fn enter_mapping(address: u64, bytes: u64) {
    enter(address, bytes, Kind::Mapped, 0, 0);
}

pub fn set_flags(address: u64, flags: u32) {
    if let Some(found) = write().get_mut(&address) {
        found.flags = flags;
    }
}

/// Frees the allocation that begins at an address, if `is_kind` accepts its kind. Waits first for
/// all work that may use the memory.
pub fn free(address: u64, is_kind: impl Fn(Kind) -> bool) -> Answer {
    let found = read().get(&address).copied().filter(|found| is_kind(found.kind));
    let found = found.ok_or_else(|| {
        report_freed_twice(address);
        Error::CUDA_ERROR_INVALID_VALUE
    })?;
    let contexts = match found.kind {
        // All contexts may use the memory, and the program frees it next.
        Kind::Registered => CONTEXTS.all(),
        _ => CONTEXTS.find(found.context).into_iter().collect(),
    };
    contexts.iter().for_each(|context| context.lines.wait_for_all());
    free_now(address)
}

/// Reports that a program frees memory that it has freed, if launches are checked.
fn report_freed_twice(address: u64) {
    let freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = freed.iter().rfind(|one| one.address == address) {
        record::report(&format!("{} is freed twice{}", found.name, stacks::text(address)));
    }
}

/// Frees an allocation that no work uses any more. The graph's next launch uses a graph's memory
/// again.
pub fn free_now(address: u64) -> Answer {
    let found = read().get(&address).map(|found| found.kind);
    match found.ok_or(Error::CUDA_ERROR_INVALID_VALUE)? {
        Kind::Graph => graph_memory::free(address),
        _ => end(address),
    }
    Ok(())
}

/// Removes an allocation and releases its memory.
pub fn end(address: u64) {
    let found = write().remove(&address);
    if let Some(found) = found {
        release(&found);
    }
}

fn release(found: &Allocation) {
    if let Some(written) = written() {
        written.freed(found.address);
    }
    if driver::get().checks.is_some() {
        let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        freed.extend(found.for_checks());
        let old = freed.len().saturating_sub(MOST_FREED);
        freed.drain(..old);
        drop(freed);
        stacks::freed(found.address);
    }
    if found.is_for_host() {
        driver::get().shared_with_host.fetch_sub(1, Relaxed);
    }
    if found.kind == Kind::Managed {
        advice::forget(found.address, found.bytes);
    }
    // Errors do not matter: memory that is not mapped needs no release.
    let _ = match found.kind {
        Kind::Registered => driver::memory().unmap_bytes(found.address),
        // The caller that unmaps the memory has done so.
        Kind::Mapped => Ok(()),
        _ => {
            let memory = driver::memory();
            let base = memory.range_of(found.address).map_or(found.address, |(base, _)| base);
            memory.release_later(base)
        }
    };
}

/// Registers memory of the program, so that kernels may use it.
pub fn register(context: &Context, pointer: Ptr<c_void>, bytes: u64, flags: u32) -> Answer {
    let address = pointer.address();
    let last = address.checked_add(bytes.wrapping_sub(1)).filter(|_| bytes > 0);
    let last = last.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    let overlaps = |all: &BTreeMap<u64, Allocation>| {
        let before = all.range(..=last).next_back();
        before.is_some_and(|(_, other)| other.address + (other.bytes.max(1) - 1) >= address)
    };
    if overlaps(&read()) {
        return Err(Error::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    boundary::map_registered(driver::memory(), pointer, bytes)?;
    enter(address, bytes, Kind::Registered, context.handle, flags);
    Ok(())
}

pub fn unregister(address: u64) -> Answer {
    match find(address) {
        None => Err(Error::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
        Some(found) if found.kind != Kind::Registered || found.address != address => {
            Err(Error::CUDA_ERROR_INVALID_VALUE)
        }
        Some(_) => free(address, |kind| kind == Kind::Registered),
    }
}

/// Returns the number of free bytes of device memory.
pub fn free_bytes() -> u64 {
    driver::get().capacity.saturating_sub(driver::memory().bytes_in_use())
}

/// Frees the allocations of a context.
pub fn forget(context: u64) {
    let gone: Vec<Allocation> =
        write().extract_if(.., |_, found| found.context == context).map(|(_, a)| a).collect();
    gone.iter().for_each(release);
}

/// Returns the allocations of a pool.
pub fn of_pool(pool: u64) -> Vec<Allocation> {
    read().values().filter(|found| found.kind == Kind::Pool(pool)).copied().collect()
}

//! Guest memory: a sparse page table over 64-bit guest addresses, with pages of 64 KiB.
//!
//! A page is unmapped, resident or sparse ([`Page`]). `region` reserves, binds, unbinds and
//! releases ranges. `access` has the operations of lanes and copies. `table` is the tree, whose
//! lookups take no lock.
//!
//! With a shared reference mappings only grow, so an engine may keep host addresses (in a
//! [`Tlb`](crate::warp::Tlb)) during a launch. Ranges that are released meanwhile
//! ([`Memory::release_later`]) are unmapped when the last launch has ended. The next operation that
//! has the memory for itself frees their host memory. Two operations take pages away from running
//! launches: [`Memory::unalias`], since the arena's memory stays, and [`Memory::unmap_bytes`],
//! which waits for the launches. Where guest addresses are host addresses
//! ([`MemoryConfig::in_place`]), all allocations lie in one range of them (`arena`), whose pages go
//! back to the host at once.
//!
//! Shared, local and constant memory are not here: they belong to blocks and launches.

mod access;
mod arena;
mod bytes;
mod error;
mod fingerprint;
mod host;
pub(crate) mod raw;
mod region;
mod table;

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex};

use arena::Arena;
pub use error::{CopyError, MapError};
pub use host::HostBuffer;
use region::Regions;
pub use region::{Placement, Unbound};
use table::PageTable;

pub use crate::warp::{PAGE_BITS, PAGE_BYTES};
use crate::window::Windows;

/// The permissions of a resident page. Without any, accesses fault as on an unmapped page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub read: bool,
    pub write: bool,
}

impl Access {
    pub const NONE: Access = Access { read: false, write: false };
    pub const READ: Access = Access { read: true, write: false };
    pub const READ_WRITE: Access = Access { read: true, write: true };
}

/// State of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Accesses fault.
    Unmapped,
    /// Sparse non-resident: reads give zero, writes are dropped, and the sparse status reports it.
    Sparse,
    /// Backed by host memory from `host` on, aligned to 16.
    Resident { host: NonNull<u8>, access: Access },
}

/// The sparse status of an access: whether all its bytes were resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residency {
    Resident,
    /// At least one byte was on a sparse non-resident page.
    Sparse,
}

impl Residency {
    pub const fn is_sparse(self) -> bool {
        matches!(self, Residency::Sparse)
    }

    const fn and(self, other: Residency) -> Residency {
        if self.is_sparse() { self } else { other }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    /// The most host memory, in bytes, that [`Memory::alloc`] and [`Memory::bind`] take together.
    /// Host memory that the caller maps does not count.
    pub cap_bytes: u64,
    pub windows: Windows,
    /// Allocations have the same address for the guest and the host.
    pub in_place: bool,
}

impl Default for MemoryConfig {
    /// A cap of 16 GiB.
    fn default() -> Self {
        MemoryConfig { cap_bytes: 16 << 30, windows: Windows::default(), in_place: false }
    }
}

/// A guest's memory, shared by the threads of a launch. See the module's documentation.
pub struct Memory {
    table: PageTable,
    regions: Mutex<Regions>,
    launch_ended: Condvar,
    /// Host memory in use, which `config.cap_bytes` limits.
    in_use: Arc<AtomicU64>,
    arena: Option<Arc<Arena>>,
    /// Host memory that is mapped to the byte, not in whole pages.
    bytes: bytes::Ranges,
    config: MemoryConfig,
}

impl Memory {
    /// Returns a memory without mappings.
    pub fn new(config: MemoryConfig) -> Result<Memory, MapError> {
        if !config.windows.is_valid() {
            return Err(MapError::BadWindows);
        }
        let arena = if config.in_place { Some(Arc::new(Arena::new(&config)?)) } else { None };
        Ok(Memory {
            table: PageTable::new(),
            regions: Mutex::default(),
            launch_ended: Condvar::new(),
            in_use: Arc::default(),
            arena,
            bytes: bytes::Ranges::default(),
            config,
        })
    }

    pub fn windows(&self) -> Windows {
        self.config.windows
    }

    /// State of the page that holds this address.
    #[inline]
    pub fn page(&self, address: u64) -> Page {
        self.table.lookup(address >> PAGE_BITS)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            table: PageTable::new(),
            regions: Mutex::default(),
            launch_ended: Condvar::new(),
            in_use: Arc::default(),
            arena: None,
            bytes: bytes::Ranges::default(),
            config: MemoryConfig::default(),
        }
    }
}

#[cfg(test)]
mod tests;

//! The accesses of lanes and copies to guest memory.

use std::ptr::{self, NonNull};

use super::{Access, CopyError, Memory, Page, Residency, raw};
use crate::atomics::{self, AtomicKind, AtomicType};
use crate::fault::FaultKind;
use crate::warp::{PAGE_BITS, PAGE_BYTES, Tlb, TlbEntry, Ways, no_page, tlb_slot};
use crate::window::Target;

/// Returns the address at which the page of `address` begins.
const fn page_start(address: u64) -> u64 {
    address & !(PAGE_BYTES - 1)
}

/// Bytes from `address` to the end of its page.
const fn left_in_page(address: u64) -> u64 {
    PAGE_BYTES - (address & (PAGE_BYTES - 1))
}

/// Host address of a guest address on a page that starts at `host`.
fn within(host: NonNull<u8>, address: u64) -> *mut u8 {
    host.as_ptr().wrapping_add((address & (PAGE_BYTES - 1)) as usize)
}

/// The number of misses of an instruction that find a run each. After them, one miss in
/// [`MISSES_FROM_THEN`] does.
///
/// Lanes in many buffers at once gain nothing from a run, and the search takes a lock that workers
/// share.
const MISSES_IN_FULL: u64 = 1 << 12;
const MISSES_FROM_THEN: u64 = 16;

impl Memory {
    /// Returns the host address to read (write) `bytes` bytes of one page at. `None` if the page is
    /// sparse.
    #[inline]
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<Option<*mut u8>, FaultKind> {
        let allows = |access: Access| if write { access.write } else { access.read };
        self.host_if(address, allows, || self.bytes.have(address, bytes))
    }

    /// Returns the address as [`Memory::host`], on pages whose permissions `allows` accepts.
    ///
    /// `in_bytes` returns whether a range of `map_bytes` has all of the access.
    #[inline]
    fn host_if(
        &self,
        address: u64,
        allows: impl FnOnce(Access) -> bool,
        in_bytes: impl FnOnce() -> bool,
    ) -> Result<Option<*mut u8>, FaultKind> {
        match self.page(address) {
            Page::Resident { host, access } if allows(access) => Ok(Some(within(host, address))),
            Page::Sparse => Ok(None),
            Page::Unmapped if in_bytes() => {
                Ok(Some(ptr::with_exposed_provenance_mut(address as usize)))
            }
            _ => Err(FaultKind::AddressOutOfRange),
        }
    }

    /// Returns whether `bytes` bytes of one page can be read (written). Sparse pages permit both.
    pub fn permits(&self, address: u64, bytes: u64, write: bool) -> bool {
        self.host(address, bytes, write).is_ok()
    }

    /// Loads a little-endian value of `bytes` (1, 2, 4, 8 or 16) bytes.
    ///
    /// Bytes on sparse pages read zero. An aligned access of up to 8 bytes is atomic. An unaligned
    /// access may lie across pages.
    #[inline]
    pub fn load(&self, address: u64, bytes: u32) -> Result<(u128, Residency), FaultKind> {
        debug_assert!(matches!(bytes, 1 | 2 | 4 | 8 | 16));
        if u64::from(bytes) > left_in_page(address) {
            return self.load_across(address, bytes);
        }
        match self.host(address, bytes.into(), false)? {
            // SAFETY: the bytes lie on a readable resident page or in a range of `map_bytes`.
            // Memory that this `Memory` owns stays while `self` is borrowed. The contracts of
            // `map_raw` and `map_bytes` make the caller's memory stay during this call.
            Some(pointer) => Ok((unsafe { raw::load(pointer, bytes) }, Residency::Resident)),
            None => Ok((0, Residency::Sparse)),
        }
    }

    /// Stores the low `bytes` (1, 2, 4, 8 or 16) bytes of `value`.
    ///
    /// Bytes on sparse pages are dropped. On a fault nothing is stored. Stores are atomic where
    /// loads are ([`Memory::load`]).
    #[inline]
    pub fn store(&self, address: u64, bytes: u32, value: u128) -> Result<Residency, FaultKind> {
        debug_assert!(matches!(bytes, 1 | 2 | 4 | 8 | 16));
        if u64::from(bytes) > left_in_page(address) {
            return self.store_across(address, bytes, value);
        }
        match self.host(address, bytes.into(), true)? {
            Some(pointer) => {
                // SAFETY: as in `load`, and the page is writable.
                unsafe { raw::store(pointer, bytes, value) };
                Ok(Residency::Resident)
            }
            None => Ok(Residency::Sparse),
        }
    }

    #[cold]
    fn load_across(&self, address: u64, bytes: u32) -> Result<(u128, Residency), FaultKind> {
        let (mut value, mut residency) = (0, Residency::Resident);
        for i in 0..bytes {
            let (byte, status) = self.load(address.wrapping_add(u64::from(i)), 1)?;
            value |= byte << (8 * i);
            residency = residency.and(status);
        }
        Ok((value, residency))
    }

    #[cold]
    fn store_across(&self, address: u64, bytes: u32, value: u128) -> Result<Residency, FaultKind> {
        let last = address.wrapping_add(u64::from(bytes) - 1);
        self.host(address, 1, true)?;
        self.host(last, 1, true)?;
        let mut residency = Residency::Resident;
        for i in 0..bytes {
            residency = residency.and(self.store(
                address.wrapping_add(u64::from(i)),
                1,
                value >> (8 * i),
            )?);
        }
        Ok(residency)
    }

    /// Does an atomic read-modify-write, and returns the old value.
    ///
    /// On a sparse page the old value is 0, and nothing is stored. The address must be a multiple
    /// of the type's size, else the fault is a misaligned address. In a window of the generic
    /// address space the fault is an invalid address space.
    #[inline]
    pub fn atomic(
        &self,
        address: u64,
        ty: AtomicType,
        kind: AtomicKind,
        value: u64,
        compare: u64,
    ) -> Result<(u64, Residency), FaultKind> {
        if address & (u64::from(ty.bytes()) - 1) != 0 {
            return Err(FaultKind::MisalignedAddress);
        }
        match self.page(address) {
            Page::Resident { host, access } if access.read && access.write => {
                // SAFETY: the cell is aligned within a resident page, which is aligned to 16 and
                // stays as in `load`.
                let old =
                    unsafe { atomics::apply_at(within(host, address), ty, kind, value, compare) };
                Ok((old, Residency::Resident))
            }
            Page::Sparse => Ok((0, Residency::Sparse)),
            Page::Unmapped if self.bytes.have(address, ty.bytes().into()) => {
                let pointer = ptr::with_exposed_provenance_mut(address as usize);
                // SAFETY: the cell is aligned within a range of `map_bytes`, which stays as in
                // `load`.
                Ok((
                    unsafe { atomics::apply_at(pointer, ty, kind, value, compare) },
                    Residency::Resident,
                ))
            }
            _ => Err(match self.windows().classify(address) {
                Target::Global(_) => FaultKind::AddressOutOfRange,
                Target::Shared(_) | Target::Local(_) => FaultKind::InvalidAddressSpace,
            }),
        }
    }

    /// Fills the TLB's slot of the page that holds `address`, if the page is resident, and returns
    /// the page.
    ///
    /// As [`TlbEntry`] says, the read tag is set only if the page is readable, the write tag only
    /// if it is writable. Other pages never enter.
    ///
    /// The entry holds until something is unbound, released or protected, for which this memory
    /// must be borrowed mutably.
    #[inline]
    pub(crate) fn tlb_fill(&self, tlb: &mut Tlb, address: u64) -> Page {
        let state = self.page(address);
        if let Page::Resident { host, access } = state {
            let (page, slot) = (page_start(address), tlb_slot(address >> PAGE_BITS));
            tlb.entries[slot] = TlbEntry {
                read_tag: if access.read { page } else { no_page(slot) },
                write_tag: if access.write { page } else { no_page(slot) },
                addend: (host.as_ptr().expose_provenance() as u64).wrapping_sub(page),
                padding: 0,
            };
        }
        state
    }

    /// Notes that an access at `address` missed the first of an instruction's runs.
    ///
    /// Afterwards the run of the address mostly comes first. The run holds as long as a TLB's entry
    /// does.
    pub(crate) fn run_fill(&self, ways: &mut Ways, address: u64, write: bool) {
        let [first, second] = ways.runs;
        if first.holds(address) {
            return;
        }
        if second.holds(address) {
            ways.runs = [second, first];
            return;
        }
        ways.misses += 1;
        if (ways.misses <= MISSES_IN_FULL || ways.misses.is_multiple_of(MISSES_FROM_THEN))
            && let Some(run) = self.run(address, write)
        {
            ways.runs = [run, first];
        }
    }

    /// Returns the addend from the guest addresses `low ..= last` to host addresses, if they have
    /// one.
    ///
    /// The pages of the addresses must follow each other in host memory too, and must be readable
    /// or, with `write`, both readable and writable. Afterwards the TLB's run mostly holds the
    /// addresses.
    pub(crate) fn reach(
        &self,
        tlb: &mut Tlb,
        run: usize,
        (low, last): (u64, u64),
        write: bool,
    ) -> Option<u64> {
        let runs = if write { &mut tlb.write_runs } else { &mut tlb.read_runs };
        self.run_fill(&mut runs[run], low, write);
        let run = &runs[run].runs[0];
        if low <= last && run.holds(low) && run.holds(last) {
            return Some(run.addend);
        }
        let host = self.host_to(low, write)?;
        (low <= last && page_start(low) == page_start(last))
            .then(|| host.wrapping_sub(page_start(low)))
    }

    /// Returns the host address of an address's page, if the page is readable or, with `write`,
    /// both readable and writable.
    fn host_to(&self, address: u64, write: bool) -> Option<u64> {
        match self.page(address) {
            Page::Resident { host, access } if access.read && (access.write || !write) => {
                Some(host.as_ptr().expose_provenance() as u64)
            }
            _ => None,
        }
    }

    /// Loads an aligned cell of 1, 2, 4 or 8 bytes by one access.
    ///
    /// [`Memory::unmap_bytes`] waits for this function, so it may be called outside of launches.
    pub fn read_cell(&self, address: u64, bytes: u32) -> Result<u64, CopyError> {
        let refused = CopyError { address, write: false };
        if !matches!(bytes, 1 | 2 | 4 | 8) || address & (u64::from(bytes) - 1) != 0 {
            return Err(refused);
        }
        let held = self.bytes.hold();
        let pointer =
            self.host_if(address, |access| access.read, || held.have(address, bytes.into()));
        // SAFETY: an aligned cell lies on one page, or in a range of `map_bytes`. `held` keeps such
        // ranges mapped until this returns.
        let load = |pointer: *mut u8| unsafe { raw::load(pointer, bytes) as u64 };
        Ok(pointer.map_err(|_| refused)?.map_or(0, load))
    }

    /// Copies out of guest memory. Sparse pages read zero. On an error some bytes may have been
    /// copied.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), CopyError> {
        let mut into = into;
        self.pieces(address, into.len() as u64, Way::Read, |pointer, bytes| {
            let (piece, rest) = std::mem::take(&mut into).split_at_mut(bytes);
            into = rest;
            match pointer {
                // SAFETY: the bytes that `pieces` passes are readable, and stay until `pieces`
                // returns.
                Some(pointer) => unsafe { raw::copy_out(pointer, piece) },
                None => piece.fill(0),
            }
        })
    }

    /// Copies into guest memory. Bytes for sparse pages are dropped. On an error nothing is
    /// written.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), CopyError> {
        self.pieces(address, from.len() as u64, Way::Write, |_, _| ())?;
        self.copy_in(address, from, Way::Write)
    }

    /// Copies as [`Memory::write`], also where the guest cannot write, for a driver's own data. On
    /// an error some bytes may have been written.
    pub fn overwrite(&self, address: u64, from: &[u8]) -> Result<(), CopyError> {
        self.copy_in(address, from, Way::Overwrite)
    }

    fn copy_in(&self, address: u64, from: &[u8], way: Way) -> Result<(), CopyError> {
        let mut from = from;
        self.pieces(address, from.len() as u64, way, |pointer, bytes| {
            let (piece, rest) = from.split_at(bytes);
            from = rest;
            if let Some(pointer) = pointer {
                // SAFETY: the bytes that `pieces` passes stay until `pieces` returns. The host can
                // write them, even if the guest cannot.
                unsafe { raw::copy_in(pointer, piece) };
            }
        })
    }

    /// Sets `bytes` bytes to `value`, under the rules of [`Memory::write`].
    pub fn fill(&self, address: u64, bytes: u64, value: u8) -> Result<(), CopyError> {
        self.pieces(address, bytes, Way::Write, |_, _| ())?;
        self.pieces(address, bytes, Way::Write, |pointer, bytes| {
            if let Some(pointer) = pointer {
                // SAFETY: as in `write`.
                unsafe { raw::fill(pointer, bytes, value) };
            }
        })
    }

    /// Calls `f` with the host address (`None` if sparse) and length of each page's part of a
    /// range.
    ///
    /// The memory there stays until this function returns: `held` keeps ranges of `map_bytes`
    /// mapped.
    fn pieces(
        &self,
        address: u64,
        bytes: u64,
        way: Way,
        mut f: impl FnMut(Option<*mut u8>, usize),
    ) -> Result<(), CopyError> {
        let held = self.bytes.hold();
        let allows = |access: Access| match way {
            Way::Read => access.read,
            Way::Write => access.write,
            Way::Overwrite => true,
        };
        each_page(address, bytes, way != Way::Read, |at, step| {
            f(self.host_if(at, allows, || held.have(at, step as u64)).ok()?, step);
            Some(())
        })
    }
}

/// The direction of a copy, and the permission that it needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    /// Writes without a permission.
    Overwrite,
}

/// Calls `f` with the address and length of each page's part of a range, until `f` returns `None`,
/// which is an error.
fn each_page(
    address: u64,
    bytes: u64,
    write: bool,
    mut f: impl FnMut(u64, usize) -> Option<()>,
) -> Result<(), CopyError> {
    let mut done = 0;
    while done < bytes {
        let at = address.checked_add(done).ok_or(CopyError { address: u64::MAX, write })?;
        let step = left_in_page(at).min(bytes - done);
        f(at, step as usize).ok_or(CopyError { address: at, write })?;
        done += step;
    }
    Ok(())
}

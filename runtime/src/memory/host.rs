//! Host memory that backs guest pages.

use super::error::MapError;
use super::{PAGE_BYTES, raw};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Zeroed host memory in whole pages, which can be mapped into a guest and shared with the host's threads. It is
/// touched through relaxed atomics only, so sharing it with a running guest is safe.
///
/// The host reserves the memory, and provides each page of it when it is first touched.
pub struct HostBuffer {
    allocation: NonNull<u8>,
    layout: Layout,
    /// The first multiple of the page in the allocation.
    start: NonNull<u8>,
    bytes: u64,
    charge: Option<Charge>,
}

// SAFETY: the memory is owned, and shared access to it goes through atomics.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

/// Bytes counted against a [`Memory`](super::Memory)'s cap for as long as the buffer lives.
struct Charge {
    in_use: Arc<AtomicU64>,
    bytes: u64,
}

impl Charge {
    fn take(in_use: &Arc<AtomicU64>, bytes: u64, cap: u64) -> Result<Charge, MapError> {
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= cap);
        match in_use.fetch_update(Relaxed, Relaxed, add) {
            Ok(_) => Ok(Charge { in_use: in_use.clone(), bytes }),
            Err(in_use) => Err(MapError::CapExceeded { requested: bytes, in_use, cap }),
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.in_use.fetch_sub(self.bytes, Relaxed);
    }
}

impl HostBuffer {
    /// `bytes` zeroed bytes, rounded up to whole pages.
    pub fn new(bytes: u64) -> Result<HostBuffer, MapError> {
        if bytes == 0 {
            return Err(MapError::ZeroSize);
        }
        let exhausted = MapError::HostOutOfMemory { bytes };
        let bytes = bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(exhausted)?;
        // One page more, to align within it: an aligned request would make the allocator clear, and so touch, it all.
        let size = bytes.checked_add(PAGE_BYTES).and_then(|size| usize::try_from(size).ok()).ok_or(exhausted)?;
        let layout = Layout::from_size_align(size, 16).map_err(|_| exhausted)?;
        // SAFETY: the size is not 0.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(exhausted)?;
        let skip = allocation.addr().get().wrapping_neg() & (PAGE_BYTES as usize - 1);
        // SAFETY: `skip` is less than the page that was added.
        let start = unsafe { allocation.add(skip) };
        Ok(HostBuffer { allocation, layout, start, bytes, charge: None })
    }

    pub(crate) fn charged(bytes: u64, in_use: &Arc<AtomicU64>, cap: u64) -> Result<HostBuffer, MapError> {
        let rounded = bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(MapError::HostOutOfMemory { bytes })?;
        let charge = Charge::take(in_use, rounded, cap)?;
        let mut buffer = HostBuffer::new(bytes)?;
        buffer.charge = Some(charge);
        Ok(buffer)
    }

    /// A buffer with this content, zero up to the end of its last page.
    pub fn from_bytes(content: &[u8]) -> Result<HostBuffer, MapError> {
        let buffer = HostBuffer::new(content.len() as u64)?;
        buffer.write(0, content)?;
        Ok(buffer)
    }

    /// Length in bytes: a multiple of the page.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn range(&self, offset: u64, bytes: u64) -> Result<usize, MapError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(offset as usize),
            end => Err(MapError::HostRange { offset, end: end.unwrap_or(u64::MAX), length: self.bytes }),
        }
    }

    /// Copies out of the buffer. A running guest may write to it meanwhile.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), MapError> {
        let offset = self.range(offset, into.len() as u64)?;
        // SAFETY: the range lies in the allocation, which is only touched through atomics.
        unsafe { raw::copy_out(self.start.as_ptr().add(offset), into) };
        Ok(())
    }

    /// Copies into the buffer. A running guest may read it meanwhile.
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), MapError> {
        let offset = self.range(offset, from.len() as u64)?;
        // SAFETY: as in `read`.
        unsafe { raw::copy_in(self.start.as_ptr().add(offset), from) };
        Ok(())
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}

impl std::fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuffer").field("bytes", &self.bytes).field("charged", &self.charge.is_some()).finish()
    }
}

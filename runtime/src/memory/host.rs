//! Host memory that backs guest pages.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::error::MapError;
use super::{PAGE_BYTES, raw};
use crate::zeroed::Zeroed;

/// Zeroed host memory in whole pages, which can be mapped into a guest and shared with host
/// threads.
///
/// It is touched through relaxed atomics only, so sharing it with a running guest is safe.
pub struct HostBuffer {
    memory: Zeroed,
    bytes: u64,
    charge: Option<Charge>,
}

/// Bytes counted against a [`Memory`](super::Memory)'s cap for as long as the buffer lives.
pub(super) struct Charge {
    in_use: Arc<AtomicU64>,
    bytes: u64,
}

impl Charge {
    pub(super) fn take(in_use: &Arc<AtomicU64>, bytes: u64, cap: u64) -> Result<Charge, MapError> {
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
    /// Allocates `bytes` zeroed bytes, rounded up to whole pages.
    pub fn new(bytes: u64) -> Result<HostBuffer, MapError> {
        if bytes == 0 {
            return Err(MapError::ZeroSize);
        }
        let exhausted = MapError::HostOutOfMemory { bytes };
        let bytes = bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(exhausted)?;
        let memory = Zeroed::new(bytes, PAGE_BYTES as usize).ok_or(exhausted)?;
        Ok(HostBuffer { memory, bytes, charge: None })
    }

    pub(crate) fn charged(
        bytes: u64,
        in_use: &Arc<AtomicU64>,
        cap: u64,
    ) -> Result<HostBuffer, MapError> {
        let rounded = bytes
            .checked_next_multiple_of(PAGE_BYTES)
            .ok_or(MapError::HostOutOfMemory { bytes })?;
        let charge = Charge::take(in_use, rounded, cap)?;
        let mut buffer = HostBuffer::new(bytes)?;
        buffer.charge = Some(charge);
        Ok(buffer)
    }

    /// Returns a buffer with this content, zero up to the end of its last page.
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
        self.memory.pointer()
    }

    pub(crate) fn range(&self, offset: u64, bytes: u64) -> Result<usize, MapError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(offset as usize),
            end => Err(MapError::HostRange {
                offset,
                end: end.unwrap_or(u64::MAX),
                length: self.bytes,
            }),
        }
    }

    /// Copies out of the buffer. A running guest may write to it meanwhile.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), MapError> {
        let offset = self.range(offset, into.len() as u64)?;
        // SAFETY: the range lies in the allocation, which is only touched through atomics.
        unsafe { raw::copy_out(self.memory.pointer().as_ptr().add(offset), into) };
        Ok(())
    }

    /// Copies into the buffer. A running guest may read it meanwhile.
    pub fn write(&self, offset: u64, from: &[u8]) -> Result<(), MapError> {
        let offset = self.range(offset, from.len() as u64)?;
        // SAFETY: as in `read`.
        unsafe { raw::copy_in(self.memory.pointer().as_ptr().add(offset), from) };
        Ok(())
    }
}

impl std::fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuffer")
            .field("bytes", &self.bytes)
            .field("charged", &self.charge.is_some())
            .finish()
    }
}

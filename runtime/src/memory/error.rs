//! Why a mapping was refused.

use super::PAGE_BYTES;

/// Errors of the mapping operations of [`Memory`](super::Memory). An operation that returns an
/// error has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    #[error("the size is zero")]
    ZeroSize,
    #[error("{bytes:#x} bytes at {address:#x} end past the 64-bit address space")]
    TooLong { address: u64, bytes: u64 },
    #[error("{requested} bytes asked for with {in_use} in use, and the limit is {cap}")]
    CapExceeded { requested: u64, in_use: u64, cap: u64 },
    #[error("the host has no {bytes} bytes of memory left")]
    HostOutOfMemory { bytes: u64 },
    #[error("alignment {align} is not a power of two")]
    BadAlignment { align: u64 },
    #[error("{value:#x} is not a multiple of the page, {PAGE_BYTES:#x} bytes")]
    NotPageAligned { value: u64 },
    #[error("{bytes:#x} bytes at {address:#x} overlap the range at {other:#x}")]
    Overlap { address: u64, bytes: u64, other: u64 },
    #[error(
        "{bytes:#x} bytes at {address:#x} overlap the shared or the local window, the first or the last page"
    )]
    Forbidden { address: u64, bytes: u64 },
    #[error("no free range of {bytes:#x} bytes aligned to {align:#x}")]
    NoSpace { bytes: u64, align: u64 },
    #[error("no range was reserved that holds {bytes:#x} bytes at {address:#x}")]
    NotReserved { address: u64, bytes: u64 },
    #[error("no range starts at {address:#x}")]
    NoRange { address: u64 },
    #[error("the page at {address:#x} is already bound")]
    AlreadyBound { address: u64 },
    #[error("bytes {offset:#x} to {end:#x} of a host buffer of {length:#x}")]
    HostRange { offset: u64, end: u64, length: u64 },
    #[error("the host address is not a multiple of 16")]
    HostMisaligned,
    #[error("the shared and the local window must be two different multiples of 16 MiB")]
    BadWindows,
}

/// A bulk copy met a page that is unmapped or does not permit the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("guest address {address:#x} is not mapped for {}", if *.write { "writing" } else { "reading" })]
pub struct CopyError {
    /// The first refused address.
    pub address: u64,
    pub write: bool,
}

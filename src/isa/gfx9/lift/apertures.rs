//! Where shared memory (LDS) and scratch memory appear among flat addresses.
//!
//! The upper 32 bits of an address select the memory.

/// The base of shared memory. The lower 32 bits of an address are the offset.
pub const SHARED: u64 = 0x1_0000 << 32;
/// The base of scratch memory.
pub const PRIVATE: u64 = 0x2_0000 << 32;

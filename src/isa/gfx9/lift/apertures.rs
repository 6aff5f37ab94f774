//! Where shared memory (LDS) and scratch memory appear among flat addresses: the upper 32 bits say so.

/// Of shared memory, of which the lower 32 bits are the offset.
pub const SHARED: u64 = 0x1_0000 << 32;
/// Of scratch memory.
pub const PRIVATE: u64 = 0x2_0000 << 32;

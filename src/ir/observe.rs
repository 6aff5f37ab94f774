//! Sites that lifters tell of, where operations do not show what the guest's code says, and events of
//! the host. Other sites are numbered by those who write them.

/// A statement that waits for lanes of the warp: the lanes that each lane names (`i32`), the lanes
/// that have not exited (a mask), the lanes that are there (a mask).
pub const MEET: u32 = u32::MAX;
/// Lanes meet at a barrier that all lanes of the warp should execute together: all of them, and those
/// that come from this instruction (masks).
pub const APART: u32 = u32::MAX - 1;
/// A fence for the threads of the block: the active lanes (a mask). Engines need none.
pub const BLOCK_FENCE: u32 = u32::MAX - 2;
/// The host has allocated memory for a lane: the address, the bytes.
pub const ALLOCATED: u32 = u32::MAX - 3;
/// The host has freed memory for a lane: the address.
pub const FREED: u32 = u32::MAX - 4;
/// Caches are emptied, so that strong accesses of the warp, which came before, acquire: the active lanes
/// (a mask).
pub const ACQUIRE: u32 = u32::MAX - 5;

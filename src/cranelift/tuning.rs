//! Numbers that were chosen, each with what it was chosen by. All of them are about speed: none changes a result. Whoever changes one holds
//! `benches/` and `tests/code_size` against it, and writes here what came of it. "A guess" has not been measured by itself.

// Code

/// Values of a chain, each made of the one before, that lowering makes by calling itself. A level takes 1 to 2 KiB of
/// the host's stack in a build that is not optimized, and threads may have 2 MiB.
/// (Chosen by: a bound on the stack.)
pub const MOST_IN_A_ROW: u32 = 200;

// Memory

/// Values of which an address is made that are looked at.
/// (Chosen by: a bound on the time of analysis.)
pub const MOST_ADDRESS_VALUES: u32 = 64;

/// Offsets that are known to end below are likely to lie in any kernel's shared and local memory.
/// (A guess.)
pub const SMALL_OFFSET: i64 = 16 << 10;

/// Parts of a guard that are looked at.
/// (Chosen by: a bound on the time of analysis.)
pub const MOST_GUARD_PARTS: usize = 16;

// Registers and constants

/// Vectors that are kept in registers between instructions; what is left is for the instruction itself.
/// (Chosen by: 16 vector registers, less those of one instruction.)
pub const KEPT_VECTORS: usize = 12;

/// How many instructions ago a constant was made at most that is taken again. So the parts of a value have their constants
/// together, and registers do not hold them for long.
/// (A guess.)
pub const RECENT_CONSTANTS: usize = 64;

/// Bytes that one round of the loop clears that zeroes registers.
/// (Chosen by: a cache line.)
pub const CLEARED_AT_ONCE: i32 = 64;

// Lanes that are apart

/// Host instructions of an access whose lanes are apart, for a chunk and for one lane: to global memory, and to the others, where lanes often
/// have the same offset after all.
/// (Chosen by: the code of queens and recursion; a guess where lanes have the same offset.)
pub const GLOBAL_APART: (i64, i64) = (48, 7);
pub const LOCAL_APART: (i64, i64) = (26, 6);

/// The same of other accesses, and of what computes.
/// (A guess.)
pub const TOGETHER: (i64, i64) = (8, 6);
pub const COMPUTED: (i64, i64) = (2, 1);

/// Code for single lanes is made if it is worth it for so many lanes at least: the warp's, divided by this.
/// (A guess.)
pub const LEAST_SHARE_APART: i64 = 8;

/// Accesses of a segment that has code for single lanes.
/// (Chosen by: a bound on translation time.)
pub const MOST_ACCESSES_APART: usize = 64;

/// Accesses of global memory of such a segment whose runs are at hand from lane to lane, three words for each, which pass
/// through several blocks for each access. More are found in the TLB by each lane.
/// (Chosen by: 16 registers; translation takes the square of their number.)
pub const MOST_RUNS_HELD: usize = 6;

// Loops, groups and strips

/// Bytes that the address of a stream moves on by at most.
/// (A guess.)
pub const MOST_STEP: u64 = 1 << 20;

/// Rounds that lanes do at most before the loop is entered again: sums of 64 such numbers are words.
/// (Chosen by: what a word can count.)
pub const MOST_ROUNDS: i64 = 1 << 24;

/// Rounds that follow each other in code: a fused multiply-add needs its sum in another register than it gives one.
/// (A guess.)
pub const UNROLLED: usize = 2;

/// Bytes of registers that are saved at most before such a loop.
/// (A guess.)
pub const MOST_SAVED: u32 = 4096;

/// Operations for each load, up to which lanes are better off alone: others are cheaper for many at once.
/// (A guess.)
pub const OPERATIONS_A_LOAD: usize = 8;

/// Instructions of a group, times its chunks, that are lowered for every chunk by itself.
/// (A guess.)
pub const ONE_BY_ONE: usize = 320;

/// Lanes of a block's strip, and of those of the blocks after it, that are worth a sweep.
/// (A guess.)
pub const LEAST_STRIP: i64 = 64;

/// Chunks of a block's strip that are done in turn.
/// (A guess.)
pub const STRIP_CHUNKS: i64 = 4;

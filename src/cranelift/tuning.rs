//! Numbers that were chosen, each with the basis of the choice. They are all about speed: none
//! changes a result. If you change a number, compare `benches/` and `tests/code_size` before and
//! after, and write the result here. "A guess" has not been measured by itself.

// Code

/// The most values of a chain, each made of the value before, that lowering makes by recursion. A
/// level takes 1 to 2 KiB of the host's stack in an unoptimized build, and threads may have 2 MiB.
/// (Chosen by: a bound on the stack.)
pub const MOST_IN_A_ROW: u32 = 200;

// Memory

/// The most values that analysis looks at of an address.
/// (Chosen by: a bound on the time of analysis.)
pub const MOST_ADDRESS_VALUES: u32 = 64;

/// Offsets with a known bound below this are likely to lie in any kernel's shared and local memory.
/// (A guess.)
pub const SMALL_OFFSET: i64 = 16 << 10;

/// The most parts of a guard that analysis looks at.
/// (Chosen by: a bound on the time of analysis.)
pub const MOST_GUARD_PARTS: usize = 16;

// Registers and constants

/// The most vectors kept in registers between instructions. The other registers are for the
/// instruction itself.
/// (Chosen by: 16 vector registers, less those of one instruction.)
pub const KEPT_VECTORS: usize = 12;

/// The most instructions after which a constant is used again instead of made again. So the parts
/// of a value share their constants, and registers do not hold constants for long.
/// (A guess.)
pub const RECENT_CONSTANTS: usize = 64;

/// The number of bytes that one round of the loop that zeroes registers clears.
/// (Chosen by: a cache line.)
pub const CLEARED_AT_ONCE: i32 = 64;

// Lanes that are apart

/// The host instructions of an access whose lanes are apart, for a chunk and for one lane. The
/// first constant is for global memory. The second is for all other memory, where lanes often have
/// equal offsets after all.
/// (Chosen by: the code of queens and recursion; a guess where lanes have the same offset.)
pub const GLOBAL_APART: (i64, i64) = (48, 7);
pub const LOCAL_APART: (i64, i64) = (26, 6);

/// The host instructions of all other accesses, and of computations, for a chunk and for one lane.
/// (A guess.)
pub const TOGETHER: (i64, i64) = (8, 6);
pub const COMPUTED: (i64, i64) = (2, 1);

/// Code for single lanes is emitted if it pays for the warp's lanes divided by this, at least.
/// (A guess.)
pub const LEAST_SHARE_APART: i64 = 8;

/// The most accesses of a segment that has code for single lanes.
/// (Chosen by: a bound on translation time.)
pub const MOST_ACCESSES_APART: usize = 64;

/// The most accesses to global memory in such a segment whose runs stay in registers from lane to
/// lane. A run is three words, which pass through several blocks for each access. Each lane finds
/// further runs in the TLB.
/// (Chosen by: 16 registers; translation takes the square of their number.)
pub const MOST_RUNS_HELD: usize = 6;

// Loops, groups and strips

/// The most bytes by which the address of a stream moves on.
/// (A guess.)
pub const MOST_STEP: u64 = 1 << 20;

/// The most rounds that lanes run before the loop is entered again. Sums of 64 such numbers are
/// words.
/// (Chosen by: what a word can count.)
pub const MOST_ROUNDS: i64 = 1 << 24;

/// The number of rounds that follow each other in code. A fused multiply-add takes its sum from
/// another register than it writes its result to.
/// (A guess.)
pub const UNROLLED: usize = 2;

/// The most bytes of registers that are saved before such a loop.
/// (A guess.)
pub const MOST_SAVED: u32 = 4096;

/// The most operations per load with which lanes run better alone. More are cheaper in vectors.
/// (A guess.)
pub const OPERATIONS_A_LOAD: usize = 8;

/// The most instructions of a group, times its chunks, that are lowered for every chunk by itself.
/// (A guess.)
pub const ONE_BY_ONE: usize = 320;

/// The fewest lanes of a block's strip, with its strips in the blocks after it, that justify a
/// sweep.
/// (A guess.)
pub const LEAST_STRIP: i64 = 64;

/// The most chunks of a block's strip that one round lowers one by one.
/// (A guess.)
pub const STRIP_CHUNKS: i64 = 4;

//! Numbers that were chosen, each with what it was chosen by. All of them are about speed: none changes a result. Whoever changes one holds
//! `benches/` and `tests/code_size` against it, and writes here what came of it. "A guess" has not been measured by itself.

// Regions and tiers

/// Instructions of the IR that a region holds before the next one begins.
/// (Chosen by: compile time per instruction doubles in very large functions, docs/facts/cranelift.md. With 600, loops with a division of NVIDIA's
/// compilers in them, whose slow ways are long, went through two or three regions a round, which took a third more time.)
pub const REGION_INSTS: usize = 2400;

/// Programs of one kernel; further launch classes share the most general one.
/// (Chosen by: a bound on memory and translation.)
pub const MAX_VARIANTS: usize = 4;

/// How often warps of 32 lanes have executed the instructions of a region, on average, when it is hot; wider ones take as much longer. They take some
/// 10 ns each, half of which fast code mostly saves, and an instruction takes some 50 us to be made fast: so when it would have paid, and no launch is
/// much longer for what was not known of it.
pub const HOT: u64 = 10_000;

/// How often a launch's warps of 32 lanes have each instruction of a region interpreted, on average, before the region is
/// translated; wider ones have it as much less often. To interpret one takes some 300 ns, to translate it some 10 us.
pub const INTERPRETED: u64 = 16;

/// Warps of a launch, at most, for which regions are interpreted at first: more warps make it worthless.
pub const FEW_WARPS: u64 = 16;

/// What an instruction of code that is not for speed takes, by the clock, for it to count once: what takes longer counts more often. Lanes
/// that are apart make it 20 to 50 ns, of which fast code saves more.
pub const COUNTED_NS: u64 = 10;

/// How often it counts at most: the clock runs on while others have the processor.
pub const MOST_COUNTED: u64 = 8;

/// Rounds that a loop is expected to do when nothing of it has been executed. Some 600 warps then make most of a kernel
/// hot in advance. If it is wrong, code is made for speed at twice the cost; if it is right, neither slow code nor its execution is paid for.
/// (A guess.)
pub const EXPECTED_ROUNDS: u64 = 32;

/// Instructions that a call of a helper counts for: it takes some 300 ns.
pub const HELPED: u64 = 32;

/// Backward jumps after which code that is not hot is left, so that the loop may go on in better code.
/// (A guess.)
pub const SLICE: u64 = 256;

/// Backward jumps after which careful code is left: what did not hold may hold again, and mostly does not at once.
/// (A guess.)
pub const CAREFUL_SLICE: u64 = 16;

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

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

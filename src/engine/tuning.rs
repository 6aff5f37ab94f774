//! Chosen numbers, each with the reason for its choice. All of them affect speed only; none changes
//! a result. To change one, compare `benches/` and `tests/code_size`, and record the outcome here.
//! "A guess" has not been measured by itself.

// Regions and tiers

/// Instructions of the IR that a region holds before the next region begins.
/// (Chosen by: compile time per instruction doubles in very large functions,
/// docs/facts/cranelift.md. With 600, loops with a division of NVIDIA's compilers, whose slow paths
/// are long, went through two or three regions per round, which took a third more time.)
pub(crate) const REGION_INSTS: usize = 2400;

/// The most programs of one kernel. Further launch classes share the most general program.
/// (Chosen by: a bound on memory and translation.)
pub(crate) const MAX_VARIANTS: usize = 4;

/// Executions of each instruction of a region, on average, by warps of 32 lanes, that make the
/// region hot. Wider warps take proportionally longer, so they need fewer executions. An execution
/// takes some 10 ns, of which fast code mostly saves half, and making an instruction fast takes
/// some 50 us. A region is thus hot when fast code would have paid, and no launch takes much longer
/// because its length was unknown.
pub(crate) const HOT: u64 = 10_000;

/// Interpretations of each instruction of a region, on average, by a launch's warps of 32 lanes,
/// before the region is translated. Wider warps need proportionally fewer. Interpreting an
/// instruction takes some 300 ns, translating it some 10 us.
pub const INTERPRETED: u64 = 16;

/// The most warps of a launch for which regions are interpreted at first. With more warps,
/// interpretation does not pay.
pub(crate) const FEW_WARPS: u64 = 16;

/// Expected nanoseconds per instruction in quick code. Slower execution is charged proportionally,
/// up to [`MOST_COUNTED`] times. Divergent lanes take 20 to 50 ns, of which fast code saves more.
pub(crate) const COUNTED_NS: u64 = 10;

/// The most that an instruction counts for. The clock also runs while other threads have the
/// processor.
pub(crate) const MOST_COUNTED: u64 = 8;

/// Rounds that a loop is expected to do when nothing of it has been executed. Some 600 warps then
/// make most of a kernel hot in advance. If the expectation is wrong, code is made for speed at
/// twice the cost. If it is right, the launch pays neither for slow code nor for its execution.
/// (A guess.)
pub(crate) const EXPECTED_ROUNDS: u64 = 32;

/// Instructions that a call of a helper counts for: a call takes some 300 ns.
pub(crate) const HELPED: u64 = 32;

/// Backward jumps after which a warp leaves code that is not hot, so that a loop can go on in
/// better code.
/// (A guess.)
pub const SLICE: u64 = 256;

/// Backward jumps after which a warp leaves careful code: the failed conditions may hold again, but
/// mostly not at once.
/// (A guess.)
pub(crate) const CAREFUL_SLICE: u64 = 16;

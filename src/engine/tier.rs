//! The code of a program's regions. A region that is rarely executed has no code. Otherwise its
//! first code is quick to make. A hot region gets code that is fast while likely conditions hold.
//! If the unlikely conditions prove hot too, the region gets code that is fast in any case.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use warploom_ir::BlockId;

use crate::backend::Code;
use crate::descriptions::Descriptions;
use crate::{JitError, tuning};

/// The purpose that code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// To be ready soon: registers are allocated in one pass, and no operation acts on a whole warp
    /// at once.
    Quick,
    /// To be fast while likely conditions hold; this takes half the code. Blocks where they do not
    /// hold begin again in quick code.
    Likely,
    /// To be fast under all conditions.
    Full,
}

impl Effort {
    pub const ALL: [Effort; 3] = [Effort::Quick, Effort::Likely, Effort::Full];

    /// Returns the name, as in `warploom run --effort`.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Likely => "likely",
            Effort::Full => "full",
        }
    }

    /// Returns whether code is made for speed.
    pub fn is_fast(self) -> bool {
        self != Effort::Quick
    }

    /// Returns a different effort.
    pub fn other(self) -> Effort {
        Effort::ALL[(self as usize + 1) % Effort::ALL.len()]
    }
}

/// How much a region has been executed.
pub struct Heat {
    /// Instructions that warps executed in the region, until it was hot.
    instructions: AtomicU64,
    /// The number of instructions that makes the region hot.
    hot: u64,
    /// Instructions that a warp is expected to execute in the region, if it comes there.
    per_warp: u64,
}

impl Heat {
    /// Returns the heat of blocks with these instruction counts, in a loop or not, of warps of
    /// `lanes` lanes. The targets of indirect jumps are found one by one, and each makes a new
    /// translation. Nothing is therefore expected of a function with indirect jumps.
    pub fn new(blocks: impl Iterator<Item = (u64, bool)>, lanes: u32, has_indirect: bool) -> Heat {
        let (mut size, mut per_warp) = (0, 0);
        for (instructions, in_loop) in blocks {
            size += instructions;
            per_warp += instructions * if in_loop { tuning::EXPECTED_ROUNDS } else { 1 };
        }
        let per_warp = if has_indirect { 0 } else { per_warp };
        Heat {
            instructions: AtomicU64::new(0),
            hot: tuning::HOT * 32 / u64::from(lanes.max(1)) * size.max(1),
            per_warp,
        }
    }

    /// Returns the heat of these blocks before any of them is executed.
    fn cold(&self) -> Heat {
        Heat { instructions: AtomicU64::new(0), ..*self }
    }

    /// Returns how many instructions may still be executed before each of them has been executed
    /// `rounds` times, on average, by warps of 32 lanes.
    pub fn left_of(&self, rounds: u64) -> u64 {
        let whole = u128::from(self.hot) * u128::from(rounds) / u128::from(tuning::HOT);
        u64::try_from(whole).unwrap_or(u64::MAX).saturating_sub(self.instructions.load(Relaxed))
    }

    pub fn is_hot(&self) -> bool {
        self.instructions.load(Relaxed) >= self.hot
    }

    /// Adds executed instructions, and returns whether they made the region hot.
    pub fn add(&self, instructions: u64) -> bool {
        if self.is_hot() {
            return false;
        }
        let before = self.instructions.fetch_add(instructions, Relaxed);
        before < self.hot && before.saturating_add(instructions) >= self.hot
    }

    /// Makes the region hot if `warps` warps still to come will make it hot, and returns whether
    /// they will.
    pub fn expect(&self, warps: u64) -> bool {
        let will_be = self.per_warp.saturating_mul(warps) >= self.hot;
        if will_be {
            self.instructions.store(self.hot, Relaxed);
        }
        will_be
    }
}

/// The code of one region.
pub struct Compiled {
    pub code: Code,
    /// Bytes of the register file that the code needs.
    pub register_bytes: u64,
    pub descriptions: Box<Descriptions>,
}

/// Several blocks that are compiled together.
pub struct Region {
    pub blocks: Vec<BlockId>,
    /// The execution of the region.
    pub heat: Heat,
    /// The execution of careful code, in place of code that was made for likely conditions.
    pub careful_heat: Heat,
    /// The code by effort.
    pub code: [OnceLock<Result<Compiled, JitError>>; Effort::ALL.len()],
    /// Set once the cache was asked for code that was made for speed.
    pub asked_cache: OnceLock<()>,
}

impl Region {
    /// Returns a region of blocks; the other arguments are as of [`Heat::new`].
    pub fn new(
        blocks: Vec<BlockId>,
        costs: impl Iterator<Item = (u64, bool)>,
        lanes: u32,
        has_indirect: bool,
    ) -> Region {
        let heat = Heat::new(costs, lanes, has_indirect);
        let code = [const { OnceLock::new() }; Effort::ALL.len()];
        Region { blocks, careful_heat: heat.cold(), heat, code, asked_cache: OnceLock::new() }
    }

    /// Returns the region's code of this effort, if it was made.
    pub fn made(&self, effort: Effort) -> Option<&Compiled> {
        self.code[effort as usize].get()?.as_ref().ok()
    }

    /// Returns whether the region has been translated, or could not be.
    pub fn is_translated(&self) -> bool {
        self.code.iter().any(|code| code.get().is_some())
    }

    /// Returns the region's fastest code, if some was made for speed.
    pub fn fast(&self) -> Option<&Compiled> {
        self.made(Effort::Full).or_else(|| self.made(Effort::Likely))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_hot_once() {
        let heat = Heat::new([(10, true)].into_iter(), 32, false);
        assert!(!heat.add(10 * tuning::HOT - 1) && !heat.is_hot());
        assert!(heat.add(1) && heat.is_hot());
        assert!(!heat.add(1));
    }

    #[test]
    fn many_warps_make_a_region_hot_in_advance() {
        let straight = || Heat::new([(10, false)].into_iter(), 32, false);
        assert!(!straight().expect(tuning::HOT - 1));
        let hot = straight();
        assert!(hot.expect(tuning::HOT) && hot.is_hot() && !hot.add(1));
        let around = || Heat::new([(5, false), (5, true)].into_iter(), 32, false);
        assert!(
            !around().expect(tuning::HOT / tuning::EXPECTED_ROUNDS)
                && around().expect(2 * tuning::HOT / tuning::EXPECTED_ROUNDS)
        );
        assert!(!Heat::new([(10, true)].into_iter(), 32, true).expect(u64::MAX));
    }
}

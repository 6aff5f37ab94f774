//! The code of a program's regions. Where little is executed there is none. Else it is first made so
//! that it is there soon, when it has proved hot so that it is fast while what is likely holds, and
//! when what is not likely has proved hot too so that it is fast in any case.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use warploom_ir::BlockId;

use crate::backend::Code;
use crate::descriptions::Descriptions;
use crate::{JitError, tuning};

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// To be there soon: registers are allocated in one pass, and nothing is done for a whole warp at once.
    Quick,
    /// To be fast while what is likely holds, which is half the code. Blocks where it does not hold begin again in quick code.
    Likely,
    /// To be fast whatever holds.
    Full,
}

impl Effort {
    pub const ALL: [Effort; 3] = [Effort::Quick, Effort::Likely, Effort::Full];

    /// As `warploom run --effort` has it.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Likely => "likely",
            Effort::Full => "full",
        }
    }

    /// Whether code is made for speed.
    pub fn is_fast(self) -> bool {
        self != Effort::Quick
    }

    /// Another one.
    pub fn other(self) -> Effort {
        Effort::ALL[(self as usize + 1) % Effort::ALL.len()]
    }
}

/// How much a region has been executed.
pub struct Heat {
    /// Instructions that warps executed in it, until it was hot.
    instructions: AtomicU64,
    /// How many make it so.
    hot: u64,
    /// Those that a warp is expected to execute, if it comes by.
    per_warp: u64,
}

impl Heat {
    /// For blocks of so many instructions, in a loop or not, of warps of so many lanes. What indirect jumps lead to is found one by one, and
    /// translated anew each time: nothing is expected of such a function.
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

    /// Of the same blocks, of which nothing has been executed.
    fn cold(&self) -> Heat {
        Heat { instructions: AtomicU64::new(0), ..*self }
    }

    /// How many instructions may still be executed before each of them has been `rounds` times, on average, by warps of 32
    /// lanes.
    pub fn left_of(&self, rounds: u64) -> u64 {
        let whole = u128::from(self.hot) * u128::from(rounds) / u128::from(tuning::HOT);
        u64::try_from(whole).unwrap_or(u64::MAX).saturating_sub(self.instructions.load(Relaxed))
    }

    pub fn is_hot(&self) -> bool {
        self.instructions.load(Relaxed) >= self.hot
    }

    /// Adds what was executed; whether that made it hot.
    pub fn add(&self, instructions: u64) -> bool {
        if self.is_hot() {
            return false;
        }
        let before = self.instructions.fetch_add(instructions, Relaxed);
        before < self.hot && before.saturating_add(instructions) >= self.hot
    }

    /// Makes it hot if so many warps, which are still to come, will.
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
    /// Of the register file that it needs.
    pub register_bytes: u64,
    pub descriptions: Box<Descriptions>,
}

/// Several blocks that are compiled together.
pub struct Region {
    pub blocks: Vec<BlockId>,
    /// What was executed in it.
    pub heat: Heat,
    /// What was executed by careful code, in place of code that was made for what is likely.
    pub careful_heat: Heat,
    /// By effort.
    pub code: [OnceLock<Result<Compiled, JitError>>; Effort::ALL.len()],
    /// Set once the cache was asked for code that was made for speed.
    pub asked_cache: OnceLock<()>,
}

impl Region {
    /// Blocks of a function; the rest as of [`Heat::new`].
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

    /// Its code of this effort, if it was made.
    pub fn made(&self, effort: Effort) -> Option<&Compiled> {
        self.code[effort as usize].get()?.as_ref().ok()
    }

    /// Whether it has been translated, or could not be.
    pub fn is_translated(&self) -> bool {
        self.code.iter().any(|code| code.get().is_some())
    }

    /// Its fastest code, if some was made for speed.
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

//! Loops of single instructions out of the tables, each with what sets up its addresses, with as many rounds as the launch says: where the
//! JIT's code for one of them is not native, calls of helpers or interpreted instructions grow with the rounds.

use arbitrary::{Result, Unstructured};

use super::case::{Case, Given};
use super::program::Node;
use super::{gfx9, maxwell, ptx, visa};
use crate::exec::Effort;

/// A guest's instructions.
pub struct Guest {
    pub name: &'static str,
    /// GPUs, versions or modes that its instructions are for, by number.
    pub targets: usize,
    /// Of the table, by number: those whose instructions can stand in a loop.
    pub rows: fn() -> usize,
    /// An instruction of a target and a row. None: none was found.
    pub instruction: fn(&mut Unstructured<'_>, usize, usize) -> Result<Option<Node>>,
    /// The loop of instructions of a target, and of how many rounds. If asked to, a round begins with the values that the first began with.
    pub looped: fn(&mut Unstructured<'_>, usize, Vec<Node>, u32, bool) -> Result<Case>,
    /// Of a launch for a target.
    pub warps: fn(usize) -> u32,
}

/// All guests.
pub const GUESTS: [Guest; 4] = [maxwell::GUEST, gfx9::GUEST, ptx::GUEST, visa::GUEST];

/// Of the one block: the last warp is not full.
pub(super) const THREADS: u32 = 100;
/// Instructions of a launch at most.
pub(super) const LIMIT: u64 = 20_000_000;

/// What the launch of a loop is given, whose kernel reads the number of rounds.
pub(super) fn given(rounds: u32) -> Given {
    Given { blocks: 1, block: [THREADS, 1, 1], limit: LIMIT, effort: Effort::Full, word: rounds, seed: 1 }
}

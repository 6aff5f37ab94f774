//! Loops of instructions of the tables, each with the code that sets up its addresses, and with as
//! many rounds as the launch says. Loops of one instruction tell whether the JIT's code for it is
//! native: otherwise calls of helpers or interpreted instructions grow with the rounds. Long bodies
//! tell whether every pass over code bears its length.

use arbitrary::{Result, Unstructured};
use warploom::Effort;

use super::case::{Case, Given, effort};
use super::program::Node;
use super::{gfx9, maxwell, ptx, turing, visa};

/// A guest's instructions.
pub struct Guest {
    pub name: &'static str,
    /// The number of GPUs, versions or modes that its instructions are for.
    pub targets: usize,
    /// The number of rows of the table whose instructions can stand in a loop.
    pub rows: fn() -> usize,
    /// Returns an instruction of a target and a row, or none if none was found.
    pub instruction: fn(&mut Unstructured<'_>, usize, usize) -> Result<Option<Node>>,
    /// Returns the loop of instructions of a target, with a number of rounds. If asked to, each
    /// round begins with the values that the first round began with.
    pub looped: fn(&mut Unstructured<'_>, usize, Vec<Node>, u32, bool) -> Result<Case>,
    /// The number of warps of a launch for a target.
    pub warps: fn(usize) -> u32,
    /// The most lines of a body that the branch back to its start reaches across.
    pub longest: usize,
}

/// All guests.
pub const GUESTS: [Guest; 5] =
    [maxwell::GUEST, turing::GUEST, gfx9::GUEST, ptx::GUEST, visa::GUEST];

/// The threads of the only block. The last warp is not full.
pub(super) const THREADS: u32 = 100;
/// The most instructions of a launch.
pub(super) const LIMIT: u64 = 20_000_000;

/// Returns the input of a loop's launch. The kernel reads the number of rounds.
pub(super) fn given(rounds: u32) -> Given {
    Given {
        blocks: 1,
        block: [THREADS, 1, 1],
        limit: LIMIT,
        effort: Effort::Full,
        word: rounds,
        seed: 1,
    }
}

/// The most different instructions of a long body.
const DIFFERENT: u64 = 40;
/// The greatest ratio of the longest possible body to a long body.
const SHORTER: usize = 20;

/// Returns one round of a long body. Each of its instructions stands there many times, so that
/// values depend on each other along thousands of instructions.
pub fn long(guest: &Guest, u: &mut Unstructured<'_>) -> Result<Case> {
    let target = u.int_in_range(0..=guest.targets - 1)?;
    let (effort, lines) = (effort(u)?, guest.longest / u.int_in_range(1..=SHORTER)?);
    let (mut once, mut again) = (vec![], vec![]);
    for _ in 0..u.int_in_range(1..=DIFFERENT)? {
        let row = u.int_in_range(0..=(guest.rows)() - 1)?;
        let Some(node) = (guest.instruction)(u, target, row)? else { continue };
        if node.may_stand_again() { again.push(node) } else { once.push(node) }
    }
    let round: usize = again.iter().map(Node::count_lines).sum();
    let rounds = lines.checked_div(round).unwrap_or(0);
    let body = once.into_iter().chain(again.iter().cycle().take(rounds * again.len()).cloned());
    Ok(Case { effort, ..(guest.looped)(u, target, body.collect(), 1, false)? })
}

//! Loops of instructions out of the tables, each with what sets up its addresses, with as many
//! rounds as the launch says. Loops of one instruction tell whether the JIT's code for it is native:
//! otherwise calls of helpers or interpreted instructions grow with the rounds. Long bodies tell
//! whether all that goes through code bears its length.

use arbitrary::{Result, Unstructured};
use warploom::Effort;

use super::case::{Case, Given, effort};
use super::program::Node;
use super::{gfx9, maxwell, ptx, visa};

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
    /// Lines of a body that the branch back to its start reaches across.
    pub longest: usize,
}

/// All guests.
pub const GUESTS: [Guest; 4] = [maxwell::GUEST, gfx9::GUEST, ptx::GUEST, visa::GUEST];

/// Of the one block: the last warp is not full.
pub(super) const THREADS: u32 = 100;
/// Instructions of a launch at most.
pub(super) const LIMIT: u64 = 20_000_000;

/// What the launch of a loop is given, whose kernel reads the number of rounds.
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

/// Different instructions of a long body.
const DIFFERENT: u64 = 40;
/// Lines of long bodies are up to so many times fewer than the longest.
const SHORTER: usize = 20;

/// One round of a long body: instructions of which each stands there over and over, so that values
/// depend on each other along thousands of instructions.
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

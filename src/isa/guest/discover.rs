//! Discovery of code by following it, common to all guests: which instructions can run, and where
//! blocks begin and end.
//!
//! A guest states for each instruction where control may go ([`Ways`]), and for each step whether
//! its block continues after it ([`Cut`]).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most guest instructions of a block: the engines translate blocks whole.
pub const MAX_BLOCK: usize = 512;

/// The places where control may go from an instruction. `C` is the knowledge that a path carries to
/// the next instruction.
pub struct Ways<P, C> {
    /// The place behind the instruction, if control may go on there in the same block.
    pub next: Option<(P, C)>,
    /// Places where blocks begin.
    pub leaders: SmallVec<[P; 4]>,
}

/// The role of a step in its candidate block.
pub enum Cut<P> {
    /// The step is in the block, which goes on at this place.
    GoesOn(P),
    /// The step is the last of the block.
    Ends,
    /// The block ends before the step.
    Before,
}

/// The code found so far. `P` is the place of an instruction (an address, and any further state
/// that decides how it is executed); `S` is the instruction's effect.
pub struct Found<P, S> {
    steps: FxHashMap<P, S>,
    leaders: BTreeSet<P>,
}

impl<P, S> Default for Found<P, S> {
    fn default() -> Self {
        Found { steps: FxHashMap::default(), leaders: BTreeSet::new() }
    }
}

impl<P: Copy + Ord + Hash, S> Found<P, S> {
    /// Finds the code that `entry` can reach. `visit` describes the step at a new place, given the
    /// knowledge from the path to it.
    pub fn explore<C: Default>(
        &mut self,
        entry: P,
        mut visit: impl FnMut(P, C) -> (S, Ways<P, C>),
    ) {
        let mut work = vec![(entry, C::default())];
        self.leaders.insert(entry);
        while let Some((place, known)) = work.pop() {
            if self.steps.contains_key(&place) {
                continue;
            }
            let (step, ways) = visit(place, known);
            self.steps.insert(place, step);
            work.extend(ways.next);
            work.extend(ways.leaders.iter().map(|&leader| (leader, C::default())));
            self.leaders.extend(ways.leaders);
        }
    }

    /// Cuts the found code into blocks; existing blocks keep their extent. `cut` makes the block
    /// that begins at a place. It also returns the place before which the block ends, if the block
    /// does not end with an instruction.
    pub fn cut_blocks<B>(
        &self,
        blocks: &mut BTreeMap<P, B>,
        mut cut: impl FnMut(P) -> (B, Option<P>),
    ) {
        let mut work: Vec<P> =
            self.leaders.iter().copied().filter(|place| self.steps.contains_key(place)).collect();
        while let Some(start) = work.pop() {
            if blocks.contains_key(&start) {
                continue;
            }
            let (block, before) = cut(start);
            // This place may be no leader: a further block begins there.
            work.extend(before);
            blocks.insert(start, block);
        }
    }

    /// Follows the steps of the block that begins at `start`. Returns the place before which the
    /// block ends, if it does not end with a step.
    pub fn follow(&self, start: P, mut add: impl FnMut(P, &S) -> Cut<P>) -> Option<P> {
        let mut place = start;
        for length in 0.. {
            if length > 0 && (length >= MAX_BLOCK || self.leaders.contains(&place)) {
                break;
            }
            match add(place, &self.steps[&place]) {
                Cut::GoesOn(next) => place = next,
                Cut::Ends => return None,
                Cut::Before => break,
            }
        }
        Some(place)
    }

    pub fn step(&self, place: P) -> Option<&S> {
        self.steps.get(&place)
    }

    pub fn steps(&self) -> impl Iterator<Item = &S> {
        self.steps.values()
    }

    /// Whether a block begins at a place.
    pub fn is_leader(&self, place: P) -> bool {
        self.leaders.contains(&place)
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    /// A program in which instruction 2 jumps back to 1 conditionally, and 4 is the last.
    fn visit(at: u32, seen: u32) -> (u32, Ways<u32, u32>) {
        let next = if at == 4 { None } else { Some((at + 1, seen + 1)) };
        match at {
            2 => (seen, Ways { next: None, leaders: smallvec![1, 3] }),
            _ => (seen, Ways { next, leaders: smallvec![] }),
        }
    }

    fn blocks(found: &Found<u32, u32>, last: u32) -> BTreeMap<u32, Vec<u32>> {
        let mut blocks = BTreeMap::new();
        found.cut_blocks(&mut blocks, |start| {
            let mut block = Vec::new();
            let before = found.follow(start, |at, _| {
                block.push(at);
                if at == 2 || at == last { Cut::Ends } else { Cut::GoesOn(at + 1) }
            });
            (block, before)
        });
        blocks
    }

    #[test]
    fn blocks_end_before_leaders_and_what_is_known_only_where_control_goes_on() {
        let mut found = Found::default();
        found.explore(0, visit);
        let expected = [(0, vec![0]), (1, vec![1, 2]), (3, vec![3, 4])];
        assert_eq!(blocks(&found, 4), BTreeMap::from(expected));
        let known: Vec<u32> = (0..5).map(|at| *found.step(at).expect("found")).collect();
        assert_eq!(known, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_long_block_is_cut() {
        let last = 2 * MAX_BLOCK as u32 + 10;
        let mut found = Found::default();
        found.explore(3, |at, ()| {
            (
                at,
                Ways {
                    next: if at == last { None } else { Some((at + 1, ())) },
                    leaders: smallvec![],
                },
            )
        });
        let lengths: Vec<usize> = blocks(&found, last).values().map(Vec::len).collect();
        assert_eq!(lengths, [MAX_BLOCK, MAX_BLOCK, 8]);
    }
}

//! Blocks that run on into the next block.
//!
//! If lanes leave by a branch, the other lanes execute the code behind it in the same block of the
//! IR, even if no lane is left. That code then has no effect, because operations without a mask
//! test [`Cx::running`]. The end of the IR's block tests whether lanes are left.
//!
//! [`Cx::running`]: super::Cx

use std::collections::BTreeSet;

use super::graph::{End, Graph};
use super::variables::Kernel;
use super::waiting::{is_always, is_uniform};
use crate::instruction::{Instruction, Operand, State};

/// The most instructions of a block that may be executed with no lane left, and (`MAX_CHAIN`) of
/// all blocks in a row.
const MAX_BLOCK: u32 = 80;
const MAX_CHAIN: u32 = 400;

/// The way in which a block runs on into the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Some lanes go to a later block, the other lanes to the next block.
    Leave(usize),
    /// All lanes go to a later block. Lanes that wait for the next block enter it.
    Change(usize),
    /// All lanes go to the next block, and join any lanes that wait for it.
    Join,
}

/// The steps of all blocks.
#[derive(Debug, Default)]
pub struct Chains {
    steps: Vec<Option<Step>>,
    /// Whether a block is reached only from the block before it in a row.
    inner: Vec<bool>,
}

struct Finder<'a> {
    kernel: &'a Kernel<'a>,
    graph: &'a Graph,
    /// For each block, the blocks that name it as a target.
    sources: Vec<Vec<usize>>,
    /// Whether control enters a block in other ways: as the entry of a unit, behind a call or a
    /// barrier.
    entered: Vec<bool>,
    /// State variables that a block reads after another block has set them.
    carried: BTreeSet<(usize, StateKey)>,
}

type StateKey = (bool, u8);

fn key(state: State) -> StateKey {
    match state {
        State::Surface(id) => (false, id.0),
        State::Sampler(id) => (true, id.0),
    }
}

impl Chains {
    pub fn new(kernel: &Kernel<'_>, graph: &Graph) -> Chains {
        let count = graph.blocks.len();
        let mut finder = Finder {
            kernel,
            graph,
            sources: vec![vec![]; count],
            entered: vec![false; count],
            carried: BTreeSet::new(),
        };
        finder.look();
        let mut chains = Chains { steps: vec![None; count], inner: vec![false; count] };
        for head in 0..count {
            if !chains.inner[head] {
                finder.chain(head, &mut chains);
            }
        }
        chains
    }

    pub fn step(&self, block: usize) -> Option<Step> {
        self.steps[block]
    }

    pub fn is_inner(&self, block: usize) -> bool {
        self.inner[block]
    }
}

impl Finder<'_> {
    fn code(&self, block: usize) -> &[Instruction] {
        let block = &self.graph.blocks[block];
        let code = &self.kernel.module.routines[self.graph.routines[block.routine]].code;
        &code[block.first as usize..block.last as usize]
    }

    fn ending(&self, block: usize) -> Option<&Instruction> {
        let block = &self.graph.blocks[block];
        self.kernel.module.routines[self.graph.routines[block.routine]]
            .code
            .get(block.last as usize)
    }

    fn look(&mut self) {
        for unit in &self.graph.units {
            self.entered[unit.entry] = true;
        }
        for (number, block) in self.graph.blocks.iter().enumerate() {
            match &block.end {
                End::Goto { target, .. } => self.sources[*target].push(number),
                End::Switch { targets } => {
                    targets.iter().for_each(|&target| self.sources[target].push(number))
                }
                _ => {}
            }
            // Lanes that do not go back wait for the next block, and so do lanes at other ends.
            let runs_on = match block.end {
                End::Next => true,
                End::Goto { target, .. } => target > number,
                _ => false,
            };
            if !runs_on && let Some(next) = self.graph.next(number) {
                self.entered[next] = true;
            }
            let (mut set, mut carried) = (BTreeSet::new(), vec![]);
            for insn in self.code(number) {
                for (n, operand) in insn.operands.iter().enumerate() {
                    let state = match *operand {
                        Operand::State { state, .. } => key(state),
                        Operand::Surface(id) => key(State::Surface(id)),
                        Operand::Sampler(id) => key(State::Sampler(id)),
                        _ => continue,
                    };
                    if n == 0 && insn.row.name == "movs" {
                        set.insert(state);
                    } else if !set.contains(&state) {
                        carried.push((block.routine, state));
                    }
                }
            }
            self.carried.extend(carried);
        }
    }

    /// Returns whether a block may be executed when no lane is left.
    fn may_be_empty(&self, number: usize) -> bool {
        let block = &self.graph.blocks[number];
        let sets = |insn: &Instruction| match (insn.row.name, insn.operands.first()) {
            ("movs", Some(&Operand::State { state, .. })) => {
                self.carried.contains(&(block.routine, key(state)))
            }
            _ => false,
        };
        let ends = match (&block.end, self.ending(number)) {
            (End::Next | End::Last, _) => true,
            (End::Goto { .. }, Some(insn)) => is_always(insn) || !is_uniform(insn),
            (End::Return { .. }, Some(insn)) => is_always(insn),
            _ => false,
        };
        ends && block.last - block.first <= MAX_BLOCK && !self.code(number).iter().any(sets)
    }

    /// Finds the row of blocks that begins with `head`.
    fn chain(&self, head: usize, chains: &mut Chains) {
        let (mut at, mut parked) = (head, BTreeSet::new());
        let mut total = self.graph.blocks[head].last - self.graph.blocks[head].first;
        while let Some(next) = self.graph.next(at) {
            let within = |block: &usize| (head..=at).contains(block);
            if self.entered[next] || !self.sources[next].iter().all(within) {
                return;
            }
            let step = match (&self.graph.blocks[at].end, self.ending(at)) {
                (End::Next, _) => Step::Join,
                (&End::Goto { target, .. }, Some(insn))
                    if target > at && !is_uniform(insn) && !is_always(insn) =>
                {
                    Step::Leave(target)
                }
                (&End::Goto { target, .. }, Some(insn))
                    if target > next && is_always(insn) && parked.contains(&next) =>
                {
                    Step::Change(target)
                }
                _ => return,
            };
            let mut after = parked.clone();
            match step {
                Step::Leave(target) | Step::Change(target) => after.insert(target),
                Step::Join => false,
            };
            after.remove(&next);
            total += self.graph.blocks[next].last - self.graph.blocks[next].first;
            if total > MAX_CHAIN || !after.is_empty() && !self.may_be_empty(next) {
                return;
            }
            chains.steps[at] = Some(step);
            chains.inner[next] = true;
            (at, parked) = (next, after);
        }
    }
}

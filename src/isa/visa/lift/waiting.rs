//! Finds the blocks that lanes may wait for while a block runs.
//!
//! Running lanes are in the lowest block of the text that has lanes, so all other lanes wait for
//! later blocks. Facts, `visa-semantics.md` 6.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::graph::{End, Graph};
use super::mode::Mode;
use super::variables::Kernel;
use crate::instruction::Instruction;

/// Blocks that lanes may wait for.
pub type Waiting = BTreeSet<usize>;

/// The most places that all nodes together may list. Structured code has a few places per node.
const MAX_PLACES: usize = 1 << 20;

/// A block in a mode.
#[derive(Debug)]
pub struct Node {
    pub block: usize,
    pub mode: Mode,
    /// The blocks that lanes may wait for when it begins.
    pub waiting: Waiting,
    /// Whether control reaches the node in more than one way.
    pub several: bool,
    /// The later places, when a dispatch last chose this node among several. Dispatch has handled
    /// each of these places, too.
    chosen: Option<Waiting>,
}

/// All nodes that a kernel can reach.
#[derive(Debug, Default)]
pub struct Plan {
    pub nodes: Vec<Node>,
    by_block: FxHashMap<(usize, Mode), usize>,
    /// For each unit its calls: the blocks that they end, and the blocks that the caller's lanes
    /// wait for.
    sites: Vec<BTreeMap<usize, Waiting>>,
    /// For a unit and a block that calls it, the number of the call among the unit's calls.
    numbers: FxHashMap<(usize, usize), usize>,
    /// The number of places of all nodes together.
    places: usize,
    /// The modes in which each unit returns.
    returns: Vec<BTreeSet<Mode>>,
}

impl Plan {
    /// Makes the plan. Returns None if lanes may wait at too many places to list.
    pub fn new(kernel: &Kernel<'_>, graph: &Graph) -> Option<Plan> {
        let mut plan = Plan { sites: vec![BTreeMap::new(); graph.units.len()], ..Plan::default() };
        plan.returns = vec![BTreeSet::new(); graph.units.len()];
        let mut work = vec![];
        plan.flow(graph.units[0].entry, Mode::default(), Waiting::new(), &mut work);
        while let Some(node) = work.pop() {
            plan.leave(kernel, graph, node, &mut work);
            if plan.places > MAX_PLACES {
                return None;
            }
        }
        for (unit, sites) in plan.sites.iter().enumerate() {
            plan.numbers
                .extend(sites.keys().zip(0..).map(|(&block, number)| ((unit, block), number)));
        }
        Some(plan)
    }

    /// Returns the number of a block's call among the calls of a unit.
    pub fn site(&self, unit: usize, block: usize) -> usize {
        self.numbers.get(&(unit, block)).copied().unwrap_or(0)
    }

    pub fn node(&self, block: usize, mode: Mode) -> Option<usize> {
        self.by_block.get(&(block, mode)).copied()
    }

    /// Returns the calls of a unit: the blocks that they end, and the blocks that lanes may then
    /// wait for.
    pub fn sites(&self, unit: usize) -> impl Iterator<Item = (usize, &Waiting)> {
        self.sites[unit].iter().map(|(&block, waiting)| (block, waiting))
    }

    /// Notes that control reaches a block while lanes wait.
    fn flow(&mut self, block: usize, mode: Mode, mut waiting: Waiting, work: &mut Vec<usize>) {
        waiting.remove(&block);
        if let Some(&known) = self.by_block.get(&(block, mode)) {
            let before = self.nodes[known].waiting.len();
            self.nodes[known].waiting.extend(waiting);
            self.nodes[known].several = true;
            let more = self.nodes[known].waiting.len() - before;
            self.places += more;
            if more > 0 {
                work.push(known);
            }
            return;
        }
        self.places += waiting.len();
        self.by_block.insert((block, mode), self.nodes.len());
        work.push(self.nodes.len());
        self.nodes.push(Node { block, mode, waiting, several: false, chosen: None });
    }

    /// Continues with the first waiting block, and with later blocks if earlier blocks have no
    /// lanes.
    fn dispatch(&mut self, waiting: &Waiting, mode: Mode, work: &mut Vec<usize>) {
        for &place in waiting {
            let later: Waiting = waiting.range(place + 1..).copied().collect();
            let known = self.node(place, mode).and_then(|node| self.nodes[node].chosen.as_ref());
            if known.is_some_and(|known| later.is_subset(known)) {
                return;
            }
            self.flow(place, mode, later.clone(), work);
            if let Some(node) = self.node(place, mode) {
                self.nodes[node].chosen = Some(later);
            }
        }
    }

    /// Notes that all active lanes go from one block to another.
    fn go(
        &mut self,
        (from, to): (usize, usize),
        mode: Mode,
        waiting: &Waiting,
        work: &mut Vec<usize>,
    ) {
        if !must_wait(from, to, waiting) {
            return self.flow(to, mode, waiting.clone(), work);
        }
        let mut parked = waiting.clone();
        parked.insert(to);
        self.dispatch(&parked, mode, work);
    }

    /// Adds the successors of a node.
    fn leave(&mut self, kernel: &Kernel<'_>, graph: &Graph, node: usize, work: &mut Vec<usize>) {
        let Node { block: number, mode, ref waiting, .. } = self.nodes[node];
        let (waiting, block) = (waiting.clone(), &graph.blocks[number]);
        let code = &kernel.module.routines[graph.routines[block.routine]].code;
        let Some(mode) = mode_after(&code[block.first as usize..block.last as usize], mode) else {
            return;
        };
        let next = graph.next(number);
        let on = |plan: &mut Plan, waiting: &Waiting, work: &mut Vec<usize>| {
            if let Some(next) = next {
                plan.flow(next, mode, waiting.clone(), work);
            }
        };
        match block.end {
            End::Next | End::Barrier => on(self, &waiting, work),
            End::Last | End::Broken => {
                if matches!(block.end, End::Last) {
                    self.returned(graph, block.unit, mode, &waiting, work);
                }
            }
            End::Goto { insn, target } => {
                let goto = &code[insn as usize];
                if is_always(goto) || is_uniform(goto) {
                    self.go((number, target), mode, &waiting, work);
                    if !is_always(goto) {
                        on(self, &waiting, work);
                    }
                    return;
                }
                let mut parked = waiting.clone();
                if target > number {
                    parked.insert(target);
                    on(self, &parked, work);
                    self.dispatch(&parked, mode, work);
                } else {
                    parked.extend(next);
                    self.flow(target, mode, parked, work);
                    on(self, &waiting, work);
                }
            }
            End::Switch { ref targets, .. } => {
                for &target in targets {
                    self.go((number, target), mode, &waiting, work);
                }
            }
            End::Call { .. } | End::CallIndirect => {
                let Some(next) = next else { return };
                for unit in graph.callees(number) {
                    self.flow(graph.units[unit].entry, mode, Waiting::new(), work);
                    self.sites[unit].entry(number).or_default().extend(&waiting);
                    for mode in self.returns[unit].clone() {
                        self.flow(next, mode, waiting.clone(), work);
                    }
                }
                if !is_always(&code[block.last as usize]) {
                    on(self, &waiting, work);
                }
            }
            End::Return { insn } => {
                self.returned(graph, block.unit, mode, &waiting, work);
                if !is_always(&code[insn as usize]) {
                    on(self, &waiting, work);
                }
            }
        }
    }

    /// Notes that lanes return from a unit, in which other lanes may wait.
    fn returned(
        &mut self,
        graph: &Graph,
        unit: usize,
        mode: Mode,
        waiting: &Waiting,
        work: &mut Vec<usize>,
    ) {
        self.dispatch(waiting, mode, work);
        if self.returns[unit].insert(mode) {
            for (call, waiting) in self.sites[unit].clone() {
                if let Some(next) = graph.next(call) {
                    self.flow(next, mode, waiting, work);
                }
            }
        }
    }
}

/// Returns whether lanes that go to a block must wait there, because other lanes wait for an
/// earlier block.
pub fn must_wait(from: usize, to: usize, waiting: &Waiting) -> bool {
    to > from && waiting.range(..to).next().is_some()
}

/// Returns whether a branch is one of the whole warp.
pub fn is_uniform(insn: &Instruction) -> bool {
    insn.exec.is_none_or(|exec| exec.size == 1)
}

/// Returns whether an instruction has no predicate, and so is always executed.
pub fn is_always(insn: &Instruction) -> bool {
    insn.predicate.is_none()
}

/// Returns the mode after some instructions; None if it is unknown at lift time.
pub fn mode_after(code: &[Instruction], mode: Mode) -> Option<Mode> {
    code.iter().try_fold(mode, |mode, insn| mode.after(insn).ok())
}

//! Runs several nodes in one block. After a branch that some lanes leave by, the block goes on for
//! the other lanes, even if none is left: its code then has no effect.
//!
//! The end of the block tests whether any lane is active. So code behind `if (i < n)`, and loops
//! with several exits, are one block, as they are for guests with predicated instructions.

use super::context::Cx;
use super::emit::{Here, Shape};
use super::graph::{End, Node};
use super::uses;

/// Limits of the statements of a node that a block runs on to, and of all nodes of one block: they
/// take time even if no lane is active.
const MAX_NODE: u32 = 48;
const MAX_CHAIN: u32 = 160;

pub struct Chain {
    nodes: Vec<usize>,
    /// The positions where the lanes that left wait.
    left: Vec<u32>,
    statements: u32,
}

impl Chain {
    pub fn new(first: usize) -> Chain {
        Chain { nodes: vec![first], left: vec![], statements: 0 }
    }

    /// Whether perhaps no lane is active.
    pub fn may_be_empty(&self) -> bool {
        !self.left.is_empty()
    }

    /// Returns all nodes but the first.
    pub fn parts(mut self) -> Vec<usize> {
        self.nodes.split_off(1)
    }

    /// Whether the block runs on to a node. `may_be_empty` says that perhaps no lane is active.
    fn takes(&mut self, first: &Node, node: &Node, may_be_empty: bool) -> bool {
        let ends = !may_be_empty
            || matches!(node.end, End::Jump(_) | End::Split { .. } | End::Exit { .. });
        let statements = node.last - node.first;
        let fits = statements <= MAX_NODE && self.statements + statements <= MAX_CHAIN;
        let takes = ends && fits && node.instance == first.instance && node.returned.is_none();
        self.statements += if takes { statements } else { 0 };
        takes
    }
}

impl Shape<'_> {
    /// Appends another node to the same block, if possible, and returns it.
    pub fn run_on(
        &self,
        cx: &mut Cx<'_>,
        number: usize,
        here: Here<'_>,
        chain: &mut Chain,
    ) -> Option<usize> {
        if self.dispatcher.is_some() {
            return None;
        }
        let nodes = &self.plan.graph.nodes;
        let node = &nodes[number];
        match node.end {
            End::Split { statement, taken, next } if taken != next => {
                let (low, _) = self.plan.in_order(taken, next);
                let to = self.plan.position[low];
                let is_next = to > here.position && self.plan.predecessors[low] == [number];
                let is_first = !here.waiting.any_before(to);
                if !is_next || !is_first || !chain.takes(node, &nodes[low], true) {
                    return None;
                }
                let statement = &self.plan.body(node).statements[statement as usize];
                cx.start(self.plan.kernel.base + u64::from(statement.at), statement.guard);
                let (_, low, high) = self.part_lanes(cx, taken, next, here);
                cx.start(cx.b.pc(), None);
                chain.left.push(high);
                chain.nodes.push(low);
                Some(low)
            }
            // The next reading of a clock must be later.
            End::Jump(_) if self.reads_clock(node) => None,
            End::Jump(next) => {
                let to = self.plan.position[next];
                let is_own =
                    self.plan.predecessors[next].iter().all(|from| chain.nodes.contains(from));
                let is_first = to > here.position && !here.waiting.any_before(to);
                let may_be_empty = chain.left.iter().any(|&place| place != to);
                if !is_own || !is_first || !chain.takes(node, &nodes[next], may_be_empty) {
                    return None;
                }
                if here.waiting.contains(to) {
                    let active = cx.active();
                    self.join(cx, active, to);
                    cx.forget_values();
                    chain.left.retain(|&place| place != to);
                }
                chain.nodes.push(next);
                Some(next)
            }
            _ => None,
        }
    }

    fn reads_clock(&self, node: &Node) -> bool {
        let statements = &self.plan.body(node).statements[node.first as usize..node.last as usize];
        statements.last().is_some_and(uses::reads_clock)
    }
}

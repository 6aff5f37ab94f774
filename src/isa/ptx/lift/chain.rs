//! Runs several nodes in one block: see [`Chain`].

use warploom_guest::places::{Chain, Here};

use super::context::Cx;
use super::emit::Shape;
use super::graph::{End, Node};
use super::uses;

impl Shape<'_> {
    /// Appends another node to the same block, if possible, and returns it.
    pub fn run_on(
        &self,
        cx: &mut Cx<'_>,
        number: usize,
        here: Here<'_>,
        chain: &mut Chain,
    ) -> Option<usize> {
        if self.places.dispatcher.is_some() {
            return None;
        }
        let (nodes, schedule) = (&self.plan.graph.nodes, &self.plan.schedule);
        let node = &nodes[number];
        match node.end {
            End::Split { statement, taken, next } if taken != next => {
                let (low, _) = schedule.in_order(taken, next);
                let is_next = schedule.is_own_next(here, low, &[number]);
                if !is_next || !takes(chain, node, &nodes[low], true) {
                    return None;
                }
                let statement = &self.plan.body(node).statements[statement as usize];
                cx.start(self.plan.kernel.base + u64::from(statement.at), statement.guard);
                let guard = cx.guard();
                let (lanes, low, high) = self.places.part(&mut cx.b, guard, [taken, next], here);
                cx.now_active(lanes);
                cx.start(cx.b.pc(), None);
                chain.left.push(high);
                chain.nodes.push(low);
                Some(low)
            }
            // The next reading of a clock must be later.
            End::Jump(_) if self.reads_clock(node) => None,
            End::Jump(next) => {
                let to = schedule.position[next];
                let is_next = schedule.is_own_next(here, next, &chain.nodes);
                let may_be_empty = chain.may_be_empty_with(to);
                if !is_next || !takes(chain, node, &nodes[next], may_be_empty) {
                    return None;
                }
                if here.waiting.contains(to) {
                    let active = cx.active();
                    let all = self.places.join(&mut cx.b, active, to);
                    cx.now_active(all);
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

/// Whether a chain takes another node. `may_be_empty` says that perhaps no lane is active.
fn takes(chain: &mut Chain, first: &Node, node: &Node, may_be_empty: bool) -> bool {
    let ends =
        !may_be_empty || matches!(node.end, End::Jump(_) | End::Split { .. } | End::Exit { .. });
    let stays = node.instance == first.instance && node.returned.is_none();
    ends && stays && chain.takes((node.last - node.first) as usize)
}

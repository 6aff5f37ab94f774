//! Liveness of flags, from the view of one lane.

use warploom_guest::places::Schedule;
use warploom_sass::lift::Flags;

use super::graph::{Graph, Node, Step};

pub struct Liveness {
    /// Flags that are live at the start of each node.
    at_start: Vec<Flags>,
    /// Flags that are live at some place where lanes wait for other lanes.
    pub kept: Flags,
}

impl Liveness {
    pub fn of(graph: &Graph, successors: &[Vec<usize>], schedule: &Schedule) -> Liveness {
        let mut live =
            Liveness { at_start: vec![Flags::NONE; graph.nodes.len()], kept: Flags::NONE };
        loop {
            let mut changed = false;
            for (number, node) in graph.nodes.iter().enumerate().rev() {
                let mut flags = live.after(&successors[number]).union(node.reads);
                for step in node.steps.iter().rev() {
                    flags = before(step, flags);
                }
                changed |= std::mem::replace(&mut live.at_start[number], flags) != flags;
            }
            if !changed {
                break;
            }
        }
        live.kept = if schedule.anywhere {
            live.after(&schedule.at)
        } else {
            let places = schedule.waiting.iter().flatten().flat_map(|waiting| waiting.iter());
            let nodes = places.filter_map(|place| schedule.at.get(place as usize));
            nodes.fold(Flags::NONE, |flags, &node| flags.union(live.at_start[node]))
        };
        live
    }

    /// Returns the flags that are live at the start of any of these nodes.
    pub fn after(&self, nodes: &[usize]) -> Flags {
        nodes.iter().fold(Flags::NONE, |flags, &node| flags.union(self.at_start[node]))
    }

    /// Returns the flags that are live after each step of a node, in order.
    pub fn after_steps(&self, node: &Node) -> Vec<Flags> {
        let mut flags = self.after(&node.end.successors()).union(node.reads);
        let mut all = vec![Flags::NONE; node.steps.len()];
        for (slot, step) in all.iter_mut().zip(&node.steps).rev() {
            *slot = flags;
            flags = before(step, flags);
        }
        all
    }
}

fn before(step: &Step, after: Flags) -> Flags {
    after.without(step.usage.kills).union(step.usage.reads)
}

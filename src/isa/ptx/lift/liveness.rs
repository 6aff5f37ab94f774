//! Liveness of registers at the start of each node: an outlined function must keep live registers
//! for its caller.

use super::graph::{End, Giver, Graph};
use super::uses;
use crate::module::{Module, Register};

/// Registers of a node's instance that are read at the node or after it.
pub struct Liveness {
    live: Vec<Vec<u64>>,
    /// By instance: the node where its caller goes on.
    resume: Vec<Option<usize>>,
}

impl Liveness {
    pub fn new(module: &Module, graph: &Graph) -> Liveness {
        let mut resume = vec![None; graph.instances.len()];
        for (node, number) in graph.nodes.iter().zip(0..) {
            if let Some(Giver::Instance(callee)) = node.returned.map(|returned| returned.from) {
                resume[callee] = Some(number);
            }
        }
        let words = |instance: usize| {
            let body = &module.function(graph.instances[instance].function).body;
            body.as_ref().map_or(0, |body| body.registers.len().div_ceil(64))
        };
        let live = graph.nodes.iter().map(|node| vec![0; words(node.instance)]).collect();
        let mut liveness = Liveness { live, resume };
        let mut changed = true;
        while changed {
            changed = false;
            for node in (0..graph.nodes.len()).rev() {
                changed |= liveness.update(module, graph, node);
            }
        }
        liveness
    }

    /// Returns the live registers at a node of an instance, and of the functions around it after it
    /// returns: instance and register.
    pub fn with_callers(&self, graph: &Graph, node: usize) -> Vec<(usize, Register)> {
        let mut all = vec![];
        let mut at = Some(node);
        while let Some(node) = at {
            let instance = graph.nodes[node].instance;
            for (word, bits) in (0..).zip(&self.live[node]) {
                all.extend(
                    (0..64)
                        .filter(|bit| bits >> bit & 1 != 0)
                        .map(|bit| (instance, Register(64 * word + bit))),
                );
            }
            at = self.resume[instance];
        }
        all
    }

    fn update(&mut self, module: &Module, graph: &Graph, number: usize) -> bool {
        let node = &graph.nodes[number];
        let body = graph.body(module, node);
        let mut live = vec![0_u64; self.live[number].len()];
        for next in self.within(graph, number) {
            if graph.nodes[next].instance == node.instance {
                live.iter_mut().zip(&self.live[next]).for_each(|(live, &next)| *live |= next);
            }
        }
        let mut step = |statement: u32, kills: bool| {
            let statement = &body.statements[statement as usize];
            let bit = |register: Register| (register.0 as usize / 64, 1_u64 << (register.0 % 64));
            if kills && statement.guard.is_none() {
                uses::each(module, statement, &mut |register, written| {
                    let (word, bit) = bit(register);
                    if written {
                        live[word] &= !bit;
                    }
                });
            }
            uses::each(module, statement, &mut |register, written| {
                let (word, bit) = bit(register);
                if !written {
                    live[word] |= bit;
                }
            });
        };
        if let Some(statement) = node.ending() {
            step(statement, false);
        }
        (node.first..node.last).rev().for_each(|statement| step(statement, true));
        let changed = live != self.live[number];
        self.live[number] = live;
        changed
    }

    /// Returns the nodes after one within its instance, passing over calls.
    fn within(&self, graph: &Graph, number: usize) -> Vec<usize> {
        match graph.nodes[number].end {
            End::Call { callee, .. } => self.resume[callee].into_iter().collect(),
            End::Enter { outline, site, .. } => vec![graph.outlines[outline].sites[site]],
            End::Return { .. } => vec![],
            _ => graph.successors(number),
        }
    }
}

//! The order of a graph's nodes, and the places where lanes may wait.

use warploom_guest::places::{Next, Schedule, Step, Waiting};
use warploom_sass::Role;

use rustc_hash::FxHashSet;

use super::Kernel;
use super::graph::{End, Graph, Who};
use super::liveness::Liveness;
use crate::Opcode;

pub struct Plan {
    pub graph: Graph,
    /// The order of the nodes. The meeting follows the nodes, if there is one.
    pub schedule: Schedule,
    /// The nodes at whose end lanes may wait for the lanes that they name, as others are elsewhere.
    /// If there is none, there is no meeting.
    pub meets: Vec<usize>,
    pub live: Liveness,
}

impl Plan {
    pub fn new(kernel: &Kernel<'_>) -> Plan {
        let mut converging = FxHashSet::default();
        loop {
            let plan = Plan::of(Graph::new(kernel, &converging));
            let known = converging.len();
            plan.find_converging(&mut converging);
            if converging.len() == known {
                return plan;
            }
        }
    }

    fn of(graph: Graph) -> Plan {
        let successors: Vec<Vec<usize>> =
            (0..graph.nodes.len()).map(|node| graph.successors(node)).collect();
        let mut schedule = Schedule::new(&successors, |node| graph.nodes[node].spins);
        let sites = Sites::of(&graph);
        schedule.find_waiting(sites.end(), |schedule, position, here| {
            steps(&graph, &sites, schedule, position, here)
        });
        let may_wait = |&node: &usize| schedule.anywhere || schedule.waits(node);
        let meets = Vec::from_iter(sites.nodes.iter().copied().filter(may_wait));
        schedule.truncate(graph.nodes.len() + usize::from(!meets.is_empty()));
        let live = Liveness::of(&graph, &successors, &schedule);
        Plan { graph, schedule, meets, live }
    }

    /// Adds each BSYNC to which lanes may still come, from the BSSY of the lanes that are there,
    /// while those go on. Where code has the structure that compilers give it, there is none: all
    /// code between BSSY and BSYNC is before the BSYNC in the order.
    fn find_converging(&self, converging: &mut FxHashSet<u64>) {
        for (node, one) in self.graph.nodes.iter().enumerate() {
            let syncs = one.steps.iter().filter_map(|step| Some((step.pc, number(step, true)?)));
            for (pc, number) in syncs {
                let position = self.schedule.position[node];
                let Some(waiting) = &self.schedule.waiting[position as usize] else { continue };
                let others = waiting.iter().filter(|&place| place != position);
                let mut from =
                    others.filter_map(|place| self.schedule.at.get(place as usize).copied());
                if self.schedule.anywhere || from.any(|from| self.reaches(from, pc, number)) {
                    converging.insert(pc);
                }
            }
        }
    }

    /// Whether lanes that go on at a node may come to a BSYNC without a BSSY of the same register.
    fn reaches(&self, from: usize, pc: u64, register: u64) -> bool {
        let (mut work, mut seen) = (vec![from], FxHashSet::default());
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let one = &self.graph.nodes[node];
            // Lanes that yield are not waited for.
            if one.spins {
                continue;
            }
            let first = one.steps.iter().find(|step| {
                step.pc == pc && number(step, true).is_some()
                    || number(step, false) == Some(register)
            });
            match first {
                Some(step) if step.pc == pc => return true,
                Some(_) => {}
                None => work.extend(one.end.successors()),
            }
        }
        false
    }

    /// Returns the position at which lanes wait for the lanes that they name.
    pub fn meeting(&self) -> u32 {
        self.schedule.at.len() as u32
    }
}

/// The nodes whose lanes may wait at the meeting. For the search of waiting lanes each has a
/// position behind the meeting: lanes that came from it wait there. So it is known which lanes may
/// go on together.
struct Sites {
    /// The position of the meeting.
    meeting: u32,
    nodes: Vec<usize>,
}

impl Sites {
    fn of(graph: &Graph) -> Sites {
        let meets = |&node: &usize| matches!(graph.nodes[node].end, End::Meet { .. });
        Sites {
            meeting: graph.nodes.len() as u32,
            nodes: (0..graph.nodes.len()).filter(meets).collect(),
        }
    }

    /// Returns the number of all positions.
    fn end(&self) -> usize {
        self.meeting as usize + 1 + self.nodes.len()
    }

    /// Returns the places where lanes wait when lanes of a node wait at the meeting.
    fn with(&self, here: &Waiting, node: usize) -> Waiting {
        let number = self.nodes.binary_search(&node).unwrap_or_else(|number| number);
        let mut parked = here.clone();
        parked.extend([self.meeting, self.meeting + 1 + number as u32]);
        parked
    }

    /// Returns the ways on from the meeting.
    fn steps(&self, graph: &Graph, schedule: &Schedule, here: &Waiting) -> Vec<Step> {
        let mut left = here.clone();
        left.insert(self.meeting);
        // The lanes of these kinds may go on together.
        let go_on = |parked: &Waiting, is_kind: fn(Who) -> bool| {
            let came = (self.meeting + 1..).zip(&self.nodes);
            let came = came.filter(|&(place, _)| here.contains(place));
            let next = came.filter_map(|(_, &node)| match graph.nodes[node].end {
                End::Meet { next, who, .. } if is_kind(who) => Some(next),
                _ => None,
            });
            schedule.parked(parked, next)
        };
        let nobody = Waiting::default();
        // When everybody has met, nobody waits elsewhere.
        vec![
            Step { parked: left.clone(), next: Next::Any },
            Step { parked: go_on(&nobody, |who| who == Who::Barrier), next: Next::First },
            Step { parked: go_on(&nobody, |who| who != Who::Barrier), next: Next::First },
            Step { parked: go_on(&left, |who| !who.is_everybody()), next: Next::Any },
        ]
    }
}

/// Returns the ways on from a position.
fn steps(
    graph: &Graph,
    sites: &Sites,
    schedule: &Schedule,
    position: u32,
    here: &Waiting,
) -> Vec<Step> {
    let first = |parked: Waiting| Step { parked, next: Next::First };
    let Some(&number) = schedule.at.get(position as usize) else {
        return if position == sites.meeting { sites.steps(graph, schedule, here) } else { vec![] };
    };
    match &graph.nodes[number].end {
        &End::Jump(next) | &End::Service { next, .. } | &End::Barrier { next, .. } => {
            schedule.ways_to(position, next, here)
        }
        &End::Split { taken, next, .. } if taken == next => schedule.ways_to(position, next, here),
        &End::Split { taken, next, .. } => schedule.ways_apart(position, taken, next, here),
        End::Table { cases, .. } => match cases[..] {
            [(_, only)] => schedule.ways_to(position, only, here),
            _ => vec![first(schedule.parked(here, cases.iter().map(|&(_, node)| node)))],
        },
        &End::Meet { next, who, .. } => {
            let nobody = Waiting::default();
            let parked = if who.is_everybody() { &nobody } else { here };
            let mut ways = schedule.ways_to(position, next, parked);
            if !here.is_empty() {
                ways.push(first(sites.with(here, number)));
            }
            ways
        }
        &End::Exit { next: Some(next), .. } => {
            let mut ways = schedule.ways_to(position, next, here);
            ways.push(first(here.clone()));
            ways
        }
        End::Exit { next: None, .. } => vec![first(here.clone())],
        End::Trap { .. } => vec![],
    }
}

/// Returns the register of convergence of a step: of a BSYNC, or of a BSSY.
fn number(step: &super::graph::Step, of_sync: bool) -> Option<u64> {
    let insn = step.insn?;
    let opcode = if of_sync { Opcode::Bsync } else { Opcode::Bssy };
    (insn.opcode() == opcode).then(|| insn.source(Role::E)?.imm()).flatten()
}

//! The plan of a kernel before its IR is built: the nodes, their order, and the places where lanes
//! may wait.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use warploom_guest::places::{Next, Schedule, Step, Waiting};

use super::call_graph::CallGraph;
use super::emit::Kernel;
use super::graph::{End, Graph, Meetings, Node};
use super::staging::Staging;
use super::uses;
use crate::module::{Body, Operand};

/// The first GPU whose lanes make progress independently, and wait for each other by name.
pub const INDEPENDENT_LANES: u32 = 70;

pub struct Plan<'a> {
    pub kernel: &'a Kernel<'a>,
    pub graph: Graph,
    /// The order of the nodes. Meetings follow the nodes.
    pub schedule: Schedule,
    /// Statements at which lanes that came apart meet: one for each kind, at the positions behind
    /// the nodes.
    pub meetings: Vec<Staging>,
    /// The meeting of each node that ends with a barrier or a meeting.
    pub meeting_of: FxHashMap<usize, usize>,
}

impl<'a> Plan<'a> {
    pub fn new(kernel: &'a Kernel<'a>) -> Plan<'a> {
        let calls = CallGraph::new(kernel.module, kernel.kernel);
        let mut meetings = Meetings::default();
        loop {
            let plan = Plan::with(kernel, &calls, &meetings);
            let known = meetings.len();
            plan.find_meetings(&mut meetings);
            if meetings.len() == known {
                return plan;
            }
        }
    }

    fn with(kernel: &'a Kernel<'a>, calls: &CallGraph, meetings: &Meetings) -> Plan<'a> {
        let graph = Graph::new(kernel.module, kernel.kernel, kernel.places, calls, meetings);
        let successors: Vec<Vec<usize>> =
            (0..graph.nodes.len()).map(|node| graph.successors(node)).collect();
        let lanes_are_independent = kernel.module.target.sm >= INDEPENDENT_LANES;
        let deciding = RefCell::new(FxHashMap::default());
        let spins = |node: usize| {
            let node: &Node = &graph.nodes[node];
            let statements = &graph.body(kernel.module, node).statements;
            let decides = |register| {
                let mut deciding = deciding.borrow_mut();
                let of_instance = deciding.entry(node.instance);
                of_instance
                    .or_insert_with(|| uses::deciding(kernel.module, statements))
                    .contains(&register)
            };
            let mut own = statements[node.first as usize..node.last as usize].iter();
            lanes_are_independent && own.any(|one| uses::may_spin(kernel.module, one, &decides))
        };
        let schedule = Schedule::new(&successors, spins);
        let (meetings, meeting_of) = (vec![], FxHashMap::default());
        let mut plan = Plan { kernel, graph, schedule, meetings, meeting_of };
        if lanes_are_independent {
            plan.number_meetings();
        }
        let mut schedule = std::mem::take(&mut plan.schedule);
        let count = schedule.at.len() + plan.meetings.len();
        schedule
            .find_waiting(count, |schedule, position, here| plan.steps(schedule, position, here));
        Plan { schedule, ..plan }
    }

    pub fn lanes_are_independent(&self) -> bool {
        self.kernel.module.target.sm >= INDEPENDENT_LANES
    }

    pub fn body(&self, node: &Node) -> &'a Body {
        self.graph.body(self.kernel.module, node)
    }

    /// Returns the position at which lanes of a meeting wait.
    pub fn meeting_position(&self, meeting: usize) -> u32 {
        (self.graph.nodes.len() + meeting) as u32
    }

    fn number_meetings(&mut self) {
        let module = self.kernel.module;
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let (End::Barrier { statement, .. } | End::Meet { statement, .. }) = node.end else {
                continue;
            };
            let statement = &self.graph.body(module, node).statements[statement as usize];
            let known = self.meetings.iter().position(|known| known.is_for(module, statement.form));
            let meeting = known.unwrap_or_else(|| {
                self.meetings.push(Staging::of(module, statement.form));
                self.meetings.len() - 1
            });
            self.meeting_of.insert(number, meeting);
        }
    }

    /// Adds the statements of the warp at which the named lanes may come apart.
    fn find_meetings(&self, meetings: &mut Meetings) {
        if !self.lanes_are_independent() {
            return;
        }
        // These nodes begin with a statement for which all named lanes are there.
        let mut together = vec![false; self.graph.nodes.len()];
        for node in &self.graph.nodes {
            if let End::Meet { next, .. } = node.end {
                together[next] = true;
            }
        }
        for (position, &number) in self.schedule.at.iter().enumerate() {
            let node = &self.graph.nodes[number];
            let waiting = self.schedule.waiting[position].as_ref();
            if !self.schedule.anywhere && waiting.is_none_or(Waiting::is_empty) {
                continue;
            }
            let function = self.graph.instances[node.instance].function;
            let statements = &self.body(node).statements;
            let mut named: Option<&Operand> = None;
            for statement in node.first..node.last {
                let one = &statements[statement as usize];
                if uses::is_meeting(self.kernel.module, one) {
                    let names = one.operands.last();
                    let is_known = (statement == node.first && together[number])
                        || (named.is_some() && named == names);
                    if !is_known {
                        meetings.insert((function, statement));
                    }
                    named = names;
                }
                if let Some(&Operand::Register(register)) = named {
                    uses::each(self.kernel.module, one, &mut |other, written| {
                        if written && other == register {
                            named = None;
                        }
                    });
                }
            }
        }
    }

    /// Returns the ways on from a position.
    fn steps(&self, schedule: &Schedule, position: u32, here: &Waiting) -> Vec<Step> {
        let parked = |nodes: &[usize]| schedule.parked(here, nodes.iter().copied());
        let ways_to = |node: usize| schedule.ways_to(position, node, here);
        let first = |parked: Waiting| Step { parked, next: Next::First };
        let Some(&number) = schedule.at.get(position as usize) else {
            let meeting = position as usize - schedule.at.len();
            let mut parked = here.clone();
            parked.insert(position);
            let not_yet = Step { parked: parked.clone(), next: Next::Any };
            let parked = schedule.parked(&parked, self.apart(meeting));
            return vec![not_yet, Step { parked, next: Next::Any }];
        };
        match &self.graph.nodes[number].end {
            End::Jump(next) | End::Service { next, .. } => ways_to(*next),
            End::Call { entry, .. } => ways_to(*entry),
            End::Enter { outline, .. } => ways_to(self.graph.outlines[*outline].entry),
            End::Split { taken, next, .. } if taken == next => ways_to(*next),
            End::Split { taken, next, .. } => schedule.ways_apart(position, *taken, *next, here),
            End::Table { targets, .. } => vec![first(parked(targets))],
            End::Indirect { targets, .. } => {
                vec![first(parked(&targets.iter().map(|&(_, node)| node).collect::<Vec<_>>()))]
            }
            End::Return { outline } => vec![first(parked(&self.graph.outlines[*outline].sites))],
            End::Barrier { next, .. } | End::Meet { next, .. } => {
                let mut ways = ways_to(*next);
                if let Some(&meeting) = self.meeting_of.get(&number)
                    && !here.is_empty()
                {
                    let mut parked = here.clone();
                    parked.insert(self.meeting_position(meeting));
                    ways.push(first(parked));
                }
                ways
            }
            End::Exit { next: Some(next), .. } => {
                let mut ways = ways_to(*next);
                ways.push(first(here.clone()));
                ways
            }
            End::Exit { next: None, .. } => vec![first(here.clone())],
            End::Trap { .. } => vec![],
        }
    }

    /// Returns the nodes where lanes go on that have come to a meeting apart.
    fn apart(&self, meeting: usize) -> impl Iterator<Item = usize> {
        self.meeting_of.iter().filter(move |&(_, &of)| of == meeting).filter_map(|(&node, _)| {
            match self.graph.nodes[node].end {
                End::Barrier { apart, .. } | End::Meet { apart, .. } => Some(apart),
                _ => None,
            }
        })
    }
}

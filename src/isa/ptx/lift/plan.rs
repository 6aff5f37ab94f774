//! The plan of a kernel before its IR is built: the nodes, their order, and the places where lanes
//! may wait.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::call_graph::CallGraph;
use super::emit::Kernel;
use super::graph::{End, Graph, Meetings, Node};
use super::staging::Staging;
use super::waiting::{self, Next, Step, Waiting};
use super::{order, uses};
use crate::module::{Body, Operand};

/// The first GPU whose lanes make progress independently, and wait for each other by name.
pub const INDEPENDENT_LANES: u32 = 70;

/// The limit of places, over all sets that the search of waiting places visits.
const MAX_PLACES: usize = 1 << 18;

pub struct Plan<'a> {
    pub kernel: &'a Kernel<'a>,
    pub graph: Graph,
    /// The position of each node in the order, and the node at each position.
    pub position: Vec<u32>,
    pub at: Vec<usize>,
    /// The places where lanes may wait while the node at each position runs. Meetings follow the
    /// nodes. `None` for positions that never run.
    pub waiting: Vec<Option<Waiting>>,
    /// Whether lanes may wait anywhere, so that places are found at run time. `waiting` is then
    /// meaningless.
    pub anywhere: bool,
    /// The predecessors of each node.
    pub predecessors: Vec<Vec<usize>>,
    /// Statements at which lanes that came apart meet: one for each kind, at the positions behind
    /// the nodes.
    pub meetings: Vec<Staging>,
    /// The meeting of each node that ends with a barrier or a meeting.
    pub meeting_of: FxHashMap<usize, usize>,
    /// By position: whether a loop with the node may wait for other lanes.
    may_spin: Vec<bool>,
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
        let position = order::positions(&successors);
        let mut at = vec![0; graph.nodes.len()];
        for (node, &position) in position.iter().enumerate() {
            at[position as usize] = node;
        }
        let deciding = RefCell::new(FxHashMap::default());
        let spins = |&node: &usize| {
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
            own.any(|one| uses::may_spin(kernel.module, one, &decides))
        };
        let may_spin = at.iter().map(spins).collect();
        let mut predecessors = vec![vec![]; successors.len()];
        for (from, next) in successors.iter().enumerate() {
            next.iter().for_each(|&to| predecessors[to].push(from));
        }
        let (meetings, meeting_of) = (vec![], FxHashMap::default());
        let (waiting, anywhere) = (vec![], false);
        let mut plan = Plan {
            kernel,
            graph,
            position,
            at,
            waiting,
            anywhere,
            predecessors,
            meetings,
            meeting_of,
            may_spin,
        };
        if plan.lanes_are_independent() {
            plan.number_meetings();
        }
        let count = plan.at.len() + plan.meetings.len();
        let waiting =
            waiting::waiting(count, MAX_PLACES, |position, here| plan.steps(position, here));
        plan.anywhere = waiting.is_none();
        plan.waiting = waiting.unwrap_or_else(|| vec![Some(Waiting::default()); count]);
        plan
    }

    pub fn lanes_are_independent(&self) -> bool {
        self.kernel.module.target.sm >= INDEPENDENT_LANES
    }

    pub fn body(&self, node: &Node) -> &'a Body {
        self.graph.body(self.kernel.module, node)
    }

    /// Whether lanes come to the node at a position from several places.
    pub fn is_join(&self, position: u32) -> bool {
        self.predecessors[self.at[position as usize]].len() > 1
    }

    /// Returns the position at which lanes of a meeting wait.
    pub fn meeting_position(&self, meeting: usize) -> u32 {
        (self.at.len() + meeting) as u32
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
        for (position, &number) in self.at.iter().enumerate() {
            let node = &self.graph.nodes[number];
            if !self.anywhere && self.waiting[position].as_ref().is_none_or(Waiting::is_empty) {
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

    /// Whether running lanes that go back from one position to another may wait there for lanes
    /// that wait for their turn.
    pub fn may_spin(&self, from: u32, to: u32) -> bool {
        to <= from && self.lanes_are_independent() && {
            let last = (from as usize).min(self.may_spin.len() - 1);
            self.may_spin.get(to as usize..=last).is_some_and(|all| all.contains(&true))
        }
    }

    /// Returns the ways on from a position.
    fn steps(&self, position: u32, here: &Waiting) -> Vec<Step> {
        let parked = |nodes: &[usize]| {
            let mut parked = here.clone();
            parked.extend(nodes.iter().map(|&node| self.position[node]));
            parked
        };
        let first = |parked: Waiting| Step { parked, next: Next::First };
        let Some(&number) = self.at.get(position as usize) else {
            let meeting = position as usize - self.at.len();
            let mut parked = here.clone();
            parked.insert(position);
            let not_yet = Step { parked: parked.clone(), next: Next::Any };
            parked.extend(self.apart(meeting).map(|node| self.position[node]));
            return vec![not_yet, Step { parked, next: Next::Any }];
        };
        match &self.graph.nodes[number].end {
            End::Jump(next) | End::Service { next, .. } => self.ways_to(position, *next, here),
            End::Call { entry, .. } => self.ways_to(position, *entry, here),
            End::Enter { outline, .. } => {
                self.ways_to(position, self.graph.outlines[*outline].entry, here)
            }
            End::Split { taken, next, .. } if taken == next => self.ways_to(position, *next, here),
            End::Split { taken, next, .. } => {
                let (low, high) = self.in_order(*taken, *next);
                let parked = parked(&[high]);
                let mut ways = self.ways_to(position, low, &parked);
                ways.push(first(parked));
                ways
            }
            End::Table { targets, .. } => vec![first(parked(targets))],
            End::Indirect { targets, .. } => {
                vec![first(parked(&targets.iter().map(|&(_, node)| node).collect::<Vec<_>>()))]
            }
            End::Return { outline } => vec![first(parked(&self.graph.outlines[*outline].sites))],
            End::Barrier { next, .. } | End::Meet { next, .. } => {
                let mut ways = self.ways_to(position, *next, here);
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
                let mut ways = self.ways_to(position, *next, here);
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

    /// Returns the ways of all running lanes to a node. If they may spin there, others get their
    /// turn.
    fn ways_to(&self, from: u32, node: usize, parked: &Waiting) -> Vec<Step> {
        let to = self.position[node];
        let mut ways = vec![Step { parked: parked.clone(), next: Next::To(to) }];
        if !parked.is_empty() && self.may_spin(from, to) {
            let mut parked = parked.clone();
            parked.insert(to);
            ways.push(Step { parked, next: Next::Any });
        }
        ways
    }

    /// Returns two nodes, with the lower position first.
    pub fn in_order(&self, a: usize, b: usize) -> (usize, usize) {
        if self.position[a] < self.position[b] { (a, b) } else { (b, a) }
    }
}

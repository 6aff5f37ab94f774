//! The order of nodes, and the places where lanes may wait while each node runs.

use super::Here;
use super::order;
use super::waiting::{self, Next, Step, Waiting};

/// The limit of places, over all sets that the search of waiting places visits.
const MAX_PLACES: usize = 1 << 18;

#[derive(Default)]
pub struct Schedule {
    /// The position of each node in the order, and the node at each position.
    pub position: Vec<u32>,
    pub at: Vec<usize>,
    /// The places where lanes may wait while the node at each position runs. `None` for positions
    /// that never run. Positions behind the nodes are the guest's.
    pub waiting: Vec<Option<Waiting>>,
    /// Whether lanes may wait anywhere, so that places are found at run time. `waiting` is then
    /// meaningless.
    pub anywhere: bool,
    /// The predecessors of each node.
    pub predecessors: Vec<Vec<usize>>,
    /// By position: whether a loop with the node may wait for other lanes.
    spins: Vec<bool>,
}

impl Schedule {
    /// Orders nodes, by the successors of each. `spins` says whether a loop with a node may wait
    /// for other lanes.
    pub fn new(successors: &[Vec<usize>], spins: impl FnMut(usize) -> bool) -> Schedule {
        let position = order::positions(successors);
        let mut at = vec![0; successors.len()];
        for (node, &position) in position.iter().enumerate() {
            at[position as usize] = node;
        }
        let spins = at.iter().copied().map(spins).collect();
        let mut predecessors = vec![vec![]; successors.len()];
        for (from, next) in successors.iter().enumerate() {
            next.iter().for_each(|&to| predecessors[to].push(from));
        }
        Schedule { position, at, predecessors, spins, ..Schedule::default() }
    }

    /// Finds the places where lanes may wait. `count` counts all positions; `steps` gives the ways
    /// on from a position.
    pub fn find_waiting(
        &mut self,
        count: usize,
        steps: impl Fn(&Schedule, u32, &Waiting) -> Vec<Step>,
    ) {
        let found =
            waiting::waiting(count, MAX_PLACES, |position, here| steps(self, position, here));
        self.anywhere = found.is_none();
        self.waiting = found.unwrap_or_else(|| vec![Some(Waiting::default()); count]);
    }

    /// Drops positions that were of use for the search alone.
    pub fn truncate(&mut self, count: usize) {
        self.waiting.truncate(count);
        self.waiting.iter_mut().flatten().for_each(|waiting| waiting.truncate(count));
    }

    /// Whether lanes may wait elsewhere while a node runs.
    pub fn waits(&self, node: usize) -> bool {
        let waiting = self.waiting[self.position[node] as usize].as_ref();
        waiting.is_some_and(|waiting| !waiting.is_empty())
    }

    /// Whether lanes come to the node at a position from several places.
    pub fn is_join(&self, position: u32) -> bool {
        self.predecessors[self.at[position as usize]].len() > 1
    }

    /// Whether running lanes that go back from one position to another may wait there for lanes
    /// that wait for their turn.
    pub fn may_spin(&self, from: u32, to: u32) -> bool {
        to <= from && {
            let last = (from as usize).min(self.spins.len() - 1);
            self.spins.get(to as usize..=last).is_some_and(|all| all.contains(&true))
        }
    }

    /// Whether only the nodes of `from` lead to a node, and it runs before all places where lanes
    /// wait.
    pub fn is_own_next(&self, here: Here<'_>, node: usize, from: &[usize]) -> bool {
        let to = self.position[node];
        to > here.position
            && !here.waiting.any_before(to)
            && self.predecessors[node].iter().all(|node| from.contains(node))
    }

    /// Returns two nodes, with the lower position first.
    pub fn in_order(&self, a: usize, b: usize) -> (usize, usize) {
        if self.position[a] < self.position[b] { (a, b) } else { (b, a) }
    }

    /// Adds nodes to the places where lanes wait.
    pub fn parked(&self, here: &Waiting, nodes: impl IntoIterator<Item = usize>) -> Waiting {
        let mut parked = here.clone();
        parked.extend(nodes.into_iter().map(|node| self.position[node]));
        parked
    }

    /// Returns the ways of all running lanes to a node. If they may spin there, others get their
    /// turn.
    pub fn ways_to(&self, from: u32, node: usize, parked: &Waiting) -> Vec<Step> {
        let to = self.position[node];
        let mut ways = vec![Step { parked: parked.clone(), next: Next::To(to) }];
        if !parked.is_empty() && self.may_spin(from, to) {
            let mut parked = parked.clone();
            parked.insert(to);
            ways.push(Step { parked, next: Next::Any });
        }
        ways
    }

    /// Returns the ways on from a branch: lanes of the later node wait.
    pub fn ways_apart(&self, from: u32, taken: usize, next: usize, here: &Waiting) -> Vec<Step> {
        let (low, high) = self.in_order(taken, next);
        let parked = self.parked(here, [high]);
        let mut ways = self.ways_to(from, low, &parked);
        ways.push(Step { parked, next: Next::First });
        ways
    }
}

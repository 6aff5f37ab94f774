//! Graphs: operations, each with the operations that it comes after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::api::user;
use crate::conditional::{Choice, Conditional, Value};
use crate::context::Context;
use crate::error::{Answer, Error};
use crate::handles::{Table, fresh};
use crate::operation::Operation;

pub static GRAPHS: Table<Graph> = Table::new();
pub static EXECS: Table<Exec> = Table::new();
/// The graph of each node.
static NODES: Table<Graph> = Table::new();

#[derive(Clone)]
pub struct Node {
    pub operation: Operation,
    /// The kind that programs see: `CUgraphNodeType`.
    pub kind: u32,
    pub after: Vec<u64>,
    pub enabled: bool,
    /// The node of the graph that this one was copied from.
    pub origin: u64,
    pub inside: Inside,
    /// The addresses of parameters that a program has seen.
    pub shown: Option<Arc<Vec<u64>>>,
}

/// The graphs within a node.
#[derive(Clone)]
pub enum Inside {
    Nothing,
    Child(Arc<Graph>),
    Bodies(Arc<Conditional>),
}

impl Inside {
    /// Returns a copy for a copy of the graph. Graphs with conditional nodes are never copied.
    fn copy(&self) -> Inside {
        match self {
            Inside::Child(child) => Inside::Child(child.copy()),
            other => other.clone(),
        }
    }

    /// Returns a copy whose nodes keep their handles.
    fn snapshot(&self) -> Inside {
        match self {
            Inside::Nothing => Inside::Nothing,
            Inside::Child(child) => Inside::Child(Arc::new(child.snapshot())),
            Inside::Bodies(bodies) => Inside::Bodies(Arc::new(bodies.snapshot())),
        }
    }

    fn destroy(&self) {
        match self {
            Inside::Nothing => {}
            Inside::Child(child) => child.destroy(),
            Inside::Bodies(bodies) => bodies.destroy(),
        }
    }
}

/// The numbers of `CUgraphNodeType`.
pub mod kind {
    pub const KERNEL: u32 = 0;
    pub const MEMCPY: u32 = 1;
    pub const MEMSET: u32 = 2;
    pub const HOST: u32 = 3;
    pub const GRAPH: u32 = 4;
    pub const EMPTY: u32 = 5;
    pub const WAIT_EVENT: u32 = 6;
    pub const EVENT_RECORD: u32 = 7;
    pub const MEM_ALLOC: u32 = 10;
    pub const MEM_FREE: u32 = 11;
    pub const BATCH_MEM_OP: u32 = 12;
    pub const CONDITIONAL: u32 = 13;
}

#[derive(Default)]
pub struct Graph {
    nodes: Mutex<BTreeMap<u64, Node>>,
    objects: Mutex<Objects>,
    values: Mutex<Vec<Arc<Value>>>,
}

/// User objects, each with its number of references. Copies hold references of their own.
#[derive(Default)]
struct Objects(BTreeMap<u64, u64>);

impl Drop for Objects {
    fn drop(&mut self) {
        for (&object, &count) in &self.0 {
            // The program may have dropped too many references, and got an error then.
            let _ = user::release(object, count);
        }
    }
}

/// The operations of a graph in a valid order.
pub struct Plan {
    /// The values to set at the start.
    values: Vec<Arc<Value>>,
    steps: Vec<(u64, Operation)>,
}

/// An executable graph.
pub struct Exec {
    graph: Graph,
    plan: Mutex<Arc<Plan>>,
    pub flags: u64,
}

impl Plan {
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.steps.iter().map(|(_, operation)| operation)
    }

    pub fn run(&self, context: &Arc<Context>) -> Answer {
        self.values.iter().try_for_each(|value| value.begin())?;
        self.operations().try_for_each(|operation| operation.run(context))
    }
}

/// Returns the kind of node of an operation.
pub fn kind_of(operation: &Operation) -> u32 {
    match operation {
        Operation::Nothing => kind::EMPTY,
        Operation::Launch(_) => kind::KERNEL,
        Operation::Copy(_) => kind::MEMCPY,
        Operation::Fill(_) => kind::MEMSET,
        Operation::Host { .. } | Operation::Callback { .. } => kind::HOST,
        Operation::Record(..) => kind::EVENT_RECORD,
        Operation::Await(_) => kind::WAIT_EVENT,
        Operation::Write { .. } | Operation::Wait { .. } | Operation::Batch { .. } => {
            kind::BATCH_MEM_OP
        }
        Operation::Hold(_) => kind::MEM_ALLOC,
        Operation::Free(_) => kind::MEM_FREE,
        Operation::Graph(_) => kind::GRAPH,
        Operation::Choose(_) => kind::CONDITIONAL,
    }
}

impl Graph {
    pub fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node after other nodes, which must be distinct nodes of the graph.
    pub fn add(
        self: &Arc<Self>,
        operation: Operation,
        kind: u32,
        after: Vec<u64>,
    ) -> Result<u64, Error> {
        let mut nodes = self.lock();
        let twice = after.iter().enumerate().any(|(i, node)| after[..i].contains(node));
        if twice || after.iter().any(|node| !nodes.contains_key(node)) {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        let handle = fresh();
        nodes.insert(
            handle,
            Node {
                operation,
                kind,
                after,
                enabled: true,
                origin: handle,
                inside: Inside::Nothing,
                shown: None,
            },
        );
        NODES.insert_at(handle, self.clone());
        Ok(handle)
    }

    /// Returns the values that conditional nodes of the graph may have.
    pub fn values(&self) -> MutexGuard<'_, Vec<Arc<Value>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds references to a user object, which the caller has counted.
    pub fn hold(&self, object: u64, count: u64) {
        *self.objects().0.entry(object).or_insert(0) += count;
    }

    /// Removes references to a user object.
    pub fn let_go(&self, object: u64, count: u64) -> Answer {
        let mut objects = self.objects();
        let held = objects.0.get_mut(&object).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        *held = held.checked_sub(count).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        if *held == 0 {
            objects.0.remove(&object);
        }
        Ok(())
    }

    /// Returns the references of a copy of the graph: one for each user object.
    fn copied_objects(&self) -> Objects {
        let objects = self.objects();
        let held = objects.0.keys().filter(|&&object| user::retain(object, 1).is_ok());
        Objects(held.map(|&object| (object, 1)).collect())
    }

    /// Removes a node, and the edges from and to it.
    pub fn remove(&self, node: u64) -> Answer {
        let mut nodes = self.lock();
        nodes.remove(&node).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?.inside.destroy();
        nodes.values_mut().for_each(|other| other.after.retain(|&before| before != node));
        NODES.remove(node).map(|_| ())
    }

    /// Returns whether the graph allocates or frees memory, or has conditional nodes. Such a graph
    /// must not be copied.
    pub fn is_single(&self) -> bool {
        let single =
            |node: &Node| matches!(node.kind, kind::MEM_ALLOC | kind::MEM_FREE | kind::CONDITIONAL);
        self.lock().values().any(single)
    }

    /// Returns a copy with new nodes.
    pub fn copy(&self) -> Arc<Graph> {
        let copy =
            Arc::new(Graph { objects: Mutex::new(self.copied_objects()), ..Graph::default() });
        let nodes = self.lock();
        let names: BTreeMap<u64, u64> = nodes.keys().map(|&node| (node, fresh())).collect();
        let mut copied = copy.lock();
        for (handle, node) in &*nodes {
            let after = node.after.iter().filter_map(|before| names.get(before).copied()).collect();
            let inside = node.inside.copy();
            copied.insert(names[handle], Node { after, origin: *handle, inside, ..node.clone() });
            NODES.insert_at(names[handle], copy.clone());
        }
        drop(copied);
        copy
    }

    /// Returns the nodes in an order in which each comes after its predecessors. None: the edges
    /// form a cycle.
    pub fn order(&self) -> Option<Vec<u64>> {
        let nodes = self.lock();
        let mut left: BTreeMap<u64, usize> =
            nodes.iter().map(|(&handle, node)| (handle, node.after.len())).collect();
        let mut followers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (&handle, node) in &*nodes {
            node.after.iter().for_each(|&before| followers.entry(before).or_default().push(handle));
        }
        let mut order: Vec<u64> =
            left.iter().filter(|&(_, &n)| n == 0).map(|(&handle, _)| handle).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for follower in followers.get(&node).into_iter().flatten() {
                if let Some(n) = left.get_mut(follower) {
                    *n -= 1;
                    if *n == 0 {
                        order.push(*follower);
                    }
                }
            }
        }
        (order.len() == nodes.len()).then_some(order)
    }

    /// Returns the work of a launch of the graph.
    pub fn plan(&self) -> Result<Plan, Error> {
        let order = self.order().ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        let nodes = self.lock();
        let mut steps = Vec::with_capacity(order.len());
        for handle in order {
            let node = &nodes[&handle];
            if !node.enabled {
                continue;
            }
            let operation = match &node.inside {
                Inside::Child(child) => Operation::Graph(Arc::new(child.plan()?)),
                Inside::Bodies(bodies) => Operation::Choose(Arc::new(Choice::new(bodies)?)),
                Inside::Nothing => node.operation.clone(),
            };
            steps.push((handle, operation));
        }
        Ok(Plan { values: self.values().clone(), steps })
    }

    /// Removes the handles of the nodes.
    pub fn destroy(&self) {
        *self.objects() = Objects::default();
        for (handle, node) in std::mem::take(&mut *self.lock()) {
            let _ = NODES.remove(handle);
            node.inside.destroy();
        }
    }
}

/// Returns the graph of a node.
pub fn of_node(node: u64) -> Result<Arc<Graph>, Error> {
    NODES.find(node).ok_or(Error::CUDA_ERROR_INVALID_VALUE)
}

impl Exec {
    pub fn new(graph: &Graph, flags: u64) -> Result<Exec, Error> {
        let graph = graph.snapshot();
        let plan = Mutex::new(Arc::new(graph.plan()?));
        Ok(Exec { graph, plan, flags })
    }

    pub fn plan(&self) -> Arc<Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes a node, named by its handle in the original graph.
    pub fn change(&self, node: u64, change: impl FnOnce(&mut Node) -> Answer) -> Answer {
        change(self.graph.lock().get_mut(&node).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?)?;
        self.remake()
    }

    /// Calls `show` with a node, named by its handle in the original graph.
    pub fn node<R>(&self, node: u64, show: impl FnOnce(&Node) -> R) -> Result<R, Error> {
        Ok(show(self.graph.lock().get(&node).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?))
    }

    fn remake(&self) -> Answer {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(self.graph.plan()?);
        Ok(())
    }

    /// Takes over the operations of a graph of the same shape. Returns false if the shape differs.
    pub fn update(&self, other: &Graph) -> Result<bool, Error> {
        let (own, theirs) = (self.graph.order(), other.order());
        let (Some(own), Some(theirs)) = (own, theirs) else { return Ok(false) };
        if own.len() != theirs.len() {
            return Ok(false);
        }
        {
            let place = |order: &[u64]| -> BTreeMap<u64, usize> {
                order.iter().copied().zip(0..).collect()
            };
            let (own_place, their_place) = (place(&own), place(&theirs));
            let (mut nodes, others) = (self.graph.lock(), other.lock());
            let same = own.iter().zip(&theirs).all(|(a, b)| {
                let (a, b) = (&nodes[a], &others[b]);
                let after = |node: &Node, place: &BTreeMap<u64, usize>| {
                    let mut after: Vec<usize> =
                        node.after.iter().filter_map(|node| place.get(node).copied()).collect();
                    after.sort_unstable();
                    after
                };
                a.kind == b.kind && after(a, &own_place) == after(b, &their_place)
            });
            if !same {
                return Ok(false);
            }
            for (a, b) in own.iter().zip(&theirs) {
                if let Some(node) = nodes.get_mut(a) {
                    node.operation = others[b].operation.clone();
                    node.inside = others[b].inside.snapshot();
                }
            }
        }
        *self.graph.values() = other.values().clone();
        self.remake()?;
        Ok(true)
    }
}

impl Graph {
    /// A copy whose nodes have the same handles, which nobody can change by them.
    pub fn snapshot(&self) -> Graph {
        let mut nodes = self.lock().clone();
        nodes.values_mut().for_each(|node| node.inside = node.inside.snapshot());
        let values = Mutex::new(self.values().clone());
        Graph { nodes: Mutex::new(nodes), objects: Mutex::new(self.copied_objects()), values }
    }
}

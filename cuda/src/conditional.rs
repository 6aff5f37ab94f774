//! Conditional nodes: nodes with graphs. A value decides which graph runs, and how often.
//!
//! The value is a word of device memory, and its handle is the word's address. Kernels set it by
//! `cudaGraphSetConditional`, a function that the driver provides to device code.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::context::Context;
use crate::error::{Answer, Error, of_copy};
use crate::graph::{GRAPHS, Graph, Plan};
use crate::operation::Operation;
use crate::{allocations, driver};

const BYTES: usize = size_of::<u32>();

/// The value of a condition.
pub struct Value {
    pub address: u64,
    /// The value at each start of its graph; none: the value persists.
    first: Option<u32>,
    /// Whether a node has the value; no second node may.
    taken: AtomicBool,
}

impl Value {
    pub fn new(value: u32, assigned: bool) -> Result<Value, Error> {
        let address = allocations::allocate_for_graph(BYTES as u64)?;
        Ok(Value { address, first: assigned.then_some(value), taken: AtomicBool::new(false) })
    }

    pub fn take(&self) -> Answer {
        if self.taken.swap(true, Relaxed) { Err(Error::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
    }

    /// Sets the value for a start of its graph.
    pub fn begin(&self) -> Answer {
        let Some(first) = self.first else { return Ok(()) };
        driver::memory().write(self.address, &first.to_le_bytes()).map_err(of_copy)
    }

    fn get(&self) -> Result<u32, Error> {
        let mut bytes = [0; BYTES];
        driver::memory().read(self.address, &mut bytes).map_err(of_copy)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        allocations::end(self.address);
    }
}

/// `CUgraphConditionalNodeType`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    If = 0,
    While = 1,
    Switch = 2,
}

impl How {
    pub fn from_number(number: u32) -> Option<How> {
        [How::If, How::While, How::Switch].get(number as usize).copied()
    }

    /// Returns whether a condition of this kind has `count` graphs.
    pub fn has(self, count: u32) -> bool {
        match self {
            How::If => matches!(count, 1 | 2),
            How::While => count == 1,
            How::Switch => count > 0,
        }
    }
}

/// The content of a conditional node.
pub struct Conditional {
    pub value: Arc<Value>,
    pub how: How,
    bodies: Vec<Arc<Graph>>,
    /// The handles of the graphs, in memory whose address programs know.
    pub handles: Arc<Vec<u64>>,
}

impl Conditional {
    pub fn new(value: Arc<Value>, how: How, count: u32) -> Conditional {
        let bodies: Vec<Arc<Graph>> = (0..count).map(|_| Arc::default()).collect();
        let handles = bodies.iter().map(|body| GRAPHS.insert(body.clone())).collect();
        Conditional { value, how, bodies, handles: Arc::new(handles) }
    }

    /// Returns a copy whose nodes keep their handles.
    pub fn snapshot(&self) -> Conditional {
        let bodies = self.bodies.iter().map(|body| Arc::new(body.snapshot())).collect();
        Conditional {
            value: self.value.clone(),
            how: self.how,
            bodies,
            handles: self.handles.clone(),
        }
    }

    /// Removes the handles of the graphs and of their nodes.
    pub fn destroy(&self) {
        self.bodies.iter().for_each(|body| body.destroy());
        self.handles.iter().for_each(|&handle| drop(GRAPHS.remove(handle)));
    }
}

/// The work of a launch of the node.
pub struct Choice {
    value: Arc<Value>,
    how: How,
    bodies: Vec<Plan>,
}

impl Choice {
    pub fn new(conditional: &Conditional) -> Result<Choice, Error> {
        let bodies =
            conditional.bodies.iter().map(|body| body.plan()).collect::<Result<_, Error>>()?;
        Ok(Choice { value: conditional.value.clone(), how: conditional.how, bodies })
    }

    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.bodies.iter().flat_map(Plan::operations)
    }

    pub fn run(&self, context: &Arc<Context>) -> Answer {
        match self.how {
            How::If => self.body(usize::from(self.value.get()? == 0), context),
            How::Switch => self.body(self.value.get()? as usize, context),
            How::While => {
                while self.value.get()? != 0 {
                    context.check()?;
                    if context.is_closed() {
                        return Err(Error::CUDA_ERROR_CONTEXT_IS_DESTROYED);
                    }
                    self.body(0, context)?;
                }
                Ok(())
            }
        }
    }

    /// Runs a graph by number. Does nothing if there is none.
    fn body(&self, number: usize, context: &Arc<Context>) -> Answer {
        self.bodies.get(number).map_or(Ok(()), |body| body.run(context))
    }
}

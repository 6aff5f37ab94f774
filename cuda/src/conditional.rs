//! Nodes with a condition: graphs within a node, of which a value says whether, which, or how often they run.
//!
//! The value is a word of device memory, and its handle is the word's address. Kernels set it by `cudaGraphSetConditional`, a function
//! that the driver provides to device code.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::context::Context;
use crate::error::{Answer, Error, of_copy};
use crate::graph::{GRAPHS, Graph, Plan};
use crate::operation::Operation;
use crate::{allocations, driver};

const BYTES: usize = size_of::<u32>();

/// What a condition depends on.
pub struct Value {
    pub address: u64,
    /// What it is whenever the graph begins that it was made for, if it is not kept.
    first: Option<u32>,
    /// A node has it. No other one may.
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

    /// Its graph begins.
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

    /// Whether a condition of this kind has so many graphs.
    pub fn has(self, count: u32) -> bool {
        match self {
            How::If => matches!(count, 1 | 2),
            How::While => count == 1,
            How::Switch => count > 0,
        }
    }
}

/// What a node has.
pub struct Conditional {
    pub value: Arc<Value>,
    pub how: How,
    bodies: Vec<Arc<Graph>>,
    /// Those of the graphs, where who made the node finds them.
    pub handles: Arc<Vec<u64>>,
}

impl Conditional {
    pub fn new(value: Arc<Value>, how: How, count: u32) -> Conditional {
        let bodies: Vec<Arc<Graph>> = (0..count).map(|_| Arc::default()).collect();
        let handles = bodies.iter().map(|body| GRAPHS.insert(body.clone())).collect();
        Conditional { value, how, bodies, handles: Arc::new(handles) }
    }

    /// A copy whose nodes have the same handles.
    pub fn snapshot(&self) -> Conditional {
        let bodies = self.bodies.iter().map(|body| Arc::new(body.snapshot())).collect();
        Conditional {
            value: self.value.clone(),
            how: self.how,
            bodies,
            handles: self.handles.clone(),
        }
    }

    /// Takes the handles of the graphs and of their nodes away.
    pub fn destroy(&self) {
        self.bodies.iter().for_each(|body| body.destroy());
        self.handles.iter().for_each(|&handle| drop(GRAPHS.remove(handle)));
    }
}

/// What a launch of the node does.
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

    /// One that there is not is nothing to do.
    fn body(&self, number: usize, context: &Arc<Context>) -> Answer {
        self.bodies.get(number).map_or(Ok(()), |body| body.run(context))
    }
}

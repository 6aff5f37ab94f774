//! Conditional nodes of graphs.

use std::sync::Arc;

use super::node::Made;
use super::require;
use crate::boundary::{Ptr, address_of, api, plain};
use crate::conditional::{Conditional, How, Value};
use crate::error::Error;
use crate::graph::{GRAPHS, Inside, Node, kind};
use crate::operation::Operation;

plain! {
    /// `CUDA_CONDITIONAL_NODE_PARAMS`.
    pub struct Condition<P = Ptr<u64>> {
        handle: u64,
        how: u32,
        count: u32,
        /// The address of the graphs' handles; a number in structures that this library writes.
        graphs: P,
        context: u64,
    }
}

const _: () = assert!(
    size_of::<Condition<u64>>() == size_of::<cudarc::driver::sys::CUDA_CONDITIONAL_NODE_PARAMS>()
);

/// A flag of a handle: each launch of the graph begins by setting the value to its default.
const ASSIGN_DEFAULT: u32 = 1;
/// The limit of graphs of a node. No sensible program asks for more.
const MAX_GRAPHS: u32 = 1 << 16;

/// Makes a node with empty graphs, and writes the address of their handles to the structure.
pub fn node(graph: u64, params: Ptr<Condition>) -> Result<Made, Error> {
    let asked = params.get()?;
    let how =
        How::from_number(asked.how).filter(|how| how.has(asked.count)).ok_or(super::INVALID)?;
    require(asked.count <= MAX_GRAPHS)?;
    let graph = GRAPHS.get(graph)?;
    let value = graph
        .values()
        .iter()
        .find(|value| value.address == asked.handle)
        .cloned()
        .ok_or(super::INVALID)?;
    value.take()?;
    let conditional = Conditional::new(value, how, asked.count);
    let Condition { handle, count, context, .. } = asked;
    let graphs = address_of(&conditional.handles);
    params.cast().set(Condition { handle, how: asked.how, count, graphs, context })?;
    Ok(Made {
        operation: Operation::Nothing,
        kind: kind::CONDITIONAL,
        inside: Inside::Bodies(Arc::new(conditional)),
    })
}

pub fn shown(node: &Node) -> Result<Condition<u64>, Error> {
    let Inside::Bodies(conditional) = &node.inside else { return Err(super::INVALID) };
    Ok(Condition {
        handle: conditional.value.address,
        how: conditional.how as u32,
        count: conditional.handles.len() as u32,
        graphs: address_of(&conditional.handles),
        context: crate::context::current_handle(),
    })
}

api! {
    /// Creates the handle of a value that belongs to a graph, for one of its nodes.
    fn cuGraphConditionalHandleCreate(out: Ptr<u64>, graph: u64, _context: u64, value: u32, flags: u32) {
        out.required()?;
        require(flags & !ASSIGN_DEFAULT == 0)?;
        let graph = GRAPHS.get(graph)?;
        let value = Arc::new(Value::new(value, flags & ASSIGN_DEFAULT != 0)?);
        out.set(value.address)?;
        graph.values().push(value);
        Ok(())
    }
}

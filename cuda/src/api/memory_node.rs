//! Nodes of graphs that allocate or free memory, or write values and wait for values.

use super::node::Made;
use super::pool::{AccessDescription, Properties};
use super::require;
use super::stream::{self, MemoryOperation};
use crate::allocations::{self, Kind};
use crate::boundary::{Ptr, address_of, plain};
use crate::error::Error;
use crate::graph::{GRAPHS, Node, kind};
use crate::graph_memory::GraphMemory;
use crate::operation::Operation;

plain! {
    /// `CUDA_MEM_ALLOC_NODE_PARAMS`.
    pub struct Allocate {
        pool: Properties,
        access: Ptr<AccessDescription>,
        access_count: usize,
        bytes: usize,
        address: u64,
    }

    /// `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
    pub struct Batch<P = Ptr<MemoryOperation>> {
        context: u64,
        count: u32,
        /// A pointer; a number in structures that this library writes.
        operations: P,
        flags: u32,
    }
}

const _: () = assert!(
    size_of::<Allocate>() == size_of::<cudarc::driver::sys::CUDA_MEM_ALLOC_NODE_PARAMS_v2_st>()
);
const _: () = assert!(
    size_of::<Batch<u64>>()
        == size_of::<cudarc::driver::sys::CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st>()
);

/// Makes a node that allocates memory, and writes the address to the structure.
pub fn allocate(params: Ptr<Allocate>) -> Result<Made, Error> {
    let asked = params.get()?;
    asked.pool.check()?;
    for access in asked.access.list(asked.access_count)? {
        access.check()?;
    }
    require(asked.bytes > 0)?;
    let memory = GraphMemory::new(asked.bytes as u64)?;
    params.set(Allocate { address: memory.address, ..asked })?;
    Ok(Made::new(Operation::Hold(memory), kind::MEM_ALLOC))
}

pub fn allocate_of(node: &Node) -> Result<Allocate, Error> {
    let Operation::Hold(memory) = &node.operation else { return Err(super::INVALID) };
    Ok(Allocate {
        pool: Properties::OF_DEVICE,
        access: Ptr::NULL,
        access_count: 0,
        bytes: memory.bytes as usize,
        address: memory.address,
    })
}

/// Makes a node that frees memory which a graph allocated. A graph may free an address once.
pub fn free(graph: u64, address: u64) -> Result<Made, Error> {
    let found = allocations::find(address)
        .filter(|found| found.address == address && found.kind == Kind::Graph);
    found.ok_or(super::INVALID)?;
    let graph = GRAPHS.get(graph)?;
    let nodes = graph.lock();
    require(!nodes.values().any(|node| free_of(node) == Ok(address)))?;
    Ok(Made::new(Operation::Free(address), kind::MEM_FREE))
}

pub fn free_of(node: &Node) -> Result<u64, Error> {
    let Operation::Free(address) = node.operation else { return Err(super::INVALID) };
    Ok(address)
}

pub fn batch(params: Ptr<Batch>) -> Result<Made, Error> {
    let Batch { count, operations, flags, .. } = params.get()?;
    require(flags == 0)?;
    Ok(Made::new(stream::batch_of(count, operations)?, kind::BATCH_MEM_OP))
}

/// Returns the batch of a node. The operations stay in place until the node changes.
pub fn batch_of(node: &mut Node) -> Result<Batch<u64>, Error> {
    let Operation::Batch { operations, words } = &node.operation else {
        return Err(super::INVALID);
    };
    let shown = Batch {
        context: crate::context::current_handle(),
        count: operations.len() as u32,
        operations: address_of(words),
        flags: 0,
    };
    node.shown = Some(words.clone());
    Ok(shown)
}

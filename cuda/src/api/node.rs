//! Conversion of graph nodes from and to the C structures.

use std::sync::Arc;

use super::copy::{Block, block, block_of};
use super::{conditional, memory_node, require};
use crate::boundary::{HostFn, Ptr, address_of, plain};
use crate::copies::Fill;
use crate::error::Error;
use crate::graph::{GRAPHS, Graph, Inside, Node, kind};
use crate::launch::{Launch, arguments};
use crate::module::FUNCTIONS;
use crate::operation::Operation;

plain! {
    /// `CUDA_KERNEL_NODE_PARAMS`; version 1 ends before `kernel`. Pointers are numbers in
    /// structures that this library writes.
    pub struct Kernel<P = Ptr<u8>> {
        function: u64,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        params: P,
        extra: P,
    }

    /// Version 2 of `CUDA_KERNEL_NODE_PARAMS`.
    pub struct Kernel2<P = Ptr<u8>> {
        first: Kernel<P>,
        kernel: u64,
        context: u64,
    }

    /// `CUDA_MEMSET_NODE_PARAMS`.
    pub struct Memset {
        to: u64,
        pitch: usize,
        value: u32,
        element: u32,
        width: usize,
        height: usize,
    }

    /// `CUDA_HOST_NODE_PARAMS`.
    pub struct Host {
        function: HostFn,
        data: Ptr<std::ffi::c_void>,
    }

    /// The part of `CUgraphNodeParams` before its union.
    pub struct Header {
        pub kind: u32,
        reserved: [u32; 3],
    }

    /// The memory copy in the union of `CUgraphNodeParams`.
    struct Memcpy {
        flags: i32,
        reserved: i32,
        context: u64,
        block: Block,
    }
}

const _: () = assert!(
    size_of::<Kernel<u64>>() == size_of::<cudarc::driver::sys::CUDA_KERNEL_NODE_PARAMS_v1>()
);
const _: () = assert!(
    size_of::<Kernel2<u64>>() == size_of::<cudarc::driver::sys::CUDA_KERNEL_NODE_PARAMS_v2>()
);
const _: () =
    assert!(size_of::<Memset>() == size_of::<cudarc::driver::sys::CUDA_MEMSET_NODE_PARAMS_v1>());
const _: () =
    assert!(size_of::<Host>() == size_of::<cudarc::driver::sys::CUDA_HOST_NODE_PARAMS_v1>());

/// An operation, its kind of node and the graphs within it.
pub struct Made {
    pub operation: Operation,
    pub kind: u32,
    pub inside: Inside,
}

impl Made {
    pub fn new(operation: Operation, kind: u32) -> Made {
        Made { operation, kind, inside: Inside::Nothing }
    }
}

pub fn kernel(params: Ptr<Kernel>, other: u64) -> Result<Made, Error> {
    let params = params.get()?;
    let function = FUNCTIONS.get(if params.function == 0 { other } else { params.function })?;
    let args = arguments(&function.code().params, params.params.cast(), params.extra.cast())?;
    let launch = Launch::new(&function, params.grid, params.block, params.shared, args);
    launch.check()?;
    Ok(Made::new(Operation::Launch(Arc::new(launch)), kind::KERNEL))
}

pub fn kernel2(params: Ptr<Kernel2>) -> Result<Made, Error> {
    kernel(params.cast(), params.get()?.kernel)
}

pub fn memcpy(params: Ptr<Block>) -> Result<Made, Error> {
    let copy = block(params)?;
    copy.check()?;
    Ok(Made::new(Operation::Copy(Box::new(copy)), kind::MEMCPY))
}

pub fn memset(params: Ptr<Memset>) -> Result<Made, Error> {
    let set = params.get()?;
    require(matches!(set.element, 1 | 2 | 4))?;
    let fill = Fill {
        address: set.to,
        pitch: set.pitch as u64,
        value: set.value,
        element: set.element.into(),
        width: set.width as u64,
        rows: set.height as u64,
    };
    fill.check()?;
    Ok(Made::new(Operation::Fill(fill), kind::MEMSET))
}

pub fn host(params: Ptr<Host>) -> Result<Made, Error> {
    let Host { function, data } = params.get()?;
    require(function.is_some())?;
    Ok(Made::new(Operation::Host { function, data, _owner: None }, kind::HOST))
}

/// Copies a graph. Refuses graphs with memory or conditional nodes.
pub fn copied(graph: u64) -> Result<Arc<Graph>, Error> {
    let graph = GRAPHS.get(graph)?;
    if graph.is_single() {
        return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(graph.copy())
}

pub fn child(graph: u64) -> Result<Made, Error> {
    let inside = Inside::Child(copied(graph)?);
    Ok(Made { operation: Operation::Nothing, kind: kind::GRAPH, inside })
}

pub fn record(event: u64) -> Result<Made, Error> {
    Ok(Made::new(Operation::Record(crate::event::get(event)?.0, 0), kind::EVENT_RECORD))
}

pub fn wait(event: u64) -> Result<Made, Error> {
    Ok(Made::new(Operation::Await(crate::event::get(event)?.0), kind::WAIT_EVENT))
}

pub fn empty() -> Made {
    Made::new(Operation::Nothing, kind::EMPTY)
}

/// The offset of a memory copy in the union of `CUgraphNodeParams`.
const BLOCK: u64 = std::mem::offset_of!(Memcpy, block) as u64;

/// Returns the union of a `CUgraphNodeParams`.
fn union_of(params: Ptr<Header>) -> Result<Ptr<u8>, Error> {
    Ok(params.required()?.cast().after(size_of::<Header>() as u64))
}

/// Reads a new node from a `CUgraphNodeParams`.
pub fn any(graph: u64, params: Ptr<Header>) -> Result<Made, Error> {
    let at = union_of(params)?;
    match params.get()?.kind {
        kind::MEM_ALLOC => memory_node::allocate(at.cast()),
        kind::MEM_FREE => memory_node::free(graph, at.cast::<u64>().get()?),
        kind::CONDITIONAL => conditional::node(graph, at.cast()),
        _ => changed(params),
    }
}

/// Reads the new content of an existing node from a `CUgraphNodeParams`.
pub fn changed(params: Ptr<Header>) -> Result<Made, Error> {
    let at = union_of(params)?;
    match params.get()?.kind {
        kind::KERNEL => kernel2(at.cast()),
        kind::MEMCPY => memcpy(at.after(BLOCK).cast()),
        kind::MEMSET => memset(at.cast()),
        kind::HOST => host(at.cast()),
        kind::GRAPH => child(at.cast::<u64>().get()?),
        kind::EMPTY => Ok(empty()),
        kind::WAIT_EVENT => wait(at.cast::<u64>().get()?),
        kind::EVENT_RECORD => record(at.cast::<u64>().get()?),
        kind::BATCH_MEM_OP => memory_node::batch(at.cast()),
        _ => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
    }
}

/// Writes a node as a `CUgraphNodeParams`.
pub fn show(node: &mut Node, params: Ptr<Header>) -> Result<(), Error> {
    let at = union_of(params)?;
    params.set(Header { kind: node.kind, reserved: [0; 3] })?;
    at.cast::<[u64; 29]>().set([0; 29])?;
    match node.kind {
        kind::KERNEL => at.cast().set(kernel2_of(node)?),
        kind::MEMCPY => at.after(BLOCK).cast().set(memcpy_of(node)?),
        kind::MEMSET => at.cast().set(memset_of(node)?),
        kind::HOST => at.cast().set(host_of(node)?),
        kind::WAIT_EVENT | kind::EVENT_RECORD => at.cast().set(event_of(node)?),
        kind::MEM_ALLOC => at.cast().set(memory_node::allocate_of(node)?),
        kind::MEM_FREE => at.cast().set(memory_node::free_of(node)?),
        kind::BATCH_MEM_OP => at.cast().set(memory_node::batch_of(node)?),
        kind::CONDITIONAL => at.cast().set(conditional::shown(node)?),
        kind::EMPTY => Ok(()),
        _ => Err(Error::CUDA_ERROR_NOT_SUPPORTED),
    }
}

fn wrong<T>() -> Result<T, Error> {
    Err(super::INVALID)
}

/// Returns the launch of a kernel node. Its parameters stay in place until the node changes.
pub fn kernel_of(node: &mut Node) -> Result<Kernel<u64>, Error> {
    let Operation::Launch(launch) = &node.operation else { return wrong() };
    let addresses = launch.args.iter().filter_map(|arg| Some(address_of(arg.as_bytes()?)));
    let addresses = Arc::new(addresses.collect::<Vec<u64>>());
    let params = if addresses.is_empty() { 0 } else { address_of(&addresses) };
    let kernel = Kernel {
        function: launch.function.handle,
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        params,
        extra: 0,
    };
    node.shown = Some(addresses);
    Ok(kernel)
}

pub fn kernel2_of(node: &mut Node) -> Result<Kernel2<u64>, Error> {
    Ok(Kernel2 { first: kernel_of(node)?, kernel: 0, context: crate::context::current_handle() })
}

/// Returns whether all blocks of a kernel node are resident at once.
pub fn is_cooperative(node: &Node) -> Result<bool, Error> {
    let Operation::Launch(launch) = &node.operation else { return wrong() };
    Ok(launch.cooperative)
}

pub fn set_cooperative(node: &mut Node, cooperative: bool) -> Result<(), Error> {
    let Operation::Launch(launch) = &node.operation else { return wrong() };
    let launch = Launch { cooperative, ..(**launch).clone() };
    launch.check()?;
    node.operation = Operation::Launch(Arc::new(launch));
    Ok(())
}

pub fn memset_of(node: &Node) -> Result<Memset, Error> {
    let Operation::Fill(fill) = &node.operation else { return wrong() };
    Ok(Memset {
        to: fill.address,
        pitch: fill.pitch as usize,
        value: fill.value,
        element: fill.element as u32,
        width: fill.width as usize,
        height: fill.rows as usize,
    })
}

pub fn memcpy_of(node: &Node) -> Result<Block<u64>, Error> {
    let Operation::Copy(copy) = &node.operation else { return wrong() };
    block_of(copy)
}

pub fn host_of(node: &Node) -> Result<Host, Error> {
    let Operation::Host { function, data, .. } = node.operation else { return wrong() };
    Ok(Host { function, data })
}

pub fn event_of(node: &Node) -> Result<u64, Error> {
    let (Operation::Record(event, _) | Operation::Await(event)) = &node.operation else {
        return wrong();
    };
    crate::event::EVENTS.handle_of(event).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
}

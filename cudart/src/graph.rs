//! Graphs of operations. Nodes of kernels are made with the driver's kernels; other parameters are the driver's structures.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

use crate::api::get;
use crate::context::enter;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::registry::kernel;
use crate::types::{DriverKernelNode, Handle, KernelNode};

/// The current context, which nodes of copies and fills name.
fn current() -> Result<Handle> {
    enter()?;
    let mut context = null_mut();
    // SAFETY: the output is this function's
    unsafe { driver::cuCtxGetCurrent(&mut context)? };
    Ok(context)
}

fn kernel_node(node: &KernelNode) -> Result<DriverKernelNode> {
    enter()?;
    Ok(DriverKernelNode {
        function: kernel(node.function)?,
        grid: node.grid,
        block: node.block,
        shared: node.shared,
        parameters: node.parameters,
        extra: node.extra,
        kernel: null_mut(),
        context: null_mut(),
    })
}

/// # Safety
///
/// As of `cudaGraphInstantiate`.
unsafe fn instantiate(exec: *mut Handle, graph: Handle, flags: c_ulonglong) -> Result<()> {
    enter()?;
    if exec.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's promise
    unsafe { driver::cuGraphInstantiateWithFlags(exec, graph, flags) }
}

api! {
    /// A new graph.
    fn cudaGraphCreate(graph: *mut Handle, flags: c_uint) {
        enter()?;
        driver::cuGraphCreate(graph, flags)
    }

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: Handle) {
        driver::cuGraphDestroy(graph)
    }

    /// A copy of a graph.
    fn cudaGraphClone(clone: *mut Handle, graph: Handle) {
        driver::cuGraphClone(clone, graph)
    }

    /// A graph's nodes.
    fn cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetNodes(graph, nodes, count)
    }

    /// A graph's nodes that wait for no other.
    fn cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetRootNodes(graph, nodes, count)
    }

    /// What a node is. The kinds have the driver's numbers.
    fn cudaGraphNodeGetType(node: Handle, kind: *mut c_int) {
        driver::cuGraphNodeGetType(node, kind)
    }

    /// Removes a node.
    fn cudaGraphDestroyNode(node: Handle) {
        driver::cuGraphDestroyNode(node)
    }

    /// Adds a node that does nothing.
    fn cudaGraphAddEmptyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize) {
        driver::cuGraphAddEmptyNode(node, graph, dependencies, count)
    }

    /// Adds a node that is a graph.
    fn cudaGraphAddChildGraphNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, child: Handle) {
        driver::cuGraphAddChildGraphNode(node, graph, dependencies, count, child)
    }

    /// Adds a node that records an event.
    fn cudaGraphAddEventRecordNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, event: Handle) {
        driver::cuGraphAddEventRecordNode(node, graph, dependencies, count, event)
    }

    /// Adds a node that waits for an event.
    fn cudaGraphAddEventWaitNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, event: Handle) {
        driver::cuGraphAddEventWaitNode(node, graph, dependencies, count, event)
    }

    /// Adds a node that calls a function of the host.
    fn cudaGraphAddHostNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, host: *const c_void) {
        driver::cuGraphAddHostNode(node, graph, dependencies, count, host)
    }

    /// Adds a node that fills memory.
    fn cudaGraphAddMemsetNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, set: *const c_void) {
        driver::cuGraphAddMemsetNode(node, graph, dependencies, count, set, current()?)
    }

    /// Adds a node that copies a box.
    fn cudaGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, copy: *const crate::types::Memcpy3D,
    ) {
        let copy = crate::copy::described(get(copy)?)?;
        driver::cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, current()?)
    }

    /// Adds a node that copies a range.
    fn cudaGraphAddMemcpyNode1D(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, dst: *mut c_void, src: *const c_void, bytes: usize,
        kind: c_int,
    ) {
        let copy = crate::copy::described_range(dst, src, bytes, kind)?;
        driver::cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, current()?)
    }

    /// Adds a node that launches a kernel.
    fn cudaGraphAddKernelNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, launch: *const KernelNode,
    ) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphAddKernelNode_v2(node, graph, dependencies, count, (&raw const launch).cast())
    }

    /// Changes a node that launches a kernel.
    fn cudaGraphKernelNodeSetParams(node: Handle, launch: *const KernelNode) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphKernelNodeSetParams_v2(node, (&raw const launch).cast())
    }

    /// Changes a node that launches a kernel, of a graph that is instantiated.
    fn cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, launch: *const KernelNode) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphExecKernelNodeSetParams_v2(exec, node, (&raw const launch).cast())
    }

    /// Makes a graph that can be launched.
    fn cudaGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: c_ulonglong) {
        instantiate(exec, graph, flags)
    }

    /// Destroys a graph that can be launched.
    fn cudaGraphExecDestroy(exec: Handle) {
        driver::cuGraphExecDestroy(exec)
    }

    /// Prepares a graph for its first launch.
    fn cudaGraphUpload / cudaGraphUpload_ptsz(exec: Handle; stream) {
        enter()?;
        driver::cuGraphUpload(exec, stream)
    }

    /// Launches a graph.
    fn cudaGraphLaunch / cudaGraphLaunch_ptsz(exec: Handle; stream) {
        enter()?;
        driver::cuGraphLaunch(exec, stream)
    }

    /// Writes a graph as a drawing's source.
    fn cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint) {
        driver::cuGraphDebugDotPrint(graph, path, flags)
    }
}

#[cfg(runtime = "11")]
api! {
    /// Makes a graph that can be launched.
    fn cudaGraphInstantiate(exec: *mut Handle, graph: Handle, _error_node: *mut Handle, _log: *mut c_char, _log_bytes: usize) {
        instantiate(exec, graph, 0)
    }
}

#[cfg(not(runtime = "11"))]
api! {
    /// Makes a graph that can be launched.
    fn cudaGraphInstantiate(exec: *mut Handle, graph: Handle, flags: c_ulonglong) {
        instantiate(exec, graph, flags)
    }

    /// Gives a graph that can be launched what another graph has.
    fn cudaGraphExecUpdate(exec: Handle, graph: Handle, info: *mut c_void) {
        driver::cuGraphExecUpdate_v2(exec, graph, info)
    }
}

#[cfg(not(runtime = "13"))]
api! {
    /// Which nodes wait for which.
    fn cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        driver::cuGraphGetEdges(graph, from, to, count)
    }

    /// What a node waits for.
    fn cudaGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependencies(node, nodes, count)
    }

    /// What waits for a node.
    fn cudaGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependentNodes(node, nodes, count)
    }

    /// Lets nodes wait for others.
    fn cudaGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphAddDependencies(graph, from, to, count)
    }

    /// Takes that back.
    fn cudaGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphRemoveDependencies(graph, from, to, count)
    }
}

/// Data of edges is not done: programs of CUDA 13 pass null for ordinary ones.
#[cfg(runtime = "13")]
fn ordinary(edges: *const c_void) -> Result<()> {
    if edges.is_null() { Ok(()) } else { Err(crate::error::NOT_SUPPORTED) }
}

#[cfg(runtime = "13")]
api! {
    /// Which nodes wait for which.
    fn cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut c_void, count: *mut usize) {
        ordinary(edges)?;
        driver::cuGraphGetEdges(graph, from, to, count)
    }

    /// What a node waits for.
    fn cudaGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
        ordinary(edges)?;
        driver::cuGraphNodeGetDependencies(node, nodes, count)
    }

    /// What waits for a node.
    fn cudaGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
        ordinary(edges)?;
        driver::cuGraphNodeGetDependentNodes(node, nodes, count)
    }

    /// Lets nodes wait for others.
    fn cudaGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize) {
        ordinary(edges)?;
        driver::cuGraphAddDependencies(graph, from, to, count)
    }

    /// Takes that back.
    fn cudaGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize) {
        ordinary(edges)?;
        driver::cuGraphRemoveDependencies(graph, from, to, count)
    }
}

//! Executable graphs, which can be launched.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::api::{api, get, required};
use crate::context::enter;
use crate::copy::{described, described_range};
use crate::driver;
use crate::error::Result;
use crate::graph_node::{current, kernel_node};
use crate::symbol::{described_from, described_to};
use crate::types::{Copy3D, Handle, KernelNode, Memcpy3D, Stream};

/// # Safety
///
/// The contract of `cudaGraphInstantiate`.
unsafe fn instantiate(exec: *mut Handle, graph: Handle, flags: c_ulonglong) -> Result<()> {
    enter()?;
    required(exec)?;
    // SAFETY: the caller's promise
    unsafe { driver::cuGraphInstantiateWithFlags(exec, graph, flags) }
}

/// # Safety
///
/// The memory is valid for the copy whenever the graph is launched.
unsafe fn set_copy(exec: Handle, node: Handle, copy: Copy3D) -> Result<()> {
    // SAFETY: the caller's promise
    unsafe { driver::cuGraphExecMemcpyNodeSetParams(exec, node, &copy, current()?) }
}

api! {
    /// Makes an executable graph.
    fn cudaGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: c_ulonglong) {
        instantiate(exec, graph, flags)
    }

    /// Destroys an executable graph.
    fn cudaGraphExecDestroy(exec: Handle) {
        driver::cuGraphExecDestroy(exec)
    }

    /// Prepares a graph for its first launch.
    fn cudaGraphUpload(exec: Handle, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuGraphUpload(exec, stream)
    }

    /// Launches a graph.
    fn cudaGraphLaunch(exec: Handle, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuGraphLaunch(exec, stream)
    }

    /// Gets whether a node runs when the graph is launched.
    fn cudaGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: *mut c_uint) {
        driver::cuGraphNodeGetEnabled(exec, node, enabled)
    }

    /// Sets whether a node runs when the graph is launched.
    fn cudaGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) {
        driver::cuGraphNodeSetEnabled(exec, node, enabled)
    }

    /// Changes a node that launches a kernel.
    fn cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, launch: *const KernelNode) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphExecKernelNodeSetParams_v2(exec, node, &launch)
    }

    /// Changes a node that copies a box.
    fn cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, copy: *const Memcpy3D) {
        set_copy(exec, node, described(get(copy)?)?)
    }

    /// Changes a node that copies a range.
    fn cudaGraphExecMemcpyNodeSetParams1D(
        exec: Handle, node: Handle, dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) {
        set_copy(exec, node, described_range(dst, src, bytes, kind)?)
    }

    /// Makes a node copy into a variable.
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: Handle, node: Handle, symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) {
        set_copy(exec, node, described_to(symbol, src, bytes, offset, kind)?)
    }

    /// Makes a node copy out of a variable.
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: Handle, node: Handle, dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) {
        set_copy(exec, node, described_from(dst, symbol, bytes, offset, kind)?)
    }

    /// Changes a node that fills memory.
    fn cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, set: *const c_void) {
        driver::cuGraphExecMemsetNodeSetParams(exec, node, set, current()?)
    }

    /// Changes a node that calls a function of the host.
    fn cudaGraphExecHostNodeSetParams(exec: Handle, node: Handle, host: *const c_void) {
        driver::cuGraphExecHostNodeSetParams(exec, node, host)
    }

    /// Changes a node that runs a child graph.
    fn cudaGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle) {
        driver::cuGraphExecChildGraphNodeSetParams(exec, node, child)
    }

    /// Changes a node that records an event.
    fn cudaGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        driver::cuGraphExecEventRecordNodeSetEvent(exec, node, event)
    }

    /// Changes a node that waits for an event.
    fn cudaGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        driver::cuGraphExecEventWaitNodeSetEvent(exec, node, event)
    }
}

#[cfg(runtime = "11")]
api! {
    /// Makes an executable graph.
    fn cudaGraphInstantiate(
        exec: *mut Handle, graph: Handle, error_node: *mut Handle, log: *mut std::ffi::c_char, log_bytes: usize,
    ) {
        enter()?;
        required(exec)?;
        driver::cuGraphInstantiate_v2(exec, graph, error_node, log, log_bytes)
    }

    /// Replaces the nodes' parameters of an executable graph with the parameters of another graph.
    fn cudaGraphExecUpdate(exec: Handle, graph: Handle, error_node: *mut Handle, result: *mut c_int) {
        driver::cuGraphExecUpdate(exec, graph, error_node, result)
    }
}

#[cfg(not(runtime = "11"))]
api! {
    /// Makes an executable graph.
    fn cudaGraphInstantiate(exec: *mut Handle, graph: Handle, flags: c_ulonglong) {
        instantiate(exec, graph, flags)
    }

    /// Makes an executable graph from a structure of parameters. The structure also receives
    /// errors.
    fn cudaGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, parameters: *mut c_void) {
        enter()?;
        driver::cuGraphInstantiateWithParams(exec, graph, parameters)
    }

    /// Makes an executable graph. The structure's null stream is the thread's own.
    fn cudaGraphInstantiateWithParams_ptsz(exec: *mut Handle, graph: Handle, parameters: *mut c_void) {
        enter()?;
        driver::cuGraphInstantiateWithParams_ptsz(exec, graph, parameters)
    }

    /// Gets the flags with which an executable graph was made.
    fn cudaGraphExecGetFlags(exec: Handle, flags: *mut c_ulonglong) {
        driver::cuGraphExecGetFlags(exec, flags)
    }

    /// Replaces the nodes' parameters of an executable graph with the parameters of another graph.
    fn cudaGraphExecUpdate(exec: Handle, graph: Handle, info: *mut c_void) {
        driver::cuGraphExecUpdate_v2(exec, graph, info)
    }
}

#[cfg(runtime = "13")]
api! {
    /// Gets a number that no other graph has.
    fn cudaGraphExecGetId(exec: Handle, id: *mut c_uint) {
        driver::cuGraphExecGetId(exec, id)
    }
}

//! Functions that add, show and change the nodes of each kind.
//!
//! Fills, host functions and allocations have the driver's structures. The runtime names kernels by
//! their stubs, and its structure of a copy has other fields than the driver's.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::api::{api, get, put, required};
use crate::context::enter;
use crate::copy::{described, described_range, shown};
use crate::driver;
use crate::error::Result;
use crate::registry::{kernel, stub_of};
use crate::symbol::{described_from, described_to};
use crate::types::{Copy3D, DevicePointer, DriverKernelNode, Handle, KernelNode, Memcpy3D};

/// Returns the current context, which nodes of copies and fills name.
pub fn current() -> Result<Handle> {
    enter()?;
    let mut context = null_mut();
    // SAFETY: the output is this function's
    unsafe { driver::cuCtxGetCurrent(&mut context)? };
    Ok(context)
}

/// Returns the driver's structure for a node that launches a kernel.
pub fn kernel_node(node: &KernelNode) -> Result<DriverKernelNode> {
    enter()?;
    Ok(with_function(node, kernel(node.function)?))
}

/// Returns the driver's structure for a node that launches a function or a kernel of the driver.
pub fn with_function(node: &KernelNode, function: Handle) -> DriverKernelNode {
    DriverKernelNode {
        function,
        grid: node.grid,
        block: node.block,
        shared: node.shared,
        parameters: node.parameters,
        extra: node.extra,
        kernel: null_mut(),
        context: null_mut(),
    }
}

/// Returns the runtime's structure for the driver's node that launches a kernel.
pub fn shown_kernel(node: &DriverKernelNode) -> KernelNode {
    KernelNode {
        function: stub_of(if node.function.is_null() { node.kernel } else { node.function }),
        grid: node.grid,
        block: node.block,
        shared: node.shared,
        parameters: node.parameters,
        extra: node.extra,
    }
}

/// The place of a new node in a graph.
struct At {
    node: *mut Handle,
    graph: Handle,
    after: *const Handle,
    count: usize,
}

/// # Safety
///
/// Pointers are null or valid. The memory is valid whenever the graph is launched.
unsafe fn add_copy(at: At, copy: Copy3D) -> Result<()> {
    // SAFETY: the caller's promise
    unsafe {
        driver::cuGraphAddMemcpyNode(at.node, at.graph, at.after, at.count, &copy, current()?)
    }
}

/// # Safety
///
/// The memory is valid whenever the graph is launched.
unsafe fn set_copy(node: Handle, copy: Copy3D) -> Result<()> {
    // SAFETY: the caller's promise
    unsafe { driver::cuGraphMemcpyNodeSetParams(node, &copy) }
}

api! {
    /// Adds a node that does nothing.
    fn cudaGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        driver::cuGraphAddEmptyNode(node, graph, after, count)
    }

    /// Adds a node that launches a kernel.
    fn cudaGraphAddKernelNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, launch: *const KernelNode) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphAddKernelNode_v2(node, graph, after, count, &launch)
    }

    /// Gets the launch of a node. The graph owns the parameters, which stay until the node changes.
    fn cudaGraphKernelNodeGetParams(node: Handle, launch: *mut KernelNode) {
        let mut found = DriverKernelNode::EMPTY;
        driver::cuGraphKernelNodeGetParams_v2(node, &mut found)?;
        put(launch, shown_kernel(&found))
    }

    /// Changes a node that launches a kernel.
    fn cudaGraphKernelNodeSetParams(node: Handle, launch: *const KernelNode) {
        let launch = kernel_node(get(launch)?)?;
        driver::cuGraphKernelNodeSetParams_v2(node, &launch)
    }

    /// Gets one of the attributes of a launch. Attributes have the driver's numbers.
    fn cudaGraphKernelNodeGetAttribute(node: Handle, attribute: c_int, value: *mut c_void) {
        driver::cuGraphKernelNodeGetAttribute(node, attribute, value)
    }

    /// Sets one of the attributes of a launch.
    fn cudaGraphKernelNodeSetAttribute(node: Handle, attribute: c_int, value: *const c_void) {
        driver::cuGraphKernelNodeSetAttribute(node, attribute, value)
    }

    /// Copies a launch's attributes to another node. Since CUDA 13 the target is the first
    /// argument.
    fn cudaGraphKernelNodeCopyAttributes(first: Handle, second: Handle) {
        let (to, from) = if cfg!(runtime = "13") { (first, second) } else { (second, first) };
        driver::cuGraphKernelNodeCopyAttributes(to, from)
    }

    /// Adds a node that copies a box.
    fn cudaGraphAddMemcpyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Memcpy3D) {
        add_copy(At { node, graph, after, count }, described(get(copy)?)?)
    }

    /// Adds a node that copies a range.
    fn cudaGraphAddMemcpyNode1D(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, dst: *mut c_void, src: *const c_void, bytes: usize,
        kind: c_int,
    ) {
        add_copy(At { node, graph, after, count }, described_range(dst, src, bytes, kind)?)
    }

    /// Adds a node that copies into a variable.
    fn cudaGraphAddMemcpyNodeToSymbol(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, symbol: *const c_void, src: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) {
        add_copy(At { node, graph, after, count }, described_to(symbol, src, bytes, offset, kind)?)
    }

    /// Adds a node that copies out of a variable.
    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, dst: *mut c_void, symbol: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) {
        add_copy(At { node, graph, after, count }, described_from(dst, symbol, bytes, offset, kind)?)
    }

    /// Gets the copy of a node.
    fn cudaGraphMemcpyNodeGetParams(node: Handle, copy: *mut Memcpy3D) {
        enter()?;
        let mut found = Copy3D::EMPTY;
        driver::cuGraphMemcpyNodeGetParams(node, &mut found)?;
        put(copy, shown(&found)?)
    }

    /// Changes a node that copies a box.
    fn cudaGraphMemcpyNodeSetParams(node: Handle, copy: *const Memcpy3D) {
        set_copy(node, described(get(copy)?)?)
    }

    /// Changes a node that copies a range.
    fn cudaGraphMemcpyNodeSetParams1D(node: Handle, dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int) {
        set_copy(node, described_range(dst, src, bytes, kind)?)
    }

    /// Makes a node copy into a variable.
    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Handle, symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) {
        set_copy(node, described_to(symbol, src, bytes, offset, kind)?)
    }

    /// Makes a node copy out of a variable.
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Handle, dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    ) {
        set_copy(node, described_from(dst, symbol, bytes, offset, kind)?)
    }

    /// Adds a node that fills memory.
    fn cudaGraphAddMemsetNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, set: *const c_void) {
        driver::cuGraphAddMemsetNode(node, graph, after, count, set, current()?)
    }

    /// Gets the memory that a node fills, and the value.
    fn cudaGraphMemsetNodeGetParams(node: Handle, set: *mut c_void) {
        driver::cuGraphMemsetNodeGetParams(node, set)
    }

    /// Changes a node that fills memory.
    fn cudaGraphMemsetNodeSetParams(node: Handle, set: *const c_void) {
        driver::cuGraphMemsetNodeSetParams(node, set)
    }

    /// Adds a node that calls a function of the host.
    fn cudaGraphAddHostNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, host: *const c_void) {
        driver::cuGraphAddHostNode(node, graph, after, count, host)
    }

    /// Gets the function of the host that a node calls.
    fn cudaGraphHostNodeGetParams(node: Handle, host: *mut c_void) {
        driver::cuGraphHostNodeGetParams(node, host)
    }

    /// Changes a node that calls a function of the host.
    fn cudaGraphHostNodeSetParams(node: Handle, host: *const c_void) {
        driver::cuGraphHostNodeSetParams(node, host)
    }

    /// Adds a node that runs a child graph.
    fn cudaGraphAddChildGraphNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle) {
        driver::cuGraphAddChildGraphNode(node, graph, after, count, child)
    }

    /// Gets the child graph that a node runs.
    fn cudaGraphChildGraphNodeGetGraph(node: Handle, child: *mut Handle) {
        driver::cuGraphChildGraphNodeGetGraph(node, child)
    }

    /// Adds a node that records an event.
    fn cudaGraphAddEventRecordNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle) {
        driver::cuGraphAddEventRecordNode(node, graph, after, count, event)
    }

    /// Gets the event that a node records.
    fn cudaGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle) {
        driver::cuGraphEventRecordNodeGetEvent(node, event)
    }

    /// Changes a node that records an event.
    fn cudaGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        driver::cuGraphEventRecordNodeSetEvent(node, event)
    }

    /// Adds a node that waits for an event.
    fn cudaGraphAddEventWaitNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle) {
        driver::cuGraphAddEventWaitNode(node, graph, after, count, event)
    }

    /// Gets the event that a node waits for.
    fn cudaGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle) {
        driver::cuGraphEventWaitNodeGetEvent(node, event)
    }

    /// Changes a node that waits for an event.
    fn cudaGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        driver::cuGraphEventWaitNodeSetEvent(node, event)
    }

    /// Adds a node that allocates memory. The structure receives the memory's address.
    fn cudaGraphAddMemAllocNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, memory: *mut c_void) {
        driver::cuGraphAddMemAllocNode(node, graph, after, count, memory)
    }

    /// Gets the memory that a node allocates.
    fn cudaGraphMemAllocNodeGetParams(node: Handle, memory: *mut c_void) {
        driver::cuGraphMemAllocNodeGetParams(node, memory)
    }

    /// Adds a node that frees the memory that another node allocates.
    fn cudaGraphAddMemFreeNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, pointer: *mut c_void) {
        driver::cuGraphAddMemFreeNode(node, graph, after, count, pointer as DevicePointer)
    }

    /// Gets the address that a node frees.
    fn cudaGraphMemFreeNodeGetParams(node: Handle, pointer: *mut DevicePointer) {
        required(pointer)?;
        driver::cuGraphMemFreeNodeGetParams(node, pointer)
    }
}

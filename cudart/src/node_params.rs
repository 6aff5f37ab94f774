//! Nodes of any kind, through one structure that states the kind, and conditional nodes.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::api::api;
use crate::context::enter;
use crate::copy::described;
#[cfg(runtime = "13")]
use crate::copy::shown;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::graph_node::{current, kernel_node};
#[cfg(runtime = "13")]
use crate::graph_node::{shown_kernel, with_function};
use crate::types::{Copy3D, Handle, Memcpy3D};
#[cfg(runtime = "13")]
use crate::types::{DriverKernelNode, KernelNode};

/// `cudaGraphNodeParams`, and the driver's `CUgraphNodeParams`: the kind, and a union of
/// structures. The two layouts differ only for kernels, copies and contexts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParams {
    kind: c_int,
    reserved: [c_int; 3],
    of: [u64; 29],
    end: u64,
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
struct DriverMemcpyNode {
    flags: c_int,
    reserved: c_int,
    context: Handle,
    copy: Copy3D,
}

/// `cudaMemcpyNodeParams`. CUDA 13 calls the word after `reserved` a context.
#[repr(C)]
struct MemcpyNode {
    flags: c_int,
    reserved: c_int,
    context: Handle,
    copy: Memcpy3D,
}

/// `cudaKernelNodeParamsV2` of CUDA 13
#[cfg(runtime = "13")]
#[repr(C)]
struct KernelNode2 {
    node: KernelNode,
    context: Handle,
    /// `cudaKernelFunctionType`
    kind: c_int,
}

const _: () = assert!(size_of::<NodeParams>() == 256);
const _: () = assert!(size_of::<DriverMemcpyNode>() == 216);
const _: () = assert!(size_of::<MemcpyNode>() == 176);
#[cfg(runtime = "13")]
const _: () = assert!(size_of::<KernelNode2>() == 72);

/// `cudaGraphNodeType`
const KERNEL: c_int = 0;
const MEMCPY: c_int = 1;
const MEMSET: c_int = 2;
const MEM_ALLOC: c_int = 10;
const CONDITIONAL: c_int = 13;

/// Indices of words in the union: contexts, and results that the driver writes.
const MEMSET_CONTEXT: usize = 5;
const CONDITIONAL_CONTEXT: usize = 3;
const CONDITIONAL_GRAPHS: usize = 2;
const ALLOCATED: usize = 14;

impl NodeParams {
    /// Reads the union as a structure of numbers and pointers, which are not followed here.
    fn read<T>(&self) -> T {
        const { assert!(size_of::<T>() <= 29 * 8 && align_of::<T>() <= 8) };
        // SAFETY: the structure lies in the words, and every bit pattern is a value of it
        unsafe { self.of.as_ptr().cast::<T>().read() }
    }

    fn write<T>(&mut self, value: T) {
        const { assert!(size_of::<T>() <= 29 * 8 && align_of::<T>() <= 8) };
        // SAFETY: the structure lies in the words
        unsafe { self.of.as_mut_ptr().cast::<T>().write(value) };
    }

    /// Writes the current context to a word, unless a program of CUDA 13 has named a context there.
    /// Earlier programs name none.
    fn set_context(&mut self, word: usize) -> Result<()> {
        if cfg!(not(runtime = "13")) || self.of[word] == 0 {
            self.of[word] = current()? as u64;
        }
        Ok(())
    }

    fn to_driver(self) -> Result<NodeParams> {
        enter()?;
        let mut result = self;
        match self.kind {
            KERNEL => result.write(self.kernel()?),
            MEMCPY => {
                let MemcpyNode { flags, copy, .. } = self.read();
                result.write(DriverMemcpyNode {
                    flags,
                    reserved: 0,
                    context: current()?,
                    copy: described(&copy)?,
                });
            }
            MEMSET => result.set_context(MEMSET_CONTEXT)?,
            CONDITIONAL => result.set_context(CONDITIONAL_CONTEXT)?,
            _ => {}
        }
        Ok(result)
    }

    #[cfg(not(runtime = "13"))]
    fn kernel(&self) -> Result<crate::types::DriverKernelNode> {
        kernel_node(&self.read())
    }

    #[cfg(runtime = "13")]
    fn kernel(&self) -> Result<DriverKernelNode> {
        const KERNEL_OF_DRIVER: c_int = 2;
        const FUNCTION_OF_DRIVER: c_int = 3;
        let KernelNode2 { node, context, kind } = self.read();
        let passed = match kind {
            KERNEL_OF_DRIVER | FUNCTION_OF_DRIVER => with_function(&node, node.function.cast_mut()),
            _ => kernel_node(&node)?,
        };
        Ok(DriverKernelNode { context, ..passed })
    }

    /// Copies the driver's results for a new node to the program's structure.
    fn answer(&mut self, driver: &NodeParams) {
        match self.kind {
            MEM_ALLOC => self.of[ALLOCATED] = driver.of[ALLOCATED],
            CONDITIONAL => self.of[CONDITIONAL_GRAPHS] = driver.of[CONDITIONAL_GRAPHS],
            _ => {}
        }
    }
}

/// # Safety
///
/// The contract of `cudaGraphAddNode`.
unsafe fn add(
    node: *mut Handle,
    graph: Handle,
    after: *const Handle,
    edges: *const c_void,
    count: usize,
    parameters: *mut NodeParams,
) -> Result<()> {
    // SAFETY: the caller's promise
    unsafe {
        let parameters = parameters.as_mut().ok_or(INVALID_VALUE)?;
        let mut passed = parameters.to_driver()?;
        driver::cuGraphAddNode_v2(node, graph, after, edges, count, (&raw mut passed).cast())?;
        parameters.answer(&passed);
    }
    Ok(())
}

api! {
    /// Changes a node of any kind.
    fn cudaGraphNodeSetParams(node: Handle, parameters: *mut NodeParams) {
        let mut passed = crate::api::get(parameters)?.to_driver()?;
        driver::cuGraphNodeSetParams(node, (&raw mut passed).cast())
    }

    /// Changes a node of any kind in an executable graph.
    fn cudaGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut NodeParams) {
        let mut passed = crate::api::get(parameters)?.to_driver()?;
        driver::cuGraphExecNodeSetParams(exec, node, (&raw mut passed).cast())
    }

    /// Makes a handle for a conditional node. Device code sets the condition through the handle.
    fn cudaGraphConditionalHandleCreate(handle: *mut c_ulonglong, graph: Handle, value: c_uint, flags: c_uint) {
        driver::cuGraphConditionalHandleCreate(handle, graph, current()?, value, flags)
    }
}

#[cfg(runtime = "12")]
api! {
    /// Adds a node of any kind.
    fn cudaGraphAddNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut NodeParams,
    ) {
        add(node, graph, after, std::ptr::null(), count, parameters)
    }

    /// Adds a node of any kind, with data of the edges to it.
    fn cudaGraphAddNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, edges: *const c_void, count: usize, parameters: *mut NodeParams,
    ) {
        add(node, graph, after, edges, count, parameters)
    }
}

#[cfg(runtime = "13")]
api! {
    /// Adds a node of any kind, with data of the edges to it.
    fn cudaGraphAddNode(
        node: *mut Handle, graph: Handle, after: *const Handle, edges: *const c_void, count: usize, parameters: *mut NodeParams,
    ) {
        add(node, graph, after, edges, count, parameters)
    }

    /// Gets the parameters of a node of any kind.
    fn cudaGraphNodeGetParams(node: Handle, parameters: *mut NodeParams) {
        enter()?;
        let into = parameters.as_mut().ok_or(INVALID_VALUE)?;
        let mut found = NodeParams { kind: 0, reserved: [0; 3], of: [0; 29], end: 0 };
        driver::cuGraphNodeGetParams(node, (&raw mut found).cast())?;
        let mut result = found;
        match found.kind {
            KERNEL => {
                let kernel: DriverKernelNode = found.read();
                result.of = [0; 29];
                result.write(KernelNode2 { node: shown_kernel(&kernel), context: kernel.context, kind: 0 });
            }
            MEMCPY => {
                let DriverMemcpyNode { flags, context, copy, .. } = found.read();
                result.of = [0; 29];
                result.write(MemcpyNode { flags, reserved: 0, context, copy: shown(&copy)? });
            }
            _ => {}
        }
        *into = result;
        Ok(())
    }

    /// Makes a handle for a conditional node. A null context stands for the current context.
    fn cudaGraphConditionalHandleCreate_v2(
        handle: *mut c_ulonglong, graph: Handle, context: Handle, value: c_uint, flags: c_uint,
    ) {
        let context = if context.is_null() { current()? } else { context };
        driver::cuGraphConditionalHandleCreate(handle, graph, context, value, flags)
    }
}

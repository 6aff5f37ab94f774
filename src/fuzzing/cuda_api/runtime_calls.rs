//! The functions of the runtime library that are called, as C has them.

#![allow(non_snake_case, reason = "the API's names")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;

use super::calls::calls;

calls! {
    fn cudaGetLastError();
    fn cudaMalloc(out: *mut u64, bytes: usize);
    fn cudaMallocManaged(out: *mut u64, bytes: usize, flags: u32);
    fn cudaHostAlloc(out: *mut u64, bytes: usize, flags: u32);
    fn cudaMallocAsync(out: *mut u64, bytes: usize, stream: u64);
    fn cudaMallocPitch(out: *mut u64, pitch: *mut usize, width: usize, height: usize);
    fn cudaMallocArray(out: *mut u64, format: *const i32, width: usize, height: usize, flags: u32);
    fn cudaFree(address: u64);
    fn cudaFreeHost(address: u64);
    fn cudaFreeAsync(address: u64, stream: u64);
    fn cudaMemsetAsync(address: u64, value: i32, bytes: usize, stream: u64);
    fn cudaMemcpyAsync(to: u64, from: u64, bytes: usize, kind: i32, stream: u64);
    fn cudaMemcpy3D(copy: *const u64);
    fn cudaPointerGetAttributes(out: *mut u32, address: u64);
    fn cudaStreamCreate(out: *mut u64);
    fn cudaStreamDestroy(stream: u64);
    fn cudaStreamSynchronize(stream: u64);
    fn cudaStreamWaitEvent(stream: u64, event: u64, flags: u32);
    fn cudaStreamBeginCapture(stream: u64, mode: i32);
    fn cudaStreamEndCapture(stream: u64, out: *mut u64);
    fn cudaEventCreate(out: *mut u64);
    fn cudaEventRecord(event: u64, stream: u64);
    fn cudaEventQuery(event: u64);
    fn cudaEventSynchronize(event: u64);
    fn cudaEventDestroy(event: u64);
    fn cudaGraphCreate(out: *mut u64, flags: u32);
    fn cudaGraphClone(out: *mut u64, graph: u64);
    fn cudaGraphDestroy(graph: u64);
    fn cudaGraphGetNodes(graph: u64, nodes: *mut u64, count: *mut usize);
    fn cudaGraphAddKernelNode(out: *mut u64, graph: u64, after: *const u64, count: usize, node: *const u64);
    fn cudaGraphAddNode(
        out: *mut u64, graph: u64, after: *const u64, edges: *const u64, count: usize, parameters: *mut u64,
    );
    fn cudaGraphKernelNodeGetParams(node: u64, out: *mut u64);
    fn cudaGraphMemsetNodeGetParams(node: u64, out: *mut u64);
    fn cudaGraphExecKernelNodeSetParams(exec: u64, node: u64, parameters: *const u64);
    fn cudaGraphNodeSetEnabled(exec: u64, node: u64, enabled: u32);
    fn cudaGraphInstantiate(out: *mut u64, graph: u64, flags: u64);
    fn cudaGraphLaunch(exec: u64, stream: u64);
    fn cudaGraphExecDestroy(exec: u64);
    fn cudaFuncGetAttributes(out: *mut u64, stub: u64);
    fn cudaGetSymbolSize(out: *mut usize, shadow: u64);
    fn cudaLaunchKernelExC(config: *const u64, stub: u64, params: *const *const u8);
    fn cudaLaunchKernelExC_ptsz(config: *const u64, stub: u64, params: *const *const u8);
    fn __cudaRegisterFunction(
        binary: u64, stub: u64, device_stub: u64, name: *const c_char, limit: i32, thread: u64, block: u64, block_size: u64,
        grid_size: u64, warp_size: u64,
    );
}

unsafe extern "C" {
    fn __cudaRegisterFatBinary(code: *const u8) -> u64;
    fn __cudaUnregisterFatBinary(binary: u64);
}

fn driver(name: &CStr) -> *mut c_void {
    let found = name.to_str().ok().and_then(cuda::exported);
    found.map_or(std::ptr::null_mut(), <*const c_void>::cast_mut)
}

/// Whatever has an address of its own can stand for a kernel.
static STUB: u8 = 0;

/// The address that stands for the kernel `add`.
pub fn add_stub() -> u64 {
    (&raw const STUB).expose_provenance() as u64
}

/// Registers code that has the kernel `add`. It stays.
pub fn register(code: &'static str) -> u64 {
    static START: Once = Once::new();
    // SAFETY: the addresses are those of the driver's functions of the names.
    START.call_once(|| unsafe { cudart13::use_linked_driver(driver) });
    // SAFETY: the code ends with 0 and stays.
    let binary = unsafe { __cudaRegisterFatBinary(code.as_ptr()) };
    __cudaRegisterFunction(binary, add_stub(), 0, c"add".as_ptr(), -1, 0, 0, 0, 0, 0);
    binary
}

/// Takes that back. No call uses the code any more.
pub fn unregister(binary: u64) {
    // SAFETY: the handle is of a registration.
    unsafe { __cudaUnregisterFatBinary(binary) };
}

/// One warp.
pub fn launch(stub: u64, stream: u64, params: &[*const u8]) -> u32 {
    // `cudaLaunchConfig_t`: grid, block, shared memory, stream, attributes.
    let config = [1 | 1 << 32, 1 | 32 << 32, 1 | 1 << 32, 0, stream, 0, 0];
    cudaLaunchKernelExC(config.as_ptr(), stub, params.as_ptr())
}

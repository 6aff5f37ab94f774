//! The functions of the driver library that are called, as C has them.

#![allow(non_snake_case, reason = "the API's names")]

use std::ffi::c_char;

/// Defines functions that call those of C.
macro_rules! calls {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        mod c {
            use std::ffi::c_char;

            unsafe extern "C" {
                $(pub fn $name($($arg: $ty),*) -> u32;)*
            }
        }
        $(
            #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
            pub fn $name($($arg: $ty),*) -> u32 {
                // SAFETY: the types are those of the API, and pointers are to what callers have.
                unsafe { c::$name($($arg),*) }
            }
        )*
    };
}

pub(super) use calls;

calls! {
    fn cuInit(flags: u32);
    fn cuDevicePrimaryCtxRetain(out: *mut u64, device: i32);
    fn cuDevicePrimaryCtxRelease_v2(device: i32);
    fn cuCtxSetCurrent(context: u64);
    fn cuCtxSynchronize();
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemAlloc_v2(out: *mut u64, bytes: usize);
    fn cuMemAllocManaged(out: *mut u64, bytes: usize, flags: u32);
    fn cuMemHostAlloc(out: *mut u64, bytes: usize, flags: u32);
    fn cuMemFree_v2(address: u64);
    fn cuMemFreeHost(address: u64);
    fn cuMemAllocAsync(out: *mut u64, bytes: usize, stream: u64);
    fn cuMemFreeAsync(address: u64, stream: u64);
    fn cuMemAddressReserve(out: *mut u64, bytes: usize, align: usize, wish: u64, flags: u64);
    fn cuMemAddressFree(address: u64, bytes: usize);
    fn cuMemCreate(out: *mut u64, bytes: usize, properties: *const u64, flags: u64);
    fn cuMemRelease(handle: u64);
    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
    fn cuMemUnmap(address: u64, bytes: usize);
    fn cuMemSetAccess(address: u64, bytes: usize, descriptions: *const u32, count: usize);
    fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, address: u64);
    fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: u64);
    fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: u64);
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: u64);
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, stream: u64);
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64);
    fn cuModuleLoadData(out: *mut u64, image: *const u8);
    fn cuModuleGetFunction(out: *mut u64, module: u64, name: *const c_char);
    fn cuModuleUnload(module: u64);
    fn cuStreamCreate(out: *mut u64, flags: u32);
    fn cuStreamDestroy_v2(stream: u64);
    fn cuStreamSynchronize(stream: u64);
    fn cuStreamWaitEvent(stream: u64, event: u64, flags: u32);
    fn cuStreamBeginCapture_v2(stream: u64, mode: u32);
    fn cuStreamEndCapture(stream: u64, out: *mut u64);
    fn cuEventCreate(out: *mut u64, flags: u32);
    fn cuEventRecord(event: u64, stream: u64);
    fn cuEventDestroy_v2(event: u64);
    fn cuGraphInstantiateWithFlags(out: *mut u64, graph: u64, flags: u64);
    fn cuGraphDestroy(graph: u64);
    fn cuGraphLaunch(exec: u64, stream: u64);
    fn cuGraphExecDestroy(exec: u64);
    fn cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32, stream: u64,
        params: *const *const u8, extra: *const *const u8,
    );
}

/// One warp.
pub fn launch(function: u64, stream: u64, params: &[*const u8]) -> u32 {
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params.as_ptr(), std::ptr::null())
}

//! The driver's functions that the runtime calls. Each is looked up in `libcuda.so.1` on its first
//! call.
//!
//! All but one are documented functions, by their plain names. The exception is warploom's own,
//! which another driver may lack.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Code, INSUFFICIENT_DRIVER, NEWER_DRIVER_NEEDED, Result};
use crate::types::{
    Array3DDescriptor, ArrayDescriptor, Copy3D, DevicePointer, DriverDeviceLaunch,
    DriverKernelNode, Handle, HostFunction, LaunchConfig, Location, ResourceDescriptor, Stream,
    StreamCallback, TextureDescriptor, Uuid,
};

/// The address of one of the driver's functions, or null before its look-up.
struct Entry(AtomicPtr<c_void>);

impl Entry {
    fn get(&self, name: &CStr) -> Result<*mut c_void> {
        let known = self.0.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let found = find(name)?;
        self.0.store(found, Ordering::Release);
        Ok(found)
    }
}

/// The look-up function of a driver that this program is linked with.
static LINKED: OnceLock<fn(&CStr) -> *mut c_void> = OnceLock::new();

/// Takes the driver's functions from the program that this library is linked with, instead of from
/// `libcuda.so.1`.
///
/// # Safety
///
/// `find` returns null or the address of the driver's function with the given name.
pub unsafe fn use_linked_driver(find: fn(&CStr) -> *mut c_void) {
    let _ = LINKED.set(find);
}

/// Returns the address of the driver's function with this name.
///
/// # Errors
///
/// There is no driver ("insufficient driver"), or the driver lacks the function ("newer driver
/// needed").
pub fn find(name: &CStr) -> Result<*mut c_void> {
    if let Some(linked) = LINKED.get() {
        let found = linked(name);
        return if found.is_null() { Err(NEWER_DRIVER_NEEDED) } else { Ok(found) };
    }
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| {
        // SAFETY: the name ends with 0. The library's initialisers may run in this call. The
        // initialisers of warploom's driver read the environment, and load another driver if it
        // names one. They do not unwind, and call nothing of this library. This thread holds no
        // lock but the lock of `LIBRARY`, which they do not know. Whoever puts another library in
        // the driver's place answers for its initialisers.
        unsafe {
            libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) as usize
        }
    });
    if library == 0 {
        return Err(INSUFFICIENT_DRIVER);
    }
    // SAFETY: the library stays loaded, since nobody closes it, and the name ends with 0
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    if found.is_null() { Err(NEWER_DRIVER_NEEDED) } else { Ok(found) }
}

macro_rules! driver {
    ($(fn $name:ident($($arg:ident: $t:ty),* $(,)?);)*) => {$(
        /// Calls the driver's function with this name.
        ///
        /// # Safety
        ///
        /// The driver API's documentation states the contract of the arguments.
        #[allow(dead_code, clippy::too_many_arguments, reason = "the API is so, and not every version of the runtime calls all")]
        pub unsafe fn $name($($arg: $t),*) -> Result<()> {
            static ENTRY: Entry = Entry(AtomicPtr::new(std::ptr::null_mut()));
            let name = const {
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no 0 in it"),
                }
            };
            let address = ENTRY.get(name)?;
            // SAFETY: the documented function of this name has this signature
            let function: unsafe extern "C" fn($($t),*) -> c_int = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's promise
            match unsafe { function($($arg),*) } {
                0 => Ok(()),
                code => Err(Code(code)),
            }
        }
    )*};
}

driver! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuGetProcAddress_v2(name: *const c_char, function: *mut *mut c_void, version: c_int, flags: c_ulonglong, status: *mut c_int);

    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int);
    fn cuDeviceGetUuid(uuid: *mut Uuid, device: c_int);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    fn cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: c_int);
    fn cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char);
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int);
    fn cuDeviceGetP2PAttribute(value: *mut c_int, attribute: c_int, from: c_int, to: c_int);
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: c_int);
    fn cuDeviceGetMemPool(pool: *mut Handle, device: c_int);
    fn cuDeviceSetMemPool(device: c_int, pool: Handle);
    fn cuDeviceGetGraphMemAttribute(device: c_int, attribute: c_int, value: *mut c_void);
    fn cuDeviceSetGraphMemAttribute(device: c_int, attribute: c_int, value: *mut c_void);
    fn cuDeviceGraphMemTrim(device: c_int);
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int);
    fn cuDevicePrimaryCtxReset_v2(device: c_int);
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint);

    fn cuCtxGetCurrent(context: *mut Handle);
    fn cuCtxSetCurrent(context: Handle);
    fn cuCtxGetDevice(device: *mut c_int);
    fn cuCtxSynchronize();
    fn cuCtxGetLimit(value: *mut usize, limit: c_int);
    fn cuCtxSetLimit(limit: c_int, value: usize);
    fn cuCtxGetCacheConfig(config: *mut c_int);
    fn cuCtxSetCacheConfig(config: c_int);
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint);
    fn cuCtxDisablePeerAccess(peer: Handle);
    fn cuCtxResetPersistingL2Cache();

    fn cuMemAlloc_v2(pointer: *mut DevicePointer, bytes: usize);
    fn cuMemAllocPitch_v2(pointer: *mut DevicePointer, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    fn cuMemAllocManaged(pointer: *mut DevicePointer, bytes: usize, flags: c_uint);
    fn cuMemFree_v2(pointer: DevicePointer);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemFreeHost(pointer: *mut c_void);
    fn cuMemHostGetDevicePointer_v2(device: *mut DevicePointer, host: *mut c_void, flags: c_uint);
    fn cuMemHostGetFlags(flags: *mut c_uint, host: *mut c_void);
    fn cuMemHostRegister_v2(host: *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemHostUnregister(host: *mut c_void);
    fn cuMemAdvise(pointer: DevicePointer, bytes: usize, advice: c_int, device: c_int);
    fn cuMemAdvise_v2(pointer: DevicePointer, bytes: usize, advice: c_int, location: Location);
    fn cuMemPrefetchAsync_v2(pointer: DevicePointer, bytes: usize, location: Location, flags: c_uint, stream: Stream);
    fn cuMemPrefetchAsync(pointer: DevicePointer, bytes: usize, device: c_int, stream: Stream);
    fn cuMemRangeGetAttribute(data: *mut c_void, size: usize, attribute: c_int, pointer: DevicePointer, bytes: usize);
    fn cuMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_int, count: usize, pointer: DevicePointer, bytes: usize,
    );
    fn cuPointerGetAttributes(count: c_uint, attributes: *const c_int, data: *mut *mut c_void, pointer: DevicePointer);

    fn cuMemcpy(to: DevicePointer, from: DevicePointer, bytes: usize);
    fn cuMemcpyAsync(to: DevicePointer, from: DevicePointer, bytes: usize, stream: Stream);
    fn cuMemcpyHtoD_v2(to: DevicePointer, from: *const c_void, bytes: usize);
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: DevicePointer, bytes: usize);
    fn cuMemcpyDtoD_v2(to: DevicePointer, from: DevicePointer, bytes: usize);
    fn cuMemcpyHtoDAsync_v2(to: DevicePointer, from: *const c_void, bytes: usize, stream: Stream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: DevicePointer, bytes: usize, stream: Stream);
    fn cuMemcpyDtoDAsync_v2(to: DevicePointer, from: DevicePointer, bytes: usize, stream: Stream);
    fn cuMemcpy3D_v2(copy: *const Copy3D);
    fn cuMemcpy3DAsync_v2(copy: *const Copy3D, stream: Stream);
    fn cuMemsetD8_v2(pointer: DevicePointer, value: u8, count: usize);
    fn cuMemsetD8Async(pointer: DevicePointer, value: u8, count: usize, stream: Stream);
    fn cuMemsetD2D8_v2(pointer: DevicePointer, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async(pointer: DevicePointer, pitch: usize, value: u8, width: usize, height: usize, stream: Stream);

    fn cuMemAllocAsync(pointer: *mut DevicePointer, bytes: usize, stream: Stream);
    fn cuMemAllocFromPoolAsync(pointer: *mut DevicePointer, bytes: usize, pool: Handle, stream: Stream);
    fn cuMemFreeAsync(pointer: DevicePointer, stream: Stream);
    fn cuMemPoolCreate(pool: *mut Handle, properties: *const c_void);
    fn cuMemPoolDestroy(pool: Handle);
    fn cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void);
    fn cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void);
    fn cuMemPoolSetAccess(pool: Handle, access: *const c_void, count: usize);
    fn cuMemPoolGetAccess(flags: *mut c_int, pool: Handle, location: *const c_void);
    fn cuMemPoolTrimTo(pool: Handle, keep: usize);

    fn cuLibraryLoadData(
        library: *mut Handle, code: *const c_void, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    );
    fn cuLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    );
    fn cuLibraryUnload(library: Handle);
    fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char);
    fn cuLibraryGetKernelCount(count: *mut c_uint, library: Handle);
    fn cuLibraryEnumerateKernels(kernels: *mut Handle, count: c_uint, library: Handle);
    fn cuLibraryGetGlobal(pointer: *mut DevicePointer, bytes: *mut usize, library: Handle, name: *const c_char);
    fn cuLibraryGetManaged(pointer: *mut DevicePointer, bytes: *mut usize, library: Handle, name: *const c_char);

    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle);
    fn cuKernelSetAttribute(attribute: c_int, value: c_int, kernel: Handle, device: c_int);
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: Handle);
    fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int);
    fn cuFuncSetCacheConfig(function: Handle, config: c_int);
    fn cuFuncGetName(name: *mut *const c_char, function: Handle);
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: Handle, block: c_int, shared: usize, flags: c_uint,
    );
    fn cuOccupancyAvailableDynamicSMemPerBlock(shared: *mut usize, function: Handle, blocks: c_int, block: c_int);
    fn cuOccupancyMaxActiveClusters(count: *mut c_int, function: Handle, config: *const LaunchConfig);
    fn cuOccupancyMaxPotentialClusterSize(size: *mut c_int, function: Handle, config: *const LaunchConfig);
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: Stream, parameters: *mut *mut c_void, extra: *mut *mut c_void,
    );
    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: Stream, parameters: *mut *mut c_void,
    );
    fn cuLaunchKernelEx(config: *const LaunchConfig, function: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void);
    fn cuLaunchHostFunc(stream: Stream, function: HostFunction, data: *mut c_void);

    fn cuStreamCreateWithPriority(stream: *mut Stream, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(stream: Stream);
    fn cuStreamSynchronize(stream: Stream);
    fn cuStreamQuery(stream: Stream);
    fn cuStreamWaitEvent(stream: Stream, event: Handle, flags: c_uint);
    fn cuStreamAddCallback(stream: Stream, callback: StreamCallback, data: *mut c_void, flags: c_uint);
    fn cuStreamAttachMemAsync(stream: Stream, pointer: DevicePointer, bytes: usize, flags: c_uint);
    fn cuStreamGetFlags(stream: Stream, flags: *mut c_uint);
    fn cuStreamGetPriority(stream: Stream, priority: *mut c_int);
    fn cuStreamGetId(stream: Stream, id: *mut c_ulonglong);
    fn cuStreamCopyAttributes(to: Stream, from: Stream);
    fn cuStreamGetAttribute(stream: Stream, attribute: c_int, value: *mut c_void);
    fn cuStreamSetAttribute(stream: Stream, attribute: c_int, value: *const c_void);
    fn cuStreamBeginCapture_v2(stream: Stream, mode: c_int);
    fn cuStreamEndCapture(stream: Stream, graph: *mut Handle);
    fn cuStreamIsCapturing(stream: Stream, status: *mut c_int);
    fn cuStreamGetCaptureInfo_v2(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
        count: *mut usize,
    );
    fn cuStreamUpdateCaptureDependencies(stream: Stream, dependencies: *mut Handle, count: usize, flags: c_uint);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_int);
    fn cuEventCreate(event: *mut Handle, flags: c_uint);
    fn cuEventDestroy_v2(event: Handle);
    fn cuEventRecord(event: Handle, stream: Stream);
    fn cuEventRecordWithFlags(event: Handle, stream: Stream, flags: c_uint);
    fn cuEventQuery(event: Handle);
    fn cuEventSynchronize(event: Handle);
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);

    fn cuArray3DCreate_v2(array: *mut Handle, descriptor: *const Array3DDescriptor);
    fn cuArray3DGetDescriptor_v2(descriptor: *mut Array3DDescriptor, array: Handle);
    fn cuArrayDestroy(array: Handle);
    fn cuArrayGetPlane(plane: *mut Handle, array: Handle, index: c_uint);
    fn cuMipmappedArrayCreate(array: *mut Handle, descriptor: *const Array3DDescriptor, levels: c_uint);
    fn cuMipmappedArrayGetLevel(level: *mut Handle, array: Handle, index: c_uint);
    fn cuMipmappedArrayDestroy(array: Handle);
    fn cuTexObjectCreate(
        texture: *mut c_ulonglong, resource: *const ResourceDescriptor, texture_descriptor: *const TextureDescriptor,
        view: *const c_void,
    );
    fn cuTexObjectDestroy(texture: c_ulonglong);
    fn cuTexObjectGetResourceDesc(resource: *mut ResourceDescriptor, texture: c_ulonglong);
    fn cuTexObjectGetTextureDesc(descriptor: *mut TextureDescriptor, texture: c_ulonglong);
    fn cuSurfObjectCreate(surface: *mut c_ulonglong, resource: *const ResourceDescriptor);
    fn cuSurfObjectDestroy(surface: c_ulonglong);
    fn cuSurfObjectGetResourceDesc(resource: *mut ResourceDescriptor, surface: c_ulonglong);

    fn cuGraphCreate(graph: *mut Handle, flags: c_uint);
    fn cuGraphDestroy(graph: Handle);
    fn cuGraphClone(clone: *mut Handle, graph: Handle);
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
    fn cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize);
    fn cuGraphNodeGetType(node: Handle, kind: *mut c_int);
    fn cuGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, count: *mut usize);
    fn cuGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, count: *mut usize);
    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize);
    fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize);
    fn cuGraphDestroyNode(node: Handle);
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize);
    fn cuGraphAddChildGraphNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, child: Handle);
    fn cuGraphAddEventRecordNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, event: Handle);
    fn cuGraphAddEventWaitNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, event: Handle);
    fn cuGraphAddHostNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, host: *const c_void);
    fn cuGraphAddMemsetNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, set: *const c_void, context: Handle,
    );
    fn cuGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, copy: *const Copy3D, context: Handle,
    );
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, kernel: *const DriverKernelNode);
    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, kernel: *const DriverKernelNode);
    fn cuGraphKernelNodeSetParams_v2(node: Handle, kernel: *const DriverKernelNode);
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: c_ulonglong);
    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut c_void);
    fn cuGraphExecDestroy(exec: Handle);
    fn cuGraphUpload(exec: Handle, stream: Stream);
    fn cuGraphLaunch(exec: Handle, stream: Stream);
    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint);

    fn cuGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize);
    fn cuGraphRemoveDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize);
    fn cuGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut c_void, count: *mut usize);
    fn cuGraphNodeGetDependencies_v2(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize);
    fn cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize);
    fn cuGraphNodeFindInClone(found: *mut Handle, original: Handle, clone: Handle);
    fn cuGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle);
    fn cuGraphNodeGetLocalId(node: Handle, id: *mut c_uint);
    fn cuGraphNodeGetToolsId(node: Handle, id: *mut c_ulonglong);
    fn cuGraphGetId(graph: Handle, id: *mut c_uint);
    fn cuGraphExecGetId(exec: Handle, id: *mut c_uint);
    fn cuGraphExecGetFlags(exec: Handle, flags: *mut c_ulonglong);
    fn cuGraphAddNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, edges: *const c_void, count: usize, parameters: *mut c_void,
    );
    fn cuGraphNodeGetParams(node: Handle, parameters: *mut c_void);
    fn cuGraphNodeSetParams(node: Handle, parameters: *mut c_void);
    fn cuGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut c_void);
    fn cuGraphConditionalHandleCreate(
        handle: *mut c_ulonglong, graph: Handle, context: Handle, value: c_uint, flags: c_uint,
    );
    fn cuGraphKernelNodeGetParams_v2(node: Handle, kernel: *mut DriverKernelNode);
    fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: c_int, value: *mut c_void);
    fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_int, value: *const c_void);
    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    fn cuGraphMemcpyNodeGetParams(node: Handle, copy: *mut Copy3D);
    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: *const Copy3D);
    fn cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, copy: *const Copy3D, context: Handle);
    fn cuGraphMemsetNodeGetParams(node: Handle, set: *mut c_void);
    fn cuGraphMemsetNodeSetParams(node: Handle, set: *const c_void);
    fn cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, set: *const c_void, context: Handle);
    fn cuGraphHostNodeGetParams(node: Handle, host: *mut c_void);
    fn cuGraphHostNodeSetParams(node: Handle, host: *const c_void);
    fn cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, host: *const c_void);
    fn cuGraphChildGraphNodeGetGraph(node: Handle, child: *mut Handle);
    fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle);
    fn cuGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle);
    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
    fn cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle);
    fn cuGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle);
    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle);
    fn cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle);
    fn cuGraphAddMemAllocNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, memory: *mut c_void);
    fn cuGraphMemAllocNodeGetParams(node: Handle, memory: *mut c_void);
    fn cuGraphAddMemFreeNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, pointer: DevicePointer);
    fn cuGraphMemFreeNodeGetParams(node: Handle, pointer: *mut DevicePointer);
    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: *mut c_uint);
    fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint);
    fn cuGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, parameters: *mut c_void);
    fn cuGraphInstantiateWithParams_ptsz(exec: *mut Handle, graph: Handle, parameters: *mut c_void);
    fn cuGraphInstantiate_v2(exec: *mut Handle, graph: Handle, node: *mut Handle, log: *mut c_char, bytes: usize);
    fn cuGraphExecUpdate(exec: Handle, graph: Handle, node: *mut Handle, result: *mut c_int);
    fn cuUserObjectCreate(object: *mut Handle, data: *mut c_void, destroy: HostFunction, count: c_uint, flags: c_uint);
    fn cuUserObjectRetain(object: Handle, count: c_uint);
    fn cuUserObjectRelease(object: Handle, count: c_uint);
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint);
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint);

    fn cuMemcpyBatchAsync(
        to: *mut *mut c_void, from: *mut *mut c_void, sizes: *mut usize, count: usize, attributes: *mut c_void, starts: *mut usize,
        number: usize, failed: *mut usize, stream: Stream,
    );
    fn cuMemcpyBatchAsync_v2(
        to: *mut *mut c_void, from: *mut *mut c_void, sizes: *mut usize, count: usize, attributes: *mut c_void, starts: *mut usize,
        number: usize, stream: Stream,
    );
    fn cuMemcpy3DBatchAsync(count: usize, list: *mut c_void, failed: *mut usize, flags: c_ulonglong, stream: Stream);
    fn cuMemcpy3DBatchAsync_v2(count: usize, list: *mut c_void, flags: c_ulonglong, stream: Stream);
    fn cuMemcpyWithAttributesAsync(
        to: *mut c_void, from: *const c_void, bytes: usize, attributes: *mut c_void, stream: Stream,
    );
    fn cuMemcpy3DWithAttributesAsync(copy: *mut c_void, flags: c_ulonglong, stream: Stream);
    fn cuMemPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, places: *mut c_void, starts: *mut usize, number: usize,
        flags: c_ulonglong, stream: Stream,
    );
    fn cuMemDiscardBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: Stream,
    );
    fn cuMemDiscardAndPrefetchBatchAsync(
        pointers: *mut *mut c_void, sizes: *mut usize, count: usize, places: *mut c_void, starts: *mut usize, number: usize,
        flags: c_ulonglong, stream: Stream,
    );
    fn cuMemGetDefaultMemPool(pool: *mut Handle, place: *mut c_void, kind: c_int);
    fn cuMemGetMemPool(pool: *mut Handle, place: *mut c_void, kind: c_int);
    fn cuMemSetMemPool(place: *mut c_void, kind: c_int, pool: Handle);

    fn cuArrayGetMemoryRequirements(requirements: *mut c_void, array: Handle, device: c_int);
    fn cuMipmappedArrayGetMemoryRequirements(requirements: *mut c_void, array: Handle, device: c_int);
    fn cuArrayGetSparseProperties(properties: *mut c_void, array: Handle);
    fn cuMipmappedArrayGetSparseProperties(properties: *mut c_void, array: Handle);
    fn cuTexObjectGetResourceViewDesc(view: *mut c_void, texture: c_ulonglong);
    fn cuDeviceGetTexture1DLinearMaxWidth(width: *mut usize, format: c_int, channels: c_uint, device: c_int);
    fn cuDeviceGetHostAtomicCapabilities(capabilities: *mut c_uint, operations: *const c_int, count: c_uint, device: c_int);
    fn cuFlushGPUDirectRDMAWrites(target: c_int, scope: c_int);

    fn cuStreamGetDevice(stream: Stream, device: *mut c_int);
    fn cuStreamBeginCaptureToGraph(
        stream: Stream, graph: Handle, dependencies: *const Handle, edges: *const c_void, count: usize, mode: c_int,
    );
    fn cuStreamGetCaptureInfo_v3(
        stream: Stream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, dependencies: *mut *const Handle,
        edges: *mut *const c_void, count: *mut usize,
    );
    fn cuStreamUpdateCaptureDependencies_v2(
        stream: Stream, dependencies: *mut Handle, edges: *const c_void, count: usize, flags: c_uint,
    );
    fn cuLaunchHostFunc_v2(stream: Stream, function: HostFunction, data: *mut c_void, mode: c_uint);
    fn cuLaunchCooperativeKernelMultiDevice(list: *mut DriverDeviceLaunch, count: c_uint, flags: c_uint);
    fn cuFuncGetParamCount(function: Handle, count: *mut usize);
    fn cuLibraryGetUnifiedFunction(function: *mut *mut c_void, library: Handle, name: *const c_char);

    fn cuCtxGetDevice_v2(device: *mut c_int, context: Handle);
    fn cuCtxGetId(context: Handle, id: *mut c_ulonglong);
    fn cuCtxSynchronize_v2(context: Handle);
    fn cuCtxRecordEvent(context: Handle, event: Handle);
    fn cuCtxWaitEvent(context: Handle, event: Handle);

    fn cuLibraryGetModule(module: *mut Handle, library: Handle);
    fn cuModuleGetTexRef(reference: *mut Handle, module: Handle, name: *const c_char);
    fn cuModuleGetSurfRef(reference: *mut Handle, module: Handle, name: *const c_char);
    fn cuTexRefSetFormat(reference: Handle, format: c_int, channels: c_int);
    fn cuTexRefSetFlags(reference: Handle, flags: c_uint);
    fn cuTexRefSetFilterMode(reference: Handle, mode: c_int);
    fn cuTexRefSetAddressMode(reference: Handle, axis: c_int, mode: c_int);
    fn cuTexRefSetMaxAnisotropy(reference: Handle, most: c_uint);
    fn cuTexRefSetMipmapFilterMode(reference: Handle, mode: c_int);
    fn cuTexRefSetMipmapLevelBias(reference: Handle, bias: f32);
    fn cuTexRefSetMipmapLevelClamp(reference: Handle, least: f32, greatest: f32);
    fn cuTexRefSetAddress_v2(offset: *mut usize, reference: Handle, pointer: DevicePointer, bytes: usize);
    fn cuTexRefSetAddress2D_v3(
        reference: Handle, rows: *const ArrayDescriptor, pointer: DevicePointer, pitch: usize,
    );
    fn cuTexRefSetArray(reference: Handle, array: Handle, flags: c_uint);
    fn cuTexRefSetMipmappedArray(reference: Handle, array: Handle, flags: c_uint);
    fn cuSurfRefSetArray(reference: Handle, array: Handle, flags: c_uint);
    fn cuMemGetAddressRange_v2(base: *mut DevicePointer, bytes: *mut usize, pointer: DevicePointer);

    fn warploomRefused(name: *const c_char);
    fn cuProfilerStart();
    fn cuProfilerStop();
}

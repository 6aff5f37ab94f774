//! Structures of the runtime's and the driver's C interfaces.
//!
//! Enumerations are plain integers, since a caller may pass any number. Names are the field's
//! terms; each comment has the C name.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// An object that only the driver looks into: a context, event, array, graph, and so on.
pub type Handle = *mut c_void;
/// `cudaStream_t`, `CUstream`; 0 and 1 are the legacy default stream, 2 the thread's own.
pub type Stream = *mut c_void;
/// `CUdeviceptr`
pub type DevicePointer = u64;
/// `cudaHostFn_t`
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// `cudaStreamCallback_t`, `CUstreamCallback`. The error codes that a callback gets have equal
/// numbers in both.
pub type StreamCallback = Option<unsafe extern "C" fn(Stream, c_int, *mut c_void)>;

/// `cudaUUID_t`
pub type Uuid = [u8; 16];

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPointer {
    pub pointer: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaExtent`. The width is in elements if an array takes part, else in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Position {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
pub struct Memcpy3D {
    pub from_array: Handle,
    pub from_position: Position,
    pub from: PitchedPointer,
    pub to_array: Handle,
    pub to_position: Position,
    pub to: PitchedPointer,
    pub extent: Extent,
    pub kind: c_int,
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
pub struct Memcpy3DPeer {
    pub from_array: Handle,
    pub from_position: Position,
    pub from: PitchedPointer,
    pub from_device: c_int,
    pub to_array: Handle,
    pub to_position: Position,
    pub to: PitchedPointer,
    pub to_device: c_int,
    pub extent: Extent,
}

/// `CUDA_MEMCPY3D`, with `Side` for the source and the target
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    pub from: Side,
    pub to: Side,
    /// The width of a row, in bytes.
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

const _: () = assert!(size_of::<Copy3D>() == 200 && size_of::<Memcpy3D>() == 160);

impl Copy3D {
    /// An empty structure that the driver fills.
    pub const EMPTY: Copy3D =
        Copy3D { from: Side::EMPTY, to: Side::EMPTY, width: 0, height: 0, depth: 0 };
}

impl Side {
    const EMPTY: Side = Side {
        x_bytes: 0,
        y: 0,
        z: 0,
        level: 0,
        kind: 0,
        host: null_mut(),
        device: 0,
        array: null_mut(),
        reserved: null_mut(),
        pitch: 0,
        rows: 0,
    };
}

/// One side of a `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub x_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub level: usize,
    /// `CUmemorytype`
    pub kind: c_int,
    pub host: *mut c_void,
    pub device: DevicePointer,
    pub array: Handle,
    pub reserved: Handle,
    pub pitch: usize,
    pub rows: usize,
}

/// `cudaChannelFormatDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFormat {
    /// Bits of each component.
    pub bits: [c_int; 4],
    pub kind: c_int,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Array3DDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_int,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub format: c_int,
    pub channels: c_uint,
}

/// `cudaResourceDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    pub kind: c_int,
    pub of: ResourceOf,
    #[cfg(runtime = "13")]
    pub flags: c_uint,
}

/// The union in a `cudaResourceDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceOf {
    pub array: Handle,
    pub linear: Linear,
    pub pitched: Pitched,
    #[cfg(runtime = "13")]
    pub reserved: [c_int; 32],
}

/// Linear memory in a `cudaResourceDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Linear {
    pub pointer: DevicePointer,
    pub format: ChannelFormat,
    pub bytes: usize,
}

/// Pitched memory in a `cudaResourceDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pitched {
    pub pointer: DevicePointer,
    pub format: ChannelFormat,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResourceDescriptor {
    pub kind: c_int,
    pub of: ResourceDescriptorOf,
    pub flags: c_uint,
}

/// The union in a `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceDescriptorOf {
    pub array: Handle,
    pub linear: DriverLinear,
    pub pitched: DriverPitched,
    pub reserved: [c_int; 32],
}

/// Linear memory in a `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverLinear {
    pub pointer: DevicePointer,
    pub format: c_int,
    pub channels: c_uint,
    pub bytes: usize,
}

/// Pitched memory in a `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverPitched {
    pub pointer: DevicePointer,
    pub format: c_int,
    pub channels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

/// `cudaTextureDesc`, `cudaTextureDesc_v2` of CUDA 11
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texture {
    pub address: [c_int; 3],
    pub filter: c_int,
    pub read_mode: c_int,
    pub srgb: c_int,
    pub border: [f32; 4],
    pub normalized: c_int,
    pub max_anisotropy: c_uint,
    pub mip_filter: c_int,
    pub mip_bias: f32,
    pub min_level: f32,
    pub max_level: f32,
    pub no_trilinear_optimization: c_int,
    /// CUDA 11 lacks this field in `cudaTextureDesc`, but has it in `cudaTextureDesc_v2`.
    pub seamless_cube: c_int,
}

const _: () = assert!(size_of::<Texture>() == 72);

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextureDescriptor {
    pub address: [c_int; 3],
    pub filter: c_int,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mip_filter: c_int,
    pub mip_bias: f32,
    pub min_level: f32,
    pub max_level: f32,
    pub border: [f32; 4],
    pub reserved: [c_int; 12],
}

/// `cudaLaunchConfig_t`
#[repr(C)]
pub struct RuntimeLaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: Stream,
    pub attributes: *mut c_void,
    pub attribute_count: c_uint,
}

/// `CUlaunchConfig`. Its attributes equal the runtime's, byte for byte.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub stream: Stream,
    pub attributes: *mut c_void,
    pub attribute_count: c_uint,
}

/// `cudaPointerAttributes`
#[repr(C)]
pub struct PointerAttributes {
    pub kind: c_int,
    pub device: c_int,
    pub device_pointer: *mut c_void,
    pub host_pointer: *mut c_void,
    #[cfg(runtime = "13")]
    pub reserved: [std::ffi::c_long; 8],
}

/// `cudaFuncAttributes`
#[repr(C)]
pub struct FunctionAttributes {
    pub shared_bytes: usize,
    pub constant_bytes: usize,
    pub local_bytes: usize,
    pub max_threads: c_int,
    pub registers: c_int,
    pub ptx_version: c_int,
    pub binary_version: c_int,
    pub cache_mode: c_int,
    pub max_dynamic_shared: c_int,
    pub carveout: c_int,
    /// Six attributes of clusters, then reserved words.
    #[cfg(not(runtime = "11"))]
    pub cluster: [c_int; 22],
}

/// `cudaKernelNodeParams`
#[repr(C)]
pub struct KernelNode {
    pub function: *const c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub parameters: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
pub struct DriverKernelNode {
    pub function: Handle,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub parameters: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kernel: Handle,
    pub context: Handle,
}

const _: () = assert!(size_of::<KernelNode>() == 56 && size_of::<DriverKernelNode>() == 72);

impl DriverKernelNode {
    /// An empty structure that the driver fills.
    pub const EMPTY: DriverKernelNode = DriverKernelNode {
        function: null_mut(),
        grid: Dim3 { x: 0, y: 0, z: 0 },
        block: Dim3 { x: 0, y: 0, z: 0 },
        shared: 0,
        parameters: null_mut(),
        extra: null_mut(),
        kernel: null_mut(),
        context: null_mut(),
    };
}

/// `cudaLaunchParams`: the launch on one of several devices
#[cfg(not(runtime = "13"))]
#[repr(C)]
pub struct DeviceLaunch {
    pub function: *const c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub parameters: *mut *mut c_void,
    pub shared: usize,
    pub stream: Stream,
}

/// `CUDA_LAUNCH_PARAMS`
#[repr(C)]
pub struct DriverDeviceLaunch {
    pub function: Handle,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub stream: Stream,
    pub parameters: *mut *mut c_void,
}

const _: () = assert!(size_of::<DriverDeviceLaunch>() == 56);

/// `cudaMemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    pub kind: c_int,
    pub id: c_int,
}

/// Checks the sizes of structures that differ between versions against C compilers' sizes.
const _: () = {
    let [resource, pointer, function] = if cfg!(runtime = "13") {
        [144, 88, 144]
    } else {
        [64, 24, if cfg!(runtime = "12") { 144 } else { 56 }]
    };
    assert!(size_of::<Resource>() == resource);
    assert!(size_of::<PointerAttributes>() == pointer);
    assert!(size_of::<FunctionAttributes>() == function);
};
#[cfg(not(runtime = "13"))]
const _: () = assert!(size_of::<DeviceLaunch>() == 56);

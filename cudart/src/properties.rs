//! `cudaDeviceProp`. One table of its fields states their order, their versions, and the sources of
//! their values.

use std::ffi::{c_char, c_int, c_uint};

use crate::api::{api, put};
use crate::context::device;
use crate::device::uuid;
use crate::driver;
use crate::error::Result;
use crate::types::Uuid;

/// The version that this library says it has: CUDA 11.8, 12.9 or 13.5.
#[cfg(runtime = "11")]
pub const VERSION: c_int = 11080;
/// The version that this library says it has.
#[cfg(runtime = "12")]
pub const VERSION: c_int = 12090;
/// The version that this library says it has.
#[cfg(runtime = "13")]
pub const VERSION: c_int = 13050;

/// A type of fields, whose values come from the driver's attributes for the elements. An element
/// without an attribute is 0.
trait Field {
    fn of(attributes: &[c_int], value: &mut dyn FnMut(c_int) -> Result<c_int>) -> Result<Self>
    where
        Self: Sized;
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Field for $t {
            fn of(attributes: &[c_int], value: &mut dyn FnMut(c_int) -> Result<c_int>) -> Result<$t> {
                attributes.first().map_or(Ok(0), |attribute| Ok(value(*attribute)? as $t))
            }
        }
    )*};
}
numbers! { c_int c_uint usize i8 u8 }

impl<T: Field + Copy, const N: usize> Field for [T; N] {
    fn of(attributes: &[c_int], value: &mut dyn FnMut(c_int) -> Result<c_int>) -> Result<[T; N]> {
        let mut all = [T::of(&[], value)?; N];
        for (element, attribute) in all.iter_mut().zip(attributes) {
            *element = T::of(std::slice::from_ref(attribute), value)?;
        }
        Ok(all)
    }
}

macro_rules! properties {
    ($($(#[$when:meta])? $field:ident: $t:ty = [$($attribute:literal),*];)*) => {
        /// `cudaDeviceProp`, with the C names of the fields
        #[repr(C)]
        pub struct Properties {
            $($(#[$when])? pub $field: $t,)*
        }

        /// Makes the structure, with the fields that are attributes of the driver.
        fn of_attributes(value: &mut dyn FnMut(c_int) -> Result<c_int>) -> Result<Properties> {
            Ok(Properties { $($(#[$when])? $field: <$t as Field>::of(&[$($attribute),*], value)?,)* })
        }
    };
}

properties! {
    name: [c_char; 256] = [];
    uuid: Uuid = [];
    luid: [c_char; 8] = [];
    luidDeviceNodeMask: c_uint = [];
    totalGlobalMem: usize = [];
    sharedMemPerBlock: usize = [8];
    regsPerBlock: c_int = [12];
    warpSize: c_int = [10];
    memPitch: usize = [11];
    maxThreadsPerBlock: c_int = [1];
    maxThreadsDim: [c_int; 3] = [2, 3, 4];
    maxGridSize: [c_int; 3] = [5, 6, 7];
    #[cfg(not(runtime = "13"))]
    clockRate: c_int = [13];
    totalConstMem: usize = [9];
    major: c_int = [75];
    minor: c_int = [76];
    textureAlignment: usize = [14];
    texturePitchAlignment: usize = [51];
    #[cfg(not(runtime = "13"))]
    deviceOverlap: c_int = [15];
    multiProcessorCount: c_int = [16];
    #[cfg(not(runtime = "13"))]
    kernelExecTimeoutEnabled: c_int = [17];
    integrated: c_int = [18];
    canMapHostMemory: c_int = [19];
    #[cfg(not(runtime = "13"))]
    computeMode: c_int = [20];
    maxTexture1D: c_int = [21];
    maxTexture1DMipmap: c_int = [77];
    #[cfg(not(runtime = "13"))]
    maxTexture1DLinear: c_int = [69];
    maxTexture2D: [c_int; 2] = [22, 23];
    maxTexture2DMipmap: [c_int; 2] = [73, 74];
    maxTexture2DLinear: [c_int; 3] = [70, 71, 72];
    maxTexture2DGather: [c_int; 2] = [45, 46];
    maxTexture3D: [c_int; 3] = [24, 25, 26];
    maxTexture3DAlt: [c_int; 3] = [47, 48, 49];
    maxTextureCubemap: c_int = [52];
    maxTexture1DLayered: [c_int; 2] = [42, 43];
    maxTexture2DLayered: [c_int; 3] = [27, 28, 29];
    maxTextureCubemapLayered: [c_int; 2] = [53, 54];
    maxSurface1D: c_int = [55];
    maxSurface2D: [c_int; 2] = [56, 57];
    maxSurface3D: [c_int; 3] = [58, 59, 60];
    maxSurface1DLayered: [c_int; 2] = [61, 62];
    maxSurface2DLayered: [c_int; 3] = [63, 64, 65];
    maxSurfaceCubemap: c_int = [66];
    maxSurfaceCubemapLayered: [c_int; 2] = [67, 68];
    surfaceAlignment: usize = [30];
    concurrentKernels: c_int = [31];
    ECCEnabled: c_int = [32];
    pciBusID: c_int = [33];
    pciDeviceID: c_int = [34];
    pciDomainID: c_int = [50];
    tccDriver: c_int = [35];
    asyncEngineCount: c_int = [40];
    unifiedAddressing: c_int = [41];
    #[cfg(not(runtime = "13"))]
    memoryClockRate: c_int = [36];
    memoryBusWidth: c_int = [37];
    l2CacheSize: c_int = [38];
    persistingL2CacheMaxSize: c_int = [108];
    maxThreadsPerMultiProcessor: c_int = [39];
    streamPrioritiesSupported: c_int = [78];
    globalL1CacheSupported: c_int = [79];
    localL1CacheSupported: c_int = [80];
    sharedMemPerMultiprocessor: usize = [81];
    regsPerMultiprocessor: c_int = [82];
    managedMemory: c_int = [83];
    isMultiGpuBoard: c_int = [84];
    multiGpuBoardGroupID: c_int = [85];
    hostNativeAtomicSupported: c_int = [86];
    #[cfg(not(runtime = "13"))]
    singleToDoublePrecisionPerfRatio: c_int = [87];
    pageableMemoryAccess: c_int = [88];
    concurrentManagedAccess: c_int = [89];
    computePreemptionSupported: c_int = [90];
    canUseHostPointerForRegisteredMem: c_int = [91];
    cooperativeLaunch: c_int = [95];
    #[cfg(not(runtime = "13"))]
    cooperativeMultiDeviceLaunch: c_int = [96];
    sharedMemPerBlockOptin: usize = [97];
    pageableMemoryAccessUsesHostPageTables: c_int = [100];
    directManagedMemAccessFromHost: c_int = [101];
    maxBlocksPerMultiProcessor: c_int = [106];
    accessPolicyMaxWindowSize: c_int = [109];
    reservedSharedMemPerBlock: usize = [111];
    #[cfg(not(runtime = "11"))]
    hostRegisterSupported: c_int = [99];
    #[cfg(not(runtime = "11"))]
    sparseCudaArraySupported: c_int = [112];
    #[cfg(not(runtime = "11"))]
    hostRegisterReadOnlySupported: c_int = [113];
    #[cfg(not(runtime = "11"))]
    timelineSemaphoreInteropSupported: c_int = [114];
    #[cfg(not(runtime = "11"))]
    memoryPoolsSupported: c_int = [115];
    #[cfg(not(runtime = "11"))]
    gpuDirectRDMASupported: c_int = [116];
    #[cfg(not(runtime = "11"))]
    gpuDirectRDMAFlushWritesOptions: c_uint = [117];
    #[cfg(not(runtime = "11"))]
    gpuDirectRDMAWritesOrdering: c_int = [118];
    #[cfg(not(runtime = "11"))]
    memoryPoolSupportedHandleTypes: c_uint = [119];
    #[cfg(not(runtime = "11"))]
    deferredMappingCudaArraySupported: c_int = [121];
    #[cfg(not(runtime = "11"))]
    ipcEventSupported: c_int = [125];
    #[cfg(not(runtime = "11"))]
    clusterLaunch: c_int = [120];
    #[cfg(not(runtime = "11"))]
    unifiedFunctionPointers: c_int = [129];
    #[cfg(not(runtime = "11"))]
    reserved: [c_int; 63] = [];
}

const _: () = {
    let bytes = if cfg!(runtime = "13") {
        1008
    } else if cfg!(runtime = "12") {
        1032
    } else {
        728
    };
    assert!(size_of::<Properties>() == bytes);
};

/// Returns a device's properties.
pub fn properties(of: c_int) -> Result<Properties> {
    let of = device(of)?;
    let mut properties = of_attributes(&mut |attribute| {
        let mut value = 0;
        // SAFETY: the output is this function's
        unsafe { driver::cuDeviceGetAttribute(&mut value, attribute, of)? };
        Ok(value)
    })?;
    properties.uuid = uuid(of)?;
    // SAFETY: outputs are this function's, and have the stated sizes
    unsafe {
        driver::cuDeviceGetName(properties.name.as_mut_ptr(), properties.name.len() as c_int, of)?;
        driver::cuDeviceTotalMem_v2(&mut properties.totalGlobalMem, of)?;
    }
    Ok(properties)
}

#[cfg(not(runtime = "12"))]
api! {
    /// Gets a device's properties.
    fn cudaGetDeviceProperties(into: *mut Properties, number: c_int) {
        put(into, properties(number)?)
    }
}

#[cfg(runtime = "12")]
api! {
    /// Gets a device's properties for programs of CUDA 11, whose structure is a prefix of CUDA
    /// 12's.
    fn cudaGetDeviceProperties(into: *mut u8, number: c_int) {
        let found = properties(number)?;
        if into.is_null() {
            return Err(crate::error::INVALID_VALUE);
        }
        let bytes = std::mem::offset_of!(Properties, hostRegisterSupported);
        std::ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), into, bytes);
        Ok(())
    }

    /// Gets a device's properties.
    fn cudaGetDeviceProperties_v2(into: *mut Properties, number: c_int) {
        put(into, properties(number)?)
    }
}

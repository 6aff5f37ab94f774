//! Attributes of kernels, libraries that a program loads itself, and the driver's functions by their names.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;

use crate::api::{get, put};
use crate::context::{device, enter};
use crate::driver;
use crate::error::{INVALID_VALUE, NOT_FOUND, Result};
use crate::launch::driver_config;
use crate::properties::VERSION;
use crate::registry::{kernel, know};
use crate::types::{DevicePointer, FunctionAttributes, Handle, RuntimeLaunchConfig, Uuid};

/// The driver's function for a kernel, in the current context.
pub fn of(stub: *const c_void) -> Result<Handle> {
    enter()?;
    let mut function = null_mut();
    // SAFETY: the output is this function's, the kernel the driver's
    unsafe { driver::cuKernelGetFunction(&mut function, kernel(stub)?)? };
    Ok(function)
}

fn attributes(function: Handle) -> Result<FunctionAttributes> {
    let attribute = |number| {
        let mut value = 0;
        // SAFETY: the output is this function's, the function the driver's
        unsafe { driver::cuFuncGetAttribute(&mut value, number, function) }.map(|()| value)
    };
    Ok(FunctionAttributes {
        shared_bytes: attribute(1)? as usize,
        constant_bytes: attribute(2)? as usize,
        local_bytes: attribute(3)? as usize,
        max_threads: attribute(0)?,
        registers: attribute(4)?,
        ptx_version: attribute(5)?,
        binary_version: attribute(6)?,
        cache_mode: attribute(7)?,
        max_dynamic_shared: attribute(8)?,
        carveout: attribute(9)?,
        #[cfg(not(runtime = "11"))]
        cluster: {
            // In the structure's order: whether a size must be set, width, height, depth, policy, non-portable sizes.
            let mut cluster = [0; 22];
            for (place, number) in cluster.iter_mut().zip([10, 11, 12, 13, 15, 14]) {
                *place = attribute(number)?;
            }
            cluster
        },
    })
}

/// Puts the address of one of the driver's functions, and how the search ended (0 found, 1 not known, 2 only a newer one).
///
/// # Safety
///
/// The name is null or ends with 0; other pointers are null or valid for writes.
unsafe fn entry_point(
    name: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: c_ulonglong,
    ending: *mut c_int,
) -> Result<()> {
    crate::context::init()?;
    if name.is_null() || function.is_null() {
        return Err(INVALID_VALUE);
    }
    let mut status = 0;
    // SAFETY: the caller's promise
    unsafe {
        match driver::cuGetProcAddress_v2(name, function, version, flags, &mut status) {
            Err(NOT_FOUND) => function.write(null_mut()),
            other => other?,
        }
        if !ending.is_null() {
            ending.write(status);
        }
    }
    Ok(())
}

api! {
    /// A kernel's attributes.
    fn cudaFuncGetAttributes(into: *mut FunctionAttributes, stub: *const c_void) {
        put(into, attributes(of(stub)?)?)
    }

    /// Sets one of a kernel's attributes.
    fn cudaFuncSetAttribute(stub: *const c_void, attribute: c_int, value: c_int) {
        driver::cuFuncSetAttribute(of(stub)?, attribute, value)
    }

    /// How a kernel would like its caches.
    fn cudaFuncSetCacheConfig(stub: *const c_void, config: c_int) {
        driver::cuFuncSetCacheConfig(of(stub)?, config)
    }

    /// How a kernel would like the banks of shared memory, which no device since Maxwell can choose.
    fn cudaFuncSetSharedMemConfig(stub: *const c_void, _config: c_int) {
        of(stub).map(|_| ())
    }

    /// A kernel's name.
    fn cudaFuncGetName(name: *mut *const c_char, stub: *const c_void) {
        driver::cuFuncGetName(name, of(stub)?)
    }

    /// Where a kernel's parameter lies, and its size.
    fn cudaFuncGetParamInfo(stub: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        driver::cuFuncGetParamInfo(of(stub)?, index, offset, size)
    }

    /// The driver's function for a kernel.
    fn cudaGetFuncBySymbol(function: *mut Handle, stub: *const c_void) {
        put(function, of(stub)?)
    }

    /// The driver's kernel for a stub.
    fn cudaGetKernel(into: *mut Handle, stub: *const c_void) {
        put(into, kernel(stub)?)
    }

    /// Dynamic shared memory that so many blocks leave for each.
    fn cudaOccupancyAvailableDynamicSMemPerBlock(shared: *mut usize, stub: *const c_void, blocks: c_int, block: c_int) {
        driver::cuOccupancyAvailableDynamicSMemPerBlock(shared, of(stub)?, blocks, block)
    }

    /// The number of clusters that a device can hold.
    fn cudaOccupancyMaxActiveClusters(count: *mut c_int, stub: *const c_void, config: *const RuntimeLaunchConfig) {
        let config = get(config)?;
        driver::cuOccupancyMaxActiveClusters(count, of(stub)?, &driver_config(config, config.stream)?)
    }

    /// The largest cluster that a device can hold.
    fn cudaOccupancyMaxPotentialClusterSize(size: *mut c_int, stub: *const c_void, config: *const RuntimeLaunchConfig) {
        let config = get(config)?;
        driver::cuOccupancyMaxPotentialClusterSize(size, of(stub)?, &driver_config(config, config.stream)?)
    }

    /// Loads a library from memory. Options have the driver's numbers.
    fn cudaLibraryLoadData(
        library: *mut Handle, code: *const c_void, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        enter()?;
        driver::cuLibraryLoadData(library, code, jit_options, jit_values, jit_count, options, values, count)
    }

    /// Loads a library from a file.
    fn cudaLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, jit_options: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
        options: *mut c_int, values: *mut *mut c_void, count: c_uint,
    ) {
        enter()?;
        driver::cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count, options, values, count)
    }

    /// Unloads a library.
    fn cudaLibraryUnload(library: Handle) {
        driver::cuLibraryUnload(library)
    }

    /// A library's kernel by its name.
    fn cudaLibraryGetKernel(into: *mut Handle, library: Handle, name: *const c_char) {
        enter()?;
        let mut found = null_mut();
        driver::cuLibraryGetKernel(&mut found, library, name)?;
        know(found);
        put(into, found)
    }

    /// The number of a library's kernels.
    fn cudaLibraryGetKernelCount(count: *mut c_uint, library: Handle) {
        driver::cuLibraryGetKernelCount(count, library)
    }

    /// A library's kernels.
    fn cudaLibraryEnumerateKernels(kernels: *mut Handle, count: c_uint, library: Handle) {
        driver::cuLibraryEnumerateKernels(kernels, count, library)?;
        for at in 0..count as usize {
            know(*kernels.add(at));
        }
        Ok(())
    }

    /// A library's variable by its name.
    fn cudaLibraryGetGlobal(pointer: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        enter()?;
        driver::cuLibraryGetGlobal(pointer.cast::<DevicePointer>(), bytes, library, name)
    }

    /// A library's managed variable by its name.
    fn cudaLibraryGetManaged(pointer: *mut *mut c_void, bytes: *mut usize, library: Handle, name: *const c_char) {
        enter()?;
        driver::cuLibraryGetManaged(pointer.cast::<DevicePointer>(), bytes, library, name)
    }

    /// Sets one of a kernel's attributes, on one device.
    fn cudaKernelSetAttributeForDevice(kernel: Handle, attribute: c_int, value: c_int, on: c_int) {
        driver::cuKernelSetAttribute(attribute, value, kernel, device(on)?)
    }

    /// One of the driver's functions, as of this runtime's version.
    fn cudaGetDriverEntryPoint(name: *const c_char, function: *mut *mut c_void, flags: c_ulonglong, ending: *mut c_int) {
        entry_point(name, function, VERSION, flags, ending)
    }

    /// One of the driver's functions, as of this runtime's version.
    fn cudaGetDriverEntryPoint_ptsz(name: *const c_char, function: *mut *mut c_void, flags: c_ulonglong, ending: *mut c_int) {
        const PER_THREAD_DEFAULT_STREAM: c_ulonglong = 2;
        let flags = if flags == 0 { PER_THREAD_DEFAULT_STREAM } else { flags };
        entry_point(name, function, VERSION, flags, ending)
    }

    /// One of the driver's functions, as of a version.
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char, function: *mut *mut c_void, version: c_uint, flags: c_ulonglong, ending: *mut c_int,
    ) {
        entry_point(name, function, version as c_int, flags, ending)
    }

    /// Undocumented tables, of which there are none.
    fn cudaGetExportTable(table: *mut *const c_void, _id: *const Uuid) {
        put(table, std::ptr::null())?;
        Err(NOT_FOUND)
    }
}

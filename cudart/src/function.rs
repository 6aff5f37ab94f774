//! Attributes of kernels, and look-ups of the driver's functions by name.

#[cfg(not(runtime = "11"))]
use std::ffi::c_uint;
use std::ffi::{c_char, c_int, c_ulonglong, c_void};
use std::ptr::null_mut;

use crate::api::{api, get, put};
use crate::context::enter;
use crate::driver;
use crate::error::{INVALID_VALUE, NOT_FOUND, Result};
use crate::launch::driver_config;
use crate::properties::VERSION;
use crate::registry::kernel;
use crate::types::{FunctionAttributes, Handle, RuntimeLaunchConfig, Uuid};

/// Returns the driver's function for a kernel, in the current context.
pub fn of(stub: *const c_void) -> Result<Handle> {
    enter()?;
    let mut function = null_mut();
    // SAFETY: the output is this function's, and the kernel is the driver's
    unsafe { driver::cuKernelGetFunction(&mut function, kernel(stub)?)? };
    Ok(function)
}

fn attributes(function: Handle) -> Result<FunctionAttributes> {
    let attribute = |number| {
        let mut value = 0;
        // SAFETY: the output is this function's, and the function is the driver's
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
            // In the structure's order: whether the launch must set a size, width, height, depth,
            // policy, non-portable sizes.
            let mut cluster = [0; 22];
            for (place, number) in cluster.iter_mut().zip([10, 11, 12, 13, 15, 14]) {
                *place = attribute(number)?;
            }
            cluster
        },
    })
}

/// Writes the address of one of the driver's functions, and the result of the look-up (0 found, 1
/// unknown, 2 only a newer function).
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

/// Returns flags that ask for functions with a default stream per thread, if the program gave none.
fn per_thread_functions(flags: c_ulonglong) -> c_ulonglong {
    const PER_THREAD_DEFAULT_STREAM: c_ulonglong = 2;
    if flags == 0 { PER_THREAD_DEFAULT_STREAM } else { flags }
}

api! {
    /// Gets a kernel's attributes.
    fn cudaFuncGetAttributes(into: *mut FunctionAttributes, stub: *const c_void) {
        put(into, attributes(of(stub)?)?)
    }

    /// Sets one of a kernel's attributes.
    fn cudaFuncSetAttribute(stub: *const c_void, attribute: c_int, value: c_int) {
        driver::cuFuncSetAttribute(of(stub)?, attribute, value)
    }

    /// Sets a kernel's preferred cache configuration.
    fn cudaFuncSetCacheConfig(stub: *const c_void, config: c_int) {
        driver::cuFuncSetCacheConfig(of(stub)?, config)
    }

    /// Sets a kernel's preferred width of shared memory's banks. No device since Maxwell has a
    /// choice.
    fn cudaFuncSetSharedMemConfig(stub: *const c_void, _config: c_int) {
        of(stub).map(|_| ())
    }

    /// Gets a kernel's name.
    #[cfg(not(runtime = "11"))]
    fn cudaFuncGetName(name: *mut *const c_char, stub: *const c_void) {
        driver::cuFuncGetName(name, of(stub)?)
    }

    /// Gets the number of a kernel's parameters.
    #[cfg(runtime = "13")]
    fn cudaFuncGetParamCount(stub: *const c_void, count: *mut usize) {
        driver::cuFuncGetParamCount(of(stub)?, count)
    }

    /// Gets the offset and size of a kernel's parameter.
    #[cfg(not(runtime = "11"))]
    fn cudaFuncGetParamInfo(stub: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        driver::cuFuncGetParamInfo(of(stub)?, index, offset, size)
    }

    /// Gets the driver's function for a kernel.
    fn cudaGetFuncBySymbol(function: *mut Handle, stub: *const c_void) {
        put(function, of(stub)?)
    }

    /// Gets the driver's kernel for a stub.
    #[cfg(not(runtime = "11"))]
    fn cudaGetKernel(into: *mut Handle, stub: *const c_void) {
        put(into, kernel(stub)?)
    }

    /// Gets the dynamic shared memory that is left for each of `blocks` blocks.
    fn cudaOccupancyAvailableDynamicSMemPerBlock(shared: *mut usize, stub: *const c_void, blocks: c_int, block: c_int) {
        driver::cuOccupancyAvailableDynamicSMemPerBlock(shared, of(stub)?, blocks, block)
    }

    /// Gets the number of clusters that a device can hold.
    fn cudaOccupancyMaxActiveClusters(count: *mut c_int, stub: *const c_void, config: *const RuntimeLaunchConfig) {
        let config = get(config)?;
        driver::cuOccupancyMaxActiveClusters(count, of(stub)?, &driver_config(config, config.stream)?)
    }

    /// Gets the size of the largest cluster that a device can hold.
    fn cudaOccupancyMaxPotentialClusterSize(size: *mut c_int, stub: *const c_void, config: *const RuntimeLaunchConfig) {
        let config = get(config)?;
        driver::cuOccupancyMaxPotentialClusterSize(size, of(stub)?, &driver_config(config, config.stream)?)
    }

    /// Gets one of the driver's functions, of this runtime's version.
    fn cudaGetDriverEntryPoint(name: *const c_char, function: *mut *mut c_void, flags: c_ulonglong, ending: *mut c_int) {
        entry_point(name, function, VERSION, flags, ending)
    }

    /// Gets one of the driver's functions of this version, for a default stream per thread.
    fn cudaGetDriverEntryPoint_ptsz(name: *const c_char, function: *mut *mut c_void, flags: c_ulonglong, ending: *mut c_int) {
        entry_point(name, function, VERSION, per_thread_functions(flags), ending)
    }

    /// Gets one of the driver's functions of a given version.
    #[cfg(not(runtime = "11"))]
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char, function: *mut *mut c_void, version: c_uint, flags: c_ulonglong, ending: *mut c_int,
    ) {
        entry_point(name, function, version as c_int, flags, ending)
    }

    /// Gets one of the driver's functions of a given version, for a default stream per thread.
    #[cfg(not(runtime = "11"))]
    fn cudaGetDriverEntryPointByVersion_ptsz(
        name: *const c_char, function: *mut *mut c_void, version: c_uint, flags: c_ulonglong, ending: *mut c_int,
    ) {
        entry_point(name, function, version as c_int, per_thread_functions(flags), ending)
    }

    /// Gets an undocumented table. This library has none.
    fn cudaGetExportTable(table: *mut *const c_void, _id: *const Uuid) {
        put(table, std::ptr::null())?;
        Err(NOT_FOUND)
    }
}

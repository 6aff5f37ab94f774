//! Devices, and versions of the driver and this library.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::api::{api, get, put};
use crate::context::{self, choose, current_device, device, enter, init};
use crate::driver;
use crate::error::{INVALID_VALUE, NO_DEVICE, Result};
use crate::properties::{Properties, VERSION, properties};
use crate::types::Uuid;

fn attribute(number: c_int, device: c_int) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: the output is this function's
    unsafe { driver::cuDeviceGetAttribute(&mut value, number, device)? };
    Ok(value)
}

/// Returns the device whose properties fit `wanted` best: compute capability counts first, then
/// memory.
fn best(wanted: &Properties) -> Result<c_int> {
    let mut found = (0, (false, false));
    for candidate in 0..init()? {
        let has = properties(candidate)?;
        let fit = (
            (has.major, has.minor) >= (wanted.major, wanted.minor),
            has.totalGlobalMem >= wanted.totalGlobalMem,
        );
        if fit > found.1 {
            found = (candidate, fit);
        }
    }
    Ok(found.0)
}

api! {
    /// Gets the number of devices.
    fn cudaGetDeviceCount(count: *mut c_int) {
        match init() {
            Ok(devices) => put(count, devices),
            Err(code) => {
                if code == NO_DEVICE {
                    put(count, 0)?;
                }
                Err(code)
            }
        }
    }

    /// Chooses the device that the thread works with.
    fn cudaSetDevice(number: c_int) {
        choose(number)
    }

    /// Makes a device's context, but not as the thread's current context.
    #[cfg(not(runtime = "11"))]
    fn cudaInitDevice(number: c_int, _device_flags: c_uint, _flags: c_uint) {
        context::primary(number).map(|_| ())
    }

    /// Gets the device that the thread works with.
    fn cudaGetDevice(number: *mut c_int) {
        put(number, current_device()?)
    }

    /// Checks that the listed devices exist. Programs may choose any device.
    fn cudaSetValidDevices(devices: *mut c_int, count: c_int) {
        for at in 0..usize::try_from(count).map_err(|_| INVALID_VALUE)? {
            device(*get(devices.wrapping_add(at))?)?;
        }
        Ok(())
    }

    /// Gets the device that fits the wanted properties best.
    fn cudaChooseDevice(number: *mut c_int, wanted: *const Properties) {
        put(number, best(get(wanted)?)?)
    }

    /// Gets one of a device's attributes. Attributes have the driver's numbers.
    fn cudaDeviceGetAttribute(value: *mut c_int, number: c_int, of: c_int) {
        put(value, attribute(number, device(of)?)?)
    }

    /// Gets an attribute of the link between two devices.
    fn cudaDeviceGetP2PAttribute(value: *mut c_int, number: c_int, from: c_int, to: c_int) {
        driver::cuDeviceGetP2PAttribute(value, number, device(from)?, device(to)?)
    }

    /// Gets whether a device can access another device's memory.
    fn cudaDeviceCanAccessPeer(can: *mut c_int, of: c_int, peer: c_int) {
        driver::cuDeviceCanAccessPeer(can, device(of)?, device(peer)?)
    }

    /// Gets a device's address on the bus, as text.
    fn cudaDeviceGetPCIBusId(id: *mut c_char, len: c_int, of: c_int) {
        driver::cuDeviceGetPCIBusId(id, len, device(of)?)
    }

    /// Gets the device at an address on the bus.
    fn cudaDeviceGetByPCIBusId(number: *mut c_int, id: *const c_char) {
        init()?;
        driver::cuDeviceGetByPCIBusId(number, id)
    }

    /// Waits for all work of the device.
    fn cudaDeviceSynchronize() {
        enter()?;
        driver::cuCtxSynchronize()
    }

    /// Waits for all work of the device: the old name of [`cudaDeviceSynchronize`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadSynchronize() {
        enter()?;
        driver::cuCtxSynchronize()
    }

    /// Destroys the content of the device's context.
    fn cudaDeviceReset() {
        context::reset()
    }

    /// Destroys the content of the device's context: the old name of [`cudaDeviceReset`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadExit() {
        context::reset()
    }

    /// Gets one of a context's limits. Limits have the driver's numbers.
    fn cudaDeviceGetLimit(value: *mut usize, limit: c_int) {
        enter()?;
        driver::cuCtxGetLimit(value, limit)
    }

    /// Sets one of a context's limits.
    fn cudaDeviceSetLimit(limit: c_int, value: usize) {
        enter()?;
        driver::cuCtxSetLimit(limit, value)
    }

    /// Gets one of a context's limits: the old name of [`cudaDeviceGetLimit`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadGetLimit(value: *mut usize, limit: c_int) {
        enter()?;
        driver::cuCtxGetLimit(value, limit)
    }

    /// Sets one of a context's limits: the old name of [`cudaDeviceSetLimit`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadSetLimit(limit: c_int, value: usize) {
        enter()?;
        driver::cuCtxSetLimit(limit, value)
    }

    /// Gets the preferred cache configuration.
    fn cudaDeviceGetCacheConfig(config: *mut c_int) {
        enter()?;
        driver::cuCtxGetCacheConfig(config)
    }

    /// Sets the preferred cache configuration.
    fn cudaDeviceSetCacheConfig(config: c_int) {
        enter()?;
        driver::cuCtxSetCacheConfig(config)
    }

    /// Gets the preferred cache configuration: the old name of [`cudaDeviceGetCacheConfig`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadGetCacheConfig(config: *mut c_int) {
        enter()?;
        driver::cuCtxGetCacheConfig(config)
    }

    /// Sets the preferred cache configuration: the old name of [`cudaDeviceSetCacheConfig`].
    #[cfg(not(runtime = "13"))]
    fn cudaThreadSetCacheConfig(config: c_int) {
        enter()?;
        driver::cuCtxSetCacheConfig(config)
    }

    /// Makes the writes of other devices visible.
    fn cudaDeviceFlushGPUDirectRDMAWrites(target: c_int, scope: c_int) {
        enter()?;
        driver::cuFlushGPUDirectRDMAWrites(target, scope)
    }

    /// Gets the atomic operations that a device can do in the host's memory.
    #[cfg(runtime = "13")]
    fn cudaDeviceGetHostAtomicCapabilities(capabilities: *mut c_uint, operations: *const c_int, count: c_uint, of: c_int) {
        driver::cuDeviceGetHostAtomicCapabilities(capabilities, operations, count, device(of)?)
    }

    /// Gets the width of shared memory's banks: 4 bytes, since Maxwell.
    fn cudaDeviceGetSharedMemConfig(config: *mut c_int) {
        const FOUR_BYTES: c_int = 1;
        put(config, FOUR_BYTES)
    }

    /// Ignores a preferred width of shared memory's banks. No device since Maxwell has a choice.
    fn cudaDeviceSetSharedMemConfig(_config: c_int) {
        Ok(())
    }

    /// Gets flags of the current device's context.
    fn cudaGetDeviceFlags(flags: *mut c_uint) {
        put(flags, context::flags()?)
    }

    /// Sets flags of the current device's context.
    fn cudaSetDeviceFlags(flags: c_uint) {
        context::set_flags(flags)
    }

    /// Gets the driver's version.
    fn cudaDriverGetVersion(version: *mut c_int) {
        let mut found = 0;
        // Without a driver the documented answer is 0.
        let _ = driver::cuDriverGetVersion(&mut found);
        put(version, found)
    }

    /// Gets this library's version.
    fn cudaRuntimeGetVersion(version: *mut c_int) {
        put(version, VERSION)
    }

    /// Gets the memory pool that `cudaMallocAsync` uses.
    fn cudaDeviceGetMemPool(pool: *mut *mut c_void, of: c_int) {
        driver::cuDeviceGetMemPool(pool, device(of)?)
    }

    /// Sets the memory pool that `cudaMallocAsync` uses.
    fn cudaDeviceSetMemPool(of: c_int, pool: *mut c_void) {
        driver::cuDeviceSetMemPool(device(of)?, pool)
    }

    /// Gets the default memory pool of a device.
    fn cudaDeviceGetDefaultMemPool(pool: *mut *mut c_void, of: c_int) {
        driver::cuDeviceGetDefaultMemPool(pool, device(of)?)
    }

    /// Gets a count of the memory that graphs use or reserve.
    fn cudaDeviceGetGraphMemAttribute(of: c_int, attribute: c_int, value: *mut c_void) {
        driver::cuDeviceGetGraphMemAttribute(device(of)?, attribute, value)
    }

    /// Resets a maximum of the memory that graphs have used or reserved.
    fn cudaDeviceSetGraphMemAttribute(of: c_int, attribute: c_int, value: *mut c_void) {
        driver::cuDeviceSetGraphMemAttribute(device(of)?, attribute, value)
    }

    /// Frees memory that graphs keep.
    fn cudaDeviceGraphMemTrim(of: c_int) {
        driver::cuDeviceGraphMemTrim(device(of)?)
    }
}

/// Returns the driver's identification of a device.
pub fn uuid(of: c_int) -> Result<Uuid> {
    let mut uuid = Uuid::default();
    // SAFETY: the output is this function's
    unsafe { driver::cuDeviceGetUuid(&mut uuid, of)? };
    Ok(uuid)
}

//! Memory of the device and of the host.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::api::{api, put, required};
use crate::context::enter;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
#[cfg(not(runtime = "11"))]
use crate::types::Location;
use crate::types::{DevicePointer, Extent, PitchedPointer, PointerAttributes, Stream};

/// `cudaInvalidDeviceId`, for memory that belongs to no device.
const NO_DEVICE_ID: c_int = -2;

/// Allocates memory and writes its address, which is null for 0 bytes.
///
/// # Safety
///
/// The pointer is null or valid for writes.
unsafe fn allocate(
    into: *mut *mut c_void,
    bytes: usize,
    by: impl FnOnce(*mut DevicePointer) -> Result<()>,
) -> Result<()> {
    enter()?;
    required(into)?;
    let mut pointer = 0;
    if bytes > 0 {
        by(&mut pointer)?;
    }
    // SAFETY: the caller's promise
    unsafe { put(into, pointer as *mut c_void) }
}

/// # Safety
///
/// The contract of [`allocate`].
unsafe fn allocate_host(into: *mut *mut c_void, bytes: usize, flags: c_uint) -> Result<()> {
    let mut host = null_mut();
    enter()?;
    required(into)?;
    if bytes > 0 {
        // SAFETY: the output is this function's
        unsafe { driver::cuMemHostAlloc(&mut host, bytes, flags)? };
    }
    // SAFETY: the caller's promise
    unsafe { put(into, host) }
}

/// Allocates rows of `width` bytes. Returns their address and pitch.
fn pitched(width: usize, height: usize) -> Result<(DevicePointer, usize)> {
    enter()?;
    let (mut pointer, mut pitch) = (0, 0);
    if width > 0 && height > 0 {
        // SAFETY: outputs are this function's
        unsafe { driver::cuMemAllocPitch_v2(&mut pointer, &mut pitch, width, height, 4)? };
    }
    Ok((pointer, pitch))
}

/// Returns the kind of memory at an address, its device, and its addresses on device and host.
fn attributes(of: *const c_void) -> Result<PointerAttributes> {
    const ASKED: [c_int; 5] = [2, 8, 9, 3, 4]; // memory type, is managed, device's number, device pointer, host pointer
    let (mut kind, mut managed, mut number) = (0u32, 0u32, 0i32);
    let (mut on_device, mut on_host): (DevicePointer, *mut c_void) = (0, null_mut());
    let mut results: [*mut c_void; 5] = [
        (&raw mut kind).cast(),
        (&raw mut managed).cast(),
        (&raw mut number).cast(),
        (&raw mut on_device).cast(),
        (&raw mut on_host).cast(),
    ];
    enter()?;
    // SAFETY: each result has the type that its attribute is documented to have
    unsafe {
        driver::cuPointerGetAttributes(
            5,
            ASKED.as_ptr(),
            results.as_mut_ptr(),
            of as DevicePointer,
        )?
    };
    let kind = match (kind, managed) {
        (_, 1..) => 3,
        (1, _) => 1,
        (2, _) => 2,
        _ => 0,
    };
    Ok(PointerAttributes {
        kind,
        device: if kind == 0 { NO_DEVICE_ID } else { number },
        device_pointer: on_device as *mut c_void,
        host_pointer: if kind == 0 { of.cast_mut() } else { on_host },
        #[cfg(runtime = "13")]
        reserved: [0; 8],
    })
}

api! {
    /// Allocates memory of the device.
    fn cudaMalloc(pointer: *mut *mut c_void, bytes: usize) {
        allocate(pointer, bytes, |into| driver::cuMemAlloc_v2(into, bytes))
    }

    /// Allocates memory that host and device use at one address.
    fn cudaMallocManaged(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        allocate(pointer, bytes, |into| driver::cuMemAllocManaged(into, bytes, flags))
    }

    /// Allocates memory of the device in rows, each at a multiple of the pitch.
    fn cudaMallocPitch(pointer: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        required(pitch)?;
        required(pointer)?;
        let (address, step) = pitched(width, height)?;
        put(pitch, step)?;
        put(pointer, address as *mut c_void)
    }

    /// Allocates memory of the device in slices of rows.
    fn cudaMalloc3D(pointer: *mut PitchedPointer, extent: Extent) {
        required(pointer)?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(INVALID_VALUE)?;
        let (address, pitch) = pitched(extent.width, rows)?;
        put(pointer, PitchedPointer { pointer: address as *mut c_void, pitch, width: extent.width, height: extent.height })
    }

    /// Frees memory of the device. A null pointer frees nothing, but still makes the context.
    fn cudaFree(pointer: *mut c_void) {
        enter()?;
        if pointer.is_null() { Ok(()) } else { driver::cuMemFree_v2(pointer as DevicePointer) }
    }

    /// Allocates pinned memory of the host.
    fn cudaMallocHost(pointer: *mut *mut c_void, bytes: usize) {
        allocate_host(pointer, bytes, 0)
    }

    /// Allocates pinned memory of the host, with flags.
    fn cudaHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        allocate_host(pointer, bytes, flags)
    }

    /// Frees pinned memory.
    fn cudaFreeHost(pointer: *mut c_void) {
        enter()?;
        if pointer.is_null() { Ok(()) } else { driver::cuMemFreeHost(pointer) }
    }

    /// Gets the device's address of pinned memory.
    fn cudaHostGetDevicePointer(on_device: *mut *mut c_void, host: *mut c_void, flags: c_uint) {
        enter()?;
        let mut address = 0;
        driver::cuMemHostGetDevicePointer_v2(&mut address, host, flags)?;
        put(on_device, address as *mut c_void)
    }

    /// Gets the flags of pinned memory.
    fn cudaHostGetFlags(flags: *mut c_uint, host: *mut c_void) {
        enter()?;
        driver::cuMemHostGetFlags(flags, host)
    }

    /// Pins the program's own memory.
    fn cudaHostRegister(host: *mut c_void, bytes: usize, flags: c_uint) {
        enter()?;
        driver::cuMemHostRegister_v2(host, bytes, flags)
    }

    /// Unpins the program's own memory.
    fn cudaHostUnregister(host: *mut c_void) {
        enter()?;
        driver::cuMemHostUnregister(host)
    }

    /// Gets the free and the total bytes of the device.
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        enter()?;
        driver::cuMemGetInfo_v2(free, total)
    }

    /// Gets the kind of memory at an address.
    fn cudaPointerGetAttributes(into: *mut PointerAttributes, pointer: *const c_void) {
        put(into, attributes(pointer)?)
    }

    /// Gets one of a managed range's attributes.
    fn cudaMemRangeGetAttribute(data: *mut c_void, size: usize, attribute: c_int, pointer: *const c_void, bytes: usize) {
        enter()?;
        driver::cuMemRangeGetAttribute(data, size, attribute, pointer as DevicePointer, bytes)
    }

    /// Gets several of a managed range's attributes.
    fn cudaMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_int, count: usize, pointer: *const c_void, bytes: usize,
    ) {
        enter()?;
        driver::cuMemRangeGetAttributes(data, sizes, attributes, count, pointer as DevicePointer, bytes)
    }

    /// Frees the persisting part of the device's L2 cache.
    fn cudaCtxResetPersistingL2Cache() {
        enter()?;
        driver::cuCtxResetPersistingL2Cache()
    }
}

#[cfg(not(runtime = "13"))]
api! {
    /// Advises how a managed range will be used.
    fn cudaMemAdvise(pointer: *const c_void, bytes: usize, advice: c_int, device: c_int) {
        enter()?;
        driver::cuMemAdvise(pointer as DevicePointer, bytes, advice, device)
    }

    /// Moves a managed range.
    fn cudaMemPrefetchAsync(pointer: *const c_void, bytes: usize, device: c_int, stream: Stream) / ptsz(stream) {
        enter()?;
        driver::cuMemPrefetchAsync(pointer as DevicePointer, bytes, device, stream)
    }
}

/// Defines functions with locations of memory. Their names differ between CUDA 12 and CUDA 13.
#[cfg(not(runtime = "11"))]
macro_rules! with_places {
    ($advise:ident $prefetch:ident) => {
        api! {
            /// Advises how a managed range will be used.
            fn $advise(pointer: *const c_void, bytes: usize, advice: c_int, location: Location) {
                enter()?;
                driver::cuMemAdvise_v2(pointer as DevicePointer, bytes, advice, location)
            }

            /// Moves a managed range.
            fn $prefetch(
                pointer: *const c_void, bytes: usize, location: Location, flags: c_uint, stream: Stream,
            ) / ptsz(stream) {
                enter()?;
                driver::cuMemPrefetchAsync_v2(pointer as DevicePointer, bytes, location, flags, stream)
            }
        }
    };
}

#[cfg(runtime = "12")]
with_places! { cudaMemAdvise_v2 cudaMemPrefetchAsync_v2 }
#[cfg(runtime = "13")]
with_places! { cudaMemAdvise cudaMemPrefetchAsync }

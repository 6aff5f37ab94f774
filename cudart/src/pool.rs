//! Memory that is allocated and freed in stream order, and its pools.

use std::ffi::{c_int, c_void};

use crate::api::{api, put, required};
use crate::context::enter;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::types::{DevicePointer, Handle, Stream};

/// # Safety
///
/// The pointer is null or valid for a write; the pool is the driver's, or null for the current one.
unsafe fn allocate(
    into: *mut *mut c_void,
    bytes: usize,
    pool: Handle,
    stream: Stream,
) -> Result<()> {
    enter()?;
    required(into)?;
    let mut pointer: DevicePointer = 0;
    // SAFETY: the output is this function's; the rest is the caller's promise
    unsafe {
        match (bytes, pool.is_null()) {
            (0, _) => {}
            (_, true) => driver::cuMemAllocAsync(&mut pointer, bytes, stream)?,
            (_, false) => driver::cuMemAllocFromPoolAsync(&mut pointer, bytes, pool, stream)?,
        }
        put(into, pointer as *mut c_void)
    }
}

/// # Safety
///
/// The pool is the driver's.
unsafe fn allocate_from(
    into: *mut *mut c_void,
    bytes: usize,
    pool: Handle,
    stream: Stream,
) -> Result<()> {
    if pool.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's promise
    unsafe { allocate(into, bytes, pool, stream) }
}

fn free(pointer: *mut c_void, stream: Stream) -> Result<()> {
    enter()?;
    if pointer.is_null() {
        return Ok(());
    }
    // SAFETY: the driver checks the address
    unsafe { driver::cuMemFreeAsync(pointer as DevicePointer, stream) }
}

api! {
    /// Allocates memory in stream order.
    fn cudaMallocAsync(pointer: *mut *mut c_void, bytes: usize, stream: Stream) / ptsz(stream) {
        allocate(pointer, bytes, std::ptr::null_mut(), stream)
    }

    /// Allocates memory of a pool in stream order.
    fn cudaMallocFromPoolAsync(pointer: *mut *mut c_void, bytes: usize, pool: Handle, stream: Stream) / ptsz(stream) {
        allocate_from(pointer, bytes, pool, stream)
    }

    /// Frees memory in stream order.
    fn cudaFreeAsync(pointer: *mut c_void, stream: Stream) / ptsz(stream) {
        free(pointer, stream)
    }

    /// Makes a pool. The properties have the layout of the driver's structure.
    fn cudaMemPoolCreate(pool: *mut Handle, properties: *const c_void) {
        enter()?;
        driver::cuMemPoolCreate(pool, properties)
    }

    /// Destroys a pool.
    fn cudaMemPoolDestroy(pool: Handle) {
        driver::cuMemPoolDestroy(pool)
    }

    /// Gets one of a pool's attributes. Attributes have the driver's numbers.
    fn cudaMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) {
        driver::cuMemPoolGetAttribute(pool, attribute, value)
    }

    /// Sets one of a pool's attributes.
    fn cudaMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) {
        driver::cuMemPoolSetAttribute(pool, attribute, value)
    }

    /// Sets which devices may use a pool's memory.
    fn cudaMemPoolSetAccess(pool: Handle, access: *const c_void, count: usize) {
        driver::cuMemPoolSetAccess(pool, access, count)
    }

    /// Gets how a device may use a pool's memory.
    fn cudaMemPoolGetAccess(flags: *mut c_int, pool: Handle, location: *const c_void) {
        driver::cuMemPoolGetAccess(flags, pool, location)
    }

    /// Releases memory that a pool keeps, except for `keep` bytes.
    fn cudaMemPoolTrimTo(pool: Handle, keep: usize) {
        driver::cuMemPoolTrimTo(pool, keep)
    }
}

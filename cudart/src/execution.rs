//! Execution contexts of CUDA 13. This library has only devices' primary contexts, no contexts of a
//! part of a device.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::ptr::null_mut;

use crate::api::{api, put, required};
use crate::context::primary;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::types::{Handle, Stream};

/// Returns the context, or an error if it is null. The runtime knows no default context.
fn given(context: Handle) -> Result<Handle> {
    if context.is_null() { Err(INVALID_VALUE) } else { Ok(context) }
}

/// # Safety
///
/// The contract of `cudaExecutionCtxStreamCreate`.
unsafe fn create(
    stream: *mut Stream,
    context: Handle,
    flags: c_uint,
    priority: c_int,
) -> Result<()> {
    let mut before = null_mut();
    // SAFETY: the output is this function's; the rest is the caller's promise
    unsafe {
        driver::cuCtxGetCurrent(&mut before)?;
        driver::cuCtxSetCurrent(given(context)?)?;
        let made = driver::cuStreamCreateWithPriority(stream, flags, priority);
        driver::cuCtxSetCurrent(before)?;
        made
    }
}

api! {
    /// Gets a device's primary context.
    fn cudaDeviceGetExecutionCtx(context: *mut Handle, device: c_int) {
        put(context, primary(device)?)
    }

    /// Gets the device of a context.
    fn cudaExecutionCtxGetDevice(device: *mut c_int, context: Handle) {
        driver::cuCtxGetDevice_v2(device, given(context)?)
    }

    /// Gets a number that no other context has.
    fn cudaExecutionCtxGetId(context: Handle, id: *mut c_ulonglong) {
        driver::cuCtxGetId(given(context)?, id)
    }

    /// Makes a stream of a context.
    fn cudaExecutionCtxStreamCreate(stream: *mut Stream, context: Handle, flags: c_uint, priority: c_int) {
        required(stream)?;
        create(stream, context, flags, priority)
    }

    /// Waits for all work of a context.
    fn cudaExecutionCtxSynchronize(context: Handle) {
        driver::cuCtxSynchronize_v2(given(context)?)
    }

    /// Records the current work of all streams of a context in an event.
    fn cudaExecutionCtxRecordEvent(context: Handle, event: Handle) {
        driver::cuCtxRecordEvent(given(context)?, event)
    }

    /// Makes all streams of a context wait for an event.
    fn cudaExecutionCtxWaitEvent(context: Handle, event: Handle) {
        driver::cuCtxWaitEvent(given(context)?, event)
    }
}

//! Execution contexts of CUDA 13: the primary contexts of devices. Contexts of a part of a device
//! are not made here.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::ptr::null_mut;

use crate::api::{api, put, required};
use crate::context::primary;
use crate::driver;
use crate::error::{INVALID_VALUE, Result};
use crate::types::{Handle, Stream};

/// The runtime knows no context without a handle.
fn given(context: Handle) -> Result<Handle> {
    if context.is_null() { Err(INVALID_VALUE) } else { Ok(context) }
}

/// # Safety
///
/// As of `cudaExecutionCtxStreamCreate`.
unsafe fn create(
    stream: *mut Stream,
    context: Handle,
    flags: c_uint,
    priority: c_int,
) -> Result<()> {
    let mut before = null_mut();
    // SAFETY: an output that is this function's, and the caller's promise
    unsafe {
        driver::cuCtxGetCurrent(&mut before)?;
        driver::cuCtxSetCurrent(given(context)?)?;
        let made = driver::cuStreamCreateWithPriority(stream, flags, priority);
        driver::cuCtxSetCurrent(before)?;
        made
    }
}

api! {
    /// A device's primary context.
    fn cudaDeviceGetExecutionCtx(context: *mut Handle, device: c_int) {
        put(context, primary(device)?)
    }

    /// The device of a context.
    fn cudaExecutionCtxGetDevice(device: *mut c_int, context: Handle) {
        driver::cuCtxGetDevice_v2(device, given(context)?)
    }

    /// A number that no other context has.
    fn cudaExecutionCtxGetId(context: Handle, id: *mut c_ulonglong) {
        driver::cuCtxGetId(given(context)?, id)
    }

    /// A new stream of a context.
    fn cudaExecutionCtxStreamCreate(stream: *mut Stream, context: Handle, flags: c_uint, priority: c_int) {
        required(stream)?;
        create(stream, context, flags, priority)
    }

    /// Waits for all that was asked of a context.
    fn cudaExecutionCtxSynchronize(context: Handle) {
        driver::cuCtxSynchronize_v2(given(context)?)
    }

    /// Records what all streams of a context have to do now.
    fn cudaExecutionCtxRecordEvent(context: Handle, event: Handle) {
        driver::cuCtxRecordEvent(given(context)?, event)
    }

    /// Lets all streams of a context wait for an event.
    fn cudaExecutionCtxWaitEvent(context: Handle, event: Handle) {
        driver::cuCtxWaitEvent(given(context)?, event)
    }
}

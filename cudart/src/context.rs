//! The device and the context of a thread. The runtime makes no contexts of its own: it retains
//! each device's primary context.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::driver;
use crate::error::{INSUFFICIENT_DRIVER, INVALID_DEVICE, NO_DEVICE, Result};
use crate::properties::VERSION;
use crate::types::Handle;

thread_local! {
    /// The device that the thread chose by `cudaSetDevice`.
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

/// Initialises the driver. Returns the number of devices, which is at least 1.
pub fn init() -> Result<c_int> {
    static COUNT: OnceLock<Result<c_int>> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let (mut version, mut count) = (0, 0);
        // SAFETY: the outputs are this function's
        unsafe {
            driver::cuDriverGetVersion(&mut version)?;
            if version / 1000 < VERSION / 1000 {
                return Err(INSUFFICIENT_DRIVER);
            }
            driver::cuInit(0)?;
            driver::cuDeviceGetCount(&mut count)?;
        }
        if count == 0 { Err(NO_DEVICE) } else { Ok(count) }
    })
}

/// Returns the device's number, or an error if there is no such device.
pub fn device(device: c_int) -> Result<c_int> {
    if (0..init()?).contains(&device) { Ok(device) } else { Err(INVALID_DEVICE) }
}

/// Returns the device's primary context. The first call retains it, for good.
pub fn primary(of: c_int) -> Result<Handle> {
    static RETAINED: Mutex<Vec<(c_int, usize)>> = Mutex::new(Vec::new());
    let of = device(of)?;
    let mut retained = RETAINED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, context)) = retained.iter().find(|(device, _)| *device == of) {
        return Ok(*context as Handle);
    }
    let mut context = null_mut();
    // SAFETY: the output is this function's
    unsafe { driver::cuDevicePrimaryCtxRetain(&mut context, of)? };
    retained.push((of, context as usize));
    Ok(context)
}

/// Ensures that the thread has a current context. A context that a program has set through the
/// driver stays; else the primary context becomes current.
pub fn enter() -> Result<()> {
    init()?;
    let mut context = null_mut();
    // SAFETY: the output is this function's; the primary context lives on
    unsafe {
        driver::cuCtxGetCurrent(&mut context)?;
        if context.is_null() {
            driver::cuCtxSetCurrent(primary(chosen())?)?;
        }
    }
    Ok(())
}

fn chosen() -> c_int {
    DEVICE.try_with(Cell::get).unwrap_or(0)
}

/// Returns the device that the thread works with.
pub fn current_device() -> Result<c_int> {
    init()?;
    let (mut context, mut device) = (null_mut(), chosen());
    // SAFETY: the outputs are this function's
    unsafe {
        driver::cuCtxGetCurrent(&mut context)?;
        if !context.is_null() {
            driver::cuCtxGetDevice(&mut device)?;
        }
    }
    Ok(device)
}

/// Makes the device's primary context the thread's current context.
pub fn choose(of: c_int) -> Result<()> {
    let context = primary(of)?;
    // SAFETY: the primary context lives on
    unsafe { driver::cuCtxSetCurrent(context)? };
    let _ = DEVICE.try_with(|device| device.set(of));
    Ok(())
}

/// Destroys the content of the current device's primary context. The next use makes the context
/// again.
pub fn reset() -> Result<()> {
    let device = current_device()?;
    // SAFETY: the device is the driver's
    unsafe { driver::cuDevicePrimaryCtxReset_v2(device) }
}

/// Sets the flags with which the current device's primary context is made.
pub fn set_flags(flags: c_uint) -> Result<()> {
    let device = current_device()?;
    // SAFETY: the device is the driver's
    unsafe { driver::cuDevicePrimaryCtxSetFlags_v2(device, flags) }
}

/// Returns the flags of the current device's primary context.
pub fn flags() -> Result<c_uint> {
    let device = current_device()?;
    let (mut flags, mut active) = (0, 0);
    // SAFETY: the outputs are this function's
    unsafe { driver::cuDevicePrimaryCtxGetState(device, &mut flags, &mut active)? };
    Ok(flags)
}

//! `libnvidia-ml.so.1`, as far as CUDA programs need it to start: the number of devices, their
//! names, their memory, and how busy they are. It asks the CUDA driver library. The library does
//! not export functions that it does not provide: programs test for them.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod driver;

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::panic::catch_unwind;

/// `nvmlReturn_t`
type Code = c_int;
const INVALID_ARGUMENT: Code = 2;
const NOT_FOUND: Code = 6;
const INSUFFICIENT_SIZE: Code = 7;
const DRIVER_NOT_LOADED: Code = 9;
const UNKNOWN: Code = 999;

/// `nvmlDevice_t`: the device's number plus 1, since null is no device.
type Device = *mut c_void;

/// `nvmlMemory_t`
#[repr(C)]
pub struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlMemory_v2_t`
#[repr(C)]
pub struct MemoryV2 {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlUtilization_t`, in percent.
#[repr(C)]
pub struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

fn count() -> Result<c_int, Code> {
    driver::device_count().ok_or(DRIVER_NOT_LOADED)
}

fn number(device: Device) -> Result<c_int, Code> {
    let number = c_int::try_from(device as usize).ok().and_then(|n| n.checked_sub(1));
    number.filter(|n| (0..count().unwrap_or(0)).contains(n)).ok_or(INVALID_ARGUMENT)
}

fn memory(device: Device) -> Result<Memory, Code> {
    let (free, total) = driver::memory(number(device)?).ok_or(UNKNOWN)?;
    Ok(Memory { total, free, used: total - free.min(total) })
}

/// # Safety
///
/// The pointer is null or valid for a write.
unsafe fn put<T>(into: *mut T, value: T) -> Result<(), Code> {
    if into.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: the pointer is not null, and the caller promises the rest
    unsafe { into.write(value) };
    Ok(())
}

/// # Safety
///
/// The pointer is null or valid for writes of `room` bytes.
unsafe fn put_text(into: *mut c_char, room: c_uint, text: &str) -> Result<(), Code> {
    if into.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if text.len() >= room as usize {
        return Err(INSUFFICIENT_SIZE);
    }
    // SAFETY: there is room for the text and its end
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), into.cast(), text.len());
        into.add(text.len()).write(0);
    }
    Ok(())
}

/// Defines entry points. Some have several names.
macro_rules! api {
    ($($(#[$doc:meta])* fn [$($name:ident)+] $args:tt $body:block)*) => {$(
        api! { @names [$(#[$doc])*] [$($name)+] $args $body }
    )*};
    (@names $docs:tt [$name:ident $($more:ident)*] $args:tt $body:block) => {
        api! { @one $docs $name $args $body }
        api! { @names $docs [$($more)*] $args $body }
    };
    (@names $docs:tt [] $args:tt $body:block) => {};
    (@one [$(#[$doc:meta])*] $name:ident ($($arg:ident: $t:ty),*) $body:block) => {
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Pointers are null, or valid for the reads and writes through them.
        #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t),*) -> Code {
            // SAFETY: the caller keeps the contract of the C function: pointers are null, which is
            // tested, or valid for the reads and writes through them.
            let body = || -> Result<(), Code> { unsafe { $body } };
            catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(Err(UNKNOWN)).err().unwrap_or(0)
        }
    };
}

api! {
    /// Initialises the library. Fails without a driver.
    fn [nvmlInit nvmlInit_v2] () {
        count().map(|_| ())
    }

    /// Initialises the library. Fails without a driver.
    fn [nvmlInitWithFlags] (_flags: c_uint) {
        count().map(|_| ())
    }

    /// Ends the use of the library. There is nothing to do.
    fn [nvmlShutdown] () {
        Ok(())
    }

    /// Gets the driver's version, as text. Programs read numbers from it: those of the first driver of
    /// NVIDIA's for CUDA 13.
    fn [nvmlSystemGetDriverVersion] (text: *mut c_char, room: c_uint) {
        put_text(text, room, "580.0.0")
    }

    /// Gets this library's version, as text.
    fn [nvmlSystemGetNVMLVersion] (text: *mut c_char, room: c_uint) {
        put_text(text, room, env!("CARGO_PKG_VERSION"))
    }

    /// Gets the version of CUDA that the driver has.
    fn [nvmlSystemGetCudaDriverVersion nvmlSystemGetCudaDriverVersion_v2] (version: *mut c_int) {
        put(version, driver::version().ok_or(DRIVER_NOT_LOADED)?)
    }

    /// Gets the number of devices.
    fn [nvmlDeviceGetCount nvmlDeviceGetCount_v2] (devices: *mut c_uint) {
        put(devices, count()? as c_uint)
    }

    /// Gets a device by its number.
    fn [nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2] (index: c_uint, device: *mut Device) {
        let handle = std::ptr::without_provenance_mut(index as usize + 1);
        number(handle)?;
        put(device, handle)
    }

    /// Gets a device by its identification.
    fn [nvmlDeviceGetHandleByUUID] (uuid: *const c_char, device: *mut Device) {
        if uuid.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        let wanted = CStr::from_ptr(uuid).to_bytes();
        let found = (0..count()?).find(|n| driver::uuid(*n).is_some_and(|text| text.as_bytes() == wanted));
        put(device, std::ptr::without_provenance_mut(found.ok_or(NOT_FOUND)? as usize + 1))
    }

    /// Gets a device's number.
    fn [nvmlDeviceGetIndex] (device: Device, index: *mut c_uint) {
        put(index, number(device)? as c_uint)
    }

    /// Gets a device's number again, since there are no device files with minor numbers.
    fn [nvmlDeviceGetMinorNumber] (device: Device, minor: *mut c_uint) {
        put(minor, number(device)? as c_uint)
    }

    /// Gets a device's name.
    fn [nvmlDeviceGetName] (device: Device, text: *mut c_char, room: c_uint) {
        put_text(text, room, &driver::name(number(device)?).ok_or(UNKNOWN)?)
    }

    /// Gets a device's identification, as text.
    fn [nvmlDeviceGetUUID] (device: Device, text: *mut c_char, room: c_uint) {
        put_text(text, room, &driver::uuid(number(device)?).ok_or(UNKNOWN)?)
    }

    /// Gets a device's compute capability.
    fn [nvmlDeviceGetCudaComputeCapability] (device: Device, major: *mut c_int, minor: *mut c_int) {
        let (high, low) = driver::compute_capability(number(device)?).ok_or(UNKNOWN)?;
        put(major, high)?;
        put(minor, low)
    }

    /// Gets a device's memory, as far as this process uses it.
    fn [nvmlDeviceGetMemoryInfo] (device: Device, into: *mut Memory) {
        put(into, memory(device)?)
    }

    /// Gets a device's memory, as far as this process uses it.
    fn [nvmlDeviceGetMemoryInfo_v2] (device: Device, into: *mut MemoryV2) {
        let Memory { total, free, used } = memory(device)?;
        let version = into.as_ref().ok_or(INVALID_ARGUMENT)?.version;
        put(into, MemoryV2 { version, total, reserved: 0, free, used })
    }

    /// Gets how busy a device is. Work runs when it is submitted, so the device is always idle
    /// here.
    fn [nvmlDeviceGetUtilizationRates] (device: Device, into: *mut Utilization) {
        number(device)?;
        put(into, Utilization { gpu: 0, memory: 0 })
    }
}

/// Returns a code's meaning in words.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(code: Code) -> *const c_char {
    let text = match code {
        0 => c"Success",
        1 => c"Uninitialized",
        INVALID_ARGUMENT => c"Invalid Argument",
        3 => c"Not Supported",
        NOT_FOUND => c"Not Found",
        INSUFFICIENT_SIZE => c"Insufficient Size",
        DRIVER_NOT_LOADED => c"Driver Not Loaded",
        _ => c"Unknown Error",
    };
    text.as_ptr()
}

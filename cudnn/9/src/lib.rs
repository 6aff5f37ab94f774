//! `libcudnn.so.9`: handles of cuDNN over warploom's CUDA driver library. Nothing is computed: every
//! function that would is refused by name.
//!
//! Programs such as JAX need a handle even where they do not call cuDNN. `refused` has the names of
//! functions that return "not supported".

#![allow(non_snake_case, reason = "the names are the C API's")]

mod refused;

use std::ffi::{CStr, c_char, c_int};

use warploom_cukit::handles::Handles;
use warploom_cukit::memory::{Out, Pointer};
use warploom_cukit::{Status, api, driver, require};

/// The version that the functions follow: 9.28.0.
const VERSION: usize = 92_800;
/// The version of CUDA's runtime for which it is made.
const RUNTIME: usize = 12_090;

/// Returns the `cudnnStatus_t` of an error.
fn code(status: Status) -> u32 {
    match status {
        Status::NotInitialized => 1001,
        Status::InvalidHandle | Status::InvalidValue | Status::InvalidSize => 2000,
        Status::NotSupported => 3000,
        Status::InternalError => 4000,
        Status::ExecutionFailed => 5000,
    }
}

fn name(status: u32) -> &'static CStr {
    match status {
        0 => c"CUDNN_STATUS_SUCCESS",
        1001 => c"CUDNN_STATUS_NOT_INITIALIZED",
        2000 => c"CUDNN_STATUS_BAD_PARAM",
        3000 => c"CUDNN_STATUS_NOT_SUPPORTED",
        4000 => c"CUDNN_STATUS_INTERNAL_ERROR",
        5000 => c"CUDNN_STATUS_EXECUTION_FAILED",
        _ => c"unknown error",
    }
}

/// The streams of handles.
static HANDLES: Handles<u64> = Handles::new();

/// Returns the version of cuDNN that these functions follow.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    VERSION
}

/// Returns the version of the newest GPU: none is too new.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMaxDeviceVersion() -> usize {
    1210
}

/// Returns the version of the runtime library for which this version of cuDNN is made.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    RUNTIME
}

/// Returns the name of a status.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(status: u32) -> *const c_char {
    name(status).as_ptr()
}

/// Writes the text of the last error: there is none.
///
/// # Safety
/// The pointer is null, or has room for so many bytes.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudnnGetLastErrorString(text: Pointer, room: usize) {
    if room > 0 {
        // A null pointer gets no text.
        let _ = text.put(&[0]);
    }
}

api! {
    fn cudnnCreate(out: Out<u64>) {
        driver::check()?;
        HANDLES.create(out, 0)
    }

    fn cudnnDestroy(handle: u64) {
        HANDLES.destroy(handle)
    }

    fn cudnnSetStream(handle: u64, stream: u64) {
        HANDLES.with(handle, |own| *own = stream)
    }

    fn cudnnGetStream(handle: u64, out: Out<u64>) {
        out.set(HANDLES.with(handle, |own| *own)?)
    }

    fn cudnnGetProperty(which: c_int, out: Out<c_int>) {
        require((0..3).contains(&which))?;
        let number = [VERSION / 10_000, VERSION / 100 % 100, VERSION % 100][which as usize];
        out.set(number as c_int)
    }

    /// The parts of the library have one version.
    fn cudnnAdvInferVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnAdvTrainVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnAdvVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnCnnInferVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnCnnTrainVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnCnnVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnGraphVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnOpsInferVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnOpsTrainVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnOpsVersionCheck() {
        Ok(())
    }

    /// The parts of the library have one version.
    fn cudnnSubquadraticOpsVersionCheck() {
        Ok(())
    }
}

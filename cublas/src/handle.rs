//! Handles: a stream, and the memory in which scalars are passed.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use warploom_cukit::memory::{Out, Place, Pointer, Real};
use warploom_cukit::{Answer, Status, api, driver, require};

use crate::scalar::Scalar;

/// The version of cuBLAS that these functions follow.
const VERSION: c_int = 120_900;

#[derive(Clone, Copy, Default)]
pub struct Handle {
    pub stream: u64,
    /// Scalars lie in device memory, not in host memory.
    pub on_device: bool,
    math_mode: c_int,
    atomics: c_int,
}

static HANDLES: LazyLock<Mutex<HashMap<u64, Handle>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(0x000b_1a50);

fn lock() -> MutexGuard<'static, HashMap<u64, Handle>> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn get(handle: u64) -> Answer<Handle> {
    lock().get(&handle).copied().ok_or(Status::InvalidHandle)
}

fn change(handle: u64, change: impl FnOnce(&mut Handle)) -> Answer {
    lock().get_mut(&handle).map(change).ok_or(Status::InvalidHandle)
}

impl Handle {
    /// Returns the place of a scalar argument.
    pub fn place(&self, pointer: Pointer, real: Real) -> Answer<Place> {
        Place::new(pointer, self.on_device, real, 1)
    }

    /// Returns a scalar argument.
    pub fn scalar(&self, pointer: Pointer, real: Real) -> Answer<Scalar> {
        Ok(Scalar::at(self.place(pointer, real)?, real))
    }
}

fn name(status: u32) -> &'static CStr {
    match status {
        0 => c"CUBLAS_STATUS_SUCCESS",
        1 => c"CUBLAS_STATUS_NOT_INITIALIZED",
        3 => c"CUBLAS_STATUS_ALLOC_FAILED",
        7 => c"CUBLAS_STATUS_INVALID_VALUE",
        8 => c"CUBLAS_STATUS_ARCH_MISMATCH",
        11 => c"CUBLAS_STATUS_MAPPING_ERROR",
        13 => c"CUBLAS_STATUS_EXECUTION_FAILED",
        14 => c"CUBLAS_STATUS_INTERNAL_ERROR",
        15 => c"CUBLAS_STATUS_NOT_SUPPORTED",
        16 => c"CUBLAS_STATUS_LICENSE_ERROR",
        _ => c"unknown error",
    }
}

/// Returns the name of a status.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusName(status: u32) -> *const c_char {
    name(status).as_ptr()
}

/// Returns the name of a status, which describes it well enough.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusString(status: u32) -> *const c_char {
    name(status).as_ptr()
}

/// Returns the version of the runtime library for which this version of cuBLAS is made.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetCudartVersion() -> usize {
    VERSION as usize / 10
}

api! {
    fn cublasCreate_v2(out: Out<u64>) {
        driver::check()?;
        let handle = NEXT.fetch_add(16, Relaxed);
        out.set(handle)?;
        lock().insert(handle, Handle::default());
        Ok(())
    }

    fn cublasDestroy_v2(handle: u64) {
        lock().remove(&handle).map(|_| ()).ok_or(Status::InvalidHandle)
    }

    /// The handle may be null.
    fn cublasGetVersion_v2(handle: u64, out: Out<c_int>) {
        if handle != 0 {
            get(handle)?;
        }
        out.set(VERSION)
    }

    fn cublasGetProperty(which: c_int, out: Out<c_int>) {
        require((0..3).contains(&which))?;
        out.set([VERSION / 10_000, VERSION / 100 % 100, VERSION % 100][which as usize])
    }

    fn cublasSetStream_v2(handle: u64, stream: u64) {
        change(handle, |handle| handle.stream = stream)
    }

    fn cublasGetStream_v2(handle: u64, out: Out<u64>) {
        out.set(get(handle)?.stream)
    }

    fn cublasSetPointerMode_v2(handle: u64, mode: c_int) {
        require((0..=1).contains(&mode))?;
        change(handle, |handle| handle.on_device = mode == 1)
    }

    fn cublasGetPointerMode_v2(handle: u64, out: Out<c_int>) {
        out.set(get(handle)?.on_device.into())
    }

    fn cublasSetMathMode(handle: u64, mode: c_int) {
        change(handle, |handle| handle.math_mode = mode)
    }

    fn cublasGetMathMode(handle: u64, out: Out<c_int>) {
        out.set(get(handle)?.math_mode)
    }

    fn cublasSetAtomicsMode(handle: u64, mode: c_int) {
        change(handle, |handle| handle.atomics = mode)
    }

    fn cublasGetAtomicsMode(handle: u64, out: Out<c_int>) {
        out.set(get(handle)?.atomics)
    }

    fn cublasSetWorkspace_v2(handle: u64, _workspace: Pointer, _bytes: usize) {
        get(handle).map(|_| ())
    }

    fn cublasSetSmCountTarget(handle: u64, _count: c_int) {
        get(handle).map(|_| ())
    }
}

//! `libcublasLt.so.12`: handles of cuBLASLt over warploom's CUDA driver library. Nothing is computed: every
//! function that would is refused by name.
//!
//! Programs such as JAX need a handle even where they multiply matrices by cuBLAS.

#![allow(non_snake_case, reason = "the names are the C API's")]

use std::ffi::c_int;

use warploom_cukit::handles::Handles;
use warploom_cukit::memory::Out;
use warploom_cukit::{Status, api, driver, refused, require};

/// The version that the functions follow: 12.9.0.
const VERSION: usize = 120_900;

/// Returns the `cublasStatus_t` of an error.
fn code(status: Status) -> u32 {
    status.of_cublas()
}

static HANDLES: Handles<()> = Handles::new();

/// Returns the version of cuBLASLt that these functions follow.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetVersion() -> usize {
    VERSION
}

/// Returns the version of the runtime library for which this version of cuBLASLt is made.
// SAFETY: as for the functions that `api` defines.
#[unsafe(no_mangle)]
pub extern "C" fn cublasLtGetCudartVersion() -> usize {
    VERSION / 10
}

api! {
    fn cublasLtCreate(out: Out<u64>) {
        driver::check()?;
        HANDLES.create(out, ())
    }

    fn cublasLtDestroy(handle: u64) {
        HANDLES.destroy(handle)
    }

    fn cublasLtGetProperty(which: c_int, out: Out<c_int>) {
        require((0..3).contains(&which))?;
        let number = [VERSION / 10_000, VERSION / 100 % 100, VERSION % 100][which as usize];
        out.set(number as c_int)
    }
}

refused! { "CUBLAS_STATUS_NOT_SUPPORTED":
    cublasLtHeuristicsCacheGetCapacity cublasLtHeuristicsCacheSetCapacity
    cublasLtLoggerForceDisable cublasLtLoggerOpenFile cublasLtLoggerSetCallback
    cublasLtLoggerSetFile cublasLtLoggerSetLevel cublasLtLoggerSetMask cublasLtMatmul
    cublasLtMatmulAlgoCapGetAttribute cublasLtMatmulAlgoCheck
    cublasLtMatmulAlgoConfigGetAttribute cublasLtMatmulAlgoConfigGetAttributeRange
    cublasLtMatmulAlgoConfigSetAttribute cublasLtMatmulAlgoGetHeuristic cublasLtMatmulAlgoGetIds
    cublasLtMatmulAlgoInit cublasLtMatmulDescCreate cublasLtMatmulDescDestroy
    cublasLtMatmulDescGetAttribute cublasLtMatmulDescInit_internal
    cublasLtMatmulDescSetAttribute cublasLtMatmulPreferenceCreate
    cublasLtMatmulPreferenceDestroy cublasLtMatmulPreferenceGetAttribute
    cublasLtMatmulPreferenceInit_internal cublasLtMatmulPreferenceSetAttribute
    cublasLtMatrixLayoutCreate cublasLtMatrixLayoutDestroy cublasLtMatrixLayoutGetAttribute
    cublasLtMatrixLayoutInit_internal cublasLtMatrixLayoutSetAttribute cublasLtMatrixTransform
    cublasLtMatrixTransformDescCreate cublasLtMatrixTransformDescDestroy
    cublasLtMatrixTransformDescGetAttribute cublasLtMatrixTransformDescInit_internal
    cublasLtMatrixTransformDescSetAttribute
}

//! `libcufft.so.11` and `.so.12`: cuFFT on the CPU, over warploom's CUDA driver library.
//!
//! Transforms of one to three axes, of f32 and f64, and of f16 and bf16, which are computed in f32.
//! Layouts are those of cuFFT: elements with a step, in a larger array (`embed`), in batches. Results
//! are not divided by the number of elements.
//!
//! `plan` has the handles and the layouts, `transform` the work, `refused` the names of functions that
//! return "not supported": several devices, callbacks of device code.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod plan;
mod refused;
mod transform;

use warploom_cukit::Status;

/// Returns the `cufftResult` of an error.
fn code(status: Status) -> u32 {
    match status {
        Status::InvalidHandle => 1,
        Status::InvalidValue => 4,
        Status::InternalError => 5,
        Status::ExecutionFailed => 6,
        Status::NotInitialized => 7,
        Status::InvalidSize => 8,
        Status::NotSupported => 16,
    }
}

//! `libcublas.so.12` and `.so.13`: the part of cuBLAS that programs need most, on the CPU, over
//! warploom's CUDA driver library.
//!
//! Modules: `handle` has the content of a handle, `scalar` scalar arguments, `matrix` and `vector` the
//! operations, `refused` the names of functions that return "not supported".
//!
//! Products of halves are computed in floats and rounded at the end. Matrices are column-major, as
//! in Fortran.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod handle;
mod matrix;
mod refused;
mod scalar;
mod vector;

use warploom_cukit::Status;

/// Returns the `cublasStatus_t` of an error.
fn code(status: Status) -> u32 {
    status.of_cublas()
}

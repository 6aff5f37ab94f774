//! `libcublas.so.12` and `.so.13`: the part of cuBLAS that programs need most, on the CPU, over
//! warploom's CUDA driver library.
//!
//! A host function of the driver (`warploomLaunchHostFunc`) computes a call's result in its
//! stream's order. It may access device memory, since a device address is the host's address there.
//!
//! Modules: `handle` has the content of a handle, `driver` the driver's functions, `memory` numbers
//! in device memory, `matrix` and `vector` the operations, `refused` the names of functions that
//! return "not supported".
//!
//! Products of halves are computed in floats and rounded at the end. Matrices are column-major, as
//! in Fortran.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod driver;
mod handle;
mod matrix;
mod memory;
mod refused;
mod vector;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The errors of `cublasStatus_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    NotInitialized = 1,
    InvalidValue = 7,
    ExecutionFailed = 13,
    InternalError = 14,
    NotSupported = 15,
}

type Answer<T = ()> = Result<T, Status>;

/// Runs the body of a call of the API. Panics do not unwind out of it.
fn call(body: impl FnOnce() -> Answer) -> u32 {
    let answer = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Status::InternalError));
    answer.err().map_or(0, |status| status as u32)
}

/// Defines functions of the API.
macro_rules! api {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        #[doc = concat!("`", stringify!($name), "`, as NVIDIA's documentation of cuBLAS has it.")]
        ///
        /// # Safety
        /// Pointers are null, or valid for the reads and writes that the documentation states.
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        // SAFETY: no other library of the process defines the name, or the other library is cuBLAS,
        // which this library replaces.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::call(|| $body)
        }
    )* };
}
use api;

fn require(condition: bool) -> Answer {
    if condition { Ok(()) } else { Err(Status::InvalidValue) }
}

//! `libcublas.so.12`: the part of cuBLAS that programs need most, on the CPU, over warploom's CUDA driver library.
//!
//! What a call computes is done in its stream's order by a host function of the driver (`cuLaunchHostFunc`), which may touch device
//! memory since a device address is the host's there. `handle` has what a handle keeps, `driver` the driver's functions, `memory`
//! numbers in device memory, `matrix` and `vector` the operations, `refused` the names that answer that they are not supported.
//!
//! Products of halves are those of floats, rounded at the end. Matrices lie in columns, as in Fortran.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod driver;
mod handle;
mod matrix;
mod memory;
mod refused;
mod vector;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// `cublasStatus_t`, of what did not succeed.
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

/// One call of the API: nothing unwinds out of it.
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
        /// Pointers are null, or valid for what the documentation says is read and written there.
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        // SAFETY: no other library of the process defines the name, or it is that of cuBLAS, in whose place this one is.
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

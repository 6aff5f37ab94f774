//! The common part of libraries that stand in for NVIDIA's and need warploom's CUDA driver library.
//!
//! A host function of the driver (`warploomLaunchHostFunc`) computes a call's result in its
//! stream's order. It may access device memory, which lies in the host (`warploomHostAddress`).
//!
//! `driver` has the driver's functions, `handles` the values of handles, `memory` numbers in device memory, `refused` the answers of
//! functions that are not provided. `library.rs` is the build script of the libraries.

pub mod driver;
pub mod handles;
pub mod memory;
pub mod refused;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The errors of calls. Each library has its own numbers for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The driver is not there, or is not warploom's.
    NotInitialized,
    InvalidHandle,
    InvalidValue,
    InvalidSize,
    ExecutionFailed,
    InternalError,
    NotSupported,
}

impl Status {
    /// Returns the `cublasStatus_t`.
    pub fn of_cublas(self) -> u32 {
        match self {
            Status::NotInitialized | Status::InvalidHandle => 1,
            Status::InvalidValue | Status::InvalidSize => 7,
            Status::ExecutionFailed => 13,
            Status::InternalError => 14,
            Status::NotSupported => 15,
        }
    }
}

pub type Answer<T = ()> = Result<T, Status>;

/// The errors of an API.
pub trait Problem {
    /// The error for what the library does wrong itself.
    const INTERNAL: Self;
}

impl Problem for Status {
    const INTERNAL: Status = Status::InternalError;
}

/// Runs the body of a call of the API. Panics do not unwind out of it. `code` returns the number of an
/// error; 0 is success.
pub fn call<E: Problem>(code: fn(E) -> u32, body: impl FnOnce() -> Result<(), E>) -> u32 {
    let answer = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(E::INTERNAL));
    answer.err().map_or(0, code)
}

/// Returns an error if a condition on a call's arguments does not hold.
pub fn require(condition: bool) -> Answer {
    if condition { Ok(()) } else { Err(Status::InvalidValue) }
}

/// Defines functions of an API. The function `code` of the crate returns the number of an error.
#[allow(clippy::crate_in_macro_def, reason = "each library has its own numbers of errors")]
#[macro_export]
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        #[doc = concat!("`", stringify!($name), "`, as NVIDIA's documentation has it.")]
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null, or valid for the reads and writes that the documentation states.
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        // SAFETY: no other library of the process defines the name, or the other library is
        // NVIDIA's, which this library replaces.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::call(crate::code, || $body)
        }
    )* };
}

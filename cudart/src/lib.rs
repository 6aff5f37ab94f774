//! The CUDA runtime library, as a shared library over a CUDA driver library.
//!
//! Programs that link `libcudart.so.11.0`, `.so.12` or `.so.13` get the documented runtime API, and the functions by which compilers
//! register device code ([`registry`]). The driver is reached through its documented C API alone ([`driver`]): warploom's
//! `libcuda.so.1`, or another that has these functions.
//!
//! The three libraries are three builds of this source, `cfg(runtime = "12")` and so on, since a few structures differ. What a file
//! has is by the chapters of the API's documentation. What is not done is in [`unsupported`], and returns `cudaErrorNotSupported`.
//!
//! Every function is `unsafe` as C's are: pointers are null, which is an error, or valid for what the documentation says is read and
//! written. That is said once, in the macro [`api`], not at each of them.

#![allow(non_snake_case, reason = "the names are the C API's")]

#[macro_use]
mod api;
mod array;
mod context;
mod copy;
mod device;
mod driver;
mod error;
mod event;
mod function;
mod graph;
mod launch;
mod memory;
mod pool;
mod properties;
mod registry;
mod stream;
mod symbol;
mod texture;
mod types;
mod unsupported;

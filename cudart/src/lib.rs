//! The CUDA runtime library, as a shared library over a CUDA driver library.
//!
//! Programs that link `libcudart.so.11.0`, `.so.12` or `.so.13` get the documented runtime API, and the functions by which compilers
//! register device code ([`registry`]). The driver is reached through its documented C API alone ([`driver`]): warploom's
//! `libcuda.so.1`, or another that has these functions.
//!
//! The three libraries are three builds of this source, `cfg(runtime = "12")` and so on, since a few structures differ. Files go
//! by the chapters of the API's documentation. The names of all functions are in [`table`].
//!
//! Every function is `unsafe` as C's are: pointers are null, which is an error, or valid for what the documentation says is read and
//! written. That is said once, in the macro [`api`], not at each of them.

#![allow(non_snake_case, reason = "the names are the C API's")]

mod api;
mod array;
#[cfg(not(runtime = "11"))]
mod batch;
mod capture;
mod context;
mod copy;
mod device;
mod driver;
mod error;
mod event;
mod exec;
#[cfg(runtime = "13")]
mod execution;
mod function;
mod graph;
mod graph_node;
mod launch;
#[cfg(not(runtime = "11"))]
mod library;
mod memory;
#[cfg(not(runtime = "11"))]
mod node_params;
mod pool;
mod properties;
#[cfg(runtime = "11")]
mod references;
mod registry;
mod stream;
mod symbol;
pub mod table;
mod texture;
mod types;

pub use driver::use_linked_driver;

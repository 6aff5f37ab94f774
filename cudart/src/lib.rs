//! The CUDA runtime library, as a shared library over a CUDA driver library.
//!
//! Programs that link `libcudart.so.11.0`, `.so.12` or `.so.13` get the documented runtime API, and
//! the functions with which compilers register device code ([`registry`]). The library calls the
//! driver through its documented C API ([`driver`]), except for one optional function of
//! warploom's. The driver is warploom's `libcuda.so.1`, or another driver that has the documented
//! functions.
//!
//! The three libraries are three builds of this source, selected by `cfg(runtime = "12")` and so
//! on, since a few structures differ. Files follow the chapters of the API's documentation.
//! [`table`] has the names of all functions.
//!
//! Every function is `unsafe`, like the C function. A pointer is null, which is an error, or valid
//! for the reads and writes that the documentation states. The macro [`api`] states this contract
//! once for all functions.

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

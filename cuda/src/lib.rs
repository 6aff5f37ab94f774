//! `libcuda.so.1`: the CUDA driver API on a CPU.
//!
//! `api` has the functions, by family, and the table of all names; `boundary` is what C sees, and all `unsafe`. The rest is what
//! they are about: `driver` and `device` are there once, a `context` has streams (`stream`, over the `lines` of work that keep them in
//! order), events and modules (`image`, `module`, `launch`, `occupancy`); memory is in `allocations`, `virtual_memory`, `advice`, `copies`,
//! `array` and `texture`. What a stream can do is an `operation`, which `graph` (with
//! `graph_memory` and `conditional`) and `capture` keep for later. `names` has the errors. `record` writes launches as manifests. `forward` hands calls over to
//! another driver.

mod advice;
mod allocations;
mod api;
mod array;
mod boundary;
mod capture;
mod conditional;
mod context;
mod copies;
mod device;
mod driver;
mod error;
mod event;
mod forward;
mod graph;
mod graph_memory;
mod handles;
mod image;
mod launch;
mod lines;
mod module;
mod names;
mod occupancy;
mod operation;
mod pool;
mod record;
mod stream;
mod texture;
mod trace;
mod virtual_memory;

/// The address of a function that this library exports under a name, for what is linked with it in
/// one program.
pub fn exported(name: &str) -> Option<*const std::ffi::c_void> {
    api::table::exported(name).map(boundary::Function::pointer)
}

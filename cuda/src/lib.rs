//! `libcuda.so.1`: the CUDA driver API on a CPU.
//!
//! `api` has the functions, by family, and the table of all names. `boundary` faces C and has all
//! `unsafe` code, except that of forwarding. `driver` and `device` exist once. A `context` has
//! streams, events and modules (`image`, `module`, `launch`, `occupancy`). A `stream` is a line of
//! work; `lines` keeps lines in order. Memory is in `allocations`, `virtual_memory`, `advice`,
//! `copies`, `array` and `texture`. Streams run operations (`operation`), which `graph` (with
//! `graph_memory` and `conditional`) and `capture` keep for later. `names` has the errors. `record`
//! writes launches as manifests. `forward` forwards calls to another driver.

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
mod stacks;
mod stream;
mod texture;
mod trace;
mod virtual_memory;

/// Returns the address of the function that this library exports under a name, for code that is
/// linked with it into one program.
pub fn exported(name: &str) -> Option<*const std::ffi::c_void> {
    api::table::exported(name).map(boundary::Function::pointer)
}

//! The functions that CUDA's driver provides to device code.

use warploom_ir::Service;

/// Returns the service that an undefined function of this name asks for.
pub fn by_name(name: &str) -> Option<Service> {
    match name {
        "vprintf" => Some(Service::Print),
        "malloc" => Some(Service::Allocate),
        "free" => Some(Service::Free),
        "__assertfail" => Some(Service::AssertFail),
        "cudaGraphSetConditional" => Some(Service::SetConditional),
        _ => None,
    }
}

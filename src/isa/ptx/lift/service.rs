//! The functions that CUDA's driver provides to device code.
//!
//! Source: facts, `ptx.md` 4.

use warploom_ir::Service;

/// Returns the bytes of each argument.
pub fn arguments(service: Service) -> &'static [u32] {
    match service {
        Service::Print => &[8, 8],
        Service::Allocate | Service::Free => &[8],
        Service::AssertFail => &[8, 8, 4, 8, 8],
        Service::SetConditional => &[8, 4],
    }
}

/// Returns the bytes of the result; 0 if there is none.
pub fn result(service: Service) -> u32 {
    match service {
        Service::Print => 4,
        Service::Allocate => 8,
        Service::Free | Service::AssertFail | Service::SetConditional => 0,
    }
}

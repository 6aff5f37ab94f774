//! The results of calls, and conversions to CUDA's errors.

pub use cudarc::driver::sys::CUresult as Error;
use warploom_runtime::fault::FaultKind;
use warploom_runtime::memory::{CopyError, MapError};

pub type Answer = Result<(), Error>;

/// Returns the error for memory that cannot be allocated.
pub fn of_map(error: MapError) -> Error {
    match error {
        MapError::CapExceeded { .. }
        | MapError::HostOutOfMemory { .. }
        | MapError::NoSpace { .. } => Error::CUDA_ERROR_OUT_OF_MEMORY,
        _ => Error::CUDA_ERROR_INVALID_VALUE,
    }
}

/// Returns the error for a copy from or to unmapped memory.
pub fn of_copy(_: CopyError) -> Error {
    Error::CUDA_ERROR_INVALID_VALUE
}

/// Returns the error for a launch that did not take place.
pub fn of_launch(error: &warploom::Error) -> Error {
    use warploom_runtime::launch::LaunchError;
    match error {
        warploom::Error::Map(map) => of_map(*map),
        warploom::Error::Launch(
            LaunchError::ResidentTooLarge { .. } | LaunchError::HostOutOfMemory { .. },
        ) => Error::CUDA_ERROR_OUT_OF_MEMORY,
        warploom::Error::Cluster { .. } => Error::CUDA_ERROR_INVALID_CLUSTER_SIZE,
        warploom::Error::Lift(_) | warploom::Error::Interp(_) | warploom::Error::Stage { .. } => {
            Error::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        }
        _ => Error::CUDA_ERROR_INVALID_VALUE,
    }
}

/// Returns the error that a context answers from a fault on.
pub fn of_fault(kind: FaultKind) -> Error {
    match kind {
        FaultKind::Assertion => Error::CUDA_ERROR_ASSERT,
        FaultKind::AddressOutOfRange => Error::CUDA_ERROR_ILLEGAL_ADDRESS,
        FaultKind::MisalignedAddress => Error::CUDA_ERROR_MISALIGNED_ADDRESS,
        FaultKind::InvalidAddressSpace => Error::CUDA_ERROR_INVALID_ADDRESS_SPACE,
        FaultKind::IllegalInstruction | FaultKind::Unimplemented => {
            Error::CUDA_ERROR_ILLEGAL_INSTRUCTION
        }
        FaultKind::TimeExceeded | FaultKind::BudgetExceeded => Error::CUDA_ERROR_LAUNCH_TIMEOUT,
        _ => Error::CUDA_ERROR_LAUNCH_FAILED,
    }
}

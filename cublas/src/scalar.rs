//! Scalar arguments.

use warploom_cukit::memory::{Place, Real};
use warploom_cukit::{Answer, Status};

#[derive(Clone, Copy)]
pub enum Scalar {
    Now(f64),
    Later(Place, Real),
}

impl Scalar {
    /// Returns a scalar: its value if the host has it, else its place.
    pub fn at(place: Place, real: Real) -> Scalar {
        if place.is_on_device() {
            Scalar::Later(place, real)
        } else {
            Scalar::Now(place.get(real, 0))
        }
    }

    /// Returns the value in the operation's turn.
    pub fn value(self) -> f64 {
        match self {
            Scalar::Now(value) => value,
            Scalar::Later(place, real) => place.get(real, 0),
        }
    }
}

/// Returns the type of scalars for a `cublasComputeType_t`.
pub fn of_compute(kind: u32) -> Answer<Real> {
    match kind {
        64 | 65 => Ok(Real::F16),
        68 | 69 | 74 | 75 | 77 => Ok(Real::F32),
        70 | 71 => Ok(Real::F64),
        _ => Err(Status::NotSupported),
    }
}

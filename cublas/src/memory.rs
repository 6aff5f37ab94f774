//! Numbers in memory, of the types that operations take.

use std::ffi::c_void;

use half::{bf16, f16};

use crate::{Answer, Status, driver, require};

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    F16,
    Bf16,
    F32,
    F64,
}

impl Real {
    /// A `cudaDataType_t`.
    pub fn of(kind: u32) -> Answer<Real> {
        match kind {
            0 => Ok(Real::F32),
            1 => Ok(Real::F64),
            2 => Ok(Real::F16),
            14 => Ok(Real::Bf16),
            _ => Err(Status::NotSupported),
        }
    }

    /// The type of scalars of a `cublasComputeType_t`.
    pub fn of_compute(kind: u32) -> Answer<Real> {
        match kind {
            64 | 65 => Ok(Real::F16),
            68 | 69 | 74 | 75 | 77 => Ok(Real::F32),
            70 | 71 => Ok(Real::F64),
            _ => Err(Status::NotSupported),
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Real::F16 | Real::Bf16 => 2,
            Real::F32 => 4,
            Real::F64 => 8,
        }
    }
}

/// Where numbers begin, in device memory that [`Place::check`] has found there when a call was made.
#[derive(Clone, Copy)]
pub struct Place {
    address: usize,
    on_device: bool,
}

impl Place {
    pub fn new(pointer: *const c_void, on_device: bool) -> Place {
        Place { address: pointer.expose_provenance(), on_device }
    }

    /// Device memory for so many numbers.
    pub fn on_device(pointer: *const c_void, real: Real, count: usize) -> Answer<Place> {
        let place = Place::new(pointer, true);
        require(place.address.is_multiple_of(real.bytes()))?;
        if count > 0 {
            place.check(count.checked_mul(real.bytes()).ok_or(Status::InvalidValue)?)?;
        }
        Ok(place)
    }

    fn check(self, bytes: usize) -> Answer {
        require(self.address != 0)?;
        if self.on_device { driver::check_memory(self.address as u64, bytes) } else { Ok(()) }
    }

    /// A scalar: its value if the host has it, else where it will be.
    pub fn scalar(self, real: Real) -> Answer<Scalar> {
        self.check(real.bytes())?;
        Ok(if self.on_device { Scalar::Later(self, real) } else { Scalar::Now(self.get(real, 0)) })
    }

    pub fn pointer<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    pub fn offset(self, real: Real, count: usize) -> Place {
        Place { address: self.address.wrapping_add(count.wrapping_mul(real.bytes())), ..self }
    }

    /// The number at an index.
    pub fn get(self, real: Real, i: usize) -> f64 {
        // SAFETY: callers stay within what was checked, or what the API says that the host has; the stream's order gives it to us.
        unsafe {
            match real {
                Real::F16 => self.pointer::<f16>().add(i).read_unaligned().to_f64(),
                Real::Bf16 => self.pointer::<bf16>().add(i).read_unaligned().to_f64(),
                Real::F32 => self.pointer::<f32>().add(i).read_unaligned().into(),
                Real::F64 => self.pointer::<f64>().add(i).read_unaligned(),
            }
        }
    }

    pub fn set(self, real: Real, i: usize, value: f64) {
        // SAFETY: as above.
        unsafe {
            match real {
                Real::F16 => self.pointer::<f16>().add(i).write_unaligned(f16::from_f64(value)),
                Real::Bf16 => self.pointer::<bf16>().add(i).write_unaligned(bf16::from_f64(value)),
                Real::F32 => self.pointer::<f32>().add(i).write_unaligned(value as f32),
                Real::F64 => self.pointer::<f64>().add(i).write_unaligned(value),
            }
        }
    }
}

#[derive(Clone, Copy)]
pub enum Scalar {
    Now(f64),
    Later(Place, Real),
}

impl Scalar {
    /// Its value when the operation's turn has come.
    pub fn value(self) -> f64 {
        match self {
            Scalar::Now(value) => value,
            Scalar::Later(place, real) => place.get(real, 0),
        }
    }
}

//! Operations on vectors.

use std::ffi::c_int;

use warploom_cukit::memory::{Place, Pointer, Real};
use warploom_cukit::{Answer, Status, api, driver};

use crate::handle;

/// Elements at a constant step in memory. If the step is negative, the first element of the vector
/// is the last in memory.
#[derive(Clone, Copy)]
pub struct Vector {
    place: Place,
    real: Real,
    count: usize,
    /// Index of the vector's first element.
    first: usize,
    step: isize,
}

impl Vector {
    pub fn new(pointer: Pointer, real: Real, count: c_int, step: c_int) -> Answer<Vector> {
        let count = usize::try_from(count).map_err(|_| Status::InvalidValue)?;
        let span = count.saturating_sub(1).saturating_mul(step.unsigned_abs() as usize);
        let place = Place::on_device(pointer, real, if count == 0 { 0 } else { span + 1 })?;
        let first = if step < 0 { span } else { 0 };
        Ok(Vector { place, real, count, first, step: step as isize })
    }

    /// Tells the driver that a job replaces the elements.
    pub fn will_be_written(&self) {
        self.place.will_be_written();
    }

    pub fn get(&self, i: usize) -> f64 {
        self.place.get(self.real, self.index(i))
    }

    pub fn set(&self, i: usize, value: f64) {
        self.place.set(self.real, self.index(i), value);
    }

    fn index(&self, i: usize) -> usize {
        self.first.wrapping_add_signed((i as isize).wrapping_mul(self.step))
    }

    fn values(self) -> impl Iterator<Item = f64> {
        (0..self.count).map(move |i| self.get(i))
    }
}

fn axpy(handle: u64, alpha: Pointer, scalar: Real, x: Answer<Vector>, y: Answer<Vector>) -> Answer {
    let handle = handle::get(handle)?;
    let (x, y, alpha) = (x?, y?, handle.scalar(alpha, scalar)?);
    driver::submit(handle.stream, move || {
        let alpha = alpha.value();
        y.will_be_written();
        (0..x.count).for_each(|i| y.set(i, alpha.mul_add(x.get(i), y.get(i))));
    })
}

fn scal(handle: u64, alpha: Pointer, scalar: Real, x: Answer<Vector>) -> Answer {
    let handle = handle::get(handle)?;
    let (x, alpha) = (x?, handle.scalar(alpha, scalar)?);
    driver::submit(handle.stream, move || {
        let alpha = alpha.value();
        x.will_be_written();
        (0..x.count).for_each(|i| x.set(i, alpha * x.get(i)));
    })
}

/// Submits `x = alpha * x` for complex numbers.
fn scal_complex(
    handle: u64,
    alpha: Pointer,
    real: Real,
    (x, count, step): (Pointer, c_int, c_int),
) -> Answer {
    let handle = handle::get(handle)?;
    // A complex number is a real and an imaginary part.
    let step = step.checked_mul(2).ok_or(Status::InvalidValue)?;
    let imaginary = |pointer: Pointer| pointer.after(real.bytes() as isize);
    let [re, im] = [x, imaginary(x)].map(|part| Vector::new(part, real, count, step));
    let alpha = [alpha, imaginary(alpha)].map(|part| handle.scalar(part, real));
    let ((re, im), [a, b]) = ((re?, im?), alpha);
    let (a, b) = (a?, b?);
    driver::submit(handle.stream, move || {
        let (a, b) = (a.value(), b.value());
        re.will_be_written();
        im.will_be_written();
        for i in 0..re.count {
            let (x, y) = (re.get(i), im.get(i));
            re.set(i, a * x - b * y);
            im.set(i, a * y + b * x);
        }
    })
}

/// Submits the computation of a number, and waits for it if the result is in host memory.
fn reduce(
    handle: u64,
    out: Pointer,
    real: Real,
    value: impl Fn() -> f64 + Send + Sync + 'static,
) -> Answer {
    let handle = handle::get(handle)?;
    let out = handle.place(out, real)?;
    driver::submit(handle.stream, move || {
        out.will_be_written();
        out.set(real, 0, value());
    })?;
    if handle.on_device { Ok(()) } else { driver::synchronize(handle.stream) }
}

fn dot(handle: u64, x: Answer<Vector>, y: Answer<Vector>, out: Pointer, real: Real) -> Answer {
    let (x, y) = (x?, y?);
    reduce(handle, out, real, move || x.values().zip(y.values()).map(|(x, y)| x * y).sum())
}

fn nrm2(handle: u64, x: Answer<Vector>, out: Pointer, real: Real) -> Answer {
    let x = x?;
    // Values are scaled, so that squares stay in range.
    reduce(handle, out, real, move || {
        let most = x.values().fold(0.0, |most: f64, value| most.max(value.abs()));
        if most == 0.0 || !most.is_finite() {
            return x.values().fold(0.0, |sum: f64, value| sum + value.abs());
        }
        most * x.values().map(|value| (value / most).powi(2)).sum::<f64>().sqrt()
    })
}

fn asum(handle: u64, x: Answer<Vector>, out: Pointer, real: Real) -> Answer {
    let x = x?;
    reduce(handle, out, real, move || x.values().map(f64::abs).sum())
}

fn copy(handle: u64, x: Answer<Vector>, y: Answer<Vector>) -> Answer {
    let (stream, x, y) = (handle::get(handle)?.stream, x?, y?);
    driver::submit(stream, move || {
        y.will_be_written();
        (0..x.count).for_each(|i| y.set(i, x.get(i)));
    })
}

/// Makes a vector of a type that a call names.
fn named(pointer: Pointer, kind: u32, count: c_int, step: c_int) -> Answer<Vector> {
    Vector::new(pointer, Real::of(kind)?, count, step)
}

macro_rules! of_type {
    ($real:ident: $axpy:ident $scal:ident $dot:ident $nrm2:ident $asum:ident $copy:ident) => {
        api! {
            fn $axpy(handle: u64, n: c_int, alpha: Pointer, x: Pointer, step: c_int, y: Pointer, other: c_int) {
                axpy(handle, alpha, Real::$real, Vector::new(x, Real::$real, n, step), Vector::new(y, Real::$real, n, other))
            }

            fn $scal(handle: u64, n: c_int, alpha: Pointer, x: Pointer, step: c_int) {
                scal(handle, alpha, Real::$real, Vector::new(x, Real::$real, n, step))
            }

            fn $dot(handle: u64, n: c_int, x: Pointer, step: c_int, y: Pointer, other: c_int, out: Pointer) {
                dot(handle, Vector::new(x, Real::$real, n, step), Vector::new(y, Real::$real, n, other), out, Real::$real)
            }

            fn $nrm2(handle: u64, n: c_int, x: Pointer, step: c_int, out: Pointer) {
                nrm2(handle, Vector::new(x, Real::$real, n, step), out, Real::$real)
            }

            fn $asum(handle: u64, n: c_int, x: Pointer, step: c_int, out: Pointer) {
                asum(handle, Vector::new(x, Real::$real, n, step), out, Real::$real)
            }

            fn $copy(handle: u64, n: c_int, x: Pointer, step: c_int, y: Pointer, other: c_int) {
                copy(handle, Vector::new(x, Real::$real, n, step), Vector::new(y, Real::$real, n, other))
            }
        }
    };
}
api! {
    fn cublasCscal_v2(handle: u64, n: c_int, alpha: Pointer, x: Pointer, step: c_int) {
        scal_complex(handle, alpha, Real::F32, (x, n, step))
    }

    fn cublasZscal_v2(handle: u64, n: c_int, alpha: Pointer, x: Pointer, step: c_int) {
        scal_complex(handle, alpha, Real::F64, (x, n, step))
    }
}
of_type!(F32: cublasSaxpy_v2 cublasSscal_v2 cublasSdot_v2 cublasSnrm2_v2 cublasSasum_v2 cublasScopy_v2);
of_type!(F64: cublasDaxpy_v2 cublasDscal_v2 cublasDdot_v2 cublasDnrm2_v2 cublasDasum_v2 cublasDcopy_v2);

api! {
    fn cublasAxpyEx(
        handle: u64, n: c_int, alpha: Pointer, scalar: u32, x: Pointer, kind: u32, step: c_int, y: Pointer,
        other_kind: u32, other: c_int, _execution: u32,
    ) {
        axpy(handle, alpha, Real::of(scalar)?, named(x, kind, n, step), named(y, other_kind, n, other))
    }

    fn cublasScalEx(
        handle: u64, n: c_int, alpha: Pointer, scalar: u32, x: Pointer, kind: u32, step: c_int, _execution: u32,
    ) {
        scal(handle, alpha, Real::of(scalar)?, named(x, kind, n, step))
    }

    fn cublasDotEx(
        handle: u64, n: c_int, x: Pointer, kind: u32, step: c_int, y: Pointer, other_kind: u32, other: c_int,
        out: Pointer, result: u32, _execution: u32,
    ) {
        dot(handle, named(x, kind, n, step), named(y, other_kind, n, other), out, Real::of(result)?)
    }

    fn cublasNrm2Ex(
        handle: u64, n: c_int, x: Pointer, kind: u32, step: c_int, out: Pointer, result: u32, _execution: u32,
    ) {
        nrm2(handle, named(x, kind, n, step), out, Real::of(result)?)
    }
}

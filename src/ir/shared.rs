//! [`SharedFn`]: the functions that hardware approximates, with one definition for both engines.
//!
//! Reciprocals and roots are correctly rounded, which every division sequence of compiled code survives
//! (maxwell-semantics, section 4.1). The transcendental ones are evaluated in `f64` by the `libm` crate, which gives
//! the same bits on every host, and rounded once.

use super::function::NanPolicy;
use super::op::SharedFn;

/// Evaluates `function` on a row of bit patterns.
pub fn eval(function: SharedFn, nan: NanPolicy, a: &[u64], out: &mut [u64]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = one(function, nan, a as u32).into();
    }
}

/// Evaluates `function` on one bit pattern.
pub fn one(function: SharedFn, nan: NanPolicy, x: u32) -> u32 {
    let f = |f: fn(f64) -> f64| {
        let y = f(f64::from(flush(f32::from_bits(x)))) as f32;
        if y.is_nan() { nan.f32 } else { y.to_bits() }
    };
    let high = |f: fn(f64) -> f64| {
        let y = f(flush64(f64::from_bits(u64::from(x) << 32)));
        ((if y.is_nan() { nan.f64 } else { y.to_bits() }) >> 32) as u32
    };
    match function {
        // The f64 quotient of floats is never within its own error of a midpoint of two floats (Figueroa: 53 >= 2 * 24
        // + 2), so that rounding it again is innocuous; a result below the normal floats flushes.
        SharedFn::Rcp => f(|x| flush((1.0 / x) as f32).into()),
        // Two roundings before the last. The test `rsq_is_correctly_rounded` tries every mantissa.
        SharedFn::Rsq => f(|x| 1.0 / x.sqrt()),
        SharedFn::SqrtApprox => f(f64::sqrt),
        SharedFn::Lg2 => f(libm::log2),
        SharedFn::Ex2 => f(libm::exp2),
        SharedFn::Sin => f(libm::sin),
        SharedFn::Cos => f(libm::cos),
        SharedFn::Rcp64High => high(|x| 1.0 / x),
        SharedFn::Rsq64High => high(|x| 1.0 / x.sqrt()),
    }
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

fn flush64(x: f64) -> f64 {
    if x.is_subnormal() { 0f64.copysign(x) } else { x }
}

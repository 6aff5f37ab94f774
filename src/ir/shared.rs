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
        ((if y.is_nan() { nan.f64 } else { flush64(y).to_bits() }) >> 32) as u32
    };
    match function {
        // The f64 quotient of floats is never within its own error of a midpoint of two floats (Figueroa: 53 >= 2 * 24
        // + 2), so that rounding it again is innocuous; a result below the normal floats flushes.
        SharedFn::Rcp => f(|x| flush((1.0 / x) as f32).into()),
        // Two roundings before the last. The test `rsq_is_correctly_rounded` tries every mantissa.
        SharedFn::Rsq => f(|x| 1.0 / x.sqrt()),
        SharedFn::SqrtApprox => f(f64::sqrt),
        SharedFn::Lg2 => f(libm::log2),
        SharedFn::Ex2 => f(|x| flush(libm::exp2(x) as f32).into()),
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

#[cfg(test)]
mod tests {
    use super::super::generate::{Random, Source};
    use super::*;

    const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };

    fn f(function: SharedFn, x: f32) -> f32 {
        f32::from_bits(one(function, NAN, x.to_bits()))
    }

    /// For x = m * 2^e in [1, 4) the root is y = k / 2^24. It is correctly rounded if 1 / sqrt(x) lies between the
    /// midpoints (2k - 1) / 2^25 and (2k + 1) / 2^25, or squared, (2k - 1)^2 x < 2^50 < (2k + 1)^2 x. Other exponents are
    /// these scaled by powers of 4.
    #[test]
    fn rsq_is_correctly_rounded() {
        for m in 1u128 << 23..1 << 24 {
            for (power, point) in [(1.0, 73), (2.0, 72)] {
                let x = m as f32 / (1u32 << 23) as f32 * power;
                let k = (f(SharedFn::Rsq, x) * (1 << 24) as f32) as u128;
                let ordered = (2 * k - 1).pow(2) * m < 1 << point && 1 << point < (2 * k + 1).pow(2) * m;
                assert!(ordered, "{x:?}");
            }
        }
    }

    #[test]
    fn other_exponents_are_scaled() {
        let mut random = Random::new(6);
        for _ in 0..100_000 {
            let x = f32::from_bits(0x3f80_0000 | random.below(1 << 24));
            let power = random.below(120) as i32 - 60;
            let (scale, root) = (2f32.powi(2 * power), 2f32.powi(-power));
            assert_eq!(f(SharedFn::Rsq, x * scale), f(SharedFn::Rsq, x) * root, "{x} {power}");
        }
    }

    #[test]
    fn reciprocal_and_root_are_the_hosts() {
        let mut random = Random::new(7);
        for _ in 0..200_000 {
            let x = f32::from_bits(random.below(u32::MAX));
            if x.is_nan() || x.is_subnormal() {
                continue;
            }
            assert_eq!(f(SharedFn::Rcp, x).to_bits(), flush(1.0 / x).to_bits(), "{x}");
            let root = x.sqrt();
            let root = if root.is_nan() { NAN.f32 } else { root.to_bits() };
            assert_eq!(f(SharedFn::SqrtApprox, x).to_bits(), root, "{x}");
        }
    }

    /// Within one unit in the last place of the host's library, rounded once.
    #[test]
    fn transcendental_functions_are_close_to_the_hosts() {
        let mut random = Random::new(8);
        type Host = fn(f64) -> f64;
        let functions: [(SharedFn, Host); 4] = [
            (SharedFn::Lg2, f64::log2),
            (SharedFn::Ex2, f64::exp2),
            (SharedFn::Sin, f64::sin),
            (SharedFn::Cos, f64::cos),
        ];
        for _ in 0..50_000 {
            let x = f32::from_bits(random.below(u32::MAX));
            if !x.is_finite() || x.is_subnormal() {
                continue;
            }
            for (function, host) in functions {
                let (found, expected) = (f(function, x), flush(host(x.into()) as f32));
                let close = found == expected
                    || found.is_nan() && expected.is_nan()
                    || found.to_bits().abs_diff(expected.to_bits()) <= 1;
                assert!(close, "{function:?} {x:?}: {found:?}, the host has {expected:?}");
            }
        }
    }
}

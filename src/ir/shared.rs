//! [`SharedFn`]: the functions that hardware approximates, with one definition for both engines.
//!
//! Reciprocals and roots are correctly rounded, which every division sequence of compiled code
//! survives (maxwell-semantics, section 4.1). The transcendental functions are evaluated in `f64`
//! and rounded once ([`elementary`]), except functions that follow hardware bit by bit:
//! [`special`].

use super::op::SharedFn;
use super::{Type, elementary, special};

/// Evaluates `function` on a row of bit patterns.
pub fn eval(function: SharedFn, nan: u32, a: &[u64], out: &mut [u64]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = one(function, nan, a as u32).into();
    }
}

/// Evaluates `function` on one bit pattern; `nan` is the `f32` NaN that arithmetic makes.
pub fn one(function: SharedFn, nan: u32, x: u32) -> u32 {
    let result = value(function, x);
    if function.ty() == Type::F32 && f32::from_bits(result).is_nan() { nan } else { result }
}

fn value(function: SharedFn, x: u32) -> u32 {
    let with_denormals = |f: fn(f64) -> f64, x: f32| (f(f64::from(x)) as f32).to_bits();
    let f = |f: fn(f64) -> f64| with_denormals(f, flush(f32::from_bits(x)));
    match function {
        // The f64 quotient of floats is never within its own error of a midpoint of two floats
        // (Figueroa: 53 >= 2 * 24 + 2), so rounding it again is innocuous. A result below the
        // normal floats flushes.
        SharedFn::Rcp => f(|x| flush((1.0 / x) as f32).into()),
        // There are two roundings before the last. The test `rsq_is_correctly_rounded` tries every
        // mantissa.
        SharedFn::Rsq => f(|x| 1.0 / x.sqrt()),
        SharedFn::RsqDenormal => with_denormals(|x| 1.0 / x.sqrt(), f32::from_bits(x)),
        SharedFn::SqrtApprox => f(f64::sqrt),
        SharedFn::Lg2 => elementary::log2(flush(f32::from_bits(x))).to_bits(),
        SharedFn::Ex2 => flush(elementary::exp2(f32::from_bits(x))).to_bits(),
        SharedFn::TableRcp => special::rcp(x),
        SharedFn::TableRsq => special::rsq(x),
        SharedFn::TableSqrt => special::sqrt(x),
        SharedFn::TableLg2 => special::lg2(x),
        SharedFn::TableEx2 => special::ex2(x),
        SharedFn::TableSin => special::sine_of_turns(x),
        SharedFn::TableCos => special::cosine_of_turns(x),
        SharedFn::Rcp64High => special::rcp64_high(x),
        SharedFn::Rsq64High => special::rsq64_high(x),
        SharedFn::SinTurns | SharedFn::CosTurns => {
            elementary::turns(f32::from_bits(x), function == SharedFn::CosTurns).to_bits()
        }
        SharedFn::TwoOverPi => two_over_pi(x),
    }
}

/// 2 / pi, 1201 bits behind the point.
const TWO_OVER_PI: [u32; 38] = [
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
    0xdebb_c561,
    0xb724_6e3a,
    0x424d_d2e0,
    0x0649_2eea,
    0x09d1_921c,
    0xfe1d_eb1c,
    0xb129_a73e,
    0xe882_35f5,
    0x2ebb_4484,
    0xe99c_7026,
    0xb45f_7e41,
    0x3991_d639,
    0x8353_39f4,
    0x9c84_5f8b,
    0xbdf9_283b,
    0x1ff8_97ff,
    0xde05_980f,
    0xef2f_118b,
    0x5a0a_6d1f,
    0x6d36_7ecf,
    0x27cb_09b7,
    0x4f46_3f66,
    0x9e5f_ea2d,
    0x7527_bac7,
    0xebe5_f17b,
    0x3d07_39f7,
    0x8a52_92ea,
    0x6bfb_5fb1,
    0x1f8d_5d08,
    0x5603_3046,
    0xfc7b_0000,
];

/// Each word of 2 / pi with its next word; past the last word, 0.
pub static TWO_OVER_PI_PAIRS: [u64; TWO_OVER_PI.len() + 1] = {
    let mut pairs = [0; TWO_OVER_PI.len() + 1];
    let mut at = TWO_OVER_PI.len();
    while at > 0 {
        at -= 1;
        pairs[at] = (TWO_OVER_PI[at] as u64) << 32 | pairs[at + 1] >> 32;
    }
    pairs
};

fn two_over_pi(first: u32) -> u32 {
    let last = TWO_OVER_PI_PAIRS.len() - 1;
    (TWO_OVER_PI_PAIRS[last.min(first as usize / 32)] << (first % 32) >> 32) as u32
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: u32 = 0x7fff_ffff;

    fn f(function: SharedFn, x: f32) -> f32 {
        f32::from_bits(one(function, NAN, x.to_bits()))
    }

    /// For x = m * 2^e in [1, 4) the root is y = k / 2^24. It is correctly rounded if 1 / sqrt(x)
    /// lies between the midpoints (2k - 1) / 2^25 and (2k + 1) / 2^25, or squared, (2k - 1)^2 x <
    /// 2^50 < (2k + 1)^2 x. For other exponents, these values are scaled by powers of 4.
    #[test]
    fn rsq_is_correctly_rounded() {
        for m in 1u128 << 23..1 << 24 {
            for (power, point) in [(1.0, 73), (2.0, 72)] {
                let x = m as f32 / (1u32 << 23) as f32 * power;
                let k = (f(SharedFn::Rsq, x) * (1 << 24) as f32) as u128;
                let ordered =
                    (2 * k - 1).pow(2) * m < 1 << point && 1 << point < (2 * k + 1).pow(2) * m;
                assert!(ordered, "{x:?}");
            }
        }
    }

    #[test]
    fn other_exponents_are_scaled() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..100_000 {
            let x = f32::from_bits(0x3f80_0000 | random.u32(..1 << 24));
            let power = random.u32(..120) as i32 - 60;
            let (scale, root) = (2f32.powi(2 * power), 2f32.powi(-power));
            assert_eq!(f(SharedFn::Rsq, x * scale), f(SharedFn::Rsq, x) * root, "{x} {power}");
        }
    }

    #[test]
    fn reciprocal_and_root_are_the_hosts() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200_000 {
            let x = f32::from_bits(random.u32(..u32::MAX));
            if x.is_nan() || x.is_subnormal() {
                continue;
            }
            assert_eq!(f(SharedFn::Rcp, x).to_bits(), flush(1.0 / x).to_bits(), "{x}");
            let root = x.sqrt();
            let root = if root.is_nan() { NAN } else { root.to_bits() };
            assert_eq!(f(SharedFn::SqrtApprox, x).to_bits(), root, "{x}");
        }
    }

    /// Segments of 53 bits, which argument reduction takes, make up the number.
    #[test]
    fn two_over_pi_by_segments() {
        let words: Vec<u64> = (0..5)
            .map(|n| f(SharedFn::TwoOverPi, f32::from_bits(n * 53)).to_bits().into())
            .collect();
        let sum: f64 =
            words.iter().zip(0..).map(|(&w, n)| w as f64 * 2f64.powi(-32 - 53 * n)).sum();
        assert!((sum - std::f64::consts::FRAC_2_PI).abs() < 2f64.powi(-32));
        assert_eq!(words[0], 0xa2f9_836e);
        let last = one(SharedFn::TwoOverPi, NAN, 1200);
        assert!(last == 0 || last == 1 << 31);
        assert_eq!(one(SharedFn::TwoOverPi, NAN, 1201), 0);
        assert_eq!(one(SharedFn::TwoOverPi, NAN, u32::MAX), 0);
    }

    #[test]
    fn turns_are_exact_where_they_can_be() {
        let (sin, cos) =
            (|x| f(SharedFn::SinTurns, x).to_bits(), |x| f(SharedFn::CosTurns, x).to_bits());
        for whole in -256..=256 {
            let x = whole as f32;
            let zero = 0f32.copysign(x).to_bits();
            assert_eq!((sin(x), cos(x)), (zero, 1f32.to_bits()), "{x}");
            if whole < 256 {
                let sign = |x: f32| 0f32.copysign(x).to_bits();
                assert_eq!((sin(x + 0.25), cos(x + 0.25)), (1f32.to_bits(), 0), "{x}");
                assert_eq!((sin(x + 0.5), cos(x + 0.5)), (sign(x + 0.5), (-1f32).to_bits()), "{x}");
                assert_eq!((sin(x + 0.75), cos(x + 0.75)), ((-1f32).to_bits(), 0), "{x}");
            }
        }
        assert_eq!((sin(-0.0), cos(-0.0)), ((-0f32).to_bits(), 1f32.to_bits()));
        assert_eq!((sin(f32::MIN), cos(f32::MIN)), (0, 1f32.to_bits()));
        assert_eq!((sin(256.1), cos(-256.1)), (0, 1f32.to_bits()));
        assert_eq!((sin(f32::INFINITY), cos(f32::NEG_INFINITY)), (NAN, NAN));
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..100_000 {
            let x = f32::from_bits(random.u32(..0x4380_0000) | random.u32(..2) << 31);
            let angle = f64::from(x).fract() * std::f64::consts::TAU;
            for (found, host) in
                [(f(SharedFn::SinTurns, x), angle.sin()), (f(SharedFn::CosTurns, x), angle.cos())]
            {
                let bound = (host.abs() * 2f64.powi(-24)).max(2f64.powi(-50));
                assert!(
                    (f64::from(found) - host).abs() <= bound,
                    "{x:?}: {found:?}, the host has {host:?}"
                );
            }
        }
    }

    /// The results are within one unit in the last place of the host's library, rounded once.
    #[test]
    fn transcendental_functions_are_close_to_the_hosts() {
        let mut random = fastrand::Rng::with_seed(8);
        type Host = fn(f64) -> f64;
        let functions: [(SharedFn, Host); 2] =
            [(SharedFn::Lg2, f64::log2), (SharedFn::Ex2, f64::exp2)];
        for _ in 0..50_000 {
            let x = f32::from_bits(random.u32(..u32::MAX));
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

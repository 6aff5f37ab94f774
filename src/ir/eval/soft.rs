//! Float arithmetic for which the host has no instruction: rounding modes other than nearest, and
//! `f16`.
//!
//! It uses `rustc_apfloat`, which computes exactly and rounds once, but has no square root: see
//! [`sqrt`].

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::super::op::{FloatBinaryOp, Round};
use super::super::types::Type;

fn mode(round: Round) -> rustc_apfloat::Round {
    match round {
        Round::Nearest => rustc_apfloat::Round::NearestTiesToEven,
        Round::Zero => rustc_apfloat::Round::TowardZero,
        Round::Down => rustc_apfloat::Round::TowardNegative,
        Round::Up => rustc_apfloat::Round::TowardPositive,
    }
}

fn of<F: Float>(bits: u64) -> F {
    F::from_bits(bits.into())
}

fn bits<F: Float>(value: F) -> u64 {
    value.to_bits() as u64
}

/// Calls a generic function with the apfloat type of a [`Type`].
macro_rules! with_format {
    ($ty:expr, $f:ident($($arg:expr),*)) => {
        match $ty {
            Type::F16 => $f::<Half>($($arg),*),
            Type::F32 => $f::<Single>($($arg),*),
            _ => $f::<Double>($($arg),*),
        }
    };
}

/// Adds, subtracts, multiplies or divides. The bits of a NaN are arbitrary. `Min` and `Max` are not
/// arithmetic and give `a`.
pub fn binary(op: FloatBinaryOp, ty: Type, round: Round, a: u64, b: u64) -> u64 {
    fn go<F: Float>(op: FloatBinaryOp, round: Round, a: u64, b: u64) -> u64 {
        let (a, b, round) = (of::<F>(a), of::<F>(b), mode(round));
        bits(match op {
            FloatBinaryOp::Add => a.add_r(b, round).value,
            FloatBinaryOp::Sub => a.sub_r(b, round).value,
            FloatBinaryOp::Mul => a.mul_r(b, round).value,
            FloatBinaryOp::Div => a.div_r(b, round).value,
            FloatBinaryOp::Min | FloatBinaryOp::Max => a,
        })
    }
    with_format!(ty, go(op, round, a, b))
}

/// a * b + c, rounded once.
pub fn fma(ty: Type, round: Round, a: u64, b: u64, c: u64) -> u64 {
    fn go<F: Float>(round: Round, a: u64, b: u64, c: u64) -> u64 {
        bits(of::<F>(a).mul_add_r(of(b), of(c), mode(round)).value)
    }
    with_format!(ty, go(round, a, b, c))
}

/// Square root, rounded in any direction.
///
/// The root rounded to nearest, `r`, is a neighbour of the exact root. So the sign of `r * r - x`
/// tells which rounded value another mode requires. An fma that rounds up gives a positive result
/// if and only if the exact result is positive (even if it is too small to represent). An fma that
/// rounds down likewise gives exactly the negative results. So the sign is exact.
pub fn sqrt(ty: Type, round: Round, x: u64) -> u64 {
    // The nearest root in f64 has at least 2 * 11 + 2 bits, so rounding it again to f16 is
    // innocuous.
    let nearest = match ty {
        Type::F16 => convert(Type::F64, Type::F16, Round::Nearest, to_f64(ty, x).sqrt().to_bits()),
        Type::F32 => f32::from_bits(x as u32).sqrt().to_bits().into(),
        _ => f64::from_bits(x).sqrt().to_bits(),
    };
    let root = to_f64(ty, nearest);
    if !(root > 0.0 && root.is_finite()) {
        return nearest; // 0, infinity or NaN
    }
    let negated = x ^ 1 << (ty.bits() - 1);
    let residual = |round| to_f64(ty, fma(ty, round, nearest, nearest, negated));
    match round {
        Round::Nearest => nearest,
        Round::Zero | Round::Down if residual(Round::Up) > 0.0 => nearest - 1,
        Round::Up if residual(Round::Down) < 0.0 => nearest + 1,
        Round::Zero | Round::Down | Round::Up => nearest,
    }
}

/// Converts between two different float types.
pub fn convert(from: Type, to: Type, round: Round, a: u64) -> u64 {
    fn go<F: FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>>(
        to: Type,
        round: Round,
        a: u64,
    ) -> u64 {
        let (a, round, mut loses) = (of::<F>(a), mode(round), false);
        match to {
            Type::F16 => bits::<Half>(a.convert_r(round, &mut loses).value),
            Type::F32 => bits::<Single>(a.convert_r(round, &mut loses).value),
            _ => bits::<Double>(a.convert_r(round, &mut loses).value),
        }
    }
    with_format!(from, go(to, round, a))
}

pub fn from_int(to: Type, round: Round, value: i128) -> u64 {
    fn go<F: Float>(round: Round, value: i128) -> u64 {
        bits(F::from_i128_r(value, mode(round)).value)
    }
    with_format!(to, go(round, value))
}

/// Any float as an `f64`, exactly (a NaN becomes some NaN).
pub fn to_f64(ty: Type, x: u64) -> f64 {
    match ty {
        Type::F16 => half::f16::from_bits(x as u16).to_f64(),
        Type::F32 => f32::from_bits(x as u32).into(),
        _ => f64::from_bits(x),
    }
}

/// The bits of an `f64` that the type can represent.
pub fn from_exact_f64(ty: Type, x: f64) -> u64 {
    match ty {
        Type::F16 => half::f16::from_f64(x).to_bits().into(),
        Type::F32 => (x as f32).to_bits().into(),
        _ => x.to_bits(),
    }
}

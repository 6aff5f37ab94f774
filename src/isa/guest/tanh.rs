//! The approximate hyperbolic tangent of NVIDIA's GPUs.

use warploom_ir::{FloatAttrs, FloatCc, SharedFn, Type, Value};

use super::bits::Emit;

/// Returns tanh of an `f32`: x - x^3 / 3 for small values, 1 - 2 / (e^2x + 1) by 2^y for others.
pub fn tanh<'a>(cx: &mut impl Emit<'a>, a: Value) -> Value {
    const IEEE: FloatAttrs = FloatAttrs::IEEE;
    const TWO_LOG2_E: f32 = 2.0 * std::f32::consts::LOG2_E;
    const SMALL: f32 = 0.05;
    const SIGN: u64 = 1 << 31;
    let mut number = |value: f32| cx.constant_of(Type::F32, value.to_bits().into());
    let (factor, one, two) = (number(TWO_LOG2_E), number(1.0), number(2.0));
    let (third, limit) = (number(-1.0 / 3.0), number(SMALL));
    let (sign, magnitude) = (cx.constant_of(Type::I32, SIGN), cx.constant_of(Type::I32, SIGN - 1));
    let b = cx.builder();
    let absolute = b.fabs(a);
    let exponent = b.fmul(IEEE, absolute, factor);
    let power = b.shared(SharedFn::Ex2, exponent);
    let sum = b.fadd(IEEE, power, one);
    let quotient = b.fdiv(IEEE, two, sum);
    let large = b.fsub(IEEE, one, quotient);
    let square = b.fmul(IEEE, absolute, absolute);
    let cube = b.fmul(IEEE, square, absolute);
    let near = b.fma(IEEE, cube, third, absolute);
    let small = b.fcmp(FloatCc::Lt, false, absolute, limit);
    let result = cx.one_of(small, near, large);
    let b = cx.builder();
    let (result, bits) = (b.bitcast(Type::I32, result), b.bitcast(Type::I32, a));
    let (result, sign) = (b.and(result, magnitude), b.and(bits, sign));
    let result = b.or(result, sign);
    b.bitcast(Type::F32, result)
}

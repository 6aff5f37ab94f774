//! Float operations on one value or one vector. Operations that do not round to nearest are in
//! [`super::rounding`].
//!
//! Results carry the NaN that the host made. [`canonical`] is applied where the bits matter.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round, Type};

use super::int::constant;
use super::rounding::Rounding;
use crate::forms::clif_type;

fn int_type(ty: Type) -> Type {
    ty.as_int()
}

/// Returns the bits of a float as an integer of the same shape. [`to_float`] is the inverse.
fn to_int(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    super::vector::cast(b, clif_type(int_type(ty), vector), a)
}

fn to_float(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    super::vector::cast(b, clif_type(ty, vector), a)
}

/// Returns `x` where the condition holds, else `y`. The condition is a vector of ones and zeros, or
/// the result of a compare.
fn choose(b: &mut FunctionBuilder, condition: Clif, x: Clif, y: Clif, vector: bool) -> Clif {
    if !vector {
        return b.ins().select(condition, x, y);
    }
    super::vector::blend(b, condition, x, y)
}

/// Replaces every NaN by the NaN that the ISA's results have.
pub fn canonical(b: &mut FunctionBuilder, ty: Type, bits: u64, a: Clif, vector: bool) -> Clif {
    let nan = b.ins().fcmp(FloatCC::Unordered, a, a);
    let replacement = constant(b, ty, bits, vector);
    choose(b, nan, replacement, a, vector)
}

/// Replaces denormals by zeros of the same sign.
pub fn flush(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    let exponent =
        constant(b, int_type(ty), if ty == Type::F32 { 0x7f80_0000 } else { 0x7ff0 << 48 }, vector);
    let bits = to_int(b, ty, a, vector);
    let exponent = b.ins().band(bits, exponent);
    if !vector {
        let sign = constant(b, int_type(ty), 1 << (ty.bits() - 1), false);
        let sign = b.ins().band(bits, sign);
        let flushed = b.ins().select(exponent, bits, sign);
        return to_float(b, ty, flushed, false);
    }
    let zero = constant(b, int_type(ty), 0, true);
    let tiny = b.ins().icmp(IntCC::Equal, exponent, zero);
    // Clear all bits but the sign.
    let dropped = b.ins().ushr_imm_u(tiny, 1);
    let flushed = b.ins().band_not(bits, dropped);
    to_float(b, ty, flushed, true)
}

pub fn flushed(
    b: &mut FunctionBuilder,
    attrs: FloatAttrs,
    ty: Type,
    a: Clif,
    vector: bool,
) -> Clif {
    if attrs.flush { flush(b, ty, a, vector) } else { a }
}

/// Clamps to [+0, 1]; NaN and -0 become +0.
fn saturate(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    let zero = constant(b, ty, 0, vector);
    let one =
        constant(b, ty, if ty == Type::F32 { 0x3f80_0000 } else { 0x3ff0_0000_0000_0000 }, vector);
    let positive = b.ins().fcmp(FloatCC::GreaterThan, a, zero);
    let low = choose(b, positive, a, zero, vector);
    let below = b.ins().fcmp(FloatCC::LessThan, low, one);
    choose(b, below, low, one, vector)
}

pub fn finish(b: &mut FunctionBuilder, attrs: FloatAttrs, ty: Type, a: Clif, vector: bool) -> Clif {
    let a = flushed(b, attrs, ty, a, vector);
    if attrs.saturate { saturate(b, ty, a, vector) } else { a }
}

pub fn binary(
    b: &mut FunctionBuilder,
    op: FloatBinaryOp,
    attrs: FloatAttrs,
    ty: Type,
    x: Clif,
    y: Clif,
    vector: bool,
) -> Clif {
    let (x, y) = (flushed(b, attrs, ty, x, vector), flushed(b, attrs, ty, y, vector));
    let result = match op {
        FloatBinaryOp::Min | FloatBinaryOp::Max => least_or_greatest(b, op, ty, x, y, vector),
        _ if attrs.round != Round::Nearest => {
            Rounding::new(b, attrs.round, vector).binary(op, ty, x, y)
        }
        FloatBinaryOp::Add => b.ins().fadd(x, y),
        FloatBinaryOp::Sub => b.ins().fsub(x, y),
        FloatBinaryOp::Mul => b.ins().fmul(x, y),
        FloatBinaryOp::Div => b.ins().fdiv(x, y),
    };
    finish(b, attrs, ty, result, vector)
}

/// Emits minNum or maxNum with -0 below +0. Of two NaNs the result is a NaN.
fn least_or_greatest(
    b: &mut FunctionBuilder,
    op: FloatBinaryOp,
    ty: Type,
    x: Clif,
    y: Clif,
    vector: bool,
) -> Clif {
    let least = op == FloatBinaryOp::Min;
    let cc = if least { FloatCC::LessThan } else { FloatCC::GreaterThan };
    let first = b.ins().fcmp(cc, x, y);
    let chosen = choose(b, first, x, y, vector);
    // Equal values differ at most in the sign of zero.
    let equal = b.ins().fcmp(FloatCC::Equal, x, y);
    let (xi, yi) = (to_int(b, ty, x, vector), to_int(b, ty, y, vector));
    let merged = if least { b.ins().bor(xi, yi) } else { b.ins().band(xi, yi) };
    let merged = to_float(b, ty, merged, vector);
    let chosen = choose(b, equal, merged, chosen, vector);
    let nan = b.ins().fcmp(FloatCC::Unordered, y, y);
    choose(b, nan, x, chosen, vector)
}

/// Emits a fused multiply-add. Directed roundings of `f64` need a helper at times: see
/// `fused_doubles`.
pub fn fma(
    b: &mut FunctionBuilder,
    attrs: FloatAttrs,
    ty: Type,
    [x, y, z]: [Clif; 3],
    vector: bool,
) -> Clif {
    let x = flushed(b, attrs, ty, x, vector);
    let y = flushed(b, attrs, ty, y, vector);
    let z = flushed(b, attrs, ty, z, vector);
    debug_assert!(ty == Type::F32 || attrs.round == Round::Nearest);
    let result = match attrs.round {
        Round::Nearest => b.ins().fma(x, y, z),
        round => Rounding::new(b, round, vector).fused([x, y, z]),
    };
    finish(b, attrs, ty, result, vector)
}

/// Returns the magnitude of an `f32` or `f64`.
pub fn magnitude(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    if !vector {
        return b.ins().fabs(a);
    }
    // Cranelift's `fabs` of vectors takes three instructions.
    let magnitude = constant(b, ty, ty.bit_mask() >> 1, true);
    b.ins().band(a, magnitude)
}

pub fn unary(
    b: &mut FunctionBuilder,
    op: FloatUnaryOp,
    attrs: FloatAttrs,
    ty: Type,
    x: Clif,
    vector: bool,
) -> Clif {
    let x = if op == FloatUnaryOp::Copy { x } else { flushed(b, attrs, ty, x, vector) };
    let result = match op {
        FloatUnaryOp::Sqrt if attrs.round != Round::Nearest => {
            Rounding::new(b, attrs.round, vector).root(ty, x)
        }
        FloatUnaryOp::Sqrt => b.ins().sqrt(x),
        FloatUnaryOp::Integral => integral(b, attrs.round, x),
        FloatUnaryOp::Copy => x,
    };
    finish(b, attrs, ty, result, vector)
}

pub fn integral(b: &mut FunctionBuilder, round: Round, x: Clif) -> Clif {
    match round {
        Round::Nearest => b.ins().nearest(x),
        Round::Zero => b.ins().trunc(x),
        Round::Down => b.ins().floor(x),
        Round::Up => b.ins().ceil(x),
    }
}

/// Emits a comparison, whose result is a vector of ones and zeros, or an `i8`.
///
/// `Ne` and `EqU` take two compares: no host has one compare for either on vectors.
pub fn compare(b: &mut FunctionBuilder, cc: FloatCc, x: Clif, y: Clif) -> Clif {
    let (first, second) = match cc {
        FloatCc::Eq => (FloatCC::Equal, None),
        FloatCc::NeU => (FloatCC::NotEqual, None),
        FloatCc::Lt => (FloatCC::LessThan, None),
        FloatCc::Le => (FloatCC::LessThanOrEqual, None),
        FloatCc::Gt => (FloatCC::GreaterThan, None),
        FloatCc::Ge => (FloatCC::GreaterThanOrEqual, None),
        FloatCc::Num => (FloatCC::Ordered, None),
        FloatCc::Nan => (FloatCC::Unordered, None),
        FloatCc::LtU => (FloatCC::UnorderedOrLessThan, None),
        FloatCc::LeU => (FloatCC::UnorderedOrLessThanOrEqual, None),
        FloatCc::GtU => (FloatCC::UnorderedOrGreaterThan, None),
        FloatCc::GeU => (FloatCC::UnorderedOrGreaterThanOrEqual, None),
        FloatCc::Ne => (FloatCC::LessThan, Some(FloatCC::GreaterThan)),
        FloatCc::EqU => (FloatCC::Equal, Some(FloatCC::Unordered)),
    };
    let first = b.ins().fcmp(first, x, y);
    let Some(second) = second else { return first };
    let second = b.ins().fcmp(second, x, y);
    b.ins().bor(first, second)
}

/// Returns 1/x, correctly rounded. Denormal operands and results become zeros.
pub fn reciprocal(b: &mut FunctionBuilder, x: Clif, vector: bool) -> Clif {
    let x = flush(b, Type::F32, x, vector);
    let one = constant(b, Type::F32, 0x3f80_0000, vector);
    let result = b.ins().fdiv(one, x);
    flush(b, Type::F32, result, vector)
}

/// Returns 1/sqrt(x), correctly rounded. With `flush`, denormal operands become zeros.
///
/// The host's root and quotient are wrong by an ulp at most, and the missing part is added. This
/// takes a third of the time of a root and a quotient in `f64`. The step should be half of the
/// missing part and takes slightly less; this makes the result right for every operand. A test
/// tries all operands.
pub fn reciprocal_root(b: &mut FunctionBuilder, flush: bool, x: Clif, vector: bool) -> Clif {
    let [one, half] = [0x3f80_0000, 0x3eff_ffff].map(|bits| constant(b, Type::F32, bits, vector));
    let x = if flush { self::flush(b, Type::F32, x, vector) } else { x };
    let root = b.ins().sqrt(x);
    let near = b.ins().fdiv(one, root);
    // 1 - x near^2, where x near is exact in two parts.
    let high = b.ins().fmul(x, near);
    let minus_high = b.ins().fneg(high);
    let low = b.ins().fma(x, near, minus_high);
    let minus_low = b.ins().fneg(low);
    let missing = b.ins().fma(minus_high, near, one);
    let missing = b.ins().fma(minus_low, near, missing);
    // 1/sqrt(1 - d) is about 1 + d/2.
    let half = b.ins().fmul(near, half);
    let result = b.ins().fma(half, missing, near);
    // Roots of zeros, infinities, NaNs and negative numbers have no missing part.
    let is_number = b.ins().fcmp(FloatCC::Ordered, missing, missing);
    choose(b, is_number, result, near, vector)
}

/// Converts the low and the high pair of an `f32x4` to `f64x2`.
pub fn promote(b: &mut FunctionBuilder, x: Clif) -> [Clif; 2] {
    let low = b.ins().fvpromote_low(x);
    let swapped = super::vector::shuffle_words(b, x, x, [2, 3, 2, 3]);
    [low, b.ins().fvpromote_low(swapped)]
}

/// Converts two `f64x2` to one `f32x4`.
pub fn demote(b: &mut FunctionBuilder, low: Clif, high: Clif) -> Clif {
    let (low, high) = (b.ins().fvdemote(low), b.ins().fvdemote(high));
    let merged = super::vector::shuffle_words(b, low, high, [0, 1, 4, 5]);
    debug_assert_eq!(b.func.dfg.value_type(merged), types::F32X4);
    merged
}

//! Arithmetic of floats that the guests have in common.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, IntCc, Type, Value, division};

use super::Cx;

/// Emits FSWZADD: A + B, B - A, A - B or B, as two bits of `swizzle` for each lane of a quad choose;
/// lane 0 has the top bits.
pub fn swizzled_sum(cx: &mut Cx<'_>, attrs: FloatAttrs, swizzle: u64, a: Value, b: Value) -> Value {
    let mut lanes = |choice| {
        let quad: u64 = (0..4)
            .filter(|lane| swizzle >> (6 - 2 * lane) & 3 == choice)
            .map(|lane| 1 << lane)
            .sum();
        match quad {
            0 => Mask::Never,
            0xf => Mask::Always,
            // The pattern repeats in all quads of the warp.
            _ => Mask::Lanes(cx.constant(Type::Mask, quad * 0x1111_1111)),
        }
    };
    let (negated_a, negated_b, without_a) = (lanes(1), lanes(2), lanes(3));
    let zero = cx.b.f32const(0.0);
    let (minus_a, minus_b) = (cx.b.fneg(a), cx.b.fneg(b));
    let (a, b) = (cx.select(negated_a, minus_a, a), cx.select(negated_b, minus_b, b));
    let a = cx.select(without_a, zero, a);
    cx.b.fadd(attrs, a, b)
}

/// Returns the lanes where a factor is zero, or a denormal that flushes.
fn any_zero(cx: &mut Cx<'_>, a: Value, b: Value) -> Mask {
    let zero = cx.zero_like(a);
    let mut is_zero = |value| Mask::Lanes(cx.b.fcmp(FloatCc::Eq, true, value, zero));
    let (a, b) = (is_zero(a), is_zero(b));
    cx.or(a, b)
}

/// Emits a product of floats of any type; 0 times anything may be 0.
pub fn product(cx: &mut Cx<'_>, attrs: FloatAttrs, zero_wins: bool, a: Value, b: Value) -> Value {
    let result = cx.b.fmul(attrs, a, b);
    if !zero_wins {
        return result;
    }
    let (zeros, zero) = (any_zero(cx, a, b), cx.zero_like(a));
    cx.select(zeros, zero, result)
}

/// Emits a product and a sum of floats of any type, rounded once; 0 times anything may be 0.
pub fn fused(cx: &mut Cx<'_>, attrs: FloatAttrs, zero_wins: bool, [a, b, c]: [Value; 3]) -> Value {
    let result = cx.b.fma(attrs, a, b, c);
    if !zero_wins {
        return result;
    }
    let (zeros, zero) = (any_zero(cx, a, b), cx.zero_like(a));
    let sum = cx.b.fadd(attrs, zero, c);
    cx.select(zeros, sum, result)
}

/// Emits the minimum in the lanes of `least`, else the maximum.
pub fn min_max(cx: &mut Cx<'_>, attrs: FloatAttrs, least: Mask, a: Value, b: Value) -> Value {
    match least {
        Mask::Always => cx.b.fmin(attrs, a, b),
        Mask::Never => cx.b.fmax(attrs, a, b),
        Mask::Lanes(_) => {
            let (min, max) = (cx.b.fmin(attrs, a, b), cx.b.fmax(attrs, a, b));
            cx.select(least, min, max)
        }
    }
}

/// Emits FCHK: the lanes where the fast path of A / B is unsafe. It is if the exponent of A, of B or
/// of the quotient is extreme. The exact condition is unknown; this condition holds in all unsafe
/// cases.
pub fn is_unsafe_quotient(cx: &mut Cx<'_>, a: Value, b: Value) -> Mask {
    let mut exponent = |value| {
        let bits = cx.cast(Type::I32, value);
        cx.bit_range(bits, 23, 8, false)
    };
    let (ea, eb) = (exponent(a), exponent(b));
    let quotient = cx.b.sub(ea, eb);
    // Safe exponents are for A from -103, for B from -125 to 125, for the quotient from -124 to
    // 125. The exponents of A and B are biased by 127.
    let ranges = [(ea, -103 + 127, 254), (eb, -125 + 127, 125 + 127), (quotient, -124, 125)];
    let mut unsafe_lanes = Mask::Never;
    for (value, least, most) in ranges {
        let (least, span) = (cx.int(least as u32), cx.int((most - least) as u32));
        let above = cx.b.sub(value, least);
        let outside = Mask::Lanes(cx.b.icmp(IntCc::GtU, above, span));
        unsafe_lanes = cx.or(unsafe_lanes, outside);
    }
    // No lane is unsafe if both its exponents are moderate, which is a fast test.
    let unusual = Mask::Lanes(division::are_unusual(&mut cx.b, Type::F32, a, Some(b)));
    cx.and(unusual, unsafe_lanes)
}

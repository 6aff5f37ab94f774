//! F32 arithmetic.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, IntCc, Round, Type, Value, division};

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{CheckMode, Flush, Ftz, Rounding, Scale};

pub fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::Nearest,
        Rounding::Down => Round::Down,
        Rounding::Up => Round::Up,
        Rounding::Zero => Round::Zero,
    }
}

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    cc::write_float(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts FADD: A + B.
pub fn fadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs =
        FloatAttrs { round: round(i.rounding()), flush: i.ftz() == Ftz::Flush, saturate: i.sat() };
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let result = cx.b.fadd(attrs, a, b);
    finish(cx, i, result)
}

/// Lifts FSWZADD: A + B, B - A, A - B or B, as two bits for each lane of a quad choose; lane 0 has
/// the top bits. `.NDV` is for pixels.
///
/// Source: Mesa's nouveau driver, which computes derivatives by a butterfly SHFL and FSWZADD.
pub fn fswzadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs =
        FloatAttrs { round: round(i.rounding()), flush: i.ftz() == Ftz::Flush, saturate: false };
    let mut lanes = |choice| {
        let quad: u64 = (0..4)
            .filter(|lane| i.swizzle() >> (6 - 2 * lane) & 3 == choice)
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
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let zero = cx.b.f32const(0.0);
    let (minus_a, minus_b) = (cx.b.fneg(a), cx.b.fneg(b));
    let (a, b) = (cx.select(negated_a, minus_a, a), cx.select(negated_b, minus_b, b));
    let a = cx.select(without_a, zero, a);
    let result = cx.b.fadd(attrs, a, b);
    finish(cx, i, result)
}

/// Returns whether denormals flush, and whether 0 times anything is 0.
pub fn flushing(flush: Flush) -> Result<(bool, bool), Unsupported> {
    match flush {
        Flush::Keep => Ok((false, false)),
        Flush::Ftz => Ok((true, false)),
        Flush::Fmz => Ok((true, true)),
        Flush::Reserved => Err(Unsupported),
    }
}

/// Returns the lanes where a factor is zero, or a denormal that flushes.
fn any_zero(cx: &mut Cx<'_>, a: Value, b: Value) -> Mask {
    let zero = cx.constant(cx.b.ty(a).ty, 0);
    let mut is_zero = |value| Mask::Lanes(cx.b.fcmp(FloatCc::Eq, true, value, zero));
    let (a, b) = (is_zero(a), is_zero(b));
    cx.or(a, b)
}

/// Lifts FMUL: A * B, scaled before it is rounded. A is scaled first, which is exact except for
/// denormals.
pub fn fmul(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let scale = match i.scale() {
        Scale::None => None,
        Scale::D2 => Some(0.5),
        Scale::D4 => Some(0.25),
        Scale::D8 => Some(0.125),
        Scale::M2 => Some(2.0),
        Scale::M4 => Some(4.0),
        Scale::M8 => Some(8.0),
        Scale::Reserved => return Err(Unsupported),
    };
    let attrs = FloatAttrs { round: round(i.rounding()), flush, saturate: i.sat() };
    let (mut a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    if let Some(scale) = scale {
        let scale = cx.b.f32const(scale);
        a = cx.b.fmul(FloatAttrs { flush, ..FloatAttrs::IEEE }, a, scale);
    }
    let result = product(cx, attrs, zero_wins, a, b);
    finish(cx, i, result)
}

/// Emits a product of floats of any type; 0 times anything may be 0.
pub fn product(cx: &mut Cx<'_>, attrs: FloatAttrs, zero_wins: bool, a: Value, b: Value) -> Value {
    let result = cx.b.fmul(attrs, a, b);
    if !zero_wins {
        return result;
    }
    let (zeros, zero) = (any_zero(cx, a, b), cx.constant(cx.b.ty(a).ty, 0));
    cx.select(zeros, zero, result)
}

/// Lifts FFMA: A * B + C, rounded once.
pub fn ffma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let attrs = FloatAttrs { round: round(i.rounding()), flush, saturate: i.sat() };
    let (a, b, c) = (cx.f32(i.a()), cx.f32(i.b()), cx.f32(i.c()));
    let result = fused(cx, attrs, zero_wins, [a, b, c]);
    finish(cx, i, result)
}

/// Emits a product and a sum of floats of any type, rounded once; 0 times anything may be 0.
pub fn fused(cx: &mut Cx<'_>, attrs: FloatAttrs, zero_wins: bool, [a, b, c]: [Value; 3]) -> Value {
    let result = cx.b.fma(attrs, a, b, c);
    if !zero_wins {
        return result;
    }
    let (zeros, zero) = (any_zero(cx, a, b), cx.constant(cx.b.ty(a).ty, 0));
    let sum = cx.b.fadd(attrs, zero, c);
    cx.select(zeros, sum, result)
}

/// Lifts FMNMX: minimum if P, else maximum. With one NaN, the result is the other operand.
pub fn fmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.f32(i.a()), cx.f32(i.b()), cx.pred(i.ps()));
    let attrs = FloatAttrs { flush: i.ftz() == Ftz::Flush, ..FloatAttrs::IEEE };
    let result = min_max(cx, attrs, least, a, b);
    finish(cx, i, result)
}

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

/// Lifts FCHK: whether the fast path of A / B is unsafe. It is if the exponent of A, of B or of the
/// quotient is extreme. The exact condition is unknown; this condition holds in all unsafe cases.
pub fn fchk(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.check_mode() != CheckMode::Divide {
        return Err(Unsupported);
    }
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
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
    let unsafe_lanes = cx.and(unusual, unsafe_lanes);
    cx.set_pred(i.pd(), unsafe_lanes);
    Ok(Flow::Next)
}

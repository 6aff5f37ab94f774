//! F32 arithmetic.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use warploom_ir::{FloatAttrs, Round, Value};
use warploom_sass::lift::float::{fused, is_unsafe_quotient, min_max, product, swizzled_sum};

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

/// Lifts FSWZADD. `.NDV` is for pixels.
///
/// Source: Mesa's nouveau driver, which computes derivatives by a butterfly SHFL and FSWZADD.
pub fn fswzadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs =
        FloatAttrs { round: round(i.rounding()), flush: i.ftz() == Ftz::Flush, saturate: false };
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let result = swizzled_sum(cx, attrs, i.swizzle(), a, b);
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

/// Lifts FFMA: A * B + C, rounded once.
pub fn ffma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let attrs = FloatAttrs { round: round(i.rounding()), flush, saturate: i.sat() };
    let (a, b, c) = (cx.f32(i.a()), cx.f32(i.b()), cx.f32(i.c()));
    let result = fused(cx, attrs, zero_wins, [a, b, c]);
    finish(cx, i, result)
}

/// Lifts FMNMX: minimum if P, else maximum. With one NaN, the result is the other operand.
pub fn fmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.f32(i.a()), cx.f32(i.b()), cx.pred(i.ps()));
    let attrs = FloatAttrs { flush: i.ftz() == Ftz::Flush, ..FloatAttrs::IEEE };
    let result = min_max(cx, attrs, least, a, b);
    finish(cx, i, result)
}

/// Lifts FCHK: whether the fast path of A / B is unsafe.
pub fn fchk(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.check_mode() != CheckMode::Divide {
        return Err(Unsupported);
    }
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let unsafe_lanes = is_unsafe_quotient(cx, a, b);
    cx.set_pred(i.pd(), unsafe_lanes);
    Ok(Flow::Next)
}

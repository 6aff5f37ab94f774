//! Arithmetic of F32 and F64.
//!
//! Source: the same PTX through this guest and the PTX guest; for the modifiers that both have,
//! facts, `maxwell-semantics.md` 4.

use warploom_guest::divergence::Mask;
use warploom_guest::tanh::tanh;
use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, Round, SharedFn, Type, Value};
use warploom_sass::Role;
use warploom_sass::lift::Cx;
use warploom_sass::lift::float::{self, fused, is_unsafe_quotient, product, swizzled_sum};

use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pair, set_pred};
use crate::Instruction;
use crate::field::{Flush, MufuOp, Rounding, Scale};

pub fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::Nearest => Round::Nearest,
        Rounding::Down => Round::Down,
        Rounding::Up => Round::Up,
        Rounding::Zero => Round::Zero,
    }
}

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    set(cx, i, result);
    Ok(Flow::Next)
}

pub fn fadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs = FloatAttrs { round: round(i.rounding()), flush: i.ftz(), saturate: i.sat() };
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let result = cx.b.fadd(attrs, a, b);
    finish(cx, i, result)
}

/// Lifts FSWZADD. `.NDV` is for pixels.
pub fn fswzadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs = FloatAttrs { round: round(i.rounding()), flush: i.ftz(), saturate: false };
    let (a, b) = (cx.f32(i.a()), cx.f32(i.c()));
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

/// Lifts FMNMX: minimum if P, else maximum. With one NaN, the result is the other operand; with
/// `.NAN` it is a NaN.
pub fn fmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.f32(i.a()), cx.f32(i.b()), cx.pred(i.ps()));
    let attrs = FloatAttrs { flush: i.ftz(), ..FloatAttrs::IEEE };
    let result = min_max(cx, attrs, i.nan(), least, a, b);
    finish(cx, i, result)
}

/// Returns the minimum in the lanes of `least`, else the maximum. With `nan`, one NaN makes a NaN.
pub fn min_max(
    cx: &mut Cx<'_>,
    attrs: FloatAttrs,
    nan: bool,
    least: Mask,
    a: Value,
    b: Value,
) -> Value {
    let result = float::min_max(cx, attrs, least, a, b);
    if !nan {
        return result;
    }
    let ty = cx.b.ty(a).ty;
    let unordered = Mask::Lanes(cx.b.fcmp(FloatCc::Nan, false, a, b));
    let canonical = cx.constant(ty, super::NAN.canonical(ty));
    cx.select(unordered, canonical, result)
}

/// Lifts FSEL: P ? A : B.
pub fn fsel(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, choice) = (cx.f32(i.a()), cx.f32(i.b()), cx.pred(i.ps()));
    let mut result = cx.select(choice, a, b);
    if i.ftz() {
        let attrs = FloatAttrs { flush: true, ..FloatAttrs::IEEE };
        result = cx.b.funary(FloatUnaryOp::Copy, attrs, result);
    }
    finish(cx, i, result)
}

/// Lifts FCHK: whether the fast path of A / B is unsafe.
pub fn fchk(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let unsafe_lanes = is_unsafe_quotient(cx, a, b);
    set_pred(cx, i, Role::Pd, unsafe_lanes);
    Ok(Flow::Next)
}

/// Lifts MUFU of F32, and of the high words of F64. Arguments of sine and cosine are turns.
pub fn mufu(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.row.format.contains(".F16") {
        return Err(Unsupported);
    }
    let function = match i.mufu_op() {
        MufuOp::Cos => SharedFn::TableCos,
        MufuOp::Sin => SharedFn::TableSin,
        MufuOp::Ex2 => SharedFn::TableEx2,
        MufuOp::Lg2 => SharedFn::TableLg2,
        MufuOp::Rcp => SharedFn::Rcp,
        MufuOp::Rsq => SharedFn::Rsq,
        MufuOp::Rcp64High => SharedFn::Rcp64High,
        MufuOp::Rsq64High => SharedFn::Rsq64High,
        MufuOp::Sqrt => SharedFn::TableSqrt,
        MufuOp::Tanh => {
            let source = cx.f32(i.b());
            let result = tanh(cx, source);
            return finish(cx, i, result);
        }
        MufuOp::Reserved => return Err(Unsupported),
    };
    // The sign of an F64's high word is at the sign of an F32.
    let of_high_word = matches!(function, SharedFn::Rcp64High | SharedFn::Rsq64High);
    let source = match i.b().imm() {
        // An immediate is that of an F64: its high word.
        Some(bits) if of_high_word => cx.int((bits >> 32) as u32),
        _ => {
            let source = cx.f32(i.b());
            if of_high_word { cx.cast(Type::I32, source) } else { source }
        }
    };
    let result = cx.b.shared(function, source);
    finish(cx, i, result)
}

fn double_attrs(i: &Instruction) -> FloatAttrs {
    FloatAttrs { round: round(i.rounding()), flush: false, saturate: false }
}

fn finish_double(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    set_pair(cx, i, result);
    Ok(Flow::Next)
}

pub fn dadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    let result = cx.b.fadd(double_attrs(i), a, b);
    finish_double(cx, i, result)
}

pub fn dmul(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    let result = cx.b.fmul(double_attrs(i), a, b);
    finish_double(cx, i, result)
}

pub fn dfma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c) = (cx.f64(i.a()), cx.f64(i.b()), cx.f64(i.c()));
    let result = cx.b.fma(double_attrs(i), a, b, c);
    finish_double(cx, i, result)
}

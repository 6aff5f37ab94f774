//! F32 arithmetic.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use crate::ir::{FloatAttrs, FloatCc, Round, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::{FloatCompare, Flush, Ftz, Rounding, Scale};

use super::cc;
use super::compare::set_predicates;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

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

/// A + B.
pub fn fadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let attrs = FloatAttrs { round: round(i.rounding()), flush: i.ftz() == Ftz::Flush, saturate: i.sat() };
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let result = cx.b.fadd(attrs, a, b);
    finish(cx, i, result)
}

/// Whether denormals flush, and whether 0 times anything is 0.
fn flushing(flush: Flush) -> Result<(bool, bool), Unsupported> {
    match flush {
        Flush::Keep => Ok((false, false)),
        Flush::Ftz => Ok((true, false)),
        Flush::Fmz => Ok((true, true)),
        Flush::Reserved => Err(Unsupported),
    }
}

/// The lanes where a factor is zero, or a denormal that flushes.
fn any_zero(cx: &mut Cx<'_>, a: Value, b: Value) -> Mask {
    let zero = cx.b.f32const(0.0);
    let mut is_zero = |value| Mask::Lanes(cx.b.fcmp(FloatCc::Eq, true, value, zero));
    let (a, b) = (is_zero(a), is_zero(b));
    cx.or(a, b)
}

/// A * B, scaled before it is rounded: A is scaled first, which is exact but for denormals.
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
    let mut result = cx.b.fmul(attrs, a, b);
    if zero_wins {
        let (zeros, zero) = (any_zero(cx, a, b), cx.b.f32const(0.0));
        result = cx.select(zeros, zero, result);
    }
    finish(cx, i, result)
}

/// A * B + C, rounded once.
pub fn ffma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (flush, zero_wins) = flushing(i.flush())?;
    let attrs = FloatAttrs { round: round(i.rounding()), flush, saturate: i.sat() };
    let (a, b, c) = (cx.f32(i.a()), cx.f32(i.b()), cx.f32(i.c()));
    let mut result = cx.b.fma(attrs, a, b, c);
    if zero_wins {
        let (zeros, zero) = (any_zero(cx, a, b), cx.b.f32const(0.0));
        let sum = cx.b.fadd(attrs, zero, c);
        result = cx.select(zeros, sum, result);
    }
    finish(cx, i, result)
}

/// The lanes where `a` compares with `b`.
pub fn compare(cx: &mut Cx<'_>, op: FloatCompare, flush: bool, a: Value, b: Value) -> Mask {
    let cc = match op {
        FloatCompare::False => return Mask::Never,
        FloatCompare::True => return Mask::Always,
        FloatCompare::Lt => FloatCc::Lt,
        FloatCompare::Eq => FloatCc::Eq,
        FloatCompare::Le => FloatCc::Le,
        FloatCompare::Gt => FloatCc::Gt,
        FloatCompare::Ne => FloatCc::Ne,
        FloatCompare::Ge => FloatCc::Ge,
        FloatCompare::Num => FloatCc::Num,
        FloatCompare::Nan => FloatCc::Nan,
        FloatCompare::Ltu => FloatCc::LtU,
        FloatCompare::Equ => FloatCc::EqU,
        FloatCompare::Leu => FloatCc::LeU,
        FloatCompare::Gtu => FloatCc::GtU,
        FloatCompare::Neu => FloatCc::NeU,
        FloatCompare::Geu => FloatCc::GeU,
    };
    Mask::Lanes(cx.b.fcmp(cc, flush, a, b))
}

/// Sets two predicates.
pub fn fsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    let holds = compare(cx, i.float_compare(), i.ftz() == Ftz::Flush, a, b);
    set_predicates(cx, i, i.bool_op(), holds)
}

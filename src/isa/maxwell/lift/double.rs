//! F64 arithmetic. Denormals are always kept.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use warploom_ir::{FloatAttrs, Value};
use warploom_sass::lift::float::min_max;

use super::cc;
use super::context::Cx;
use super::float::round;
use super::flow::{Flow, Lifted};
use crate::Instruction;

fn attrs(i: &Instruction) -> FloatAttrs {
    FloatAttrs { round: round(i.rounding()), flush: false, saturate: false }
}

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    cc::write_float(cx, i, result);
    cx.set_pair(i.d(), result);
    Ok(Flow::Next)
}

pub fn dadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    let result = cx.b.fadd(attrs(i), a, b);
    finish(cx, i, result)
}

pub fn dmul(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    let result = cx.b.fmul(attrs(i), a, b);
    finish(cx, i, result)
}

pub fn dfma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c) = (cx.f64(i.a()), cx.f64(i.b()), cx.f64(i.c()));
    let result = cx.b.fma(attrs(i), a, b, c);
    finish(cx, i, result)
}

/// Lifts DMNMX: minimum if P, else maximum.
pub fn dmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.f64(i.a()), cx.f64(i.b()), cx.pred(i.ps()));
    let result = min_max(cx, FloatAttrs::IEEE, least, a, b);
    finish(cx, i, result)
}

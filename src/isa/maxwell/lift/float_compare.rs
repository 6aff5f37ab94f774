//! Comparison of floats.
//!
//! Source: facts, `maxwell-semantics.md` 4.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatCc, Value};

use super::compare::{set_predicates, set_register};
use super::context::Cx;
use super::flow::{Flow, Lifted};
use crate::Instruction;
use crate::field::{FloatCompare, Ftz};

/// Returns the lanes where `a` compares with `b`, of any float type.
pub fn compare(cx: &mut Cx<'_>, i: &Instruction, op: FloatCompare, a: Value, b: Value) -> Mask {
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
    Mask::Lanes(cx.b.fcmp(cc, i.ftz() == Ftz::Flush, a, b))
}

fn singles(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let (a, b) = (cx.f32(i.a()), cx.f32(i.b()));
    compare(cx, i, i.float_compare(), a, b)
}

fn doubles(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let (a, b) = (cx.f64(i.a()), cx.f64(i.b()));
    compare(cx, i, i.float_compare(), a, b)
}

/// Lifts FSETP: sets two predicates.
pub fn fsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = singles(cx, i);
    set_predicates(cx, i, i.bool_op(), holds)
}

pub fn dsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = doubles(cx, i);
    set_predicates(cx, i, i.bool_op(), holds)
}

/// Lifts FSET: sets a register to all ones (with `.BF` 1.0) or 0.
pub fn fset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = singles(cx, i);
    set_register(cx, i, i.bool_op(), holds)
}

pub fn dset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = doubles(cx, i);
    set_register(cx, i, i.bool_op(), holds)
}

/// Lifts FCMP: C op 0 ? A : B.
pub fn fcmp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c, zero) = (cx.f32(i.a()), cx.f32(i.b()), cx.f32(i.c()), cx.b.f32const(0.0));
    let holds = compare(cx, i, i.fcmp_compare(), c, zero);
    let result = cx.select(holds, a, b);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

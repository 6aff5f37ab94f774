//! MUFU, and RRO which prepares its argument.
//!
//! Source: facts, `maxwell-semantics.md` 4.1. Both engines use the functions of
//! [`warploom_ir::shared`].

use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatUnaryOp, Round, SharedFn, Type};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{MufuOp, RangeReduction};

pub fn mufu(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
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
        MufuOp::Reserved => return Err(Unsupported),
    };
    // The sign of an F64's high word is at the sign of an F32.
    let source = cx.f32(i.a());
    let of_high_word = matches!(function, SharedFn::Rcp64High | SharedFn::Rsq64High);
    let mut result = if of_high_word {
        let word = cx.cast(Type::I32, source);
        cx.b.shared(function, word)
    } else {
        cx.b.shared(function, source)
    };
    if i.sat() && !of_high_word {
        result = cx.b.funary(
            FloatUnaryOp::Copy,
            FloatAttrs { saturate: true, ..FloatAttrs::IEEE },
            result,
        );
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts RRO. The hardware's form of the prepared argument is private, and only MUFU reads it: here
/// it is a float. Angles become turns, cut towards 0, as newer hardware does by a multiplication.
pub fn rro(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    const TURN: f32 = 0.159_154_94;
    let mut value = cx.f32(i.b());
    if i.range_reduction() == RangeReduction::SinCos {
        let turn = cx.constant(Type::F32, TURN.to_bits().into());
        let attrs = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
        value = cx.b.fbinary(FloatBinaryOp::Mul, attrs, value, turn);
    }
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

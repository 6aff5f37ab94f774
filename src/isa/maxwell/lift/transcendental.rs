//! MUFU, and RRO which prepares its argument.
//!
//! Source: facts, `maxwell-semantics.md` 4.1. The functions are [`crate::ir::shared`]'s, the same in both engines.

use crate::ir::{FloatAttrs, FloatUnaryOp, SharedFn, Type};
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::MufuOp;

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

pub fn mufu(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let function = match i.mufu_op() {
        MufuOp::Cos => SharedFn::Cos,
        MufuOp::Sin => SharedFn::Sin,
        MufuOp::Ex2 => SharedFn::Ex2,
        MufuOp::Lg2 => SharedFn::Lg2,
        MufuOp::Rcp => SharedFn::Rcp,
        MufuOp::Rsq => SharedFn::Rsq,
        MufuOp::Rcp64High => SharedFn::Rcp64High,
        MufuOp::Rsq64High => SharedFn::Rsq64High,
        MufuOp::Reserved => return Err(Unsupported),
    };
    // The high word of an F64 has its sign where an F32 has it.
    let source = cx.f32(i.a());
    let of_high_word = matches!(function, SharedFn::Rcp64High | SharedFn::Rsq64High);
    let mut result = if of_high_word {
        let word = cx.cast(Type::I32, source);
        cx.b.shared(function, word)
    } else {
        cx.b.shared(function, source)
    };
    if i.sat() && !of_high_word {
        result = cx.b.funary(FloatUnaryOp::Copy, FloatAttrs { saturate: true, ..FloatAttrs::IEEE }, result);
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// The form that RRO gives the argument is the hardware's own, and only MUFU reads it: here it is the argument itself.
pub fn rro(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.f32(i.b());
    cx.set(i.d(), value);
    Ok(Flow::Next)
}

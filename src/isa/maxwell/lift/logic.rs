//! Bitwise logic.
//!
//! Source: facts, `maxwell-semantics.md` 2.3.

use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::LogicOp;

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted};

/// LOP, LOP32I: with `.X` only the test for zero takes earlier words in.
pub fn lop(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let b = cx.word(i.b());
    let result = match i.logic_op() {
        LogicOp::PassB => b,
        op => {
            let a = cx.word(i.a());
            match op {
                LogicOp::And => cx.b.and(a, b),
                LogicOp::Or => cx.b.or(a, b),
                LogicOp::Xor | LogicOp::PassB => cx.b.xor(a, b),
            }
        }
    };
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

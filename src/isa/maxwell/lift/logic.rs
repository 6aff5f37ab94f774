//! Bitwise logic.
//!
//! Source: facts, `maxwell-semantics.md` 2.3.

use warploom_guest::bits;
use warploom_guest::divergence::Mask;
use warploom_ir::Value;

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted};
use crate::Instruction;
use crate::field::{LogicOp, LogicTest};

/// Lifts LOP and LOP32I. With `.X`, only the test for zero includes earlier words.
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
    finish(cx, i, result)
}

/// Lifts LOP3: each bit is bit `4a + 2b + c` of the truth table.
pub fn lop3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()));
    let table = i.truth_table() as u8;
    let result = bits::by_table(cx, table, [a, b, c]);
    finish(cx, i, result)
}

fn finish(cx: &mut Cx<'_>, i: &Instruction, result: Value) -> Lifted {
    if i.pd() != 7 {
        let test = match i.logic_test() {
            LogicTest::False => Mask::Never,
            LogicTest::True => Mask::Always,
            LogicTest::Zero => cc::zero_with(cx, result, i.x()),
            LogicTest::NonZero => {
                let zero = cc::zero_with(cx, result, i.x());
                cx.not(zero)
            }
        };
        cx.set_pred(i.pd(), test);
    }
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

//! Bitwise logic.
//!
//! Source: facts, `maxwell-semantics.md` 2.3.

use crate::ir::Value;
use crate::isa::divergence::Mask;
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::{LogicOp, LogicTest};

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted};

/// LOP, LOP32I. With `.X` only the test for zero takes earlier words in.
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

/// Bit `4a + 2b + c` of the truth table.
pub fn lop3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()));
    let table = i.truth_table() as u8;
    // Where a is 1 the upper four entries hold, else the lower.
    let (high, low) = (of_two(cx, table >> 4, b, c), of_two(cx, table & 0xf, b, c));
    let result = choose(cx, a, high, low);
    finish(cx, i, result)
}

/// A bitwise function of some operands, as far as it is known.
#[derive(Clone, Copy, PartialEq)]
enum Bits {
    Zeros,
    Ones,
    Value(Value),
}

impl Bits {
    fn value(self, cx: &mut Cx<'_>) -> Value {
        match self {
            Bits::Zeros => cx.int(0),
            Bits::Ones => cx.int(u32::MAX),
            Bits::Value(value) => value,
        }
    }
}

/// Bit `2b + c` of a truth table of four entries.
fn of_two(cx: &mut Cx<'_>, table: u8, b: Value, c: Value) -> Bits {
    let not = |cx: &mut Cx<'_>, value| cx.b.not(value);
    Bits::Value(match table {
        0b0000 => return Bits::Zeros,
        0b1111 => return Bits::Ones,
        0b1100 => b,
        0b0011 => not(cx, b),
        0b1010 => c,
        0b0101 => not(cx, c),
        0b1000 => cx.b.and(b, c),
        0b1110 => cx.b.or(b, c),
        0b0110 => cx.b.xor(b, c),
        0b0100 => {
            let c = not(cx, c);
            cx.b.and(b, c)
        }
        0b0010 => {
            let b = not(cx, b);
            cx.b.and(b, c)
        }
        // The complement of one of the above.
        _ => {
            let inverse = of_two(cx, !table & 0xf, b, c).value(cx);
            not(cx, inverse)
        }
    })
}

/// `high` where a bit of `a` is set, else `low`.
fn choose(cx: &mut Cx<'_>, a: Value, high: Bits, low: Bits) -> Value {
    match (high, low) {
        _ if high == low => high.value(cx),
        (Bits::Ones, Bits::Zeros) => a,
        (Bits::Zeros, Bits::Ones) => cx.b.not(a),
        (Bits::Value(high), Bits::Zeros) => cx.b.and(a, high),
        (Bits::Ones, Bits::Value(low)) => cx.b.or(a, low),
        _ => {
            // low ^ (a & (high ^ low))
            let (high, low) = (high.value(cx), low.value(cx));
            let differ = cx.b.xor(high, low);
            let change = cx.b.and(a, differ);
            cx.b.xor(low, change)
        }
    }
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

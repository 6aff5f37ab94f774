//! Shifts.
//!
//! Source: facts, `maxwell-semantics.md` 2.3.

use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::Sign;

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

/// A << B. A count of 32 or more gives 0, with `.W` it is taken modulo 32.
pub fn shl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    shift(cx, i, |cx, value, count| cx.b.shl(value, count))
}

/// A >> B, arithmetic unless `.U32`.
pub fn shr(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let signed = i.sign() == Sign::Signed;
    shift(cx, i, |cx, value, count| if signed { cx.b.shr_s(value, count) } else { cx.b.shr_u(value, count) })
}

fn shift(
    cx: &mut Cx<'_>,
    i: &Instruction,
    shift: impl Fn(&mut Cx<'_>, crate::ir::Value, crate::ir::Value) -> crate::ir::Value,
) -> Lifted {
    if i.x() {
        return Err(Unsupported);
    }
    let (mut value, mut count) = (cx.word(i.a()), cx.word(i.b()));
    if i.brev() {
        value = cx.b.bit_reverse(value);
    }
    if i.wrap() {
        let mask = cx.int(31);
        count = cx.b.and(count, mask);
    }
    let result = shift(cx, value, count);
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

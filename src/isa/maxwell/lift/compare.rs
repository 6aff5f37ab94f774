//! Integer comparison.
//!
//! Source: facts, `maxwell-semantics.md` 1 (set predicate) and 2.4.

use crate::ir::{IntCc, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::Instruction;
use crate::isa::maxwell::field::{BoolOp, IntCompare, Sign};

use super::add::add_carry;
use super::cc;
use super::context::Cx;
use super::flags::Flag;
use super::flow::{Flow, Lifted, Unsupported};

/// `x op y`
///
/// # Errors
/// The operation is reserved.
pub fn combine(cx: &mut Cx<'_>, op: BoolOp, x: Mask, y: Mask) -> Result<Mask, Unsupported> {
    Ok(match op {
        BoolOp::And => cx.and(x, y),
        BoolOp::Or => cx.or(x, y),
        BoolOp::Xor => cx.xor(x, y),
        BoolOp::Reserved => return Err(Unsupported),
    })
}

/// Pd = `holds` op Ps, Pe = not `holds` op Ps.
pub fn set_predicates(cx: &mut Cx<'_>, i: &Instruction, op: BoolOp, holds: Mask) -> Lifted {
    let with = cx.pred(i.ps());
    let pd = combine(cx, op, holds, with)?;
    let pe = if i.pe() == 7 {
        Mask::Never
    } else {
        let fails = cx.not(holds);
        combine(cx, op, fails, with)?
    };
    cx.set_pred(i.pd(), pd);
    cx.set_pred(i.pe(), pe);
    Ok(Flow::Next)
}

/// The lanes where `a` compares with `b`.
pub fn compare(cx: &mut Cx<'_>, op: IntCompare, sign: Sign, a: Value, b: Value) -> Mask {
    let signed = sign == Sign::Signed;
    let pick = |if_signed, if_unsigned| if signed { if_signed } else { if_unsigned };
    let cc = match op {
        IntCompare::False => return Mask::Never,
        IntCompare::True => return Mask::Always,
        IntCompare::Lt => pick(IntCc::LtS, IntCc::LtU),
        IntCompare::Le => pick(IntCc::LeS, IntCc::LeU),
        IntCompare::Gt => pick(IntCc::GtS, IntCc::GtU),
        IntCompare::Ge => pick(IntCc::GeS, IntCc::GeU),
        IntCompare::Eq => IntCc::Eq,
        IntCompare::Ne => IntCc::Ne,
    };
    Mask::Lanes(cx.b.icmp(cc, a, b))
}

/// `.X`: the comparison of the high words, after `IADD RZ.CC, Alo, -Blo` on the low ones.
fn compare_chained(cx: &mut Cx<'_>, op: IntCompare, sign: Sign, a: Value, b: Value) -> Mask {
    let inverse = cx.b.not(b);
    let carry = cx.flag(Flag::C);
    let (difference, carry) = add_carry(cx, a, inverse, carry);
    let less = |cx: &mut Cx<'_>| match sign {
        Sign::Unsigned => cx.not(carry),
        Sign::Signed => {
            let (negative, overflow) = (cc::negative(cx, difference), cc::overflow(cx, a, inverse, difference));
            cx.xor(negative, overflow)
        }
    };
    let equal = |cx: &mut Cx<'_>| cc::zero_with(cx, difference, true);
    match op {
        IntCompare::False => Mask::Never,
        IntCompare::True => Mask::Always,
        IntCompare::Eq => equal(cx),
        IntCompare::Ne => {
            let equal = equal(cx);
            cx.not(equal)
        }
        IntCompare::Lt => less(cx),
        IntCompare::Ge => {
            let less = less(cx);
            cx.not(less)
        }
        IntCompare::Le | IntCompare::Gt => {
            let (less, equal) = (less(cx), equal(cx));
            let either = cx.or(less, equal);
            if op == IntCompare::Le { either } else { cx.not(either) }
        }
    }
}

fn holds(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let (a, b) = (cx.word(i.a()), cx.word(i.b()));
    let compare = if i.x() { compare_chained } else { compare };
    compare(cx, i.int_compare(), i.sign(), a, b)
}

/// Sets two predicates.
pub fn isetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = holds(cx, i);
    set_predicates(cx, i, i.bool_op(), holds)
}

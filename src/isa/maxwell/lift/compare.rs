//! Integer comparison and selection.
//!
//! Source: facts, `maxwell-semantics.md` 1 (set predicate), 2.1 and 2.4.

use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, Value};

use super::add::add_carry;
use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{BoolOp, IntCompare, MinMaxWord, Sign};
use warploom_sass::lift::Flag;

/// Returns `x op y`.
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

/// Sets Pd = `holds` op Ps and Pe = not `holds` op Ps.
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

/// Returns the lanes where `a` compares with `b`.
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

/// Compares high words under `.X`, after `IADD RZ.CC, Alo, -Blo` on the low words.
fn compare_chained(cx: &mut Cx<'_>, op: IntCompare, sign: Sign, a: Value, b: Value) -> Mask {
    let inverse = cx.b.not(b);
    let carry = cx.flag(Flag::C);
    let (difference, carry) = add_carry(cx, a, inverse, carry);
    let less = |cx: &mut Cx<'_>| match sign {
        Sign::Unsigned => cx.not(carry),
        Sign::Signed => {
            let (negative, overflow) =
                (cc::negative(cx, difference), cc::overflow(cx, a, inverse, difference));
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

/// Lifts ISETP: sets two predicates.
pub fn isetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = holds(cx, i);
    set_predicates(cx, i, i.bool_op(), holds)
}

/// Lifts ISET: sets a register to all ones (with `.BF` 1.0) or 0.
pub fn iset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = holds(cx, i);
    set_register(cx, i, i.bool_op(), holds)
}

/// Sets D = `holds` op Ps, as a number.
pub fn set_register(cx: &mut Cx<'_>, i: &Instruction, op: BoolOp, holds: Mask) -> Lifted {
    let with = cx.pred(i.ps());
    let truth = combine(cx, op, holds, with)?;
    let result = cc::boolean(cx, truth, i.bool_float());
    cc::write_truth(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts ICMP: C op 0 ? A : B.
pub fn icmp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, c, zero) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()), cx.int(0));
    let holds = compare(cx, i.int_compare(), i.sign(), c, zero);
    let result = cx.select(holds, a, b);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts SEL: P ? A : B.
pub fn sel(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, choice) = (cx.word(i.a()), cx.word(i.b()), cx.pred(i.ps()));
    let result = cx.select(choice, a, b);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts IMNMX: minimum if P, else maximum. For 64 bits, `.XHI` on the high words leaves in CC
/// whether they are equal (Z) and whether A won (C); `.XLO` then decides by CC.
pub fn imnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b, least) = (cx.word(i.a()), cx.word(i.b()), cx.pred(i.ps()));
    let mut result = min_max(cx, i.sign(), least, a, b);
    match i.min_max_word() {
        MinMaxWord::Only => cc::write_result(cx, i, result),
        MinMaxWord::Middle => return Err(Unsupported),
        MinMaxWord::High => {
            if i.cc() {
                let equal = compare(cx, IntCompare::Eq, Sign::Unsigned, a, b);
                let less = compare(cx, IntCompare::Lt, i.sign(), a, b);
                let more = compare(cx, IntCompare::Gt, i.sign(), a, b);
                let won = less.merge(least, more, &mut cx.b);
                let negative = cc::negative(cx, result);
                cc::write(cx, [equal, negative, won, Mask::Never]);
            }
        }
        MinMaxWord::Low => {
            let (equal, won) = (cx.flag(Flag::Z), cx.flag(Flag::C));
            let winner = cx.select(won, a, b);
            result = cx.select(equal, result, winner);
            cc::write_result(cx, i, result);
        }
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

fn min_max(cx: &mut Cx<'_>, sign: Sign, least: Mask, a: Value, b: Value) -> Value {
    let min =
        |cx: &mut Cx<'_>| if sign == Sign::Signed { cx.b.min_s(a, b) } else { cx.b.min_u(a, b) };
    let max =
        |cx: &mut Cx<'_>| if sign == Sign::Signed { cx.b.max_s(a, b) } else { cx.b.max_u(a, b) };
    match least {
        Mask::Always => min(cx),
        Mask::Never => max(cx),
        Mask::Lanes(_) => {
            let (min, max) = (min(cx), max(cx));
            cx.select(least, min, max)
        }
    }
}

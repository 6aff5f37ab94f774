//! Additions and the carry rule.
//!
//! Source: facts, `maxwell-semantics.md` 2.1.

use crate::ir::{IntCc, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::Instruction;

use super::cc;
use super::context::Cx;
use super::flags::Flag;
use super::flow::{Flow, Lifted};

/// A source of an addition: a negated one is its complement, and the carry in makes up for it.
#[derive(Clone, Copy)]
struct Term {
    value: Value,
    neg: bool,
}

/// `a + b` by the carry rule, with `.X`, `.PO`, `.SAT` and `.CC` of the instruction, to D.
fn sum(cx: &mut Cx<'_>, i: &Instruction, a: Term, b: Term) -> Lifted {
    let plus_one = i.row.format.contains(".PO");
    let chained = i.x();
    let result = if !i.cc() && !i.sat() && !chained && !plus_one {
        match (a.neg, b.neg) {
            (false, false) => cx.b.add(a.value, b.value),
            (false, true) => cx.b.sub(a.value, b.value),
            (true, false) => cx.b.sub(b.value, a.value),
            (true, true) => {
                let (a, b) = (complement(cx, a), complement(cx, b));
                let sum = cx.b.add(a, b);
                let one = cx.int(1);
                cx.b.add(sum, one)
            }
        }
    } else {
        let carry = if chained { cx.flag(Flag::C) } else { Mask::of(plus_one || a.neg || b.neg) };
        let (a, b) = (complement(cx, a), complement(cx, b));
        let (sum, carry) = add_carry(cx, a, b, carry);
        let result = if i.sat() { saturate(cx, a, b, sum) } else { sum };
        cc::write_sum(cx, i, result, carry, |cx| cc::overflow(cx, a, b, sum));
        result
    };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

fn complement(cx: &mut Cx<'_>, term: Term) -> Value {
    if term.neg { cx.b.not(term.value) } else { term.value }
}

/// Sum and carry out.
pub fn add_carry(cx: &mut Cx<'_>, a: Value, b: Value, carry: Mask) -> (Value, Mask) {
    let carry = match carry {
        Mask::Never => None,
        some => Some(some.value(&mut cx.b)),
    };
    let (sum, carry) = cx.b.add_carry(a, b, carry);
    (sum, Mask::Lanes(carry))
}

/// The sum, or where it overflowed the limit it went past.
fn saturate(cx: &mut Cx<'_>, a: Value, b: Value, sum: Value) -> Value {
    let overflow = cc::overflow(cx, a, b, sum);
    let (bits, least) = (cx.int(31), cx.int(0x8000_0000));
    let sign = cx.b.shr_s(sum, bits);
    let limit = cx.b.xor(sign, least);
    cx.select(overflow, limit, sum)
}

fn terms(cx: &mut Cx<'_>, i: &Instruction) -> (Term, Term) {
    let (a, b) = (i.a(), i.b());
    (Term { value: cx.raw(a), neg: a.neg }, Term { value: cx.raw(b), neg: b.neg })
}

/// IADD, IADD32I.
pub fn iadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = terms(cx, i);
    sum(cx, i, a, b)
}

/// (A << n) + B; the negation of A comes after the shift.
pub fn iscadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mut a, b) = terms(cx, i);
    a.value = cx.shl(a.value, i.shift() as u32);
    sum(cx, i, a, b)
}

/// The lanes where `a + b + carry` is less than 2^32: the sum has no carry.
pub fn unsigned_less(cx: &mut Cx<'_>, a: Value, b: Value) -> Mask {
    Mask::Lanes(cx.b.icmp(IntCc::LtU, a, b))
}

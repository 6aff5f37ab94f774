//! Additions and the carry rule.
//!
//! Source: facts, `maxwell-semantics.md` 2.1.

pub use warploom_guest::bits::add_carry;
use warploom_guest::divergence::Mask;
use warploom_ir::Value;

use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::AddShift;
use crate::{Instruction, Part, Source};
use warploom_sass::lift::Flag;

/// A source of an addition. A negated source is represented by its complement, for which the carry
/// in makes up.
#[derive(Clone, Copy)]
struct Term {
    value: Value,
    neg: bool,
}

impl Term {
    fn of(cx: &mut Cx<'_>, source: Source) -> Term {
        let raw = cx.raw(source);
        Term { value: cx.part(raw, source.part, false), neg: source.neg }
    }

    fn complemented(self, cx: &mut Cx<'_>) -> Value {
        if self.neg { cx.b.not(self.value) } else { self.value }
    }

    /// Emits `value + self`, for additions without a carry.
    fn added_to(self, cx: &mut Cx<'_>, value: Value) -> Value {
        if self.neg { cx.b.sub(value, self.value) } else { cx.b.add(value, self.value) }
    }
}

/// Emits `a + b` to D by the carry rule, with `.X`, `.PO`, `.SAT` and `.CC` of the instruction.
/// Returns the value of D, and the carry out, if it is known.
fn sum(cx: &mut Cx<'_>, i: &Instruction, a: Term, b: Term) -> (Value, Mask) {
    // Two negations together mean `.PO`.
    let plus_one = i.row.format.contains(".PO");
    let plain = !i.cc() && !i.sat() && !i.x() && !plus_one && i.pd() == 7;
    if plain && !(a.neg && b.neg) {
        let result = match (a.neg, b.neg) {
            (true, _) => cx.b.sub(b.value, a.value),
            (false, _) => b.added_to(cx, a.value),
        };
        cx.set(i.d(), result);
        return (result, Mask::Never);
    }
    let carry = if i.x() { cx.flag(Flag::C) } else { Mask::of(plus_one || a.neg || b.neg) };
    let (a, b) = (a.complemented(cx), b.complemented(cx));
    let (sum, carry) = add_carry(cx, a, b, carry);
    let result = if i.sat() { saturate(cx, a, b, sum) } else { sum };
    cc::write_sum(cx, i, result, carry, |cx| cc::overflow(cx, a, b, sum));
    cx.set(i.d(), result);
    (result, carry)
}

/// Returns the sum, or the limit of the type where the sum overflowed.
pub fn saturate(cx: &mut Cx<'_>, a: Value, b: Value, sum: Value) -> Value {
    let overflow = cc::overflow(cx, a, b, sum);
    let (bits, least) = (cx.int(31), cx.int(0x8000_0000));
    let sign = cx.b.shr_s(sum, bits);
    let limit = cx.b.xor(sign, least);
    cx.select(overflow, limit, sum)
}

/// Lifts IADD and IADD32I.
pub fn iadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (a, b) = (Term::of(cx, i.a()), Term::of(cx, i.b()));
    sum(cx, i, a, b);
    Ok(Flow::Next)
}

/// Lifts ISCADD and ISCADD32I: (A << n) + B. The negation of A comes after the shift.
pub fn iscadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    shifted_add(cx, i, i.shift() as u32)
}

/// Lifts LEA: (A << n) + B, with the carry to a predicate.
pub fn lea(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    shifted_add(cx, i, i.lea_shift() as u32)
}

fn shifted_add(cx: &mut Cx<'_>, i: &Instruction, count: u32) -> Lifted {
    let (mut a, b) = (Term::of(cx, i.a()), Term::of(cx, i.b()));
    a.value = cx.shl(a.value, count);
    let (_, carry) = sum(cx, i, a, b);
    cx.set_pred(i.pd(), carry);
    Ok(Flow::Next)
}

/// Lifts LEA.HI: ((C:A) << n) >> 32, plus B. The negation of the 64-bit number C:A comes after the
/// shift. With `.X`, the carry that makes up for the complement comes from the low word.
///
/// The predicate says that the sum is not 0. If the sum is the high word of a generic address, that
/// means global memory: shared and local memory have their windows in the first 4 GiB. Compilers
/// choose between ATOM and ATOMS by this predicate.
pub fn lea_hi(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let count = i.lea_shift() as u32;
    let (low, high, b) = (cx.raw(i.a()), cx.raw(i.c()), Term::of(cx, i.b()));
    if i.x() && b.neg {
        return Err(Unsupported);
    }
    let neg = i.a().neg;
    let mut value = match count {
        0 => high,
        _ => {
            let (high, low) = (cx.shl(high, count), cx.shr(low, 32 - count));
            cx.b.or(high, low)
        }
    };
    if neg && !i.x() {
        // -(high:low) has the high word ~high, plus 1 if the low word is 0.
        let shifted = cx.shl(low, count);
        let borrow = cc::zero(cx, shifted);
        let (one, zero) = (cx.int(1), cx.int(0));
        let (carry, inverse) = (cx.select(borrow, one, zero), cx.b.not(value));
        value = cx.b.add(inverse, carry);
    } else if neg {
        value = cx.b.not(value);
    }
    let (result, _) = sum(cx, i, Term { value, neg: false }, b);
    if i.pd() != 7 {
        let global = cc::zero(cx, result).not(&mut cx.b);
        cx.set_pred(i.pd(), global);
    }
    Ok(Flow::Next)
}

/// Lifts IADD3: A + B + C. The carry of three terms is 0, 1 or 2.
pub fn iadd3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let terms = [i.a(), i.b(), i.c()].map(|source| Term::of(cx, source));
    match i.add_shift() {
        AddShift::None => {}
        AddShift::Reserved => return Err(Unsupported),
        shift => return shifted_sum(cx, i, shift, terms),
    }
    if !i.cc() && !i.x() {
        let [a, b, c] = terms;
        let first = if a.neg {
            let zero = cx.int(0);
            a.added_to(cx, zero)
        } else {
            a.value
        };
        let second = b.added_to(cx, first);
        let result = c.added_to(cx, second);
        cx.set(i.d(), result);
        return Ok(Flow::Next);
    }
    // The carry in, as the lanes that carry at least 1 and the lanes that carry at least 2.
    let carries = if i.x() {
        let (one, two) = (cx.flag(Flag::C), cx.flag(Flag::C2));
        [cx.or(one, two), two]
    } else {
        match terms.iter().filter(|term| term.neg).count() {
            3 => return Err(Unsupported),
            negs => [Mask::of(negs >= 1), Mask::of(negs >= 2)],
        }
    };
    let [a, b, c] = terms.map(|term| term.complemented(cx));
    let (first, carry1) = add_carry(cx, a, b, carries[0]);
    let (result, carry2) = add_carry(cx, first, c, carries[1]);
    let (one, two) = (cx.xor(carry1, carry2), cx.and(carry1, carry2));
    cc::write_sum(cx, i, result, one, |cx| cc::overflow(cx, first, c, result));
    if i.cc() {
        cx.set_flag(Flag::C2, two);
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts `.RS`: (33-bit A + B) >> 16, plus C; and `.LS`: (A + B) << 16, plus C.
fn shifted_sum(cx: &mut Cx<'_>, i: &Instruction, shift: AddShift, [a, b, c]: [Term; 3]) -> Lifted {
    if i.cc() || i.x() || a.neg || b.neg {
        return Err(Unsupported);
    }
    let shifted = if shift == AddShift::Right16 {
        let (sum, carry) = add_carry(cx, a.value, b.value, Mask::Never);
        let (top, zero) = (cx.int(0x10000), cx.int(0));
        let (low, high) = (cx.part(sum, Part::Half(1), false), cx.select(carry, top, zero));
        cx.b.or(low, high)
    } else {
        let sum = cx.b.add(a.value, b.value);
        cx.shl(sum, 16)
    };
    let result = c.added_to(cx, shifted);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

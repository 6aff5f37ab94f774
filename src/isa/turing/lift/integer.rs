//! Sums, products and shifted sums of integers.
//!
//! Source: the same PTX through this guest and the PTX guest. Mesa's NAK has the carries, found on
//! hardware.

use warploom_guest::bits::add_carry;
use warploom_guest::divergence::Mask;
use warploom_ir::{Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::{Role, Source, Value as Operand};

use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pair, set_pred, wants};
use crate::Instruction;
use crate::field::{DotSigns, Sign};

/// A sum under construction: terms of one type, of which a negated one is its complement plus 1.
struct Sum {
    terms: Vec<Value>,
    /// Further ones, each in some lanes.
    ones: Vec<Mask>,
}

impl Sum {
    fn new() -> Sum {
        Sum { terms: vec![], ones: vec![] }
    }

    fn add(&mut self, value: Value) {
        self.terms.push(value);
    }

    fn add_if(&mut self, cx: &mut Cx<'_>, value: Value, negated: bool) {
        if negated {
            let complement = cx.b.not(value);
            self.terms.push(complement);
            self.ones.push(Mask::Always);
        } else {
            self.terms.push(value);
        }
    }

    /// Returns the sum, and the carries out of its steps.
    fn finish(self, cx: &mut Cx<'_>, ty: Type) -> (Value, Vec<Mask>) {
        let mut ones: Vec<Mask> =
            self.ones.into_iter().rev().filter(|&one| one != Mask::Never).collect();
        let mut terms = self.terms.into_iter();
        let mut sum = terms.next().unwrap_or_else(|| cx.constant(ty, 0));
        let mut carries = vec![];
        loop {
            let (term, one) = (terms.next(), ones.pop());
            if term.is_none() && one.is_none() {
                return (sum, carries);
            }
            let term = term.unwrap_or_else(|| cx.constant(ty, 0));
            let carry;
            (sum, carry) = add_carry(cx, sum, term, one.unwrap_or(Mask::Never));
            carries.push(carry);
        }
    }
}

/// Whether at least one of the carries is set, and whether at least two are.
fn counted(cx: &mut Cx<'_>, carries: &[Mask]) -> [Mask; 2] {
    let (mut one, mut two) = (Mask::Never, Mask::Never);
    for &carry in carries {
        let both = cx.and(one, carry);
        two = cx.or(two, both);
        one = cx.or(one, carry);
    }
    [one, two]
}

/// Whether a source is the constant 0, without a modifier that changes it.
fn is_nothing(source: Source) -> bool {
    let zero = match source.value {
        Operand::Reg(reg) => reg.is_zero(),
        Operand::Uniform(uniform) => uniform.is_zero(),
        Operand::Imm(bits) => bits as u32 == 0,
        _ => false,
    };
    zero && !source.inv
}

/// Lifts IADD3 and UIADD3: A + B + C. The first predicate is the carry, the second says that the
/// carry is 2. With `.X`, two predicates are carries in.
pub fn iadd3(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let with_carry = i.row.format.contains(".X");
    let counts = wants(i, Role::Pd) || wants(i, Role::Pe);
    let sources = [i.a(), i.b(), i.c()];
    let used = sources.into_iter().filter(|&source| {
        // In the carries, the negative of 0 is 2^32.
        !is_nothing(source) || source.neg && counts
    });
    let mut sum = Sum::new();
    if !counts && !with_carry {
        let mut total: Option<Value> = None;
        for source in used.clone().filter(|source| !source.neg) {
            let value = cx.word(source);
            total = Some(total.map_or(value, |total| cx.b.add(total, value)));
        }
        for source in used.filter(|source| source.neg) {
            let value = cx.word(Source { neg: false, ..source });
            total = Some(match total {
                Some(total) => cx.b.sub(total, value),
                None => cx.b.neg(value),
            });
        }
        let total = total.unwrap_or_else(|| cx.int(0));
        set(cx, i, total);
        return Ok(Flow::Next);
    }
    for source in used {
        let value = cx.word(Source { neg: false, ..source });
        sum.add_if(cx, value, source.neg);
    }
    if with_carry {
        for role in [Role::Ps, Role::Pt] {
            let carry = cx.pred(i.predicate(role));
            sum.ones.push(carry);
        }
    }
    let (result, carries) = sum.finish(cx, Type::I32);
    let [one, two] = counted(cx, &carries);
    set(cx, i, result);
    set_pred(cx, i, Role::Pd, one);
    set_pred(cx, i, Role::Pe, two);
    Ok(Flow::Next)
}

/// Returns the power of two that a source is.
fn power_of_two(source: Source) -> Option<u32> {
    let value = source.imm()? as u32;
    value.is_power_of_two().then(|| value.trailing_zeros())
}

/// Returns the low word of A * B; `None` if it is 0.
fn product(cx: &mut Cx<'_>, a: Source, b: Source) -> Option<Value> {
    if is_nothing(a) || is_nothing(b) {
        return None;
    }
    let x = cx.word(a);
    if let Some(count) = power_of_two(b) {
        return Some(if count == 0 { x } else { cx.shl(x, count) });
    }
    let y = cx.word(b);
    Some(cx.b.mul(x, y))
}

/// Lifts IMAD and UIMAD: the low word of A * B + C. With `.X`, a predicate is the carry in.
pub fn imad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let product = product(cx, i.a(), i.b());
    let c = i.c();
    let result = if i.row.format.contains(".X") {
        let mut sum = Sum::new();
        product.into_iter().for_each(|value| sum.add(value));
        if !is_nothing(c) {
            let c = cx.word(c);
            sum.add(c);
        }
        let carry = cx.pred(i.ps());
        sum.ones.push(carry);
        sum.finish(cx, Type::I32).0
    } else {
        let addend = Source { neg: false, ..c };
        match product {
            None => cx.word(c),
            Some(product) if is_nothing(c) => product,
            Some(product) => {
                let addend = cx.word(addend);
                if c.neg { cx.b.sub(product, addend) } else { cx.b.add(product, addend) }
            }
        }
    };
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns a source as 64 bits, extended by the sign of the instruction.
fn extended(cx: &mut Cx<'_>, i: &Instruction, source: Source) -> Value {
    if let Some(imm) = source.imm() {
        let imm = if i.signed() == Sign::Signed { imm } else { imm & 0xffff_ffff };
        return cx.constant(Type::I64, imm);
    }
    let word = cx.word(source);
    if i.signed() == Sign::Signed {
        cx.b.sign_extend(Type::I64, word)
    } else {
        cx.b.zero_extend(Type::I64, word)
    }
}

/// Returns C as 64 bits: a pair, or an immediate extended by the sign of the instruction.
fn wide_addend(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    let c = i.c();
    match c.imm() {
        Some(_) => extended(cx, i, c),
        None => cx.wide(c),
    }
}

/// Returns A * B + C in 64 bits, and the carry out.
fn wide_sum(cx: &mut Cx<'_>, i: &Instruction) -> (Value, Mask) {
    let (with_carry, c) = (i.row.format.contains(".X"), i.c());
    let counts = wants(i, Role::Pd);
    let product = (!is_nothing(i.a()) && !is_nothing(i.b())).then(|| {
        let (a, b) = (extended(cx, i, i.a()), extended(cx, i, i.b()));
        cx.b.mul(a, b)
    });
    if !with_carry && !counts {
        let addend = Source { neg: false, ..c };
        let sum = match product {
            Some(product) if is_nothing(addend) => product,
            product => {
                let addend = wide_addend(cx, i);
                let product = product.unwrap_or_else(|| cx.constant(Type::I64, 0));
                if c.neg { cx.b.sub(product, addend) } else { cx.b.add(product, addend) }
            }
        };
        return (sum, Mask::Never);
    }
    let mut sum = Sum::new();
    product.into_iter().for_each(|value| sum.add(value));
    let mut addend = wide_addend(cx, i);
    if c.inv {
        addend = cx.b.not(addend);
    }
    sum.add_if(cx, addend, c.neg);
    if with_carry {
        let carry = cx.pred(i.ps());
        sum.ones.push(carry);
    }
    let (sum, carries) = sum.finish(cx, Type::I64);
    let [carry, _] = counted(cx, &carries);
    (sum, carry)
}

/// Lifts IMAD.WIDE and UIMAD.WIDE: A * B + C in 64 bits.
pub fn imad_wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (sum, carry) = wide_sum(cx, i);
    set_pair(cx, i, sum);
    set_pred(cx, i, Role::Pd, carry);
    Ok(Flow::Next)
}

/// Lifts IMAD.HI: the high word of A * B + C, where C has 64 bits.
pub fn imad_hi(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (sum, carry) = wide_sum(cx, i);
    let high = cx.b.high_half(sum);
    set(cx, i, high);
    set_pred(cx, i, Role::Pd, carry);
    Ok(Flow::Next)
}

/// Lifts LEA: (A << n) + B. The negation of A comes after the shift.
pub fn lea(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let a = cx.raw(i.a());
    let shifted = cx.shl(a, i.lea_shift() as u32);
    shifted_sum(cx, i, shifted)
}

/// Lifts LEA.HI: the high word of (C:A) << n, plus B. With `.SX32`, C is the sign of A.
pub fn lea_hi(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let count = i.lea_shift() as u32;
    let low = cx.raw(i.a());
    let high = if i.row.format.contains("SX32") {
        let sign = cx.int(31);
        cx.b.shr_s(low, sign)
    } else {
        cx.raw(i.c())
    };
    let shifted = if count == 0 {
        high
    } else {
        let (high, low) = (cx.shl(high, count), cx.shr(low, 32 - count));
        cx.b.or(high, low)
    };
    shifted_sum(cx, i, shifted)
}

/// Adds B, and the carry in with `.X`, to a shifted A, under the modifiers of A.
fn shifted_sum(cx: &mut Cx<'_>, i: &Instruction, shifted: Value) -> Lifted {
    let (a, b) = (i.a(), i.b());
    let with_carry = i.row.format.contains(".X");
    if !with_carry && !wants(i, Role::Pd) {
        let addend = cx.word(Source { neg: false, ..b });
        let result = match (a.neg, b.neg) {
            (false, false) => cx.b.add(shifted, addend),
            (false, true) => cx.b.sub(shifted, addend),
            (true, false) => cx.b.sub(addend, shifted),
            (true, true) => return Err(Unsupported),
        };
        set(cx, i, result);
        return Ok(Flow::Next);
    }
    let mut sum = Sum::new();
    let shifted = if a.inv { cx.b.not(shifted) } else { shifted };
    sum.add_if(cx, shifted, a.neg);
    let addend = cx.word(Source { neg: false, ..b });
    sum.add_if(cx, addend, b.neg);
    if with_carry {
        let carry = cx.pred(i.ps());
        sum.ones.push(carry);
    }
    let (result, carries) = sum.finish(cx, Type::I32);
    let [carry, _] = counted(cx, &carries);
    set(cx, i, result);
    set_pred(cx, i, Role::Pd, carry);
    Ok(Flow::Next)
}

/// Lifts IABS: |B|.
pub fn iabs(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let b = cx.word(i.b());
    let result = cx.b.abs(b);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns |a - b|, as 32 bits.
fn distance(cx: &mut Cx<'_>, signed: bool, a: Value, b: Value) -> Value {
    let (least, most) = if signed {
        (cx.b.min_s(a, b), cx.b.max_s(a, b))
    } else {
        (cx.b.min_u(a, b), cx.b.max_u(a, b))
    };
    cx.b.sub(most, least)
}

/// Lifts VABSDIFF: |A - B| + C.
pub fn vabsdiff(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if wants(i, Role::Pd) {
        return Err(Unsupported);
    }
    let (a, b, c) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()));
    let distance = distance(cx, i.signed() == Sign::Signed, a, b);
    let result = cx.b.add(distance, c);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts VABSDIFF4: |A - B| of each byte; with `.ACC` their sum, plus C.
pub fn vabsdiff4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if wants(i, Role::Pd) {
        return Err(Unsupported);
    }
    let signed = i.byte_signed() == Sign::Signed;
    let (a, b, c) = (cx.word(i.a()), cx.word(i.b()), cx.word(i.c()));
    let mut distances = [0, 8, 16, 24].map(|at| {
        let (a, b) = (cx.bit_range(a, at, 8, signed), cx.bit_range(b, at, 8, signed));
        distance(cx, signed, a, b)
    });
    if i.accumulate() {
        let sum = distances.into_iter().fold(c, |sum, distance| cx.b.add(sum, distance));
        set(cx, i, sum);
        return Ok(Flow::Next);
    }
    for (n, distance) in distances.iter_mut().enumerate().skip(1) {
        *distance = cx.shl(*distance, 8 * n as u32);
    }
    let all = distances.into_iter().reduce(|all, byte| cx.b.or(all, byte));
    let result = all.unwrap_or(c);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts IDP: the sum of the products of bytes of A and B (`.4A`), or of halves of A and bytes of B
/// (`.2A`), plus C.
pub fn idp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (bytes, high) = (i.row.format.contains("4A"), i.row.format.contains("HI"));
    let signs = if bytes { i.dot_signs() } else { i.dot_wide_signs() };
    let signed_a = matches!(signs, DotSigns::S8U8 | DotSigns::S8S8);
    let signed_b = matches!(signs, DotSigns::U8S8 | DotSigns::S8S8);
    let (a, b) = (cx.word(i.a()), cx.word(i.b()));
    let mut sum = cx.word(i.c());
    for n in 0..if bytes { 4 } else { 2 } {
        let width = if bytes { 8 } else { 16 };
        let x = cx.bit_range(a, n * width, width, signed_a);
        let y = cx.bit_range(b, n * 8 + if high { 16 } else { 0 }, 8, signed_b);
        let product = cx.b.mul(x, y);
        sum = cx.b.add(sum, product);
    }
    set(cx, i, sum);
    Ok(Flow::Next)
}

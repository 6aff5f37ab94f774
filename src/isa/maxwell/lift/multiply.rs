//! Products. There is no 32-bit multiplier: three XMAD make a product.
//!
//! Source: facts, `maxwell-semantics.md` 2.2.

use warploom_guest::divergence::Mask;
use warploom_ir::Value;

use super::add::{add_carry, saturate};
use super::cc;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{MulSigns, XmadMode, XmadSigns};
use crate::{Instruction, Part, Source};
use warploom_sass::lift::Flag;

/// Returns the half of a factor that is multiplied; an immediate is a half.
fn half(cx: &mut Cx<'_>, source: Source, word: Value, signed: bool) -> Value {
    let part = if source.part == Part::Whole { Part::Half(0) } else { source.part };
    match source.imm() {
        Some(imm) if signed => cx.int(imm as i16 as u32),
        Some(imm) => cx.int(imm as u16 as u32),
        None => cx.part(word, part, signed),
    }
}

/// Lifts XMAD: 16 x 16 + 32 bits.
pub fn xmad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (signed_a, signed_b) = match i.xmad_signs() {
        XmadSigns::U16U16 => (false, false),
        XmadSigns::S16U16 => (true, false),
        XmadSigns::U16S16 => (false, true),
        XmadSigns::S16S16 => (true, true),
    };
    let (sa, sb, sc) = (i.a(), i.b(), i.c());
    let (a, b, c) = (cx.raw(sa), cx.raw(sb), cx.raw(sc));
    let (ha, hb) = (half(cx, sa, a, signed_a), half(cx, sb, b, signed_b));
    let addend = match i.xmad_mode() {
        XmadMode::None => c,
        XmadMode::Clo => cx.part(c, Part::Half(0), false),
        XmadMode::Chi => cx.part(c, Part::Half(1), false),
        XmadMode::Cbcc => {
            let high = cx.shl(b, 16);
            cx.b.add(c, high)
        }
        XmadMode::Csfu => {
            let first = correction(cx, ha, signed_a, b);
            let second = correction(cx, hb, signed_b, a);
            let less = cx.b.sub(c, first);
            cx.b.sub(less, second)
        }
        XmadMode::Reserved5 | XmadMode::Reserved6 | XmadMode::Reserved7 => return Err(Unsupported),
    };
    let mut product = cx.b.mul(ha, hb);
    if i.psl() {
        product = cx.shl(product, 16);
    }
    let chained = i.x();
    let (mut result, carry) = if chained || i.cc() {
        let carry = if chained { cx.flag(Flag::C) } else { Mask::Never };
        add_carry(cx, product, addend, carry)
    } else {
        (cx.b.add(product, addend), Mask::Never)
    };
    let sum = result;
    if i.mrg() {
        let low = cx.part(result, Part::Half(0), false);
        let high = cx.shl(b, 16);
        result = cx.b.or(low, high);
    }
    cc::write_sum(cx, i, result, carry, |cx| cc::overflow(cx, product, addend, sum));
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Returns the correction of `.CSFU`: 0x10000 where the half of one factor is negative and the low
/// half of the other factor's word is not 0. An unsigned half is never negative.
fn correction(cx: &mut Cx<'_>, half: Value, signed: bool, other: Value) -> Value {
    let (zero, correction) = (cx.int(0), cx.int(0x10000));
    if !signed {
        return zero;
    }
    let low = cx.part(other, Part::Half(0), false);
    let (negative, empty) = (cc::negative(cx, half), cc::zero(cx, low));
    let there = cx.not(empty);
    let both = cx.and(negative, there);
    cx.select(both, correction, zero)
}

/// Returns the low or high word of A * B, without A's negation.
fn product(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    let (a, b) = (cx.raw(i.a()), cx.raw(i.b()));
    if !i.high() {
        return cx.b.mul(a, b);
    }
    let (signed_a, signed_b) = match i.mul_signs() {
        MulSigns::U32U32 => return cx.b.mul_hi_u(a, b),
        MulSigns::S32S32 => return cx.b.mul_hi_s(a, b),
        MulSigns::S32U32 => (true, false),
        MulSigns::U32S32 => (false, true),
    };
    // A negative factor counts 2^32 too much as an unsigned number.
    let mut high = cx.b.mul_hi_u(a, b);
    for (signed, factor, other) in [(signed_a, a, b), (signed_b, b, a)] {
        if signed {
            let count = cx.int(31);
            let sign = cx.b.shr_s(factor, count);
            let excess = cx.b.and(sign, other);
            high = cx.b.sub(high, excess);
        }
    }
    high
}

/// Lifts IMUL and IMUL32I.
pub fn imul(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let result = product(cx, i);
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts IMAD and IMAD32I.
pub fn imad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    // The high word of a negated product, and the carries of a negated product, are not documented.
    let (neg, plus_one, carries) = (i.a().neg, i.row.format.contains(".PO"), i.cc() || i.x());
    if plus_one
        || (neg && i.high())
        || (i.sat() && !i.high())
        || (carries && (neg || i.c().neg || i.sat()))
    {
        return Err(Unsupported);
    }
    let (product, c) = (product(cx, i), cx.word(i.c()));
    if carries {
        // PTX `mad.lo.cc`, `madc.hi`: the carry of adding C to the word of the product.
        let carry = if i.x() { cx.flag(Flag::C) } else { Mask::Never };
        let (sum, carry) = add_carry(cx, product, c, carry);
        cc::write_sum(cx, i, sum, carry, |cx| cc::overflow(cx, product, c, sum));
        cx.set(i.d(), sum);
        return Ok(Flow::Next);
    }
    let result = if neg { cx.b.sub(c, product) } else { cx.b.add(product, c) };
    let result = if i.sat() { saturate(cx, product, c, result) } else { result };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

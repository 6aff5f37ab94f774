//! Integer arithmetic.
//!
//! Source: facts, `ptx.md` 2.2.

use warploom_guest::bits::add_carry;
use warploom_guest::divergence::Mask;
use warploom_ir::{BinaryOp, IntCc, Type, Value};

use super::context::{Cx, Insn, int_type};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::{Kind, Ty};
use crate::word::Word;

/// Returns the type of an integer form of 16, 32 or 64 bits.
fn scalar(insn: &Insn<'_>) -> Result<Ty, Unsupported> {
    use Ty::*;
    let ty = insn.form.ty(0);
    if matches!(ty, U16 | S16 | U32 | S32 | U64 | S64 | B16 | B32 | B64) {
        Ok(ty)
    } else {
        Err(Unsupported)
    }
}

fn finish(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty, result: Value) -> Lifted {
    cx.set(insn.operand(0), ty, result);
    Ok(())
}

fn two(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty) -> (Value, Value) {
    (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty))
}

/// Returns the carry into an extended-precision form: the carry of the form before, or the constant
/// of a difference.
fn carry_in(cx: &mut Cx<'_>, insn: &Insn<'_>, otherwise: Mask) -> Mask {
    let opcode = insn.form.row.opcode;
    if ["addc", "subc", "madc"].iter().any(|chained| opcode.starts_with(chained)) {
        cx.carry()
    } else {
        otherwise
    }
}

/// Returns the sum of two values and a carry. With `.cc` it keeps the sum's own carry.
fn sum(cx: &mut Cx<'_>, insn: &Insn<'_>, a: Value, b: Value, carry: Mask) -> Value {
    if carry == Mask::Never && !insn.form.has(Word::Cc) {
        return cx.b.add(a, b);
    }
    let (sum, carry) = add_carry(cx, a, b, carry);
    if insn.form.has(Word::Cc) {
        cx.set_carry(carry);
    }
    sum
}

/// Lifts `add`, `add.cc`, `addc`.
pub fn add(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let (a, b) = two(cx, insn, ty);
    let result = if insn.form.has(Word::Sat) {
        saturated_sum(cx, ty, a, b)
    } else {
        let carry = carry_in(cx, insn, Mask::Never);
        sum(cx, insn, a, b, carry)
    };
    finish(cx, insn, ty, result)
}

/// Lifts `sub`, `sub.cc`, `subc`: a + ~b + carry.
pub fn sub(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let (a, b) = two(cx, insn, ty);
    let carry = carry_in(cx, insn, Mask::Always);
    let result = if insn.form.has(Word::Sat) {
        saturated_difference(cx, ty, a, b)
    } else if carry == Mask::Always && !insn.form.has(Word::Cc) {
        cx.b.sub(a, b)
    } else {
        let inverse = cx.b.not(b);
        sum(cx, insn, a, inverse, carry)
    };
    finish(cx, insn, ty, result)
}

/// Returns `result`; where `overflow` is negative, the end of the range that the result passed.
fn limited(cx: &mut Cx<'_>, ty: Type, result: Value, overflow: Value) -> Value {
    let (zero, top) = (cx.constant(ty, 0), cx.constant(ty, u64::from(ty.bits()) - 1));
    let least = cx.constant(ty, 1 << (ty.bits() - 1));
    let overflows = cx.b.icmp(IntCc::LtS, overflow, zero);
    let sign = cx.b.shr_s(result, top);
    let limit = cx.b.xor(sign, least);
    cx.b.select(overflows, limit, result)
}

fn saturated_sum(cx: &mut Cx<'_>, ty: Ty, a: Value, b: Value) -> Value {
    let int = int_type(ty.bits());
    if !ty.is_signed() {
        let room = cx.b.not(a);
        let b = cx.b.min_u(b, room);
        return cx.b.add(a, b);
    }
    let sum = cx.b.add(a, b);
    let (of_a, of_b) = (cx.b.xor(a, sum), cx.b.xor(b, sum));
    let overflow = cx.b.and(of_a, of_b);
    limited(cx, int, sum, overflow)
}

fn saturated_difference(cx: &mut Cx<'_>, ty: Ty, a: Value, b: Value) -> Value {
    let int = int_type(ty.bits());
    if !ty.is_signed() {
        let most = cx.b.max_u(a, b);
        return cx.b.sub(most, b);
    }
    let difference = cx.b.sub(a, b);
    let (signs, of_a) = (cx.b.xor(a, b), cx.b.xor(a, difference));
    let overflow = cx.b.and(signs, of_a);
    limited(cx, int, difference, overflow)
}

/// Returns the type of twice the width.
fn doubled(ty: Ty) -> Result<Ty, Unsupported> {
    Ok(match ty {
        Ty::U16 => Ty::U32,
        Ty::S16 => Ty::S32,
        Ty::U32 => Ty::U64,
        Ty::S32 => Ty::S64,
        _ => return Err(Unsupported),
    })
}

/// Extends an operand of a type to a wider type.
fn extended(cx: &mut Cx<'_>, operand: &Operand, ty: Ty, to: Type) -> Value {
    if let Operand::Integer(bits) = *operand {
        let above = 64 - ty.bits();
        let bits = if ty.is_signed() {
            ((bits << above) as i64 >> above) as u64
        } else {
            bits << above >> above
        };
        return cx.constant(to, bits);
    }
    let value = cx.bits(operand, ty);
    cx.resize(value, to, ty.is_signed())
}

/// Returns the part of the sources' product that the form asks for, and its type.
fn product(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Result<(Value, Ty), Unsupported> {
    let ty = scalar(insn)?;
    let signed = ty.is_signed();
    if insn.form.has(Word::Wide) {
        let to = doubled(ty)?;
        let int = int_type(to.bits());
        let (a, b) =
            (extended(cx, insn.operand(1), ty, int), extended(cx, insn.operand(2), ty, int));
        return Ok((cx.b.mul(a, b), to));
    }
    let (a, b) = two(cx, insn, ty);
    if !insn.form.has(Word::Hi) {
        return Ok((cx.b.mul(a, b), ty));
    }
    if ty.bits() == 16 {
        let (a, b) = (cx.resize(a, Type::I32, signed), cx.resize(b, Type::I32, signed));
        let (whole, count) = (cx.b.mul(a, b), cx.word(16));
        let high = cx.b.shr_u(whole, count);
        return Ok((cx.b.trunc(Type::I16, high), ty));
    }
    Ok((if signed { cx.b.mul_hi_s(a, b) } else { cx.b.mul_hi_u(a, b) }, ty))
}

pub fn mul(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (result, ty) = product(cx, insn)?;
    finish(cx, insn, ty, result)
}

/// Lifts `mad`, `mad.cc`, `madc`: the carry is the carry of the sum.
pub fn mad(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (product, ty) = product(cx, insn)?;
    let c = cx.bits(insn.operand(3), ty);
    let result = if insn.form.has(Word::Sat) {
        saturated_sum(cx, ty, product, c)
    } else {
        let carry = carry_in(cx, insn, Mask::Never);
        sum(cx, insn, product, c, carry)
    };
    finish(cx, insn, ty, result)
}

/// Returns bits 0 to 31 or 16 to 47 of the product of the low 24 bits.
fn product24(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Result<(Value, Ty), Unsupported> {
    let ty = insn.form.ty(0);
    if !matches!(ty, Ty::U32 | Ty::S32) {
        return Err(Unsupported);
    }
    let (a, b) = two(cx, insn, ty);
    let (a, b) = (low24(cx, ty, a), low24(cx, ty, b));
    if !insn.form.has(Word::Hi) {
        return Ok((cx.b.mul(a, b), ty));
    }
    let (a, b) = (cx.resize(a, Type::I64, ty.is_signed()), cx.resize(b, Type::I64, ty.is_signed()));
    let (whole, count) = (cx.b.mul(a, b), cx.constant(Type::I64, 16));
    let high = cx.b.shr_u(whole, count);
    Ok((cx.b.trunc(Type::I32, high), ty))
}

fn low24(cx: &mut Cx<'_>, ty: Ty, value: Value) -> Value {
    if ty.is_signed() {
        let count = cx.word(8);
        let high = cx.b.shl(value, count);
        return cx.b.shr_s(high, count);
    }
    let mask = cx.word(0xff_ffff);
    cx.b.and(value, mask)
}

pub fn mul24(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (result, ty) = product24(cx, insn)?;
    finish(cx, insn, ty, result)
}

pub fn mad24(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (product, ty) = product24(cx, insn)?;
    let c = cx.bits(insn.operand(3), ty);
    let result = if insn.form.has(Word::Sat) {
        saturated_sum(cx, ty, product, c)
    } else {
        cx.b.add(product, c)
    };
    finish(cx, insn, ty, result)
}

/// Lifts `sad`: c + |a - b|.
pub fn sad(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let (a, b) = two(cx, insn, ty);
    let c = cx.bits(insn.operand(3), ty);
    let (greater, lesser) = (extreme_of(cx, ty, true, a, b), extreme_of(cx, ty, false, a, b));
    let distance = cx.b.sub(greater, lesser);
    let result = cx.b.add(c, distance);
    finish(cx, insn, ty, result)
}

fn quotient(cx: &mut Cx<'_>, insn: &Insn<'_>, [unsigned, signed]: [BinaryOp; 2]) -> Lifted {
    let ty = scalar(insn)?;
    let (mut a, mut b) = two(cx, insn, ty);
    if ty.bits() == 16 {
        (a, b) = (cx.resize(a, Type::I32, ty.is_signed()), cx.resize(b, Type::I32, ty.is_signed()));
    }
    let result = cx.b.binary(if ty.is_signed() { signed } else { unsigned }, a, b);
    let result = cx.resize(result, int_type(ty.bits()), false);
    finish(cx, insn, ty, result)
}

pub fn div(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    quotient(cx, insn, [BinaryOp::DivU, BinaryOp::DivS])
}

pub fn rem(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    quotient(cx, insn, [BinaryOp::RemU, BinaryOp::RemS])
}

pub fn abs(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let result = cx.b.abs(a);
    finish(cx, insn, ty, result)
}

pub fn neg(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let result = cx.b.neg(a);
    finish(cx, insn, ty, result)
}

/// Returns the greater or the lesser of two numbers of a type.
pub fn extreme_of(cx: &mut Cx<'_>, ty: Ty, greater: bool, a: Value, b: Value) -> Value {
    match (greater, ty.kind() == Kind::Signed) {
        (true, true) => cx.b.max_s(a, b),
        (true, false) => cx.b.max_u(a, b),
        (false, true) => cx.b.min_s(a, b),
        (false, false) => cx.b.min_u(a, b),
    }
}

fn extreme(cx: &mut Cx<'_>, insn: &Insn<'_>, greater: bool) -> Lifted {
    let ty = scalar(insn)?;
    let (a, b) = two(cx, insn, ty);
    let mut result = extreme_of(cx, ty, greater, a, b);
    if insn.form.has(Word::Relu) {
        let zero = cx.constant(int_type(ty.bits()), 0);
        result = cx.b.max_s(result, zero);
    }
    finish(cx, insn, ty, result)
}

pub fn min(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, false)
}

pub fn max(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, true)
}

/// Returns the type of a form of two halves.
fn halves(insn: &Insn<'_>) -> Result<Ty, Unsupported> {
    let ty = insn.form.ty(0);
    if matches!(ty, Ty::U16x2 | Ty::S16x2) { Ok(ty) } else { Err(Unsupported) }
}

const HIGH_HALF: u32 = 0xffff_0000;

/// Applies an operation to the upper halves of two words and to the lower halves. The operation
/// gets each half at the top of a word.
fn on_halves(
    cx: &mut Cx<'_>,
    [a, b]: [Value; 2],
    operation: impl Fn(&mut Cx<'_>, Value, Value) -> Value,
    mixed: bool,
) -> Value {
    let (count, mask) = (cx.word(16), cx.word(HIGH_HALF));
    let (low_a, low_b) = (cx.b.shl(a, count), cx.b.shl(b, count));
    // The bits below have no effect, unless they carry.
    let (high_a, high_b) = if mixed { (cx.b.and(a, mask), cx.b.and(b, mask)) } else { (a, b) };
    let (high, low) = (operation(cx, high_a, high_b), operation(cx, low_a, low_b));
    let (high, low) = (cx.b.and(high, mask), cx.b.shr_u(low, count));
    cx.b.or(high, low)
}

pub fn packed_add(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = halves(insn)?;
    let (a, b) = two(cx, insn, ty);
    let result = if insn.form.has(Word::Sat) {
        let word = if ty.is_signed() { Ty::S32 } else { Ty::U32 };
        on_halves(cx, [a, b], |cx, a, b| saturated_sum(cx, word, a, b), true)
    } else {
        // Add without the top bits, then add the top bits without a carry.
        let (top, rest) = (cx.word(0x8000_8000), cx.word(0x7fff_7fff));
        let (low_a, low_b) = (cx.b.and(a, rest), cx.b.and(b, rest));
        let (sum, tops) = (cx.b.add(low_a, low_b), cx.b.xor(a, b));
        let tops = cx.b.and(tops, top);
        cx.b.xor(sum, tops)
    };
    finish(cx, insn, ty, result)
}

fn packed_extreme(cx: &mut Cx<'_>, insn: &Insn<'_>, greater: bool) -> Lifted {
    let ty = halves(insn)?;
    let (a, b) = two(cx, insn, ty);
    let (relu, zero) = (insn.form.has(Word::Relu), cx.word(0));
    let operation = |cx: &mut Cx<'_>, a, b| {
        let result = extreme_of(cx, ty, greater, a, b);
        if relu { cx.b.max_s(result, zero) } else { result }
    };
    let result = on_halves(cx, [a, b], operation, false);
    finish(cx, insn, ty, result)
}

pub fn packed_min(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    packed_extreme(cx, insn, false)
}

pub fn packed_max(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    packed_extreme(cx, insn, true)
}

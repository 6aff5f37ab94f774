//! Bits and shifts. Facts, `visa-semantics.md` 4.

use warploom_guest::bits;
use warploom_ir::{BinaryOp, IntCc, Type, Value};

use super::numbers::Domain;
use super::operand::{Destination, Source, is_signed};
use super::storage::int_type;
use super::{Cx, Lifted, Unsupported};
use crate::instruction::{Instruction, Modifier};
use crate::types::Ty;

/// Returns a predicate as a source, with its modifier applied.
fn mask(cx: &mut Cx<'_>, insn: &Instruction, n: usize) -> Result<Value, Unsupported> {
    let source = cx.source(insn, n)?;
    match (source.ty, source.modifier) {
        (Ty::Bool, Modifier::None) => Ok(source.value),
        (Ty::Bool, Modifier::Not) => Ok(cx.b.not(source.value)),
        _ => Err(Unsupported),
    }
}

fn binary(cx: &mut Cx<'_>, insn: &Instruction, op: BinaryOp) -> Lifted {
    let result = match cx.destination(insn, 0)? {
        Destination::Predicate => {
            let (a, b) = (mask(cx, insn, 1)?, mask(cx, insn, 2)?);
            cx.b.binary(op, a, b)
        }
        Destination::Of(to) => {
            let ty = int_type(to.size());
            let (a, b) = (bits_of(cx, insn, 1, ty)?, bits_of(cx, insn, 2, ty)?);
            cx.b.binary(op, a, b)
        }
    };
    cx.set(insn, 0, result);
    Ok(())
}

/// Returns a source as bits of a type, extended or truncated. Floats give their bits.
fn bits_of(cx: &mut Cx<'_>, insn: &Instruction, n: usize, ty: Type) -> Result<Value, Unsupported> {
    let source = cx.source(insn, n)?;
    if source.ty == Ty::Bool {
        return Err(Unsupported);
    }
    Ok(cx.integer(source, ty))
}

pub fn and(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    binary(cx, insn, BinaryOp::And)
}

pub fn or(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    binary(cx, insn, BinaryOp::Or)
}

pub fn xor(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    binary(cx, insn, BinaryOp::Xor)
}

pub fn not(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let value = match cx.destination(insn, 0)? {
        Destination::Predicate => mask(cx, insn, 1)?,
        Destination::Of(to) => bits_of(cx, insn, 1, int_type(to.size()))?,
    };
    let result = cx.b.not(value);
    cx.set(insn, 0, result);
    Ok(())
}

/// Lifts `bfn`: any bitwise function of three sources.
pub fn bfn(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let to = cx.destination_type(insn, 0)?;
    if to.size() > 4 {
        return Err(Unsupported);
    }
    let [a, b, c] = [
        bits_of(cx, insn, 1, Type::I32)?,
        bits_of(cx, insn, 2, Type::I32)?,
        bits_of(cx, insn, 3, Type::I32)?,
    ];
    let table = cx.number(insn, 4)? as u8;
    // The table's lowest index bit is the first source.
    let result = bits::by_table(cx, table, [c, b, a]);
    let result = cx.resize(result, int_type(to.size()), false);
    cx.set(insn, 0, result);
    Ok(())
}

/// Returns a shift's value, in the type that it is shifted in, the count, and the source.
fn shifted(
    cx: &mut Cx<'_>,
    insn: &Instruction,
    wide: bool,
) -> Result<(Value, Value, Source), Unsupported> {
    let [source, count]: [Source; 2] = cx.sources(insn, 1)?;
    let to = cx.destination_type(insn, 0)?;
    if matches!(source.ty, Ty::Bool) || matches!(count.ty, Ty::Bool) {
        return Err(Unsupported);
    }
    let exact = !matches!(Domain::of(&[source.range()]), Domain::S32 | Domain::U32);
    let ty = if to.size() == 8 || exact { Type::I64 } else { Type::I32 };
    let value = cx.integer(source, ty);
    let count = cx.integer(count, ty);
    let mask = if to.size() == 8 || wide && source.ty.size() == 8 { 63 } else { 31 };
    let mask = cx.constant(ty, mask);
    Ok((value, cx.b.and(count, mask), source))
}

pub fn shl(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    if insn.saturate {
        let [source, count]: [Source; 2] = cx.sources(insn, 1)?;
        let (value, count) = (cx.integer(source, Type::I64), cx.integer(count, Type::I64));
        let mask = cx.constant(Type::I64, 31);
        let count = cx.b.and(count, mask);
        let result = cx.b.shl(value, count);
        return cx.set_integer(insn, result, true);
    }
    let (value, count, _) = shifted(cx, insn, true)?;
    let result = cx.b.shl(value, count);
    cx.set_integer(insn, result, true)
}

pub fn shr(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, count, source) = shifted(cx, insn, false)?;
    // Takes the bits of a signed dword without its extension.
    let value = if is_signed(source.ty) && source.ty.size() == 4 && cx.b.ty(value).ty == Type::I64 {
        let low = cx.constant(Type::I64, u32::MAX.into());
        cx.b.and(value, low)
    } else {
        value
    };
    let result = cx.b.shr_u(value, count);
    cx.set_integer(insn, result, false)
}

pub fn asr(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, count, source) = shifted(cx, insn, false)?;
    // A number without a sign has zeros above it.
    let signed = Domain::of(&[source.range()]).is_signed();
    let result = if signed { cx.b.shr_s(value, count) } else { cx.b.shr_u(value, count) };
    cx.set_integer(insn, result, signed)
}

fn rotated(cx: &mut Cx<'_>, insn: &Instruction, left: bool) -> Lifted {
    let [source, count]: [Source; 2] = cx.sources(insn, 1)?;
    if source.modifier != Modifier::None || source.ty.size() < 2 {
        return Err(Unsupported);
    }
    let ty = int_type(source.ty.size());
    let (value, count) = (cx.integer(source, ty), cx.integer(count, ty));
    let count = if left { count } else { cx.b.neg(count) };
    let result = cx.b.rotl(value, count);
    cx.set_integer(insn, result, false)
}

pub fn rol(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    rotated(cx, insn, true)
}

pub fn ror(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    rotated(cx, insn, false)
}

/// Returns a source of up to 32 bits, extended to 32 bits.
fn word(cx: &mut Cx<'_>, insn: &Instruction, n: usize) -> Result<Value, Unsupported> {
    let source = cx.source(insn, n)?;
    if source.ty.size() > 4 || source.ty == Ty::Bool {
        return Err(Unsupported);
    }
    Ok(cx.integer(source, Type::I32))
}

/// Lifts `bfe`: a field of the source, by width and offset.
pub fn bfe(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (width, offset, value) = (word(cx, insn, 1)?, word(cx, insn, 2)?, word(cx, insn, 3)?);
    let last = cx.word(31);
    let (width, offset) = (cx.b.and(width, last), cx.b.and(offset, last));
    let signed = is_signed(cx.destination_type(insn, 0)?);
    let result = bits::field(cx, value, offset, width, signed);
    let zero = cx.word(0);
    let none = cx.b.icmp(IntCc::Eq, width, zero);
    let result = cx.pick(none, zero, result);
    cx.set_integer(insn, result, signed)
}

/// Lifts `bfi`: replaces a field of the fourth source by bits of the third.
pub fn bfi(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (width, offset) = (word(cx, insn, 1)?, word(cx, insn, 2)?);
    let (value, base) = (word(cx, insn, 3)?, word(cx, insn, 4)?);
    let last = cx.word(31);
    let (width, offset) = (cx.b.and(width, last), cx.b.and(offset, last));
    let result = bits::insert(cx, base, value, offset, width);
    cx.set_integer(insn, result, false)
}

pub fn bfrev(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let value = word(cx, insn, 1)?;
    let result = cx.b.bit_reverse(value);
    cx.set_integer(insn, result, false)
}

/// Lifts `cbit`: counts the set bits of the source's own type.
pub fn cbit(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let source = cx.source(insn, 1)?;
    if source.ty == Ty::Bool {
        return Err(Unsupported);
    }
    let ty = if source.ty.size() == 8 { Type::I64 } else { Type::I32 };
    let value = match source.modifier {
        Modifier::None => cx.resize(source.value, ty, false),
        _ => cx.integer(source, ty),
    };
    let result = cx.b.popcnt(value);
    cx.set_integer(insn, result, false)
}

pub fn lzd(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let value = word(cx, insn, 1)?;
    let result = cx.b.clz(value);
    cx.set_integer(insn, result, false)
}

/// Writes `count`, or all ones where `value` is 0.
fn found(cx: &mut Cx<'_>, insn: &Instruction, value: Value, count: Value) -> Lifted {
    let (zero, none) = (cx.word(0), cx.word(u32::MAX));
    let empty = cx.b.icmp(IntCc::Eq, value, zero);
    let result = cx.pick(empty, none, count);
    cx.set_integer(insn, result, false)
}

/// Lifts `fbl`: the number of the lowest set bit.
pub fn fbl(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let value = word(cx, insn, 1)?;
    let count = cx.b.ctz(value);
    found(cx, insn, value, count)
}

/// Lifts `fbh`: counts the leading zeros, or for a signed number the leading bits that equal its
/// sign.
pub fn fbh(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let signed = is_signed(cx.source(insn, 1)?.ty);
    let mut value = word(cx, insn, 1)?;
    if signed {
        let last = cx.word(31);
        let sign = cx.b.shr_s(value, last);
        value = cx.b.xor(value, sign);
    }
    let count = cx.b.clz(value);
    found(cx, insn, value, count)
}

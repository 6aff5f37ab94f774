//! Logic, shifts, bit fields and bytes.
//!
//! Source: facts, `ptx.md` 2.2.

use warploom_guest::bits::{self, sequence};
use warploom_guest::divergence::Mask;
use warploom_ir::{BinaryOp, IntCc, Type, Value};

use super::compare::combined;
use super::context::{Cx, Insn, int_type};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

/// Returns the type of a form of 16, 32 or 64 bits.
fn scalar(insn: &Insn<'_>) -> Result<Ty, Unsupported> {
    let ty = insn.form.ty(0);
    if matches!(ty.bits(), 16 | 32 | 64) { Ok(ty) } else { Err(Unsupported) }
}

/// Returns the type of a form of 32 or 64 bits.
fn wide(insn: &Insn<'_>) -> Result<Ty, Unsupported> {
    let ty = insn.form.ty(0);
    if matches!(ty.bits(), 32 | 64) { Ok(ty) } else { Err(Unsupported) }
}

fn finish(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty, result: Value) -> Lifted {
    cx.set(insn.operand(0), ty, result);
    Ok(())
}

/// Returns the bits of a constant operand.
fn known(operand: &Operand) -> Option<u64> {
    match *operand {
        Operand::Integer(bits) => Some(bits),
        _ => None,
    }
}

/// Returns the low word of a constant operand.
fn known_word(operand: &Operand) -> Option<u32> {
    known(operand).map(|bits| bits as u32)
}

fn logic(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    op: BinaryOp,
    masks: fn(&mut Cx<'_>, Mask, Mask) -> Mask,
) -> Lifted {
    if insn.form.ty(0) == Ty::Pred {
        let (a, b) = (cx.pred(insn.operand(1)), cx.pred(insn.operand(2)));
        let result = masks(cx, a, b);
        cx.set_pred(insn.operand(0), result);
        return Ok(());
    }
    let ty = scalar(insn)?;
    let (a, b) = (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty));
    let result = cx.b.binary(op, a, b);
    finish(cx, insn, ty, result)
}

pub fn and(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    logic(cx, insn, BinaryOp::And, |cx, a, b| cx.and(a, b))
}

pub fn or(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    logic(cx, insn, BinaryOp::Or, |cx, a, b| cx.or(a, b))
}

pub fn xor(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    logic(cx, insn, BinaryOp::Xor, |cx, a, b| cx.xor(a, b))
}

pub fn not(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    if insn.form.ty(0) == Ty::Pred {
        let a = cx.pred(insn.operand(1));
        let result = cx.not(a);
        cx.set_pred(insn.operand(0), result);
        return Ok(());
    }
    let ty = scalar(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let result = cx.b.not(a);
    finish(cx, insn, ty, result)
}

/// Lifts `cnot`: 1 if the source is 0, else 0.
pub fn cnot(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = scalar(insn)?;
    let int = int_type(ty.bits());
    let a = cx.bits(insn.operand(1), ty);
    let (zero, one) = (cx.constant(int, 0), cx.constant(int, 1));
    let empty = cx.b.icmp(IntCc::Eq, a, zero);
    let result = cx.b.select(empty, one, zero);
    finish(cx, insn, ty, result)
}

/// Returns a count of 32 bits in another width. A count of at least the width stays so.
fn count(cx: &mut Cx<'_>, operand: &Operand, ty: Type) -> Value {
    if let Some(count) = known_word(operand) {
        return cx.constant(ty, count.min(ty.bits()).into());
    }
    let count = cx.bits(operand, Ty::U32);
    match ty.bits() {
        64 => cx.b.zero_extend(ty, count),
        32 => count,
        width => {
            let width = cx.word(width);
            let count = cx.b.min_u(count, width);
            cx.b.trunc(ty, count)
        }
    }
}

fn shift(cx: &mut Cx<'_>, insn: &Insn<'_>, op: BinaryOp) -> Lifted {
    let ty = scalar(insn)?;
    let (a, count) =
        (cx.bits(insn.operand(1), ty), count(cx, insn.operand(2), int_type(ty.bits())));
    let result = cx.b.binary(op, a, count);
    finish(cx, insn, ty, result)
}

pub fn shl(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    shift(cx, insn, BinaryOp::Shl)
}

pub fn shr(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    shift(cx, insn, if insn.form.ty(0).is_signed() { BinaryOp::ShrS } else { BinaryOp::ShrU })
}

/// Lifts `shf`. `.l`: the high word of b:a shifted left; `.r`: the low word of b:a shifted right.
pub fn shf(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (left, wrap) = (insn.form.has(Word::Left), insn.form.has(Word::Wrap));
    let (low, high) = (cx.bits(insn.operand(1), Ty::B32), cx.bits(insn.operand(2), Ty::B32));
    let amount =
        known_word(insn.operand(3)).map(|count| if wrap { count & 31 } else { count.min(32) });
    let result = match amount {
        Some(0) => {
            if left {
                high
            } else {
                low
            }
        }
        Some(32) => {
            if left {
                low
            } else {
                high
            }
        }
        Some(count) => {
            let (up, down) = if left { (count, 32 - count) } else { (32 - count, count) };
            let (high, low) = (bits::shl(cx, high, up), bits::shr(cx, low, down));
            cx.b.or(high, low)
        }
        None => {
            let count = cx.bits(insn.operand(3), Ty::B32);
            let limit = cx.word(if wrap { 31 } else { 32 });
            let count = if wrap { cx.b.and(count, limit) } else { cx.b.min_u(count, limit) };
            let count = cx.b.zero_extend(Type::I64, count);
            let whole = cx.b.concat(low, high);
            if left {
                let shifted = cx.b.shl(whole, count);
                cx.b.high_half(shifted)
            } else {
                let shifted = cx.b.shr_u(whole, count);
                cx.b.trunc(Type::I32, shifted)
            }
        }
    };
    finish(cx, insn, Ty::B32, result)
}

/// Returns the low byte of an operand of 32 bits, as a number of a type.
fn byte(cx: &mut Cx<'_>, operand: &Operand, ty: Type) -> Value {
    if let Some(word) = known_word(operand) {
        return cx.constant(ty, u64::from(word & 0xff));
    }
    let (word, mask) = (cx.bits(operand, Ty::U32), cx.word(0xff));
    let byte = cx.b.and(word, mask);
    cx.resize(byte, ty, false)
}

/// Returns the field of `len` bits of `a` from bit `pos` on. Position and length are constants.
fn known_field(cx: &mut Cx<'_>, ty: Ty, a: Value, pos: u32, len: u32) -> Value {
    let (int, width) = (int_type(ty.bits()), ty.bits());
    if len == 0 || (pos >= width && !ty.is_signed()) {
        return cx.constant(int, 0);
    }
    let (down, reaches_top) = (cx.constant(int, pos.min(width).into()), pos + len >= width);
    match (ty.is_signed(), reaches_top) {
        (true, true) => cx.b.shr_s(a, down),
        (false, true) => cx.b.shr_u(a, down),
        (true, false) => {
            let up = cx.constant(int, (width - pos - len).into());
            let back = cx.constant(int, (width - len).into());
            let high = cx.b.shl(a, up);
            cx.b.shr_s(high, back)
        }
        (false, false) => {
            let mask = cx.constant(int, (1 << len) - 1);
            let low = if pos == 0 { a } else { cx.b.shr_u(a, down) };
            cx.b.and(low, mask)
        }
    }
}

pub fn bfe(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = wide(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let (pos, len) = (insn.operand(2), insn.operand(3));
    let result = match (known_word(pos), known_word(len)) {
        (Some(pos), Some(len)) => known_field(cx, ty, a, pos & 0xff, len & 0xff),
        _ => {
            let int = int_type(ty.bits());
            let (pos, len) = (byte(cx, pos, int), byte(cx, len, int));
            bits::field(cx, a, pos, len, ty.is_signed())
        }
    };
    finish(cx, insn, ty, result)
}

pub fn bfi(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = wide(insn)?;
    let int = int_type(ty.bits());
    let (a, b) = (cx.bits(insn.operand(1), ty), cx.bits(insn.operand(2), ty));
    let (pos, len) = (insn.operand(3), insn.operand(4));
    let result = match (known_word(pos), known_word(len)) {
        (Some(pos), Some(len)) => {
            let (pos, len) = (pos & 0xff, len & 0xff);
            let ones = u64::MAX.checked_shr(64 - len.min(64)).unwrap_or(0);
            let mask = ones.checked_shl(pos).unwrap_or(0);
            let (new, old) = (cx.constant(int, mask), cx.constant(int, !mask));
            let up = cx.constant(int, pos.into());
            let placed = if pos == 0 { a } else { cx.b.shl(a, up) };
            let (new, old) = (cx.b.and(placed, new), cx.b.and(b, old));
            cx.b.or(new, old)
        }
        _ => {
            let (pos, len) = (byte(cx, pos, int), byte(cx, len, int));
            bits::insert(cx, b, a, pos, len)
        }
    };
    finish(cx, insn, ty, result)
}

/// Lifts `bfind`: the index of the highest 1 (for a negative signed number, the highest 0), or -1;
/// with `.shiftamt` counted from the top.
pub fn bfind(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = wide(insn)?;
    let int = int_type(ty.bits());
    let mut value = cx.bits(insn.operand(1), ty);
    let top = cx.constant(int, u64::from(ty.bits()) - 1);
    if ty.is_signed() {
        let sign = cx.b.shr_s(value, top);
        value = cx.b.xor(value, sign);
    }
    let above = cx.b.clz(value);
    let result = if insn.form.has(Word::ShiftAmt) {
        let (zero, none) = (cx.constant(int, 0), cx.constant(int, u64::MAX));
        let empty = cx.b.icmp(IntCc::Eq, value, zero);
        cx.b.select(empty, none, above)
    } else {
        cx.b.sub(top, above)
    };
    let result = cx.resize(result, Type::I32, true);
    finish(cx, insn, Ty::U32, result)
}

fn bit_count(cx: &mut Cx<'_>, insn: &Insn<'_>, of: fn(&mut Cx<'_>, Value) -> Value) -> Lifted {
    let ty = wide(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let result = of(cx, a);
    let result = cx.resize(result, Type::I32, false);
    finish(cx, insn, Ty::U32, result)
}

pub fn clz(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    bit_count(cx, insn, |cx, a| cx.b.clz(a))
}

pub fn popc(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    bit_count(cx, insn, |cx, a| cx.b.popcnt(a))
}

pub fn brev(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = wide(insn)?;
    let a = cx.bits(insn.operand(1), ty);
    let result = cx.b.bit_reverse(a);
    finish(cx, insn, ty, result)
}

/// Lifts `lop3`. With `.and` or `.or` it also writes a predicate: whether the result is not 0,
/// combined with another predicate.
pub fn lop3(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let table = known(insn.operand(4)).ok_or(Unsupported)? as u8;
    let sources = [1, 2, 3].map(|n| cx.bits(insn.operand(n), Ty::B32));
    let result = bits::by_table(cx, table, sources);
    let Operand::Pair(pair) = insn.operand(0) else {
        return finish(cx, insn, Ty::B32, result);
    };
    let zero = cx.word(0);
    let nonzero = Mask::Lanes(cx.b.icmp(IntCc::Ne, result, zero));
    let with = cx.pred(insn.operand(5));
    let truth = combined(cx, insn.form, nonzero, with);
    cx.set(&pair[0], Ty::B32, result);
    cx.set_pred(&pair[1], truth);
    Ok(())
}

/// Lifts `prmt`: selects bytes of b:a by c.
pub fn prmt(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let mode =
        insn.form.one_of(&[Word::F4e, Word::B4e, Word::Rc8, Word::Ecl, Word::Ecr, Word::Rc16]);
    let starts = mode.map(|mode| match mode {
        Word::F4e => sequence::F4E,
        Word::B4e => sequence::B4E,
        Word::Rc8 => sequence::RC8,
        Word::Ecl => sequence::ECL,
        Word::Ecr => sequence::ECR,
        _ => sequence::RC16,
    });
    let (low, high) = (cx.bits(insn.operand(1), Ty::B32), cx.bits(insn.operand(2), Ty::B32));
    let result = match known_word(insn.operand(3)) {
        Some(c) => {
            let selector = starts.map_or(c, |starts| starts[c as usize & 3]);
            let unless_zero =
                |n: usize, value| (known_word(insn.operand(n)) != Some(0)).then_some(value);
            bits::permute_known(cx, unless_zero(1, low), unless_zero(2, high), selector)
        }
        None => {
            let c = cx.bits(insn.operand(3), Ty::B32);
            let selector = starts.map_or(c, |starts| bits::start_selector(cx, starts, c));
            bits::permute(cx, low, high, selector)
        }
    };
    finish(cx, insn, Ty::B32, result)
}

/// Returns a position or length of `bmsk` or `szext`: with `.wrap` its low five bits.
fn limited(cx: &mut Cx<'_>, insn: &Insn<'_>, n: usize) -> Value {
    let wrap = insn.form.has(Word::Wrap);
    if let Some(word) = known_word(insn.operand(n)) {
        return cx.word(if wrap { word & 31 } else { word });
    }
    let value = cx.bits(insn.operand(n), Ty::B32);
    if !wrap {
        return value;
    }
    let mask = cx.word(31);
    cx.b.and(value, mask)
}

pub fn bmsk(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (pos, len) = (limited(cx, insn, 1), limited(cx, insn, 2));
    let result = bits::ones(cx, Type::I32, pos, len);
    finish(cx, insn, Ty::B32, result)
}

pub fn szext(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = insn.form.ty(0);
    let (a, zero, len) = (cx.bits(insn.operand(1), Ty::B32), cx.word(0), limited(cx, insn, 2));
    let result = match known_word(insn.operand(2)) {
        Some(len) => {
            let len = if insn.form.has(Word::Wrap) { len & 31 } else { len.min(32) };
            known_field(cx, ty, a, 0, len)
        }
        None => bits::field(cx, a, zero, len, ty.is_signed()),
    };
    finish(cx, insn, ty, result)
}

/// Lifts `fns`: the n-th 1 from a bit on, up or down; -1 if there are fewer.
pub fn fns(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (mask, base) = (cx.bits(insn.operand(1), Ty::B32), cx.bits(insn.operand(2), Ty::U32));
    let offset = cx.bits(insn.operand(3), Ty::S32);
    let (zero, one, top, ones) = (cx.word(0), cx.word(1), cx.word(31), cx.word(u32::MAX));
    let down = cx.b.icmp(IntCc::LtS, offset, zero);
    let here = cx.b.icmp(IntCc::Eq, offset, zero);
    // Searching downward is searching upward in the reversed bits.
    let reverse = cx.b.bit_reverse(mask);
    let mirrored = cx.b.sub(top, base);
    let (mask, start) = (cx.b.select(down, reverse, mask), cx.b.select(down, mirrored, base));
    let at_base = cx.b.shl(one, start);
    let from_base = cx.b.shl(ones, start);
    let candidates = cx.b.select(here, at_base, from_base);
    let mut rest = cx.b.and(mask, candidates);
    // The number of ones to pass: n - 1.
    let (fewer_up, fewer_down) = (cx.b.sub(offset, one), cx.b.not(offset));
    let fewer = cx.b.select(down, fewer_down, fewer_up);
    let mut fewer = cx.b.select(here, zero, fewer);
    let mut index = zero;
    for step in [16_u32, 8, 4, 2, 1] {
        let (low, step) = (cx.word((1 << step) - 1), cx.word(step));
        let low = cx.b.and(rest, low);
        let passed = cx.b.popcnt(low);
        let above = cx.b.icmp(IntCc::GeU, fewer, passed);
        let (less, moved, next) =
            (cx.b.sub(fewer, passed), cx.b.shr_u(rest, step), cx.b.add(index, step));
        fewer = cx.b.select(above, less, fewer);
        rest = cx.b.select(above, moved, rest);
        index = cx.b.select(above, next, index);
    }
    let last = cx.b.and(rest, one);
    let (set, counted) = (cx.b.icmp(IntCc::Ne, last, zero), cx.b.icmp(IntCc::Eq, fewer, zero));
    let found = cx.and(Mask::Lanes(set), Mask::Lanes(counted));
    let mirrored = cx.b.sub(top, index);
    let index = cx.b.select(down, mirrored, index);
    let result = cx.select(found, index, ones);
    finish(cx, insn, Ty::B32, result)
}

/// Adds products of parts of `a` and bytes of `b` to c.
fn dot(cx: &mut Cx<'_>, insn: &Insn<'_>, width: u32, first_byte: u32) -> Lifted {
    let (a_type, b_type) = (insn.form.ty(0), insn.form.ty(1));
    let (a, b) = (cx.bits(insn.operand(1), Ty::B32), cx.bits(insn.operand(2), Ty::B32));
    let mut result = cx.bits(insn.operand(3), Ty::B32);
    for n in 0..32 / width {
        let x = bits::range(cx, a, n * width, width, a_type.is_signed());
        let y = bits::range(cx, b, (first_byte + n) * 8, 8, b_type.is_signed());
        let product = cx.b.mul(x, y);
        result = cx.b.add(result, product);
    }
    finish(cx, insn, Ty::B32, result)
}

/// Lifts `dp2a`: halves of `a` with two bytes of `b`, with `.hi` the upper two.
pub fn dp2a(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    dot(cx, insn, 16, if insn.form.has(Word::Hi) { 2 } else { 0 })
}

/// Lifts `dp4a`: bytes with bytes.
pub fn dp4a(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    dot(cx, insn, 8, 0)
}

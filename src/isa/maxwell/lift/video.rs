//! Video instructions: bytes, halves and words of A and B go through an exact operation, whose result is saturated if asked
//! for, cut to 32 bits and then combined with C or put into a part of it.
//!
//! Source: PTX ISA, *Video Instructions*, which the compiler maps to these one to one; facts, `maxwell-semantics.md` 2.5.

use crate::ir::{IntCc, Type, Value};
use crate::isa::divergence::Mask;
use crate::isa::maxwell::field::{
    ByteLanes, ByteOrderA, ByteOrderB, ByteReduction, ByteSigns, DifferenceResult, Sign, VideoImm, VideoResult,
    VideoScale, VideoStage, VideoType,
};
use crate::isa::maxwell::{Instruction, Part, Source};

use super::add::add_carry;
use super::cc;
use super::compare;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};

/// A source, extended to an `i64` by its own type.
#[derive(Clone, Copy)]
struct Operand {
    value: Value,
    signed: bool,
}

impl Operand {
    fn a(cx: &mut Cx<'_>, i: &Instruction) -> Result<Operand, Unsupported> {
        Operand::read(cx, i.a(), i.video_a())
    }

    /// A register of its type, or the 16 bits of an immediate.
    fn b(cx: &mut Cx<'_>, i: &Instruction) -> Result<Operand, Unsupported> {
        let Some(imm) = i.b().imm() else { return Operand::read(cx, i.b(), i.video_b()) };
        let signed = i.video_imm() == VideoImm::S16;
        let value = if signed { i64::from(imm as i16) } else { i64::from(imm as u16) };
        let value = cx.constant(Type::I64, value as u64);
        Ok(Operand { value: negated(cx, i.b(), value), signed })
    }

    fn read(cx: &mut Cx<'_>, source: Source, ty: VideoType) -> Result<Operand, Unsupported> {
        let signed = match ty {
            VideoType::Reserved6 | VideoType::Reserved7 => return Err(Unsupported),
            unsigned => unsigned as u8 >= VideoType::S8B0 as u8,
        };
        let raw = cx.raw(source);
        let part = cx.part(raw, source.part, signed);
        let value = extend(cx, part, signed);
        Ok(Operand { value: negated(cx, source, value), signed })
    }
}

fn negated(cx: &mut Cx<'_>, source: Source, value: Value) -> Value {
    if source.neg { cx.b.neg(value) } else { value }
}

fn extend(cx: &mut Cx<'_>, word: Value, signed: bool) -> Value {
    if signed { cx.b.sign_extend(Type::I64, word) } else { cx.b.zero_extend(Type::I64, word) }
}

fn wide(cx: &mut Cx<'_>, value: i64) -> Value {
    cx.constant(Type::I64, value as u64)
}

/// The nearest number of a type of `bits` bits to an `i64`.
fn clamp(cx: &mut Cx<'_>, value: Value, signed: bool, bits: u32) -> Value {
    let (least, most) = if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let (least, most) = (wide(cx, least), wide(cx, most));
    let value = cx.b.max_s(value, least);
    cx.b.min_s(value, most)
}

/// Saturates an exact result to the destination's type, which is narrow if it is merged into C; then the second stage. That is of
/// 32 bits, read as numbers of the destination's sign. With `.CC` an addition there leaves flags.
fn finish(cx: &mut Cx<'_>, i: &Instruction, mut value: Value, signed: bool) -> Lifted {
    let part = match i.video_stage() {
        VideoStage::Mrg16l => Part::Half(0),
        VideoStage::Mrg16h => Part::Half(1),
        VideoStage::Mrg8b0 => Part::Byte(0),
        VideoStage::Mrg8b2 => Part::Byte(2),
        VideoStage::Acc | VideoStage::Min | VideoStage::Max | VideoStage::None => Part::Whole,
    };
    let (lo, bits) = part.range();
    if i.sat() {
        value = clamp(cx, value, signed, bits);
    }
    let (exact, value, c) = (value, cx.b.trunc(Type::I32, value), cx.word(i.c()));
    let result = match (i.video_stage(), signed) {
        (VideoStage::None, _) => value,
        (VideoStage::Acc, _) if i.cc() => {
            let (sum, carry) = add_carry(cx, value, c, Mask::Never);
            cc::write_sum(cx, i, sum, carry, |cx| overflow(cx, exact, c, sum));
            sum
        }
        (VideoStage::Acc, _) => cx.b.add(value, c),
        (VideoStage::Min, true) => cx.b.min_s(value, c),
        (VideoStage::Min, false) => cx.b.min_u(value, c),
        (VideoStage::Max, true) => cx.b.max_s(value, c),
        (VideoStage::Max, false) => cx.b.max_u(value, c),
        (VideoStage::Mrg16l | VideoStage::Mrg16h | VideoStage::Mrg8b0 | VideoStage::Mrg8b2, _) => {
            let mask = ((1 << bits) - 1) << lo;
            let (new, old) = (cx.int(mask), cx.int(!mask));
            let placed = cx.shl(value, lo);
            let (new, old) = (cx.b.and(placed, new), cx.b.and(c, old));
            cx.b.or(new, old)
        }
    };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Where the sum of an exact number and a signed word is no signed word.
fn overflow(cx: &mut Cx<'_>, exact: Value, c: Value, sum: Value) -> Mask {
    let (c, word) = (extend(cx, c, true), extend(cx, sum, true));
    let whole = cx.b.add(exact, c);
    Mask::Lanes(cx.b.icmp(IntCc::Ne, whole, word))
}

/// What these instructions leave in CC is not known.
fn without_cc(i: &Instruction) -> Result<(), Unsupported> {
    if i.cc() { Err(Unsupported) } else { Ok(()) }
}

fn signed_result(i: &Instruction) -> bool {
    i.video_result() == VideoResult::Signed
}

/// A + B
pub fn vadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    if i.row.format.contains(".PO") {
        return Err(Unsupported);
    }
    let (a, b) = (Operand::a(cx, i)?, Operand::b(cx, i)?);
    let sum = cx.b.add(a.value, b.value);
    finish(cx, i, sum, signed_result(i))
}

/// The lesser or with `.MX` the greater of A and B.
pub fn vmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, b) = (Operand::a(cx, i)?, Operand::b(cx, i)?);
    let value = if i.video_max() { cx.b.max_s(a.value, b.value) } else { cx.b.min_s(a.value, b.value) };
    finish(cx, i, value, signed_result(i))
}

/// |A - B|. The flags of `.ACC` are those of the last sum: ptxas of CUDA 6.5 to 8 tells by them how many rounds of an unrolled
/// loop are left (`VABSDIFF.ACC RZ.CC, i, end, -unrolled; BRA CC.LE`).
pub fn vabsdiff(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.video_stage() != VideoStage::Acc {
        without_cc(i)?;
    }
    let (a, b) = (Operand::a(cx, i)?, Operand::b(cx, i)?);
    let difference = cx.b.sub(a.value, b.value);
    let distance = cx.b.abs(difference);
    finish(cx, i, distance, i.difference_result() == DifferenceResult::Signed)
}

/// The count of a shift: B, unsigned, at most 32; with `.W` modulo 32.
fn count(cx: &mut Cx<'_>, i: &Instruction) -> Result<Value, Unsupported> {
    let b = if i.b().imm().is_some() { Operand::b(cx, i)? } else { Operand::read(cx, i.b(), i.video_count())? };
    Ok(if i.wrap() {
        let mask = wide(cx, 31);
        cx.b.and(b.value, mask)
    } else {
        let most = wide(cx, 32);
        cx.b.min_u(b.value, most)
    })
}

/// A << B
pub fn vshl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, count) = (Operand::a(cx, i)?, count(cx, i)?);
    let mut value = cx.b.shl(a.value, count);
    if i.sat() && !a.signed {
        // Up to 64 bits: what `clamp` is to see as a great number must not look negative.
        let most = wide(cx, i64::MAX);
        value = cx.b.min_u(value, most);
    }
    finish(cx, i, value, signed_result(i))
}

/// A >> B, with the sign of A.
pub fn vshr(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, count) = (Operand::a(cx, i)?, count(cx, i)?);
    let value = cx.b.shr_s(a.value, count);
    finish(cx, i, value, signed_result(i))
}

fn holds(cx: &mut Cx<'_>, i: &Instruction) -> Result<Mask, Unsupported> {
    let (a, b) = (Operand::a(cx, i)?, Operand::b(cx, i)?);
    Ok(compare::compare(cx, i.int_compare(), Sign::Signed, a.value, b.value))
}

/// 1 where the comparison holds, else 0.
pub fn vset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (holds, one, zero) = (holds(cx, i)?, wide(cx, 1), wide(cx, 0));
    let value = cx.select(holds, one, zero);
    finish(cx, i, value, false)
}

/// Sets two predicates.
pub fn vsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = holds(cx, i)?;
    compare::set_predicates(cx, i, i.bool_op(), holds)
}

/// A * B + C, scaled. The product of two words and the sum take up to 66 bits: the low 64, and a word of those above.
pub fn vmad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let scale = match i.video_scale() {
        VideoScale::None => 0,
        VideoScale::Shr7 => 7,
        VideoScale::Shr15 => 15,
        VideoScale::Reserved => return Err(Unsupported),
    };
    let product_negated = i.a().neg;
    let whole = Source { neg: false, ..i.a() };
    let (a, b) = (Operand::read(cx, whole, i.video_a())?, Operand::b(cx, i)?);
    let signed_factors = a.signed || b.signed;
    // Only the product of unsigned words can have 64 bits, and then they are its magnitude.
    let (bits, zero) = (wide(cx, 63), wide(cx, 0));
    let mut low = cx.b.mul(a.value, b.value);
    let mut high = if signed_factors { cx.b.shr_s(low, bits) } else { zero };
    if product_negated {
        (low, high) = (cx.b.not(low), cx.b.not(high));
    }
    let signed = signed_factors || product_negated;
    let c = cx.raw(i.c());
    let mut c = extend(cx, c, signed);
    if i.c().neg {
        c = cx.b.not(c);
    }
    // Of an unsigned C only the complement is negative.
    let c_high = if signed || i.c().neg { cx.b.shr_s(c, bits) } else { zero };
    let plus_one = product_negated || i.c().neg || i.row.format.contains(".PO");
    let (sum, carry) = add_carry(cx, low, c, Mask::of(plus_one));
    let high = cx.b.add(high, c_high);
    let (one, none) = (wide(cx, 1), wide(cx, 0));
    let carried = cx.select(carry, one, none);
    let high = cx.b.add(high, carried);
    let signed = signed || i.c().neg;
    let (low, high) = if scale == 0 {
        (sum, high)
    } else {
        let (down, up) = (wide(cx, scale), wide(cx, 64 - scale));
        let (kept, moved) = (cx.b.shr_u(sum, down), cx.b.shl(high, up));
        (cx.b.or(kept, moved), cx.b.shr_s(high, down))
    };
    let result = if i.sat() {
        // What does not fit into 64 bits is as far away as an `i64` can be.
        let sign = cx.b.shr_s(low, bits);
        let fits = Mask::Lanes(cx.b.icmp(IntCc::Eq, high, sign));
        let far = cx.b.shr_s(high, bits);
        let most = wide(cx, i64::MAX);
        let far = cx.b.xor(far, most);
        let near = cx.select(fits, low, far);
        clamp(cx, near, signed, 32)
    } else {
        low
    };
    let result = cx.b.trunc(Type::I32, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// The distances of four bytes of A and of B, or with `.ACC` their sum plus C.
pub fn vabsdiff4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    // The rest is composed of other instructions by compilers.
    let plain = i.difference_result() == DifferenceResult::Unsigned
        && !i.sat()
        && i.byte_lanes() == ByteLanes::All
        && i.byte_order_a() == ByteOrderA::S3210
        && i.byte_order_b() == ByteOrderB::S7654;
    if !plain || i.b().imm().is_some() {
        return Err(Unsupported);
    }
    let (signed_a, signed_b) = match i.byte_signs() {
        ByteSigns::U8U8 => (false, false),
        ByteSigns::S8U8 => (true, false),
        ByteSigns::U8S8 => (false, true),
        ByteSigns::S8S8 => (true, true),
    };
    let sum = match i.byte_reduction() {
        ByteReduction::None => false,
        ByteReduction::Acc => true,
        ByteReduction::Reserved2 | ByteReduction::Reserved3 => return Err(Unsupported),
    };
    let (a, b) = (cx.raw(i.a()), cx.raw(i.b()));
    let mut result = if sum { cx.raw(i.c()) } else { cx.int(0) };
    for byte in 0..4 {
        let (x, y) = (cx.part(a, Part::Byte(byte), signed_a), cx.part(b, Part::Byte(byte), signed_b));
        let difference = cx.b.sub(x, y);
        let distance = cx.b.abs(difference);
        result = if sum {
            cx.b.add(result, distance)
        } else {
            // At most 255 + 128: of a byte that is negative only the low bits are kept.
            let distance = cx.part(distance, Part::Byte(0), false);
            let placed = cx.shl(distance, u32::from(byte) * 8);
            cx.b.or(result, placed)
        };
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

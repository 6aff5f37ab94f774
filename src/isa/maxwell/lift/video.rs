//! Video instructions: bytes, halves and words of A and B go through an exact operation. The result
//! is saturated if requested, cut to 32 bits and then combined with C or put into a part of it.
//!
//! Source: PTX ISA, *Video Instructions*, which the compiler maps one to one to these instructions;
//! facts, `maxwell-semantics.md` 2.5.

use warploom_guest::divergence::Mask;
use warploom_guest::video::{Number, ProductSum, clamp, extend, merged, shifted_left, wide};
use warploom_ir::{IntCc, Type, Value};

use super::add::add_carry;
use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::{cc, compare};
use crate::field::{
    ByteLanes, ByteOrderA, ByteOrderB, ByteReduction, ByteSigns, DifferenceResult, Sign, VideoImm,
    VideoResult, VideoScale, VideoStage, VideoType,
};
use crate::{Instruction, Part, Source};

fn first(cx: &mut Cx<'_>, i: &Instruction) -> Result<Number, Unsupported> {
    read(cx, i.a(), i.video_a())
}

/// Reads the second source: a register of its type, or the 16 bits of an immediate.
fn second(cx: &mut Cx<'_>, i: &Instruction) -> Result<Number, Unsupported> {
    let Some(imm) = i.b().imm() else { return read(cx, i.b(), i.video_b()) };
    let signed = i.video_imm() == VideoImm::S16;
    let value = if signed { i64::from(imm as i16) } else { i64::from(imm as u16) };
    let value = cx.constant(Type::I64, value as u64);
    Ok(Number { value: negated(cx, i.b(), value), signed })
}

fn read(cx: &mut Cx<'_>, source: Source, ty: VideoType) -> Result<Number, Unsupported> {
    let signed = match ty {
        VideoType::Reserved6 | VideoType::Reserved7 => return Err(Unsupported),
        unsigned => unsigned as u8 >= VideoType::S8B0 as u8,
    };
    let raw = cx.raw(source);
    let part = cx.part(raw, source.part, signed);
    let value = extend(cx, part, signed);
    Ok(Number { value: negated(cx, source, value), signed })
}

fn negated(cx: &mut Cx<'_>, source: Source, value: Value) -> Value {
    if source.neg { cx.b.neg(value) } else { value }
}

/// Saturates an exact result to the destination's type, which is narrow if the result is merged
/// into C, and applies the second stage. That stage has 32 bits, read as numbers of the
/// destination's sign. With `.CC`, an addition in it sets flags.
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
            merged(cx, value, c, lo, bits)
        }
    };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Returns the lanes where the sum of an exact number and a signed word is no signed word.
fn overflow(cx: &mut Cx<'_>, exact: Value, c: Value, sum: Value) -> Mask {
    let (c, word) = (extend(cx, c, true), extend(cx, sum, true));
    let whole = cx.b.add(exact, c);
    Mask::Lanes(cx.b.icmp(IntCc::Ne, whole, word))
}

/// Refuses `.CC`: the effect of these instructions on CC is unknown.
fn without_cc(i: &Instruction) -> Result<(), Unsupported> {
    if i.cc() { Err(Unsupported) } else { Ok(()) }
}

fn signed_result(i: &Instruction) -> bool {
    i.video_result() == VideoResult::Signed
}

/// Lifts VADD: A + B.
pub fn vadd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    if i.row.format.contains(".PO") {
        return Err(Unsupported);
    }
    let (a, b) = (first(cx, i)?, second(cx, i)?);
    let sum = cx.b.add(a.value, b.value);
    finish(cx, i, sum, signed_result(i))
}

/// Lifts VMNMX: the lesser, or with `.MX` the greater, of A and B.
pub fn vmnmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, b) = (first(cx, i)?, second(cx, i)?);
    let value =
        if i.video_max() { cx.b.max_s(a.value, b.value) } else { cx.b.min_s(a.value, b.value) };
    finish(cx, i, value, signed_result(i))
}

/// Lifts VABSDIFF: |A - B|. The flags of `.ACC` are the flags of the last sum: ptxas of CUDA 6.5 to
/// 8 derives from them how many rounds of an unrolled loop are left
/// (`VABSDIFF.ACC RZ.CC, i, end, -unrolled; BRA CC.LE`).
pub fn vabsdiff(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.video_stage() != VideoStage::Acc {
        without_cc(i)?;
    }
    let (a, b) = (first(cx, i)?, second(cx, i)?);
    let difference = cx.b.sub(a.value, b.value);
    let distance = cx.b.abs(difference);
    finish(cx, i, distance, i.difference_result() == DifferenceResult::Signed)
}

/// Returns the count of a shift: B, unsigned, at most 32; with `.W` modulo 32.
fn count(cx: &mut Cx<'_>, i: &Instruction) -> Result<Value, Unsupported> {
    let b = if i.b().imm().is_some() { second(cx, i)? } else { read(cx, i.b(), i.video_count())? };
    Ok(if i.wrap() {
        let mask = wide(cx, 31);
        cx.b.and(b.value, mask)
    } else {
        let most = wide(cx, 32);
        cx.b.min_u(b.value, most)
    })
}

/// Lifts VSHL: A << B.
pub fn vshl(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, count) = (first(cx, i)?, count(cx, i)?);
    let value = shifted_left(cx, a, count, i.sat());
    finish(cx, i, value, signed_result(i))
}

/// Lifts VSHR: A >> B, with the sign of A.
pub fn vshr(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (a, count) = (first(cx, i)?, count(cx, i)?);
    let value = cx.b.shr_s(a.value, count);
    finish(cx, i, value, signed_result(i))
}

fn holds(cx: &mut Cx<'_>, i: &Instruction) -> Result<Mask, Unsupported> {
    let (a, b) = (first(cx, i)?, second(cx, i)?);
    Ok(compare::compare(cx, i.int_compare(), Sign::Signed, a.value, b.value))
}

/// Lifts VSET: 1 where the comparison holds, else 0.
pub fn vset(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let (holds, one, zero) = (holds(cx, i)?, wide(cx, 1), wide(cx, 0));
    let value = cx.select(holds, one, zero);
    finish(cx, i, value, false)
}

/// Lifts VSETP: sets two predicates.
pub fn vsetp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let holds = holds(cx, i)?;
    compare::set_predicates(cx, i, i.bool_op(), holds)
}

/// Lifts VMAD: A * B + C, scaled.
pub fn vmad(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    let scale = match i.video_scale() {
        VideoScale::None => 0,
        VideoScale::Shr7 => 7,
        VideoScale::Shr15 => 15,
        VideoScale::Reserved => return Err(Unsupported),
    };
    let whole = Source { neg: false, ..i.a() };
    let sum = ProductSum {
        factors: [read(cx, whole, i.video_a())?, second(cx, i)?],
        product_negated: i.a().neg,
        c: cx.raw(i.c()),
        c_negated: i.c().neg,
        plus_one: i.row.format.contains(".PO"),
        scale,
        saturate: i.sat(),
    };
    let result = sum.emit(cx);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Lifts VABSDIFF4: the distances of four bytes of A and of B, or with `.ACC` their sum plus C.
pub fn vabsdiff4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    without_cc(i)?;
    // Compilers build all other forms from other instructions.
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
        let (x, y) =
            (cx.part(a, Part::Byte(byte), signed_a), cx.part(b, Part::Byte(byte), signed_b));
        let difference = cx.b.sub(x, y);
        let distance = cx.b.abs(difference);
        result = if sum {
            cx.b.add(result, distance)
        } else {
            // A distance is at most 255 + 128; of a negative byte only the low bits are kept.
            let distance = cx.part(distance, Part::Byte(0), false);
            let placed = cx.shl(distance, u32::from(byte) * 8);
            cx.b.or(result, placed)
        };
    }
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

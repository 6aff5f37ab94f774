//! Conversions between number formats.
//!
//! Source: facts, `maxwell-semantics.md` 3.

use warploom_ir::{FloatAttrs, FloatUnaryOp, Round, Type, Value};
use warploom_sass::lift::Int;

use super::cc;
use super::context::{Cx, whole};
use super::float::round;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{CopyRounding, FloatFormat, Ftz, IntFormat, IntRounding};
use crate::{Instruction, Part, Source};

impl From<IntFormat> for Int {
    fn from(format: IntFormat) -> Int {
        let int = |bits, signed| Int { bits, signed };
        match format {
            IntFormat::U8 => int(8, false),
            IntFormat::U16 => int(16, false),
            IntFormat::U32 => int(32, false),
            IntFormat::U64 => int(64, false),
            IntFormat::S8 => int(8, true),
            IntFormat::S16 => int(16, true),
            IntFormat::S32 => int(32, true),
            IntFormat::S64 => int(64, true),
        }
    }
}

fn float_type(format: FloatFormat) -> Result<Type, Unsupported> {
    match format {
        FloatFormat::F16 => Ok(Type::F16),
        FloatFormat::F32 => Ok(Type::F32),
        FloatFormat::F64 => Ok(Type::F64),
        FloatFormat::Reserved => Err(Unsupported),
    }
}

/// Returns the bits of an integer source without its modifiers: extended to 32 bits by its type, or
/// the 64 bits of a pair.
fn int_source(cx: &mut Cx<'_>, source: Source, int: Int) -> Value {
    if int.bits == 64 {
        return cx.wide(source);
    }
    let word = cx.raw(source);
    let (first, _) = source.part.range();
    // A half at byte 3 ends with the word.
    let bits = int.bits.min(32 - first);
    if bits == 32 { word } else { cx.bit_range(word, first, bits, int.signed) }
}

/// Applies absolute value, then negation.
fn int_modifiers(cx: &mut Cx<'_>, source: Source, mut value: Value) -> Value {
    if source.abs {
        value = cx.b.abs(value);
    }
    if source.neg {
        value = cx.b.neg(value);
    }
    value
}

/// Wraps a modified source to its type. The least number of 8 or 16 bits is its own absolute value
/// and its own negative: `ptxas` relies on it for `abs.s16` and `neg.s16` before a conversion to a
/// signed number or a float.
fn wrap(cx: &mut Cx<'_>, source: Source, from: Int, value: Value) -> Value {
    let modified = source.abs || source.neg;
    if modified && from.signed && from.bits < 32 {
        cx.bit_range(value, 0, from.bits, true)
    } else {
        value
    }
}

/// Reads a float source: an F16 from a half of a register, an F64 from a pair.
fn float_source(cx: &mut Cx<'_>, source: Source, ty: Type) -> Value {
    match ty {
        Type::F64 => cx.f64(source),
        Type::F16 => {
            let word = cx.raw(source);
            let value = cx.f16(word, u8::from(source.part == Part::Half(1)));
            cx.float_modifiers(source, value)
        }
        _ => cx.f32(whole(source)),
    }
}

/// Writes a float to D: an F16 zero-extended, an F64 to a pair.
fn set_float(cx: &mut Cx<'_>, i: &Instruction, value: Value) {
    match cx.b.ty(value).ty {
        Type::F64 => cx.set_pair(i.d(), value),
        Type::F16 => {
            let bits = cx.low_half(value);
            cx.set(i.d(), bits);
        }
        _ => cx.set(i.d(), value),
    }
}

/// Lifts I2F: integer to float.
pub fn i2f(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from) = (float_type(i.dst_float())?, Int::from(i.src_int()));
    let bits = int_source(cx, i.b(), from);
    let source = int_modifiers(cx, i.b(), bits);
    let source = wrap(cx, i.b(), from, source);
    // A negated unsigned number is signed.
    let signed = from.signed || i.b().neg;
    let result = cx.b.int_to_float(to, signed, round(i.rounding()), source);
    cc::write_float(cx, i, result);
    set_float(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts F2I: float to integer. Out of range, the result is the nearest limit. A NaN gives 0; for
/// 64-bit results and F64 sources it gives only the top bit.
pub fn f2i(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from) = (Int::from(i.f2i_dst()), float_type(i.src_float())?);
    let rounding = match i.int_rounding() {
        IntRounding::Nearest => Round::Nearest,
        IntRounding::Floor => Round::Down,
        IntRounding::Ceil => Round::Up,
        IntRounding::Trunc => Round::Zero,
    };
    let value = float_source(cx, i.b(), from);
    let nan =
        if to.bits == 64 || (from == Type::F64 && to.bits == 32) { 1 << (to.bits - 1) } else { 0 };
    let flush = i.ftz() == Ftz::Flush;
    let result = cx.b.float_to_int(to.ty(), to.signed, rounding, flush, nan, value);
    let result = match to {
        Int { bits: 32.., .. } => result,
        Int { signed: true, .. } => cx.b.sign_extend(Type::I32, result),
        Int { signed: false, .. } => cx.b.zero_extend(Type::I32, result),
    };
    cc::write_result(cx, i, result);
    if to.bits == 64 {
        cx.set_pair(i.d(), result);
    } else {
        cx.set(i.d(), result);
    }
    Ok(Flow::Next)
}

/// Lifts F2F: float to float. Between equal formats it copies, or rounds to an integral value.
pub fn f2f(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from) = (float_type(i.f2f_dst())?, float_type(i.src_float())?);
    let ftz = i.ftz() == Ftz::Flush;
    // `.FTZ` is for F32 (PTX, `cvt`): an F16 may be denormal.
    let halves = to == Type::F16 || from == Type::F16;
    let attrs = FloatAttrs { round: round(i.rounding()), flush: ftz && !halves, saturate: i.sat() };
    let mut value = float_source(cx, i.b(), from);
    if ftz && to == Type::F16 && from == Type::F32 {
        value =
            cx.b.funary(FloatUnaryOp::Copy, FloatAttrs { flush: true, ..FloatAttrs::IEEE }, value);
    }
    let result = if to != from {
        cx.b.fconvert(to, attrs, value)
    } else {
        let (op, round) = match i.copy_rounding() {
            CopyRounding::Nearest => (FloatUnaryOp::Integral, Round::Nearest),
            CopyRounding::Floor => (FloatUnaryOp::Integral, Round::Down),
            CopyRounding::Ceil => (FloatUnaryOp::Integral, Round::Up),
            CopyRounding::Trunc => (FloatUnaryOp::Integral, Round::Zero),
            CopyRounding::Copy
            | CopyRounding::Pass1
            | CopyRounding::Pass2
            | CopyRounding::Pass3 => (FloatUnaryOp::Copy, Round::Nearest),
        };
        cx.b.funary(op, FloatAttrs { round, ..attrs }, value)
    };
    cc::write_float(cx, i, result);
    set_float(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts I2I: integer to integer, cut to the result's type, or clamped to it with `.SAT`. Short
/// results are zero-extended.
pub fn i2i(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from) = (Int::from(i.short_dst()), Int::from(i.short_src()));
    if to.bits == 64 || from.bits == 64 {
        return Err(Unsupported);
    }
    let bits = int_source(cx, i.b(), from);
    let result = if i.sat() {
        // The exact value needs more than 32 bits.
        let exact = if from.signed {
            cx.b.sign_extend(Type::I64, bits)
        } else {
            cx.b.zero_extend(Type::I64, bits)
        };
        let exact = int_modifiers(cx, i.b(), exact);
        let (least, greatest) = to.range();
        let (least, greatest) =
            (cx.constant(Type::I64, least as u64), cx.constant(Type::I64, greatest as u64));
        let raised = cx.b.max_s(exact, least);
        let clamped = cx.b.min_s(raised, greatest);
        cx.b.trunc(Type::I32, clamped)
    } else {
        let value = int_modifiers(cx, i.b(), bits);
        if to.signed { wrap(cx, i.b(), from, value) } else { value }
    };
    let result = if to.bits < 32 { cx.bit_range(result, 0, to.bits, false) } else { result };
    cc::write_result(cx, i, result);
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

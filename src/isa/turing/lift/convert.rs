//! Conversions between number formats.
//!
//! Source: the same PTX through this guest and the PTX guest.

use warploom_guest::brain::{from_bf16, to_bf16};
use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, Round, Type, Value};
use warploom_sass::lift::{Cx, Int, whole};
use warploom_sass::{Part, Source};

use super::float::round;
use super::flow::{Flow, Lifted, Unsupported};
use super::operand::{set, set_pair};
use crate::field::{
    F2fpType, F2iType, F2ipRounding, F2ipType, FrndType, I2fSource, I2fType, I2fpRounding,
    I2fpSource, I2fpType, IntRounding, NarrowInt, PackKind,
};
use crate::{Field, Instruction, Opcode};

const fn int(bits: u32, signed: bool) -> Int {
    Int { bits, signed }
}

fn f2i_type(ty: F2iType) -> Result<Int, Unsupported> {
    Ok(match ty {
        F2iType::U8 => int(8, false),
        F2iType::S8 => int(8, true),
        F2iType::U16 => int(16, false),
        F2iType::S16 => int(16, true),
        F2iType::U32 => int(32, false),
        F2iType::S32 => int(32, true),
        F2iType::U64 => int(64, false),
        F2iType::S64 => int(64, true),
        F2iType::Reserved => return Err(Unsupported),
    })
}

fn i2f_source(ty: I2fSource) -> Result<Int, Unsupported> {
    Ok(match ty {
        I2fSource::U8 => int(8, false),
        I2fSource::S8 => int(8, true),
        I2fSource::U16 => int(16, false),
        I2fSource::S16 => int(16, true),
        I2fSource::U32 => int(32, false),
        I2fSource::S32 => int(32, true),
        I2fSource::U64 => int(64, false),
        I2fSource::S64 => int(64, true),
        I2fSource::Reserved => return Err(Unsupported),
    })
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
fn set_float(cx: &mut Cx<'_>, i: &Instruction, value: Value) -> Lifted {
    match cx.b.ty(value).ty {
        Type::F64 => set_pair(cx, i, value),
        Type::F16 => {
            let bits = cx.low_half(value);
            set(cx, i, bits);
        }
        _ => set(cx, i, value),
    }
    Ok(Flow::Next)
}

fn to_integral(rounding: IntRounding) -> Round {
    match rounding {
        IntRounding::Nearest => Round::Nearest,
        IntRounding::Floor => Round::Down,
        IntRounding::Ceil => Round::Up,
        IntRounding::Trunc => Round::Zero,
    }
}

/// Lifts I2F and I2FP: integer to float.
pub fn i2f(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from, rounding) = if i.opcode() == Opcode::I2fp {
        let from = match i.i2fp_source() {
            I2fpSource::U32 => int(32, false),
            I2fpSource::S32 => int(32, true),
            I2fpSource::Reserved => return Err(Unsupported),
        };
        let rounding = match i.i2fp_rounding() {
            I2fpRounding::Nearest => Round::Nearest,
            I2fpRounding::Zero => Round::Zero,
            _ => return Err(Unsupported),
        };
        if i.i2fp_type() != I2fpType::F32 {
            return Err(Unsupported);
        }
        (Type::F32, from, rounding)
    } else {
        let narrow = i.field(Field::i2f_narrow).is_some();
        let to = match if narrow { i.i2f_narrow() } else { i.i2f_type() } {
            I2fType::F16 => Type::F16,
            I2fType::F32 => Type::F32,
            I2fType::F64 => Type::F64,
            I2fType::Reserved => return Err(Unsupported),
        };
        (to, i2f_source(i.i2f_source())?, round(i.rounding()))
    };
    let source = i.b();
    let value = if from.bits == 64 {
        match source.imm() {
            // As for doubles, the immediate is the high word (code of ptxas).
            Some(high) => cx.constant(Type::I64, high << 32),
            None => cx.wide(source),
        }
    } else {
        let word = cx.raw(source);
        let (first, _) = source.part.range();
        // A half at byte 3 ends with the word.
        let bits = from.bits.min(32 - first);
        if bits == 32 { word } else { cx.bit_range(word, first, bits, from.signed) }
    };
    let result = cx.b.int_to_float(to, from.signed, rounding, value);
    set_float(cx, i, result)
}

/// Lifts F2I: float to integer. Out of range, the result is the nearest limit. A NaN gives 0; for
/// 64-bit results and F64 sources it gives only the top bit, without `.NTZ`.
pub fn f2i(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let format = i.row.format;
    let narrow = i.field(Field::f2i_narrow).is_some();
    let to = f2i_type(if narrow { i.f2i_narrow() } else { i.f2i_type() })?;
    let from = if format.contains(".F16") {
        Type::F16
    } else if format.contains(".F64") {
        Type::F64
    } else {
        Type::F32
    };
    let value = float_source(cx, i.b(), from);
    let wide = to.bits == 64 || from == Type::F64 && to.bits == 32;
    let nan = match to {
        _ if i.ntz() => 0,
        Int { bits, .. } if wide => 1 << (bits - 1),
        // The top bit of a word, clamped.
        Int { bits, signed: true } if from == Type::F64 => 1 << (bits - 1),
        Int { bits, signed: false } if from == Type::F64 => (1 << bits) - 1,
        _ => 0,
    };
    let rounding = to_integral(i.int_rounding());
    let result = cx.b.float_to_int(to.ty(), to.signed, rounding, i.ftz(), nan, value);
    match to {
        Int { bits: 64, .. } => set_pair(cx, i, result),
        Int { bits: 32, .. } => set(cx, i, result),
        Int { signed, .. } => {
            let extended = if signed {
                cx.b.sign_extend(Type::I32, result)
            } else {
                cx.b.zero_extend(Type::I32, result)
            };
            set(cx, i, extended);
        }
    }
    Ok(Flow::Next)
}

/// Returns the formats that the text of a conversion between floats has.
fn float_formats(format: &str) -> Option<(&'static str, Type)> {
    const ALL: [(&str, &str, Type); 7] = [
        (".F16.F32", "F16", Type::F32),
        (".BF16.F32", "BF16", Type::F32),
        (".F32.F16", "F32", Type::F16),
        (".F64.F16", "F64", Type::F16),
        (".F64.F32", "F64", Type::F32),
        (".F16.F64", "F16", Type::F64),
        (".F32.F64", "F32", Type::F64),
    ];
    // `.BF16.F32` ends as `.F16.F32` does not.
    ALL.iter().find(|(text, ..)| format.contains(text)).map(|&(_, to, from)| (to, from))
}

/// Lifts F2F: float to float.
pub fn f2f(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (to, from) = float_formats(i.row.format).ok_or(Unsupported)?;
    let mut value = float_source(cx, i.b(), from);
    let rounding = round(i.rounding());
    // `.FTZ` is for F32 (PTX, `cvt`): an F16 may be denormal.
    if i.ftz() && from == Type::F32 {
        let attrs = FloatAttrs { flush: true, ..FloatAttrs::IEEE };
        value = cx.b.funary(FloatUnaryOp::Copy, attrs, value);
    }
    let attrs = FloatAttrs { round: rounding, flush: i.ftz() && to == "F32", saturate: false };
    let ty = match to {
        "F16" => Type::F16,
        "F32" => Type::F32,
        "F64" => Type::F64,
        _ => {
            let bits = brain(cx, rounding, value);
            let word = cx.b.zero_extend(Type::I32, bits);
            set(cx, i, word);
            return Ok(Flow::Next);
        }
    };
    let attrs =
        if from == Type::F16 && to == "F32" { FloatAttrs { flush: false, ..attrs } } else { attrs };
    let result = cx.b.fconvert(ty, attrs, value);
    set_float(cx, i, result)
}

/// The NaN of BF16.
const BRAIN_NAN: u64 = 0x7fff;

/// Rounds an F32 to the bits of a BF16.
pub fn brain(cx: &mut Cx<'_>, round: Round, value: Value) -> Value {
    to_bf16(cx, round, BRAIN_NAN, value)
}

/// Returns the value of a BF16 in a half of a word.
pub fn of_brain(cx: &mut Cx<'_>, word: Value, half: u8) -> Value {
    let bits = if half == 0 { word } else { cx.shr(word, 16) };
    let bits = cx.b.trunc(Type::I16, bits);
    from_bf16(cx, bits)
}

/// Lifts FRND: float to integral float.
pub fn frnd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let format = i.row.format;
    let ty = if format.contains(".F16") {
        Type::F16
    } else if i.field(Field::frnd_type).is_some() {
        if i.frnd_type() != FrndType::F64 {
            return Err(Unsupported);
        }
        Type::F64
    } else {
        Type::F32
    };
    let value = float_source(cx, i.b(), ty);
    let attrs =
        FloatAttrs { round: to_integral(i.int_rounding()), flush: i.ftz(), saturate: false };
    let result = cx.b.funary(FloatUnaryOp::Integral, attrs, value);
    set_float(cx, i, result)
}

fn narrow(ty: NarrowInt) -> Int {
    match ty {
        NarrowInt::U8 => int(8, false),
        NarrowInt::S8 => int(8, true),
        NarrowInt::U16 => int(16, false),
        NarrowInt::S16 => int(16, true),
    }
}

/// Clamps a signed word to a narrower type; the bits above are 0.
fn clamp(cx: &mut Cx<'_>, value: Value, to: Int) -> Value {
    let (least, most) = to.range();
    let (least, most) = (cx.int(least as u32), cx.int(most as u32));
    let raised = cx.b.max_s(value, least);
    let clamped = cx.b.min_s(raised, most);
    cx.bit_range(clamped, 0, to.bits, false)
}

/// Lifts I2I.SAT: a signed word to a narrower integer, extended to a word.
pub fn i2i(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, to) = (cx.word(i.b()), narrow(i.narrow_int()));
    let clamped = clamp(cx, value, to);
    let result = if to.signed { cx.bit_range(clamped, 0, to.bits, true) } else { clamped };
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts I2IP.SAT: A and B to bytes, which go behind two bytes of C; or to halves.
pub fn i2ip(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.row.format.contains("nibble") {
        return Err(Unsupported);
    }
    let to = narrow(i.narrow_int());
    let (a, b) = (cx.word(i.a()), cx.word(i.b()));
    let (a, b) = (clamp(cx, a, to), clamp(cx, b, to));
    let a = cx.shl(a, to.bits);
    let mut result = cx.b.or(a, b);
    if to.bits == 8 {
        let rest = cx.word(i.c());
        let rest = cx.shl(rest, 16);
        result = cx.b.or(rest, result);
    }
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Lifts F2IP: A and B to bytes, which go behind two bytes of C.
pub fn f2ip(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let signed = match i.f2ip_type() {
        F2ipType::U8 => false,
        F2ipType::S8 => true,
        _ => return Err(Unsupported),
    };
    let rounding = match i.f2ip_rounding() {
        F2ipRounding::Nearest => Round::Nearest,
        F2ipRounding::Trunc => Round::Zero,
        _ => return Err(Unsupported),
    };
    if i.relu() || !i.ntz() {
        return Err(Unsupported);
    }
    let mut byte = |source| {
        let value = cx.f32(source);
        let byte = cx.b.float_to_int(Type::I8, signed, rounding, false, 0, value);
        cx.b.zero_extend(Type::I32, byte)
    };
    let (a, b) = (byte(i.a()), byte(i.b()));
    let rest = cx.word(whole(i.c()));
    let (a, rest) = (cx.shl(a, 8), cx.shl(rest, 16));
    let low = cx.b.or(a, b);
    let result = cx.b.or(low, rest);
    set(cx, i, result);
    Ok(Flow::Next)
}

/// Returns the bits of an F32 as F16 or BF16, in the low half of a word.
fn packed(
    cx: &mut Cx<'_>,
    i: &Instruction,
    to_brain: bool,
    rounding: Round,
    mut value: Value,
) -> Value {
    if i.relu() {
        value = without_negatives(cx, value);
    }
    if to_brain {
        let bits = brain(cx, rounding, value);
        return cx.b.zero_extend(Type::I32, bits);
    }
    let half = cx.b.fconvert(Type::F16, FloatAttrs { round: rounding, ..FloatAttrs::IEEE }, value);
    cx.low_half(half)
}

/// Replaces negative values by 0. A NaN stays.
pub fn without_negatives(cx: &mut Cx<'_>, value: Value) -> Value {
    let zero = cx.zero_like(value);
    let negative = cx.b.fcmp(FloatCc::Le, false, value, zero);
    cx.select(Mask::Lanes(negative), zero, value)
}

/// Lifts F2FP of F16 and BF16: A to the high half and B to the low half; or B to the low half
/// beside a half of C.
pub fn f2fp(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let format = i.row.format;
    let to_brain = if i.field(Field::f2fp_type).is_some() {
        match i.f2fp_type() {
            F2fpType::F16 => false,
            F2fpType::Bf16 => true,
            _ => return Err(Unsupported),
        }
    } else {
        i.pack_kind() == PackKind::Bf16
    };
    let odd_form = ["PACK_AB_MERGE_C", "UNPACK", ".RS"].iter().any(|form| format.contains(form));
    if odd_form || i.satfinite() {
        return Err(Unsupported);
    }
    let rounding = if format.contains(".RZ") { Round::Zero } else { Round::Nearest };
    let b = cx.f32(i.b());
    let low = packed(cx, i, to_brain, rounding, b);
    let high = if format.contains("MERGE_C") {
        let (word, half) = (cx.raw(i.c()), i.c().part);
        cx.part(word, if half == Part::Whole { Part::Half(0) } else { half }, false)
    } else {
        let a = cx.f32(i.a());
        packed(cx, i, to_brain, rounding, a)
    };
    let high = cx.shl(high, 16);
    let result = cx.b.or(high, low);
    set(cx, i, result);
    Ok(Flow::Next)
}

//! Conversions.
//!
//! Source: facts, `ptx.md` 1.5 and 2.5.

use warploom_guest::bits::to_even;
use warploom_guest::brain::{self, from_bf16};
use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, IntCc, Round, Type, Value};

use super::context::{Cx, Insn, float_type, int_type};
use super::float::rounding;
use super::small::{self, is_small};
use super::{Lifted, Unsupported};
use crate::table::Form;
use crate::types::{Kind, Ty};
use crate::word::Word;
use warploom_guest::brain::to_odd_f32;

/// The canonical NaN of `bf16` and of `f16`.
pub const NAN16: u64 = 0x7fff;

/// Returns the rounding to an integral value, if a word asks for it.
fn integral(form: &Form) -> Option<Round> {
    Some(match form.one_of(&[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi])? {
        Word::Rni => Round::Nearest,
        Word::Rzi => Round::Zero,
        Word::Rmi => Round::Down,
        _ => Round::Up,
    })
}

fn is_int(ty: Ty) -> bool {
    matches!(ty.kind(), Kind::Unsigned | Kind::Signed) && ty.bits() >= 8
}

fn is_scalar_float(ty: Ty) -> bool {
    matches!(ty, Ty::F16 | Ty::F32 | Ty::F64 | Ty::Bf16)
}

pub fn cvt(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let (to, from) = (insn.form.ty(0), insn.form.ty(1));
    let result = match (is_int(to), is_int(from)) {
        (true, true) => {
            let value = cx.bits(insn.operand(1), from);
            int_to_int(cx, insn.form, to, from, value)
        }
        (true, false) if is_scalar_float(from) => {
            let value = scalar(cx, insn, 1, from);
            float_to_int(cx, insn.form, to, from, value)
        }
        (false, true) if is_scalar_float(to) => {
            let value = cx.bits(insn.operand(1), from);
            if to == Ty::Bf16 {
                int_to_bf16(cx, insn.form, from, value)
            } else {
                int_to_float(cx, insn.form, to, from, value)
            }
        }
        (false, false) => float_to_float(cx, insn, to, from)?,
        _ => return Err(Unsupported),
    };
    cx.set(insn.operand(0), to, result);
    Ok(())
}

/// Returns a scalar float as the IR has it: `bf16` as an equal `f32`.
fn scalar(cx: &mut Cx<'_>, insn: &Insn<'_>, n: usize, ty: Ty) -> Value {
    if ty != Ty::Bf16 {
        return cx.float(insn.operand(n), ty);
    }
    let bits = cx.bits(insn.operand(n), Ty::B16);
    from_bf16(cx, bits)
}

/// Rounds an `f32` once to `bf16`, an `i16`. A NaN becomes the canonical NaN.
pub fn to_bf16(cx: &mut Cx<'_>, round: Round, value: Value) -> Value {
    brain::to_bf16(cx, round, NAN16, value)
}

/// Returns the least and the greatest value of an integer type.
fn range(ty: Ty) -> (i64, u64) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        (0, u64::MAX >> (64 - bits))
    }
}

fn int_to_int(cx: &mut Cx<'_>, form: &Form, to: Ty, from: Ty, value: Value) -> Value {
    if !form.has(Word::Sat) {
        return cx.resize(value, int_type(to.bits()), from.is_signed());
    }
    let mut wide = cx.resize(value, Type::I64, from.is_signed());
    let (least, most) = range(to);
    let most = cx.constant(Type::I64, most);
    if from.is_signed() {
        let least = cx.constant(Type::I64, least as u64);
        wide = cx.b.max_s(wide, least);
        if to != Ty::U64 {
            wide = cx.b.min_s(wide, most);
        }
    } else {
        wide = cx.b.min_u(wide, most);
    }
    cx.resize(wide, int_type(to.bits()), false)
}

fn float_to_int(cx: &mut Cx<'_>, form: &Form, to: Ty, from: Ty, value: Value) -> Value {
    let round = integral(form).unwrap_or(Round::Zero);
    let wide_nan = from == Ty::F64 || to.bits() == 64;
    let ty = int_type(to.bits());
    let nan = match (wide_nan, to) {
        (false, _) => 0,
        // Compilers clamp the hardware's word.
        (true, Ty::U8 | Ty::U16) => u64::MAX >> (64 - to.bits()),
        (true, _) => 1 << (to.bits() - 1),
    };
    let value =
        if from == Ty::F16 { cx.b.fconvert(Type::F32, FloatAttrs::IEEE, value) } else { value };
    cx.b.float_to_int(ty, to.is_signed(), round, form.has(Word::Ftz), nan, value)
}

fn int_to_float(cx: &mut Cx<'_>, form: &Form, to: Ty, from: Ty, value: Value) -> Value {
    let float = float_type(to).unwrap_or(Type::F32);
    let value =
        if from.bits() < 32 { cx.resize(value, Type::I32, from.is_signed()) } else { value };
    let result = cx.b.int_to_float(float, from.is_signed(), rounding(form), value);
    if form.has(Word::Sat) {
        let attrs = FloatAttrs { saturate: true, ..FloatAttrs::IEEE };
        return cx.b.funary(FloatUnaryOp::Copy, attrs, result);
    }
    result
}

/// Converts an integer to `bf16`, rounded once, by way of `f64`, which is exact up to 53 digits.
///
/// A longer integer gets its lower digits replaced by a single digit, set if any of them was set.
/// That digit is far below the place where `bf16` is cut.
fn int_to_bf16(cx: &mut Cx<'_>, form: &Form, from: Ty, value: Value) -> Value {
    const LOW: u64 = 0x7ff;
    let mut wide = cx.resize(value, Type::I64, from.is_signed());
    if from.bits() == 64 {
        let (low, none, digit) = (
            cx.constant(Type::I64, LOW),
            cx.constant(Type::I64, 0),
            cx.constant(Type::I64, LOW + 1),
        );
        let high = cx.constant(Type::I64, !LOW);
        let cut = cx.b.and(wide, high);
        let with_digit = cx.b.or(cut, digit);
        let rest = cx.b.and(wide, low);
        let exact = cx.b.icmp(IntCc::Eq, rest, none);
        let long = cx.b.select(exact, cut, with_digit);
        let is_short = is_short(cx, from, wide);
        wide = cx.b.select(is_short, wide, long);
    }
    let double = cx.b.int_to_float(Type::F64, from.is_signed(), Round::Nearest, wide);
    let single = to_odd_f32(cx, double);
    to_bf16(cx, rounding(form), single)
}

/// Whether an integer of 64 bits has at most 53 digits.
fn is_short(cx: &mut Cx<'_>, ty: Ty, value: Value) -> Value {
    const LIMIT: u64 = 1 << 53;
    if !ty.is_signed() {
        let limit = cx.constant(Type::I64, LIMIT);
        return cx.b.icmp(IntCc::LtU, value, limit);
    }
    let (limit, range) = (cx.constant(Type::I64, LIMIT), cx.constant(Type::I64, 2 * LIMIT));
    let from_least = cx.b.add(value, limit);
    cx.b.icmp(IntCc::LtU, from_least, range)
}

fn float_to_float(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    to: Ty,
    from: Ty,
) -> Result<Value, Unsupported> {
    let form = insn.form;
    // The use of the random bits by each element is unknown.
    if form.has(Word::Rs) {
        return Err(Unsupported);
    }
    if is_small(to) || is_small(from) {
        return small::convert(cx, insn, to, from);
    }
    match (to, from) {
        (Ty::F16x2 | Ty::Bf16x2, Ty::F32) => {
            let (high, low) = (scalar(cx, insn, 1, from), scalar(cx, insn, 2, from));
            let element = if to == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 };
            let (low, high) = (narrow(cx, form, element, low)?, narrow(cx, form, element, high)?);
            Ok(pack(cx, low, high))
        }
        (Ty::Tf32, Ty::F32) => {
            let value = scalar(cx, insn, 1, from);
            Ok(to_tf32(cx, form, value))
        }
        _ if !is_scalar_float(to) || !is_scalar_float(from) => Err(Unsupported),
        _ => {
            let value = scalar(cx, insn, 1, from);
            scalar_to_scalar(cx, form, to, from, value)
        }
    }
}

/// Converts an `f32` to a type of 16 bits, an `i16`.
fn narrow(cx: &mut Cx<'_>, form: &Form, to: Ty, value: Value) -> Result<Value, Unsupported> {
    let bits = scalar_to_scalar(cx, form, to, Ty::F32, value)?;
    Ok(cx.cast(Type::I16, bits))
}
pub use warploom_guest::matrix::pack;

fn scalar_to_scalar(
    cx: &mut Cx<'_>,
    form: &Form,
    to: Ty,
    from: Ty,
    value: Value,
) -> Result<Value, Unsupported> {
    // A `bf16` source is an `f32` by now.
    let source = if from == Ty::Bf16 { Type::F32 } else { float_type(from).ok_or(Unsupported)? };
    // Conversions between halves and words flush nothing: neither `f16`, nor the `f32` that the
    // hardware makes on the way to `f16`.
    let flush = form.has(Word::Ftz) && to != Ty::F16 && from != Ty::F16;
    let saturate = form.has(Word::Sat);
    let mut value = value;
    if let Some(round) = integral(form) {
        value = cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round, flush, saturate }, value);
    }
    if to == Ty::Bf16 {
        return to_bf16_from(cx, form, from, value);
    }
    let float = float_type(to).ok_or(Unsupported)?;
    if float != source {
        let attrs = FloatAttrs { round: rounding(form), flush, saturate };
        value = cx.b.fconvert(float, attrs, value);
    } else if integral(form).is_none() && (flush || saturate) {
        value = cx.b.funary(
            FloatUnaryOp::Copy,
            FloatAttrs { flush, saturate, ..FloatAttrs::IEEE },
            value,
        );
    }
    if form.has(Word::SatFinite) {
        let most = match to {
            Ty::F16 => 0x7bff,
            _ => return Err(Unsupported),
        };
        value = clamp_magnitude(cx, float, most, value);
    }
    if form.has(Word::Relu) {
        value = relu(cx, float, value);
    }
    Ok(value)
}

fn to_bf16_from(
    cx: &mut Cx<'_>,
    form: &Form,
    from: Ty,
    value: Value,
) -> Result<Value, Unsupported> {
    let value = match from {
        Ty::F64 => to_odd_f32(cx, value),
        Ty::F16 => cx.b.fconvert(Type::F32, FloatAttrs::IEEE, value),
        _ if form.has(Word::Ftz) => {
            cx.b.funary(FloatUnaryOp::Copy, FloatAttrs { flush: true, ..FloatAttrs::IEEE }, value)
        }
        _ => value,
    };
    let mut bits = to_bf16(cx, rounding(form), value);
    if form.has(Word::SatFinite) {
        let (magnitude, sign) = (cx.constant(Type::I16, 0x7fff), cx.constant(Type::I16, 0x8000));
        let (magnitude, sign) = (cx.b.and(bits, magnitude), cx.b.and(bits, sign));
        let (infinity, most) = (cx.constant(Type::I16, 0x7f80), cx.constant(Type::I16, 0x7f7f));
        let infinite = cx.b.icmp(IntCc::Eq, magnitude, infinity);
        let limited = cx.b.or(most, sign);
        bits = cx.b.select(infinite, limited, bits);
    }
    if form.has(Word::Relu) {
        let zero = cx.constant(Type::I16, 0);
        let negative = cx.b.icmp(IntCc::LtS, bits, zero);
        bits = cx.b.select(negative, zero, bits);
    }
    Ok(bits)
}

/// Replaces negative values by 0. A NaN stays.
pub fn relu(cx: &mut Cx<'_>, ty: Type, value: Value) -> Value {
    let zero = cx.constant(ty, 0);
    let int = ty.as_int();
    let bits = cx.cast(int, value);
    let none = cx.constant(int, 0);
    let negative = Mask::Lanes(cx.b.icmp(IntCc::LtS, bits, none));
    let number = Mask::Lanes(cx.b.fcmp(FloatCc::Num, false, value, value));
    let lanes = cx.and(negative, number);
    cx.select(lanes, zero, value)
}

/// Replaces infinities by the greatest finite value, whose bits are `most`.
fn clamp_magnitude(cx: &mut Cx<'_>, ty: Type, most: u64, value: Value) -> Value {
    let int = ty.as_int();
    let bits = cx.cast(int, value);
    let sign = cx.constant(int, 1 << (ty.bits() - 1));
    let sign = cx.b.and(bits, sign);
    let most = cx.constant(int, most);
    let limit = cx.b.or(most, sign);
    let limit = cx.cast(ty, limit);
    let magnitude = cx.b.fabs(value);
    let greatest = cx.cast(ty, most);
    let beyond = cx.b.fcmp(FloatCc::Gt, false, magnitude, greatest);
    cx.b.select(beyond, limit, value)
}

/// Converts to an `f32` with 10 bits of mantissa, the other bits being 0: an `i32`.
fn to_tf32(cx: &mut Cx<'_>, form: &Form, value: Value) -> Value {
    let bits = cx.cast(Type::I32, value);
    let increment = if form.has(Word::Rz) {
        cx.word(0)
    } else if form.has(Word::Rna) {
        cx.word(0x1000)
    } else {
        to_even(cx, bits, 13)
    };
    let sum = cx.b.add(bits, increment);
    let kept = cx.word(!0x1fff);
    let rounded = cx.b.and(sum, kept);
    let magnitude = cx.b.fabs(value);
    let infinity = cx.constant(Type::F32, f32::INFINITY.to_bits().into());
    let finite = cx.b.fcmp(FloatCc::Lt, false, magnitude, infinity);
    let is_nan = cx.b.fcmp(FloatCc::Nan, false, value, value);
    let nan = cx.word(0x7fff_ffff);
    let special = cx.b.select(is_nan, nan, bits);
    let mut result = cx.b.select(finite, rounded, special);
    if form.has(Word::SatFinite) {
        let float = cx.cast(Type::F32, result);
        let limited = clamp_magnitude(cx, Type::F32, 0x7f7f_e000, float);
        result = cx.cast(Type::I32, limited);
    }
    if form.has(Word::Relu) {
        let float = cx.cast(Type::F32, result);
        let positive = relu(cx, Type::F32, float);
        result = cx.cast(Type::I32, positive);
    }
    result
}

/// Lifts `cvt.pack`: clamped integers next to each other, the first source above the second.
pub fn cvt_pack(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let to = insn.form.ty(0);
    let bits = to.bits();
    let (least, most) = range(to);
    let (least, most) = (cx.word(least as u32), cx.word(most as u32));
    let mask = cx.word(u32::MAX >> (32 - bits));
    let clamped = |cx: &mut Cx<'_>, n: usize| {
        let value = cx.bits(insn.operand(n), Ty::S32);
        let value = cx.b.max_s(value, least);
        let value = cx.b.min_s(value, most);
        cx.b.and(value, mask)
    };
    let (high, low) = (clamped(cx, 1), clamped(cx, 2));
    let count = cx.word(bits);
    let high = cx.b.shl(high, count);
    let mut result = cx.b.or(high, low);
    if insn.form.types.len() > 2 {
        let above = cx.bits(insn.operand(3), Ty::B32);
        let count = cx.word(2 * bits);
        let above = cx.b.shl(above, count);
        result = cx.b.or(result, above);
    }
    cx.set(insn.operand(0), Ty::B32, result);
    Ok(())
}

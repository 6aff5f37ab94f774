//! Conversions of pairs of floats of 8 bits and less.
//!
//! Source: facts, `ptx.md` 2.5.

use smallvec::SmallVec;
use warploom_guest::bits::{shr, to_even};
use warploom_guest::brain::from_bf16;
use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatCc, IntCc, Type, Value};

use super::Unsupported;
use super::context::{Cx, Insn, int_type};
use super::convert::{NAN16, pack, relu, to_bf16};
use super::half::halves;
use crate::types::Ty;
use crate::word::Word;

/// The fraction digits of `f32`, and its bias.
const FRACTION: u32 = 23;
const BIAS: u32 = 127;

/// A format with a sign, an exponent and a fraction. All bits above the greatest number are NaNs,
/// or infinity in `e5m2`.
#[derive(Clone, Copy)]
struct Format {
    bits: u32,
    fraction: u32,
    bias: u32,
    /// The bits of the greatest number.
    most: u32,
    /// The bits of a NaN, or of the number that replaces a NaN.
    nan: u32,
}

impl Format {
    fn of(ty: Ty) -> Option<Format> {
        Some(match ty {
            Ty::E4m3x2 => Format { bits: 8, fraction: 3, bias: 7, most: 0x7e, nan: 0x7f },
            Ty::E5m2x2 => Format { bits: 8, fraction: 2, bias: 15, most: 0x7b, nan: 0x7f },
            Ty::E3m2x2 => Format { bits: 6, fraction: 2, bias: 3, most: 0x1f, nan: 0x1f },
            Ty::E2m3x2 => Format { bits: 6, fraction: 3, bias: 1, most: 0x1f, nan: 0x1f },
            Ty::E2m1x2 => Format { bits: 4, fraction: 1, bias: 1, most: 0x7, nan: 0x7 },
            _ => return None,
        })
    }

    /// Returns the bits from one element of a pair to the next.
    fn step(self) -> u32 {
        if self.bits == 4 { 4 } else { 8 }
    }

    fn sign(self) -> u32 {
        1 << (self.bits - 1)
    }

    /// Returns the number nearest to an `f32`, at most the greatest number: an `i32`.
    fn encode(self, cx: &mut Cx<'_>, value: Value) -> Value {
        let dropped = FRACTION - self.fraction;
        let magnitude = cx.b.fabs(value);
        let bits = cx.cast(Type::I32, magnitude);
        // Normal numbers: add half of the last place (a bit less if the fraction is even), then
        // cut.
        let increment = to_even(cx, bits, dropped);
        let rounded = cx.b.add(bits, increment);
        let cut = shr(cx, rounded, dropped);
        let rebias = cx.word((BIAS - self.bias) << self.fraction);
        let normal = cx.b.sub(cut, rebias);
        // Smaller numbers: add to a number whose last place is that of the format.
        let unit = (BIAS + dropped + 1 - self.bias) << FRACTION;
        let (unit_float, unit) = (cx.constant(Type::F32, unit.into()), cx.word(unit));
        let sum = cx.b.fadd(FloatAttrs::IEEE, magnitude, unit_float);
        let sum = cx.cast(Type::I32, sum);
        let denormal = cx.b.sub(sum, unit);
        let least = cx.word((BIAS + 1 - self.bias) << FRACTION);
        let is_normal = cx.b.icmp(IntCc::GeU, bits, least);
        let result = cx.b.select(is_normal, normal, denormal);
        let most = cx.word(self.most);
        let result = cx.b.min_u(result, most);
        let signed = self.with_sign_of(cx, result, value);
        let (is_nan, nan) = (cx.b.fcmp(FloatCc::Nan, false, value, value), cx.word(self.nan));
        cx.b.select(is_nan, nan, signed)
    }

    fn with_sign_of(self, cx: &mut Cx<'_>, result: Value, value: Value) -> Value {
        let bits = cx.cast(Type::I32, value);
        let (count, sign) = (cx.word(32 - self.bits), cx.word(self.sign()));
        let bits = cx.b.shr_u(bits, count);
        let bits = cx.b.and(bits, sign);
        cx.b.or(result, bits)
    }

    /// Converts a number to an equal `f32`. Bits of `bits`, an `i32`, above the low ones do not
    /// matter.
    fn decode(self, cx: &mut Cx<'_>, bits: Value) -> Value {
        let mask = cx.word(self.sign() - 1);
        let magnitude = cx.b.and(bits, mask);
        let count = cx.word(FRACTION - self.fraction);
        let shifted = cx.b.shl(magnitude, count);
        let shifted = cx.cast(Type::F32, shifted);
        let scale = cx.constant(Type::F32, u64::from((2 * BIAS - self.bias) << FRACTION));
        let mut value = cx.b.fmul(FloatAttrs::IEEE, shifted, scale);
        let beyond = |cx: &mut Cx<'_>, limit: u32| {
            let limit = cx.word(limit);
            Mask::Lanes(cx.b.icmp(IntCc::GtU, magnitude, limit))
        };
        if self.nan > self.most {
            let is_nan = beyond(cx, self.nan - self.nan_count());
            let nan = cx.constant(Type::F32, super::NAN.canonical(Type::F32));
            if self.nan_count() > 1 {
                let infinity = cx.constant(Type::F32, f32::INFINITY.to_bits().into());
                let infinite = beyond(cx, self.most);
                value = cx.select(infinite, infinity, value);
            }
            value = cx.select(is_nan, nan, value);
        }
        let sign = cx.word(self.sign());
        let sign = cx.b.and(bits, sign);
        let count = cx.word(32 - self.bits);
        let sign = cx.b.shl(sign, count);
        let value = cx.cast(Type::I32, value);
        let value = cx.b.or(value, sign);
        cx.cast(Type::F32, value)
    }

    /// Returns the number of NaNs of one sign. `e5m2` has three, above its infinity.
    fn nan_count(self) -> u32 {
        if self.most == 0x7b { 3 } else { 1 }
    }
}

pub fn is_small(ty: Ty) -> bool {
    Format::of(ty).is_some() || ty == Ty::Ue8m0x2
}

/// Converts to or from a pair of these formats.
pub fn convert(cx: &mut Cx<'_>, insn: &Insn<'_>, to: Ty, from: Ty) -> Result<Value, Unsupported> {
    match (Format::of(to), Format::of(from)) {
        (Some(format), None) => {
            let [low, high] = pair(cx, insn, from)?;
            let [low, high] = [low, high].map(|value| {
                let value =
                    if insn.form.has(Word::Relu) { relu(cx, Type::F32, value) } else { value };
                format.encode(cx, value)
            });
            Ok(joined(cx, to, format.step(), low, high))
        }
        (None, Some(format)) => {
            let bits = cx.bits(insn.operand(1), from);
            let bits = cx.resize(bits, Type::I32, false);
            let count = cx.word(format.step());
            let high = cx.b.shr_u(bits, count);
            let values = [bits, high].map(|bits| format.decode(cx, bits));
            to_halves(cx, insn, to, values)
        }
        _ if to == Ty::Ue8m0x2 => {
            let values = pair(cx, insn, from)?;
            let [low, high] = values.map(|value| to_power(cx, insn, value));
            Ok(joined(cx, to, 8, low, high))
        }
        _ if from == Ty::Ue8m0x2 && to == Ty::Bf16x2 => {
            let bits = cx.bits(insn.operand(1), Ty::B16);
            let bits = cx.resize(bits, Type::I32, false);
            let count = cx.word(8);
            let high = cx.b.shr_u(bits, count);
            let [low, high] = [bits, high].map(|bits| from_power(cx, bits));
            Ok(pack(cx, low, high))
        }
        _ => Err(Unsupported),
    }
}

/// Returns the sources as `f32`, the low one first.
fn pair(cx: &mut Cx<'_>, insn: &Insn<'_>, from: Ty) -> Result<[Value; 2], Unsupported> {
    match from {
        Ty::F32 => Ok([2, 1].map(|n| cx.float(insn.operand(n), Ty::F32))),
        Ty::F16x2 | Ty::Bf16x2 => {
            let bits = cx.bits(insn.operand(1), Ty::B32);
            Ok(halves(cx, bits).map(|bits| {
                if from == Ty::Bf16x2 {
                    return from_bf16(cx, bits);
                }
                let half = cx.cast(Type::F16, bits);
                cx.b.fconvert(Type::F32, FloatAttrs::IEEE, half)
            }))
        }
        _ => Err(Unsupported),
    }
}

/// Joins two elements in the type's width.
fn joined(cx: &mut Cx<'_>, to: Ty, step: u32, low: Value, high: Value) -> Value {
    let count = cx.word(step);
    let high = cx.b.shl(high, count);
    let bits = cx.b.or(low, high);
    cx.resize(bits, int_type(to.bits()), false)
}

/// Converts a pair of `f32` to a pair of `f16` or `bf16`, which represent the numbers exactly.
fn to_halves(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    to: Ty,
    values: [Value; 2],
) -> Result<Value, Unsupported> {
    if !matches!(to, Ty::F16x2 | Ty::Bf16x2) {
        return Err(Unsupported);
    }
    let halves: SmallVec<[Value; 2]> = values
        .into_iter()
        .map(|value| {
            let value = if insn.form.has(Word::Relu) { relu(cx, Type::F32, value) } else { value };
            if to == Ty::Bf16x2 {
                return to_bf16(cx, warploom_ir::Round::Nearest, value);
            }
            let half = cx.b.fconvert(Type::F16, FloatAttrs::IEEE, value);
            cx.cast(Type::I16, half)
        })
        .collect();
    Ok(pack(cx, halves[0], halves[1]))
}

/// Returns the exponent of the power of two that a magnitude is rounded to: up with `.rp`, else
/// down.
///
/// It is 255 for a NaN, and for values that are too large; with `.satfinite` these give 254.
fn to_power(cx: &mut Cx<'_>, insn: &Insn<'_>, value: Value) -> Value {
    const LEAST: u32 = 1 << (FRACTION - 1);
    let magnitude = cx.b.fabs(value);
    let bits = cx.cast(Type::I32, magnitude);
    let rounded = if insn.form.has(Word::Rp) {
        let almost = cx.word((1 << FRACTION) - 1);
        let up = cx.b.add(bits, almost);
        // The power with exponent 0 is a denormal `f32`.
        let (least, zero) = (cx.word(LEAST), cx.word(0));
        let is_least = cx.b.icmp(IntCc::LeU, bits, least);
        cx.b.select(is_least, zero, up)
    } else {
        bits
    };
    let count = cx.word(FRACTION);
    let exponent = cx.b.shr_u(rounded, count);
    let most = cx.word(if insn.form.has(Word::SatFinite) { 254 } else { 255 });
    let exponent = cx.b.min_u(exponent, most);
    let (is_nan, nan) = (cx.b.fcmp(FloatCc::Nan, false, value, value), cx.word(255));
    cx.b.select(is_nan, nan, exponent)
}

/// Returns the power of two with the exponent in the low 8 bits, as the bits of a `bf16`.
fn from_power(cx: &mut Cx<'_>, bits: Value) -> Value {
    const LEAST: u64 = 0x40;
    let (mask, zero, all) = (cx.word(255), cx.word(0), cx.word(255));
    let exponent = cx.b.and(bits, mask);
    let count = cx.word(7);
    let normal = cx.b.shl(exponent, count);
    let normal = cx.b.trunc(Type::I16, normal);
    let (least, nan) = (cx.constant(Type::I16, LEAST), cx.constant(Type::I16, NAN16));
    let is_least = cx.b.icmp(IntCc::Eq, exponent, zero);
    let is_nan = cx.b.icmp(IntCc::Eq, exponent, all);
    let result = cx.b.select(is_least, least, normal);
    cx.b.select(is_nan, nan, result)
}

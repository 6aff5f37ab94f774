//! Conversions.

use super::super::function::NanPolicy;
use super::super::op::{ConvertOp, FloatAttrs, Round};
use super::super::types::Type;
use super::float::{Format, Frame, integral};
use super::{each1, sign_extend, soft};

/// Evaluates conversions, except [`ConvertOp::ToMask`], which depends on the function's lanes.
pub fn convert(op: ConvertOp, from: Type, to: Type, a: &[u64], out: &mut [u64]) {
    match op {
        ConvertOp::Trunc => each1(a, out, |a| a & to.bit_mask()),
        ConvertOp::ZeroExtend | ConvertOp::Bitcast | ConvertOp::FromMask | ConvertOp::ToMask => {
            out.copy_from_slice(a)
        }
        ConvertOp::SignExtend => each1(a, out, |a| sign_extend(from, a) as u64 & to.bit_mask()),
        ConvertOp::HighHalf => each1(a, out, |a| a >> 32),
    }
}

/// Converts between different float types.
pub fn fconvert(
    from: Type,
    to: Type,
    attrs: FloatAttrs,
    nan: NanPolicy,
    a: &[u64],
    out: &mut [u64],
) {
    let source = Frame::new(from, attrs, nan);
    let target = Frame::new(to, attrs, nan);
    match (from, to, attrs.round) {
        (Type::F32, Type::F64, _) => {
            each1(a, out, |a| {
                target.result(f64::from(f32::from_bits(source.operand(a) as u32)).to_bits())
            });
        }
        (Type::F64, Type::F32, Round::Nearest) => {
            each1(a, out, |a| {
                target.result((f64::from_bits(source.operand(a)) as f32).to_bits().into())
            });
        }
        (_, _, round) => {
            each1(a, out, |a| target.result(soft::convert(from, to, round, source.operand(a))))
        }
    }
}

pub fn int_to_float(from: Type, to: Type, signed: bool, round: Round, a: &[u64], out: &mut [u64]) {
    match (to, signed, round) {
        (Type::F32, true, Round::Nearest) => {
            each1(a, out, |a| (sign_extend(from, a) as f32).to_bits().into());
        }
        (Type::F32, false, Round::Nearest) => each1(a, out, |a| (a as f32).to_bits().into()),
        (Type::F64, true, Round::Nearest) => {
            each1(a, out, |a| (sign_extend(from, a) as f64).to_bits())
        }
        (Type::F64, false, Round::Nearest) => each1(a, out, |a| (a as f64).to_bits()),
        (_, true, _) => each1(a, out, |a| soft::from_int(to, round, sign_extend(from, a).into())),
        (_, false, _) => each1(a, out, |a| soft::from_int(to, round, a.into())),
    }
}

/// Rounds by `round`, then clamps to the range of `to`; a NaN gives `nan`.
#[expect(clippy::too_many_arguments, reason = "the fields of one operation")]
pub fn float_to_int(
    from: Type,
    to: Type,
    signed: bool,
    round: Round,
    flush: bool,
    nan: u64,
    a: &[u64],
    out: &mut [u64],
) {
    let format = Format::of(from);
    let unused = 64 - to.bits();
    let (least, greatest) = (i64::MIN >> unused, i64::MAX >> unused);
    each1(a, out, |a| {
        if format.is_nan(a) {
            return nan;
        }
        let a = if flush { format.flush(a) } else { a };
        // Exact up to the casts, which clamp to 64 bits.
        let x = integral(round, soft::to_f64(from, a));
        if signed {
            (x as i64).clamp(least, greatest) as u64 & to.bit_mask()
        } else {
            (x as u64).min(to.bit_mask())
        }
    });
}

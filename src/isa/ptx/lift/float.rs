//! Arithmetic of `f32` and `f64`.
//!
//! Source: facts, `ptx.md` 2.1 and 2.3.

use warploom_guest::divergence::Mask;
use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round, SharedFn, Type, Value};

use super::context::{Cx, Insn, float_type};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;

/// 1 / (2 pi), as compilers write it.
const TURN: f32 = 0.159_154_94;
/// The least normal `f32`.
const LEAST_NORMAL: f32 = f32::MIN_POSITIVE;

/// Returns the rounding of a result: to nearest if no word says otherwise.
pub fn rounding(form: &Form) -> Round {
    match form.one_of(&[Word::Rz, Word::Rm, Word::Rp]) {
        Some(Word::Rz) => Round::Zero,
        Some(Word::Rm) => Round::Down,
        Some(_) => Round::Up,
        None => Round::Nearest,
    }
}

pub fn attrs(form: &Form) -> FloatAttrs {
    FloatAttrs { round: rounding(form), flush: form.has(Word::Ftz), saturate: form.has(Word::Sat) }
}

const IEEE: FloatAttrs = FloatAttrs::IEEE;
const FLUSH: FloatAttrs = FloatAttrs { flush: true, ..FloatAttrs::IEEE };

/// Returns the type of a form of `f32` or `f64`.
fn ty(insn: &Insn<'_>) -> Result<Ty, Unsupported> {
    let ty = insn.form.ty(0);
    if matches!(ty, Ty::F32 | Ty::F64) { Ok(ty) } else { Err(Unsupported) }
}

fn finish(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty, result: Value) -> Lifted {
    cx.set(insn.operand(0), ty, result);
    Ok(())
}

fn source(cx: &mut Cx<'_>, insn: &Insn<'_>, n: usize, ty: Ty) -> Value {
    cx.float(insn.operand(n), ty)
}

fn binary(cx: &mut Cx<'_>, insn: &Insn<'_>, op: FloatBinaryOp) -> Lifted {
    let ty = ty(insn)?;
    let (a, b) = (source(cx, insn, 1, ty), source(cx, insn, 2, ty));
    let result = cx.b.fbinary(op, attrs(insn.form), a, b);
    finish(cx, insn, ty, result)
}

pub fn add(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    binary(cx, insn, FloatBinaryOp::Add)
}

pub fn sub(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    binary(cx, insn, FloatBinaryOp::Sub)
}

pub fn mul(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    binary(cx, insn, FloatBinaryOp::Mul)
}

/// Lifts `fma`, and `mad` of floats, which is the same from sm_20 on.
pub fn fma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    let (a, b, c) = (source(cx, insn, 1, ty), source(cx, insn, 2, ty), source(cx, insn, 3, ty));
    let result = cx.b.fma(attrs(insn.form), a, b, c);
    finish(cx, insn, ty, result)
}

fn one(cx: &mut Cx<'_>, ty: Ty) -> Value {
    match ty {
        Ty::F64 => cx.constant(Type::F64, 1f64.to_bits()),
        _ => cx.constant(Type::F32, 1f32.to_bits().into()),
    }
}

pub fn div(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    if !insn.form.has(Word::Approx) {
        return binary(cx, insn, FloatBinaryOp::Div);
    }
    // A product with a reciprocal, which is 0 where it would be denormal.
    let (a, b) = (source(cx, insn, 1, ty), source(cx, insn, 2, ty));
    let reciprocal = if insn.form.has(Word::Ftz) {
        cx.b.shared(SharedFn::Rcp, b)
    } else {
        let one = one(cx, ty);
        let reciprocal = cx.b.fdiv(IEEE, one, b);
        cx.b.funary(FloatUnaryOp::Copy, FLUSH, reciprocal)
    };
    let result = cx.b.fmul(attrs(insn.form), a, reciprocal);
    finish(cx, insn, ty, result)
}

/// Lifts a form of `.approx.ftz.f64`, which uses the high word alone.
fn of_high_word(cx: &mut Cx<'_>, insn: &Insn<'_>, function: SharedFn) -> Lifted {
    let bits = cx.bits(insn.operand(1), Ty::B64);
    let high = cx.b.high_half(bits);
    let high = cx.b.shared(function, high);
    let low = cx.word(0);
    let result = cx.b.concat(low, high);
    finish(cx, insn, Ty::F64, result)
}

fn is_flushing_approximation(insn: &Insn<'_>) -> bool {
    insn.form.has(Word::Approx) && insn.form.has(Word::Ftz)
}

pub fn rcp(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    if is_flushing_approximation(insn) && ty == Ty::F64 {
        return of_high_word(cx, insn, SharedFn::Rcp64High);
    }
    let a = source(cx, insn, 1, ty);
    let result = if is_flushing_approximation(insn) {
        cx.b.shared(SharedFn::Rcp, a)
    } else {
        let one = one(cx, ty);
        cx.b.fdiv(attrs_of(insn, ty), one, a)
    };
    finish(cx, insn, ty, result)
}

/// Returns the attributes of an instruction. `.ftz` has no meaning for `f64` forms other than
/// `.approx`.
fn attrs_of(insn: &Insn<'_>, ty: Ty) -> FloatAttrs {
    let attrs = attrs(insn.form);
    FloatAttrs { flush: attrs.flush && ty == Ty::F32, ..attrs }
}

pub fn sqrt(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    let a = source(cx, insn, 1, ty);
    let result = if is_flushing_approximation(insn) {
        cx.b.shared(SharedFn::SqrtApprox, a)
    } else {
        cx.b.funary(FloatUnaryOp::Sqrt, attrs_of(insn, ty), a)
    };
    finish(cx, insn, ty, result)
}

pub fn rsqrt(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    if insn.form.has(Word::Ftz) && ty == Ty::F64 {
        return of_high_word(cx, insn, SharedFn::Rsq64High);
    }
    let a = source(cx, insn, 1, ty);
    let result = match (ty, insn.form.has(Word::Ftz)) {
        (Ty::F32, true) => cx.b.shared(SharedFn::Rsq, a),
        (Ty::F32, false) => cx.b.shared(SharedFn::RsqDenormal, a),
        _ => {
            let root = cx.b.funary(FloatUnaryOp::Sqrt, IEEE, a);
            let one = one(cx, ty);
            cx.b.fdiv(IEEE, one, root)
        }
    };
    finish(cx, insn, ty, result)
}

/// Lifts the sine or cosine of an angle, which is converted to turns as compilers do for hardware.
fn of_angle(cx: &mut Cx<'_>, insn: &Insn<'_>, function: SharedFn) -> Lifted {
    let ty = ty(insn)?;
    let a = source(cx, insn, 1, ty);
    let turn = cx.constant(Type::F32, TURN.to_bits().into());
    let attrs = FloatAttrs { round: Round::Zero, flush: insn.form.has(Word::Ftz), saturate: false };
    let turns = cx.b.fmul(attrs, a, turn);
    let result = cx.b.shared(function, turns);
    finish(cx, insn, ty, result)
}

pub fn sin(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    of_angle(cx, insn, SharedFn::TableSin)
}

pub fn cos(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    of_angle(cx, insn, SharedFn::TableCos)
}

fn f32_constant(cx: &mut Cx<'_>, value: f32) -> Value {
    cx.constant(Type::F32, value.to_bits().into())
}

/// Lifts `lg2`. Denormals are scaled up unless they flush.
pub fn lg2(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    const SCALE_BITS: f32 = 24.0;
    let ty = ty(insn)?;
    let a = source(cx, insn, 1, ty);
    if insn.form.has(Word::Ftz) {
        let result = cx.b.shared(SharedFn::TableLg2, a);
        return finish(cx, insn, ty, result);
    }
    let (least, scale) = (f32_constant(cx, LEAST_NORMAL), f32_constant(cx, SCALE_BITS.exp2()));
    let magnitude = cx.b.fabs(a);
    let small = cx.b.fcmp(FloatCc::Lt, false, magnitude, least);
    let scaled = cx.b.fmul(IEEE, a, scale);
    let argument = cx.b.select(small, scaled, a);
    let result = cx.b.shared(SharedFn::TableLg2, argument);
    let (bits, none) = (f32_constant(cx, SCALE_BITS), f32_constant(cx, 0.0));
    let less = cx.b.select(small, bits, none);
    let result = cx.b.fsub(IEEE, result, less);
    finish(cx, insn, ty, result)
}

/// Lifts `ex2`. Where the result may be denormal, it squares 2 to half the exponent, unless it
/// flushes.
pub fn ex2(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    let a = source(cx, insn, 1, ty);
    if insn.form.has(Word::Ftz) {
        let result = cx.b.shared(SharedFn::TableEx2, a);
        return finish(cx, insn, ty, result);
    }
    let (least, half) = (f32_constant(cx, -126.0), f32_constant(cx, 0.5));
    let small = cx.b.fcmp(FloatCc::Lt, false, a, least);
    let halved = cx.b.fmul(IEEE, a, half);
    let argument = cx.b.select(small, halved, a);
    let power = cx.b.shared(SharedFn::TableEx2, argument);
    let square = cx.b.fmul(IEEE, power, power);
    let result = cx.b.select(small, square, power);
    finish(cx, insn, ty, result)
}

/// Lifts `tanh`: 1 - 2 / (e^2x + 1) in `f64`, rounded once.
pub fn tanh(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    if ty != Ty::F32 {
        return Err(Unsupported);
    }
    let a = source(cx, insn, 1, ty);
    let result = warploom_guest::tanh::tanh(cx, a);
    finish(cx, insn, ty, result)
}

/// Returns the magnitude of `a` with the sign of `sign`.
fn with_sign(cx: &mut Cx<'_>, ty: Ty, a: Value, sign: Value) -> Value {
    let int = super::context::int_type(ty.bits());
    let top = 1_u64 << (ty.bits() - 1);
    let (a, sign) = (cx.cast(int, a), cx.cast(int, sign));
    let (rest, top) = (cx.constant(int, !top), cx.constant(int, top));
    let (a, sign) = (cx.b.and(a, rest), cx.b.and(sign, top));
    let bits = cx.b.or(a, sign);
    cx.cast(float_type(ty).unwrap_or(Type::F32), bits)
}

fn extreme(cx: &mut Cx<'_>, insn: &Insn<'_>, op: FloatBinaryOp) -> Lifted {
    let ty = ty(insn)?;
    let attrs = FloatAttrs { flush: insn.form.has(Word::Ftz), ..IEEE };
    let mut values: Vec<Value> =
        insn.operands[1..].iter().map(|operand| cx.float(operand, ty)).collect();
    let result = extreme_of(cx, insn.form, op, attrs, ty, &mut values);
    finish(cx, insn, ty, result)
}

/// Returns the least or greatest of values.
///
/// `.NaN` gives a NaN if any value is a NaN; `.abs` compares magnitudes; `.xorsign` gives the
/// result the product of the signs.
pub fn extreme_of(
    cx: &mut Cx<'_>,
    form: &Form,
    op: FloatBinaryOp,
    attrs: FloatAttrs,
    ty: Ty,
    values: &mut [Value],
) -> Value {
    let int = super::context::int_type(ty.bits());
    let mut sign = None;
    if form.has(Word::XorSign) {
        let bits: Vec<Value> = values.iter().map(|&value| cx.cast(int, value)).collect();
        sign = bits.into_iter().reduce(|a, b| cx.b.xor(a, b));
    }
    if form.has(Word::AbsWord) {
        values.iter_mut().for_each(|value| *value = cx.b.fabs(*value));
    }
    let mut result = values[0];
    let mut nan = Mask::Never;
    for &value in &values[1..] {
        if form.has(Word::Nan) {
            let unordered = Mask::Lanes(cx.b.fcmp(FloatCc::Nan, false, result, value));
            nan = cx.or(nan, unordered);
        }
        result = cx.b.fbinary(op, attrs, result, value);
    }
    if form.has(Word::Nan) {
        let bits = super::NAN.canonical(float_type(ty).unwrap_or(Type::F32));
        let canonical = cx.constant(float_type(ty).unwrap_or(Type::F32), bits);
        result = cx.select(nan, canonical, result);
    }
    match sign {
        Some(sign) => {
            let signed = with_sign(cx, ty, result, sign);
            let is_nan = Mask::Lanes(cx.b.fcmp(FloatCc::Nan, false, result, result));
            cx.select(is_nan, result, signed)
        }
        None => result,
    }
}

pub fn min(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, FloatBinaryOp::Min)
}

pub fn max(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, FloatBinaryOp::Max)
}

fn sign_only(cx: &mut Cx<'_>, insn: &Insn<'_>, change: fn(&mut Cx<'_>, Value) -> Value) -> Lifted {
    let ty = ty(insn)?;
    let mut a = source(cx, insn, 1, ty);
    if insn.form.has(Word::Ftz) {
        a = cx.b.funary(FloatUnaryOp::Copy, FLUSH, a);
    }
    let result = change(cx, a);
    finish(cx, insn, ty, result)
}

pub fn abs(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    sign_only(cx, insn, |cx, a| cx.b.fabs(a))
}

pub fn neg(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    sign_only(cx, insn, |cx, a| cx.b.fneg(a))
}

/// Lifts `copysign`: the magnitude of the second source with the sign of the first.
pub fn copysign(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    let (sign, a) = (source(cx, insn, 1, ty), source(cx, insn, 2, ty));
    let result = with_sign(cx, ty, a, sign);
    finish(cx, insn, ty, result)
}

pub fn testp(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let ty = ty(insn)?;
    let a = source(cx, insn, 1, ty);
    let result = class(cx, insn, ty, a)?;
    let destination: &Operand = insn.operand(0);
    cx.set_pred(destination, result);
    Ok(())
}

fn class(cx: &mut Cx<'_>, insn: &Insn<'_>, ty: Ty, a: Value) -> Result<Mask, Unsupported> {
    let float = float_type(ty).ok_or(Unsupported)?;
    let (infinity, least) = match ty {
        Ty::F64 => (f64::INFINITY.to_bits(), f64::MIN_POSITIVE.to_bits()),
        _ => (f32::INFINITY.to_bits().into(), f32::MIN_POSITIVE.to_bits().into()),
    };
    let (infinity, least, zero) =
        (cx.constant(float, infinity), cx.constant(float, least), cx.constant(float, 0));
    let magnitude = cx.b.fabs(a);
    let is = |cx: &mut Cx<'_>, cc, with| Mask::Lanes(cx.b.fcmp(cc, false, magnitude, with));
    let word = insn.form.words.iter().copied().find(|word| {
        use Word::*;
        matches!(word, Finite | Infinite | Number | NotANumber | Normal | Subnormal)
    });
    Ok(match word.ok_or(Unsupported)? {
        Word::Finite => is(cx, FloatCc::Lt, infinity),
        Word::Infinite => is(cx, FloatCc::Eq, infinity),
        Word::Number => is(cx, FloatCc::Num, zero),
        Word::NotANumber => is(cx, FloatCc::Nan, zero),
        word => {
            // Zero counts as a normal number.
            let (below, nothing) = (is(cx, FloatCc::Lt, least), is(cx, FloatCc::Eq, zero));
            let not_zero = cx.not(nothing);
            let subnormal = cx.and(below, not_zero);
            if word == Word::Subnormal {
                subnormal
            } else {
                let finite = is(cx, FloatCc::Lt, infinity);
                let not_subnormal = cx.not(subnormal);
                cx.and(finite, not_subnormal)
            }
        }
    })
}

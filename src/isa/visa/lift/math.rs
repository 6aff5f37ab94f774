//! Functions of floats. Facts, `visa-semantics.md` 3.

use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, Round, SharedFn, Type, Value};

use super::numbers::Kind;
use super::operand::Source;
use super::{Cx, Lifted, Unsupported};
use crate::instruction::Instruction;

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// Returns the only source, a float, and its type.
fn operand(cx: &mut Cx<'_>, insn: &Instruction) -> Result<(Value, Type), Unsupported> {
    let source: [Source; 1] = cx.sources(insn, 1)?;
    let Kind::Float(ty) = cx.kind(&source) else { return Err(Unsupported) };
    Ok((cx.float(source[0], ty)?, ty))
}

/// Returns attributes that round to nearest, whatever the mode says of rounding.
fn attrs(cx: &Cx<'_>, insn: &Instruction, ty: Type) -> FloatAttrs {
    FloatAttrs { flush: cx.mode.flushes(ty), saturate: cx.saturates(insn, ty), ..IEEE }
}

fn integral(cx: &mut Cx<'_>, insn: &Instruction, round: Round) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    let attrs = FloatAttrs { round, ..attrs(cx, insn, ty) };
    let result = cx.b.funary(FloatUnaryOp::Integral, attrs, value);
    cx.set_float(insn, result)
}

pub fn floor(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    integral(cx, insn, Round::Down)
}

pub fn ceil(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    integral(cx, insn, Round::Up)
}

pub fn nearest(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    integral(cx, insn, Round::Nearest)
}

pub fn truncate(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    integral(cx, insn, Round::Zero)
}

/// Lifts `frc`: subtracts the next lower integer. The result is always less than 1.
pub fn fraction(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    let flush = FloatAttrs { flush: cx.mode.flushes(ty), ..IEEE };
    let below =
        cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round: Round::Down, ..flush }, value);
    let rest = cx.b.fsub(flush, value, below);
    let most = cx.constant(
        ty,
        match ty {
            Type::F16 => 0x3bff,
            Type::F64 => 0x3fef_ffff_ffff_ffff,
            _ => 0x3f7f_ffff,
        },
    );
    let is_one = cx.b.fcmp(FloatCc::Gt, false, rest, most);
    let result = cx.pick(is_one, most, rest);
    let result = if cx.saturates(insn, ty) { cx.to_float(result, ty, true) } else { result };
    cx.set_float(insn, result)
}

pub fn inverse(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    let attrs = attrs(cx, insn, ty);
    let one = one(cx, ty);
    let result = cx.b.fdiv(attrs, one, value);
    cx.set_float(insn, result)
}

fn one(cx: &mut Cx<'_>, ty: Type) -> Value {
    cx.constant(
        ty,
        match ty {
            Type::F16 => 0x3c00,
            Type::F64 => 1.0_f64.to_bits(),
            _ => 1.0_f32.to_bits().into(),
        },
    )
}

pub fn root(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    let attrs = attrs(cx, insn, ty);
    let result = cx.b.funary(FloatUnaryOp::Sqrt, attrs, value);
    cx.set_float(insn, result)
}

/// Returns 1 / sqrt(x).
fn inverse_root(cx: &mut Cx<'_>, value: Value, attrs: FloatAttrs) -> Value {
    match cx.b.ty(value).ty {
        Type::F32 => {
            let function = if attrs.flush { SharedFn::Rsq } else { SharedFn::RsqDenormal };
            let result = cx.b.shared(function, value);
            cx.to_float(result, Type::F32, attrs.saturate)
        }
        ty => {
            let root =
                cx.b.funary(FloatUnaryOp::Sqrt, FloatAttrs { saturate: false, ..attrs }, value);
            let one = one(cx, ty);
            cx.b.fdiv(attrs, one, root)
        }
    }
}

pub fn reciprocal_root(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    let attrs = attrs(cx, insn, ty);
    let result = inverse_root(cx, value, attrs);
    cx.set_float(insn, result)
}

/// Lifts a function of `f32`, whose result is rounded to the type of the operand.
fn of_f32(
    cx: &mut Cx<'_>,
    insn: &Instruction,
    function: fn(&mut Cx<'_>, Value) -> Value,
) -> Lifted {
    let (value, ty) = operand(cx, insn)?;
    if ty == Type::F64 {
        return Err(Unsupported);
    }
    let wide = cx.b.ty(value).ty == Type::F16;
    let value = if wide { cx.b.fconvert(Type::F32, IEEE, value) } else { value };
    let result = function(cx, value);
    let saturate = cx.saturates(insn, ty);
    let result = if wide {
        cx.b.fconvert(Type::F16, FloatAttrs { saturate, ..IEEE }, result)
    } else {
        cx.to_float(result, Type::F32, saturate)
    };
    cx.set_float(insn, result)
}

fn f32(cx: &mut Cx<'_>, value: f32) -> Value {
    cx.constant(Type::F32, value.to_bits().into())
}

/// Returns 2^x. A denormal result is scaled from a normal number.
fn power_of_two(cx: &mut Cx<'_>, value: Value) -> Value {
    if cx.mode.flushes(Type::F32) {
        return cx.b.shared(SharedFn::Ex2, value);
    }
    let (limit, more) = (f32(cx, -126.0), f32(cx, 24.0));
    let small = cx.b.fcmp(FloatCc::Lt, false, value, limit);
    let raised = cx.b.fadd(IEEE, value, more);
    let value = cx.pick(small, raised, value);
    let result = cx.b.shared(SharedFn::Ex2, value);
    let scale = f32(cx, 1.0 / 16_777_216.0);
    let scaled = cx.b.fmul(IEEE, result, scale);
    cx.pick(small, scaled, result)
}

/// Returns log2 x. A denormal operand is scaled to a normal number.
fn log_of_two(cx: &mut Cx<'_>, value: Value) -> Value {
    if cx.mode.flushes(Type::F32) {
        return cx.b.shared(SharedFn::Lg2, value);
    }
    let magnitude = cx.b.fabs(value);
    let least = f32(cx, f32::MIN_POSITIVE);
    let small = cx.b.fcmp(FloatCc::Lt, false, magnitude, least);
    let scale = f32(cx, 16_777_216.0);
    let scaled = cx.b.fmul(IEEE, value, scale);
    let value = cx.pick(small, scaled, value);
    let result = cx.b.shared(SharedFn::Lg2, value);
    let less = f32(cx, 24.0);
    let lowered = cx.b.fsub(IEEE, result, less);
    cx.pick(small, lowered, result)
}

pub fn exp(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    of_f32(cx, insn, power_of_two)
}

pub fn log(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    of_f32(cx, insn, log_of_two)
}

/// 1 / (2 pi), and the rest that `TURN` lacks.
const TURN: f32 = 0.159_154_94;
const TURN_REST: f32 = 4.580_913e-9;

/// Returns an angle in turns, without whole turns.
fn turns(cx: &mut Cx<'_>, value: Value) -> Value {
    let (turn, rest) = (f32(cx, TURN), f32(cx, TURN_REST));
    let rough = cx.b.fmul(IEEE, value, turn);
    let whole = cx.b.funary(FloatUnaryOp::Integral, IEEE, rough);
    let whole = cx.b.fneg(whole);
    let exact = cx.b.fma(IEEE, value, turn, whole);
    cx.b.fma(IEEE, value, rest, exact)
}

pub fn sin(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    of_f32(cx, insn, |cx, value| {
        let turns = turns(cx, value);
        cx.b.shared(SharedFn::SinTurns, turns)
    })
}

pub fn cos(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    of_f32(cx, insn, |cx, value| {
        let turns = turns(cx, value);
        cx.b.shared(SharedFn::CosTurns, turns)
    })
}

/// Lifts `pow`: 2^(y log2 x), or 1 if y is 0.
pub fn pow(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 2] = cx.sources(insn, 1)?;
    let Kind::Float(ty @ (Type::F16 | Type::F32)) = cx.kind(&sources) else {
        return Err(Unsupported);
    };
    let (base, power) = (cx.float(sources[0], Type::F32)?, cx.float(sources[1], Type::F32)?);
    let log = log_of_two(cx, base);
    let product = cx.b.fmul(IEEE, power, log);
    let result = power_of_two(cx, product);
    let (zero, one) = (f32(cx, 0.0), f32(cx, 1.0));
    let none = cx.b.fcmp(FloatCc::Eq, false, power, zero);
    let result = cx.pick(none, one, result);
    let saturate = cx.saturates(insn, ty);
    let result = if ty == Type::F16 {
        cx.b.fconvert(Type::F16, FloatAttrs { saturate, ..IEEE }, result)
    } else {
        cx.to_float(result, Type::F32, saturate)
    };
    cx.set_float(insn, result)
}

/// Writes whether a result needs no further step: it is NaN, 0 or infinite.
fn is_final(cx: &mut Cx<'_>, insn: &Instruction, result: Value) {
    let ty = cx.b.ty(result).ty;
    let magnitude = cx.b.fabs(result);
    let infinity = cx.constant(ty, if ty == Type::F64 { 0x7ff0 << 48 } else { 0x7f80_0000 });
    let zero = cx.constant(ty, 0);
    let large = cx.b.fcmp(FloatCc::GeU, false, magnitude, infinity);
    let none = cx.b.fcmp(FloatCc::Eq, false, magnitude, zero);
    let done = cx.b.or(large, none);
    cx.set(insn, 1, done);
}

/// Lifts `invm` and `rsqtm`, whose second destination is a predicate.
fn with_final(cx: &mut Cx<'_>, insn: &Instruction, root: bool) -> Lifted {
    let count = insn.operands.len();
    let source: [Source; 1] = cx.sources(insn, count - 1)?;
    let Kind::Float(ty @ (Type::F32 | Type::F64)) = cx.kind(&source) else {
        return Err(Unsupported);
    };
    let value = cx.float(source[0], ty)?;
    let attrs = attrs(cx, insn, ty);
    let result = if root {
        inverse_root(cx, value, attrs)
    } else {
        let one = one(cx, ty);
        cx.b.fdiv(attrs, one, value)
    };
    is_final(cx, insn, result);
    cx.set_float(insn, result)
}

pub fn first_inverse(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    with_final(cx, insn, false)
}

pub fn first_root(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    with_final(cx, insn, true)
}

/// Lifts `lrp`: s1 * s0 + s2 * (1 - s0).
pub fn lrp(cx: &mut Cx<'_>, insn: &Instruction) -> Lifted {
    let sources: [Source; 3] = cx.sources(insn, 1)?;
    let Kind::Float(ty) = cx.kind(&sources) else { return Err(Unsupported) };
    let [a, x, y] =
        [cx.float(sources[0], ty)?, cx.float(sources[1], ty)?, cx.float(sources[2], ty)?];
    let attrs = cx.mode.attrs(ty, false);
    let one = one(cx, ty);
    let rest = cx.b.fsub(attrs, one, a);
    let of_y = cx.b.fmul(attrs, y, rest);
    let result = cx.b.fma(cx.mode.attrs(ty, cx.saturates(insn, ty)), x, a, of_y);
    cx.set_float(insn, result)
}

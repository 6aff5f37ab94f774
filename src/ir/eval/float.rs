//! Float arithmetic: host instructions if they round as required, else [`soft`].

use super::super::function::NanPolicy;
use super::super::op::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round};
use super::super::types::Type;
use super::{each1, each2, mask_of, soft};

/// The bit patterns of a float type.
#[derive(Clone, Copy)]
pub(super) struct Format {
    sign: u64,
    infinity: u64,
    one: u64,
    least_normal: u64,
}

impl Format {
    pub(super) fn of(ty: Type) -> Self {
        let mantissa = match ty {
            Type::F16 => 10,
            Type::F32 => 23,
            _ => 52,
        };
        let sign = 1 << (ty.bits() - 1);
        let least_normal = 1 << mantissa;
        // The exponent of infinity has all bits set, the exponent of 1 all bits but the highest.
        let infinity = sign - least_normal;
        Format { sign, infinity, one: infinity >> 1 & infinity, least_normal }
    }

    #[inline(always)]
    pub(super) fn is_nan(self, x: u64) -> bool {
        x & !self.sign > self.infinity
    }

    /// Replaces a denormal by a zero of equal sign.
    #[inline(always)]
    pub(super) fn flush(self, x: u64) -> u64 {
        if x & !self.sign < self.least_normal { x & self.sign } else { x }
    }

    #[inline(always)]
    fn saturate(self, x: u64) -> u64 {
        // NaNs are greater than infinity, and every number with a sign bit is negative, -0 or NaN.
        if x > self.infinity { 0 } else { x.min(self.one) }
    }

    /// A key that orders all numbers, with -0 just below +0.
    #[inline(always)]
    fn key(self, x: u64) -> i64 {
        let magnitude = (x & !self.sign) as i64;
        if x & self.sign != 0 { -1 - magnitude } else { magnitude }
    }
}

/// The frame around arithmetic: operands pass through `operand`, the result through `result`.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    format: Format,
    attrs: FloatAttrs,
    nan: u64,
}

impl Frame {
    pub(super) fn new(ty: Type, attrs: FloatAttrs, nan: NanPolicy) -> Self {
        Frame { format: Format::of(ty), attrs, nan: nan.canonical(ty) }
    }

    #[inline(always)]
    pub(super) fn operand(self, x: u64) -> u64 {
        if self.attrs.flush { self.format.flush(x) } else { x }
    }

    #[inline(always)]
    pub(super) fn result(self, x: u64) -> u64 {
        let x = if self.format.is_nan(x) { self.nan } else { self.operand(x) };
        if self.attrs.saturate { self.format.saturate(x) } else { x }
    }

    fn min_max(self, max: bool, a: u64, b: u64) -> u64 {
        match (self.format.is_nan(a), self.format.is_nan(b)) {
            (true, true) => self.nan,
            (true, false) => b,
            (false, true) => a,
            (false, false) if (self.format.key(a) > self.format.key(b)) == max => a,
            (false, false) => b,
        }
    }
}

/// A float type that the host computes with, rounding to nearest.
trait Native: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn binary(op: FloatBinaryOp) -> fn(Self, Self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
}

macro_rules! native {
    ($float:ident, $bits:ident) => {
        impl Native for $float {
            fn of(bits: u64) -> Self {
                $float::from_bits(bits as $bits)
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn binary(op: FloatBinaryOp) -> fn(Self, Self) -> Self {
                match op {
                    FloatBinaryOp::Add => |a, b| a + b,
                    FloatBinaryOp::Sub => |a, b| a - b,
                    FloatBinaryOp::Mul => |a, b| a * b,
                    FloatBinaryOp::Div => |a, b| a / b,
                    FloatBinaryOp::Min | FloatBinaryOp::Max => |a, _| a,
                }
            }
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    };
}

native!(f32, u32);
native!(f64, u64);

fn native_binary<F: Native>(
    op: FloatBinaryOp,
    frame: Frame,
    a: &[u64],
    b: &[u64],
    out: &mut [u64],
) {
    let f = F::binary(op);
    each2(a, b, out, |a, b| {
        frame.result(f(F::of(frame.operand(a)), F::of(frame.operand(b))).bits())
    });
}

pub fn fbinary(
    op: FloatBinaryOp,
    ty: Type,
    attrs: FloatAttrs,
    nan: NanPolicy,
    a: &[u64],
    b: &[u64],
    out: &mut [u64],
) {
    let frame = Frame::new(ty, attrs, nan);
    match (op, ty, attrs.round) {
        (FloatBinaryOp::Min | FloatBinaryOp::Max, _, _) => each2(a, b, out, |a, b| {
            frame.result(frame.min_max(
                op == FloatBinaryOp::Max,
                frame.operand(a),
                frame.operand(b),
            ))
        }),
        (_, Type::F32, Round::Nearest) => native_binary::<f32>(op, frame, a, b, out),
        (_, Type::F64, Round::Nearest) => native_binary::<f64>(op, frame, a, b, out),
        (_, _, round) => each2(a, b, out, |a, b| {
            frame.result(soft::binary(op, ty, round, frame.operand(a), frame.operand(b)))
        }),
    }
}

/// a * b + c, rounded once.
pub fn fma(
    ty: Type,
    attrs: FloatAttrs,
    nan: NanPolicy,
    a: &[u64],
    b: &[u64],
    c: &[u64],
    out: &mut [u64],
) {
    let frame = Frame::new(ty, attrs, nan);
    let each = |out: &mut [u64], f: &dyn Fn(u64, u64, u64) -> u64| {
        for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = frame.result(f(frame.operand(a), frame.operand(b), frame.operand(c)));
        }
    };
    match (ty, attrs.round) {
        (Type::F32, Round::Nearest) => {
            each(out, &|a, b, c| f32::of(a).fma(Native::of(b), Native::of(c)).bits())
        }
        (Type::F64, Round::Nearest) => {
            each(out, &|a, b, c| f64::of(a).fma(Native::of(b), Native::of(c)).bits())
        }
        (_, round) => each(out, &|a, b, c| soft::fma(ty, round, a, b, c)),
    }
}

pub fn funary(
    op: FloatUnaryOp,
    ty: Type,
    attrs: FloatAttrs,
    nan: NanPolicy,
    a: &[u64],
    out: &mut [u64],
) {
    let frame = Frame::new(ty, attrs, nan);
    let each = |out: &mut [u64], f: &dyn Fn(u64) -> u64| {
        each1(a, out, |a| frame.result(f(frame.operand(a))))
    };
    match op {
        FloatUnaryOp::Copy => each(out, &|a| a),
        FloatUnaryOp::Sqrt => each(out, &|a| soft::sqrt(ty, attrs.round, a)),
        FloatUnaryOp::Integral => {
            // Exact: an integral value of a float's magnitude is a float of the same type.
            each(out, &|a| soft::from_exact_f64(ty, integral(attrs.round, soft::to_f64(ty, a))))
        }
    }
}

/// Rounds to an integral value and keeps the sign of zero.
pub(super) fn integral(round: Round, x: f64) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

pub fn fcmp(cc: FloatCc, ty: Type, flush: bool, a: &[u64], b: &[u64]) -> u64 {
    let format = Format::of(ty);
    let (unordered, holds): (bool, fn(i64, i64) -> bool) = match cc {
        FloatCc::Eq => (false, |a, b| a == b),
        FloatCc::Ne => (false, |a, b| a != b),
        FloatCc::Lt => (false, |a, b| a < b),
        FloatCc::Le => (false, |a, b| a <= b),
        FloatCc::Gt => (false, |a, b| a > b),
        FloatCc::Ge => (false, |a, b| a >= b),
        FloatCc::EqU => (true, |a, b| a == b),
        FloatCc::NeU => (true, |a, b| a != b),
        FloatCc::LtU => (true, |a, b| a < b),
        FloatCc::LeU => (true, |a, b| a <= b),
        FloatCc::GtU => (true, |a, b| a > b),
        FloatCc::GeU => (true, |a, b| a >= b),
        FloatCc::Num => (false, |_, _| true),
        FloatCc::Nan => (true, |_, _| false),
    };
    let key = |x| {
        let x = if flush { format.flush(x) } else { x };
        // Compares treat both zeros as equal.
        if x == format.sign { 0 } else { format.key(x) }
    };
    mask_of(a, b, |a, b| {
        if format.is_nan(a) || format.is_nan(b) { unordered } else { holds(key(a), key(b)) }
    })
}

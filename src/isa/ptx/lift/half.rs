//! Arithmetic of `f16`, `bf16`, pairs of them and of `f32`.
//!
//! `f16` is a type of the IR. `bf16` is computed in `f32`, which has 24 digits. Rounding a sum or
//! product of numbers of 8 digits to 24 and then to 8 digits equals one rounding (Figueroa), since
//! 24 >= 2 * 8 + 2.
//!
//! Below the normal numbers, sums of `bf16` are exact in `f32`. A product of two numbers of 8
//! digits has 16 digits: only a product below 2^-134 by more than its last place does not fit, and
//! it rounds to 0 or 2^-133 alike. Fused products differ: see `fused_bf16`.
//!
//! Source: facts, `ptx.md` 2.1 and 2.3.

use smallvec::SmallVec;
use warploom_guest::brain::{from_bf16, fused_bf16};
use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatUnaryOp, Round, SharedFn, Type, Value};

use super::context::{Cx, Insn};
use super::convert::{pack, relu, to_bf16};
use super::float::{attrs, extreme_of, rounding};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

const IEEE: FloatAttrs = FloatAttrs::IEEE;
const FLUSH: FloatAttrs = FloatAttrs { flush: true, ..FloatAttrs::IEEE };

/// The values of an operand, the low one first. `bf16` values are `f32`.
type Elements = SmallVec<[Value; 2]>;

/// The type of an element, and whether there are two.
#[derive(Clone, Copy)]
struct Shape {
    ty: Ty,
    pair: bool,
}

impl Shape {
    fn of(insn: &Insn<'_>) -> Result<Shape, Unsupported> {
        let (ty, pair) = match insn.form.ty(0) {
            Ty::F16 => (Ty::F16, false),
            Ty::F16x2 => (Ty::F16, true),
            Ty::Bf16 => (Ty::Bf16, false),
            Ty::Bf16x2 => (Ty::Bf16, true),
            Ty::F32x2 => (Ty::F32, true),
            _ => return Err(Unsupported),
        };
        Ok(Shape { ty, pair })
    }

    /// Returns the shape of an instruction on halves, which excludes `f32`.
    fn of_halves(insn: &Insn<'_>) -> Result<Shape, Unsupported> {
        Shape::of(insn)
            .and_then(|shape| if shape.ty == Ty::F32 { Err(Unsupported) } else { Ok(shape) })
    }

    /// Returns the IR's type that an element is computed in.
    fn float(self) -> Type {
        if self.ty == Ty::F16 { Type::F16 } else { Type::F32 }
    }

    fn of_operand(self) -> Ty {
        match (self.ty, self.pair) {
            (Ty::F32, _) => Ty::B64,
            (_, true) => Ty::B32,
            (_, false) => self.ty,
        }
    }

    /// Returns the bits of an operand's elements.
    fn bits(self, cx: &mut Cx<'_>, operand: &Operand) -> Elements {
        let bits = cx.bits(operand, self.of_operand());
        match (self.ty, self.pair) {
            (Ty::F32, _) => {
                SmallVec::from_slice(&[cx.b.trunc(Type::I32, bits), cx.b.high_half(bits)])
            }
            (_, true) => SmallVec::from_vec(halves(cx, bits).to_vec()),
            (_, false) => SmallVec::from_slice(&[bits]),
        }
    }

    fn source(self, cx: &mut Cx<'_>, insn: &Insn<'_>, n: usize) -> Elements {
        let bits = self.bits(cx, insn.operand(n));
        bits.into_iter().map(|bits| self.value(cx, bits)).collect()
    }

    fn value(self, cx: &mut Cx<'_>, bits: Value) -> Value {
        if self.ty == Ty::Bf16 { from_bf16(cx, bits) } else { cx.cast(self.float(), bits) }
    }

    /// Writes float results; `bf16` results are rounded here.
    fn finish(self, cx: &mut Cx<'_>, insn: &Insn<'_>, results: &[Value]) -> Lifted {
        let bits: Elements =
            results.iter().map(|&result| self.result_bits(cx, Round::Nearest, result)).collect();
        self.finish_bits(cx, insn, &bits)
    }

    fn result_bits(self, cx: &mut Cx<'_>, round: Round, result: Value) -> Value {
        if self.ty == Ty::Bf16 {
            to_bf16(cx, round, result)
        } else {
            cx.cast(self.float().as_int(), result)
        }
    }

    fn finish_bits(self, cx: &mut Cx<'_>, insn: &Insn<'_>, bits: &[Value]) -> Lifted {
        let (ty, result) = match (self.ty, bits) {
            (Ty::F32, &[low, high]) => (Ty::B64, cx.b.concat(low, high)),
            (_, &[low, high]) => (Ty::B32, pack(cx, low, high)),
            (_, bits) => (Ty::B16, bits[0]),
        };
        cx.set(insn.operand(0), ty, result);
        Ok(())
    }

    /// Returns the attributes of an operation on elements.
    fn attrs(self, insn: &Insn<'_>) -> FloatAttrs {
        if self.ty == Ty::Bf16 { IEEE } else { attrs(insn.form) }
    }
}

pub use warploom_guest::matrix::halves;

fn binary(cx: &mut Cx<'_>, insn: &Insn<'_>, op: FloatBinaryOp) -> Lifted {
    let shape = Shape::of(insn)?;
    let attrs = shape.attrs(insn);
    let (a, b) = (shape.source(cx, insn, 1), shape.source(cx, insn, 2));
    let results: Elements =
        a.iter().zip(&b).map(|(&a, &b)| cx.b.fbinary(op, attrs, a, b)).collect();
    shape.finish(cx, insn, &results)
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

/// Lifts `fma`: a * b + c, rounded once. `.oob` is not supported, as its special NaN is
/// undocumented.
pub fn fma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let shape = Shape::of(insn)?;
    if insn.form.has(Word::Oob) {
        return Err(Unsupported);
    }
    let attrs = shape.attrs(insn);
    let (a, b, c) =
        (shape.source(cx, insn, 1), shape.source(cx, insn, 2), shape.source(cx, insn, 3));
    let mut results = Elements::new();
    for n in 0..a.len() {
        let mut result = match shape.ty {
            Ty::Bf16 => fused_bf16(cx, rounding(insn.form), [a[n], b[n], c[n]]),
            _ => cx.b.fma(attrs, a[n], b[n], c[n]),
        };
        if insn.form.has(Word::Relu) {
            result = relu(cx, shape.float(), result);
        }
        results.push(shape.result_bits(cx, rounding(insn.form), result));
    }
    shape.finish_bits(cx, insn, &results)
}

fn extreme(cx: &mut Cx<'_>, insn: &Insn<'_>, op: FloatBinaryOp) -> Lifted {
    let shape = Shape::of_halves(insn)?;
    let attrs = FloatAttrs { flush: insn.form.has(Word::Ftz), ..IEEE };
    let sources: Vec<Elements> =
        (1..insn.operands.len()).map(|n| shape.source(cx, insn, n)).collect();
    let ty = if shape.ty == Ty::F16 { Ty::F16 } else { Ty::F32 };
    let results: Elements = (0..1 + usize::from(shape.pair))
        .map(|n| {
            let mut values: Vec<Value> = sources.iter().map(|elements| elements[n]).collect();
            extreme_of(cx, insn.form, op, attrs, ty, &mut values)
        })
        .collect();
    shape.finish(cx, insn, &results)
}

pub fn min(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, FloatBinaryOp::Min)
}

pub fn max(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    extreme(cx, insn, FloatBinaryOp::Max)
}

/// Lifts an operation that changes signs alone. With `.ftz`, which `f16` has, denormals become 0
/// first.
fn sign_only(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    change: fn(&mut Cx<'_>, Value, Value) -> Value,
) -> Lifted {
    let shape = Shape::of_halves(insn)?;
    let flushes = insn.form.has(Word::Ftz) && shape.ty == Ty::F16;
    let mut bits = shape.bits(cx, insn.operand(1));
    let sign = cx.constant(Type::I16, 0x8000);
    for bits in &mut bits {
        if flushes {
            let value = cx.cast(Type::F16, *bits);
            let flushed = cx.b.funary(FloatUnaryOp::Copy, FLUSH, value);
            *bits = cx.cast(Type::I16, flushed);
        }
        *bits = change(cx, *bits, sign);
    }
    shape.finish_bits(cx, insn, &bits)
}

pub fn abs(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    sign_only(cx, insn, |cx, bits, sign| {
        let rest = cx.b.not(sign);
        cx.b.and(bits, rest)
    })
}

pub fn neg(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    sign_only(cx, insn, |cx, bits, sign| cx.b.xor(bits, sign))
}

/// Lifts a function that is approximated in `f32` and rounded.
fn approximated(
    cx: &mut Cx<'_>,
    insn: &Insn<'_>,
    function: fn(&mut Cx<'_>, Value) -> Value,
) -> Lifted {
    let shape = Shape::of_halves(insn)?;
    let sources = shape.source(cx, insn, 1);
    let mut results = Elements::new();
    for source in sources {
        // A denormal `f16` is a normal `f32`.
        let single =
            if shape.ty == Ty::F16 { cx.b.fconvert(Type::F32, IEEE, source) } else { source };
        let mut result = function(cx, single);
        if shape.ty == Ty::F16 {
            result = cx.b.fconvert(Type::F16, IEEE, result);
        }
        results.push(result);
    }
    shape.finish(cx, insn, &results)
}

/// Lifts `ex2`. `bf16` denormals flush.
pub fn ex2(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    approximated(cx, insn, |cx, a| cx.b.shared(SharedFn::TableEx2, a))
}

pub fn tanh(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    approximated(cx, insn, |cx, a| warploom_guest::tanh::tanh(cx, a))
}

/// Returns a source of a mixed operation, an `f16` or `bf16`, as an `f32`.
fn widened(cx: &mut Cx<'_>, insn: &Insn<'_>, n: usize) -> Value {
    match insn.form.ty(1) {
        Ty::Bf16 => {
            let bits = cx.bits(insn.operand(n), Ty::Bf16);
            from_bf16(cx, bits)
        }
        ty => {
            let half = cx.float(insn.operand(n), ty);
            cx.b.fconvert(Type::F32, IEEE, half)
        }
    }
}

fn check_mixed(insn: &Insn<'_>) -> Result<(), Unsupported> {
    let is_mixed = insn.form.ty(0) == Ty::F32 && matches!(insn.form.ty(1), Ty::F16 | Ty::Bf16);
    if is_mixed { Ok(()) } else { Err(Unsupported) }
}

fn mixed(cx: &mut Cx<'_>, insn: &Insn<'_>, op: FloatBinaryOp) -> Lifted {
    check_mixed(insn)?;
    let (a, c) = (widened(cx, insn, 1), cx.float(insn.operand(2), Ty::F32));
    let result = cx.b.fbinary(op, attrs(insn.form), a, c);
    cx.set(insn.operand(0), Ty::F32, result);
    Ok(())
}

/// Lifts the mixed `add`: `f32` = `f16` or `bf16` + `f32`.
pub fn mixed_add(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    mixed(cx, insn, FloatBinaryOp::Add)
}

pub fn mixed_sub(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    mixed(cx, insn, FloatBinaryOp::Sub)
}

/// Lifts the mixed `fma`: the product of two halves plus an `f32`, rounded once.
pub fn mixed_fma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    check_mixed(insn)?;
    let (a, b) = (widened(cx, insn, 1), widened(cx, insn, 2));
    let c = cx.float(insn.operand(3), Ty::F32);
    let result = cx.b.fma(attrs(insn.form), a, b, c);
    cx.set(insn.operand(0), Ty::F32, result);
    Ok(())
}

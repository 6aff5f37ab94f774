//! `f16` operations on one value or one vector. An `f16` lives zero-extended in 32 bits and is
//! computed as `f32`.
//!
//! The `f32` result of a sum, product, quotient or root is rounded once more, to `f16`. This gives
//! the exact result rounded once (24 >= 2 * 11 + 2, Figueroa). The result of a fused operation is
//! made odd first. In directions other than to nearest, products are exact; quotients and roots
//! that are no `f16` are further from every `f16` than `f32` rounds; and sums are rounded twice in
//! one direction. All results have the canonical NaN.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif};
use cranelift_frontend::FunctionBuilder;
use warploom_ir::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round, Type};

use super::int::constant;
use super::rounding::Rounding;
use super::{float, vector};
use crate::forms::clif_type;

const SIGN: u64 = 0x8000;
const INFINITY: u64 = 0x7c00;
const ONE: u64 = 0x3c00;
const LEAST_NORMAL: u64 = 0x0400;

/// Emits code for one value or one vector, with the canonical NaN of `f16`.
pub struct Half<'a, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub nan: u64,
    pub vector: bool,
}

impl Half<'_, '_> {
    fn bits(&mut self, bits: u64) -> Clif {
        constant(self.b, Type::I32, bits, self.vector)
    }

    fn words(&mut self, a: Clif) -> Clif {
        vector::cast(self.b, clif_type(Type::I32, self.vector), a)
    }

    fn floats(&mut self, a: Clif) -> Clif {
        vector::cast(self.b, clif_type(Type::F32, self.vector), a)
    }

    fn choose(&mut self, condition: Clif, x: Clif, y: Clif) -> Clif {
        if self.vector {
            vector::blend(self.b, condition, x, y)
        } else {
            self.b.ins().select(condition, x, y)
        }
    }

    /// Returns `x` if the condition holds, else 0.
    fn only_if(&mut self, condition: Clif, x: Clif) -> Clif {
        if self.vector {
            return self.b.ins().band(condition, x);
        }
        let none = self.bits(0);
        self.b.ins().select(condition, x, none)
    }

    fn and(&mut self, a: Clif, bits: u64) -> Clif {
        let bits = self.bits(bits);
        self.b.ins().band(a, bits)
    }

    /// Returns whether the signed number is less than `bits`.
    fn below(&mut self, a: Clif, bits: u64) -> Clif {
        let bits = self.bits(bits);
        self.b.ins().icmp(IntCC::SignedLessThan, a, bits)
    }

    fn abs(&mut self, a: Clif) -> Clif {
        self.and(a, SIGN - 1)
    }

    /// Replaces denormals by zeros of the same sign.
    fn flush(&mut self, a: Clif) -> Clif {
        let magnitude = self.abs(a);
        let tiny = self.below(magnitude, LEAST_NORMAL);
        let zero = self.and(a, SIGN);
        self.choose(tiny, zero, a)
    }

    fn flushed(&mut self, attrs: FloatAttrs, a: Clif) -> Clif {
        if attrs.flush { self.flush(a) } else { a }
    }

    /// Applies the steps that follow rounding: flushes denormals and saturates.
    pub fn finish(&mut self, attrs: FloatAttrs, a: Clif) -> Clif {
        let a = self.flushed(attrs, a);
        if !attrs.saturate {
            return a;
        }
        // NaNs and all numbers with a sign are above infinity.
        let one = self.bits(ONE);
        let below = self.b.ins().icmp(IntCC::SignedLessThan, a, one);
        let least = self.choose(below, a, one);
        let positive = self.below(a, INFINITY + 1);
        let zero = self.bits(0);
        self.choose(positive, least, zero)
    }

    /// Converts to `f32` exactly; a NaN keeps its payload.
    pub fn widen(&mut self, a: Clif) -> Clif {
        // Move the sign to its place, and the other bits behind the last three copies of the sign.
        let top = self.b.ins().ishl_imm_u(a, 16);
        let spread = self.b.ins().sshr_imm_u(top, 3);
        let bits = self.and(spread, 0x8fff_ffff);
        // The exponent lacks the difference of the biases: multiply by 2^112.
        let small = self.floats(bits);
        let scale = constant(self.b, Type::F32, 0x7780_0000, self.vector);
        let scaled = self.b.ins().fmul(small, scale);
        let exponent = self.and(a, INFINITY);
        let infinity = self.bits(INFINITY);
        let is_special = self.b.ins().icmp(IntCC::Equal, exponent, infinity);
        let full = self.bits(0x7f80_0000);
        let full = self.only_if(is_special, full);
        let scaled = self.words(scaled);
        let result = self.b.ins().bor(scaled, full);
        self.floats(result)
    }

    /// Returns an operand of an operation as `f32`, flushed if need be.
    pub fn operand(&mut self, flush: bool, a: Clif) -> Clif {
        let a = if flush { self.flush(a) } else { a };
        self.widen(a)
    }

    /// Rounds an `f32` to `f16`.
    pub fn narrow(&mut self, round: Round, a: Clif) -> Clif {
        let bits = self.words(a);
        let sign = self.and(bits, 1 << 31);
        let magnitude = self.b.ins().bxor(bits, sign);
        // Adding 2^13 times a number's first place rounds the number to the wanted place. The
        // summand is at least 1/2, whose unit is the unit of the denormals.
        let exponent = self.and(magnitude, 0x7f80_0000);
        let (places, half) = (self.bits(13 << 23), self.bits(0x3f00_0000));
        let magic = self.b.ins().iadd(exponent, places);
        let magic = self.b.ins().smax(magic, half);
        let (positive, summand) = (self.floats(magnitude), self.floats(magic));
        let sum = self.b.ins().fadd(positive, summand);
        let sum = self.words(sum);
        // The number of units, and the exponent without the first place, which the units contain.
        let units = self.b.ins().isub(sum, magic);
        let exponent = self.b.ins().isub(magic, half);
        let exponent = self.b.ins().ushr_imm_u(exponent, 13);
        let nearest = self.b.ins().iadd(units, exponent);
        let infinity = self.bits(INFINITY);
        let nearest = self.b.ins().umin(nearest, infinity);
        let rounded = self.directed(round, nearest, positive, sign);
        let sign = self.b.ins().ushr_imm_u(sign, 16);
        let signed = self.b.ins().bor(rounded, sign);
        let number = self.below(magnitude, 0x7f80_0001);
        let nan = self.bits(self.nan);
        self.choose(number, signed, nan)
    }

    /// Rounds the magnitude `exact` in a direction. `nearest` is `exact` rounded to nearest.
    fn directed(&mut self, round: Round, nearest: Clif, exact: Clif, sign: Clif) -> Clif {
        if round == Round::Nearest {
            return nearest;
        }
        let wide = self.widen(nearest);
        let one = self.bits(1);
        let (above, below) = (self.b.ins().isub(nearest, one), self.b.ins().iadd(nearest, one));
        let too_great = self.b.ins().fcmp(FloatCC::GreaterThan, wide, exact);
        let inward = self.choose(too_great, above, nearest);
        if round == Round::Zero {
            return inward;
        }
        let too_small = self.b.ins().fcmp(FloatCC::LessThan, wide, exact);
        let outward = self.choose(too_small, below, nearest);
        let negative = self.below(sign, 0);
        if round == Round::Up {
            self.choose(negative, inward, outward)
        } else {
            self.choose(negative, outward, inward)
        }
    }

    pub fn unary(&mut self, op: FloatUnaryOp, attrs: FloatAttrs, x: Clif) -> Clif {
        let wide = self.operand(attrs.flush, x);
        let (wide_round, round) = match op {
            // The result is exact.
            FloatUnaryOp::Integral | FloatUnaryOp::Copy => (attrs.round, Round::Nearest),
            FloatUnaryOp::Sqrt => (Round::Nearest, attrs.round),
        };
        let wide_attrs = FloatAttrs { round: wide_round, ..FloatAttrs::IEEE };
        let result = float::unary(self.b, op, wide_attrs, Type::F32, wide, self.vector);
        let result = self.narrow(round, result);
        self.finish(attrs, result)
    }

    pub fn binary(&mut self, op: FloatBinaryOp, attrs: FloatAttrs, x: Clif, y: Clif) -> Clif {
        let (x, y) = (self.operand(attrs.flush, x), self.operand(attrs.flush, y));
        let (wide_round, round) = match op {
            FloatBinaryOp::Add | FloatBinaryOp::Sub => (attrs.round, attrs.round),
            FloatBinaryOp::Mul | FloatBinaryOp::Div => (Round::Nearest, attrs.round),
            FloatBinaryOp::Min | FloatBinaryOp::Max => (Round::Nearest, Round::Nearest),
        };
        let wide_attrs = FloatAttrs { round: wide_round, ..FloatAttrs::IEEE };
        let result = float::binary(self.b, op, wide_attrs, Type::F32, x, y, self.vector);
        let result = self.narrow(round, result);
        self.finish(attrs, result)
    }

    /// Emits a fused multiply-add. The product is exact as an `f32`.
    ///
    /// If the sum is not, it becomes the neighbour whose last bit is 1. This neighbour lies on the
    /// sum's side of every `f16` number and of every midpoint of two of them.
    pub fn fma(&mut self, attrs: FloatAttrs, [x, y, z]: [Clif; 3]) -> Clif {
        let [x, y, z] = [x, y, z].map(|v| self.operand(attrs.flush, v));
        let product = self.b.ins().fmul(x, y);
        let sum = self.b.ins().fadd(product, z);
        // The sum's error (Knuth).
        let second = self.b.ins().fsub(sum, product);
        let first = self.b.ins().fsub(sum, second);
        let (lost_first, lost_second) =
            (self.b.ins().fsub(product, first), self.b.ins().fsub(z, second));
        let error = self.b.ins().fadd(lost_first, lost_second);
        let zero = constant(self.b, Type::F32, 0, self.vector);
        let inexact = float::compare(self.b, FloatCc::Ne, error, zero);
        let (bits, error) = (self.words(sum), self.words(error));
        // If the sum is too great, step towards 0. Then set the last bit.
        let other_sign = self.b.ins().bxor(bits, error);
        let step = self.b.ins().sshr_imm_u(other_sign, 31);
        let cut = self.b.ins().iadd(bits, step);
        let one = self.bits(1);
        let odd = self.b.ins().bor(cut, one);
        let odd = self.choose(inexact, odd, bits);
        let odd = self.floats(odd);
        let odd =
            Rounding::new(self.b, attrs.round, self.vector).signed_zero(Type::F32, odd, product, z);
        let result = self.narrow(attrs.round, odd);
        self.finish(attrs, result)
    }
}

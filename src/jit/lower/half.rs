//! `f16` on one value or one vector of them: they live zero-extended in 32 bits and are computed as `f32`.
//!
//! Rounding the `f32` result of a sum, product, quotient or root once more, to `f16`, gives what rounding the exact one does
//! (24 >= 2 * 11 + 2, Figueroa); that of a fused operation is made odd first. All results have the canonical NaN.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif};
use cranelift_frontend::FunctionBuilder;

use super::super::forms::clif_type;
use super::int::constant;
use super::{float, vector};
use crate::ir::{FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, Round, Type};

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
        if self.vector { vector::blend(self.b, condition, x, y) } else { self.b.ins().select(condition, x, y) }
    }

    fn and(&mut self, a: Clif, bits: u64) -> Clif {
        let bits = self.bits(bits);
        self.b.ins().band(a, bits)
    }

    /// Whether the signed number is less than `bits`.
    fn below(&mut self, a: Clif, bits: u64) -> Clif {
        let bits = self.bits(bits);
        self.b.ins().icmp(IntCC::SignedLessThan, a, bits)
    }

    fn abs(&mut self, a: Clif) -> Clif {
        self.and(a, SIGN - 1)
    }

    /// Denormals to zeros of the same sign.
    fn flush(&mut self, a: Clif) -> Clif {
        let magnitude = self.abs(a);
        let tiny = self.below(magnitude, LEAST_NORMAL);
        let zero = self.and(a, SIGN);
        self.choose(tiny, zero, a)
    }

    fn flushed(&mut self, attrs: FloatAttrs, a: Clif) -> Clif {
        if attrs.flush { self.flush(a) } else { a }
    }

    /// What follows rounding.
    pub fn finish(&mut self, attrs: FloatAttrs, a: Clif) -> Clif {
        let a = self.flushed(attrs, a);
        if !attrs.saturate {
            return a;
        }
        // Above infinity are NaNs and everything with a sign.
        let one = self.bits(ONE);
        let below = self.b.ins().icmp(IntCC::SignedLessThan, a, one);
        let least = self.choose(below, a, one);
        let positive = self.below(a, INFINITY + 1);
        let zero = self.bits(0);
        self.choose(positive, least, zero)
    }

    /// As `f32`, exactly; a NaN keeps its payload.
    pub fn widen(&mut self, a: Clif) -> Clif {
        let sign = self.and(a, SIGN);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let magnitude = self.abs(a);
        let shifted = self.b.ins().ishl_imm_u(magnitude, 13);
        // The exponent is short of the difference of biases: times 2^112.
        let small = self.floats(shifted);
        let scale = constant(self.b, Type::F32, 0x7780_0000, self.vector);
        let scaled = self.b.ins().fmul(small, scale);
        let number = self.words(scaled);
        let full = self.bits(0x7f80_0000);
        let full = self.b.ins().bor(shifted, full);
        let finite = self.below(magnitude, INFINITY);
        let magnitude = self.choose(finite, number, full);
        let result = self.b.ins().bor(magnitude, sign);
        self.floats(result)
    }

    /// The operand of an operation.
    pub fn operand(&mut self, flush: bool, a: Clif) -> Clif {
        let a = if flush { self.flush(a) } else { a };
        self.widen(a)
    }

    /// An `f32`, rounded.
    pub fn narrow(&mut self, round: Round, a: Clif) -> Clif {
        let bits = self.words(a);
        let sign = self.and(bits, 1 << 31);
        let magnitude = self.b.ins().bxor(bits, sign);
        // Half a unit, less one if that is even, carries into the mantissa; the exponent gets the other bias.
        let odd = self.b.ins().ushr_imm_u(magnitude, 13);
        let odd = self.and(odd, 1);
        let bias = self.bits(0xc800_0fff);
        let sum = self.b.ins().iadd(magnitude, bias);
        let sum = self.b.ins().iadd(sum, odd);
        let normal = self.b.ins().ushr_imm_u(sum, 13);
        // The unit of 1/2 is that of the denormals.
        let positive = self.floats(magnitude);
        let half = constant(self.b, Type::F32, 0x3f00_0000, self.vector);
        let shifted = self.b.ins().fadd(positive, half);
        let (shifted, half) = (self.words(shifted), self.bits(0x3f00_0000));
        let denormal = self.b.ins().isub(shifted, half);
        let is_denormal = self.below(magnitude, 0x3880_0000);
        let nearest = self.choose(is_denormal, denormal, normal);
        let in_range = self.below(magnitude, 0x4780_0000);
        let infinity = self.bits(INFINITY);
        let nearest = self.choose(in_range, nearest, infinity);
        let rounded = self.directed(round, nearest, positive, sign);
        let sign = self.b.ins().ushr_imm_u(sign, 16);
        let signed = self.b.ins().bor(rounded, sign);
        let number = self.below(magnitude, 0x7f80_0001);
        let nan = self.bits(self.nan);
        self.choose(number, signed, nan)
    }

    /// The magnitude `nearest` of `exact` rounded another way.
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
        if round == Round::Up { self.choose(negative, inward, outward) } else { self.choose(negative, outward, inward) }
    }

    pub fn unary(&mut self, op: FloatUnaryOp, attrs: FloatAttrs, x: Clif) -> Clif {
        let wide = self.operand(attrs.flush, x);
        let round = match op {
            // Exact.
            FloatUnaryOp::Integral | FloatUnaryOp::Copy => FloatAttrs { round: attrs.round, ..FloatAttrs::IEEE },
            FloatUnaryOp::Sqrt => FloatAttrs::IEEE,
        };
        let result = float::unary(self.b, op, round, Type::F32, wide, self.vector);
        let result = self.narrow(Round::Nearest, result);
        self.finish(attrs, result)
    }

    pub fn binary(&mut self, op: FloatBinaryOp, attrs: FloatAttrs, x: Clif, y: Clif) -> Clif {
        let (x, y) = (self.operand(attrs.flush, x), self.operand(attrs.flush, y));
        let result = float::binary(self.b, op, FloatAttrs::IEEE, Type::F32, x, y, self.vector);
        let result = self.narrow(Round::Nearest, result);
        self.finish(attrs, result)
    }

    /// The product is an `f32`. If the sum is not, its last bit is made 1, which lies on the same side of every number that
    /// `f16` has, and of every one midway between two.
    pub fn fma(&mut self, attrs: FloatAttrs, [x, y, z]: [Clif; 3]) -> Clif {
        let [x, y, z] = [x, y, z].map(|v| self.operand(attrs.flush, v));
        let product = self.b.ins().fmul(x, y);
        let sum = self.b.ins().fadd(product, z);
        // The sum's error (Knuth).
        let second = self.b.ins().fsub(sum, product);
        let first = self.b.ins().fsub(sum, second);
        let (lost_first, lost_second) = (self.b.ins().fsub(product, first), self.b.ins().fsub(z, second));
        let error = self.b.ins().fadd(lost_first, lost_second);
        let zero = constant(self.b, Type::F32, 0, self.vector);
        let inexact = float::compare(self.b, FloatCc::Ne, error, zero);
        let (bits, error) = (self.words(sum), self.words(error));
        let other_sign = self.b.ins().bxor(bits, error);
        let step = self.b.ins().sshr_imm_u(other_sign, 31);
        let one = self.bits(1);
        let step = self.b.ins().bor(step, one);
        let neighbour = self.b.ins().iadd(bits, step);
        let last = self.and(bits, 1);
        let none = self.bits(0);
        let even = self.b.ins().icmp(IntCC::Equal, last, none);
        let adjust = self.b.ins().band(inexact, even);
        let odd = self.choose(adjust, neighbour, bits);
        let odd = self.floats(odd);
        let result = self.narrow(Round::Nearest, odd);
        self.finish(attrs, result)
    }
}

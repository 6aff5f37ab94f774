//! Sums, products, quotients and roots.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif};
use warploom_ir::{FloatBinaryOp, Type};

use super::{Doubles, Rounding};

/// The exponent of the bound for tiny `f64` products, and of the factor for each operand. The error
/// of a tiny product may be no `f64`; the factors make product and error large enough. The operands
/// of a tiny product are at most 2^-900 / 2^-1074.
const TINY_PRODUCT: i32 = -900;
const FACTOR_SCALE: i32 = 600;
/// The exponents of the bound and the factor for tiny dividends and radicands. The quotient of a
/// tiny dividend is at most 2^-800 / 2^-1074.
const TINY_OPERAND: i32 = -800;
const OPERAND_SCALE: i32 = 200;

impl Rounding<'_, '_> {
    /// Emits `op`, which must be arithmetic. `ty` is `f32` or `f64`.
    pub fn binary(&mut self, op: FloatBinaryOp, ty: Type, x: Clif, y: Clif) -> Clif {
        match (op, ty) {
            (FloatBinaryOp::Add, _) => self.sum(ty, x, y),
            (FloatBinaryOp::Sub, _) => {
                let y = self.b.ins().fneg(y);
                self.sum(ty, x, y)
            }
            (FloatBinaryOp::Mul, Type::F64) => self.product(x, y),
            (_, Type::F64) => self.quotient(x, y),
            _ => {
                let (x, y) = (self.widened(x), self.widened(y));
                let wide: Doubles = (x.iter().zip(&y))
                    .map(|(&x, &y)| match op {
                        FloatBinaryOp::Mul => self.b.ins().fmul(x, y),
                        // A quotient that is no `f32` differs from each `f32` by more than `f64`
                        // rounds.
                        _ => self.b.ins().fdiv(x, y),
                    })
                    .collect();
                self.singles(&wide)
            }
        }
    }

    pub fn root(&mut self, ty: Type, x: Clif) -> Clif {
        if ty == Type::F32 {
            // A root that is no `f32` differs from each `f32` by more than `f64` rounds.
            let wide: Doubles = self.widened(x).iter().map(|&x| self.b.ins().sqrt(x)).collect();
            return self.singles(&wide);
        }
        let root = self.b.ins().sqrt(x);
        let (bound, one) = (self.power(TINY_OPERAND), self.power(0));
        let (scale, root_scale) = (self.power(OPERAND_SCALE), self.power(OPERAND_SCALE / 2));
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, x, bound);
        let (scale, root_scale) =
            (self.choose(tiny, scale, one), self.choose(tiny, root_scale, one));
        let (x, scaled) = (self.b.ins().fmul(x, scale), self.b.ins().fmul(root, root_scale));
        let minus = self.b.ins().fneg(scaled);
        let missing = self.b.ins().fma(minus, scaled, x);
        self.directed(Type::F64, root, missing)
    }

    /// Emits a sum with directed rounding. The sum's error is a number of the same type; if the
    /// greater summand is subtracted, finding it does not overflow (Dekker). A sum that overflows
    /// has as error an infinity of the other sign.
    pub(super) fn sum(&mut self, ty: Type, x: Clif, y: Clif) -> Clif {
        let sum = self.b.ins().fadd(x, y);
        let magnitudes = [x, y].map(|v| self.magnitude(ty, v));
        let swap = self.b.ins().fcmp(FloatCC::LessThan, magnitudes[0], magnitudes[1]);
        let (great, small) = (self.choose(swap, y, x), self.choose(swap, x, y));
        let missing = self.missing(sum, great, small);
        let result = self.directed(ty, sum, missing);
        self.signed_zero(ty, result, x, y)
    }

    /// Returns the error of a sum of two numbers. The second must not be greater than the first in
    /// magnitude, unless the first is 0.
    pub(super) fn missing(&mut self, sum: Clif, great: Clif, small: Clif) -> Clif {
        let added = self.b.ins().fsub(sum, great);
        self.b.ins().fsub(small, added)
    }

    fn product(&mut self, x: Clif, y: Clif) -> Clif {
        let product = self.b.ins().fmul(x, y);
        let magnitude = self.magnitude(Type::F64, product);
        let (bound, scale, one) =
            (self.power(TINY_PRODUCT), self.power(FACTOR_SCALE), self.power(0));
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, magnitude, bound);
        let scale = self.choose(tiny, scale, one);
        let (x, y) = (self.b.ins().fmul(x, scale), self.b.ins().fmul(y, scale));
        let scaled = self.b.ins().fmul(product, scale);
        let scaled = self.b.ins().fmul(scaled, scale);
        let minus = self.b.ins().fneg(scaled);
        let missing = self.b.ins().fma(x, y, minus);
        self.directed(Type::F64, product, missing)
    }

    fn quotient(&mut self, x: Clif, y: Clif) -> Clif {
        let quotient = self.b.ins().fdiv(x, y);
        let magnitude = self.magnitude(Type::F64, x);
        let (bound, scale, one) =
            (self.power(TINY_OPERAND), self.power(OPERAND_SCALE), self.power(0));
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, magnitude, bound);
        let scale = self.choose(tiny, scale, one);
        let (x, scaled) = (self.b.ins().fmul(x, scale), self.b.ins().fmul(quotient, scale));
        let minus = self.b.ins().fneg(scaled);
        let remainder = self.b.ins().fma(minus, y, x);
        let missing = self.with_sign_of(Type::F64, remainder, y);
        self.directed(Type::F64, quotient, missing)
    }
}

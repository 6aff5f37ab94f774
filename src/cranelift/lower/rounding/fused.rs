//! The fused multiply-add.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::helpers::{self, Helper};
use warploom_ir::{FloatCc, Round, Type};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::float;
use super::{Doubles, Rounding};
use crate::CHUNK;
use crate::forms::{Lanes, clif_type};

/// The exponents of the bounds for the product and the summand of `f64` multiply-adds. The parts of
/// greater products are normal numbers; sums of lesser products and summands cannot overflow.
const LEAST_PRODUCT: i32 = -960;
const GREATEST_SUMMAND: i32 = 1020;

impl Rounding<'_, '_> {
    /// Emits the multiply-add of `f32`, whose products are exact in `f64`.
    pub fn fused(&mut self, [x, y, z]: [Clif; 3]) -> Clif {
        let [x, y, z] = [x, y, z].map(|v| self.widened(v));
        let wide: Doubles = (x.iter().zip(&y).zip(&z))
            .map(|((&x, &y), &z)| {
                let product = self.b.ins().fmul(x, y);
                self.sum(Type::F64, product, z)
            })
            .collect();
        self.singles(&wide)
    }

    /// Emits the multiply-add of `f64`. The second result is not 0 where the operands are too near
    /// to overflow or underflow for this code. The error is found as by Boldo and Muller ("Exact
    /// and approximated error of the FMA", 2011).
    fn fused_doubles(&mut self, [x, y, z]: [Clif; 3]) -> (Clif, Clif) {
        let result = self.b.ins().fma(x, y, z);
        let product = self.b.ins().fmul(x, y);
        let minus = self.b.ins().fneg(product);
        let product_low = self.b.ins().fma(x, y, minus);
        let (low, lowest) = self.exact_sum(z, product_low);
        let (high, middle) = self.exact_sum(product, low);
        let beside = self.b.ins().fsub(high, result);
        let beside = self.b.ins().fadd(beside, middle);
        let missing = self.b.ins().fadd(beside, lowest);
        let directed = self.directed(Type::F64, result, missing);
        let directed = self.signed_zero(Type::F64, directed, product, z);
        (directed, self.is_extreme([x, y, z], product, result))
    }

    /// Returns a sum and its error (Knuth).
    fn exact_sum(&mut self, x: Clif, y: Clif) -> (Clif, Clif) {
        let sum = self.b.ins().fadd(x, y);
        let first = self.b.ins().fsub(sum, y);
        let second = self.b.ins().fsub(sum, first);
        let (lost_first, lost_second) = (self.b.ins().fsub(x, first), self.b.ins().fsub(y, second));
        (sum, self.b.ins().fadd(lost_first, lost_second))
    }

    /// Returns ones where the parts of the sum are not normal numbers. A product with 0 is exact,
    /// and a NaN needs no parts.
    fn is_extreme(&mut self, [x, y, z]: [Clif; 3], product: Clif, result: Clif) -> Clif {
        let ty = Type::F64;
        let (least, greatest, zero) =
            (self.power(LEAST_PRODUCT), self.power(GREATEST_SUMMAND), self.constant(ty, 0));
        let (product, summand) = (self.magnitude(ty, product), self.magnitude(ty, z));
        let great_product = float::compare(self.b, FloatCc::GeU, product, greatest);
        let great_summand = float::compare(self.b, FloatCc::GeU, summand, greatest);
        let great = self.b.ins().bor(great_product, great_summand);
        let small = self.b.ins().fcmp(FloatCC::LessThan, product, least);
        let small_x = self.b.ins().fcmp(FloatCC::NotEqual, x, zero);
        let small_y = self.b.ins().fcmp(FloatCC::NotEqual, y, zero);
        let factors = self.b.ins().band(small_x, small_y);
        let small = self.b.ins().band(small, factors);
        let either = self.b.ins().bor(great, small);
        let number = self.b.ins().fcmp(FloatCC::Ordered, result, result);
        self.b.ins().band(either, number)
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Emits a fused multiply-add of `f64`, for all lanes of a chunk or for scalars. If one lane
    /// has parts that are too great or too small, a helper computes all lanes.
    pub(in super::super) fn fused_doubles(
        &mut self,
        round: Round,
        [x, y, z]: [&[Clif]; 3],
        vector: bool,
    ) -> Lanes {
        let clif = clif_type(Type::F64, vector);
        let mut rounding = Rounding::new(self.b, round, vector);
        let each = x.iter().zip(y).zip(z).map(|((&x, &y), &z)| rounding.fused_doubles([x, y, z]));
        let (results, extremes): (Lanes, Lanes) = each.unzip();
        let any =
            extremes.into_iter().reduce(|x, y| self.b.ins().bor(x, y)).expect("a value has lanes");
        let any = if vector { self.b.ins().vany_true(any) } else { any };
        let (extreme, done) = (self.cold_block(), self.b.create_block());
        let args: Vec<BlockArg> = results.iter().map(|&v| BlockArg::Value(v)).collect();
        let params = results.iter().map(|_| self.b.append_block_param(done, clif)).collect();
        self.b.ins().brif(any, extreme, &[], done, &args);

        self.b.switch_to_block(extreme);
        for (operand, lanes) in [x, y, z].into_iter().enumerate() {
            self.stage_lanes(helpers::FUSED_LANES + operand * helpers::MAX_LANES, lanes);
        }
        let lanes = if vector { i64::from(CHUNK) } else { 1 };
        let [number, lanes] =
            [helpers::number(round).into(), lanes].map(|x: i64| self.b.ins().iconst(types::I32, x));
        self.region.call(self.b, Helper::Fused, &[self.ctx, number, lanes]);
        let at = Self::scratch(helpers::FUSED_LANES);
        let args: Vec<BlockArg> = (0..results.len() as i32)
            .map(|part| self.b.ins().load(clif, flags(), self.ctx, at + part * 16).into())
            .collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        params
    }
}

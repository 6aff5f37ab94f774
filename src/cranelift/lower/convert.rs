//! Conversions between types, of scalars and of lanes.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::{ConvertOp, FloatAttrs, FloatUnaryOp, Round, Type};

use super::block::BlockLowerer;
use super::element::Wanted;
use super::int::{self, constant};
use super::rounding::{Rounding, singles_for_half};
use super::{float, vector};
use crate::forms::{Lanes, clif_type};

/// 1.5 * 2^52. An `f64` near this number counts units of 1 in its last place, and the low word of a
/// sum with it is the other summand.
const UNITS_OF_1: f64 = 6_755_399_441_055_744.0;

/// Returns the least and the greatest integer of a type of up to 32 bits.
fn range(ty: Type, signed: bool) -> (i64, i64) {
    let values = 1 << ty.bits();
    if signed { (-values / 2, values / 2 - 1) } else { (0, values - 1) }
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn convert_scalar(&mut self, op: ConvertOp, from: Type, to: Type, a: Clif) -> Clif {
        let (wide_from, wide_to) = (from.bits() == 64, to.bits() == 64);
        match op {
            ConvertOp::Trunc => {
                let low =
                    if wide_from && !wide_to { self.b.ins().ireduce(types::I32, a) } else { a };
                if to.bits() < 32 {
                    self.b.ins().band_imm_u(low, to.bit_mask() as i64)
                } else {
                    low
                }
            }
            ConvertOp::ZeroExtend => {
                if wide_to && !wide_from {
                    self.b.ins().uextend(types::I64, a)
                } else {
                    a
                }
            }
            ConvertOp::SignExtend => {
                let a = int::widen_sign(self.b, from, a);
                if wide_to && !wide_from {
                    self.b.ins().sextend(types::I64, a)
                } else if to.bits() < 32 {
                    self.b.ins().band_imm_u(a, to.bit_mask() as i64)
                } else {
                    a
                }
            }
            ConvertOp::HighHalf => int::high_half(self.b, a),
            ConvertOp::FromMask => a,
            ConvertOp::ToMask => self.inside_warp(a),
            ConvertOp::Bitcast => vector::cast(self.b, clif_type(to, false), a),
        }
    }

    pub(super) fn convert_lanes(
        &mut self,
        op: ConvertOp,
        from: Type,
        to: Type,
        lanes: &[Clif],
    ) -> Lanes {
        let (wide_from, wide_to) = (from.bits() == 64, to.bits() == 64);
        match op {
            ConvertOp::HighHalf => vector::halves(self.b, lanes, true).into_iter().collect(),
            ConvertOp::Trunc if wide_from && wide_to => lanes.iter().copied().collect(),
            ConvertOp::Trunc => {
                let low: Lanes = if wide_from {
                    vector::halves(self.b, lanes, false).into_iter().collect()
                } else {
                    lanes.iter().copied().collect()
                };
                self.keep_low(&low, to)
            }
            ConvertOp::SignExtend | ConvertOp::ZeroExtend => {
                let signed = op == ConvertOp::SignExtend;
                let words: Lanes = lanes
                    .iter()
                    .map(|&x| if signed { int::widen_sign(self.b, from, x) } else { x })
                    .collect();
                if !wide_to {
                    return self.keep_low(&words, to);
                }
                words
                    .iter()
                    .flat_map(|&x| {
                        if signed {
                            [self.b.ins().swiden_low(x), self.b.ins().swiden_high(x)]
                        } else {
                            [self.b.ins().uwiden_low(x), self.b.ins().uwiden_high(x)]
                        }
                    })
                    .collect()
            }
            ConvertOp::Bitcast => unreachable!("part by part"),
            ConvertOp::FromMask | ConvertOp::ToMask => unreachable!("uniform"),
        }
    }

    fn keep_low(&mut self, lanes: &[Clif], to: Type) -> Lanes {
        if to.bits() >= 32 {
            return lanes.iter().copied().collect();
        }
        let mask = constant(self.b, Type::I32, to.bit_mask(), true);
        lanes.iter().map(|&x| self.b.ins().band(x, mask)).collect()
    }

    pub(super) fn fconvert_lanes(
        &mut self,
        attrs: FloatAttrs,
        from: Type,
        wanted: Wanted,
        lanes: &[Clif],
    ) -> Lanes {
        let to = wanted.ty;
        let inputs: Lanes =
            lanes.iter().map(|&x| self.compared(from, attrs.flush, x, true)).collect();
        if (from, to) == (Type::F64, Type::F16) {
            let singles =
                inputs.chunks(2).map(|pair| singles_for_half(self.b, attrs.round, pair, true));
            let singles: Lanes = singles.collect();
            return singles.iter().map(|&x| self.rounded_half(attrs, x, true)).collect();
        }
        if to == Type::F16 {
            return inputs.iter().map(|&x| self.rounded_half(attrs, x, true)).collect();
        }
        let converted: Lanes = match (from, to) {
            (Type::F16 | Type::F32, Type::F64) => {
                inputs.iter().flat_map(|&x| float::promote(self.b, x)).collect()
            }
            (Type::F64, Type::F32) if attrs.round != Round::Nearest => inputs
                .chunks(2)
                .map(|pair| Rounding::new(self.b, attrs.round, true).singles(pair))
                .collect(),
            (Type::F64, Type::F32) => {
                inputs.chunks(2).map(|pair| float::demote(self.b, pair[0], pair[1])).collect()
            }
            _ => inputs,
        };
        let nan = self.facts.function.nan.canonical(to);
        converted
            .iter()
            .map(|&x| {
                let v = float::unary(self.b, FloatUnaryOp::Copy, attrs, to, x, true);
                if wanted.canonical { float::canonical(self.b, to, nan, v, true) } else { v }
            })
            .collect()
    }

    /// Rounds an `f32` to `f16`.
    pub(super) fn rounded_half(&mut self, attrs: FloatAttrs, x: Clif, vector: bool) -> Clif {
        let mut half = self.half(vector);
        let rounded = half.narrow(attrs.round, x);
        half.finish(attrs, rounded)
    }

    /// Rounds floats to integers of up to 32 bits (64 for scalars) and clamps them. Vectors are of
    /// `f32`; NaNs become `nan`.
    pub(super) fn ints_of_floats(
        &mut self,
        (to, signed): (Type, bool),
        round: Round,
        nan: u64,
        x: Clif,
        vector: bool,
    ) -> Clif {
        let x = float::integral(self.b, round, x);
        let clif = clif_type(to, vector);
        let narrow = to.bits() < 32;
        let ints = if signed || narrow {
            self.b.ins().fcvt_to_sint_sat(clif, x)
        } else {
            self.b.ins().fcvt_to_uint_sat(clif, x)
        };
        let ints = if narrow { self.clamped(to, signed, ints, vector) } else { ints };
        if nan == 0 {
            return ints;
        }
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        let replacement = constant(self.b, to, nan, vector);
        if vector {
            return vector::blend(self.b, is_nan, replacement, ints);
        }
        self.b.ins().select(is_nan, replacement, ints)
    }

    /// Rounds two vectors of `f64` to integers of up to 32 bits and clamps them; NaNs become `nan`.
    pub(super) fn words_of_doubles(
        &mut self,
        (to, signed): (Type, bool),
        round: Round,
        nan: u64,
        pair: &[Clif],
    ) -> Clif {
        let (least, greatest) = range(to, signed);
        let [least, greatest, units] = [least as f64, greatest as f64, UNITS_OF_1]
            .map(|bound| constant(self.b, Type::F64, bound.to_bits(), true));
        let each = [pair[0], pair[1]].map(|x| {
            let nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
            let x = float::integral(self.b, round, x);
            let above = self.b.ins().fcmp(FloatCC::GreaterThan, x, least);
            let x = vector::blend(self.b, above, x, least);
            let below = self.b.ins().fcmp(FloatCC::LessThan, x, greatest);
            let x = vector::blend(self.b, below, x, greatest);
            (self.b.ins().fadd(x, units), nan)
        });
        let [words, nans] = [each.map(|(sum, _)| sum), each.map(|(_, nan)| nan)].map(|pair| {
            let [low, high] = pair.map(|longs| vector::cast(self.b, types::I32X4, longs));
            vector::shuffle_words(self.b, low, high, [0, 2, 4, 6])
        });
        let words = int::narrow(self.b, to, words, true);
        let replacement = constant(self.b, Type::I32, nan, true);
        vector::blend(self.b, nans, replacement, words)
    }

    /// Clamps signed words to the range of a narrow type.
    fn clamped(&mut self, to: Type, signed: bool, words: Clif, vector: bool) -> Clif {
        let (least, greatest) = range(to, signed);
        let [least, greatest] =
            [least, greatest].map(|bound| constant(self.b, Type::I32, bound as u64, vector));
        let words = self.b.ins().smax(words, least);
        let words = self.b.ins().smin(words, greatest);
        int::narrow(self.b, to, words, vector)
    }
}

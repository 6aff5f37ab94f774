//! Conversions between types, of scalars and of lanes.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};

use super::super::forms::{Lanes, clif_type};
use super::block::BlockLowerer;
use super::int::{self, constant};
use super::rounding::{Rounding, singles_for_half};
use super::{float, vector};
use crate::ir::{ConvertOp, FloatAttrs, FloatUnaryOp, Round, Type};

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn convert_scalar(&mut self, op: ConvertOp, from: Type, to: Type, a: Clif) -> Clif {
        let (wide_from, wide_to) = (from.bits() == 64, to.bits() == 64);
        match op {
            ConvertOp::Trunc => {
                let low = if wide_from && !wide_to { self.b.ins().ireduce(types::I32, a) } else { a };
                if to.bits() < 32 { self.b.ins().band_imm_u(low, to.bit_mask() as i64) } else { low }
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
            ConvertOp::Bitcast => vector::cast(self.b, clif_type(to, false), a),
        }
    }

    pub(super) fn convert_lanes(&mut self, op: ConvertOp, from: Type, to: Type, lanes: &[Clif]) -> Lanes {
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
                let words: Lanes =
                    lanes.iter().map(|&x| if signed { int::widen_sign(self.b, from, x) } else { x }).collect();
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
        }
    }

    fn keep_low(&mut self, lanes: &[Clif], to: Type) -> Lanes {
        if to.bits() >= 32 {
            return lanes.iter().copied().collect();
        }
        let mask = constant(self.b, Type::I32, to.bit_mask(), true);
        lanes.iter().map(|&x| self.b.ins().band(x, mask)).collect()
    }

    pub(super) fn fconvert_lanes(&mut self, attrs: FloatAttrs, from: Type, to: Type, lanes: &[Clif]) -> Lanes {
        let inputs: Lanes = lanes.iter().map(|&x| self.compared(from, attrs.flush, x, true)).collect();
        if (from, to) == (Type::F64, Type::F16) {
            let singles = inputs.chunks(2).map(|pair| singles_for_half(self.b, attrs.round, pair, true));
            let singles: Lanes = singles.collect();
            return singles.iter().map(|&x| self.rounded_half(attrs, x, true)).collect();
        }
        if to == Type::F16 {
            return inputs.iter().map(|&x| self.rounded_half(attrs, x, true)).collect();
        }
        let converted: Lanes = match (from, to) {
            (Type::F16 | Type::F32, Type::F64) => inputs.iter().flat_map(|&x| float::promote(self.b, x)).collect(),
            (Type::F64, Type::F32) if attrs.round != Round::Nearest => {
                inputs.chunks(2).map(|pair| Rounding::new(self.b, attrs.round, true).singles(pair)).collect()
            }
            (Type::F64, Type::F32) => inputs.chunks(2).map(|pair| float::demote(self.b, pair[0], pair[1])).collect(),
            _ => inputs,
        };
        let nan = self.function.nan.canonical(to);
        converted
            .iter()
            .map(|&x| {
                let v = float::unary(self.b, FloatUnaryOp::Copy, attrs, to, x, true);
                if self.bits_matter { float::canonical(self.b, to, nan, v, true) } else { v }
            })
            .collect()
    }

    /// An `f32` that is rounded to `f16`.
    pub(super) fn rounded_half(&mut self, attrs: FloatAttrs, x: Clif, vector: bool) -> Clif {
        let mut half = self.half(vector);
        let rounded = half.narrow(attrs.round, x);
        half.finish(attrs, rounded)
    }

    /// Floats, `f32` in vectors, rounded to integers of up to 32 bits (64 of scalars) and clamped; NaNs become `nan`.
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

    /// Signed words as the nearest integers of a narrow type.
    fn clamped(&mut self, to: Type, signed: bool, words: Clif, vector: bool) -> Clif {
        let (least, greatest) = if signed { (!(to.bit_mask() >> 1), to.bit_mask() >> 1) } else { (0, to.bit_mask()) };
        let [least, greatest] = [least, greatest].map(|bits| constant(self.b, Type::I32, bits, vector));
        let words = self.b.ins().smax(words, least);
        let words = self.b.ins().smin(words, greatest);
        int::narrow(self.b, to, words, vector)
    }
}

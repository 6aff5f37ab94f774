//! Conversions between types, of scalars and of lanes.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};

use super::super::forms::{Lanes, clif_type};
use super::block::BlockLowerer;
use super::int::{self, constant};
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

    pub(super) fn int_to_float(&mut self, signed: bool, from: Type, to: Type, a: Clif) -> Clif {
        if to == Type::F16 {
            // What `f32` rounds is too great for `f16`.
            let wide = self.int_to_float(signed, from, Type::F32, a);
            return self.half(false).narrow(Round::Nearest, wide);
        }
        let clif = clif_type(to, false);
        if signed {
            let a = int::widen_sign(self.b, from, a);
            self.b.ins().fcvt_from_sint(clif, a)
        } else if from.bits() == 64 {
            self.b.ins().fcvt_from_uint(clif, a)
        } else {
            let a = self.b.ins().uextend(types::I64, a);
            self.b.ins().fcvt_from_sint(clif, a)
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
        if to == Type::F16 {
            let convert = |lowerer: &mut Self, x| {
                let mut half = lowerer.half(true);
                let rounded = half.narrow(attrs.round, x);
                half.finish(attrs, rounded)
            };
            return inputs.iter().map(|&x| convert(self, x)).collect();
        }
        let converted: Lanes = match (from, to) {
            (Type::F16 | Type::F32, Type::F64) => inputs.iter().flat_map(|&x| float::promote(self.b, x)).collect(),
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

    /// A vector of `f32`, rounded to integers and clamped; NaNs become `nan`.
    pub(super) fn words_of_floats(&mut self, signed: bool, round: Round, nan: u64, x: Clif) -> Clif {
        let x = float::integral(self.b, round, x);
        let words = if signed {
            self.b.ins().fcvt_to_sint_sat(types::I32X4, x)
        } else {
            self.b.ins().fcvt_to_uint_sat(types::I32X4, x)
        };
        if nan == 0 {
            return words;
        }
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        let replacement = constant(self.b, Type::I32, nan, true);
        vector::blend(self.b, is_nan, replacement, words)
    }
}

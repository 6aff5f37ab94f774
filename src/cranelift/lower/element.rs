//! One element of an operation without effect: a scalar, or one vector of lanes.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_analysis::Step;
use warploom_engine::abi;
use warploom_engine::helpers::{self, Helper};
use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatUnaryOp, Op, Round, SharedFn, Special, Type, UnaryOp,
    Value,
};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::half::Half;
use super::int::{self, constant};
use super::rounding::{Rounding, singles_for_half};
use super::{float, special, vector};
use crate::forms::{Lanes, clif_type};

/// The number of lanes into which operations take a chunk apart, if vectors have no such operation.
pub(super) const LANES: usize = 8;

/// The form that users want a result in.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub ty: Type,
    /// Whether a NaN must have the bits that the function declares, because they can be seen.
    pub canonical: bool,
}

impl<'f> BlockLowerer<'_, '_, 'f> {
    /// Returns the form that the block's users want a value in.
    pub(super) fn wanted(&self, v: Value) -> Wanted {
        let canonical = self.facts.planned.bits_used[v]
            && !self.scope.mode.carried().is_some_and(|carried| carried.raw.contains(&v));
        Wanted { ty: self.facts.ty(v), canonical }
    }

    /// Emits the operation on scalars: uniform values, or lane 0 of affine values.
    pub(super) fn pure_scalar(&mut self, op: &Op, args: &[Clif], wanted: Wanted) -> Clif {
        self.element(op, args, wanted, false).expect("every supported operation has a scalar form")
    }

    /// Emits the operation on scalars or on one vector. Returns `None` if vectors lack the
    /// operation.
    pub(super) fn element(
        &mut self,
        op: &Op,
        args: &[Clif],
        wanted: Wanted,
        vector: bool,
    ) -> Option<Clif> {
        let to = wanted.ty;
        Some(match *op {
            Op::Const { ty, bits } => constant(self.b, ty, bits, vector),
            Op::Splat { .. } => args[0],
            Op::Unary { op: UnaryOp::Not, .. } if to == Type::Mask => self.other_lanes(args[0]),
            Op::Binary { op: BinaryOp::And, a, b } if to == Type::Mask => {
                self.both_masks((a, args[0]), (b, args[1]))
            }
            Op::Unary { op, a } => {
                return int::unary(self.b, op, self.facts.ty(a), args[0], vector);
            }
            Op::Binary { op: op @ (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS), a, b }
                if !vector =>
            {
                int::shift(self.b, op, self.facts.ty(a), args[0], args[1], self.facts.constant(b))
            }
            Op::Binary { op, a, .. } => {
                return int::binary(self.b, op, self.facts.ty(a), args[0], args[1], vector);
            }
            Op::FUnary { op, attrs, .. } if to == Type::F16 => {
                self.half(vector).unary(op, attrs, args[0])
            }
            Op::FBinary { op, attrs, .. } if to == Type::F16 => {
                self.half(vector).binary(op, attrs, args[0], args[1])
            }
            Op::Fma { attrs, .. } if to == Type::F16 => {
                self.half(vector).fma(attrs, [args[0], args[1], args[2]])
            }
            Op::FUnary { op, attrs, .. } => {
                let v = float::unary(self.b, op, attrs, to, args[0], vector);
                self.with_nans(wanted, v, vector)
            }
            Op::FBinary { op, attrs, .. } => {
                let v = float::binary(self.b, op, attrs, to, args[0], args[1], vector);
                self.with_nans(wanted, v, vector)
            }
            Op::Fma { attrs, .. } if to == Type::F64 && attrs.round != Round::Nearest => {
                let args: [Lanes; 3] = std::array::from_fn(|i| Lanes::from_elem(args[i], 1));
                self.directed_fma(attrs, &args, wanted.canonical, vector)[0]
            }
            Op::Fma { attrs, .. } => {
                let v = float::fma(self.b, attrs, to, [args[0], args[1], args[2]], vector);
                self.with_nans(wanted, v, vector)
            }
            Op::Convert { op: ConvertOp::Bitcast, .. } => {
                vector::cast(self.b, clif_type(to, vector), args[0])
            }
            Op::Shared { function: SharedFn::Rcp, .. } => {
                let v = float::reciprocal(self.b, args[0], vector);
                self.with_nans(wanted, v, vector)
            }
            Op::Shared { function: function @ (SharedFn::Rsq | SharedFn::RsqDenormal), .. } => {
                let flush = function == SharedFn::Rsq;
                let v = float::reciprocal_root(self.b, flush, args[0], vector);
                self.with_nans(wanted, v, vector)
            }
            Op::Shared { function: SharedFn::SqrtApprox, .. } => {
                let x = float::flush(self.b, Type::F32, args[0], vector);
                let v = self.b.ins().sqrt(x);
                self.with_nans(wanted, v, vector)
            }
            _ if vector => return None,
            _ => self.scalar_element(op, args, wanted),
        })
    }

    /// Returns a float whose NaNs are canonical if that is wanted.
    fn with_nans(&mut self, wanted: Wanted, v: Clif, vector: bool) -> Clif {
        if !wanted.canonical {
            return v;
        }
        float::canonical(self.b, wanted.ty, self.facts.function.nan.canonical(wanted.ty), v, vector)
    }

    /// Returns a branch condition in a form that the host branches on.
    pub(super) fn condition(&mut self, cond: Value) -> Clif {
        self.compared_bit(cond).unwrap_or_else(|| self.scalar(cond))
    }

    /// Returns whether a compare of scalars holds, as an `i8`, so that its mask need not be made.
    /// The compare may be masked to certain lanes.
    fn compared_bit(&mut self, mask: Value) -> Option<Clif> {
        self.compared_bit_of(mask, self.facts.warp_mask())
    }

    /// Returns [`Self::compared_bit`] for a mask that is masked to these lanes.
    fn compared_bit_of(&mut self, mask: Value, lanes: u64) -> Option<Clif> {
        let planned = self.facts.planned;
        match *self.facts.def_op(mask) {
            _ if lanes == 0 => None,
            ref op @ (Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. })
                if matches!(
                    planned.plan.steps[planned.plan.home[mask] as usize],
                    Step::Scalar(_)
                ) =>
            {
                let (x, y) = (self.scope.scalars[a]?, self.scope.scalars[b]?);
                Some(self.compare_bit(op, x, y))
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.facts.ty(mask) == Type::Mask => {
                match (self.facts.constant(a), self.facts.constant(b)) {
                    (_, Some(of)) => self.compared_bit_of(a, lanes & of),
                    (Some(of), _) => self.compared_bit_of(b, lanes & of),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns whether a compare of scalars holds, as an `i8`.
    fn compare_bit(&mut self, op: &Op, x: Clif, y: Clif) -> Clif {
        match *op {
            Op::ICmp { cc, a, .. } => int::compare_bit(self.b, cc, self.facts.ty(a), x, y),
            Op::FCmp { cc, a, flush, .. } => {
                let ty = self.facts.ty(a);
                let (x, y) =
                    (self.compared(ty, flush, x, false), self.compared(ty, flush, y, false));
                float::compare(self.b, cc, x, y)
            }
            ref op => unreachable!("no compare: {op:?}"),
        }
    }

    /// Emits scalar operations that vectors lack, or that are not one vector for each operand
    /// vector.
    fn scalar_element(&mut self, op: &Op, args: &[Clif], wanted: Wanted) -> Clif {
        let to = wanted.ty;
        match *op {
            Op::Convert { op, a, .. } => self.convert_scalar(op, self.facts.ty(a), to, args[0]),
            Op::Concat { .. } => int::concat(self.b, args[0], args[1]),
            Op::UniformSelect { cond, .. } => {
                let cond = self.compared_bit(cond).unwrap_or(args[0]);
                self.b.ins().select(cond, args[1], args[2])
            }
            Op::ICmp { .. } | Op::FCmp { .. } => {
                let bit = self.compare_bit(op, args[0], args[1]);
                self.all_lanes_if(bit)
            }
            Op::FConvert { attrs, a, .. } => {
                self.fconvert_scalar(attrs, self.facts.ty(a), wanted, args[0])
            }
            Op::IntToFloat { signed, round, a, .. } => {
                self.int_to_float(signed, round, self.facts.ty(a), to, args[0])
            }
            Op::FloatToInt { signed, round, flush, nan, a, .. } => {
                let x = self.compared(self.facts.ty(a), flush, args[0], false);
                self.ints_of_floats((to, signed), round, nan, x, false)
            }
            Op::Shared { function, .. } => self.shared(function, &args[..1], false)[0],
            Op::LaneId => unreachable!("affine"),
            Op::Special(special) => self.special(special),
            Op::AddCarry { .. } => {
                let sum = self.b.ins().iadd(args[0], args[1]);
                let sum = match args.get(2) {
                    // This form is only reached if no lane differs: the carry is all lanes or none.
                    Some(&carry) => {
                        let carry = self.b.ins().band_imm_u(carry, 1);
                        let carry = if to.bits() == 64 {
                            carry
                        } else {
                            self.b.ins().ireduce(types::I32, carry)
                        };
                        self.b.ins().iadd(sum, carry)
                    }
                    None => sum,
                };
                int::narrow(self.b, to, sum, false)
            }
            ref op => unreachable!("no scalar form of {op:?}"),
        }
    }

    fn fconvert_scalar(&mut self, attrs: FloatAttrs, from: Type, wanted: Wanted, a: Clif) -> Clif {
        let to = wanted.ty;
        let x = self.compared(from, attrs.flush, a, false);
        let v = match (from, to) {
            (_, Type::F16) => {
                let x = if from == Type::F64 {
                    singles_for_half(self.b, attrs.round, &[x], false)
                } else {
                    x
                };
                return self.rounded_half(attrs, x, false);
            }
            (Type::F64, Type::F32) if attrs.round != Round::Nearest => {
                Rounding::new(self.b, attrs.round, false).singles(&[x])
            }
            (Type::F16 | Type::F32, Type::F64) => self.b.ins().fpromote(types::F64, x),
            (Type::F64, Type::F32) => self.b.ins().fdemote(types::F32, x),
            _ => x,
        };
        let v = float::unary(self.b, FloatUnaryOp::Copy, attrs, to, v, false);
        self.with_nans(wanted, v, false)
    }

    /// Emits a fused multiply-add of `f64` that does not round to nearest.
    pub(super) fn directed_fma(
        &mut self,
        attrs: FloatAttrs,
        args: &[Lanes; 3],
        canonical: bool,
        vector: bool,
    ) -> Lanes {
        let flush = |lowerer: &mut Self, lanes: &Lanes| -> Lanes {
            lanes.iter().map(|&x| float::flushed(lowerer.b, attrs, Type::F64, x, vector)).collect()
        };
        let [x, y, z] = args.each_ref().map(|lanes| flush(self, lanes));
        let fused = self.fused_doubles(attrs.round, [&x, &y, &z], vector);
        let nan = self.facts.function.nan.canonical(Type::F64);
        let finished = fused.iter().map(|&v| {
            let v = float::finish(self.b, attrs, Type::F64, v, vector);
            if canonical { float::canonical(self.b, Type::F64, nan, v, vector) } else { v }
        });
        finished.collect()
    }

    pub(super) fn half(&mut self, vector: bool) -> Half<'_, 'f> {
        Half { nan: self.facts.function.nan.canonical(Type::F16), b: self.b, vector }
    }

    /// Returns a float in a form that the host can compare, flushed if need be: an `f16` becomes an
    /// `f32`.
    pub(super) fn compared(&mut self, ty: Type, flush: bool, a: Clif, vector: bool) -> Clif {
        match ty {
            Type::F16 => self.half(vector).operand(flush, a),
            _ if flush => float::flush(self.b, ty, a, vector),
            _ => a,
        }
    }

    /// Computes a shared function of the vectors of a chunk, or of a scalar. Code made quickly
    /// calls a helper, which is less code.
    pub(super) fn shared(&mut self, function: SharedFn, operands: &[Clif], vector: bool) -> Lanes {
        if self.region.effort.is_fast() {
            let nan = self.facts.function.nan.f32;
            if let [low, high] = operands[..] {
                return special::lanes(self.b, function, nan, [low, high]).into_iter().collect();
            }
            let all = self.b.ins().splat(clif_type(function.ty(), true), operands[0]);
            let [results, _] = special::lanes(self.b, function, nan, [all; 2]);
            return [self.b.ins().extractlane(results, 0)].into_iter().collect();
        }
        self.stage_lanes(helpers::SHARED_LANES, operands);
        let lanes = if vector { LANES as u32 } else { 1 };
        let args = [helpers::number(function), lanes, self.facts.function.nan.f32];
        let [number, lanes, nan] = args.map(|x| self.b.ins().iconst(types::I32, i64::from(x)));
        self.region.call(self.b, Helper::Shared, &[self.ctx, number, lanes, nan]);
        let clif = clif_type(function.ty(), vector);
        let at = Self::scratch(helpers::SHARED_LANES);
        (0..operands.len() as i32)
            .map(|i| self.b.ins().load(clif, flags(), self.ctx, at + i * 16))
            .collect()
    }

    fn special(&mut self, special: Special) -> Clif {
        match special {
            Special::Ctaid(axis) => self.ctx_load(types::I32, abi::CTAID + 4 * i32::from(axis)),
            Special::Ntid(axis) => self.ctx_load(types::I32, abi::NTID + 4 * i32::from(axis)),
            Special::Nctaid(axis) => self.ctx_load(types::I32, abi::NCTAID + 4 * i32::from(axis)),
            Special::WarpId => self.ctx_load(types::I32, abi::WARP),
            Special::WarpSlot => self.ctx_load(types::I32, abi::SLOT),
            Special::LaunchMask => self.ctx_load(types::I64, abi::LAUNCH_MASK),
            Special::Clock => self.ctx_load(types::I64, abi::INSTRUCTIONS),
            Special::BarrierResult => self.ctx_load(types::I32, abi::BARRIER_RESULT),
            Special::BarrierReleased => self.ctx_load(types::I64, abi::BARRIER_RELEASED),
            Special::SharedBytes => self.ctx_load(types::I32, abi::SHARED_BYTES),
            // The index is uniform here: blocks are one-dimensional or consist of whole warps.
            Special::Tid(axis) => self.first_tid(axis),
        }
    }
}

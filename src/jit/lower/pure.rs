//! Operations without effect, as scalars and as lanes of a chunk.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;

use super::super::abi;
use super::super::forms::{Lanes, clif_type, parts};
use super::super::helpers::{self, Helper};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::full_warp::InMemory;
use super::half::Half;
use super::int::{self, ShiftCount, constant};
use super::masks::mask_form;
use super::rounding::{Rounding, singles_for_half};
use super::{float, vector};
use crate::analysis::{Class, Support, is_pure};
use crate::ir::{
    BinaryOp, ConvertOp, FloatAttrs, Function, Inst, Op, Round, SharedFn, Special, Type, UnaryOp, Value, ValueType,
};
use warploom_runtime::warp::CONST_BANK_BYTES;

/// How the JIT executes an instruction by itself, or that the interpreter has to.
///
/// `constant` gives the values of uniform constants.
pub fn support(
    function: &Function,
    values: &[ValueType],
    constant: &impl Fn(Value) -> Option<u64>,
    inst: &Inst,
) -> Support {
    let uniform = |v: Value| values[v.0 as usize].is_uniform();
    let lane_wise = |yes: bool| if yes { Support::LaneWise } else { Support::None };
    match &inst.op {
        Op::LaneGather { .. } | Op::LaneRead { .. } | Op::LaneScatter { .. } => Support::Warp,
        Op::RfGather { bank, first, .. } | Op::RfScatter { bank, first, .. } if function.is_lane(bank.reg(*first)) => {
            Support::Warp
        }
        Op::Product { .. } | Op::Unpack { .. } | Op::Pack { .. } | Op::Sample { .. } | Op::Wide { .. } => Support::None,
        Op::RegionRead { .. } | Op::RegionWrite { .. } => Support::Warp,
        Op::Load { access, .. } => {
            if uniform(access.address) {
                let at = constant(access.address).map_or(0, |at| (at as u32).wrapping_add(access.offset as u32));
                let inside = u64::from(at) + u64::from(access.ty.bytes()) <= CONST_BANK_BYTES as u64;
                lane_wise(access.count == 1 && inside && is_pure(&inst.op, constant))
            } else {
                Support::LaneWise
            }
        }
        Op::Atomic { op, .. } if op.is_interpreted() => Support::None,
        Op::Store { access, .. } | Op::Atomic { access, .. } => lane_wise(!uniform(access.address)),
        _ => Support::LaneWise,
    }
}

/// Operations that take a chunk apart into lanes, where vectors have none.
const LANES: usize = 8;

impl<'f> BlockLowerer<'_, '_, 'f> {
    /// The operation on scalars: uniform values, or lane 0 of affine ones.
    pub(super) fn pure_scalar(&mut self, op: &Op, args: &[Clif], to: Type) -> Clif {
        self.element(op, args, to, false).expect("every supported operation has a scalar form")
    }

    /// The operation on scalars or on one vector; `None` if vectors have no such operation.
    fn element(&mut self, op: &Op, args: &[Clif], to: Type, vector: bool) -> Option<Clif> {
        let nan = self.function.nan;
        let bits_matter = self.bits_matter;
        let fix = |lowerer: &mut Self, ty: Type, v: Clif| {
            if bits_matter { float::canonical(lowerer.b, ty, nan.canonical(ty), v, vector) } else { v }
        };
        Some(match *op {
            Op::Const { ty, bits } => constant(self.b, ty, bits, vector),
            Op::Splat { .. } => args[0],
            Op::Unary { op, a } => return int::unary(self.b, op, self.ty(a), args[0], vector),
            Op::Binary { op: op @ (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS), a, b } if !vector => {
                int::shift(self.b, op, self.ty(a), args[0], args[1], self.constant(b))
            }
            Op::Binary { op, a, .. } => return int::binary(self.b, op, self.ty(a), args[0], args[1], vector),
            Op::FUnary { op, attrs, .. } if to == Type::F16 => self.half(vector).unary(op, attrs, args[0]),
            Op::FBinary { op, attrs, .. } if to == Type::F16 => self.half(vector).binary(op, attrs, args[0], args[1]),
            Op::Fma { attrs, .. } if to == Type::F16 => self.half(vector).fma(attrs, [args[0], args[1], args[2]]),
            Op::FUnary { op, attrs, .. } => {
                let v = float::unary(self.b, op, attrs, to, args[0], vector);
                fix(self, to, v)
            }
            Op::FBinary { op, attrs, .. } => {
                let v = float::binary(self.b, op, attrs, to, args[0], args[1], vector);
                fix(self, to, v)
            }
            Op::Fma { attrs, .. } if to == Type::F64 && attrs.round != Round::Nearest => {
                let args: [Lanes; 3] = std::array::from_fn(|i| Lanes::from_elem(args[i], 1));
                self.directed_fma(attrs, &args, vector)[0]
            }
            Op::Fma { attrs, .. } => {
                let v = float::fma(self.b, attrs, to, [args[0], args[1], args[2]], vector);
                fix(self, to, v)
            }
            Op::Convert { op: ConvertOp::Bitcast, .. } => vector::cast(self.b, clif_type(to, vector), args[0]),
            Op::Shared { function: SharedFn::Rcp, .. } => {
                let v = float::reciprocal(self.b, args[0], vector);
                fix(self, to, v)
            }
            Op::Shared { function: function @ (SharedFn::Rsq | SharedFn::RsqDenormal), .. } => {
                let flush = function == SharedFn::Rsq;
                let v = float::reciprocal_root(self.b, flush, args[0], vector);
                fix(self, to, v)
            }
            _ if vector => return None,
            Op::Convert { op, a, .. } => self.convert_scalar(op, self.ty(a), to, args[0]),
            Op::Concat { .. } => int::concat(self.b, args[0], args[1]),
            Op::UniformSelect { .. } => self.b.ins().select(args[0], args[1], args[2]),
            Op::ICmp { cc, a, .. } => int::compare_scalar(self.b, cc, self.ty(a), args[0], args[1]),
            Op::FCmp { cc, a, flush, .. } => {
                let ty = self.ty(a);
                let (x, y) = (self.compared(ty, flush, args[0], false), self.compared(ty, flush, args[1], false));
                let bit = float::compare(self.b, cc, x, y);
                self.b.ins().bmask(types::I64, bit)
            }
            Op::FConvert { attrs, a, .. } => {
                let from = self.ty(a);
                let x = self.compared(from, attrs.flush, args[0], false);
                let v = match (from, to) {
                    (_, Type::F16) => {
                        let x = if from == Type::F64 { singles_for_half(self.b, attrs.round, &[x], false) } else { x };
                        return Some(self.rounded_half(attrs, x, false));
                    }
                    (Type::F64, Type::F32) if attrs.round != Round::Nearest => {
                        Rounding::new(self.b, attrs.round, false).singles(&[x])
                    }
                    (Type::F16 | Type::F32, Type::F64) => self.b.ins().fpromote(types::F64, x),
                    (Type::F64, Type::F32) => self.b.ins().fdemote(types::F32, x),
                    _ => x,
                };
                let v = float::unary(self.b, crate::ir::FloatUnaryOp::Copy, attrs, to, v, false);
                fix(self, to, v)
            }
            Op::IntToFloat { signed, round, a, .. } => self.int_to_float(signed, round, self.ty(a), to, args[0]),
            Op::FloatToInt { signed, round, flush, nan, a, .. } => {
                let x = self.compared(self.ty(a), flush, args[0], false);
                self.ints_of_floats((to, signed), round, nan, x, false)
            }
            Op::Shared { function, .. } => self.shared(function, &args[..1], false)[0],
            Op::LaneId => unreachable!("affine"),
            Op::Special(special) => self.special(special),
            Op::AddCarry { .. } => {
                let sum = self.b.ins().iadd(args[0], args[1]);
                let sum = match args.get(2) {
                    // Only reached where no lane differs: the carry is all ones or nothing.
                    Some(&carry) => {
                        let carry = self.b.ins().band_imm_u(carry, 1);
                        let carry = if to.bits() == 64 { carry } else { self.b.ins().ireduce(types::I32, carry) };
                        self.b.ins().iadd(sum, carry)
                    }
                    None => sum,
                };
                int::narrow(self.b, to, sum, false)
            }
            ref op => unreachable!("no scalar form of {op:?}"),
        })
    }

    /// Of `f64`, in another direction than to nearest.
    fn directed_fma(&mut self, attrs: FloatAttrs, args: &[Lanes; 3], vector: bool) -> Lanes {
        let flush = |lowerer: &mut Self, lanes: &Lanes| -> Lanes {
            lanes.iter().map(|&x| float::flushed(lowerer.b, attrs, Type::F64, x, vector)).collect()
        };
        let [x, y, z] = args.each_ref().map(|lanes| flush(self, lanes));
        let fused = self.fused_doubles(attrs.round, [&x, &y, &z], vector);
        let (matter, nan) = (self.bits_matter, self.function.nan.canonical(Type::F64));
        let finished = fused.iter().map(|&v| {
            let v = float::finish(self.b, attrs, Type::F64, v, vector);
            if matter { float::canonical(self.b, Type::F64, nan, v, vector) } else { v }
        });
        finished.collect()
    }

    pub(super) fn half(&mut self, vector: bool) -> Half<'_, 'f> {
        Half { nan: self.function.nan.canonical(Type::F16), b: self.b, vector }
    }

    /// A float as something that the host can compare, and flushed if need be: `f16` as `f32`.
    pub(super) fn compared(&mut self, ty: Type, flush: bool, a: Clif, vector: bool) -> Clif {
        match ty {
            Type::F16 => self.half(vector).operand(flush, a),
            _ if flush => float::flush(self.b, ty, a, vector),
            _ => a,
        }
    }

    /// A shared function of the vectors of a chunk, or of a scalar.
    fn shared(&mut self, function: SharedFn, operands: &[Clif], vector: bool) -> Lanes {
        self.stage_lanes(helpers::SHARED_LANES, operands);
        let lanes = if vector { LANES as u32 } else { 1 };
        let args = [helpers::number(function), lanes, self.function.nan.f32];
        let [number, lanes, nan] = args.map(|x| self.b.ins().iconst(types::I32, i64::from(x)));
        self.region.call(self.b, Helper::Shared, &[self.ctx, number, lanes, nan]);
        let clif = clif_type(function.ty(), vector);
        let at = Self::scratch(helpers::SHARED_LANES);
        (0..operands.len() as i32).map(|i| self.b.ins().load(clif, flags(), self.ctx, at + i * 16)).collect()
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
            // Uniform here: of one-dimensional blocks, or blocks of whole warps.
            Special::Tid(axis) => self.first_tid(axis),
        }
    }

    /// The lanes of a pure operation's first result.
    pub(super) fn pure_lanes(&mut self, inst: &Inst) -> Lanes {
        let result = inst.results[0];
        let to = self.ty(result);
        let matter = self.bits_used[result.0 as usize];
        let arithmetic = matches!(inst.op, Op::FUnary { .. } | Op::FBinary { .. } | Op::Fma { .. });
        let late = self.full_warp.is_some() && arithmetic && to != Type::F16;
        let saved = std::mem::replace(&mut self.bits_matter, matter && !late);
        let lanes = self.lanes_of(inst, to);
        self.bits_matter = saved;
        if matter && late { self.canonical_lanes(to, lanes) } else { lanes }
    }

    /// Makes NaNs canonical if there are any, which is unlikely.
    fn canonical_lanes(&mut self, ty: Type, lanes: Lanes) -> Lanes {
        let clif = clif_type(ty, true);
        // What is made of lanes uses them more than once. Cranelift does not take a load into an instruction if it might have to do
        // so again for another use of what that makes; parameters of a block hide the uses.
        self.region.hides_uses = true;
        let uses = self.b.create_block();
        let args: Vec<BlockArg> = lanes.iter().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(uses, &args);
        self.b.switch_to_block(uses);
        let lanes: Lanes = lanes.iter().map(|_| self.b.append_block_param(uses, clif)).collect();
        let nan = lanes
            .chunks(2)
            .map(|pair| self.b.ins().fcmp(FloatCC::Unordered, pair[0], pair[1]))
            .collect::<SmallVec<[Clif; 2]>>();
        let nan = nan.into_iter().reduce(|x, y| self.b.ins().bor(x, y)).expect("a value has lanes");
        let any = self.b.ins().vany_true(nan);
        let (mend, done) = (self.cold_block(), self.b.create_block());
        let args: Vec<BlockArg> = lanes.iter().map(|&v| BlockArg::Value(v)).collect();
        let results = lanes.iter().map(|_| self.b.append_block_param(done, clif)).collect();
        self.b.ins().brif(any, mend, &[], done, &args);
        self.b.switch_to_block(mend);
        let nan = self.function.nan.canonical(ty);
        let mended = lanes.iter().map(|&v| BlockArg::Value(float::canonical(self.b, ty, nan, v, true)));
        let mended: Vec<BlockArg> = mended.collect();
        self.b.ins().jump(done, &mended);
        self.b.switch_to_block(done);
        results
    }

    fn lanes_of(&mut self, inst: &Inst, to: Type) -> Lanes {
        let op = &inst.op;
        match *op {
            Op::Special(Special::Tid(axis)) => return self.tid_lanes(axis),
            Op::Binary { op: op @ (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS), a, b }
                if self.classes.get(b) == Class::Uniform =>
            {
                let count = match self.constant(b) {
                    Some(n) => ShiftCount::Constant(n),
                    None => ShiftCount::Scalar(self.scalar(b)),
                };
                let lanes = self.lanes(a);
                let count = &count;
                return lanes.iter().map(|&x| int::shift_vector(self.b, op, to, x, count)).collect();
            }
            Op::Select { mask, a, b } => {
                if let Some(full) = self.settled_mask(mask) {
                    return self.lanes(if full { a } else { b });
                }
                // The complement of a mask that is there need not be made.
                let known = |lowerer: &mut Self, mask| lowerer.chunk().masks.contains_key(&mask);
                if let Op::Unary { op: UnaryOp::Not, a: complement } = *self.def_op(mask)
                    && known(self, complement)
                    && !known(self, mask)
                {
                    return self.select_lanes(complement, b, a, to);
                }
                return self.select_lanes(mask, a, b, to);
            }
            Op::Convert { op, a, .. } if op != ConvertOp::Bitcast => {
                let from = self.ty(a);
                let lanes = self.lanes(a);
                return self.convert_lanes(op, from, to, &lanes);
            }
            Op::Concat { lo, hi } => {
                let (lo, hi) = (self.lanes(lo), self.lanes(hi));
                return vector::interleave(self.b, &lo, &hi).into_iter().collect();
            }
            Op::FConvert { attrs, a, .. } => {
                let from = self.ty(a);
                let lanes = self.lanes(a);
                return self.fconvert_lanes(attrs, from, to, &lanes);
            }
            Op::AddCarry { a, b, carry } => {
                let [_, out] = inst.results[..] else { unreachable!("a sum and a carry") };
                let is_needed = self.uses[out.0 as usize] > 0 && self.is_still_needed(out);
                let (sum, carries) = self.add_carry(a, b, carry, to, is_needed);
                if is_needed {
                    self.chunk().masks.entry(out).or_insert(mask_form(carries));
                }
                return sum;
            }
            Op::IntToFloat { signed, round, a, .. } => {
                let from = self.ty(a);
                let lanes = self.lanes(a);
                if let Some(lanes) = self.ints_to_floats(signed, round, (from, to), &lanes) {
                    return lanes;
                }
            }
            Op::FloatToInt { signed, round, flush, nan, a, .. } if to.bits() <= 32 => {
                let from = self.ty(a);
                let lanes = self.lanes(a);
                let inputs: Lanes = lanes.iter().map(|&x| self.compared(from, flush, x, true)).collect();
                let to = (to, signed);
                return match from {
                    Type::F64 => inputs.chunks(2).map(|pair| self.words_of_doubles(to, round, nan, pair)).collect(),
                    _ => inputs.iter().map(|&x| self.ints_of_floats(to, round, nan, x, true)).collect(),
                };
            }
            Op::Fma { attrs, a, b, c } if to == Type::F64 && attrs.round != Round::Nearest => {
                let args = [a, b, c].map(|v| self.lanes(v));
                return self.directed_fma(attrs, &args, true);
            }
            _ => {}
        }
        let operands = op.operands();
        // A vector that is loaded just before may be part of what uses it.
        let in_memory: SmallVec<[Option<InMemory>; 3]> =
            operands.iter().map(|&v| if self.may_be_in_memory(op, v, to) { self.in_memory(v) } else { None }).collect();
        let args: Vec<Lanes> = operands
            .iter()
            .zip(&in_memory)
            .map(|(&v, in_memory)| if in_memory.is_some() { Lanes::new() } else { self.lanes(v) })
            .collect();
        let mut result = Lanes::new();
        for part in 0..parts(to) {
            let part_args: Vec<Clif> = args
                .iter()
                .zip(&in_memory)
                .map(|(lanes, in_memory)| match in_memory {
                    Some(at) => self.b.ins().load(at.ty, flags(), at.host, at.at[part]),
                    None => lanes.get(part).copied().unwrap_or(lanes[0]),
                })
                .collect();
            match self.element(op, &part_args, to, true) {
                Some(v) => result.push(v),
                None => {
                    let args: Vec<Lanes> = operands.iter().map(|&v| self.lanes(v)).collect();
                    return self.take_apart(op, &operands, &args, to);
                }
            }
        }
        for in_memory in in_memory.into_iter().flatten() {
            self.chunk().put_off.remove(&in_memory.value);
        }
        result
    }

    /// Whether a vector may be an operand in memory of an operation: of one that the host has for vectors.
    fn may_be_in_memory(&self, op: &Op, v: Value, to: Type) -> bool {
        let arithmetic = matches!(op, Op::FBinary { .. } | Op::Fma { .. } | Op::Binary { .. });
        arithmetic && self.full_warp.is_some() && parts(self.ty(v)) == parts(to)
    }

    /// Lane by lane as scalars.
    fn take_apart(&mut self, op: &Op, operands: &[Value], args: &[Lanes], to: Type) -> Lanes {
        if let Op::Shared { function, .. } = *op {
            return self.shared(function, &args[0], true);
        }
        let per_part = LANES / parts(to);
        let mut result = self.zero_lanes(to);
        for lane in 0..LANES {
            let scalars: Vec<Clif> = operands
                .iter()
                .zip(args)
                .map(|(&v, lanes)| {
                    let width = LANES / parts(self.ty(v));
                    self.b.ins().extractlane(lanes[lane / width], (lane % width) as u8)
                })
                .collect();
            let v = self.pure_scalar(op, &scalars, to);
            let part = &mut result[lane / per_part];
            *part = self.b.ins().insertlane(*part, v, (lane % per_part) as u8);
        }
        result
    }

    /// Sum lanes, and those of the carry out if that is needed.
    pub(super) fn add_carry(
        &mut self,
        a: Value,
        b: Value,
        carry: Option<Value>,
        ty: Type,
        carries_out: bool,
    ) -> (Lanes, Lanes) {
        let (x, y) = (self.lanes(a), self.lanes(b));
        let carry: Option<Lanes> = carry.map(|carry| {
            if ty.bits() == 64 {
                self.mask_longs(carry).into_iter().collect()
            } else {
                self.mask_words(carry).into_iter().collect()
            }
        });
        let (mut sums, mut carries) = (Lanes::new(), Lanes::new());
        for part in 0..parts(ty) {
            let plain = self.b.ins().iadd(x[part], y[part]);
            let plain = int::narrow(self.b, ty, plain, true);
            let sum = match &carry {
                // A lane of ones is -1.
                Some(carry) => {
                    let sum = self.b.ins().isub(plain, carry[part]);
                    int::narrow(self.b, ty, sum, true)
                }
                None => plain,
            };
            sums.push(sum);
            if carries_out {
                let mut out = int::compare_vector(self.b, crate::ir::IntCc::LtU, ty, plain, x[part]);
                if let Some(carry) = &carry {
                    let ones = constant(self.b, ty, ty.bit_mask(), true);
                    let full = self.b.ins().icmp(IntCC::Equal, plain, ones);
                    let wraps = self.b.ins().band(full, carry[part]);
                    out = self.b.ins().bor(out, wraps);
                }
                carries.push(out);
            }
        }
        (sums, carries)
    }
}

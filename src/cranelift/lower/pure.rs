//! Operations without effect on the lanes of a chunk.

use std::collections::hash_map::Entry;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif};
use smallvec::SmallVec;
use warploom_analysis::Class;
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Round, Special, Type, UnaryOp, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::element::{LANES, Wanted};
use super::full_warp::InMemory;
use super::int::{self, ShiftCount, constant};
use super::masks::mask_form;
use super::{float, vector};
use crate::forms::{Lanes, clif_type, parts};

impl BlockLowerer<'_, '_, '_> {
    /// Returns the lanes of a pure operation's first result.
    pub(super) fn pure_lanes(&mut self, inst: &Inst) -> Lanes {
        self.in_order(inst, |lowerer| lowerer.lanes_of_operands(inst))
    }

    fn lanes_of_operands(&mut self, inst: &Inst) -> Lanes {
        let result = inst.results[0];
        let wanted = self.wanted(result);
        let to = wanted.ty;
        let arithmetic = matches!(inst.op, Op::FUnary { .. } | Op::FBinary { .. } | Op::Fma { .. });
        let late = self.scope.mode.settled().is_some() && arithmetic && to != Type::F16;
        let now = Wanted { canonical: wanted.canonical && !late, ..wanted };
        let lanes = match self.whole_lanes(inst, now) {
            Some(lanes) => lanes,
            None => self.part_by_part(&inst.op, now),
        };
        if wanted.canonical && late { self.canonical_lanes(to, lanes) } else { lanes }
    }

    /// Makes NaNs canonical in cold code, if there are any.
    fn canonical_lanes(&mut self, ty: Type, lanes: Lanes) -> Lanes {
        let clif = clif_type(ty, true);
        // The code below uses the lanes more than once. Cranelift does not fold a load into an
        // instruction if another use of the result might make it fold the load again. Block
        // parameters hide the uses.
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
        let nan = self.facts.function.nan.canonical(ty);
        let mended =
            lanes.iter().map(|&v| BlockArg::Value(float::canonical(self.b, ty, nan, v, true)));
        let mended: Vec<BlockArg> = mended.collect();
        self.b.ins().jump(done, &mended);
        self.b.switch_to_block(done);
        results
    }

    /// Emits operations whose vectors are not made one for one from their operands' vectors.
    fn whole_lanes(&mut self, inst: &Inst, wanted: Wanted) -> Option<Lanes> {
        let to = wanted.ty;
        Some(match inst.op {
            Op::Special(Special::Tid(axis)) => self.tid_lanes(axis),
            Op::Binary { op: op @ (BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS), a, b }
                if self.scope.classes.get(b) == Class::Uniform =>
            {
                let count = match self.facts.constant(b) {
                    Some(n) => ShiftCount::Constant(n),
                    None => ShiftCount::Scalar(self.scalar(b)),
                };
                let lanes = self.lanes(a);
                let count = &count;
                lanes.iter().map(|&x| int::shift_vector(self.b, op, to, x, count)).collect()
            }
            Op::Binary { op: BinaryOp::RotL, a, b }
                if self.scope.classes.get(b) == Class::Uniform =>
            {
                let (lanes, count) = (self.lanes(a), self.scalar(b));
                lanes.iter().map(|&x| int::rotate(self.b, to, x, count)).collect()
            }
            Op::Select { mask, a, b } => self.selected(mask, a, b, to),
            Op::Convert { op, a, .. } if op != ConvertOp::Bitcast => {
                let from = self.facts.ty(a);
                let lanes = self.lanes(a);
                self.convert_lanes(op, from, to, &lanes)
            }
            Op::Concat { lo, hi } => {
                let (lo, hi) = (self.lanes(lo), self.lanes(hi));
                vector::interleave(self.b, &lo, &hi).into_iter().collect()
            }
            Op::FConvert { attrs, a, .. } => {
                let from = self.facts.ty(a);
                let lanes = self.lanes(a);
                self.fconvert_lanes(attrs, from, wanted, &lanes)
            }
            Op::Shared { function, a } if !function.is_vector_by_vector() => {
                let lanes = self.lanes(a);
                self.shared(function, &lanes, true)
            }
            Op::AddCarry { a, b, carry } => {
                let [_, out] = inst.results[..] else { unreachable!("a sum and a carry") };
                let is_needed = self.facts.uses[out] > 0 && self.is_still_needed(out);
                let (sum, carries) = self.add_carry(a, b, carry, to, is_needed);
                if is_needed && let Entry::Vacant(carry_out) = self.chunk().masks.entry(out) {
                    carry_out.insert(mask_form(carries));
                    self.drop_lanes_past_warp(out);
                }
                sum
            }
            Op::IntToFloat { signed, round, a, .. } => {
                let from = self.facts.ty(a);
                let lanes = self.lanes(a);
                return self.ints_to_floats(signed, round, (from, to), &lanes);
            }
            Op::FloatToInt { signed, round, flush, nan, a, .. } if to.bits() <= 32 => {
                let from = self.facts.ty(a);
                let lanes = self.lanes(a);
                let inputs: Lanes =
                    lanes.iter().map(|&x| self.compared(from, flush, x, true)).collect();
                let to = (to, signed);
                match from {
                    Type::F64 => inputs
                        .chunks(2)
                        .map(|pair| self.words_of_doubles(to, round, nan, pair))
                        .collect(),
                    _ => inputs
                        .iter()
                        .map(|&x| self.ints_of_floats(to, round, nan, x, true))
                        .collect(),
                }
            }
            Op::Fma { attrs, a, b, c } if to == Type::F64 && attrs.round != Round::Nearest => {
                let args = [a, b, c].map(|v| self.lanes(v));
                self.directed_fma(attrs, &args, wanted.canonical, true)
            }
            _ => return None,
        })
    }

    /// Returns lanes of `a` where a mask is set, and of `b` elsewhere.
    fn selected(&mut self, mask: Value, a: Value, b: Value, to: Type) -> Lanes {
        if let Some(full) = self.settled_in_chunk(mask) {
            return self.lanes(if full { a } else { b });
        }
        // A mask need not be made if its complement is there.
        let known = |lowerer: &mut Self, mask| lowerer.chunk().masks.contains_key(&mask);
        if let Op::Unary { op: UnaryOp::Not, a: complement } = *self.facts.def_op(mask)
            && known(self, complement)
            && !known(self, mask)
        {
            return self.select_lanes(complement, b, a, to);
        }
        if let Some(lanes) = self.skipping_an_arm(mask, a, b, to) {
            return lanes;
        }
        self.select_lanes(mask, a, b, to)
    }

    /// Emits operations that make each vector from their operands' vectors.
    fn part_by_part(&mut self, op: &Op, wanted: Wanted) -> Lanes {
        let to = wanted.ty;
        let operands = op.operands();
        // A vector that is loaded just before its use may become part of the using instruction.
        let in_memory: SmallVec<[Option<InMemory>; 3]> = operands
            .iter()
            .map(|&v| if self.may_be_in_memory(op, v, to) { self.in_memory(v) } else { None })
            .collect();
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
            match self.element(op, &part_args, wanted, true) {
                Some(v) => result.push(v),
                None => {
                    let args: Vec<Lanes> = operands.iter().map(|&v| self.lanes(v)).collect();
                    return self.take_apart(op, &operands, &args, wanted);
                }
            }
        }
        for in_memory in in_memory.into_iter().flatten() {
            self.chunk().put_off.remove(&in_memory.value);
        }
        result
    }

    /// Returns whether a vector may be a memory operand of an operation. The host must have the
    /// operation for vectors.
    fn may_be_in_memory(&self, op: &Op, v: Value, to: Type) -> bool {
        let arithmetic = matches!(op, Op::FBinary { .. } | Op::Fma { .. } | Op::Binary { .. });
        arithmetic && self.scope.mode.settled().is_some() && parts(self.facts.ty(v)) == parts(to)
    }

    /// Emits an operation lane by lane, on scalars.
    fn take_apart(&mut self, op: &Op, operands: &[Value], args: &[Lanes], wanted: Wanted) -> Lanes {
        let to = wanted.ty;
        let per_part = LANES / parts(to);
        let mut result = self.zero_lanes(to);
        for lane in 0..LANES {
            let scalars: Vec<Clif> = operands
                .iter()
                .zip(args)
                .map(|(&v, lanes)| {
                    let width = LANES / parts(self.facts.ty(v));
                    self.b.ins().extractlane(lanes[lane / width], (lane % width) as u8)
                })
                .collect();
            let v = self.pure_scalar(op, &scalars, wanted);
            let part = &mut result[lane / per_part];
            *part = self.b.ins().insertlane(*part, v, (lane % per_part) as u8);
        }
        result
    }

    /// Returns the lanes of a sum, and the lanes of the carry out if they are needed.
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
                let mut out =
                    int::compare_vector(self.b, warploom_ir::IntCc::LtU, ty, plain, x[part]);
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

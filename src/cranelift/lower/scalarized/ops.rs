//! Operations of one lane, as scalars.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use rustc_hash::FxHashMap;
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Type, UnaryOp, Value, ValueType};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::register_loop::RegisterLoop;
use super::super::{float, int, vector};
use super::loads::LoadRun;
use crate::forms::clif_type;

/// The values of a lane in a round.
#[derive(Clone)]
pub struct Lane {
    /// The lane's number, `i64`.
    pub number: Clif,
    /// The host addresses of streams, by the index of the load, and constants to add to them.
    pub hosts: FxHashMap<usize, (Clif, i64)>,
    /// The places of all other loads.
    pub places: FxHashMap<usize, LoadRun>,
    /// The values. A lane's bits of masks are `i8`, 0 or 1.
    pub values: FxHashMap<Value, Clif>,
    /// Words that are kept as floats with the same bits, or as `i64`.
    pub floats: FxHashMap<Value, Clif>,
    pub wide: FxHashMap<Value, Clif>,
    /// 64-bit values by their halves.
    pub pairs: FxHashMap<(Value, Value), Clif>,
}

impl Lane {
    pub fn new(number: Clif) -> Lane {
        Lane {
            number,
            hosts: FxHashMap::default(),
            places: FxHashMap::default(),
            values: FxHashMap::default(),
            floats: FxHashMap::default(),
            wide: FxHashMap::default(),
            pairs: FxHashMap::default(),
        }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns a lane's bit of a mask of the warp.
    pub(in super::super) fn bit_of(&mut self, mask: Clif, number: Clif) -> Clif {
        let low = self.b.ins().ushr(mask, number);
        let low = self.b.ins().ireduce(types::I8, low);
        self.b.ins().band_imm_u(low, 1)
    }

    /// Returns a mask of the warp with `bit` as a lane's bit.
    pub(in super::super) fn with_bit(&mut self, mask: Clif, number: Clif, bit: Clif) -> Clif {
        let one = self.b.ins().iconst(types::I64, 1);
        let place = self.b.ins().ishl(one, number);
        let others = self.b.ins().band_not(mask, place);
        let wide = self.b.ins().uextend(types::I64, bit);
        let bit = self.b.ins().ishl(wide, number);
        self.b.ins().bor(others, bit)
    }

    pub(in super::super) fn lane_value(&mut self, lane: &Lane, v: Value) -> Clif {
        if let Some(&value) = lane.values.get(&v) {
            value
        } else if let Some(&float) = lane.floats.get(&v) {
            vector::cast(self.b, types::I32, float)
        } else if let Some(&wide) = lane.wide.get(&v) {
            self.b.ins().ireduce(types::I32, wide)
        } else {
            self.scalar(v)
        }
    }

    pub(in super::super) fn lane_bit(&mut self, lane: &Lane, v: Value) -> Clif {
        match lane.values.get(&v) {
            Some(&bit) => bit,
            None => {
                let mask = self.scalar(v);
                self.bit_of(mask, lane.number)
            }
        }
    }

    /// Returns a value as `i64`; a word is zero-extended.
    pub(in super::super) fn lane_long(&mut self, lane: &Lane, v: Value) -> Clif {
        if let Some(&wide) = lane.wide.get(&v) {
            return wide;
        }
        let value = self.lane_value(lane, v);
        if self.facts.ty(v) == Type::I64 { value } else { self.b.ins().uextend(types::I64, value) }
    }

    /// Computes a value that is equal in every round, and all values that it is made of.
    pub(super) fn unchanging(&mut self, register_loop: &RegisterLoop, lane: &mut Lane, v: Value) {
        let index = self.facts.planned.defs[v].0;
        if lane.values.contains_key(&v) || !self.is_done_by_lanes(register_loop, index) {
            return;
        }
        match self.facts.block.insts[index].op {
            Op::RfRead { reg, .. } if register_loop.masks.contains_key(&reg) => {
                let bit =
                    self.b.ins().iconst(types::I8, i64::from(reg == self.facts.function.active));
                lane.values.insert(v, bit);
            }
            Op::RfRead { reg, .. } => {
                let (base, offset) = self.cell_of(lane.number, reg);
                let ty = clif_type(self.facts.ty(v), false);
                let cell = self.b.ins().load(ty, flags(), base, offset);
                lane.values.insert(v, cell);
            }
            Op::LaneId => {
                let number = self.b.ins().ireduce(types::I32, lane.number);
                lane.values.insert(v, number);
            }
            ref op => {
                op.operands()
                    .into_iter()
                    .for_each(|operand| self.unchanging(register_loop, lane, operand));
                self.lane_op(lane, index);
            }
        }
    }

    /// Whether [`Self::lane_op`] can compute an operation.
    pub(in super::super) fn is_lane_op(&self, op: &Op, result: Value) -> bool {
        if self.facts.block.ty(result) == ValueType::MASK {
            return match op {
                Op::Binary { op, .. } => matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor),
                Op::Unary { op, .. } => *op == UnaryOp::Not,
                _ => matches!(op, Op::ICmp { .. } | Op::FCmp { .. }),
            };
        }
        // A number from a mask needs all lanes, and special functions are computed for chunks.
        let is_of_chunks = matches!(
            op,
            Op::Convert { op: ConvertOp::FromMask, .. }
                | Op::Shared { .. }
                | Op::Special(_)
                | Op::Unpack { .. }
                | Op::Pack { .. }
        );
        op.traits().lane_wise && !is_of_chunks
    }

    /// Emits an instruction other than a load.
    pub(in super::super) fn lane_op(&mut self, lane: &mut Lane, index: usize) {
        let inst = &self.facts.block.insts[index];
        let result = inst.results[0];
        let value = if self.facts.block.ty(result) == ValueType::MASK {
            self.lane_mask(lane, inst)
        } else {
            match inst.op {
                Op::Convert { op: ConvertOp::Bitcast, to: Type::F32, a }
                    if lane.floats.contains_key(&a) =>
                {
                    lane.floats[&a]
                }
                Op::Convert { op: ConvertOp::ZeroExtend, to: Type::I64, a }
                    if lane.wide.contains_key(&a) =>
                {
                    lane.wide[&a]
                }
                Op::Concat { lo, hi } if lane.pairs.contains_key(&(lo, hi)) => {
                    lane.pairs[&(lo, hi)]
                }
                Op::Select { mask, a, b } => {
                    let bit = self.lane_bit(lane, mask);
                    let (a, b) = (self.lane_value(lane, a), self.lane_value(lane, b));
                    self.b.ins().select(bit, a, b)
                }
                Op::AddCarry { a, b, carry } => {
                    let (sum, out) = self.lane_sum(lane, (a, b), carry);
                    lane.values.insert(inst.results[1], out);
                    sum
                }
                ref op => {
                    let args: Vec<Clif> =
                        op.operands().iter().map(|&v| self.lane_value(lane, v)).collect();
                    self.pure_scalar(op, &args, self.wanted(result))
                }
            }
        };
        lane.values.insert(result, value);
    }

    fn lane_mask(&mut self, lane: &Lane, inst: &Inst) -> Clif {
        match inst.op {
            Op::ICmp { cc, a, b } => {
                let (x, y) = (self.lane_value(lane, a), self.lane_value(lane, b));
                int::compare_bit(self.b, cc, self.facts.ty(a), x, y)
            }
            Op::FCmp { cc, a, b, flush } => {
                let ty = self.facts.ty(a);
                let [x, y] = [a, b].map(|v| {
                    let v = self.lane_value(lane, v);
                    self.compared(ty, flush, v, false)
                });
                float::compare(self.b, cc, x, y)
            }
            Op::Unary { op: UnaryOp::Not, a } => {
                let bit = match *self.facts.def_op(a) {
                    Op::ICmp { cc, a, b } if self.is_home(a) || self.is_home(b) => {
                        let (x, y) = (self.lane_value(lane, a), self.lane_value(lane, b));
                        return int::compare_bit(self.b, cc.inverse(), self.facts.ty(a), x, y);
                    }
                    _ => self.lane_bit(lane, a),
                };
                self.b.ins().bxor_imm_u(bit, 1)
            }
            // A lane in the loop is active.
            Op::Binary { op: BinaryOp::And, a, b } if self.reads(a, self.facts.function.active) => {
                self.lane_bit(lane, b)
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.reads(b, self.facts.function.active) => {
                self.lane_bit(lane, a)
            }
            Op::Binary { op, a, b } => {
                let (x, y) = (self.lane_bit(lane, a), self.lane_bit(lane, b));
                match op {
                    BinaryOp::And => self.b.ins().band(x, y),
                    BinaryOp::Or => self.b.ins().bor(x, y),
                    _ => self.b.ins().bxor(x, y),
                }
            }
            ref op => unreachable!("no mask form of {op:?}"),
        }
    }

    /// Returns the sum and the carry.
    fn lane_sum(
        &mut self,
        lane: &Lane,
        (a, b): (Value, Value),
        carry: Option<Value>,
    ) -> (Clif, Clif) {
        let ty = self.facts.ty(a);
        let (x, y) = (self.lane_value(lane, a), self.lane_value(lane, b));
        let sum = self.b.ins().iadd(x, y);
        let sum = int::narrow(self.b, ty, sum, false);
        let out = self.b.ins().icmp(IntCC::UnsignedLessThan, sum, x);
        let Some(carry) = carry else { return (sum, out) };
        let carry = self.lane_bit(lane, carry);
        let carry = self.b.ins().uextend(clif_type(ty, false), carry);
        let whole = self.b.ins().iadd(sum, carry);
        let whole = int::narrow(self.b, ty, whole, false);
        let wraps = self.b.ins().icmp(IntCC::UnsignedLessThan, whole, sum);
        (whole, self.b.ins().bor(out, wraps))
    }
}

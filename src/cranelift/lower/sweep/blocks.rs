//! The warps and blocks that a sweep reaches, and the instructions that they count.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use rustc_hash::{FxHashMap, FxHashSet};
use warploom_analysis::{Sweep, visit};
use warploom_engine::abi;
use warploom_ir::{BinaryOp, Op, Special, Type, Value};

use super::super::block::BlockLowerer;
use super::super::int;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Returns how many blocks after this block the call may go on to, `i64`.
    pub(super) fn following_blocks(&mut self) -> Clif {
        let (this, end) =
            (self.ctx_load(types::I32, abi::CTAID), self.ctx_load(types::I32, abi::ROW_END));
        let after = self.b.ins().isub(end, this);
        let after = self.b.ins().iadd_imm_s(after, -1);
        self.b.ins().uextend(types::I64, after)
    }

    /// Returns whether the lanes of the next block continue the even spacing of this block's lanes,
    /// for all joints.
    pub(super) fn runs_on(&mut self, joints: &[Value]) -> Clif {
        let width = self.ctx_load(types::I32, abi::NTID);
        let mut all = self.b.ins().iconst(types::I8, 1);
        let distances = self.distances_to_next_block(joints);
        for &joint in joints {
            let step = self.scope.classes.get(joint).stride().expect("a joint is evenly spaced");
            let wide = self.facts.ty(joint) == Type::I64;
            let width = if wide { self.b.ins().uextend(types::I64, width) } else { width };
            let expected = self.b.ins().imul_imm_s(width, step);
            let runs_on = match distances.get(&joint) {
                Some(&by) => self.b.ins().icmp(IntCC::Equal, by, expected),
                None => self.b.ins().icmp_imm_u(IntCC::Equal, expected, 0),
            };
            all = self.b.ins().band(all, runs_on);
        }
        all
    }

    /// Returns how much greater lane 0 of the values is in the next block, and lane 0 of all values
    /// that they are made of. Values that are equal in both blocks are left out.
    fn distances_to_next_block(&mut self, of: &[Value]) -> FxHashMap<Value, Clif> {
        let mut distances = FxHashMap::default();
        for v in self.made_of(of) {
            if let Some(by) = self.distance_to_next_block(v, &distances) {
                distances.insert(v, by);
            }
        }
        distances
    }

    /// Returns the values and all values that they are made of, in the block's order.
    fn made_of(&self, values: &[Value]) -> Vec<Value> {
        let mut open = values.to_vec();
        let mut all = FxHashSet::default();
        while let Some(v) = open.pop() {
            visit();
            if all.insert(v) {
                match *self.facts.def_op(v) {
                    Op::Splat { a } | Op::Convert { a, .. } | Op::Unary { a, .. } => open.push(a),
                    Op::Binary { a, b, .. } => open.extend([a, b]),
                    _ => {}
                }
            }
        }
        let mut all: Vec<Value> = all.into_iter().collect();
        all.sort_unstable_by_key(|&v| self.facts.planned.defs[v].0);
        all
    }

    /// Returns how much greater lane 0 of a value is in the next block, from the distances of its
    /// operands. Returns `None` if it is equal there.
    fn distance_to_next_block(
        &mut self,
        v: Value,
        distances: &FxHashMap<Value, Clif>,
    ) -> Option<Clif> {
        let clif = if self.facts.ty(v) == Type::I64 { types::I64 } else { types::I32 };
        let distance = |v: Value| distances.get(&v).copied();
        match *self.facts.def_op(v) {
            Op::Special(Special::Ctaid(0)) => Some(self.b.ins().iconst(clif, 1)),
            Op::Splat { a } => distance(a),
            // It converts the block's number, which does not wrap.
            Op::Convert { a, .. } => {
                let by = distance(a)?;
                let from = self.b.func.dfg.value_type(by);
                Some(match () {
                    () if from == clif => by,
                    () if clif == types::I64 => self.b.ins().uextend(types::I64, by),
                    () => self.b.ins().ireduce(types::I32, by),
                })
            }
            Op::Unary { a, .. } => distance(a).map(|by| self.b.ins().ineg(by)),
            Op::Binary { op, a, b } => match (op, distance(a), distance(b)) {
                (_, None, None) => None,
                (BinaryOp::Sub, Some(x), Some(y)) => Some(self.b.ins().isub(x, y)),
                (BinaryOp::Sub, None, Some(y)) => Some(self.b.ins().ineg(y)),
                (BinaryOp::Add, Some(x), Some(y)) => Some(self.b.ins().iadd(x, y)),
                (BinaryOp::Add | BinaryOp::Sub, by, None) | (BinaryOp::Add, None, by) => by,
                (BinaryOp::Shl, Some(x), _) => {
                    let by = self.facts.constant(b).expect("shifted by a constant");
                    Some(int::shifted_up(self.b, x, by as i64))
                }
                (_, Some(x), _) => {
                    let by = self.warp_base(b, None);
                    Some(self.b.ins().imul(x, by))
                }
                (_, _, Some(y)) => {
                    let by = self.warp_base(a, None);
                    Some(self.b.ins().imul(y, by))
                }
            },
            _ => None,
        }
    }

    /// Returns the instruction count after `warps` more warps. Goes to `slow` if the limit is
    /// lower.
    pub(super) fn paid(&mut self, warps: Clif, slow: ClifBlock) -> Clif {
        let after = self.cost_of(warps);
        let limit = self.ctx_load(types::I64, abi::INSTRUCTION_LIMIT);
        let paid = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, after, limit);
        self.require(paid, slow);
        after
    }

    pub(super) fn cost_of(&mut self, warps: Clif) -> Clif {
        let cost = self.b.ins().imul_imm_s(warps, i64::from(self.facts.block.cost));
        let before = self.ctx_load(types::I64, abi::INSTRUCTIONS);
        self.b.ins().iadd(before, cost)
    }

    /// Stores the instruction count, and adds the instructions of `lanes` lanes to the lane count.
    pub(super) fn count_swept(&mut self, instructions: Clif, lanes: Clif) {
        self.ctx_store(instructions, abi::INSTRUCTIONS);
        let cost = self.b.ins().imul_imm_s(lanes, i64::from(self.facts.block.cost));
        let total = self.ctx_load(types::I64, abi::LANE_INSTRUCTIONS);
        let total = self.b.ins().iadd(total, cost);
        self.ctx_store(total, abi::LANE_INSTRUCTIONS);
    }

    /// Moves on to the warp that is `count` after `warp`, perhaps in a later block.
    pub(super) fn move_on(&mut self, sweep: &Sweep, warp: Clif, count: Clif) {
        let count = self.b.ins().ireduce(types::I32, count);
        let mut to = self.b.ins().iadd(warp, count);
        if sweep.joints.is_some() {
            let warps = self.ctx_load(types::I32, abi::WARPS);
            let blocks = self.b.ins().udiv(to, warps);
            let before = self.b.ins().imul(blocks, warps);
            to = self.b.ins().isub(to, before);
            let this = self.ctx_load(types::I32, abi::CTAID);
            let block = self.b.ins().iadd(this, blocks);
            self.ctx_store(block, abi::CTAID);
        }
        self.ctx_store(to, abi::WARP);
    }
}

//! Segments whose lanes run one after another.
//!
//! Chunks of a segment run one after another, since no code sees that they are not in lockstep. For
//! the same reason, single lanes may run one by one. Vectors gain nothing from accesses whose lanes
//! are apart, and after divergence most lanes of a chunk are idle. So a segment with such accesses
//! has a second form, a scalar loop over its active lanes. Code takes the loop if few lanes are
//! active.

mod accesses;

use accesses::LaneAccesses;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use rustc_hash::FxHashSet;
use warploom_analysis::{Class, visit};
use warploom_ir::{Access, Inst, Op, Reg, Space, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::scalarized::Lane;
use super::segment::Outgoing;
use crate::forms::clif_type;
use crate::tuning;

impl BlockLowerer<'_, '_, '_> {
    /// Returns the mask of a segment's active lanes, and the greatest number of them that run one
    /// by one. Returns `None` if they never do.
    pub(super) fn few_lanes(&self, insts: &[usize]) -> Option<(Value, i64)> {
        let active = self.skippable().filter(|_| self.region.effort.is_fast())?;
        let block = &self.facts.block.insts;
        let (mut together, mut apart) = (0, 0);
        for &index in insts {
            let (all, one) = self.costs(&block[index]);
            together += all * self.facts.chunk_count();
            apart += one;
        }
        let accesses = || insts.iter().filter_map(|&index| block[index].op.access());
        if accesses().count() > tuning::MOST_ACCESSES_APART
            || !accesses().any(|access| self.is_apart(access))
        {
            return None;
        }
        let most = (together / apart.max(1)).min(i64::from(self.facts.function.lanes));
        let mut given = FxHashSet::default();
        let has_form = |index: &usize| {
            let inst = &block[*index];
            self.has_lane_form(inst)
                && inst.op.operands().into_iter().all(|v| self.can_be_given(v, &mut given))
        };
        let worth_it = most * tuning::LEAST_SHARE_APART >= i64::from(self.facts.function.lanes);
        (worth_it && insts.iter().all(has_form)).then_some((active, most))
    }

    fn is_apart(&self, access: &Access) -> bool {
        self.scope.classes.get(access.address) == Class::Varying
    }

    /// Returns the host instructions that an instruction takes, for a chunk and for a lane.
    fn costs(&self, inst: &Inst) -> (i64, i64) {
        match inst.op.access() {
            Some(access) if self.is_apart(access) => match access.space {
                Space::Global => tuning::GLOBAL_APART,
                _ => tuning::LOCAL_APART,
            },
            Some(_) => tuning::TOGETHER,
            None => tuning::COMPUTED,
        }
    }

    /// Returns whether an instruction has code for one lane.
    fn has_lane_form(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::Load { access, sparse: false, .. } | Op::Store { access, sparse: false, .. } => {
                let words = self.facts.ty(access.address) == Type::I32;
                access.guard.is_some()
                    && match access.space {
                        Space::Global => !words,
                        Space::Local | Space::Shared => words,
                        _ => false,
                    }
            }
            Op::RfRead { .. } | Op::RfWrite { .. } => true,
            ref op => self.is_lane_op(op, inst.results[0]),
        }
    }

    /// Returns whether a lane of a value is available in the segment, or can be recomputed.
    fn can_be_given(&self, v: Value, given: &mut FxHashSet<Value>) -> bool {
        visit();
        let there = self.is_home(v) || self.facts.planned.slots.is_stored(v);
        if there || given.contains(&v) {
            return true;
        }
        // Masks that another segment computes need not be in a register.
        if self.facts.block.ty(v).is_uniform() {
            return self.scope.scalars[v].is_some();
        }
        let op = self.facts.def_op(v);
        let can = matches!(op, Op::RfRead { .. })
            || (self.is_lane_op(op, v)
                && op.operands().into_iter().all(|v| self.can_be_given(v, given)));
        if can {
            given.insert(v);
        }
        can
    }

    /// Lowers a segment as a loop over its active lanes, in ascending order. Returns the masks that
    /// later steps use.
    pub(super) fn lanes_one_by_one(
        &mut self,
        insts: &[usize],
        outgoing: &[Outgoing],
        active: Value,
    ) -> Vec<Clif> {
        let lanes = self.scalar(active);
        let places = self.places_of_lanes(insts);
        let [head, exit] = [(); 2].map(|()| self.b.create_block());
        let left = self.b.append_block_param(head, types::I64);
        let before: Vec<Clif> =
            outgoing.iter().map(|_| self.b.append_block_param(head, types::I64)).collect();
        let after: Vec<Clif> =
            outgoing.iter().map(|_| self.b.append_block_param(exit, types::I64)).collect();
        let outside: Vec<BlockArg> =
            outgoing.iter().map(|out| BlockArg::Value(out.outside)).collect();
        let first: Vec<BlockArg> =
            std::iter::once(BlockArg::Value(lanes)).chain(outside.iter().copied()).collect();
        self.b.ins().brif(lanes, head, &first, exit, &outside);

        self.b.switch_to_block(head);
        let number = self.b.ins().ctz(left);
        let mut lane = Lane::new(number);
        self.segment_of_lane(insts, active, &mut lane, &places);
        let masks = outgoing.iter().zip(before).map(|(out, before)| {
            let bit = self.lane_bit(&lane, out.value);
            BlockArg::Value(self.with_bit(before, number, bit))
        });
        let masks: Vec<BlockArg> = masks.collect();
        let rest = self.without_first(left);
        let next: Vec<BlockArg> =
            std::iter::once(BlockArg::Value(rest)).chain(masks.iter().copied()).collect();
        self.b.ins().brif(rest, head, &next, exit, &masks);
        self.b.switch_to_block(exit);
        after
    }

    fn segment_of_lane(
        &mut self,
        insts: &[usize],
        active: Value,
        lane: &mut Lane,
        places: &LaneAccesses,
    ) {
        let block = &self.facts.block.insts;
        for &index in insts {
            if let Op::RfWrite { reg, .. } = block[index].op {
                self.read_of_lane_before_write(reg, lane);
            }
        }
        for &index in insts {
            let inst = &block[index];
            inst.op.for_each_operand(|v| self.give(lane, v));
            match inst.op {
                Op::RfRead { .. } => self.give(lane, inst.results[0]),
                Op::RfWrite { reg, value, guard, .. } => {
                    self.write_cell(lane, reg, value, guard, active)
                }
                Op::Load { .. } | Op::Store { .. } => {
                    self.access_of_lane(lane, index, active, places)
                }
                Op::LaneId => self.give_again(lane, inst.results[0]),
                _ => self.lane_op(lane, index),
            }
            for &result in &inst.results {
                let varies = !self.facts.block.ty(result).is_uniform();
                if varies && self.escapes(result) && self.facts.planned.slots.is_stored(result) {
                    let v = self.lane_value(lane, result);
                    let (at, offset) = self.slot_of_lane(lane, result);
                    self.b.ins().store(flags(), v, at, offset);
                }
            }
        }
    }

    /// Loads a lane's cell of a register that the segment writes, if later code may use the old
    /// value.
    fn read_of_lane_before_write(&mut self, reg: Reg, lane: &mut Lane) {
        for inst in &self.facts.block.insts {
            if matches!(inst.op, Op::RfRead { reg: read, .. } if read == reg)
                && (self.is_home(inst.results[0])
                    || !self.facts.planned.slots.is_stored(inst.results[0]))
            {
                self.give_again(lane, inst.results[0]);
            }
        }
    }

    /// Makes a lane's value available.
    fn give(&mut self, lane: &mut Lane, v: Value) {
        if lane.values.contains_key(&v) {
            return;
        }
        if self.facts.block.ty(v).is_uniform() {
            // A scalar must not be computed where only some paths lead to it. (A mask of the
            // segment itself is not a scalar before all lanes are done.)
            if !self.is_home(v) {
                self.scalar(v);
            }
            return;
        }
        if self.is_home(v) || !self.facts.planned.slots.is_stored(v) {
            return self.give_again(lane, v);
        }
        let (at, offset) = self.slot_of_lane(lane, v);
        let value = self.b.ins().load(clif_type(self.facts.ty(v), false), flags(), at, offset);
        lane.values.insert(v, value);
    }

    /// Recomputes a lane's value from its definition.
    fn give_again(&mut self, lane: &mut Lane, v: Value) {
        let value = match *self.facts.def_op(v) {
            Op::RfRead { reg, .. } => {
                let (at, offset) = self.cell_of(lane.number, reg);
                self.b.ins().load(clif_type(self.facts.ty(v), false), flags(), at, offset)
            }
            Op::LaneId => self.b.ins().ireduce(types::I32, lane.number),
            ref op => {
                op.for_each_operand(|v| self.give(lane, v));
                return self.lane_op(lane, self.facts.planned.defs[v].0);
            }
        };
        lane.values.insert(v, value);
    }

    /// Returns the address of a lane's cell in a value's slot: a base and an offset.
    fn slot_of_lane(&mut self, lane: &Lane, v: Value) -> (Clif, i32) {
        let shift = self.facts.ty(v).cell_bytes().trailing_zeros();
        let at = self.b.ins().ishl_imm_u(lane.number, i64::from(shift));
        (self.b.ins().iadd(self.registers, at), self.facts.planned.slots.row(v) as i32)
    }

    fn write_cell(
        &mut self,
        lane: &Lane,
        reg: Reg,
        value: Value,
        guard: Option<Value>,
        active: Value,
    ) {
        let mut v = self.lane_value(lane, value);
        let (at, offset) = self.cell_of(lane.number, reg);
        if let Some(guard) = guard.filter(|&guard| guard != active) {
            let bit = self.lane_bit(lane, guard);
            let ty = clif_type(self.lane_type(reg), false);
            let old = self.b.ins().load(ty, flags(), at, offset);
            v = self.b.ins().select(bit, v, old);
        }
        self.b.ins().store(flags(), v, at, offset);
    }

    /// Returns the values that a segment's accesses share for all lanes.
    fn places_of_lanes(&mut self, insts: &[usize]) -> LaneAccesses {
        let accesses = insts
            .iter()
            .filter_map(|&index| Some((index, *self.facts.block.insts[index].op.access()?)));
        let accesses: Vec<(usize, Access)> = accesses.collect();
        let is_global = |(_, access): &&(usize, Access)| access.space == Space::Global;
        let are_held = accesses.iter().filter(is_global).count() <= tuning::MOST_RUNS_HELD;
        let mut places = LaneAccesses::default();
        for (index, access) in &accesses {
            if access.space == Space::Global {
                let reach = self.reach_of_lanes(*index, access, are_held);
                places.reaches.insert(*index, reach);
            } else {
                self.add_memory(&mut places, access);
            }
        }
        places
    }

    /// Returns a condition for `brif`: whether at most `most` lanes are active.
    pub(super) fn are_few(&mut self, active: Value, most: i64) -> Clif {
        let lanes = self.scalar(active);
        let count = self.b.ins().popcnt(lanes);
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, count, most)
    }
}

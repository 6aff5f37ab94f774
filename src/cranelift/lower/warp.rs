//! Operations on the whole warp: cross-lane reads, and stores of their operands to memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_analysis::{Class, Step};
use warploom_ir::{Op, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use crate::forms::clif_type;

impl BlockLowerer<'_, '_, '_> {
    /// Stores operands that no segment has stored: uniform and affine values, and rows of
    /// registers.
    pub(super) fn settle_slots(&mut self, operands: &[Value]) {
        let mut varying = Vec::new();
        for &v in operands {
            if !self.facts.planned.slots.is_stored(v) {
                continue;
            }
            if self.facts.block.ty(v).is_uniform() {
                let scalar = self.scalar(v);
                let offset = self.facts.planned.slots.row(v) as i32;
                self.b.ins().store(flags(), scalar, self.registers, offset);
            } else if !self.facts.planned.slots.interpreted(v) && !self.stored_by_segment(v) {
                varying.push(v);
            }
        }
        if varying.is_empty() {
            return;
        }
        let zero = self.b.ins().iconst(types::I64, 0);
        self.each_chunk(zero, &[], |lowerer, _| {
            for &v in &varying {
                lowerer.store_slot(v);
            }
            Vec::new()
        });
    }

    /// Returns whether the segment that computes the value has stored it.
    fn stored_by_segment(&self, v: Value) -> bool {
        matches!(
            self.facts.planned.plan.steps.get(self.facts.planned.plan.home[v] as usize),
            Some(Step::Segment(_) | Step::Warp(_))
        )
    }

    /// Returns a lane number modulo the warp, `i64`.
    pub(super) fn wrapped_lane(&mut self, lane: Clif) -> Clif {
        let lanes = i64::from(self.facts.function.lanes);
        let lane = self.b.ins().uextend(types::I64, lane);
        if (lanes as u64).is_power_of_two() {
            self.b.ins().band_imm_u(lane, lanes - 1)
        } else {
            self.b.ins().urem_imm_u(lane, lanes)
        }
    }

    pub(super) fn slot_lane(&mut self, slot: u32, ty: Type, lane: Clif) -> Clif {
        let bytes = self.b.ins().ishl_imm_u(lane, i64::from(ty.cell_bytes().trailing_zeros()));
        let base = if slot == 0 {
            self.registers
        } else {
            self.b.ins().iadd_imm_s(self.registers, i64::from(slot))
        };
        self.b.ins().iadd(base, bytes)
    }

    pub(super) fn warp_inst(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let operands = inst.op.operands();
        self.settle_slots(&operands);
        match inst.op {
            Op::RegionRead { .. } | Op::RegionWrite { .. } => return self.region_inst(inst),
            Op::RfGather { .. } | Op::RfScatter { .. } => return self.indexed_lanes(inst),
            _ => {}
        }
        let result = inst.results[0];
        match inst.op {
            Op::LaneScatter { a, index, lanes } => {
                self.give_lanes(a, index, lanes, self.facts.planned.slots.row(result))
            }
            Op::LaneRead { a, lane } => {
                let lane = self.scalar(lane);
                let lane = self.wrapped_lane(lane);
                let ty = self.facts.ty(a);
                let address = self.slot_lane(self.facts.planned.slots.row(a), ty, lane);
                let v = self.b.ins().load(clif_type(ty, false), flags(), address, 0);
                self.set_scalar(result, v);
            }
            Op::LaneGather { a, index: picks } => {
                let slots = &self.facts.planned.slots;
                let (from, to) = (slots.row(a), slots.row(result));
                match self.facts.planned.sources.get(&index) {
                    Some(sources) => self.exchange(self.facts.ty(a), sources, from, to),
                    None => self.exchange_by(self.facts.ty(a), slots.row(picks), from, to),
                }
            }
            _ => unreachable!("not an operation on the whole warp"),
        }
        debug_assert!(
            self.scope.classes.get(result) != Class::Uniform
                || self.facts.block.ty(result).is_uniform()
        );
    }

    /// Copies lanes of a row. A row of numbers names the source lanes, modulo the warp.
    fn exchange_by(&mut self, ty: Type, picks: u32, from: u32, to: u32) {
        let head = self.b.create_block();
        let exit = self.b.create_block();
        let lane = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        // Four lanes per round keep the loop's own work small.
        let step = if self.facts.function.lanes.is_multiple_of(4) { 4 } else { 1 };
        let cells = [Type::I32, ty].map(|ty| self.slot_lane(0, ty, lane));
        for i in 0..step {
            let at = |row: u32, ty: Type| (row + i as u32 * ty.cell_bytes()) as i32;
            let pick = self.b.ins().load(types::I32, flags(), cells[0], at(picks, Type::I32));
            let source = self.wrapped_lane(pick);
            let source = self.slot_lane(0, ty, source);
            let v = self.b.ins().load(clif_type(ty, false), flags(), source, from as i32);
            self.b.ins().store(flags(), v, cells[1], at(to, ty));
        }
        let next = self.b.ins().iadd_imm_s(lane, step);
        let lanes = i64::from(self.facts.function.lanes);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, lanes);
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], exit, &[]);
        self.b.switch_to_block(exit);
    }
}

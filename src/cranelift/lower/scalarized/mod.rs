//! Loops that every lane runs alone.
//!
//! A loop that stays in a chunk (see [`super::register_loop`]) and loads from scattered places
//! gains nothing from eight lanes at once, and loses where lanes leave it at different times. Here
//! each lane in turn runs it to its end, in scalars. The loop writes no memory, so no lane sees the
//! work of earlier lanes. Only lockstep tells which load would fault first. So if a load cannot
//! reach its address, the registers are restored, and careful code (see [`abi::CAREFUL`]) runs the
//! loop.
//!
//! If a loop counts its rounds, everything about them that can be known is computed before the
//! first round, for eight lanes at once (see [`counted`]). In other loops only the rounds tell how
//! many there are (see [`open`]).

mod ahead;
mod counted;
mod loads;
mod open;
mod ops;
mod rounds;
mod slots;
mod variables;

use cranelift_codegen::ir::{
    InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value as Clif, types,
};
use loads::Ways;
pub(super) use ops::Lane;
use rounds::Rounds;
use slots::Slots;
use warploom_engine::abi;
use warploom_ir::layout::row_bytes;
use warploom_ir::{Access, Inst, Op, Reg, Space, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::register_loop::{Done, RegisterLoop};
use crate::tuning;

impl BlockLowerer<'_, '_, '_> {
    /// Whether lanes should, and can, run a loop with loads alone.
    pub(super) fn is_scalarized(&self, register_loop: &RegisterLoop) -> bool {
        let insts = || register_loop.body.iter().map(|&index| &self.facts.block.insts[index]);
        let scattered = |inst: &Inst| {
            inst.op.access().is_some_and(|access| self.is_scattered(access, register_loop))
        };
        let computes = |inst: &&Inst| {
            !matches!(
                inst.op,
                Op::RfRead { .. } | Op::RfWrite { .. } | Op::Const { .. } | Op::Load { .. }
            )
        };
        self.region.effort.is_fast()
            && insts().any(scattered)
            && insts().all(|inst| self.can_be_scalarized(inst, register_loop))
            && insts().filter(computes).count() <= tuning::OPERATIONS_A_LOAD * register_loop.loads
            && 8 * (register_loop.masks.len() + register_loop.loads + open::SLOTS)
                <= slots::MOST_BYTES
            && register_loop.lanes.keys().map(|&reg| self.row_bytes(reg)).sum::<u32>()
                <= tuning::MOST_SAVED
    }

    /// Whether lanes find the address in memory, in this round or in the round before.
    fn is_scattered(&self, access: &Access, register_loop: &RegisterLoop) -> bool {
        let found_before = |v: Value| match *self.facts.def_op(v) {
            Op::RfRead { reg, .. } => register_loop
                .lanes
                .get(&reg)
                .is_some_and(|&(value, _)| self.comes_from_memory(value)),
            _ => false,
        };
        let mut parts = self.facts.def_op(access.address).operands();
        parts.push(access.address);
        self.looks_scattered(access) || parts.into_iter().any(found_before)
    }

    fn can_be_scalarized(&self, inst: &Inst, register_loop: &RegisterLoop) -> bool {
        match inst.op {
            Op::Load { access, sparse, .. } => {
                let guarded = access
                    .guard
                    .is_some_and(|guard| self.facts.masks().is_subset(guard, register_loop.active));
                access.space == Space::Global
                    && self.facts.ty(access.address) == Type::I64
                    && guarded
                    && !sparse
            }
            Op::RfRead { .. } | Op::RfWrite { .. } => true,
            ref op => inst.results.first().is_some_and(|&result| self.is_lane_op(op, result)),
        }
    }

    fn row_bytes(&self, reg: Reg) -> u32 {
        row_bytes(self.facts.function.lanes, self.lane_type(reg))
    }

    /// Runs the loop for each lane in turn, to its end or for `rounds` rounds. Returns the most
    /// rounds of a lane, the rounds of all lanes together, and the masks.
    pub(super) fn lanes_to_their_end(
        &mut self,
        register_loop: &RegisterLoop,
        old_masks: &[Clif],
        rounds: Clif,
    ) -> Done {
        // Computes operands from outside the segment before control flow splits.
        for &index in &register_loop.body {
            for v in self.facts.block.insts[index].op.operands() {
                if !self.is_home(v) && !register_loop.carried_scalars.contains(&v) {
                    self.scalar(v);
                }
            }
        }
        let at = register_loop
            .masks
            .keys()
            .position(|&reg| reg == self.facts.function.active)
            .expect("the loop writes it");
        let active = old_masks[at];
        match self.counted(register_loop) {
            Some(counted) => self.run_counted(register_loop, &counted, old_masks, active, rounds),
            None => self.run_open(register_loop, old_masks, active, rounds),
        }
    }

    /// Returns the values that are equal in all lanes, computed for one active lane.
    fn first_of_lanes(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        active: Clif,
        slots: &mut Slots,
    ) -> Lane {
        let number = self.b.ins().ctz(active);
        // There may be no active lane.
        let number = self.b.ins().band_imm_u(number, 63);
        let mut lane = Lane::new(number);
        self.prepare(register_loop, rounds, &mut lane, true, slots);
        // Drops operands of these values that differ by lane.
        lane.values.retain(|&v, _| self.is_same(register_loop, v));
        lane
    }

    /// Returns the values that a lane knows before its rounds, besides the values equal in all
    /// lanes.
    fn begin_lane(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        all: &Lane,
        number: Clif,
        slots: &mut Slots,
    ) -> Lane {
        let mut lane = Lane { number, ..all.clone() };
        self.prepare(register_loop, rounds, &mut lane, false, slots);
        lane
    }

    /// Computes values that rounds need and do not change, and places of loads: if `same`, the
    /// values and places that are equal in all lanes, else the rest.
    fn prepare(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        lane: &mut Lane,
        same: bool,
        slots: &mut Slots,
    ) {
        for &v in self.facts.block.insts.iter().flat_map(|inst| &inst.results) {
            if rounds.needs(v)
                && !rounds.changing.contains(&v)
                && self.is_same(register_loop, v) == same
            {
                self.unchanging(register_loop, lane, v);
            }
        }
        for (&index, address) in &rounds.addresses {
            if address.common.iter().all(|&(v, _)| self.is_same(register_loop, v)) == same {
                let access = *self.facts.block.insts[index].op.access().expect("a load");
                let place = self.place_of_lane(register_loop, lane, &access, address, slots);
                lane.places.insert(index, place);
            }
        }
    }

    /// Emits the operations of a round. Its variables have been read.
    fn round(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        lane: &mut Lane,
        ways: Ways,
    ) {
        for early in [true, false] {
            for (index, inst) in self.facts.block.insts.iter().enumerate() {
                match inst.op {
                    Op::RfRead { .. } => {}
                    _ if !rounds.is_due(index, &inst.results, early) => {}
                    Op::Load { .. } => {
                        self.load_of_lane(rounds, lane, index, register_loop.active, ways)
                    }
                    _ => self.lane_op(lane, index),
                }
            }
        }
    }

    /// Copies the rows of registers to a stack slot.
    fn save(&mut self, regs: &[Reg]) -> StackSlot {
        let bytes = regs.iter().map(|&reg| self.row_bytes(reg)).sum();
        let saved = self.b.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            bytes,
            4,
        ));
        self.copy_rows(regs, |lowerer, row, at| {
            let v = lowerer.b.ins().load(types::I64X2, flags(), lowerer.registers, row);
            lowerer.b.ins().stack_store(types::I64, v, saved, at);
        });
        saved
    }

    /// Calls `copy` for each vector of the rows, with its offset in the register file and on the
    /// stack.
    fn copy_rows(&mut self, regs: &[Reg], copy: impl Fn(&mut Self, i32, i32)) {
        let mut at = 0;
        for &reg in regs {
            let row = self.facts.layout.offset(reg) as i32;
            for part in (0..self.row_bytes(reg) as i32).step_by(16) {
                copy(self, row + part, at);
                at += 16;
            }
        }
    }

    /// Restores the registers, and has careful code run the loop from its beginning.
    fn bail_out(&mut self, regs: &[Reg], saved: StackSlot) {
        self.copy_rows(regs, |lowerer, row, at| {
            let v = lowerer.b.ins().stack_load(types::I64, types::I64X2, saved, at);
            lowerer.b.ins().store(flags(), v, lowerer.registers, row);
        });
        self.resume_at(self.facts.id);
        self.return_code(abi::CAREFUL);
    }
}

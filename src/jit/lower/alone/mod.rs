//! Loops that every lane runs alone.
//!
//! A loop that stays in a chunk (see [`super::resident`]) and loads from places that are apart gains nothing from doing so for
//! eight lanes at once, and loses where lanes leave it at different times. Here one lane after the other runs it to its end, in
//! scalars. As the loop writes no memory no lane sees what others did before. Which load would fault first only lockstep tells:
//! what a load cannot reach makes the registers what they were, and careful code (see [`abi::CAREFUL`]) does the loop.

mod loads;
mod ops;
mod slots;
mod variables;

use cranelift_codegen::ir::{
    Block as ClifBlock, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value as Clif, types,
};
use cranelift_frontend as frontend;
use rustc_hash::FxHashMap;

use super::super::forms::clif_type;
use super::super::{Effort, abi};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::resident::{Done, Resident};
use crate::ir::layout::row_bytes;
use crate::ir::{Access, BlockId, Inst, Op, Reg, Space, Type, Value};
use ops::Lane;
use slots::{Slot, Slots};
use variables::{Stream, Variable};

/// Bytes of registers that are saved at most before such a loop.
const MOST_SAVED: u32 = 4096;
/// What is kept in memory besides masks and what belongs to a load: see [`Warp`].
const WARP_SLOTS: usize = 5;
/// Operations for each load, up to which lanes are better off alone: others are cheaper for many at once.
const OPERATIONS_A_LOAD: usize = 8;

/// What is known of a warp between two lanes.
struct Warp {
    /// That a lane may run.
    rounds: Slot,
    /// Lanes that have not run, as a mask.
    to_come: Slot,
    /// Most rounds of a lane so far, and those of all.
    most: Slot,
    total: Slot,
    /// What the loop carries, in the order of the registers.
    masks: Vec<Slot>,
}

impl BlockLowerer<'_, '_, '_> {
    /// Whether lanes had better run a loop with loads alone, and can.
    pub(super) fn goes_alone(&self, resident: &Resident) -> bool {
        let insts = || resident.body.iter().map(|&index| &self.block.insts[index]);
        let scattered = |inst: &Inst| inst.op.access().is_some_and(|access| self.is_scattered(access, resident));
        let computes = |inst: &&Inst| {
            !matches!(inst.op, Op::RfRead { .. } | Op::RfWrite { .. } | Op::Const { .. } | Op::Load { .. })
        };
        self.region.effort == Effort::Full
            && insts().any(scattered)
            && insts().all(|inst| self.can_go_alone(inst, resident))
            && insts().filter(computes).count() <= OPERATIONS_A_LOAD * resident.loads
            && resident.masks.len() + resident.loads <= slots::MOST - WARP_SLOTS
            && resident.lanes.keys().map(|&reg| self.row_bytes(reg)).sum::<u32>() <= MOST_SAVED
    }

    /// Whether lanes find an address in memory, in this round or the one before.
    fn is_scattered(&self, access: &Access, resident: &Resident) -> bool {
        let found_before = |v: Value| match *self.def_op(v) {
            Op::RfRead { reg, .. } => resident.lanes.get(&reg).is_some_and(|&(value, _)| self.comes_from_memory(value)),
            _ => false,
        };
        let mut parts = self.def_op(access.address).operands();
        parts.push(access.address);
        self.looks_scattered(access) || parts.into_iter().any(found_before)
    }

    fn can_go_alone(&self, inst: &Inst, resident: &Resident) -> bool {
        match inst.op {
            Op::Load { access, sparse, .. } => {
                let guarded = access.guard.is_some_and(|guard| self.masks().is_subset(guard, resident.active));
                access.space == Space::Global && self.ty(access.address) == Type::I64 && guarded && !sparse
            }
            Op::RfRead { .. }
            | Op::RfWrite { .. }
            | Op::Const { .. }
            | Op::Splat { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::FUnary { .. }
            | Op::FBinary { .. }
            | Op::Fma { .. }
            | Op::Convert { .. }
            | Op::Concat { .. }
            | Op::ICmp { .. }
            | Op::FCmp { .. }
            | Op::FConvert { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. }
            | Op::Select { .. }
            | Op::AddCarry { .. } => true,
            _ => false,
        }
    }

    fn row_bytes(&self, reg: Reg) -> u32 {
        row_bytes(self.function.lanes, self.lane_type(reg))
    }

    /// One lane after the other runs the loop to its end, or to the last of `rounds`. Gives the most rounds that one did, those of
    /// all lanes together, and the masks.
    pub(super) fn lanes_to_their_end(&mut self, resident: &Resident, old_masks: &[Clif], rounds: Clif) -> Done {
        let variables = self.variables(resident);
        let streams = self.streams(resident, &variables);
        // Operands made outside are at hand before the ways part.
        for &index in &resident.body {
            for v in self.block.insts[index].op.operands() {
                if !self.is_home(v) && !resident.carried_scalars.contains(&v) {
                    self.scalar(v);
                }
            }
        }
        let saved = self.save(resident);
        let fails = self.cold_block();

        let mut slots = Slots::default();
        let at = resident.masks.keys().position(|&reg| reg == self.function.active).expect("the loop writes it");
        let all = self.warp_mask() as i64;
        let lanes = self.b.ins().band_imm_s(old_masks[at], all);
        let zero = self.b.ins().iconst(types::I64, 0);
        let warp = Warp {
            rounds: slots.keep(self, rounds),
            to_come: slots.keep(self, lanes),
            most: slots.keep(self, zero),
            total: slots.keep(self, zero),
            masks: old_masks.iter().map(|&mask| slots.keep(self, mask)).collect(),
        };
        let (head, work, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let to_come = self.kept(warp.to_come);
        self.b.ins().brif(to_come, work, &[], exit, &[]);

        self.b.switch_to_block(work);
        let number = self.b.ins().ctz(to_come);
        self.lane_to_its_end(resident, (&variables, &streams), (&warp, slots), number, fails);
        self.b.ins().jump(head, &[]);

        self.b.switch_to_block(fails);
        self.begin_again(resident, saved);
        self.b.switch_to_block(exit);
        let masks = warp.masks.iter().map(|&mask| self.kept(mask)).collect();
        Done { rounds: self.kept(warp.most), lanes: self.kept(warp.total), masks }
    }

    /// Copies the rows that the loop writes to a place on the stack.
    fn save(&mut self, resident: &Resident) -> StackSlot {
        let bytes = resident.lanes.keys().map(|&reg| self.row_bytes(reg)).sum();
        let saved = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4));
        self.copy_rows(resident, |lowerer, row, at| {
            let v = lowerer.b.ins().load(types::I64X2, flags(), lowerer.registers, row);
            lowerer.b.ins().stack_store(types::I64, v, saved, at);
        });
        saved
    }

    /// For each vector of the rows: where it is in the register file, and where on the stack.
    fn copy_rows(&mut self, resident: &Resident, copy: impl Fn(&mut Self, i32, i32)) {
        let mut at = 0;
        for &reg in resident.lanes.keys() {
            let row = self.layout.offset(reg) as i32;
            for part in (0..self.row_bytes(reg) as i32).step_by(16) {
                copy(self, row + part, at);
                at += 16;
            }
        }
    }

    /// Has careful code do the loop, from its beginning.
    fn begin_again(&mut self, resident: &Resident, saved: StackSlot) {
        self.copy_rows(resident, |lowerer, row, at| {
            let v = lowerer.b.ins().stack_load(types::I64, types::I64X2, saved, at);
            lowerer.b.ins().store(flags(), v, lowerer.registers, row);
        });
        self.resume_at(BlockId(self.number));
        self.return_code(abi::CAREFUL);
    }

    /// The loop of one lane, the first of those to come.
    fn lane_to_its_end(
        &mut self,
        resident: &Resident,
        (variables, streams): (&[Variable], &[Stream]),
        (warp, mut slots): (&Warp, Slots),
        number: Clif,
        fails: ClifBlock,
    ) {
        let mut lane = Lane::new(number);
        for variable in variables {
            let value = self.load_variable(number, variable);
            self.b.def_var(variable.is, value);
        }
        let bits = self.carried_bits(resident, warp, number);
        let rounds = self.kept(warp.rounds);
        let left = slots.keep(self, rounds);
        self.unchanging_values(resident, &mut lane);
        let count = self.b.declare_var(types::I64);
        let [check, head, goes, pauses, stops, leave, again, out] = [(); 8].map(|()| self.b.create_block());
        self.b.ins().jump(check, &[]);

        self.b.switch_to_block(check);
        let paid = self.places(resident, &mut lane, (variables, streams), &mut slots, fails);
        let most = self.kept(left);
        let begin = paid.into_iter().fold(most, |least, rounds| self.b.ins().umin(least, rounds));
        let later = self.b.ins().isub(most, begin);
        self.keep(left, later);
        self.b.def_var(count, begin);
        self.b.ins().jump(head, &[]);

        self.b.switch_to_block(head);
        self.read_variables(&mut lane, variables, streams);
        self.round(resident, &mut lane, &bits, fails);
        self.next_round(&lane, variables, streams);
        let next_bits: Vec<Clif> = resident.masks.values().map(|&mask| self.lane_bit(&lane, mask)).collect();
        for (reg, &bit) in resident.masks.keys().zip(&next_bits) {
            self.b.def_var(bits[reg], bit);
        }
        let before = self.b.use_var(count);
        let after = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(count, after);
        let going = self.lane_bit(&lane, resident.next_active);
        self.b.ins().brif(going, goes, &[], stops, &[]);
        self.b.switch_to_block(goes);
        self.b.ins().brif(after, head, &[], pauses, &[]);

        let active = bits[&self.function.active];
        for (block, bit) in [(pauses, 1), (stops, 0)] {
            self.b.switch_to_block(block);
            let bit = self.b.ins().iconst(types::I8, bit);
            self.b.def_var(active, bit);
            self.b.ins().jump(leave, &[]);
        }
        self.b.switch_to_block(leave);
        self.leave_streams(&lane, variables, streams);
        let later = self.kept(left);
        let rest = self.b.ins().iadd(later, after);
        self.keep(left, rest);
        let going = self.b.use_var(active);
        self.b.ins().brif(going, again, &[], out, &[]);
        self.b.switch_to_block(again);
        self.b.ins().brif(rest, check, &[], out, &[]);

        self.b.switch_to_block(out);
        let to_come = self.kept(warp.to_come);
        let number = self.b.ins().ctz(to_come);
        self.store_variables(resident, number, variables);
        for (reg, &slot) in resident.masks.keys().zip(&warp.masks) {
            let (mask, bit) = (self.kept(slot), self.b.use_var(bits[reg]));
            let mask = self.with_bit(mask, number, bit);
            self.keep(slot, mask);
        }
        let others = self.b.ins().iadd_imm_s(to_come, -1);
        let others = self.b.ins().band(to_come, others);
        self.keep(warp.to_come, others);
        let rounds = self.kept(warp.rounds);
        let done = self.b.ins().isub(rounds, rest);
        let most = self.kept(warp.most);
        let most = self.b.ins().umax(most, done);
        self.keep(warp.most, most);
        let total = self.kept(warp.total);
        let total = self.b.ins().iadd(total, done);
        self.keep(warp.total, total);
    }

    /// Where all loads go, and for how many rounds each stream knows that.
    fn places(
        &mut self,
        resident: &Resident,
        lane: &mut Lane,
        (variables, streams): (&[Variable], &[Stream]),
        slots: &mut Slots,
        fails: ClifBlock,
    ) -> Vec<Clif> {
        let mut known = Vec::new();
        for stream in streams {
            let access = *self.block.insts[stream.inst].op.access().expect("a load");
            let at = self.b.use_var(variables[stream.variable].is);
            let (host, rounds) = self.follow(&access, at, stream.step, fails);
            self.b.def_var(stream.host, host);
            let back = self.b.ins().isub(at, host);
            lane.back.insert(stream.inst, (back, slots.keep(self, back)));
            known.push(rounds);
        }
        for &index in &resident.body {
            if let Op::Load { access, .. } = self.block.insts[index].op
                && !lane.back.contains_key(&index)
            {
                let place = self.place_of_lane(resident, lane, &access, slots, fails);
                lane.places.insert(index, place);
            }
        }
        known
    }

    /// What a round computes, its variables having been read.
    fn round(
        &mut self,
        resident: &Resident,
        lane: &mut Lane,
        bits: &FxHashMap<Reg, frontend::Variable>,
        fails: ClifBlock,
    ) {
        for (index, inst) in self.block.insts.iter().enumerate() {
            let known = inst.results.first().is_none_or(|v| lane.values.contains_key(v));
            match inst.op {
                _ if known => {}
                Op::RfRead { reg, .. } if bits.contains_key(&reg) => {
                    lane.values.insert(inst.results[0], self.b.use_var(bits[&reg]));
                }
                Op::Load { .. } if self.is_done_by_lanes(resident, index) => {
                    let loaded = self.load_of_lane(lane, index, resident.active, fails);
                    lane.values.extend(inst.results.iter().copied().zip(loaded));
                }
                _ if self.is_done_by_lanes(resident, index) => self.lane_op(lane, index),
                _ => {}
            }
        }
    }

    /// Whether an instruction, if it is one of lanes or of their masks, is done in the loop.
    fn is_done_by_lanes(&self, resident: &Resident, index: usize) -> bool {
        let carried = |v: &Value| resident.carried_scalars.contains(v);
        resident.has(index) || self.block.insts[index].results.iter().any(carried)
    }

    /// A lane's bits of the masks that the loop writes.
    fn carried_bits(&mut self, resident: &Resident, warp: &Warp, number: Clif) -> FxHashMap<Reg, frontend::Variable> {
        let mut bits = FxHashMap::default();
        for (&reg, &mask) in resident.masks.keys().zip(&warp.masks) {
            let variable = self.b.declare_var(types::I8);
            let mask = self.kept(mask);
            let bit = self.bit_of(mask, number);
            self.b.def_var(variable, bit);
            bits.insert(reg, variable);
        }
        bits
    }

    /// What is the same in every round of a lane.
    fn unchanging_values(&mut self, resident: &Resident, lane: &mut Lane) {
        for (index, inst) in self.block.insts.iter().enumerate() {
            match inst.op {
                Op::RfRead { reg, .. } if reg == self.function.active => {
                    let one = self.b.ins().iconst(types::I8, 1);
                    lane.values.insert(inst.results[0], one);
                }
                Op::RfRead { reg, .. } if resident.has(index) && !resident.lanes.contains_key(&reg) => {
                    let (base, offset) = self.cell_of(lane.number, reg);
                    let ty = clif_type(self.lane_type(reg), false);
                    let cell = self.b.ins().load(ty, flags(), base, offset);
                    lane.values.insert(inst.results[0], cell);
                }
                Op::RfRead { .. } | Op::RfWrite { .. } | Op::Load { .. } => {}
                _ => {
                    let known = |v: &Value| self.is_unchanging(resident, lane, *v);
                    if self.is_done_by_lanes(resident, index) && inst.op.operands().iter().all(known) {
                        self.lane_op(lane, index);
                    }
                }
            }
        }
    }

    /// Whether a value needs no round to be known.
    pub(super) fn is_unchanging(&self, resident: &Resident, lane: &Lane, v: Value) -> bool {
        lane.values.contains_key(&v) || !self.is_done_by_lanes(resident, self.defs[v.0 as usize].0)
    }
}

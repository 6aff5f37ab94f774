//! Loops whose number of rounds is known only after them: lists, searches.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend as frontend;
use warploom_ir::{Op, Reg, Value};

use super::super::block::BlockLowerer;
use super::super::register_loop::{Done, RegisterLoop};
use super::loads::Ways;
use super::ops::Lane;
use super::rounds::Rounds;
use super::slots::{Slot, Slots};
use super::variables::Variable;

/// The number of values kept in memory, besides masks and the values of loads: see [`Warp`].
pub const SLOTS: usize = 4;

/// The values kept for a warp between two lanes.
struct Warp {
    /// The number of rounds that a lane may run.
    rounds: Slot,
    /// The mask of lanes that have not run.
    to_come: Slot,
    /// The most rounds of a lane so far, and the rounds of all lanes so far.
    most: Slot,
    total: Slot,
    /// The masks that the loop carries, in the order of the registers.
    masks: Vec<Slot>,
}

/// A mask register that the loop writes: the value that reads it, and a lane's bit of it.
struct Carried {
    read: Option<Value>,
    next: Value,
    bit: frontend::Variable,
}

impl BlockLowerer<'_, '_, '_> {
    /// Runs every active lane to its end, or for `allowed` rounds.
    pub(super) fn run_open(
        &mut self,
        register_loop: &RegisterLoop,
        old_masks: &[Clif],
        active: Clif,
        allowed: Clif,
    ) -> Done {
        let next_masks: Vec<Value> = register_loop.masks.values().copied().collect();
        let rounds = self.rounds_of(register_loop, &next_masks, 0);
        let variables: Vec<&Variable> = rounds.variables.iter().collect();
        let written: Vec<Reg> = register_loop.lanes.keys().copied().collect();
        let carried: Vec<Carried> =
            register_loop.masks.iter().map(|(&reg, &next)| self.carried(reg, next)).collect();
        let saved = self.save(&written);
        let fails = self.cold_block();

        let mut slots = Slots::default();
        let zero = self.b.ins().iconst(types::I64, 0);
        let warp = Warp {
            rounds: slots.keep(self, allowed),
            to_come: slots.keep(self, active),
            most: slots.keep(self, zero),
            total: slots.keep(self, zero),
            masks: old_masks.iter().map(|&mask| slots.keep(self, mask)).collect(),
        };
        let all = self.first_of_lanes(register_loop, &rounds, active, &mut slots);
        let [next, work, head, goes, pauses, stops, out, exit] =
            [(); 8].map(|()| self.b.create_block());
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        let to_come = self.kept(warp.to_come);
        self.b.ins().brif(to_come, work, &[], exit, &[]);

        self.b.switch_to_block(work);
        let number = self.b.ins().ctz(to_come);
        let mut lane = self.begin_lane(register_loop, &rounds, &all, number, &mut slots);
        let left = self.begin_variables(&warp, &carried, &variables, number);
        self.b.ins().jump(head, &[]);

        self.b.switch_to_block(head);
        self.open_round(register_loop, &rounds, &carried, &mut lane, Ways { again: head, fails });
        let before = self.b.use_var(left);
        let after = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(left, after);
        let going = self.lane_bit(&lane, register_loop.next_active);
        self.b.ins().brif(going, goes, &[], stops, &[]);
        self.b.switch_to_block(goes);
        self.b.ins().brif(after, head, &[], pauses, &[]);

        let at = register_loop
            .masks
            .keys()
            .position(|&reg| reg == self.facts.function.active)
            .expect("the loop writes it");
        for (block, bit) in [(pauses, 1), (stops, 0)] {
            self.b.switch_to_block(block);
            let bit = self.b.ins().iconst(types::I8, bit);
            self.b.def_var(carried[at].bit, bit);
            self.b.ins().jump(out, &[]);
        }

        self.b.switch_to_block(out);
        self.end_lane(register_loop, &warp, &carried, &variables, left);
        self.b.ins().jump(next, &[]);

        self.b.switch_to_block(fails);
        self.bail_out(&written, saved);
        self.b.switch_to_block(exit);
        let masks = warp.masks.iter().map(|&mask| self.kept(mask)).collect();
        Done { rounds: self.kept(warp.most), lanes: self.kept(warp.total), masks }
    }

    /// Gives a lane's variables their first values. Returns the variable that counts the rounds
    /// left.
    fn begin_variables(
        &mut self,
        warp: &Warp,
        carried: &[Carried],
        variables: &[&Variable],
        number: Clif,
    ) -> frontend::Variable {
        for variable in variables {
            let value = self.load_variable(number, variable);
            self.b.def_var(variable.is, value);
        }
        for (carried, &mask) in carried.iter().zip(&warp.masks) {
            let mask = self.kept(mask);
            let bit = self.bit_of(mask, number);
            self.b.def_var(carried.bit, bit);
        }
        let left = self.b.declare_var(types::I64);
        let most = self.kept(warp.rounds);
        self.b.def_var(left, most);
        left
    }

    /// Emits one round of a lane, which leaves its variables to the next round.
    fn open_round(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        carried: &[Carried],
        lane: &mut Lane,
        ways: Ways,
    ) {
        let variables: Vec<&Variable> = rounds.variables.iter().collect();
        for variable in &variables {
            let value = self.b.use_var(variable.is);
            self.read_variable(lane, variable, value);
        }
        for carried in carried {
            if let Some(read) = carried.read.filter(|read| rounds.changing.contains(read)) {
                let bit = self.b.use_var(carried.bit);
                lane.values.insert(read, bit);
            }
        }
        self.round(register_loop, rounds, lane, ways);
        self.next_round(lane, &variables);
        let bits: Vec<Clif> =
            carried.iter().map(|carried| self.lane_bit(lane, carried.next)).collect();
        for (carried, bit) in carried.iter().zip(bits) {
            self.b.def_var(carried.bit, bit);
        }
    }

    /// Stores a lane's results. `left` is the number of rounds that it had left.
    fn end_lane(
        &mut self,
        register_loop: &RegisterLoop,
        warp: &Warp,
        carried: &[Carried],
        variables: &[&Variable],
        left: frontend::Variable,
    ) {
        let to_come = self.kept(warp.to_come);
        let number = self.b.ins().ctz(to_come);
        variables.iter().for_each(|variable| self.store_variable(register_loop, number, variable));
        for (carried, &slot) in carried.iter().zip(&warp.masks) {
            let (mask, bit) = (self.kept(slot), self.b.use_var(carried.bit));
            let mask = self.with_bit(mask, number, bit);
            self.keep(slot, mask);
        }
        let others = self.without_first(to_come);
        self.keep(warp.to_come, others);
        let (allowed, left) = (self.kept(warp.rounds), self.b.use_var(left));
        let done = self.b.ins().isub(allowed, left);
        let most = self.kept(warp.most);
        let most = self.b.ins().umax(most, done);
        self.keep(warp.most, most);
        let total = self.kept(warp.total);
        let total = self.b.ins().iadd(total, done);
        self.keep(warp.total, total);
    }

    fn carried(&mut self, reg: Reg, next: Value) -> Carried {
        let mut insts = self.facts.block.insts.iter();
        let read =
            insts.find(|inst| matches!(inst.op, Op::RfRead { reg: read, .. } if read == reg));
        Carried { read: read.map(|inst| inst.results[0]), next, bit: self.b.declare_var(types::I8) }
    }
}

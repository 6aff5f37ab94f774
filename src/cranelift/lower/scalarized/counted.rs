//! Loops that count their rounds: a register counts up or down by one, to a limit that the loop
//! does not change.
//!
//! The number of a lane's rounds is known before the first round. So is whether loads whose
//! addresses move on by a constant stay in their runs (see [`super::ahead`]). The rounds of a lane
//! then test only addresses that they find in memory, and count only the number of the round.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_ir::{BinaryOp, IntCc, Op, Reg, Type, UnaryOp, Value};
use warploom_runtime::warp::RUNS;

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::int;
use super::super::register_loop::{Done, RegisterLoop};
use super::ahead::Rows;
use super::loads::Ways;
use super::ops::Lane;
use super::rounds::Rounds;
use super::slots::{MOST_BYTES, Slots};
use super::variables::{Next, Variable};
use crate::forms::clif_type;
use crate::tuning;

/// The number of values kept in memory, besides masks and the values of loads.
const SLOTS: usize = 4;

/// The condition at which a loop ends.
pub(in super::super) struct Counted {
    /// The value that is compared with the limit after a round. The loop goes on while the
    /// condition holds.
    pub counter: Value,
    pub limit: Value,
    pub cc: IntCc,
    /// Whether the counter grows.
    pub up: bool,
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns how the loop ends, if it counts its rounds and a lane leaves it by that count alone.
    pub(in super::super) fn counted(&self, register_loop: &RegisterLoop) -> Option<Counted> {
        let known = |reg: &Reg| {
            *reg == self.facts.function.active || register_loop.exit_masks.regs.contains(reg)
        };
        // Each load needs a run of its own.
        if !register_loop.masks.keys().all(known) || register_loop.loads > RUNS {
            return None;
        }
        let (mut mask, mut inverse) = (register_loop.next_active, false);
        let (cc, a, b) = loop {
            mask = register_loop.exit_masks.equal.get(&mask).copied().unwrap_or(mask);
            match *self.facts.def_op(mask) {
                // A lane in the loop is active.
                Op::Binary { op: BinaryOp::And, a, b } if a == register_loop.active => mask = b,
                Op::Binary { op: BinaryOp::And, a, b } if b == register_loop.active => mask = a,
                Op::Unary { op: UnaryOp::Not, a } => (mask, inverse) = (a, !inverse),
                Op::ICmp { cc, a, b } => break (if inverse { cc.inverse() } else { cc }, a, b),
                _ => return None,
            }
        };
        let changing = self.changing(register_loop);
        let of = |counter: Value, limit: Value, cc: IntCc| {
            let up = self.counts(register_loop, counter)? == 1;
            let ends = match cc {
                IntCc::Ne => true,
                IntCc::LtU | IntCc::LtS => up,
                IntCc::GtU | IntCc::GtS => !up,
                _ => false,
            };
            (ends && !changing.contains(&limit)).then_some(Counted { counter, limit, cc, up })
        };
        of(a, b, cc).or_else(|| of(b, a, cc.swapped()))
    }

    /// Returns 1 or -1 if a round adds that to a register of words in each lane. `v` is the
    /// register's value before or after the round.
    fn counts(&self, register_loop: &RegisterLoop, v: Value) -> Option<i64> {
        let mut lanes = register_loop
            .lanes
            .iter()
            .filter(|(_, written)| written.1 == Some(register_loop.active));
        let (&reg, &(value, _)) =
            lanes.find(|&(&reg, &(value, _))| value == v || self.reads(v, reg))?;
        self.moves_on(reg, value).filter(|step| self.facts.ty(v) == Type::I32 && step.abs() == 1)
    }

    /// Runs every active lane to its end, or for `allowed` rounds.
    pub(super) fn run_counted(
        &mut self,
        register_loop: &RegisterLoop,
        counted: &Counted,
        old_masks: &[Clif],
        active: Clif,
        allowed: Clif,
    ) -> Done {
        let lanes = u32::from(self.facts.function.lanes);
        // The bytes for the lanes' numbers of rounds, and for values that are kept.
        let taken =
            4 * lanes as usize + 8 * (SLOTS + register_loop.masks.len() + register_loop.loads);
        let rounds = self.rounds_of(
            register_loop,
            &[],
            MOST_BYTES.saturating_sub(taken) / (8 * lanes as usize),
        );
        let mut slots = Slots::default();
        let rows = Rows {
            more: slots.row(4 * lanes),
            ends: rounds.streams.iter().map(|_| slots.row(8 * lanes)).collect(),
        };
        let carried =
            || rounds.variables.iter().filter(|variable| matches!(variable.next, Next::Value(_)));
        let written: Vec<Reg> = carried().flat_map(|variable| &variable.regs).copied().collect();
        let saved = self.save(&written);
        let fails = self.cold_block();

        let most = self.b.ins().iconst(types::I64, tuning::MOST_ROUNDS);
        let allowed = self.b.ins().umin(allowed, most);
        let ahead =
            self.look_ahead(register_loop, counted, (&rounds, &rows), (active, allowed), fails);
        // Spills the values that the rounds do not use.
        let staying = self.b.ins().band_not(active, ahead.ended);
        let gone = self.b.ins().band(active, ahead.ended);
        let first = self.b.ins().popcnt(active);
        let most = self.b.ins().iadd_imm_s(ahead.most, 1);
        let total = self.b.ins().iadd(ahead.total, first);
        let [all_lanes, staying, most, total] =
            [active, staying, most, total].map(|v| slots.keep(self, v));
        let mut masks = Vec::new();
        for (&reg, &old) in register_loop.masks.keys().zip(old_masks) {
            let left = self.b.ins().bor(old, gone);
            masks.push(if reg == self.facts.function.active {
                staying
            } else {
                slots.keep(self, left)
            });
        }
        let mut all = self.first_of_lanes(register_loop, &rounds, active, &mut slots);
        for (&index, address) in &rounds.addresses {
            let access = *self.facts.block.insts[index].op.access().expect("a load");
            // A load with a narrower guard may have no valid address.
            let place =
                all.places.get_mut(&index).filter(|_| access.guard == Some(register_loop.active));
            if let Some(place) = place {
                self.seek(&access, address, place, fails);
            }
        }
        let [next, work, out, exit] = [(); 4].map(|()| self.b.create_block());
        let to_come = self.b.declare_var(types::I64);
        self.b.def_var(to_come, active);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        let left = self.b.use_var(to_come);
        self.b.ins().brif(left, work, &[], exit, &[]);

        self.b.switch_to_block(work);
        let number = self.b.ins().ctz(left);
        let lane = self.begin_lane(register_loop, &rounds, &all, number, &mut slots);
        self.lane_to_its_end(register_loop, (&rounds, &rows), lane, (out, fails));

        self.b.switch_to_block(out);
        let left = self.b.use_var(to_come);
        let number = self.b.ins().ctz(left);
        carried().for_each(|variable| self.store_variable(register_loop, number, variable));
        let others = self.without_first(left);
        self.b.def_var(to_come, others);
        self.b.ins().jump(next, &[]);

        self.b.switch_to_block(fails);
        self.bail_out(&written, saved);
        self.b.switch_to_block(exit);
        let [active, staying] = [all_lanes, staying].map(|slot| self.kept(slot));
        self.write_moving(register_loop, &rounds, rows.more, (active, staying));
        let masks = masks.into_iter().map(|slot| self.kept(slot)).collect();
        Done { rounds: self.kept(most), lanes: self.kept(total), masks }
    }

    /// Emits the rounds of one lane, and then a jump to `out`.
    fn lane_to_its_end(
        &mut self,
        register_loop: &RegisterLoop,
        (rounds, rows): (&Rounds, &Rows),
        lane: Lane,
        (out, fails): (ClifBlock, ClifBlock),
    ) {
        let cell = self.cell_in_context(lane.number, 2);
        let more = self.b.ins().uload32(flags(), cell, rows.more);
        let cell = self.cell_in_context(lane.number, 3);
        let ends = rows.ends.iter().map(|&row| self.b.ins().load(types::I64, flags(), cell, row));
        let ends: Vec<Clif> = ends.collect();
        // A variable that moves on by a constant is as many steps from its end as rounds are to
        // come.
        let (mut carried, mut moving) = (Vec::new(), Vec::new());
        for variable in &rounds.variables {
            let is_read = variable.reads.iter().flatten().any(|&read| rounds.needs(read))
                || variable.guard.is_some();
            match variable.next {
                Next::Step(step) if is_read => {
                    let start = self.load_variable(lane.number, variable);
                    let all = self.b.ins().iadd_imm_s(more, 1);
                    let end = self.moved(variable, start, all, step);
                    moving.push((variable, end, step));
                }
                Next::Step(_) => {}
                Next::Value(_) => {
                    let ty = clif_type(variable.ty, false);
                    let start = if is_read {
                        self.load_variable(lane.number, variable)
                    } else {
                        self.zero(ty)
                    };
                    self.b.def_var(variable.is, start);
                    carried.push(variable);
                }
            }
        }
        // It counts up to 0, from minus the number of rounds.
        let to_come = self.b.declare_var(types::I64);
        let all = self.b.ins().bnot(more);
        self.b.def_var(to_come, all);
        let heads = [(); tuning::UNROLLED].map(|()| self.b.create_block());
        self.b.ins().jump(heads[0], &[]);
        for (at, &head) in (0..).zip(&heads) {
            self.b.switch_to_block(head);
            let mut lane = lane.clone();
            let before = self.b.use_var(to_come);
            for (stream, &end) in rounds.streams.iter().zip(&ends) {
                let moved = self.times(before, stream.step);
                let host = self.b.ins().iadd(end, moved);
                lane.hosts.insert(stream.inst, (host, stream.step * at));
            }
            for &(variable, end, step) in &moving {
                let round = int::plus(self.b, before, at);
                let value = self.moved(variable, end, round, step);
                self.read_variable(&mut lane, variable, value);
            }
            for &variable in &carried {
                let value = self.b.use_var(variable.is);
                self.read_variable(&mut lane, variable, value);
            }
            self.round(register_loop, rounds, &mut lane, Ways { again: head, fails });
            self.next_round(&lane, &carried);
            match heads.get(at as usize + 1) {
                Some(&next) => {
                    // An edge to a block with other predecessors needs moves. This block keeps them
                    // out of the loop.
                    let leave = self.b.create_block();
                    let ends = self.b.ins().icmp_imm_s(IntCC::Equal, before, -(at + 1));
                    self.b.ins().brif(ends, leave, &[], next, &[]);
                    self.b.switch_to_block(leave);
                    self.b.ins().jump(out, &[]);
                }
                None => {
                    let after = self.b.ins().iadd_imm_s(before, at + 1);
                    self.b.def_var(to_come, after);
                    self.b.ins().brif(after, heads[0], &[], out, &[]);
                }
            }
        }
    }

    /// Returns a variable that moves on by a constant, after `rounds` rounds.
    fn moved(&mut self, variable: &Variable, from: Clif, rounds: Clif, step: i64) -> Clif {
        let by = self.times(rounds, step);
        let by = if variable.ty == Type::I64 { by } else { self.b.ins().ireduce(types::I32, by) };
        self.b.ins().iadd(from, by)
    }

    /// Returns the base of a lane's cell in rows of the context, where cells have `1 << shift`
    /// bytes. The offset of the row is still to be added.
    pub(super) fn cell_in_context(&mut self, number: Clif, shift: i64) -> Clif {
        let at = self.b.ins().ishl_imm_u(number, shift);
        self.b.ins().iadd(self.ctx, at)
    }
}

//! Code after the last round of a loop.

use warploom_engine::abi;
use warploom_ir::{Type, Value};

use super::{Done, SelfLoop, State};
use crate::asm::{Condition, opcode};
use crate::machine::{Reg, Rm};
use crate::select::PIECE;
use crate::select::build::{context, registers};
use crate::select::region::Selector;
use crate::select::values::Part;

impl Selector<'_> {
    /// Writes the rows of a group of pieces.
    pub(super) fn write_rows(&mut self, found: &SelfLoop, last: &State) {
        for (&reg, &(value, guard)) in &found.lanes {
            let pieces = last.kept.get(&reg).unwrap_or(&last.lanes[&reg]);
            let guard = guard.filter(|_| found.free.get(&reg) == Some(&false));
            for (piece, &part) in self.group.clone().zip(pieces) {
                let part = if found.raw.contains(&reg) { self.mended(value, part) } else { part };
                let mask = guard.map(|guard| self.mask_lanes(guard, piece));
                self.store_row(reg, part, mask, piece);
            }
        }
    }

    /// Writes masks and uniform values, counts the rounds, and leaves the loop.
    pub(super) fn leave_loop(
        &mut self,
        found: &SelfLoop,
        groups: &[Done],
        (allowed, active): (Reg, Reg),
    ) {
        let after = self.write_cells(found, groups).unwrap_or(active);
        self.write_exit_masks(found, active, after);
        // The group that runs longest has the fewest rounds left.
        let mut left = groups[0].last.left;
        for group in &groups[1..] {
            self.cmp(left, Rm::Reg(group.last.left));
            left = self.choose(Condition::Less, left, group.last.left);
        }
        let rounds = self.general(opcode::SUB, allowed, Rm::Reg(left));
        let executed = self.times(Rm::Reg(rounds), self.facts.block.cost.into());
        let executed = self.general(opcode::ADD, executed, context(abi::INSTRUCTIONS));
        self.store(opcode::MOV_STORE, executed, context(abi::INSTRUCTIONS));
        // The lanes of all rounds: the active lanes of the first round, plus the lanes that each
        // round left active, without the lanes that the last round left active.
        let mut lanes = self.general_of(opcode::POPCNT, Rm::Reg(active));
        if found.cells.contains_key(&self.function().active) {
            for group in groups {
                lanes = self.general(opcode::ADD, lanes, Rm::Reg(group.last.counted));
            }
            let beyond = self.general_of(opcode::POPCNT, Rm::Reg(after));
            lanes = self.general(opcode::SUB, lanes, Rm::Reg(beyond));
        } else {
            lanes = self.general(opcode::IMUL, lanes, Rm::Reg(rounds));
        }
        self.count_lanes(lanes);
        // Counts all back edges, except the back edge that `go` may count.
        let edges = self.general_of(opcode::MOV, context(abi::BACK_EDGES));
        let edges = self.general(opcode::SUB, edges, Rm::Reg(rounds));
        let edges = self.plus(edges, 1);
        self.store(opcode::MOV_STORE, edges, context(abi::BACK_EDGES));
        self.test(if found.lane_wise { after } else { groups[0].going });
        self.ways(found.stays(), self.facts.id, found.exit);
    }

    /// Writes registers of masks and of uniform values. Returns the new active mask if it is one of
    /// these registers.
    fn write_cells(&mut self, found: &SelfLoop, groups: &[Done]) -> Option<Reg> {
        let mut active = None;
        for &reg in found.cells.keys().filter(|reg| !found.exit_masks.contains(reg)) {
            let mut all: Option<Reg> = None;
            for Done { last, pieces, .. } in groups {
                let cell = match last.masks.get(&reg) {
                    Some(masks) => self.number_of_masks(masks),
                    None => last.cells[&reg],
                };
                all = Some(match all {
                    Some(all) => {
                        let cell =
                            self.general_imm(opcode::SHL_IMM, cell, (pieces.start * PIECE) as i64);
                        self.general(opcode::OR, cell, Rm::Reg(all))
                    }
                    None => cell,
                });
            }
            let all = all.expect("a loop has pieces");
            self.store(opcode::MOV_STORE, all, registers(self.prepared.layout().offset(reg)));
            if reg == self.function().active {
                active = Some(all);
            }
        }
        active
    }

    /// Adds the lanes that left the loop to the exit masks.
    fn write_exit_masks(&mut self, found: &SelfLoop, active: Reg, after: Reg) {
        if found.exit_masks.is_empty() {
            return;
        }
        let stays = self.general_imm(opcode::NOT, after, 0);
        let left = self.general(opcode::AND, stays, Rm::Reg(active));
        for &reg in &found.exit_masks {
            let place = registers(self.prepared.layout().offset(reg));
            let gathered = self.general_of(opcode::MOV, place);
            let gathered = self.general(opcode::OR, gathered, Rm::Reg(left));
            self.store(opcode::MOV_STORE, gathered, place);
        }
    }

    /// Makes the NaNs of a part canonical. Lanes that no round wrote have only canonical NaNs.
    fn mended(&mut self, value: Value, part: Part) -> Part {
        let ty = self.ty(self.root(value));
        self.each_part(ty == Type::F64, |selector, half| selector.canonical(ty, part[half]))
    }
}

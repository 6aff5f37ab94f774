//! Code of one round of a loop.

use std::collections::BTreeMap;

use warploom_ir::{Op, Value};

use super::{SelfLoop, State};
use crate::asm::opcode;
use crate::machine::{Reg, Rm};
use crate::select::region::Selector;
use crate::select::values::Part;

impl Selector<'_> {
    /// Emits one round. Returns the state for the next round, and the loop's condition.
    pub(super) fn round(&mut self, found: &SelfLoop, state: &State) -> (State, Reg) {
        let (block, start) = (self.facts.block, self.group.start);
        let none = self.number(0);
        for inst in &block.insts {
            let Op::RfRead { reg, .. } = inst.op else { continue };
            let form = self.forms.of(inst.results[0]);
            if let Some(pieces) = state.lanes.get(&reg) {
                pieces
                    .iter()
                    .enumerate()
                    .for_each(|(piece, &part)| form.lanes[start + piece] = Some(part));
            } else if let Some(masks) = state.masks.get(&reg) {
                masks
                    .iter()
                    .enumerate()
                    .for_each(|(piece, &mask)| form.masks[start + piece] = Some(mask));
            } else if let Some(&cell) = state.cells.get(&reg) {
                form.scalar = Some(cell);
            } else if found.exit_masks.contains(&reg) {
                form.scalar = Some(none);
            }
        }
        let wanted = |&v: &Value| found.varies.contains(v) && found.needed.contains(v);
        self.operations(|index| block.insts[index].results.iter().any(wanted));
        let (mut lanes, mut kept) = (BTreeMap::new(), BTreeMap::new());
        for (&reg, &(value, guard)) in &found.lanes {
            let wide = self.is_wide_row(reg);
            let mut merge = |old: &[Part]| -> Vec<Part> {
                self.group
                    .clone()
                    .map(|piece| self.merged(wide, value, guard, old[piece - start], piece))
                    .collect()
            };
            if let Some(old) = state.kept.get(&reg) {
                kept.insert(reg, merge(old));
            }
            let next = match found.free.get(&reg) {
                Some(_) => self.group.clone().map(|piece| self.lanes(value, piece)).collect(),
                None => merge(&state.lanes[&reg]),
            };
            lanes.insert(reg, next);
        }
        let mut masks = BTreeMap::new();
        for &reg in state.masks.keys() {
            let mask = found.cells[&reg];
            masks.insert(
                reg,
                self.group.clone().map(|piece| self.mask_lanes(mask, piece)).collect(),
            );
        }
        let mut cells = BTreeMap::new();
        for &reg in state.cells.keys() {
            cells.insert(reg, self.scalar(found.cells[&reg]));
        }
        let going = self.scalar(found.cond);
        let mut counted = state.counted;
        if let Some(&active) = found.cells.get(&self.function().active) {
            let active = self.mask_number(active);
            let lanes = self.general_of(opcode::POPCNT, Rm::Reg(active));
            counted = self.general(opcode::ADD, counted, Rm::Reg(lanes));
        }
        let left = self.plus(state.left, -1);
        (State { lanes, kept, masks, cells, counted, left }, going)
    }

    /// Returns a piece of a register after a write.
    fn merged(
        &mut self,
        wide: bool,
        value: Value,
        guard: Option<Value>,
        old: Part,
        piece: usize,
    ) -> Part {
        let new = self.lanes(value, piece);
        let Some(guard) = guard.filter(|&guard| self.constant(guard) != Some(self.warp_mask()))
        else {
            return new;
        };
        let mask = self.mask_lanes(guard, piece);
        self.each_part(wide, |selector, part| {
            let mask = if wide { selector.part_mask(mask, part) } else { mask };
            selector.blend(wide, mask, Rm::Reg(new[part]), old[part])
        })
    }
}

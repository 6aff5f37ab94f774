//! A chunk's cells of rows in the register file, and how masks merge into them.

use cranelift_codegen::ir::{InstBuilder, Value as Clif};
use warploom_ir::{CellKind, Reg, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::vector;
use crate::forms::{Lanes, clif_type, parts};

impl BlockLowerer<'_, '_, '_> {
    fn load_cells(&mut self, ty: Type, offset: u32) -> Lanes {
        let (base, offset) = self.row(ty, offset);
        let clif = clif_type(ty, true);
        (0..parts(ty) as i32)
            .map(|i| self.b.ins().load(clif, flags(), base, offset + i * 16))
            .collect()
    }

    pub(super) fn store_cells(&mut self, ty: Type, offset: u32, lanes: &[Clif]) {
        let (base, offset) = self.row(ty, offset);
        for (i, &part) in lanes.iter().enumerate() {
            self.b.ins().store(flags(), part, base, offset + i as i32 * 16);
        }
    }

    /// Returns the type of a lane register.
    pub(super) fn lane_type(&self, reg: Reg) -> Type {
        match self.facts.function.bank(reg.bank).kind {
            CellKind::Lane(ty) => ty,
            _ => unreachable!("lane register"),
        }
    }

    pub(super) fn load_row(&mut self, reg: Reg) -> Lanes {
        let ty = self.lane_type(reg);
        let offset = self.facts.layout.offset(reg);
        self.load_cells(ty, offset)
    }

    pub(super) fn load_slot(&mut self, v: Value) -> Lanes {
        let slot = self.facts.planned.slots.row(v);
        self.load_cells(self.facts.ty(v), slot)
    }

    pub(super) fn store_slot(&mut self, v: Value) {
        let slot = self.facts.planned.slots.row(v);
        let lanes = self.lanes(v);
        self.store_cells(self.facts.ty(v), slot, &lanes);
    }

    /// Writes the lanes of a mask to a register's row. Without a mask, it writes all lanes.
    pub(super) fn write_row(&mut self, reg: Reg, v: Value, mask: Option<Value>) {
        let ty = self.lane_type(reg);
        let offset = self.facts.layout.offset(reg);
        let new = self.lanes(v);
        let lanes = match mask {
            None => new,
            Some(mask)
                if self.settled_mask(mask) == Some(true) || self.is_unneeded_beyond(mask, reg) =>
            {
                new
            }
            Some(mask) => {
                let old = self.load_cells(ty, offset);
                self.merge(mask, &new, &old, ty)
            }
        };
        self.store_cells(ty, offset, &lanes);
    }

    /// Returns whether no lane outside a mask needs its value of a register: none of these lanes is
    /// active after the block.
    fn is_unneeded_beyond(&self, mask: Value, reg: Reg) -> bool {
        !self.facts.liveness.live_inactive(self.facts.id, reg)
            && self.facts.exit_mask.is_some_and(|after| self.facts.masks().is_subset(after, mask))
    }

    /// Returns `new` in the lanes where the mask is set, and `old` elsewhere.
    pub(super) fn merge(&mut self, mask: Value, new: &[Clif], old: &[Clif], ty: Type) -> Lanes {
        let conditions = self.mask_lanes(mask, ty);
        conditions
            .iter()
            .zip(new.iter().zip(old))
            .map(|(&condition, (&new, &old))| vector::blend(self.b, condition, new, old))
            .collect()
    }

    /// Returns `a` in the lanes of a mask, and `b` elsewhere.
    pub(super) fn select_lanes(&mut self, mask: Value, a: Value, b: Value, ty: Type) -> Lanes {
        let clif = clif_type(ty, true);
        let all = u64::MAX >> (64 - clif.lane_bits());
        let [chosen, other] = [a, b].map(|v| self.facts.constant(v));
        if chosen != Some(0) && other != Some(0) {
            let (new, old) = (self.lanes(a), self.lanes(b));
            return self.merge(mask, &new, &old, ty);
        }
        let conditions = self.mask_lanes(mask, ty);
        let conditions: Lanes =
            conditions.iter().map(|&condition| vector::cast(self.b, clif, condition)).collect();
        if chosen == Some(all) {
            return conditions;
        }
        let lanes = self.lanes(if other == Some(0) { a } else { b });
        let lanes = conditions.iter().zip(lanes);
        lanes
            .map(|(&condition, v)| match other {
                Some(0) => self.b.ins().band(condition, v),
                _ => self.b.ins().band_not(v, condition),
            })
            .collect()
    }
}

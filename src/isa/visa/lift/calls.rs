//! Calls of units, and returns from them. Facts, `visa-semantics.md` 6.

use warploom_ir::{BlockBuilder, BlockId, TrapKind, Type};

use super::control::At;
use super::emit::Here;
use super::waiting::{Waiting, is_always, is_uniform};
use super::{Cx, frames};
use crate::instruction::Instruction;

impl At<'_> {
    /// Emits a call of one of the given units by the active lanes.
    ///
    /// If the units are known by addresses, the call's address operand selects the unit.
    pub(super) fn call(&self, mut cx: Cx<'_>, insn: &Instruction, units: &[(Option<u64>, usize)]) {
        let target = match units {
            [(None, _)] => None,
            _ => match cx.scalar(insn, 0, Type::I64) {
                Ok(address) => Some(address),
                Err(_) => return cx.b.trap(TrapKind::Unimplemented),
            },
        };
        let active = cx.active();
        cx.b.rf_write(self.shape.calling, active);
        let taken = if is_always(insn) {
            None
        } else if is_uniform(insn) {
            self.is_taken(&mut cx)
        } else {
            let lanes = self.taken(&mut cx, active);
            cx.set_active(lanes);
            Some(lanes)
        };
        let enter = match target {
            None => self.entering(&mut cx, units.first().map_or(0, |&(_, unit)| unit)),
            Some(address) => {
                let cases = units
                    .iter()
                    .filter_map(|&(known, unit)| Some((known?, self.entering(&mut cx, unit))))
                    .collect();
                let nothing =
                    self.in_new_block(&mut cx.b, |b| b.trap(TrapKind::IllegalInstruction));
                return cx.b.switch(address, cases, nothing);
            }
        };
        match taken {
            None => cx.b.jump(enter),
            Some(taken) => {
                let on = self.in_new_block(&mut cx.b, |b| {
                    let active = b.rf_read(self.shape.calling);
                    b.write_active(active);
                    self.next(b);
                });
                cx.b.branch(taken, enter, on);
            }
        }
    }

    /// Makes a block where the active lanes enter a unit, while other lanes of the caller wait.
    fn entering(&self, cx: &mut Cx<'_>, unit: usize) -> BlockId {
        let shape = self.shape;
        let call = self.here.block;
        let site = shape.plan.site(unit, call);
        let overflow = self.in_new_block(&mut cx.b, |b| b.trap(TrapKind::StackOverflow));
        self.in_new_block(&mut cx.b, |b| {
            let entry = self.block(shape.graph.units[unit].entry);
            let enter = |b: &mut BlockBuilder<'_>| {
                let caller = b.rf_read(shape.calling);
                b.rf_write(shape.callers.reg(unit as u32), caller);
                let site = b.iconst(Type::I32, site as u64);
                b.rf_write(shape.sites.reg(unit as u32), site);
                b.jump(entry);
            };
            if !shape.graph.calls_back(unit, self.unit) {
                return enter(b);
            }
            let saved = self.in_new_block(b, |b| {
                frames::save(shape, b, self.unit);
                enter(b);
            });
            let fits = frames::fits(shape, b, self.unit);
            b.branch(fits, saved, overflow);
        })
    }

    /// Makes a block where a caller continues behind its call of a unit.
    fn resuming(&self, b: &mut BlockBuilder<'_>, call: usize, waiting: &Waiting) -> BlockId {
        let shape = self.shape;
        let unit = shape.graph.blocks[call].unit;
        let caller = At { shape, here: Here { block: call, waiting }, mode: self.mode, unit };
        self.in_new_block(b, |b| {
            if shape.graph.calls_back(self.unit, unit) {
                let active = b.rf_read(shape.callers.reg(self.unit as u32));
                frames::restore(shape, b, unit);
                b.write_active(active);
            }
            caller.next(b);
        })
    }

    /// Lanes return from the unit, or end.
    pub(super) fn leave(&self, mut cx: Cx<'_>, insn: &Instruction) {
        if is_always(insn) {
            return self.returned(&mut cx.b);
        }
        if is_uniform(insn) {
            let Some(cond) = self.is_taken(&mut cx) else { return self.returned(&mut cx.b) };
            let (gone, on) =
                (self.in_new_block(&mut cx.b, |b| self.returned(b)), self.on(&mut cx.b));
            return cx.b.branch(cond, gone, on);
        }
        let active = cx.active();
        let taken = self.taken(&mut cx, active);
        let others = cx.b.not(taken);
        let rest = cx.b.and(active, others);
        cx.set_active(rest);
        let (gone, on) = (self.in_new_block(&mut cx.b, |b| self.returned(b)), self.on(&mut cx.b));
        cx.b.branch(rest, on, gone);
    }

    /// Continues after the last active lane of the unit has left.
    ///
    /// Lanes that wait in the unit continue; if there are none, the caller's lanes do.
    pub(super) fn returned(&self, b: &mut BlockBuilder<'_>) {
        let shape = self.shape;
        if shape.graph.units[self.unit].kernel {
            if self.here.waiting.is_empty() {
                return b.exit();
            }
            return self.dispatch(b, self.here.waiting, shape.done);
        }
        let back = |b: &mut BlockBuilder<'_>| {
            let active = b.rf_read(shape.callers.reg(self.unit as u32));
            b.write_active(active);
            let site = b.rf_read(shape.sites.reg(self.unit as u32));
            let sites = (0..).zip(shape.plan.sites(self.unit));
            let cases =
                sites.map(|(n, (call, waiting))| (n, self.resuming(b, call, waiting))).collect();
            b.switch(site, cases, shape.done);
        };
        if self.here.waiting.is_empty() {
            return back(b);
        }
        let back = self.in_new_block(b, back);
        self.dispatch(b, self.here.waiting, back);
    }
}

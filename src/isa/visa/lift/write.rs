//! Writes an instruction's results, once all its sources are read.

use warploom_ir::{Reg, Region, Type, Value};

use super::Cx;
use super::elements::Elements;
use super::mask::ones;
use super::pieces::Piece;
use super::survey::PredicateAccess;
use crate::instruction::PredicateUse;
use crate::types::Exec;

/// A write of a piece.
pub struct Write {
    pub piece: Piece,
    exec: Exec,
    predicate: Option<PredicateUse>,
    pub target: Target,
    pub value: Value,
}

pub enum Target {
    Elements(Elements),
    /// Elements in the array of roots whose addresses are taken. `index`, an `i32`, is added to the
    /// region.
    Indirect {
        index: Value,
        region: Region,
    },
    /// Bits of a predicate of `elements` elements. The value is a mask of lanes.
    ///
    /// The bits from the instruction's offset on are written, in lanes in which it is executed.
    Predicate {
        reg: Reg,
        elements: u32,
    },
    /// A state variable.
    State {
        reg: Reg,
    },
}

impl Cx<'_> {
    pub(super) fn later(&mut self, target: Target, value: Value) {
        let (piece, exec, predicate) = (self.piece, self.exec, self.predicate);
        self.pending.push(Write { piece, exec, predicate, target, value });
    }

    /// Writes the pending results of an instruction's pieces.
    pub(super) fn flush(&mut self) {
        let writes = std::mem::take(&mut self.pending);
        for Write { piece, exec, predicate, target, value } in writes {
            if (piece, exec, predicate) != (self.piece, self.exec, self.predicate) {
                (self.exec, self.predicate) = (exec, predicate);
                self.begin_piece(piece);
            }
            match target {
                Target::Elements(elements) => self.write(elements, value),
                Target::Indirect { index, region } => self.write_indirect(index, region, value),
                Target::Predicate { reg, elements } => self.write_predicate(reg, elements, value),
                Target::State { reg } => {
                    self.b.rf_write(reg, value);
                    self.states.insert(reg, value);
                }
            }
        }
    }

    fn write_indirect(&mut self, index: Value, region: Region, value: Value) {
        let reg = self.shape.storage.arena_reg;
        let (window, guard) = (self.b.window(), self.b.guard());
        if self.piece.is_scalar() {
            let holds = self.holds();
            self.b.set_guard(holds);
            self.b.set_window(self.piece.window());
        }
        self.b.region_write_at(reg, index, region, value);
        self.b.set_window(window);
        self.b.set_guard(guard);
    }

    /// Writes a predicate. `value` has a bit for each lane of the piece.
    fn write_predicate(&mut self, reg: Reg, elements: u32, value: Value) {
        let (exec, piece) = (self.exec, self.piece);
        let first = u32::from(exec.offset) + piece.element;
        let lanes = ones(piece.count.into()) << piece.lane;
        let whole = exec.no_mask && first == 0 && u32::from(piece.count) >= elements;
        let enabled = self.holds().is_some() || !exec.no_mask;
        let ty = self.shape.predicate_type(reg);
        let bits = self.move_bits(value, piece.lane.into(), first, ty);
        let covers = exec.offset == 0 && piece.element == 0 && piece.count == self.lanes();
        let always = self.predicate.is_none();
        let access = PredicateAccess {
            write: true,
            node: self.node,
            plain: covers && always,
            whole: whole && always,
        };
        self.note_predicate(reg, access);
        let old = match self.predicates.get(&reg) {
            _ if whole && !enabled => None,
            // No lane reads the bits that the first write leaves in inactive lanes.
            None if self.shape.storage.local_predicates.contains(&reg.index) => None,
            Some(&old) => Some(old),
            None => Some(self.b.rf_read(reg)),
        };
        let Some(old) = old else { return self.put_predicate(reg, bits) };
        let mut mask = self.constant(Type::Mask, lanes);
        if enabled {
            let on = self.enabled();
            mask = if covers { on } else { self.b.and(on, mask) };
        }
        let mask = self.move_bits(mask, piece.lane.into(), first, ty);
        let inverse = self.b.not(mask);
        let (kept, new) = (self.b.and(old, inverse), self.b.and(bits, mask));
        let merged = self.b.or(kept, new);
        self.put_predicate(reg, merged);
    }

    fn put_predicate(&mut self, reg: Reg, bits: Value) {
        if self.shape.storage.local_predicates.contains(&reg.index) {
            self.predicates.insert(reg, bits);
        } else {
            self.b.rf_write(reg, bits);
        }
    }
}

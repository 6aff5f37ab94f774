//! The lanes in which an instruction is executed. Facts, `visa-semantics.md` 1.

use warploom_guest::divergence::nonzero;
use warploom_ir::{Access, IntCc, Reg, Space, Type, Value};

use super::Cx;
use super::survey::PredicateAccess;
use crate::instruction::{Combine, PredicateUse};
use crate::module::PredicateId;

impl Cx<'_> {
    /// Returns the active lanes.
    pub fn active(&mut self) -> Value {
        if let Some(active) = self.active_lanes {
            return active;
        }
        let active = self.b.read_active();
        *self.active_lanes.insert(active)
    }

    pub(super) fn set_active(&mut self, lanes: Value) {
        self.b.write_active(lanes);
        self.active_lanes = Some(lanes);
    }

    pub(super) fn predicate_reg(&self, id: PredicateId) -> Reg {
        self.shape.predicate(self.routine, id)
    }

    /// Returns the bits of a predicate: a mask, or a number if it has more elements than lanes.
    ///
    /// If `plain`, no lane sees the bits of inactive lanes.
    pub(super) fn predicate_bits(&mut self, reg: Reg, plain: bool) -> Value {
        self.note_predicate(
            reg,
            PredicateAccess { write: false, node: self.node, plain, whole: false },
        );
        match self.predicates.get(&reg) {
            Some(&bits) => bits,
            None => self.b.rf_read(reg),
        }
    }

    pub(super) fn note_predicate(&mut self, reg: Reg, access: PredicateAccess) {
        if let Some(survey) = self.survey {
            survey.borrow_mut().predicates.entry(reg.index).or_default().push(access);
        }
    }

    /// Returns the bits of a used predicate, at their own places.
    ///
    /// If the bits are combined, the result is a mask of all lanes or none.
    pub(super) fn predicate(&mut self, used: PredicateUse) -> Value {
        let reg = self.predicate_reg(used.predicate);
        // A branch of the whole warp tests a bit, whether its lane is active or not.
        let of_lanes = used.combine == Combine::None && !self.exec.no_mask && self.exec.size > 1;
        let mut bits = self.predicate_bits(reg, of_lanes);
        if used.combine != Combine::None {
            let of = self.constant(Type::I64, ones(self.exec.size.into()) << self.exec.offset);
            let number = self.bits_as_number(bits);
            let these = self.b.and(number, of);
            let zero = self.constant(Type::I64, 0);
            bits = match used.combine {
                Combine::All => self.b.icmp(IntCc::Eq, these, of),
                _ => self.b.icmp(IntCc::Ne, these, zero),
            };
        }
        if used.invert { self.b.not(bits) } else { bits }
    }

    /// Returns the lanes of the piece for which the instruction's predicate holds.
    ///
    /// Returns None if the instruction has no predicate. In a block that may run with no lane left,
    /// an instruction without a mask also has the condition `running`.
    pub(super) fn holds(&mut self) -> Option<Value> {
        if let Some(holds) = self.holds {
            return holds;
        }
        let holds = self.predicate.map(|used| self.predicate_at_lanes(used));
        let running = self.running.filter(|_| self.exec.no_mask);
        let holds = match (holds, running) {
            (Some(holds), Some(running)) => Some(self.b.and(holds, running)),
            (holds, running) => holds.or(running),
        };
        *self.holds.insert(holds)
    }

    /// Returns a used predicate as a mask of the lanes of the piece.
    pub(super) fn predicate_at_lanes(&mut self, used: PredicateUse) -> Value {
        let bits = self.predicate(used);
        if used.combine == Combine::None { self.at_lanes(bits) } else { bits }
    }

    /// Moves bits of a predicate to the lanes of the piece, as a mask. The instruction's first bit
    /// is at its offset.
    pub(super) fn at_lanes(&mut self, bits: Value) -> Value {
        let from = u32::from(self.exec.offset) + self.piece.element;
        let to = u32::from(self.piece.lane);
        self.move_bits(bits, from, to, Type::Mask)
    }

    /// Moves bits of a mask or number from one place to another, as a mask or number.
    pub(super) fn move_bits(&mut self, bits: Value, from: u32, to: u32, ty: Type) -> Value {
        if from == to && self.b.ty(bits).ty == ty {
            return bits;
        }
        let mut number = self.bits_as_number(bits);
        if from != to {
            let count = self.constant(Type::I64, from.abs_diff(to).into());
            number =
                if from > to { self.b.shr_u(number, count) } else { self.b.shl(number, count) };
        }
        if ty == Type::Mask { self.b.to_mask(number) } else { number }
    }

    /// Returns a mask's bits as a uniform `i64`. A number is returned as it is.
    pub(super) fn bits_as_number(&mut self, bits: Value) -> Value {
        if self.b.ty(bits).ty == Type::Mask { self.b.from_mask(bits) } else { bits }
    }

    /// Returns a mask that is not 0 if a piece of one element is executed; None if it always is.
    pub fn condition(&mut self) -> Option<Value> {
        let holds = self.holds();
        let lanes = match (self.exec.no_mask, holds) {
            (true, None) => return None,
            (true, Some(holds)) => holds,
            (false, None) => self.active(),
            (false, Some(holds)) => {
                let active = self.active();
                self.b.and(active, holds)
            }
        };
        let bit = self.constant(Type::Mask, 1 << self.piece.lane);
        Some(self.b.and(lanes, bit))
    }

    /// Returns a mask of the lanes of the piece that are executed. The bits of other lanes are
    /// unspecified.
    pub fn enabled(&mut self) -> Value {
        if self.piece.is_scalar() {
            return match self.condition() {
                None => self.constant(Type::Mask, u64::MAX),
                Some(condition) => nonzero(&mut self.b, condition),
            };
        }
        let holds = self.holds();
        match (self.exec.no_mask, holds) {
            (true, None) => self.constant(Type::Mask, u64::MAX),
            (true, Some(holds)) => holds,
            (false, None) => self.active(),
            (false, Some(holds)) => {
                let active = self.active();
                self.b.and(active, holds)
            }
        }
    }

    /// Returns an access of the lanes in which the piece is executed.
    ///
    /// A piece of one element has a scalar access if the address is uniform. The alignment is one
    /// byte, because misalignment is not a fault in messages.
    pub fn access(
        &mut self,
        space: Space,
        ty: Type,
        count: u8,
        address: Value,
        offset: i32,
    ) -> Access {
        let mut access = self.b.access(space, ty, count, address, offset);
        if self.b.ty(address).is_uniform() {
            access.guard = self.condition();
            access.nomask = false;
        }
        access.align = 1;
        access
    }
}

/// Returns `count` ones from bit 0 on.
pub fn ones(count: u32) -> u64 {
    match count {
        0 => 0,
        1..=63 => (1 << count) - 1,
        _ => u64::MAX,
    }
}

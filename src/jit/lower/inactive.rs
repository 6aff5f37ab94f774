//! Steps that have nothing to do in chunks without active lanes.

use super::block::BlockLowerer;
use super::facts::BlockFacts;
use crate::analysis::Step;
use crate::ir::{BinaryOp, Op, UnaryOp, Value, ValueType};

impl BlockLowerer<'_, '_, '_> {
    /// The mask without which a chunk of the current segment has nothing to do, if there is one.
    pub(super) fn skippable(&self) -> Option<Value> {
        let active = self.facts.entry_mask().filter(|active| self.scope.scalars[*active].is_some())?;
        self.facts.inactive[self.scope.steps.start].then_some(active)
    }
}

impl BlockFacts<'_> {
    /// Steps that have nothing to do for a chunk without active lanes: no one sees what they compute there. A step
    /// that feeds another one must be looked at together with it.
    pub(super) fn inactive_steps(&self) -> Vec<bool> {
        let mut inactive = vec![false; self.planned.plan.steps.len()];
        let Some(active) = self.entry_mask() else { return inactive };
        for (number, step) in self.planned.plan.steps.iter().enumerate() {
            if let Step::Segment(insts) = step {
                inactive[number] = insts.iter().all(|&index| self.is_inactive(index, number, active));
            }
        }
        for number in
            (0..inactive.len()).rev().filter(|&number| !matches!(self.planned.plan.steps[number], Step::Scalar(_)))
        {
            if inactive[number] {
                continue;
            }
            for &index in self.planned.plan.steps[number].insts() {
                for v in self.block.insts[index].op.operands() {
                    let home = self.planned.plan.home[v] as usize;
                    if home < number && !self.block.ty(v).is_uniform() {
                        inactive[home] = false;
                    }
                }
            }
        }
        inactive
    }

    /// Whether an instruction of a segment does nothing that can be seen in lanes that are not active.
    fn is_inactive(&self, index: usize, step: usize, active: Value) -> bool {
        let inst = &self.block.insts[index];
        let guarded = match inst.op.masking() {
            Some((guard, _)) => guard.is_some_and(|guard| self.masks().is_subset(guard, active)),
            None => true,
        };
        let settled = |&r: &Value| {
            !self.planned.plan.escapes[r] || self.block.ty(r) != ValueType::MASK || self.settled(r, step, active)
        };
        guarded && inst.results.iter().all(settled)
    }

    /// Whether a mask of a step has the bits of `outside` where `active` is empty.
    fn settled(&self, v: Value, step: usize, active: Value) -> bool {
        if self.planned.plan.home[v] as usize != step || self.masks().is_subset(v, active) {
            return true;
        }
        match *self.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => self.settled(a, step, active),
            Op::Binary { op: BinaryOp::And, a, b } => {
                let empty = |m| self.masks().is_subset(m, active);
                empty(a) || empty(b) || (self.settled(a, step, active) && self.settled(b, step, active))
            }
            Op::Binary { a, b, .. } => self.settled(a, step, active) && self.settled(b, step, active),
            _ => false,
        }
    }
}

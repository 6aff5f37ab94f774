//! Finds steps that have nothing to do in chunks without active lanes.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use warploom_analysis::Step;
use warploom_ir::{BinaryOp, Op, UnaryOp, Value, ValueType};

use super::block::BlockLowerer;
use super::facts::BlockFacts;

/// The most masks that are tried for a step before the active mask. [`MOST_LOOKED_AT`] bounds the
/// masks among which these candidates are searched.
const MOST_CANDIDATES: usize = 16;
const MOST_LOOKED_AT: u32 = 32;

/// The users of the lanes that a step computes.
#[derive(Clone)]
enum Takers {
    /// Steps that use the lanes only under these masks.
    Under(Vec<Value>),
    Anyone,
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the mask without whose lanes a chunk of the current segment has nothing to do, if
    /// there is one.
    pub(super) fn skippable(&self) -> Option<Value> {
        let is_known = |mask: &Value| self.scope.scalars[*mask].is_some();
        let mask = self.facts.inactive[self.scope.steps.start]?;
        Some(mask).filter(is_known).or_else(|| self.facts.entry_mask().filter(is_known))
    }
}

impl BlockFacts<'_> {
    /// Returns for each step the narrowest mask such that chunks without a lane of it can be
    /// skipped.
    ///
    /// Nothing sees the results of the step in other lanes. The mask is the active mask, or a
    /// subset of it if the whole step works under that subset.
    pub(super) fn inactive_steps(&self) -> Vec<Option<Value>> {
        let steps = &self.planned.plan.steps;
        let mut inactive = vec![None; steps.len()];
        let Some(active) = self.entry_mask() else { return inactive };
        let mut takers = vec![Takers::Under(Vec::new()); steps.len()];
        for (number, step) in steps.iter().enumerate().rev() {
            if let (Step::Segment(insts), Takers::Under(masks)) = (step, &takers[number]) {
                let guards =
                    insts.iter().filter_map(|&index| self.block.insts[index].op.masking()?.0);
                let mut candidates = self.known_before(masks.iter().copied().chain(guards), number);
                candidates.push(active);
                inactive[number] = candidates.into_iter().find(|&mask| {
                    masks.iter().all(|&taken| self.masks().is_subset(taken, mask))
                        && self.masks().is_subset(mask, active)
                        && self.are_inactive(insts, mask)
                });
            }
            if matches!(step, Step::Scalar(_)) {
                continue;
            }
            for v in step.insts().iter().flat_map(|&index| self.block.insts[index].op.operands()) {
                let home = self.planned.plan.home[v] as usize;
                if home >= number || self.block.ty(v).is_uniform() {
                    continue;
                }
                match (&mut takers[home], inactive[number]) {
                    (Takers::Under(masks), Some(mask)) if !masks.contains(&mask) => {
                        masks.push(mask)
                    }
                    (Takers::Under(_), Some(_)) | (Takers::Anyone, _) => {}
                    (taker, None) => *taker = Takers::Anyone,
                }
            }
        }
        inactive
    }

    /// Returns masks that are known before a step, among the given masks and their operands.
    fn known_before(&self, masks: impl Iterator<Item = Value>, step: usize) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let mut open: VecDeque<Value> = masks.collect();
        for _ in 0..MOST_LOOKED_AT {
            let Some(mask) = open.pop_front() else { break };
            if self.planned.plan.home[mask] < step as u32 && !found.contains(&mask) {
                found.push(mask);
            }
            if let Op::Binary { op: BinaryOp::And, a, b } = *self.def_op(mask) {
                open.extend([a, b]);
            }
        }
        found.truncate(MOST_CANDIDATES);
        found
    }

    /// Returns whether the instructions of a segment do nothing that can be seen in lanes outside
    /// of `active`.
    fn are_inactive(&self, insts: &[usize], active: Value) -> bool {
        let masks = self.masks();
        let is_guarded = |&index: &usize| match self.block.insts[index].op.masking() {
            Some((guard, _)) => guard.is_some_and(|guard| masks.is_subset(guard, active)),
            None => true,
        };
        if !insts.iter().all(is_guarded) {
            return false;
        }
        let made = insts.iter().flat_map(|&index| &self.block.insts[index].results).copied();
        let made: Vec<Value> = made.filter(|&v| self.block.ty(v) == ValueType::MASK).collect();
        if !made.iter().any(|&v| self.planned.plan.escapes[v]) {
            return true;
        }
        // Masks of the segment that may differ from the bits of `outside` where `active` is empty.
        // The operands of a mask come before it.
        let mut unsettled = FxHashSet::default();
        for v in made {
            let is_settled = |v: Value| !unsettled.contains(&v);
            let settled = match *self.def_op(v) {
                Op::Unary { op: UnaryOp::Not, a } => is_settled(a),
                Op::Binary { op: BinaryOp::And, a, b } => {
                    let is_empty = |m| masks.is_subset(m, active);
                    is_empty(a) || is_empty(b) || (is_settled(a) && is_settled(b))
                }
                Op::Binary { a, b, .. } => is_settled(a) && is_settled(b),
                _ => false,
            };
            if !settled && !masks.is_subset(v, active) {
                if self.planned.plan.escapes[v] {
                    return false;
                }
                unsettled.insert(v);
            }
        }
        true
    }
}

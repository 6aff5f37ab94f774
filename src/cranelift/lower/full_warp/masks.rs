//! Masks of the whole warp that are computed without chunks.

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_analysis::visit;
use warploom_ir::{BinaryOp, IntCc, Op, Type, UnaryOp, Value};

use super::super::block::BlockLowerer;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Returns `true` if a mask is known to have all lanes, and `false` if it is known to have
    /// none.
    pub(in super::super) fn settled_mask(&self, v: Value) -> Option<bool> {
        let settled = self.scope.mode.settled()?;
        let inner = || {
            self.strip()
                .filter(|strip| strip.inner)
                .and(self.facts.planned.sweep.as_ref()?.inner.as_ref())
        };
        settled.group.settled.get(&v).or_else(|| inner()?.settled.get(&v)).copied()
    }

    /// Computes a mask for the whole warp at once. The mask must consist of known masks and of
    /// compares of evenly spaced or uniform values. `parts` caches the masks that it consists of.
    /// Goes to `slow` if lanes wrap.
    pub(super) fn mask_full_warp(
        &mut self,
        mask: Value,
        parts: &mut HashMap<Value, Option<Clif>>,
        slow: ClifBlock,
    ) -> Option<Clif> {
        for part in self.new_parts(mask, parts) {
            let bits = self.part_full_warp(part, parts, slow);
            parts.insert(part, bits);
        }
        parts[&mask]
    }

    /// Returns a mask and the masks that it consists of, in the block's order, without masks that
    /// are in `parts`.
    fn new_parts(&self, mask: Value, parts: &HashMap<Value, Option<Clif>>) -> Vec<Value> {
        let mut new = BTreeMap::new();
        let mut open = vec![mask];
        while let Some(mask) = open.pop() {
            visit();
            if parts.contains_key(&mask)
                || new.insert(self.facts.planned.defs[mask], mask).is_some()
            {
                continue;
            }
            if self.settled_mask(mask).is_none() && self.scope.scalars[mask].is_none() {
                match *self.facts.def_op(mask) {
                    Op::Unary { op: UnaryOp::Not, a } => open.push(a),
                    Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b } => {
                        open.extend([a, b])
                    }
                    _ => {}
                }
            }
        }
        new.into_values().collect()
    }

    /// Computes a mask that is known, a compare, or an operation on `parts`.
    fn part_full_warp(
        &mut self,
        mask: Value,
        parts: &HashMap<Value, Option<Clif>>,
        slow: ClifBlock,
    ) -> Option<Clif> {
        if let Some(full) = self.settled_mask(mask) {
            let bits = if full { self.facts.warp_mask() as i64 } else { 0 };
            return Some(self.b.ins().iconst(types::I64, bits));
        }
        if let Some(known) = self.scope.scalars[mask] {
            return Some(known);
        }
        match *self.facts.def_op(mask) {
            Op::ICmp { .. } => self.compare_full_warp(mask, slow),
            Op::Unary { op: UnaryOp::Not, a } => parts[&a].map(|a| self.other_lanes(a)),
            Op::Binary { op: BinaryOp::And, a, b } => {
                Some(self.b.ins().band(parts[&a]?, parts[&b]?))
            }
            Op::Binary { op: BinaryOp::Or, a, b } => Some(self.b.ins().bor(parts[&a]?, parts[&b]?)),
            Op::Binary { op: BinaryOp::Xor, a, b } => {
                Some(self.b.ins().bxor(parts[&a]?, parts[&b]?))
            }
            _ => None,
        }
    }

    /// Computes the mask of a compare of evenly spaced and uniform values. The compare holds for
    /// all lanes up to some lane, or for all lanes from some lane on.
    pub(super) fn compare_full_warp(&mut self, mask: Value, slow: ClifBlock) -> Option<Clif> {
        let Op::ICmp { cc, a, b } = *self.facts.def_op(mask) else { return None };
        if !self.scope.classes.span_warp() {
            return None;
        }
        let (cc, a, b) = self.scope.classes.spaced_compare(cc, a, b)?;
        let lanes = i64::from(self.facts.function.lanes);
        let step = self.scope.classes.get(a).stride().expect("it compares evenly spaced lanes");
        if self.facts.ty(a) != Type::I32 || !step.unsigned_abs().is_power_of_two() {
            return None;
        }
        let (first, limit) = (self.warp_base(a, Some(slow)), self.warp_base(b, Some(slow)));
        let last = self.spread_full_warp(first, step);
        let straight = self.is_straight(cc, first, last, step);
        self.require(straight, slow);
        // The lanes from lane 0 on either pass or fail the compare.
        let holds_first = is_upwards(cc) == (step > 0);
        let end =
            self.lanes_while(if holds_first { cc } else { cc.inverse() }, step, (first, limit));
        let (none, most) =
            (self.b.ins().iconst(types::I64, 0), self.b.ins().iconst(types::I64, lanes));
        let end = self.b.ins().smin(end, most);
        let one = self.b.ins().iconst(types::I64, 1);
        let mut above = self.b.ins().ishl(one, end);
        if lanes == 64 {
            // Host shifts cannot shift by 64.
            let whole = self.b.ins().icmp(IntCC::Equal, end, most);
            above = self.b.ins().select(whole, none, above);
        }
        let mut bits = self.b.ins().iadd_imm_s(above, -1);
        if !holds_first {
            bits = self.other_lanes(bits);
        }
        Some(bits)
    }

    /// Returns the number of lanes, from lane 0 on, in which a compare of evenly spaced words
    /// holds. The words rise or fall by `step` such that the compare fails from some lane on. They
    /// do not wrap.
    pub(in super::super) fn lanes_while(
        &mut self,
        cc: IntCc,
        step: i64,
        words: (Clif, Clif),
    ) -> Clif {
        let [first, limit] =
            [words.0, words.1].map(|v| match (self.b.func.dfg.value_type(v), cc.is_signed()) {
                (types::I64, _) => v,
                (_, true) => self.b.ins().sextend(types::I64, v),
                (_, false) => self.b.ins().uextend(types::I64, v),
            });
        let or_equal = matches!(cc, IntCc::LeS | IntCc::LeU | IntCc::GeS | IntCc::GeU);
        let distance = if step > 0 {
            self.b.ins().isub(limit, first)
        } else {
            self.b.ins().isub(first, limit)
        };
        let distance = self.b.ins().iadd_imm_s(distance, step.abs() - 1 + i64::from(or_equal));
        let count =
            self.b.ins().sshr_imm_u(distance, i64::from(step.unsigned_abs().trailing_zeros()));
        let none = self.b.ins().iconst(types::I64, 0);
        self.b.ins().smax(count, none)
    }

    /// Returns whether a mask that the group computes is known before its chunks are lowered.
    pub(super) fn is_known(&mut self, mask: Value) -> bool {
        self.settled_mask(mask).is_some() || self.chunk().shared.masks.contains_key(&mask)
    }
}

/// Returns whether a compare that holds for a number also holds for lower numbers.
pub(in super::super) fn is_upwards(cc: IntCc) -> bool {
    matches!(cc, IntCc::LtS | IntCc::LeS | IntCc::LtU | IntCc::LeU)
}

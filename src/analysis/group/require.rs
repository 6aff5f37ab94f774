//! Turns masks that a group requires to be full or empty into conditions that can be tested before
//! it.

use warploom_ir::{BinaryOp, IntCc, Op, Type, UnaryOp, Value};

use super::super::segment::Step;
use super::super::visits::visit;
use super::{Condition, Finder, NARROW};

/// The most masks visited for the conditions of one mask. Masks share parts, so there are many more
/// paths through masks than masks.
const MOST_MASKS: u32 = 100;

impl Finder<'_> {
    /// Adds the conditions under which a mask is full, or empty. Returns false if there are no
    /// simple conditions.
    pub(in super::super) fn require(&mut self, mask: Value, full: bool) -> bool {
        self.require_within(mask, full, &mut { MOST_MASKS })
    }

    /// Adds the conditions under which a mask is full, or empty, and visits at most `left` masks.
    fn require_within(&mut self, mask: Value, full: bool, left: &mut u32) -> bool {
        visit();
        if let Some(&settled) = self.group.settled.get(&mask) {
            return settled == full;
        }
        if self.refused.contains(&(mask, full)) {
            return false;
        }
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        // A warp without active lanes need not be fast.
        if !full && Some(mask) == self.block.entry_mask(self.function.active) {
            return false;
        }
        let possible = if self.is_known_before(mask) {
            self.group.conditions.push(Condition::Mask { mask, full });
            true
        } else {
            match *self.def(mask) {
                Op::Binary { op: BinaryOp::And, a, b } if full => {
                    self.require_within(a, true, left) && self.require_within(b, true, left)
                }
                Op::Binary { op: BinaryOp::Or, a, b } if !full => {
                    self.require_within(a, false, left) && self.require_within(b, false, left)
                }
                Op::Binary { op: BinaryOp::And, a, b } if !full => {
                    let before = self.group.clone();
                    self.require_within(b, false, left) || {
                        self.group = before;
                        self.require_within(a, false, left)
                    }
                }
                Op::Unary { op: UnaryOp::Not, a } => self.require_within(a, !full, left),
                Op::ICmp { cc, a, b } => {
                    self.require_compare(if full { cc } else { cc.inverse() }, a, b)
                }
                _ => false,
            }
        };
        let possible = possible && self.settle(mask, full);
        if !possible {
            self.refused.insert((mask, full));
        }
        possible
    }

    /// Notes that a mask is full, if the conditions so far already say so.
    pub(super) fn note_if_full(&mut self, mask: Value) {
        let before = self.group.clone();
        if !self.require(mask, true) || self.group.conditions != before.conditions {
            self.group = before;
        }
    }

    /// Notes that a mask is full, or empty, and notes the masks that follow from it. Returns false
    /// if another condition says the opposite.
    pub(super) fn settle(&mut self, mask: Value, full: bool) -> bool {
        let mut open = vec![(mask, full)];
        while let Some((mask, full)) = open.pop() {
            match self.group.settled.insert(mask, full) {
                Some(before) if before != full => {
                    self.group.settled.insert(mask, before);
                    return false;
                }
                Some(_) => continue,
                None => {}
            }
            match *self.def(mask) {
                Op::Binary { op: BinaryOp::And, a, b } if full => {
                    open.extend([(b, true), (a, true)])
                }
                Op::Binary { op: BinaryOp::Or, a, b } if !full => {
                    open.extend([(b, false), (a, false)])
                }
                Op::Unary { op: UnaryOp::Not, a } => open.push((a, !full)),
                _ => {}
            }
        }
        true
    }

    /// Notes the masks that are full, or empty, because their operands are.
    pub(super) fn settle_what_follows(&mut self) {
        let steps = self.plan.steps[self.group.steps.clone()].iter();
        for &index in steps.flat_map(Step::insts) {
            let inst = &self.block.insts[index];
            let settled = |v: Value| self.group.settled.get(&v).copied();
            let full = match inst.op {
                Op::Unary { op: UnaryOp::Not, a } => settled(a).map(|full| !full),
                Op::Binary { op: BinaryOp::And, a, b } => match (settled(a), settled(b)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                },
                Op::Binary { op: BinaryOp::Or, a, b } => match (settled(a), settled(b)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                },
                _ => None,
            };
            if let Some(full) = full {
                self.group.settled.entry(inst.results[0]).or_insert(full);
            }
        }
    }

    fn require_compare(&mut self, cc: IntCc, a: Value, b: Value) -> bool {
        // As unsigned numbers, all but 0 are greater than 0.
        let cc = match cc {
            IntCc::Eq if self.constant(b) == Some(0) && self.require_aligned(a) => return true,
            IntCc::Eq if self.constant(b) == Some(0) => IntCc::LeU,
            IntCc::Ne if self.constant(b) == Some(0) => IntCc::GtU,
            cc => cc,
        };
        let Some((cc, a, b)) = self.classes.spaced_compare(cc, a, b) else { return false };
        let ty = self.block.ty(a).ty;
        if cc == IntCc::LtU && ty == Type::I32 && self.require_below(a, b) {
            return true;
        }
        let possible = matches!(ty, Type::I32 | Type::I64);
        if possible {
            self.group.conditions.push(Condition::Compare { cc, a, b });
        }
        possible
    }

    /// Requires that an address is below a limit, in one condition with nearby addresses.
    ///
    /// Returns false if the address is not evenly spaced, or its stride exceeds [`NARROW`].
    fn require_below(&mut self, address: Value, limit: Value) -> bool {
        let is_narrow =
            |v| self.classes.get(v).stride().is_some_and(|stride| stride.unsigned_abs() <= NARROW);
        let (base, offset) = match *self.def(address) {
            Op::Binary { op: BinaryOp::Add, a, b } if is_narrow(a) => match self.constant(b) {
                Some(offset) => (a, offset as i32),
                None => (address, 0),
            },
            _ => (address, 0),
        };
        if !is_narrow(base) {
            return false;
        }
        for condition in &mut self.group.conditions {
            if let Condition::Below { base: other, offsets: (least, greatest), limit: below } =
                condition
                && (*other, *below) == (base, limit)
            {
                let (low, high) = (offset.min(*least), offset.max(*greatest));
                if u64::from(high.abs_diff(low)) <= NARROW {
                    (*least, *greatest) = (low, high);
                    return true;
                }
            }
        }
        self.group.conditions.push(Condition::Below { base, offsets: (offset, offset), limit });
        true
    }

    /// Requires that `bits`, low bits of a value, are 0. Returns false if no condition can express
    /// that.
    fn require_aligned(&mut self, bits: Value) -> bool {
        let Op::Binary { op: BinaryOp::And, a, b } = *self.def(bits) else { return false };
        let Some(low) = self.constant(b).filter(|low| (low + 1).is_power_of_two()) else {
            return false;
        };
        let multiple = |stride: i64| stride.unsigned_abs() & low == 0;
        let possible = self.classes.get(a).stride().is_some_and(multiple);
        if possible {
            self.group.conditions.push(Condition::Aligned { a, low });
        }
        possible
    }
}

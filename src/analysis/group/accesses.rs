//! The accesses of a group: which have evenly spaced or tiled lanes, and which must not overlap.

use warploom_ir::{Access, Op, Space, Value};

use super::super::class::Class;
use super::super::segment::counts_mask;
use super::super::tiled::{Tiled, tiled};
use super::{Condition, Finder, are_near, is_shared, keep_to_lanes};

impl Finder<'_> {
    /// Adds an instruction of a segment to the open group. Returns false if the group cannot
    /// contain it.
    pub(super) fn takes_lanes(&mut self, index: usize) -> bool {
        let op = &self.block.insts[index].op;
        if op.operands().iter().any(|v| self.late.contains(v))
            || counts_mask(op, self.block, |v| !self.is_known_before(v))
        {
            return false;
        }
        let (access, writes) = match op {
            Op::Load { access, .. } => (access, false),
            Op::Store { access, .. } | Op::Atomic { access, .. } => (access, true),
            _ => return true,
        };
        if self.group.loose && writes || self.group.scattered && (writes || is_shared(access)) {
            return false;
        }
        // Shared memory is cleared from block to block, so strips of several blocks do not access
        // it.
        if self.strips && is_shared(access) {
            return false;
        }
        if writes && is_shared(access) && self.classes.get(access.address) == Class::Varying {
            let alone = |&other: &usize| match &self.block.insts[other].op {
                Op::Load { access, .. } => !is_shared(access),
                _ => false,
            };
            self.group.scattered = true;
            return self.group.accesses.iter().all(alone);
        }
        if matches!(self.block.insts[index].op, Op::Atomic { .. }) {
            return false;
        }
        let spaced = self.is_evenly_spaced(access);
        let tiled = if spaced { None } else { self.in_tiles(access) };
        let Some(guard) = access.guard else { return false };
        if self.strips && !writes {
            self.note_if_full(guard);
        } else if !self.require(guard, true) {
            return false;
        }
        if !(spaced || tiled.is_some()) {
            self.group.loose = true;
            return !writes
                && self.only_reads()
                && matches!(access.space, Space::Global | Space::Generic);
        }
        for at in self.phase..self.group.accesses.len() {
            let earlier = self.group.accesses[at];
            let (other, wrote) = match &self.block.insts[earlier].op {
                Op::Store { access, .. } => (access, true),
                op => (op.access().expect("an access"), false),
            };
            if (writes || wrote) && is_shared(access) == is_shared(other) {
                match self.lanes_are_disjoint(other, access) {
                    Some(true) => {}
                    Some(false) => return false,
                    None if self.are_held_apart(earlier, index) => {}
                    None => self.group.apart.push((earlier, index)),
                }
            }
        }
        self.group.accesses.push(index);
        if let Some(tiled) = tiled {
            self.group.conditions.push(Condition::Aligned { a: tiled.root, low: tiled.low });
            self.group.tiled.insert(index, tiled);
        }
        true
    }

    /// Whether the group already tests a pair of other addresses near these two accesses: that test
    /// covers all accesses near the pair.
    fn are_held_apart(&self, earlier: usize, later: usize) -> bool {
        let access = |index: usize| self.block.insts[index].op.access().expect("an access");
        let near = |a: usize, b: usize| {
            !self.group.tiled.contains_key(&a) && are_near(access(a), access(b))
        };
        access(earlier).address != access(later).address
            && self.group.apart.iter().any(|&(a, b)| near(a, earlier) && near(b, later))
    }

    fn only_reads(&self) -> bool {
        let reads = |&index: &usize| matches!(self.block.insts[index].op, Op::Load { .. });
        !self.group.scattered && self.group.accesses[self.phase..].iter().all(reads)
    }

    /// Returns how the lanes of an access lie in tiles, if they do so in all chunks.
    fn in_tiles(&self, access: &Access) -> Option<Tiled> {
        if !matches!(access.space, Space::Global | Space::Generic) {
            return None;
        }
        // The engine has varying values from before the group only as rows.
        let before = |v: Value| (self.plan.home[v] as usize) < self.group.steps.start;
        let def = |v| (self.classes.get(v) != Class::Varying || !before(v)).then(|| self.def(v));
        let tiled = tiled(self.classes, |v| self.block.ty(v).ty, def, access)?;
        // A value kept inside of bounds is often the position of a neighbour, which is not aligned.
        if self.classes.relies_on_choice(tiled.root) {
            return None;
        }
        let chunk =
            self.classes.get(tiled.root).stride()?.checked_mul(self.classes.chunk().into())?;
        (chunk as u64 & tiled.low == 0).then_some(tiled)
    }

    /// Whether no lane touches bytes in `a` that another lane touches in `b`; `None` if that
    /// depends on the addresses.
    fn lanes_are_disjoint(&self, a: &Access, b: &Access) -> Option<bool> {
        let stride = self.classes.get(a.address).stride()?;
        if a.address != b.address {
            return None;
        }
        if keep_to_lanes(a, b, stride) {
            return if self.classes.span_warp() || self.strips { Some(true) } else { None };
        }
        // Lanes of one chunk may overlap. If not, a run-time test must cover the other chunks.
        let bytes = u64::from(a.bytes().max(b.bytes()));
        let in_chunk = stride.unsigned_abs() * u64::from(self.classes.chunk() - 1) + bytes;
        if u64::from(a.offset.abs_diff(b.offset)) < in_chunk { Some(false) } else { None }
    }

    fn is_evenly_spaced(&self, access: &Access) -> bool {
        let stride = self.classes.get(access.address).stride();
        stride.is_some_and(|stride| stride % i64::from(access.align.max(1)) == 0)
            && matches!(access.space, Space::Global | Space::Generic | Space::Shared)
    }
}

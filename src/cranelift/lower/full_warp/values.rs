//! Values that are evenly spaced over all lanes that are lowered as a whole.

use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Choice, Class};
use warploom_ir::{Op, Special, Value};

use super::super::block::BlockLowerer;
use super::super::chunk::{Chunk, Reach, flags};
use super::super::sweep::Strip;
use super::super::vector;
use crate::forms::clif_type;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Returns lane 0 of a uniform or evenly spaced value: lane 0 of the warp if lanes are evenly
    /// spaced over the whole warp, otherwise lane 0 of each chunk. Goes to `slow` if a test shows
    /// that the value is not evenly spaced.
    pub(super) fn first_lanes(&mut self, v: Value, slow: ClifBlock) -> SmallVec<[Clif; 8]> {
        if self.spans() {
            return SmallVec::from_elem(self.warp_base(v, Some(slow)), 1);
        }
        let mut firsts = SmallVec::new();
        for number in 0..self.facts.chunk_count() {
            self.enter_chunk(number);
            let (first, doubt) = self.base(v);
            if let Some(holds) = doubt {
                self.require(holds, slow);
                self.chunk().bases.insert(v, (first, None));
            }
            self.chunk().keep_bases();
            firsts.push(first);
        }
        self.enter_chunk(0);
        firsts
    }

    /// Returns whether evenly spaced values are so over all lanes that are lowered at once, and not
    /// only within each chunk.
    pub(super) fn spans(&self) -> bool {
        self.scope.classes.span_warp() || self.strip().is_some()
    }

    pub(in super::super) fn strip(&self) -> Option<&Strip> {
        self.scope.mode.strip()
    }

    /// Returns lane 0 of a uniform or evenly spaced value. Goes to `slow` if a test shows that the
    /// value is not evenly spaced. Without `slow`, the value must need no test.
    pub(in super::super) fn warp_base(&mut self, v: Value, slow: Option<ClifBlock>) -> Clif {
        if self.scope.classes.get(v) == Class::Uniform {
            return self.scalar(v);
        }
        if let Some(&base) = self.chunk().shared.bases.get(&v) {
            return base;
        }
        let base = match self.facts.def_op(v) {
            Op::RfRead { reg, .. } => {
                let (clif, offset) =
                    (clif_type(self.facts.ty(v), false), self.facts.layout.offset(*reg) as i32);
                self.b.ins().load(clif, flags(), self.registers, offset)
            }
            Op::LaneId => self.b.ins().iconst(types::I32, 0),
            Op::Special(Special::Tid(axis)) => self.first_tid(*axis),
            op => {
                let base = self.first_of(v, &mut |lowerer, operand| match (
                    op,
                    lowerer.scope.classes.get(operand),
                ) {
                    (Op::Concat { .. }, Class::Varying) => {
                        let (word, same) = lowerer.same_in_warp(operand);
                        lowerer.require(same, slow.expect("only tested values are in doubt"));
                        word
                    }
                    _ => lowerer.warp_base(operand, slow),
                });
                if let Some((why, a)) = self.doubt_of(v).filter(|_| !self.is_tested_in_strip(v)) {
                    let first = self.warp_base(a, slow);
                    if let Some(spaced) = self.is_spaced(why, a, first, self.reach()) {
                        self.require(spaced, slow.expect("only tested values are in doubt"));
                    }
                }
                if let Some(Choice { cc, a, b, .. }) = self.scope.classes.choice(v) {
                    let (first, limit) = (self.warp_base(a, slow), self.warp_base(b, slow));
                    let holds = self.holds_in_lanes(cc, (a, first), limit, self.reach());
                    self.require(holds, slow.expect("only tested values are in doubt"));
                }
                base
            }
        };
        self.chunk().shared.bases.insert(v, base);
        base
    }

    /// Returns lane 0 of a varying word, and whether all lanes have the same word.
    pub(super) fn same_in_warp(&mut self, v: Value) -> (Clif, Clif) {
        let (mut first, mut all) = (None, None);
        for number in 0..self.facts.chunk_count() {
            self.enter_chunk(number);
            let lanes = self.lanes(v);
            let first = *first.get_or_insert_with(|| vector::first_lane(self.b, lanes[0]));
            let same = self.are_spaced(&lanes, first, 0);
            all = Some(all.map_or(same, |all| self.b.ins().band(all, same)));
        }
        self.enter_chunk(0);
        let word = self.b.ins().extractlane(first.expect("a warp has chunks"), 0);
        (word, all.expect("a warp has chunks"))
    }

    /// Returns the chunk's lane 0 of an evenly spaced value, while a group is lowered as a whole.
    pub(in super::super) fn full_warp_base(&mut self, v: Value) -> Option<Clif> {
        let Class::Affine { step, exact } = self.scope.classes.get(v) else { return None };
        if self.scope.mode.settled().is_none() || !self.spans() || !(exact || self.is_tested(v)) {
            return None;
        }
        if step == 0 {
            return Some(self.warp_base(v, None));
        }
        let first = self.current_base(v, step);
        let reach = self.reach_of_chunk();
        Some(self.spread(first, step, reach))
    }

    /// Returns lane 0 of the current warp.
    pub(super) fn current_base(&mut self, v: Value, step: i64) -> Clif {
        let first = self.warp_base(v, None);
        let Some(lanes) = self.strip().and_then(|strip| strip.lanes_before) else { return first };
        if let Some(&moved) = self.chunk().shared.moved.get(&v) {
            return moved;
        }
        let moved = self.spread(first, step, Reach::Counted(lanes));
        self.chunk().shared.moved.insert(v, moved);
        moved
    }

    /// Returns whether a value has been found to be evenly spaced, over the warp or in the chunk.
    pub(in super::super) fn is_tested(&self, v: Value) -> bool {
        let tested = |chunk: &Chunk| {
            chunk.shared.bases.contains_key(&v)
                || chunk.bases.get(&v).is_some_and(|(_, doubt)| doubt.is_none())
        };
        self.is_tested_in_strip(v) || self.scope.chunk.as_ref().is_some_and(tested)
    }

    pub(super) fn is_tested_in_strip(&self, v: Value) -> bool {
        self.strip().is_some_and(|strip| strip.spaced.contains(v))
    }

    /// Returns the value in the last of the lanes that are lowered at once.
    pub(super) fn spread_full_warp(&mut self, first: Clif, step: i64) -> Clif {
        let reach = self.reach();
        self.spread(first, step, reach)
    }

    pub(super) fn reach(&self) -> Reach {
        self.scope.mode.settled().expect("a group is being lowered").reach
    }

    /// Returns the chunk's first lane, counted from the warp's first lane.
    pub(super) fn reach_of_chunk(&mut self) -> Reach {
        match self.chunk().known_first_lane() {
            Some(lane) => Reach::Known(lane),
            None => Reach::Counted(self.first_lane()),
        }
    }
}

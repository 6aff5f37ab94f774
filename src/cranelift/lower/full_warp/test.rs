//! Tests of the conditions for lowering a group as a whole.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Condition, Group, Tiled, are_near, keep_to_lanes};
use warploom_ir::{Access, IntCc, Op, Value};

use super::super::address::{Range, Rights, extent};
use super::super::block::BlockLowerer;
use super::super::chunk::Reach;
use super::super::int;
use super::Host;
use crate::CHUNK;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Goes to `slow` unless the group's conditions and the tests of its accesses hold.
    /// [`Self::test_disjoint`] tests which accesses are apart.
    pub(in super::super) fn test_lanes(&mut self, group: &Group, slow: ClifBlock) {
        for condition in &group.conditions {
            match *condition {
                Condition::Mask { mask, full } => {
                    let all = self.facts.warp_mask();
                    let mask = self.scalar(mask);
                    let wanted = self.b.ins().iconst(types::I64, if full { all as i64 } else { 0 });
                    let holds = self.b.ins().icmp(IntCC::Equal, mask, wanted);
                    self.require(holds, slow);
                }
                Condition::Compare { cc, a, b } => {
                    let (firsts, others) = (self.first_lanes(a, slow), self.first_lanes(b, slow));
                    for (first, b) in firsts.into_iter().zip(others) {
                        let holds = self.holds_in_lanes(cc, (a, first), b, self.reach());
                        self.require(holds, slow);
                    }
                }
                Condition::Below { base, offsets: (least, greatest), limit } => {
                    let step = self
                        .scope
                        .classes
                        .get(base)
                        .stride()
                        .expect("a group compares evenly spaced values");
                    let (firsts, limits) =
                        (self.first_lanes(base, slow), self.first_lanes(limit, slow));
                    for (first, limit) in firsts.into_iter().zip(limits) {
                        let last = self.spread_full_warp(first, step);
                        let (low, high) = if step < 0 { (last, first) } else { (first, last) };
                        let low = int::plus(self.b, low, least.into());
                        let high = int::plus(self.b, high, greatest.into());
                        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, high, limit);
                        self.require(below, slow);
                        if step != 0 || least != greatest {
                            let straight =
                                self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, low, high);
                            self.require(straight, slow);
                        }
                    }
                }
                Condition::Aligned { a, low } => {
                    let firsts = self.first_lanes(a, slow);
                    let bits = self.any_bits(&firsts);
                    let bits = self.b.ins().band_imm_s(bits, low as i64);
                    let holds = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0);
                    self.require(holds, slow);
                }
            }
        }
        for &index in &group.accesses {
            if let Some(tiled) = group.tiled.get(&index) {
                self.test_tiles(group, index, tiled, slow);
            } else if !self.hosts().contains_key(&index) {
                self.test_spaced(group, index, slow);
            }
        }
    }

    /// Goes to `slow` unless accesses that must be disjoint are so.
    pub(in super::super) fn test_disjoint(&mut self, group: &Group, slow: ClifBlock) {
        for &(a, b) in &group.apart {
            let (one, other) = (self.access(a), self.access(b));
            let spaced = !group.tiled.contains_key(&a) && one.address == other.address;
            let apart = if spaced && keep_to_lanes(one, other, self.hosts()[&a].step) {
                self.chunks_follow(a)
            } else {
                let (at_a, at_b) =
                    (self.host_range_of_near(group, a), self.host_range_of_near(group, b));
                self.are_disjoint(&at_a, &at_b)
            };
            self.require(apart, slow);
        }
    }

    /// Tests an access, together with the accesses near it.
    pub(super) fn test_spaced(&mut self, group: &Group, index: usize, slow: ClifBlock) {
        let access = *self.access(index);
        let step = self
            .scope
            .classes
            .get(access.address)
            .stride()
            .expect("accesses of a group are evenly spaced");
        let near = |&other: &usize| {
            !group.tiled.contains_key(&other) && are_near(self.access(other), &access)
        };
        let near: Vec<usize> = group.accesses.iter().copied().filter(near).collect();
        let lowest =
            near.iter().map(|&other| self.access(other).offset).min().unwrap_or(access.offset);
        let end = |other: usize| {
            i64::from(self.access(other).offset - lowest) + i64::from(self.access(other).bytes())
        };
        let bytes = near.iter().map(|&other| end(other)).max().unwrap_or(access.bytes().into());
        let rights = self.rights(&near);
        let first = Access { offset: lowest, ..access };
        let firsts: SmallVec<[Clif; 8]> = self
            .first_lanes(access.address, slow)
            .into_iter()
            .map(|base| self.first_address(&first, base))
            .collect();
        let range = self.range(&firsts, step, bytes);
        let run = self.run_for(access.address);
        let addend = self.host_addend(&access, &range, (run, rights), slow);
        let firsts: SmallVec<[Clif; 8]> =
            firsts.into_iter().map(|first| self.b.ins().iadd(first, addend)).collect();
        for other in near {
            let offset = self.access(other).offset - lowest;
            self.hosts().insert(other, Host { firsts: firsts.clone(), step, offset });
        }
    }

    /// Tests an access to tiles, together with all accesses to the same place.
    pub(super) fn test_tiles(
        &mut self,
        group: &Group,
        index: usize,
        tiled: &Tiled,
        slow: ClifBlock,
    ) {
        let access = self.access(index);
        let same: Vec<usize> = group
            .accesses
            .iter()
            .copied()
            .filter(|&other| same_place(self.access(other), access))
            .collect();
        let rights = self.rights(&same);
        let (_, bytes) = extent(access, &tiled.distances);
        let run = self.run_of(index);
        let mut firsts = SmallVec::new();
        for number in 0..self.facts.chunk_count() {
            self.enter_chunk(number);
            let (root, _) = self.base(tiled.root);
            for &limit in &tiled.limits {
                let fits = self.is_within(limit, (tiled.root, root));
                self.require(fits, slow);
            }
            let first = self.first_lane_of(access.address, (tiled.root, root));
            let first = self.first_address(access, first);
            let range = self.range(&[first], 0, bytes);
            let addend = self.host_addend(access, &range, (run, rights), slow);
            firsts.push(self.b.ins().iadd(first, addend));
        }
        self.enter_chunk(0);
        self.hosts().insert(index, Host { firsts, step: 0, offset: 0 });
    }

    /// Returns the range of host memory that an access and the accesses near it touch. One test of
    /// such ranges covers all pairs of their accesses.
    fn host_range_of_near(&mut self, group: &Group, index: usize) -> Range {
        let is_near = |&other: &usize| {
            !group.tiled.contains_key(&other) && are_near(self.access(other), self.access(index))
        };
        let near: Vec<usize> = group.accesses.iter().copied().filter(is_near).collect();
        let near = if group.tiled.contains_key(&index) { vec![index] } else { near };
        let mut all: Option<Range> = None;
        let mut done = Vec::new();
        for other in near {
            let host = self.hosts()[&other].clone();
            let place = (host.firsts, host.offset, self.access(other).bytes());
            if done.contains(&place) {
                continue;
            }
            done.push(place);
            let range = self.host_range(other);
            all = Some(match all {
                None => range,
                Some(all) => Range {
                    low: self.b.ins().umin(all.low, range.low),
                    last: self.b.ins().umax(all.last, range.last),
                    ..all
                },
            });
        }
        all.expect("an access is near itself")
    }

    /// Returns the range of host memory that an access touches. Several guest pages may share it.
    pub(super) fn host_range(&mut self, index: usize) -> Range {
        let access = self.access(index);
        let host = self.hosts()[&index].clone();
        let firsts: SmallVec<[Clif; 8]> = host
            .firsts
            .into_iter()
            .map(|first| int::plus(self.b, first, host.offset.into()))
            .collect();
        let settled = self.scope.mode.settled().expect("a group is being lowered");
        let bytes = settled
            .group
            .tiled
            .get(&index)
            .map_or(access.bytes().into(), |tiled| extent(access, &tiled.distances).1);
        self.range(&firsts, host.step, bytes)
    }

    /// Returns the range that accesses touch. `firsts` are the addresses of their lanes 0, `step`
    /// is the distance between lanes, and each lane touches `bytes` bytes.
    pub(super) fn range(&mut self, firsts: &[Clif], step: i64, bytes: i64) -> Range {
        let (mut low, mut high) = (firsts[0], firsts[0]);
        for &first in &firsts[1..] {
            low = self.b.ins().umin(low, first);
            high = self.b.ins().umax(high, first);
        }
        match step {
            0 => {}
            ..0 => low = self.spread_full_warp(low, step),
            1.. => high = self.spread_full_warp(high, step),
        }
        Range {
            low,
            last: int::plus(self.b, high, bytes - 1),
            bits: self.any_bits(firsts),
            falls: step < 0,
        }
    }

    /// Returns the union of the bits of all values.
    pub(super) fn any_bits(&mut self, values: &[Clif]) -> Clif {
        let mut bits = values[0];
        for &value in &values[1..] {
            bits = self.b.ins().bor(bits, value);
        }
        bits
    }

    /// Returns whether each chunk of an access ends before the next chunk begins, in the order of
    /// the lanes.
    pub(super) fn chunks_follow(&mut self, index: usize) -> Clif {
        let Host { firsts, step, .. } = self.hosts()[&index].clone();
        let mut follow = self.b.ins().iconst(types::I8, 1);
        for pair in firsts.windows(2) {
            let end = self.b.ins().iadd_imm_s(pair[0], step * i64::from(CHUNK));
            let cc = if step < 0 {
                IntCC::UnsignedLessThanOrEqual
            } else {
                IntCC::UnsignedGreaterThanOrEqual
            };
            let behind = self.b.ins().icmp(cc, pair[1], end);
            follow = self.b.ins().band(follow, behind);
        }
        follow
    }

    /// Returns the rights that accesses need together.
    pub(super) fn rights(&self, accesses: &[usize]) -> Rights {
        let mut rights = Rights { read: false, write: false };
        for &index in accesses {
            match self.facts.block.insts[index].op {
                Op::Store { .. } => rights.write = true,
                _ => rights.read = true,
            }
        }
        rights
    }

    /// Returns whether a compare with `b` holds in all lanes of an evenly spaced value, and the
    /// value does not wrap between them. `first` is the value's first lane.
    pub(in super::super) fn holds_in_lanes(
        &mut self,
        cc: IntCc,
        (a, first): (Value, Clif),
        b: Clif,
        reach: Reach,
    ) -> Clif {
        let step = self.scope.classes.get(a).stride().expect("it compares evenly spaced values");
        if step == 0 {
            return self.b.ins().icmp(int::condition(cc), first, b);
        }
        let last = self.spread(first, step, reach);
        let straight = self.is_straight(cc, first, last, step);
        let less = matches!(cc, IntCc::LtS | IntCc::LeS | IntCc::LtU | IntCc::LeU);
        let extreme = if less == (step > 0) { last } else { first };
        let holds = self.b.ins().icmp(int::condition(cc), extreme, b);
        self.b.ins().band(straight, holds)
    }

    /// Returns whether lanes do not wrap, as signed or unsigned numbers according to the compare.
    pub(in super::super) fn is_straight(
        &mut self,
        cc: IntCc,
        first: Clif,
        last: Clif,
        step: i64,
    ) -> Clif {
        let rising = if cc.is_signed() { IntCc::GtS } else { IntCc::GtU };
        let cc = if step > 0 { rising } else { rising.swapped() };
        self.b.ins().icmp(int::condition(cc), last, first)
    }

    /// Returns whether two ranges have no byte in common.
    pub(super) fn are_disjoint(&mut self, a: &Range, b: &Range) -> Clif {
        let before = self.b.ins().icmp(IntCC::UnsignedLessThan, a.last, b.low);
        let behind = self.b.ins().icmp(IntCC::UnsignedLessThan, b.last, a.low);
        self.b.ins().bor(before, behind)
    }
}

/// Returns whether two accesses have the same addresses, alignment, type and count.
fn same_place(a: &Access, b: &Access) -> bool {
    let place = |access: &Access| {
        (access.space, access.address, access.offset, access.align, access.ty, access.count)
    };
    place(a) == place(b)
}

//! Global memory: accesses whose lanes all lie in a run, by one check.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_analysis::Class;
use warploom_engine::helpers::STAGED_VALUES;
use warploom_ir::{Access, BinaryOp, ConvertOp, Extend, Op, Space, Type, Value};

use super::super::address::{MOST_SUMS, Rights};
use super::super::block::BlockLowerer;
use super::super::int::plus;
use super::lanes::Offsets;
use crate::forms::{Lanes, clif_type};

/// The number of an element, whose address is `base + (word << shift)` with the word extended to 64
/// bits.
pub(in super::super) struct Index {
    base: Value,
    pub word: Value,
    shift: i64,
    signed: bool,
}

/// The range of element numbers that lie in a run.
#[derive(Clone, Copy)]
pub struct Elements {
    /// The host address where element 0 would be.
    host: Clif,
    /// The least number, if numbers are signed, and the greatest number, in all lanes of a vector.
    least: Option<Clif>,
    most: Clif,
}

impl BlockLowerer<'_, '_, '_> {
    /// Locates lanes at any addresses in global memory. Returns the distances from the run's first
    /// byte to the lanes, and the host address of that byte. Inactive lanes have distance 0. Goes
    /// to `slow` unless all active lanes lie in the run and are aligned.
    pub(in super::super) fn in_a_run(
        &mut self,
        access: &Access,
        run: usize,
        rights: Rights,
        slow: ClifBlock,
    ) -> (Lanes, Clif) {
        let guard = access.guard.expect("analysis makes masks explicit");
        let lanes = self.lanes(access.address);
        let lane = |lowerer: &mut Self| lowerer.b.ins().extractlane(lanes[0], 0);
        let [first, bytes, addend] = self.run_around((run, rights), access.address, lane);
        let host = self.b.ins().iadd(addend, first);
        let clif = clif_type(Type::I64, true);
        let start = plus(self.b, first, -i64::from(access.offset));
        let start = self.b.ins().splat(clif, start);
        let room = plus(self.b, bytes, -i64::from(access.bytes()));
        let room = self.b.ins().splat(clif, room);
        let whole = self.settled_mask(guard) == Some(true);
        let masks = self.mask_lanes(guard, Type::I64);
        let distances: Lanes = lanes
            .iter()
            .zip(masks)
            .map(|(&lane, mask)| {
                let distance = self.b.ins().isub(lane, start);
                if whole { distance } else { self.b.ins().band(distance, mask) }
            })
            .collect();
        // For a lane outside the run, the distance or the room left behind it is negative. An empty
        // run has negative room.
        let mut union = distances[0];
        let mut left = self.b.ins().isub(room, distances[0]);
        for &distance in &distances[1..] {
            union = self.b.ins().bor(union, distance);
            let other = self.b.ins().isub(room, distance);
            left = self.b.ins().bor(left, other);
        }
        let sign = self.b.ins().bor(union, left);
        let sign = self.b.ins().bor(sign, room);
        let sign = self.b.ins().vhigh_bits(types::I32, sign);
        let within = self.b.ins().icmp_imm_u(IntCC::Equal, sign, 0);
        self.require(within, slow);
        if access.align > 1 {
            let [low, high] = [0, 1].map(|lane| self.b.ins().extractlane(union, lane));
            let union = self.b.ins().bor(low, high);
            let aligned =
                self.is_aligned(access.align, union).expect("an alignment that is in doubt");
            self.require(aligned, slow);
        }
        (distances, host)
    }

    /// Returns whether lanes probably have pointers to different buffers.
    ///
    /// This is the case if the address is not the sum of a base that all lanes share and an
    /// extended word, and if a guard has separated lanes, as in code that asks which memory a
    /// pointer refers to.
    pub(in super::super) fn may_be_in_several_buffers(&self, access: &Access) -> bool {
        let is_alike = |v: Value| self.scope.classes.get(v).is_same();
        let mut v = access.address;
        for _ in 0..MOST_SUMS {
            match *self.facts.def_op(v) {
                Op::Binary { op: BinaryOp::Add, a, b } if is_alike(a) => v = b,
                Op::Binary { op: BinaryOp::Add, a, b } if is_alike(b) => v = a,
                Op::Binary { op: BinaryOp::Shl, a, .. } => v = a,
                Op::Convert { op: ConvertOp::ZeroExtend | ConvertOp::SignExtend, .. } => {
                    return false;
                }
                _ => break,
            }
        }
        access.space == Space::Global && access.guard != self.facts.entry_mask()
    }

    /// Continues if an active lane lies in one of the access's runs, even if other lanes are in
    /// another buffer. If no lane does, goes to `helper`, which finds the run in which they lie.
    pub(in super::super) fn unless_all_miss(
        &mut self,
        access: &Access,
        run: usize,
        helper: ClifBlock,
    ) {
        let clif = clif_type(Type::I64, true);
        let masks =
            self.mask_lanes(access.guard.expect("analysis makes masks explicit"), Type::I64);
        let lanes = self.lanes(access.address);
        let mut inside = None;
        for [first, bytes, _] in self.runs_of(run, Rights::READ, access.address) {
            let start = plus(self.b, first, -i64::from(access.offset));
            let start = self.b.ins().splat(clif, start);
            let room = plus(self.b, bytes, -i64::from(access.bytes()));
            let room = self.b.ins().splat(clif, room);
            for (&lane, &mask) in lanes.iter().zip(&masks) {
                let distance = self.b.ins().isub(lane, start);
                let left = self.b.ins().isub(room, distance);
                let beyond = self.b.ins().bor(distance, left);
                let beyond = self.b.ins().bor(beyond, room);
                let within = self.b.ins().band_not(mask, beyond);
                inside = Some(inside.map_or(within, |inside| self.b.ins().bor(inside, within)));
            }
        }
        let inside = inside.expect("a chunk has lanes");
        let some = self.b.ins().vhigh_bits(types::I32, inside);
        let some = self.b.ins().icmp_imm_u(IntCC::NotEqual, some, 0);
        self.require(some, helper);
    }

    /// Returns the index by which an access reads an element. The address must be the sum of a base
    /// that all lanes share and a multiple of an extended word.
    pub(in super::super) fn index_of(&self, access: &Access) -> Option<Index> {
        let address = access.address;
        // Where values spill, the operands of an address are not kept.
        if !self.is_home(address) || self.scope.spills.is_some() {
            return None;
        }
        let Op::Binary { op: BinaryOp::Add, a, b } = *self.facts.def_op(address) else {
            return None;
        };
        let (base, scaled) = match [a, b].map(|v| self.scope.classes.get(v).affine()) {
            [Some((0, true)), None] => (a, b),
            [None, Some((0, true))] => (b, a),
            _ => return None,
        };
        let (extended, shift) = match *self.facts.def_op(scaled) {
            Op::Binary { op: BinaryOp::Shl, a, b } => (a, self.facts.constant(b)?),
            _ => (scaled, 0),
        };
        let Op::Convert {
            op: op @ (ConvertOp::ZeroExtend | ConvertOp::SignExtend), a: word, ..
        } = *self.facts.def_op(extended)
        else {
            return None;
        };
        let words =
            self.facts.ty(word) == Type::I32 && self.scope.classes.get(word) == Class::Varying;
        let whole = shift <= 3 && 1 << shift >= u64::from(access.align);
        let here = self.is_home(scaled) && self.is_home(extended);
        (words && whole && here).then_some(Index {
            base,
            word,
            shift: shift as i64,
            signed: op == ConvertOp::SignExtend,
        })
    }

    /// Returns the elements, read by index, that lie in a run. Goes to `slow` if no element does,
    /// or if indices are unsigned and element 0 lies before the run.
    pub(in super::super) fn elements(
        &mut self,
        access: &Access,
        index: &Index,
        run: usize,
        slow: ClifBlock,
    ) -> Elements {
        let (base, _) = self.base(index.base);
        let [first, bytes, addend] = self.run_around((run, Rights::READ), access.address, |_| base);
        let base = plus(self.b, base, access.offset.into());
        if let Some(aligned) = self.is_aligned(access.align, base) {
            self.require(aligned, slow);
        }
        // `before`: the distance of element 0 from the run's start, negative before it. `left`: the
        // distance from element 0 to the last possible element.
        let before = self.b.ins().isub(base, first);
        let room = plus(self.b, bytes, -i64::from(access.bytes()));
        let left = self.b.ins().isub(room, before);
        let most = self.b.ins().sshr_imm_u(left, index.shift);
        let host = self.b.ins().iadd(base, addend);
        let narrow = |lowerer: &mut Self, limit: Clif| {
            let limit = lowerer.b.ins().ireduce(types::I32, limit);
            lowerer.b.ins().splat(types::I32X4, limit)
        };
        if index.signed {
            let least = self.b.ins().sshr_imm_u(before, index.shift);
            let least = self.b.ins().ineg(least);
            let [lowest, highest] =
                [i32::MIN, i32::MAX].map(|end| self.b.ins().iconst(types::I64, i64::from(end)));
            let (least, most) =
                (self.b.ins().smax(least, lowest), self.b.ins().smin(most, highest));
            let any = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, least, most);
            self.require(any, slow);
            return Elements { host, least: Some(narrow(self, least)), most: narrow(self, most) };
        }
        let both = self.b.ins().bor(before, most);
        let any = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, both, 0);
        self.require(any, slow);
        let highest = self.b.ins().iconst(types::I64, i64::from(u32::MAX));
        let most = self.b.ins().umin(most, highest);
        Elements { host, least: None, most: narrow(self, most) }
    }

    /// Locates elements that are read by index, like [`Self::in_a_run`]. The check compares 32-bit
    /// lanes with the bounds of the index. Inactive lanes have index 0.
    fn by_index(
        &mut self,
        access: &Access,
        index: &Index,
        elements: Elements,
        slow: ClifBlock,
    ) -> (Offsets, Clif) {
        let guard = access.guard.expect("analysis makes masks explicit");
        let lanes = self.lanes(index.word);
        let lanes: Lanes = if self.settled_mask(guard) == Some(true) {
            lanes
        } else {
            let mask = self.mask_words(guard);
            lanes.iter().zip(mask).map(|(&lane, mask)| self.b.ins().band(lane, mask)).collect()
        };
        let Elements { host, least, most } = elements;
        let within: Vec<Clif> = lanes
            .iter()
            .map(|&lane| match least {
                Some(least) => {
                    let low = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, least, lane);
                    let high = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, lane, most);
                    self.b.ins().band(low, high)
                }
                None => self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, lane, most),
            })
            .collect();
        let within = self.b.ins().band(within[0], within[1]);
        let within = self.b.ins().vhigh_bits(types::I32, within);
        let within = self.b.ins().icmp_imm_u(IntCC::Equal, within, 0xf);
        self.require(within, slow);
        let offsets = Offsets { lanes, signed: index.signed, shift: index.shift };
        (offsets, host)
    }

    pub(in super::super) fn gather_global(
        &mut self,
        access: &Access,
        extend: Extend,
        (run, known): (usize, Option<Elements>),
        slow: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let (offsets, host) = match self.index_of(access) {
            Some(index) => {
                let elements = known.unwrap_or_else(|| self.elements(access, &index, run, slow));
                self.by_index(access, &index, elements, slow)
            }
            None => {
                let (distances, host) = self.in_a_run(access, run, Rights::READ, slow);
                (Offsets::bytes(&distances), host)
            }
        };
        self.gather_lanes(access, extend, result_ty, (host, access.ty.bytes() as i32), &offsets)
    }

    /// Stores lanes at any addresses in global memory, like [`Self::gather_global`]. Inactive lanes
    /// write to the scratch area.
    pub(super) fn scatter_global(
        &mut self,
        access: &Access,
        values: &[Lanes],
        run: usize,
        slow: ClifBlock,
    ) {
        let (distances, host) = self.in_a_run(access, run, Rights::WRITE, slow);
        let nowhere = self.b.ins().iadd_imm_s(self.ctx, i64::from(Self::scratch(STAGED_VALUES)));
        let nowhere = self.b.ins().isub(nowhere, host);
        let offsets = self.or_nowhere(access, Type::I64, &distances, nowhere);
        self.scatter_lanes(access, values, (host, access.ty.bytes() as i32), &offsets);
    }
}

//! Loads and stores of lanes that are apart: one by one, inline, after one check of all.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};

use super::super::abi;
use super::super::forms::{Lanes, clif_type, parts};
use super::super::helpers::{AccessDesc, STAGED_VALUES};
use super::address::{Rights, Spaced, evenly, fits_a_page};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::int::{plus, shifted_up};
use super::staging::Unreached;
use super::vector;
use crate::analysis::{CHUNK, Class};
use crate::ir::typing::MAX_ELEMENTS;
use crate::ir::{Access, BinaryOp, ConvertOp, Extend, Inst, Op, Space, Type, Value};
use warploom_runtime::warp::SHARED_PADDING;

const LANES: i64 = CHUNK as i64;

// What a lane accesses fits behind shared memory.
const _: () = assert!(MAX_ELEMENTS as u64 * 8 <= SHARED_PADDING);

/// Values of which an address is made that are looked at.
const MAX_VALUES: u32 = 64;

/// An element's number: `base + (word << shift)`, the word extended, is its address.
pub(super) struct Index {
    base: Value,
    pub word: Value,
    shift: i64,
    signed: bool,
}

/// Elements of a run, by their numbers.
#[derive(Clone, Copy)]
pub struct Elements {
    /// Where element 0 would be.
    host: Clif,
    /// The least number, if numbers have signs, and the greatest, in all lanes of a vector.
    least: Option<Clif>,
    most: Clif,
}

/// What is added to a host address for each lane: words or 64-bit values, shifted up.
struct Offsets {
    lanes: Lanes,
    signed: bool,
    shift: i64,
}

impl Offsets {
    fn bytes(lanes: &[Clif]) -> Offsets {
        Offsets { lanes: lanes.into(), signed: false, shift: 0 }
    }

    /// Bytes of one lane's.
    fn cell(&self) -> i32 {
        16 * self.lanes.len() as i32 / LANES as i32
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// The inline way of lanes that have no place together, where there is one for the access; leaves to `slow` when a
    /// check fails. Without one it goes to `slow` at once.
    pub(super) fn load_apart(
        &mut self,
        access: &Access,
        extend: Extend,
        run: Option<usize>,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Option<Vec<Lanes>> {
        if let Some(run) = run {
            return Some(self.gather_global(access, extend, (run, None), slow, result_ty));
        }
        let class = self.classes.get(access.address);
        match access.space {
            Space::Shared if class == Class::Varying => Some(self.gather_shared(access, extend, slow, result_ty)),
            Space::Local if self.is_inline_local(access) => Some(self.load_local(access, slow)),
            _ => {
                self.b.ins().jump(slow, &[]);
                None
            }
        }
    }

    /// The reverse: whether there is an inline way for the access.
    pub(super) fn store_apart(
        &mut self,
        (desc, run): (*const AccessDesc, Option<usize>),
        access: &Access,
        (values, lanes): (&[Value], &[Lanes]),
        bits: Clif,
        slow: ClifBlock,
    ) -> bool {
        if let Some(run) = run {
            self.scatter_global(access, lanes, run, slow);
        } else if self.scatters_shared(access) {
            self.scatter_shared(access, lanes, bits, slow);
        } else if access.space == Space::Shared {
            self.stage(access, values);
            self.lane_loop(access, bits, Unreached::Alone(desc), |lowerer, host, lane| {
                for e in 0..usize::from(access.count) {
                    let v = lowerer.staged_scalar(STAGED_VALUES + e * LANES as usize, lane, access.ty);
                    lowerer.store_element(access.ty, v, host, (e as u32 * access.ty.bytes()) as i32);
                }
            });
        } else if self.is_inline_local(access) {
            let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
            self.require(full, slow);
            self.store_local(access, lanes, slow);
        } else {
            self.b.ins().jump(slow, &[]);
            return false;
        }
        true
    }

    /// Whether stores to shared memory have code for lanes wherever they are: where it is worth it.
    pub(super) fn scatters_shared(&self, access: &Access) -> bool {
        access.space == Space::Shared && self.region.effort.is_fast()
    }

    /// Any lanes of shared memory: all are checked at once, then loaded one by one.
    fn gather_shared(&mut self, access: &Access, extend: Extend, slow: ClifBlock, result_ty: Type) -> Vec<Lanes> {
        let guard = access.guard.expect("analysis makes masks explicit");
        // Lanes that do not take part read at 0, which is in range.
        let mask = self.mask_words(guard);
        let offsets = self.shared_offsets(access, Some(mask), slow);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        let clif = clif_type(result_ty, true);
        let done = self.b.create_block();
        let merged: Vec<Lanes> = (0..access.count)
            .map(|_| (0..parts(result_ty)).map(|_| self.b.append_block_param(done, clif)).collect())
            .collect();

        // Tiles that all lanes walk through together, and along whose rows they stand, are common: one load serves them all.
        let [first, second] = [0, 1].map(|lane| self.b.ins().extractlane(offsets[0], lane));
        let distance = self.b.ins().isub(second, first);
        let apart = self.b.create_block();
        for step in [0, access.bytes().into()] {
            // Two lanes tell which it may be.
            let (likely, spaced, other) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
            let begins_so = self.b.ins().icmp_imm_s(IntCC::Equal, distance, step);
            self.b.ins().brif(begins_so, likely, &[], other, &[]);
            self.b.switch_to_block(likely);
            let all = vector::first_lane(self.b, offsets[0]);
            let holds = self.are_spaced(&offsets, all, step);
            self.b.ins().brif(holds, spaced, &[], apart, &[]);
            self.b.switch_to_block(spaced);
            let at = self.b.ins().uextend(types::I64, first);
            let host = self.b.ins().iadd(shared, at);
            let loaded = self.load_spaced(access, extend, (host, 0), &evenly(step), result_ty);
            let args: Vec<BlockArg> = loaded.iter().flatten().map(|&v| BlockArg::Value(v)).collect();
            self.b.ins().jump(done, &args);
            self.b.switch_to_block(other);
        }
        self.b.ins().jump(apart, &[]);
        self.b.switch_to_block(apart);
        let values = self.gather_lanes(access, extend, result_ty, shared, &Offsets::bytes(&offsets));
        let args: Vec<BlockArg> = values.iter().flatten().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        merged
    }

    /// Whether a load of shared memory has code for lanes wherever they are that is short.
    pub(super) fn loads_in_turn(&self, access: &Access) -> bool {
        let varying = self.classes.get(access.address) == Class::Varying;
        access.space == Space::Shared && varying && !self.region.effort.is_fast()
    }

    /// Any lanes of shared memory one after the other, those that take no part being 0. If one is not in range, the helper does all.
    pub(super) fn load_in_turn(&mut self, inst: &Inst, desc: *const AccessDesc, access: &Access, extend: Extend) {
        let result_ty = self.ty(inst.results[0]);
        let word = |element: usize| STAGED_VALUES + element * LANES as usize;
        let elements = 0..usize::from(access.count);
        self.stage(access, &[]);
        let zeros = self.zero_lanes(result_ty);
        for element in elements.clone() {
            self.stage_lanes(word(element), &zeros);
        }
        let bits = self.mask_bits(access.guard.expect("analysis makes masks explicit"));
        let (slow, done) = (self.cold_block(), self.b.create_block());
        self.lane_loop(access, bits, Unreached::Leaves(slow), |lowerer, host, lane| {
            for element in elements.clone() {
                let v = lowerer.load_element(access.ty, extend, host, (element as u32 * access.ty.bytes()) as i32);
                let (at, offset) = lowerer.staged_address(word(element), lane, result_ty);
                lowerer.b.ins().store(flags(), v, at, offset);
            }
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.call_access(desc, bits, true);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        for (element, &value) in inst.results.iter().enumerate().take(elements.end) {
            let lanes = self.staged_lanes(word(element), result_ty);
            self.chunk().lanes.insert(value, lanes);
        }
    }

    /// Whether lanes of global memory get code for the case that they are apart: where they look so, and where code is hot.
    pub(super) fn may_scatter(&self, access: &Access) -> bool {
        self.can_scatter(access) && (self.region.effort.is_fast() || self.looks_scattered(access))
    }

    /// Whether an address in global memory is made such that lanes are hardly consecutive: from memory, or of single bits.
    pub(super) fn looks_scattered(&self, access: &Access) -> bool {
        self.can_scatter(access) && self.comes_from_memory(access.address)
    }

    /// Whether a value of lanes is made from memory, or of single bits.
    pub(super) fn comes_from_memory(&self, v: Value) -> bool {
        self.is_of_bits(v, &mut { MAX_VALUES })
    }

    fn can_scatter(&self, access: &Access) -> bool {
        matches!(access.space, Space::Global | Space::Generic) && self.classes.get(access.address) == Class::Varying
    }

    fn is_of_bits(&self, v: Value, left: &mut u32) -> bool {
        if *left == 0 || self.classes.get(v) != Class::Varying {
            return false;
        }
        *left -= 1;
        let mut of = |v: Value| self.is_of_bits(v, left);
        match *self.def_op(v) {
            Op::Load { .. } | Op::Binary { op: BinaryOp::Xor | BinaryOp::ShrU, .. } => true,
            // An index that is cut to a table's size is as consecutive as it was.
            Op::Binary { op: BinaryOp::And, a, b } => match *self.def_op(b) {
                Op::Const { bits, .. } if bits.wrapping_add(1).is_power_of_two() => of(a),
                _ => true,
            },
            Op::Binary { a, b, .. } => of(a) || of(b),
            Op::Concat { lo: a, .. } | Op::Convert { a, .. } | Op::Select { a, .. } => of(a),
            _ => false,
        }
    }

    /// Where any lanes of global memory are, if all that take part lie in a run: from the run's first byte to each of them, and
    /// the host address of that byte. Lanes that do not take part are at it.
    pub(super) fn in_a_run(&mut self, access: &Access, run: usize, rights: Rights, slow: ClifBlock) -> (Lanes, Clif) {
        let guard = access.guard.expect("analysis makes masks explicit");
        let [first, bytes, addend] = self.run(run, rights);
        let host = self.b.ins().iadd(addend, first);
        let clif = clif_type(Type::I64, true);
        let start = plus(self.b, first, -i64::from(access.offset));
        let start = self.b.ins().splat(clif, start);
        let room = plus(self.b, bytes, -i64::from(access.bytes()));
        let room = self.b.ins().splat(clif, room);
        let whole = self.settled_mask(guard) == Some(true);
        let masks = self.mask_lanes(guard, Type::I64);
        let lanes = self.lanes(access.address);
        let distances: Lanes = lanes
            .iter()
            .zip(masks)
            .map(|(&lane, mask)| {
                let distance = self.b.ins().isub(lane, start);
                if whole { distance } else { self.b.ins().band(distance, mask) }
            })
            .collect();
        // A distance beyond the run is negative, or what is left behind it is. In an empty run there is no room at all.
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
            let aligned = self.is_aligned(access.align, union).expect("an alignment that is in doubt");
            self.require(aligned, slow);
        }
        (distances, host)
    }

    /// What an access reads an element by: a word, if its address is one that all lanes have and a multiple of the word.
    pub(super) fn index_of(&self, access: &Access) -> Option<Index> {
        let address = access.address;
        // What an address is made of is not kept where values rest.
        if !self.is_home(address) || self.rest.is_some() {
            return None;
        }
        let Op::Binary { op: BinaryOp::Add, a, b } = *self.def_op(address) else { return None };
        let (base, scaled) = match [a, b].map(|v| self.classes.get(v).affine()) {
            [Some((0, true)), None] => (a, b),
            [None, Some((0, true))] => (b, a),
            _ => return None,
        };
        let (extended, shift) = match *self.def_op(scaled) {
            Op::Binary { op: BinaryOp::Shl, a, b } => (a, self.constant(b)?),
            _ => (scaled, 0),
        };
        let Op::Convert { op: op @ (ConvertOp::ZeroExtend | ConvertOp::SignExtend), a: word, .. } =
            *self.def_op(extended)
        else {
            return None;
        };
        let words = self.ty(word) == Type::I32 && self.classes.get(word) == Class::Varying;
        let whole = shift <= 3 && 1 << shift >= u64::from(access.align);
        let here = self.is_home(scaled) && self.is_home(extended);
        (words && whole && here).then_some(Index {
            base,
            word,
            shift: shift as i64,
            signed: op == ConvertOp::SignExtend,
        })
    }

    /// Which elements that are read by index lie in a run; to `slow` if none does, or element 0 would not.
    pub(super) fn elements(&mut self, access: &Access, index: &Index, run: usize, slow: ClifBlock) -> Elements {
        let [first, bytes, addend] = self.run(run, Rights::READ);
        let (base, _) = self.base(index.base);
        let base = plus(self.b, base, access.offset.into());
        if let Some(aligned) = self.is_aligned(access.align, base) {
            self.require(aligned, slow);
        }
        // Element 0 is so far behind the run's start (or before it); so many bytes are left behind it for the last one.
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
            let [lowest, highest] = [i32::MIN, i32::MAX].map(|end| self.b.ins().iconst(types::I64, i64::from(end)));
            let (least, most) = (self.b.ins().smax(least, lowest), self.b.ins().smin(most, highest));
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

    /// The same as `in_a_run` for elements that are read by index: 32-bit lanes are compared with the bounds of the index. Lanes that
    /// do not take part have index 0.
    fn by_index(&mut self, access: &Access, index: &Index, elements: Elements, slow: ClifBlock) -> (Offsets, Clif) {
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

    pub(super) fn gather_global(
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
        self.gather_lanes(access, extend, result_ty, host, &offsets)
    }

    /// Loads lanes at offsets from a host address.
    fn gather_lanes(
        &mut self,
        access: &Access,
        extend: Extend,
        result_ty: Type,
        host: Clif,
        offsets: &Offsets,
    ) -> Vec<Lanes> {
        let mut pair = None;
        let size = access.ty.bytes() as i32;
        let mut values: Vec<Lanes> = vec![Lanes::new(); usize::from(access.count)];
        let per = LANES as usize / parts(result_ty);
        let clif = clif_type(result_ty, true);
        for lane in 0..LANES as usize {
            let offset = self.offset_of(offsets, lane, &mut pair);
            let at = self.b.ins().iadd(host, offset);
            for (element, lanes) in values.iter_mut().enumerate() {
                let v = self.load_element(access.ty, extend, at, element as i32 * size);
                match lane % per {
                    0 => lanes.push(self.b.ins().scalar_to_vector(clif, v)),
                    among => lanes[lane / per] = self.b.ins().insertlane(lanes[lane / per], v, among as u8),
                }
            }
        }
        values
    }

    /// A lane's offset. Words come out of the vectors in pairs, of which the last is kept. Through the scratch area it would be fewer
    /// instructions, but loads wait for stores where their addresses look alike (gather takes 0.82 to 0.96 of the time).
    fn offset_of(&mut self, offsets: &Offsets, lane: usize, pair: &mut Option<Clif>) -> Clif {
        let per = LANES as usize / offsets.lanes.len();
        let words = per == 4;
        if !words || lane.is_multiple_of(2) {
            let pairs = vector::cast(self.b, types::I64X2, offsets.lanes[lane / per]);
            *pair = Some(self.b.ins().extractlane(pairs, (lane % per / (per / 2)) as u8));
        }
        let pair = pair.expect("lanes come in order");
        let offset = match (words, lane % 2, offsets.signed) {
            (false, ..) => pair,
            (true, 1, true) => self.b.ins().sshr_imm_u(pair, 32),
            (true, 1, false) => self.b.ins().ushr_imm_u(pair, 32),
            (true, _, signed) => {
                let low = self.b.ins().ireduce(types::I32, pair);
                if signed { self.b.ins().sextend(types::I64, low) } else { self.b.ins().uextend(types::I64, low) }
            }
        };
        shifted_up(self.b, offset, offsets.shift)
    }

    /// The reverse of [`Self::gather_global`]. Lanes that do not take part write to the scratch area.
    fn scatter_global(&mut self, access: &Access, values: &[Lanes], run: usize, slow: ClifBlock) {
        let (distances, host) = self.in_a_run(access, run, Rights::WRITE, slow);
        let nowhere = self.b.ins().iadd_imm_s(self.ctx, i64::from(Self::scratch(STAGED_VALUES)));
        let nowhere = self.b.ins().isub(nowhere, host);
        let offsets = self.or_nowhere(access, Type::I64, &distances, nowhere);
        self.scatter_lanes(access, values, host, &offsets);
    }

    /// Offsets of the lanes that take part, and of nowhere for the others.
    fn or_nowhere(&mut self, access: &Access, ty: Type, offsets: &[Clif], nowhere: Clif) -> Offsets {
        let nowhere = self.b.ins().splat(clif_type(ty, true), nowhere);
        let masks = self.mask_lanes(access.guard.expect("analysis makes masks explicit"), ty);
        let lanes: Lanes =
            offsets.iter().zip(masks).map(|(&at, mask)| vector::blend(self.b, mask, at, nowhere)).collect();
        Offsets::bytes(&lanes)
    }

    /// Any lanes of shared memory: in vectors if they are consecutive, else one by one after one check of all.
    fn scatter_shared(&mut self, access: &Access, values: &[Lanes], bits: Clif, slow: ClifBlock) {
        let (some, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(bits, some, &[], done, &[]);
        self.b.switch_to_block(some);
        if access.count == 1 && access.ty.bytes() >= 4 && fits_a_page(access, &evenly(access.bytes().into())) {
            let apart = self.b.create_block();
            let saved = self.chunk.clone();
            self.store_among(access, &values[0], apart);
            self.b.ins().jump(done, &[]);
            self.chunk = saved;
            self.b.switch_to_block(apart);
        }
        let mask = self.mask_words(access.guard.expect("analysis makes masks explicit"));
        let offsets = self.shared_offsets(access, Some(mask), slow);
        // Lanes that do not take part write behind shared memory, where there is room for what starts in its last byte.
        let nowhere = self.ctx_load(types::I32, abi::SHARED_BYTES);
        let offsets = self.or_nowhere(access, Type::I32, &offsets, nowhere);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        self.scatter_lanes(access, values, shared, &offsets);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Stores consecutive lanes of shared memory, and what was there for those that do not take part: nobody else sees it
    /// meanwhile, since a block's warps share a host thread. Leaves to `apart` if lanes are not consecutive, or not all in reach.
    fn store_among(&mut self, access: &Access, lanes: &Lanes, apart: ClifBlock) {
        let step = i64::from(access.bytes());
        let offsets = self.words(access);
        let first = self.b.ins().extractlane(offsets[0], 0);
        let all = vector::first_lane(self.b, offsets[0]);
        let consecutive = self.are_spaced(&offsets, all, step);
        self.require(consecutive, apart);
        let first = self.b.ins().uextend(types::I64, first);
        let last = self.b.ins().iadd_imm_s(first, (LANES - 1) * step);
        let inside = self.is_in_shared(access, &Spaced { first, last, step });
        self.require(inside, apart);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        let host = self.b.ins().iadd(shared, first);
        let clif = clif_type(access.ty, true);
        let masks = self.mask_lanes(access.guard.expect("analysis makes masks explicit"), access.ty);
        for (part, (&v, mask)) in lanes.iter().zip(masks).enumerate() {
            let before = self.b.ins().load(clif, flags(), host, 16 * part as i32);
            let after = vector::blend(self.b, mask, v, before);
            self.b.ins().store(flags(), after, host, 16 * part as i32);
        }
    }

    /// A lane's offset out of the scratch area.
    fn staged_offset(&mut self, offsets: &Offsets, lane: usize) -> Clif {
        let (context, from) = (self.ctx, Self::scratch(0) + offsets.cell() * lane as i32);
        let offset = match (offsets.cell(), offsets.signed) {
            (8, _) => self.b.ins().load(types::I64, flags(), context, from),
            (_, true) => self.b.ins().sload32(flags(), context, from),
            (_, false) => self.b.ins().uload32(flags(), context, from),
        };
        shifted_up(self.b, offset, offsets.shift)
    }

    /// The reverse of [`Self::gather_lanes`], the highest lane last. Offsets go through the scratch area: values take enough registers.
    fn scatter_lanes(&mut self, access: &Access, values: &[Lanes], host: Clif, offsets: &Offsets) {
        self.stage_lanes(0, &offsets.lanes);
        let size = access.ty.bytes() as i32;
        for lane in 0..LANES as usize {
            let offset = self.staged_offset(offsets, lane);
            let at = self.b.ins().iadd(host, offset);
            for (element, lanes) in values.iter().enumerate() {
                let per = LANES as usize / lanes.len();
                let v = self.b.ins().extractlane(lanes[lane / per], (lane % per) as u8);
                self.store_element(access.ty, v, at, element as i32 * size);
            }
        }
    }

    /// Whether lanes access words at an offset in local memory that all share.
    fn is_inline_local(&self, access: &Access) -> bool {
        access.space == Space::Local
            && self.classes.get(access.address).stride() == Some(0)
            && matches!(access.ty, Type::I32 | Type::F32)
    }

    fn store_local(&mut self, access: &Access, values: &[Lanes], slow: ClifBlock) {
        let host = self.local_address(access, slow);
        let row = 4 * i32::from(self.function.lanes);
        for (e, lanes) in values.iter().enumerate() {
            for (i, &v) in lanes.iter().enumerate() {
                self.b.ins().store(flags(), v, host, e as i32 * row + i as i32 * 16);
            }
        }
    }

    fn load_local(&mut self, access: &Access, slow: ClifBlock) -> Vec<Lanes> {
        let host = self.local_address(access, slow);
        let row = 4 * i32::from(self.function.lanes);
        let clif = clif_type(access.ty, true);
        (0..i32::from(access.count))
            .map(|e| (0..2).map(|i| self.b.ins().load(clif, flags(), host, e * row + i * 16)).collect())
            .collect()
    }
}

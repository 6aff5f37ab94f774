//! Loads and stores of a chunk. Accesses whose lanes are evenly spaced are checked once and done inline; the rest is
//! staged in the context's scratch area and done lane by lane, inline or by a helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;

use super::super::abi;
use super::super::forms::{Lanes, clif_type, parts};
use super::super::helpers::{AccessDesc, AccessKind, Helper, STAGED_COMPARE, STAGED_VALUES};
use super::block::BlockLowerer;
use super::chunk::{Reach, flags};
use super::vector;
use crate::analysis::{CHUNK, Class, bound};
use crate::ir::{Access, Extend, Op, Space, Type, Value};
use warploom_runtime::warp::{PAGE_BITS, TLB_ENTRIES};

const LANES: i64 = CHUNK as i64;

/// Offsets that are known to end below are likely to lie in any kernel's shared memory.
const SMALL_OFFSET: i64 = 16 << 10;

/// An address whose lanes are evenly spaced, with the access's offset added.
#[derive(Clone, Copy)]
pub(super) struct Spaced {
    /// Of the first lane and of the last, `i64`. One that has 32 bits is extended before the lanes are spread.
    pub first: Clif,
    pub last: Clif,
    pub step: i64,
    /// Whether it is so, where that is known at run time only.
    pub holds: Option<Clif>,
}

impl Spaced {
    /// The lowest and the highest lane.
    pub fn ends(&self) -> (Clif, Clif) {
        if self.step < 0 { (self.last, self.first) } else { (self.first, self.last) }
    }
}

/// What an access does.
#[derive(Clone, Copy)]
pub(super) struct Rights {
    pub read: bool,
    pub write: bool,
}

impl Rights {
    pub const READ: Rights = Rights { read: true, write: false };
    pub const WRITE: Rights = Rights { read: false, write: true };
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn element_bytes(access: &Access) -> i64 {
        i64::from(access.ty.bytes()) * i64::from(access.count)
    }

    /// The first of evenly spaced lanes of an address, with the access's offset added, `i64`.
    pub(super) fn first_address(&mut self, access: &Access, base: Clif) -> Clif {
        let first = self.b.ins().iadd_imm_s(base, i64::from(access.offset));
        if self.ty(access.address) == Type::I64 { first } else { self.b.ins().uextend(types::I64, first) }
    }

    /// The address as evenly spaced lanes: by its class, or as a guess that it is consecutive.
    fn spaced(&mut self, access: &Access) -> Spaced {
        let wide = self.ty(access.address) == Type::I64;
        let (base, step, holds) = match self.classes.get(access.address).stride() {
            Some(step) => {
                let (base, holds) = self.base(access.address);
                (base, step, holds)
            }
            None => {
                let lanes = self.lanes(access.address);
                let base = self.b.ins().extractlane(lanes[0], 0);
                let step = Self::element_bytes(access);
                let mut same: Option<Clif> = None;
                let clif = clif_type(self.ty(access.address), true);
                let splat = self.b.ins().splat(clif, base);
                let per = LANES / lanes.len() as i64;
                for (part, &lane) in lanes.iter().enumerate() {
                    let at = |i: i64| (part as i64 * per + i) * step;
                    let offsets = if wide {
                        vector::longs(self.b, [at(0) as u64, at(1) as u64])
                    } else {
                        vector::words(self.b, [at(0) as u32, at(1) as u32, at(2) as u32, at(3) as u32])
                    };
                    let expected = self.b.ins().iadd(splat, offsets);
                    let equal = self.b.ins().icmp(IntCC::Equal, lane, expected);
                    let equal = vector::cast(self.b, types::I32X4, equal);
                    same = Some(match same {
                        Some(same) => self.b.ins().band(same, equal),
                        None => equal,
                    });
                }
                let bits = self.b.ins().vhigh_bits(types::I32, same.expect("an address has lanes"));
                (base, step, Some(self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xf)))
            }
        };
        let first = self.first_address(access, base);
        let last = self.spread(first, step, Reach::Known(LANES - 1));
        Spaced { first, last, step, holds }
    }

    /// Continues in a fresh block if `condition` holds, else goes to `slow`.
    pub(super) fn require(&mut self, condition: Clif, slow: cranelift_codegen::ir::Block) {
        let go = self.b.create_block();
        self.b.ins().brif(condition, go, &[], slow, &[]);
        self.b.switch_to_block(go);
    }

    /// Host address of lane 0 of evenly spaced lanes, having checked alignment and range; else to `slow`.
    pub(super) fn host_address(
        &mut self,
        access: &Access,
        spaced: &Spaced,
        rights: Rights,
        slow: cranelift_codegen::ir::Block,
    ) -> Clif {
        if let Some(holds) = spaced.holds {
            self.require(holds, slow);
        }
        let align = i64::from(access.align.max(1));
        if align > 1 {
            let low = self.b.ins().band_imm_u(spaced.first, align - 1);
            let aligned = self.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
            self.require(aligned, slow);
        }
        let (low, high) = spaced.ends();
        match access.space {
            Space::Shared => {
                let end = self.b.ins().iadd_imm_s(high, Self::element_bytes(access));
                let limit = self.ctx_load(types::I64, abi::SHARED_BYTES);
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
                self.require(inside, slow);
                if spaced.step < 0 {
                    let positive = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, low, 0);
                    self.require(positive, slow);
                }
                let shared = self.ctx_load(types::I64, abi::SHARED);
                self.b.ins().iadd(shared, spaced.first)
            }
            _ => {
                let end = self.b.ins().iadd_imm_s(high, Self::element_bytes(access) - 1);
                let (hit, addend) = self.look_up(low, end, rights);
                let addend = if self.whole.is_some() {
                    self.fill_on_miss(hit, addend, [low, end], rights, slow)
                } else {
                    self.require(hit, slow);
                    addend
                };
                self.b.ins().iadd(spaced.first, addend)
            }
        }
    }

    /// Whether the TLB has the one page of a range, whose last byte is `end`, and what leads to its host address.
    fn look_up(&mut self, low: Clif, end: Clif, rights: Rights) -> (Clif, Clif) {
        let page = self.b.ins().ushr_imm_u(low, i64::from(PAGE_BITS));
        let (tags, addend) = self.tlb_entry(page, rights);
        let last_page = self.b.ins().ushr_imm_u(end, i64::from(PAGE_BITS));
        let mut differs = self.b.ins().bxor(page, last_page);
        for tag in tags {
            let other = self.b.ins().bxor(tag, page);
            differs = self.b.ins().bor(differs, other);
        }
        (self.b.ins().icmp_imm_u(IntCC::Equal, differs, 0), addend)
    }

    /// The addend of a look-up; after a miss, of one more with the page filled in. A group does so, for its slow path
    /// costs more than a few checks.
    fn fill_on_miss(
        &mut self,
        hit: Clif,
        addend: Clif,
        [low, end]: [Clif; 2],
        rights: Rights,
        slow: cranelift_codegen::ir::Block,
    ) -> Clif {
        let (miss, found) = (self.cold_block(), self.b.create_block());
        let result = self.b.append_block_param(found, types::I64);
        self.b.ins().brif(hit, found, &[BlockArg::Value(addend)], miss, &[]);
        self.b.switch_to_block(miss);
        self.region.call(self.b, Helper::Fill, &[self.ctx, low]);
        let (hit, addend) = self.look_up(low, end, rights);
        self.b.ins().brif(hit, found, &[BlockArg::Value(addend)], slow, &[]);
        self.b.switch_to_block(found);
        result
    }

    /// Tags and addend of the TLB entry where a page would be. The page is there if it equals every tag.
    pub(super) fn tlb_entry(&mut self, page: Clif, rights: Rights) -> (SmallVec<[Clif; 2]>, Clif) {
        let folded = self.b.ins().ushr_imm_u(page, 8);
        let hash = self.b.ins().bxor(page, folded);
        let slot = self.b.ins().band_imm_u(hash, TLB_ENTRIES as i64 - 1);
        let bytes = self.b.ins().ishl_imm_u(slot, 5);
        let tlb = self.ctx_load(types::I64, abi::TLB);
        let entry = self.b.ins().iadd(tlb, bytes);
        let tags = [(rights.read, 0), (rights.write, 8)]
            .into_iter()
            .filter(|&(wanted, _)| wanted)
            .map(|(_, offset)| self.b.ins().load(types::I64, flags(), entry, offset))
            .collect();
        let addend = self.b.ins().load(types::I64, flags(), entry, 16);
        (tags, addend)
    }

    /// One element from host memory as a scalar of the result's type.
    pub(super) fn load_element(&mut self, ty: Type, extend: Extend, at: Clif, offset: i32) -> Clif {
        match (ty, extend) {
            (Type::I8, Extend::Signed) => self.b.ins().sload8(types::I32, flags(), at, offset),
            (Type::I16, Extend::Signed) => self.b.ins().sload16(types::I32, flags(), at, offset),
            (Type::I8, _) => self.b.ins().uload8(types::I32, flags(), at, offset),
            (Type::I16 | Type::F16, _) => self.b.ins().uload16(types::I32, flags(), at, offset),
            _ => self.b.ins().load(clif_type(ty, false), flags(), at, offset),
        }
    }

    pub(super) fn store_element(&mut self, ty: Type, v: Clif, at: Clif, offset: i32) {
        match ty {
            Type::I8 => self.b.ins().istore8(flags(), v, at, offset),
            Type::I16 | Type::F16 => self.b.ins().istore16(flags(), v, at, offset),
            _ => self.b.ins().store(flags(), v, at, offset),
        };
    }

    pub(super) fn load(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Load { access, extend, .. } = inst.op else { unreachable!() };
        let result_ty = self.ty(inst.results[0]);
        let guard = access.guard.expect("analysis makes masks explicit");
        let desc = self.describe(index, AccessKind::Load { extend });
        let count = usize::from(access.count);

        let done = self.b.create_block();
        let merged: Vec<Lanes> = (0..count)
            .map(|_| {
                (0..parts(result_ty)).map(|_| self.b.append_block_param(done, clif_type(result_ty, true))).collect()
            })
            .collect();
        let slow = self.cold_block();
        // What is computed from here on is known to one side only.
        self.mask_bits(guard);
        if self.classes.get(access.address) == Class::Varying {
            self.lanes(access.address);
        }
        let saved = self.chunk.clone();
        if let Some(loaded) = self.fast_load(&access, extend, slow, result_ty) {
            let words = (result_ty.bits() != 64).then(|| self.mask_words(guard));
            let longs = (result_ty.bits() == 64).then(|| self.mask_longs(guard));
            let mut args = Vec::new();
            for lanes in &loaded {
                for (part, &v) in lanes.iter().enumerate() {
                    let mask = match (&words, &longs) {
                        (Some(words), _) => words[part],
                        (_, Some(longs)) => longs[part],
                        _ => unreachable!(),
                    };
                    let clif = clif_type(result_ty, true);
                    let mask = vector::cast(self.b, clif, mask);
                    args.push(BlockArg::Value(self.b.ins().band(v, mask)));
                }
            }
            self.b.ins().jump(done, &args);
        }
        self.chunk = saved.clone();
        self.b.switch_to_block(slow);
        self.stage_addresses(&access);
        let bits = self.mask_bits(guard);
        self.call_access(desc, bits, true);
        let mut args = Vec::new();
        for element in 0..count {
            for v in self.staged_lanes(STAGED_VALUES + element * LANES as usize, result_ty) {
                args.push(BlockArg::Value(v));
            }
        }
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.chunk = saved;
        for (&value, lanes) in inst.results.iter().zip(merged) {
            self.chunk().lanes.insert(value, lanes);
        }
    }

    /// The inline way, where there is one for the access; leaves to `slow` when a check fails. Without one it goes to
    /// `slow` at once.
    fn fast_load(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: cranelift_codegen::ir::Block,
        result_ty: Type,
    ) -> Option<Vec<Lanes>> {
        let class = self.classes.get(access.address);
        match access.space {
            Space::Shared if class == Class::Varying => {
                return Some(self.gather_shared(access, extend, slow, result_ty));
            }
            Space::Local => {
                if let (Some((0, _)), Type::I32 | Type::F32) = (class.affine(), access.ty) {
                    return Some(self.load_local(access, slow));
                }
                self.b.ins().jump(slow, &[]);
                return None;
            }
            Space::Const(_) => {
                self.b.ins().jump(slow, &[]);
                return None;
            }
            _ => {}
        }
        let spaced = self.spaced(access);
        if spaced.step != 0 && spaced.step % i64::from(access.align.max(1)) != 0 {
            self.b.ins().jump(slow, &[]);
            return None;
        }
        let host = self.host_address(access, &spaced, Rights::READ, slow);
        Some(self.load_spaced(access, extend, (host, 0), spaced.step, result_ty))
    }

    /// Lanes of memory that are `step` bytes apart; `host` is the first one's host address, with a constant to add.
    pub(super) fn load_spaced(
        &mut self,
        access: &Access,
        extend: Extend,
        (host, at): (Clif, i32),
        step: i64,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let elements = 0..i32::from(access.count);
        let bytes = Self::element_bytes(access);
        let size = access.ty.bytes() as i32;
        let clif = clif_type(result_ty, true);
        if step == 0 {
            return elements
                .map(|e| {
                    let v = self.load_element(access.ty, extend, host, at + e * size);
                    let v = self.b.ins().splat(clif, v);
                    Lanes::from_elem(v, parts(result_ty))
                })
                .collect();
        }
        if step == bytes && size >= 4 && access.count == 1 {
            let part = |i| self.b.ins().load(clif, flags(), host, at + i * 16);
            return vec![(0..parts(result_ty) as i32).map(part).collect()];
        }
        if step == bytes && size == 4 && access.count == 2 {
            let quads: Lanes = (0..4).map(|i| self.b.ins().load(clif, flags(), host, at + i * 16)).collect();
            let even = vector::halves(self.b, &quads, false);
            let odd = vector::halves(self.b, &quads, true);
            return [even, odd]
                .into_iter()
                .map(|pair| pair.into_iter().map(|v| vector::cast(self.b, clif, v)).collect())
                .collect();
        }
        if step == bytes && size == 4 && access.count == 4 {
            return self.load_transposed((host, at), clif);
        }
        if step == 1 && size == 1 && access.count == 1 {
            return vec![self.load_bytes(extend, (host, at))];
        }
        elements
            .map(|e| {
                let mut lanes = self.zero_lanes(result_ty);
                let per = LANES as usize / parts(result_ty);
                for lane in 0..LANES as usize {
                    let at = i64::from(at) + step * lane as i64 + i64::from(e * size);
                    let v = self.load_element(access.ty, extend, host, at as i32);
                    let part = &mut lanes[lane / per];
                    *part = self.b.ins().insertlane(*part, v, (lane % per) as u8);
                }
                lanes
            })
            .collect()
    }

    /// Eight consecutive bytes, each in a word.
    fn load_bytes(&mut self, extend: Extend, (host, at): (Clif, i32)) -> Lanes {
        let narrow = self.b.ins().load(types::I64, flags(), host, at);
        let vector = self.b.ins().scalar_to_vector(types::I64X2, narrow);
        let vector = vector::cast(self.b, types::I8X16, vector);
        if extend == Extend::Signed {
            let halves = self.b.ins().swiden_low(vector);
            return [self.b.ins().swiden_low(halves), self.b.ins().swiden_high(halves)].into_iter().collect();
        }
        let halves = self.b.ins().uwiden_low(vector);
        [self.b.ins().uwiden_low(halves), self.b.ins().uwiden_high(halves)].into_iter().collect()
    }

    /// Eight consecutive quadruples of words as four values.
    fn load_transposed(&mut self, (host, at): (Clif, i32), clif: cranelift_codegen::ir::Type) -> Vec<Lanes> {
        let mut values = vec![Lanes::new(); 4];
        for half in 0..2 {
            let q: Vec<Clif> =
                (0..4).map(|i| self.b.ins().load(types::I32X4, flags(), host, at + (half * 4 + i) * 16)).collect();
            let mut pair = |x: usize, y: usize, pick| vector::shuffle_words(self.b, q[x], q[y], pick);
            let low01 = pair(0, 1, [0, 4, 1, 5]);
            let high01 = pair(0, 1, [2, 6, 3, 7]);
            let low23 = pair(2, 3, [0, 4, 1, 5]);
            let high23 = pair(2, 3, [2, 6, 3, 7]);
            for (value, (x, y, pick)) in values.iter_mut().zip([
                (low01, low23, [0, 1, 4, 5]),
                (low01, low23, [2, 3, 6, 7]),
                (high01, high23, [0, 1, 4, 5]),
                (high01, high23, [2, 3, 6, 7]),
            ]) {
                let v = vector::shuffle_words(self.b, x, y, pick);
                value.push(vector::cast(self.b, clif, v));
            }
        }
        values
    }

    /// Any lanes of shared memory: all are checked at once, then loaded one by one.
    fn gather_shared(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: cranelift_codegen::ir::Block,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let guard = access.guard.expect("analysis makes masks explicit");
        // Lanes that do not take part read at 0, which is in range.
        let mask = self.mask_words(guard);
        let offsets = self.shared_offsets(access, Some(mask), slow);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        let size = access.ty.bytes() as i32;
        let clif = clif_type(result_ty, true);
        let done = self.b.create_block();
        let merged: Vec<Lanes> = (0..access.count)
            .map(|_| (0..parts(result_ty)).map(|_| self.b.append_block_param(done, clif)).collect())
            .collect();

        // A tile that all lanes walk through together is common: one load then serves them all.
        let first = self.b.ins().extractlane(offsets[0], 0);
        let splat = self.b.ins().splat(types::I32X4, first);
        let [low, high] = [offsets[0], offsets[1]].map(|at| self.b.ins().icmp(IntCC::Equal, at, splat));
        let same = self.b.ins().band(low, high);
        let same = self.b.ins().vhigh_bits(types::I32, same);
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, same, 0xf);
        let (alike, apart) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(same, alike, &[], apart, &[]);
        self.b.switch_to_block(alike);
        let at = self.b.ins().uextend(types::I64, first);
        let host = self.b.ins().iadd(shared, at);
        let mut args = Vec::new();
        for element in 0..i32::from(access.count) {
            let v = self.load_element(access.ty, extend, host, element * size);
            let v = self.b.ins().splat(clif, v);
            args.extend(std::iter::repeat_n(BlockArg::Value(v), parts(result_ty)));
        }
        self.b.ins().jump(done, &args);

        self.b.switch_to_block(apart);
        let mut values = vec![self.zero_lanes(result_ty); usize::from(access.count)];
        let per = LANES as usize / parts(result_ty);
        for lane in 0..LANES as usize {
            let at = self.b.ins().extractlane(offsets[lane / 4], (lane % 4) as u8);
            let at = self.b.ins().uextend(types::I64, at);
            let host = self.b.ins().iadd(shared, at);
            for (element, lanes) in values.iter_mut().enumerate() {
                let v = self.load_element(access.ty, extend, host, element as i32 * size);
                let part = &mut lanes[lane / per];
                *part = self.b.ins().insertlane(*part, v, (lane % per) as u8);
            }
        }
        let args: Vec<BlockArg> = values.iter().flatten().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        merged
    }

    /// Offsets of the lanes in shared memory, all in range and aligned; else to `slow`. Those outside the mask are 0.
    pub(super) fn shared_offsets(
        &mut self,
        access: &Access,
        mask: Option<[Clif; 2]>,
        slow: cranelift_codegen::ir::Block,
    ) -> [Clif; 2] {
        let lanes = self.lanes(access.address);
        let limit = self.ctx_load(types::I64, abi::SHARED_BYTES);
        let mut offsets = [lanes[0], lanes[1]];
        if access.offset != 0 {
            let offset = super::int::constant(self.b, Type::I32, access.offset as u32 as u64, true);
            offsets = offsets.map(|at| self.b.ins().iadd(at, offset));
        }
        if let Some(mask) = mask {
            offsets = [0, 1].map(|part| self.b.ins().band(offsets[part], mask[part]));
        }
        let bytes = Self::element_bytes(access);
        let known = bound(self.block, self.defs, access.address);
        let low_bits = i64::from(access.align.max(1)) - 1;
        let mut wrong: Option<Clif> = None;
        // Small offsets are compared as one, with the largest that there can be.
        let end =
            i64::try_from(known.max).unwrap_or(i64::MAX).saturating_add(i64::from(access.offset)).saturating_add(bytes);
        if access.offset >= 0 && end <= SMALL_OFFSET {
            let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, limit, end);
            self.require(inside, slow);
        } else {
            let room = self.b.ins().iadd_imm_s(limit, -bytes);
            let enough = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, 0);
            self.require(enough, slow);
            let room = self.b.ins().ireduce(types::I32, room);
            let room = self.b.ins().splat(types::I32X4, room);
            let beyond = offsets.map(|at| self.b.ins().icmp(IntCC::UnsignedGreaterThan, at, room));
            wrong = Some(self.b.ins().bor(beyond[0], beyond[1]));
        }
        let aligned = (1i64 << known.zeros.min(32)) > low_bits && i64::from(access.offset) & low_bits == 0;
        if !aligned {
            let low = super::int::constant(self.b, Type::I32, low_bits as u64, true);
            let zero = super::int::constant(self.b, Type::I32, 0, true);
            let both = self.b.ins().bor(offsets[0], offsets[1]);
            let low = self.b.ins().band(both, low);
            let misaligned = self.b.ins().icmp(IntCC::NotEqual, low, zero);
            wrong = Some(match wrong {
                Some(wrong) => self.b.ins().bor(wrong, misaligned),
                None => misaligned,
            });
        }
        if let Some(wrong) = wrong {
            let bits = self.b.ins().vhigh_bits(types::I32, wrong);
            let fine = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0);
            self.require(fine, slow);
        }
        offsets
    }

    /// Host address of the chunk's first lane at an offset in local memory that all lanes share. Words of lanes lie
    /// side by side.
    fn local_address(&mut self, access: &Access, slow: cranelift_codegen::ir::Block) -> Clif {
        let (offset, _) = self.base(access.address);
        let offset = self.b.ins().iadd_imm_s(offset, i64::from(access.offset));
        let align = i64::from(access.align.max(4));
        let low = self.b.ins().band_imm_u(offset, align - 1);
        let aligned = self.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
        self.require(aligned, slow);
        let offset = self.b.ins().uextend(types::I64, offset);
        let end = self.b.ins().iadd_imm_s(offset, Self::element_bytes(access));
        let limit = self.ctx_load(types::I64, abi::LOCAL_BYTES);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.require(inside, slow);
        let local = self.ctx_load(types::I64, abi::LOCAL);
        let row = self.b.ins().imul_imm_s(offset, i64::from(self.function.lanes));
        let at = self.b.ins().iadd(local, row);
        let lane = self.first_lane();
        let first = self.b.ins().ishl_imm_u(lane, 2);
        self.b.ins().iadd(at, first)
    }

    fn load_local(&mut self, access: &Access, slow: cranelift_codegen::ir::Block) -> Vec<Lanes> {
        let host = self.local_address(access, slow);
        let row = 4 * i32::from(self.function.lanes);
        let clif = clif_type(access.ty, true);
        (0..i32::from(access.count))
            .map(|e| (0..2).map(|i| self.b.ins().load(clif, flags(), host, e * row + i * 16)).collect())
            .collect()
    }

    pub(super) fn store(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Store { access, ref values, .. } = inst.op else { unreachable!() };
        let guard = access.guard.expect("analysis makes masks explicit");
        let desc = self.describe(index, AccessKind::Store);
        let done = self.b.create_block();
        let slow = self.cold_block();
        let bits = self.mask_bits(guard);
        let lanes: Vec<Lanes> = values.iter().map(|&v| self.lanes(v)).collect();
        if self.classes.get(access.address) == Class::Varying {
            self.lanes(access.address);
        }
        let saved = self.chunk.clone();
        let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
        let by_lane = access.space == Space::Shared && self.classes.get(access.address) == Class::Varying;
        if by_lane {
            self.stage(&access, values);
            self.lane_loop(&access, bits, desc, |lowerer, host, lane| {
                for e in 0..i32::from(access.count) {
                    let v = lowerer.staged_scalar(STAGED_VALUES + e as usize * LANES as usize, lane, access.ty);
                    lowerer.store_element(access.ty, v, host, e * access.ty.bytes() as i32);
                }
            });
            self.b.ins().jump(done, &[]);
        } else {
            self.require(full, slow);
            self.fast_store(&access, &lanes, slow);
            self.b.ins().jump(done, &[]);
        }
        self.chunk = saved.clone();
        self.b.switch_to_block(slow);
        let any = self.b.create_block();
        self.b.ins().brif(bits, any, &[], done, &[]);
        self.b.switch_to_block(any);
        self.stage(&access, values);
        self.call_access(desc, bits, false);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.chunk = saved;
    }

    /// Stores of a full chunk.
    fn fast_store(&mut self, access: &Access, values: &[Lanes], slow: cranelift_codegen::ir::Block) {
        let class = self.classes.get(access.address);
        let size = access.ty.bytes() as i32;
        if access.space == Space::Local {
            if class.affine().is_some_and(|(step, _)| step == 0) && size == 4 {
                let host = self.local_address(access, slow);
                let row = 4 * i32::from(self.function.lanes);
                for (e, lanes) in values.iter().enumerate() {
                    for (i, &v) in lanes.iter().enumerate() {
                        self.b.ins().store(flags(), v, host, e as i32 * row + i as i32 * 16);
                    }
                }
            } else {
                self.leave_to(slow);
            }
            return;
        }
        let uniform = class.affine().is_some_and(|(step, _)| step == 0);
        let spaced = self.spaced(access);
        if !uniform && spaced.step % i64::from(access.align.max(1)) != 0 {
            self.leave_to(slow);
            return;
        }
        let host = self.host_address(access, &spaced, Rights::WRITE, slow);
        self.store_spaced(access, values, (host, 0), spaced.step);
    }

    /// The reverse of [`Self::load_spaced`].
    pub(super) fn store_spaced(&mut self, access: &Access, values: &[Lanes], (host, at): (Clif, i32), step: i64) {
        let bytes = Self::element_bytes(access);
        let size = access.ty.bytes() as i32;
        if step == bytes && size >= 4 && access.count == 1 {
            for (i, &v) in values[0].iter().enumerate() {
                self.b.ins().store(flags(), v, host, at + i as i32 * 16);
            }
            return;
        }
        // Lane by lane, the highest last.
        let first = if step == 0 { LANES as usize - 1 } else { 0 };
        for lane in first..LANES as usize {
            for (e, lanes) in values.iter().enumerate() {
                let per = LANES as usize / lanes.len();
                let v = self.b.ins().extractlane(lanes[lane / per], (lane % per) as u8);
                let at = i64::from(at) + step * lane as i64 + i64::from(e as i32 * size);
                self.store_element(access.ty, v, host, at as i32);
            }
        }
    }

    /// To the slow path for good; what is lowered after it is unreachable.
    fn leave_to(&mut self, slow: cranelift_codegen::ir::Block) {
        self.b.ins().jump(slow, &[]);
        let unreachable = self.cold_block();
        self.b.switch_to_block(unreachable);
    }

    /// Whether the load of this instruction may have recorded a fault for the end of its segment.
    pub(super) fn may_fault_later(&self, index: usize) -> bool {
        matches!(self.block.insts[index].op, Op::Load { .. })
    }

    /// Makes the description of an access that outlives the code.
    pub(super) fn describe(&mut self, index: usize, kind: AccessKind) -> *const AccessDesc {
        let inst = &self.block.insts[index];
        let access = *inst.op.access().expect("a memory operation");
        self.region.describe(AccessDesc {
            access,
            kind,
            pc: inst.pc,
            order: index as u32,
            keeps_least: matches!(kind, AccessKind::Load { .. }),
            nan: self.function.nan,
        })
    }

    pub(super) fn scratch(word: usize) -> i32 {
        abi::SCRATCH + 8 * word as i32
    }

    /// Writes lanes, zero-extended to 64 bits, to the scratch area.
    fn stage_lanes(&mut self, word: usize, ty: Type, lanes: &[Clif]) {
        let longs: Lanes = if ty.bits() == 64 {
            lanes.iter().copied().collect()
        } else {
            lanes
                .iter()
                .flat_map(|&v| {
                    let v = vector::cast(self.b, types::I32X4, v);
                    [self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v)]
                })
                .collect()
        };
        for (i, &v) in longs.iter().enumerate() {
            self.b.ins().store(flags(), v, self.ctx, Self::scratch(word) + i as i32 * 16);
        }
    }

    /// The staged addresses have the access's offset added.
    fn stage_addresses(&mut self, access: &Access) {
        let ty = self.ty(access.address);
        let offset = super::int::constant(self.b, ty, access.offset as i64 as u64 & ty.bit_mask(), true);
        let lanes: Lanes = self.lanes(access.address).iter().map(|&v| self.b.ins().iadd(v, offset)).collect();
        self.stage_lanes(0, ty, &lanes);
    }

    pub(super) fn stage(&mut self, access: &Access, values: &[Value]) {
        self.stage_addresses(access);
        for (e, &v) in values.iter().enumerate() {
            let lanes = self.lanes(v);
            self.stage_lanes(STAGED_VALUES + e * LANES as usize, self.ty(v), &lanes);
        }
    }

    pub(super) fn stage_compare(&mut self, v: Value) {
        let lanes = self.lanes(v);
        self.stage_lanes(STAGED_COMPARE, self.ty(v), &lanes);
    }

    /// Lanes from the scratch area.
    pub(super) fn staged_lanes(&mut self, word: usize, ty: Type) -> Lanes {
        let at = Self::scratch(word);
        if ty.bits() == 64 {
            let clif = clif_type(ty, true);
            return (0..4).map(|i| self.b.ins().load(clif, flags(), self.ctx, at + i * 16)).collect();
        }
        let longs: Vec<Clif> =
            (0..4).map(|i| self.b.ins().load(types::I64X2, flags(), self.ctx, at + i * 16)).collect();
        let clif = clif_type(ty, true);
        vector::halves(self.b, &longs, false).into_iter().map(|v| vector::cast(self.b, clif, v)).collect()
    }

    /// Address in the context of a staged lane.
    pub(super) fn staged_address(&mut self, word: usize, lane: Clif) -> (Clif, i32) {
        let bytes = self.b.ins().ishl_imm_u(lane, 3);
        (self.b.ins().iadd(self.ctx, bytes), Self::scratch(word))
    }

    /// A staged lane, its number a run-time value.
    pub(super) fn staged_scalar(&mut self, word: usize, lane: Clif, ty: Type) -> Clif {
        let (at, offset) = self.staged_address(word, lane);
        self.b.ins().load(clif_type(ty, false), flags(), at, offset)
    }

    /// Does `body` for each lane of the mask bits in ascending order, with the lane's host address. A lane that cannot be
    /// reached inline is left to the helper, which may end the call.
    pub(super) fn lane_loop(
        &mut self,
        access: &Access,
        bits: Clif,
        desc: *const AccessDesc,
        body: impl FnOnce(&mut Self, Clif, Clif),
    ) {
        let head = self.b.create_block();
        let next = self.b.create_block();
        let exit = self.b.create_block();
        let helper = self.cold_block();
        let left = self.b.append_block_param(head, types::I64);
        self.b.ins().brif(bits, head, &[BlockArg::Value(bits)], exit, &[]);
        self.b.switch_to_block(head);
        let lane = self.b.ins().ctz(left);
        let address = self.staged_scalar(0, lane, Type::I64);
        let bytes = Self::element_bytes(access);
        if access.align > 1 {
            let low = self.b.ins().band_imm_u(address, i64::from(access.align) - 1);
            let aligned = self.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
            self.require(aligned, helper);
        }
        let host = match access.space {
            Space::Shared => {
                let end = self.b.ins().iadd_imm_s(address, bytes);
                let limit = self.ctx_load(types::I64, abi::SHARED_BYTES);
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
                self.require(inside, helper);
                let shared = self.ctx_load(types::I64, abi::SHARED);
                self.b.ins().iadd(shared, address)
            }
            _ => {
                // Aligned, so within its page.
                let page = self.b.ins().ushr_imm_u(address, i64::from(PAGE_BITS));
                let (tags, addend) = self.tlb_entry(page, Rights::WRITE);
                let hit = self.b.ins().icmp(IntCC::Equal, tags[0], page);
                self.require(hit, helper);
                self.b.ins().iadd(address, addend)
            }
        };
        body(self, host, lane);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(helper);
        let one = self.b.ins().iconst(types::I64, 1);
        let single = self.b.ins().ishl(one, lane);
        self.call_access(desc, single, false);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        let minus = self.b.ins().iadd_imm_s(left, -1);
        let rest = self.b.ins().band(left, minus);
        self.b.ins().brif(rest, head, &[BlockArg::Value(rest)], exit, &[]);
        self.b.switch_to_block(exit);
    }

    /// Calls the helper for the lanes of the chunk whose bits are set. A fault of a load is left for the end of its
    /// segment; any other ends the call.
    pub(super) fn call_access(&mut self, desc: *const AccessDesc, bits: Clif, leaves_later: bool) {
        let first = self.first_lane();
        let pointer = self.b.ins().iconst(types::I64, desc as i64);
        self.region.call(self.b, Helper::Access, &[self.ctx, pointer, bits, first]);
        if !leaves_later {
            self.leave_on_fault();
        }
    }
}

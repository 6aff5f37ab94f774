//! Local memory: word `w` of lane `l` is word `w * lanes + l` of the warp's memory. If all lanes
//! access the same offset, as in a spill slot, their words form a vector. Otherwise lanes are
//! gathered and scattered after one check of all lanes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::abi;
use warploom_ir::{Access, Extend, Space, Type};

use super::super::address::Rows;
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::int::{constant, plus};
use super::super::vector;
use super::offsets::required_alignment;
use crate::forms::{Lanes, clif_type, parts};

/// The largest distance, in bytes, between accesses that share a check.
const MOST_APART: i64 = 1 << 16;

/// Returns the end of an access, counted from its address.
fn end_of(access: &Access) -> i64 {
    i64::from(access.offset) + i64::from(access.bytes())
}

/// An offset in local memory that all lanes of the chunk share.
struct Row {
    /// A lower offset that has been computed, `i64`, and the number of bytes to add to it.
    offset: Clif,
    more: i32,
    /// The host address of the words at `offset`, for accesses to words.
    host: Option<Clif>,
}

/// Returns the access as an access to words, if its elements have at least 4 bytes.
pub(super) fn in_words(access: &Access) -> Option<Access> {
    match access.ty.bytes() {
        4 => Some(*access),
        8 => Some(Access { ty: Type::I32, count: access.count * 2, ..*access }),
        _ => None,
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Loads from local memory. Goes to `slow` if a lane is out of range.
    ///
    /// Quick code goes to `slow` for lanes with different offsets. If lanes are known to differ, it
    /// jumps there at once and the result is `None`.
    pub(super) fn load_local(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Option<Vec<Lanes>> {
        let gathers = self.region.effort.is_fast();
        let Some((base, same)) = self.common_base(access) else {
            if !gathers {
                self.b.ins().jump(slow, &[]);
                return None;
            }
            return Some(self.gather_local(access, extend, slow, result_ty));
        };
        if !(gathers && same.is_some()) {
            let row = self.require_row(access, base, same, slow);
            return Some(self.load_local_row(access, extend, &row, result_ty));
        }
        let other = self.b.create_block();
        let (done, merged) = self.merging(access.count, result_ty);
        self.on_one_way(|lowerer| {
            let row = lowerer.require_row(access, base, same, other);
            let loaded = lowerer.load_local_row(access, extend, &row, result_ty);
            lowerer.jump_with(done, &loaded);
        });
        self.b.switch_to_block(other);
        self.on_one_way(|lowerer| {
            let loaded = lowerer.gather_local(access, extend, slow, result_ty);
            lowerer.jump_with(done, &loaded);
        });
        self.b.switch_to_block(done);
        Some(merged)
    }

    /// Stores to local memory, like [`Self::load_local`]. Returns whether there is a path besides
    /// `slow`.
    pub(super) fn store_local(
        &mut self,
        access: &Access,
        values: &[Lanes],
        bits: Clif,
        slow: ClifBlock,
    ) -> bool {
        let gathers = self.region.effort.is_fast();
        let Some((base, same)) = self.common_base(access) else {
            if gathers {
                self.scatter_local(access, values, slow);
            } else {
                self.b.ins().jump(slow, &[]);
            }
            return gathers;
        };
        if !(gathers && same.is_some()) {
            let row = self.require_row(access, base, same, slow);
            self.store_local_row(access, values, &row, bits);
            return true;
        }
        let (other, done) = (self.b.create_block(), self.b.create_block());
        self.on_one_way(|lowerer| {
            let row = lowerer.require_row(access, base, same, other);
            lowerer.store_local_row(access, values, &row, bits);
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(other);
        self.on_one_way(|lowerer| lowerer.scatter_local(access, values, slow));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        true
    }

    /// Loads at offsets that are known to be in range.
    pub(super) fn load_local_at(
        &mut self,
        access: &Access,
        extend: Extend,
        offsets: [Clif; 2],
        result_ty: Type,
    ) -> Vec<Lanes> {
        let (together, other) = (self.b.create_block(), self.b.create_block());
        let (done, merged) = self.merging(access.count, result_ty);
        let row = self.same_row(access, offsets, together, other);
        let loaded = self.load_local_row(access, extend, &row, result_ty);
        self.jump_with(done, &loaded);
        self.b.switch_to_block(other);
        let loaded = self.gather_local_at(access, extend, offsets, result_ty);
        self.jump_with(done, &loaded);
        self.b.switch_to_block(done);
        merged
    }

    /// Stores at offsets that are known to be in range.
    pub(super) fn store_local_at(
        &mut self,
        access: &Access,
        values: &[Lanes],
        bits: Clif,
        offsets: [Clif; 2],
    ) {
        let (together, other, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let row = self.same_row(access, offsets, together, other);
        self.on_one_way(|lowerer| lowerer.store_local_row(access, values, &row, bits));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(other);
        self.on_one_way(|lowerer| lowerer.scatter_local_at(access, values, offsets));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Continues in `together`, with the returned row, if all offsets are equal. Otherwise goes to
    /// `other`.
    fn same_row(
        &mut self,
        access: &Access,
        offsets: [Clif; 2],
        together: ClifBlock,
        other: ClifBlock,
    ) -> Row {
        let offset = self.b.ins().extractlane(offsets[0], 0);
        let first = vector::first_lane(self.b, offsets[0]);
        let same = self.are_spaced(&offsets, first, 0);
        self.b.ins().brif(same, together, &[], other, &[]);
        self.b.switch_to_block(together);
        let offset = self.b.ins().uextend(types::I64, offset);
        Row { offset, host: in_words(access).map(|_| self.row_at(offset)), more: 0 }
    }

    /// Returns the address of lane 0 and, if in doubt, a test that all lanes have the same address.
    /// Returns `None` if lanes have different addresses.
    fn common_base(&mut self, access: &Access) -> Option<(Clif, Option<Clif>)> {
        let is_apart =
            self.scope.classes.get(access.address).affine().is_some_and(|(step, _)| step != 0);
        (!is_apart).then(|| self.guess(access.address, 0))
    }

    /// Returns the row of an access if all lanes have the same offset and it is in range and
    /// aligned. Otherwise goes to `other`.
    fn require_row(
        &mut self,
        access: &Access,
        base: Clif,
        same: Option<Clif>,
        other: ClifBlock,
    ) -> Row {
        if let Some(same) = same {
            self.require(same, other);
        } else if let Some(rows) = self.rows(access, base) {
            self.require(rows.hold, other);
            return Row { offset: rows.offset, more: access.offset - rows.least, host: rows.host };
        }
        let is_in_words = in_words(access).is_some();
        let align = required_alignment(access, Space::Local);
        if let Some(more) = self.constant_offset(access).filter(|more| more % i32::from(align) == 0)
        {
            let limit = self.ctx_load(types::I64, abi::LOCAL_BYTES);
            let end = i64::from(more) + i64::from(access.bytes());
            let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, limit, end);
            self.require(inside, other);
            let offset = self.b.ins().iconst(types::I64, 0);
            return Row { offset, more, host: is_in_words.then(|| self.start_of_local()) };
        }
        let offset = self.first_address(access, base);
        if let Some(aligned) = self.is_aligned(align, offset) {
            self.require(aligned, other);
        }
        let inside = self.is_in_local(offset, access.bytes().into());
        self.require(inside, other);
        Row { offset, more: 0, host: is_in_words.then(|| self.row_at(offset)) }
    }

    /// Returns an offset that is a constant near the beginning of the memory.
    fn constant_offset(&self, access: &Access) -> Option<i32> {
        let address = i64::try_from(self.facts.constant(access.address)?).ok()?;
        let offset = address.checked_add(access.offset.into())?;
        (0..=MOST_APART).contains(&offset).then_some(offset as i32)
    }

    /// Returns whether `bytes` bytes from an offset on lie in local memory.
    fn is_in_local(&mut self, offset: Clif, bytes: i64) -> Clif {
        let behind = plus(self.b, offset, bytes);
        let limit = self.ctx_load(types::I64, abi::LOCAL_BYTES);
        self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, behind, limit)
    }

    /// Finds the rows of an access to local memory, which later accesses share.
    pub(in super::super) fn look_for_rows(&mut self, access: &Access) {
        if access.space == Space::Local
            && let Some((base, None)) = self.common_base(access)
        {
            self.rows(access, base);
        }
    }

    /// Returns the rows of a segment's accesses with an address that all lanes share, if there are
    /// several accesses.
    ///
    /// One check for all of them is right for slots in a stack frame. Elements of an array have a
    /// check each, as their index may have any value: some may be out of range, and are then mostly
    /// accessed by no active lane.
    fn rows(&mut self, access: &Access, base: Clif) -> Option<Rows> {
        let align = required_alignment(access, Space::Local);
        let is_near = |offset: i32| {
            let distance = i64::from(offset) - i64::from(access.offset);
            distance.abs() <= MOST_APART && distance % i64::from(align) == 0
        };
        let known = self.chunk().places.rows.iter().find(|rows| {
            (rows.address, rows.align) == (access.address, align)
                && is_near(rows.least)
                && rows.least <= access.offset
                && end_of(access) <= rows.end
        });
        if let Some(&rows) = known {
            return Some(rows);
        }
        let steps = &self.facts.planned.plan.steps[self.scope.steps.clone()];
        let alike = steps.iter().flat_map(|step| step.insts()).filter_map(|&index| {
            let other = self.facts.block.insts[index].op.access()?;
            let is_alike = (other.space, other.address) == (Space::Local, access.address)
                && required_alignment(other, Space::Local) == align
                && is_near(other.offset);
            is_alike.then_some(other)
        });
        let (mut count, mut least, mut end) = (0, access.offset, end_of(access));
        for other in alike {
            (count, least, end) = (count + 1, least.min(other.offset), end.max(end_of(other)));
        }
        if count <= 1 {
            return None;
        }
        let offset = self.first_address(&Access { offset: least, ..*access }, base);
        let inside = self.is_in_local(offset, end - i64::from(least));
        let aligned = self.is_aligned(align, offset);
        let hold = aligned.map_or(inside, |aligned| self.b.ins().band(inside, aligned));
        // Accesses to words have at least the alignment of words.
        let host = (align >= 4).then(|| self.row_at(offset));
        let rows = Rows { address: access.address, align, least, end, offset, host, hold };
        self.chunk().places.rows.push(rows);
        Some(rows)
    }

    /// Returns the bytes from a lane's word to its next word.
    pub(in super::super) fn local_row_bytes(&self) -> i32 {
        4 * i32::from(self.facts.function.lanes)
    }

    /// Returns the host address of the words of the chunk's lanes at an offset, a multiple of 4.
    fn row_at(&mut self, offset: Clif) -> Clif {
        let start = self.start_of_local();
        let distance = self.b.ins().imul_imm_s(offset, i64::from(self.facts.function.lanes));
        self.b.ins().iadd(start, distance)
    }

    /// Returns the host address of the first word of the chunk's first lane.
    pub(in super::super) fn start_of_local(&mut self) -> Clif {
        let local = self.ctx_load(types::I64, abi::LOCAL);
        let lane = self.first_lane();
        let first = self.b.ins().ishl_imm_u(lane, 2);
        self.b.ins().iadd(local, first)
    }

    /// Returns the host address of the words that hold an element of less than a word, and the
    /// element's shift in its word, `i32`.
    fn row_around(&mut self, offset: Clif) -> (Clif, Clif) {
        let word = self.b.ins().band_imm_s(offset, -4);
        let byte = self.b.ins().band_imm_u(offset, 3);
        let shift = self.b.ins().ishl_imm_u(byte, 3);
        (self.row_at(word), self.b.ins().ireduce(types::I32, shift))
    }

    /// Loads elements that all lanes have at the same offset.
    fn load_local_row(
        &mut self,
        access: &Access,
        extend: Extend,
        at: &Row,
        result_ty: Type,
    ) -> Vec<Lanes> {
        if let (Some(words), Some(host)) = (in_words(access), at.host) {
            let row = self.local_row_bytes();
            let first = at.more * i32::from(self.facts.function.lanes);
            let clif = clif_type(words.ty, true);
            let load = |lowerer: &mut Self, at| lowerer.b.ins().load(clif, flags(), host, at);
            let place = |e: i32, i: i32| first + e * row + i * 16;
            let loaded: Vec<Lanes> = (0..i32::from(words.count))
                .map(|e| (0..2).map(|i| load(self, place(e, i))).collect())
                .collect();
            return self.values_of_words(access, loaded, result_ty);
        }
        let bits = access.ty.bits();
        let elements = (0..i64::from(access.count)).map(|e| e * i64::from(access.ty.bytes()));
        elements
            .map(|distance| {
                let offset = plus(self.b, at.offset, i64::from(at.more) + distance);
                let (host, shift) = self.row_around(offset);
                let part = |i: i32| {
                    let word = self.b.ins().load(types::I32X4, flags(), host, i * 16);
                    let v = self.b.ins().ushr(word, shift);
                    let up = self.b.ins().ishl_imm_u(v, i64::from(32 - bits));
                    match extend {
                        Extend::Signed => self.b.ins().sshr_imm_u(up, i64::from(32 - bits)),
                        _ => self.b.ins().ushr_imm_u(up, i64::from(32 - bits)),
                    }
                };
                (0..2).map(part).collect()
            })
            .collect()
    }

    /// Stores elements at the same offset in all lanes. Lanes whose bits are clear keep their old
    /// values.
    fn store_local_row(&mut self, access: &Access, values: &[Lanes], at: &Row, bits: Clif) {
        let guard = access.guard.expect("analysis makes masks explicit");
        let (Some(words), Some(host)) = (in_words(access), at.host) else {
            return self.store_local_parts(access, values, at);
        };
        let row = self.local_row_bytes();
        let first = at.more * i32::from(self.facts.function.lanes);
        let rows = self.words_of_values(access, values);
        let places = move |e: usize, i: usize| first + e as i32 * row + i as i32 * 16;
        let (all, some, done) = (self.b.create_block(), self.cold_block(), self.b.create_block());
        let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
        self.b.ins().brif(full, all, &[], some, &[]);
        self.b.switch_to_block(all);
        for (e, lanes) in rows.iter().enumerate() {
            for (i, &v) in lanes.iter().enumerate() {
                self.b.ins().store(flags(), v, host, places(e, i));
            }
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(some);
        let mask = self.on_one_way(|lowerer| lowerer.mask_words(guard));
        for (e, lanes) in rows.iter().enumerate() {
            for (i, &v) in lanes.iter().enumerate() {
                let before =
                    self.b.ins().load(clif_type(words.ty, true), flags(), host, places(e, i));
                let after = vector::blend(self.b, mask[i], v, before);
                self.b.ins().store(flags(), after, host, places(e, i));
            }
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Stores elements that are smaller than a word at the same offset in all lanes.
    fn store_local_parts(&mut self, access: &Access, values: &[Lanes], at: &Row) {
        let mask = self.mask_words(access.guard.expect("analysis makes masks explicit"));
        for (e, lanes) in values.iter().enumerate() {
            let offset = plus(
                self.b,
                at.offset,
                i64::from(at.more) + e as i64 * i64::from(access.ty.bytes()),
            );
            let (host, shift) = self.row_around(offset);
            let ones = constant(self.b, Type::I32, access.ty.bit_mask(), true);
            let field = self.b.ins().ishl(ones, shift);
            for (i, &v) in lanes.iter().enumerate() {
                let at = i as i32 * 16;
                let word = vector::cast(self.b, types::I32X4, v);
                let v = self.b.ins().ishl(word, shift);
                let field = self.b.ins().band(field, mask[i]);
                let before = self.b.ins().load(types::I32X4, flags(), host, at);
                let kept = self.b.ins().band_not(before, field);
                let new = self.b.ins().band(v, field);
                let after = self.b.ins().bor(kept, new);
                self.b.ins().store(flags(), after, host, at);
            }
        }
    }

    /// Assembles an access's elements from words.
    pub(super) fn values_of_words(
        &mut self,
        access: &Access,
        words: Vec<Lanes>,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let clif = clif_type(result_ty, true);
        if parts(access.ty) == 2 {
            return words;
        }
        words
            .chunks(2)
            .map(|pair| {
                vector::interleave(self.b, &pair[0], &pair[1])
                    .map(|v| vector::cast(self.b, clif, v))
            })
            .map(|lanes| lanes.into_iter().collect())
            .collect()
    }

    /// Splits an access's elements into words.
    pub(super) fn words_of_values(&mut self, access: &Access, values: &[Lanes]) -> Vec<Lanes> {
        if parts(access.ty) == 2 {
            return values.to_vec();
        }
        let halves = |lanes: &Lanes| {
            [false, true]
                .map(|high| vector::halves(self.b, lanes, high).into_iter().collect::<Lanes>())
        };
        values.iter().flat_map(halves).collect()
    }

    /// Returns a block with parameters for the lanes of an access's elements, and the parameters.
    pub(in super::super) fn merging(&mut self, count: u8, ty: Type) -> (ClifBlock, Vec<Lanes>) {
        let (done, clif) = (self.b.create_block(), clif_type(ty, true));
        let param = |_| (0..parts(ty)).map(|_| self.b.append_block_param(done, clif)).collect();
        (done, (0..count).map(param).collect())
    }

    pub(super) fn jump_with(&mut self, done: ClifBlock, loaded: &[Lanes]) {
        let args: Vec<BlockArg> = loaded.iter().flatten().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(done, &args);
    }
}

//! Shared memory and constant banks: lanes of which one check tells that all are in reach.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_engine::abi;
use warploom_ir::typing::MAX_ELEMENTS;
use warploom_ir::{Access, Extend, Space, Type};
use warploom_runtime::warp::SHARED_PADDING;

use super::super::address::{Spaced, evenly, fits_a_page};
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::vector;
use super::LANES;
use super::lanes::Offsets;
use crate::forms::{Lanes, clif_type};

// What a lane accesses fits behind shared memory.
const _: () = assert!(MAX_ELEMENTS as u64 * 8 <= SHARED_PADDING);

/// Whether consecutive lanes are stored as vectors.
fn may_be_vectors(access: &Access) -> bool {
    access.count == 1
        && access.ty.bytes() >= 4
        && fits_a_page(access, &evenly(access.bytes().into()))
}

impl BlockLowerer<'_, '_, '_> {
    /// Any lanes of shared memory or of a constant bank: all are checked at once, then loaded one by one.
    pub(super) fn gather_checked(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let guard = access.guard.expect("analysis makes masks explicit");
        // Lanes that do not take part read at 0, which is in range.
        let mask = self.mask_words(guard);
        let offsets = self.offsets(access, Some(mask), slow);
        let (start, _) = self.memory_at_offsets(access.space);
        self.gather_near(access, extend, start, offsets, result_ty)
    }

    /// Lanes at offsets from a host address, which are known to be in reach.
    pub(super) fn gather_near(
        &mut self,
        access: &Access,
        extend: Extend,
        start: Clif,
        offsets: [Clif; 2],
        result_ty: Type,
    ) -> Vec<Lanes> {
        let (done, merged) = self.merging(access.count, result_ty);
        // Tiles that all lanes walk through together, and along whose rows they stand, are common: one load serves them all.
        let [first, second] = [0, 1].map(|lane| self.b.ins().extractlane(offsets[0], lane));
        let distance = self.b.ins().isub(second, first);
        let apart = self.b.create_block();
        for step in [0, access.bytes().into()] {
            // Two lanes tell which it may be.
            let (likely, spaced, other) =
                (self.b.create_block(), self.b.create_block(), self.b.create_block());
            let begins_so = self.b.ins().icmp_imm_s(IntCC::Equal, distance, step);
            self.b.ins().brif(begins_so, likely, &[], other, &[]);
            self.b.switch_to_block(likely);
            let all = vector::first_lane(self.b, offsets[0]);
            let holds = self.are_spaced(&offsets, all, step);
            self.b.ins().brif(holds, spaced, &[], apart, &[]);
            self.b.switch_to_block(spaced);
            let at = self.b.ins().uextend(types::I64, first);
            let host = self.b.ins().iadd(start, at);
            let loaded = self.load_spaced(access, extend, (host, 0), &evenly(step), result_ty);
            self.jump_with(done, &loaded);
            self.b.switch_to_block(other);
        }
        self.b.ins().jump(apart, &[]);
        self.b.switch_to_block(apart);
        let size = access.ty.bytes() as i32;
        let values =
            self.gather_lanes(access, extend, result_ty, (start, size), &Offsets::bytes(&offsets));
        self.jump_with(done, &values);
        self.b.switch_to_block(done);
        merged
    }

    /// Any lanes of shared memory: in vectors if they are consecutive, else one by one after one check of all.
    pub(super) fn scatter_shared(
        &mut self,
        access: &Access,
        values: &[Lanes],
        bits: Clif,
        slow: ClifBlock,
    ) {
        let (some, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(bits, some, &[], done, &[]);
        self.b.switch_to_block(some);
        if may_be_vectors(access) {
            let apart = self.b.create_block();
            self.on_one_way(|lowerer| {
                let offsets = lowerer.words(access);
                lowerer.store_among(access, offsets, &values[0], apart);
            });
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(apart);
        }
        let mask = self.mask_words(access.guard.expect("analysis makes masks explicit"));
        let offsets = self.offsets(access, Some(mask), slow);
        self.scatter_at(access, values, offsets);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The same at offsets that are known to be in reach, 0 for lanes that take no part.
    pub(super) fn scatter_near(&mut self, access: &Access, values: &[Lanes], offsets: [Clif; 2]) {
        let done = self.b.create_block();
        if may_be_vectors(access) {
            let apart = self.b.create_block();
            self.on_one_way(|lowerer| lowerer.store_among(access, offsets, &values[0], apart));
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(apart);
        }
        self.scatter_at(access, values, offsets);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    fn scatter_at(&mut self, access: &Access, values: &[Lanes], offsets: [Clif; 2]) {
        // Lanes that do not take part write behind shared memory, where there is room for what starts in its last byte.
        let nowhere = self.ctx_load(types::I32, abi::SHARED_BYTES);
        let offsets = self.or_nowhere(access, Type::I32, &offsets, nowhere);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        self.scatter_lanes(access, values, (shared, access.ty.bytes() as i32), &offsets);
    }

    /// Stores consecutive lanes of shared memory, and what was there for those that do not take part: nobody else sees it
    /// meanwhile, since a block's warps share a host thread. Leaves to `gather_scatter` if lanes are not consecutive, or not all in reach.
    fn store_among(
        &mut self,
        access: &Access,
        offsets: [Clif; 2],
        lanes: &Lanes,
        apart: ClifBlock,
    ) {
        let step = i64::from(access.bytes());
        let first = self.b.ins().extractlane(offsets[0], 0);
        let all = vector::first_lane(self.b, offsets[0]);
        let consecutive = self.are_spaced(&offsets, all, step);
        self.require(consecutive, apart);
        let first = self.b.ins().uextend(types::I64, first);
        let last = self.b.ins().iadd_imm_s(first, (LANES - 1) * step);
        let (shared, bytes) = self.memory_at_offsets(Space::Shared);
        let inside = self.is_inside(access, &Spaced { first, last, step }, bytes);
        self.require(inside, apart);
        let host = self.b.ins().iadd(shared, first);
        let clif = clif_type(access.ty, true);
        let masks =
            self.mask_lanes(access.guard.expect("analysis makes masks explicit"), access.ty);
        for (part, (&v, mask)) in lanes.iter().zip(masks).enumerate() {
            let before = self.b.ins().load(clif, flags(), host, 16 * part as i32);
            let after = vector::blend(self.b, mask, v, before);
            self.b.ins().store(flags(), after, host, 16 * part as i32);
        }
    }
}

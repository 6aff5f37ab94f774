//! Shared memory and constant banks: accesses whose lanes are all in range by one check.

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

// The access of a lane that begins at the end of shared memory fits behind it.
const _: () = assert!(MAX_ELEMENTS as u64 * 8 <= SHARED_PADDING);

/// Returns whether consecutive lanes may be stored as vectors.
fn may_be_vectors(access: &Access) -> bool {
    access.count == 1
        && access.ty.bytes() >= 4
        && fits_a_page(access, &evenly(access.bytes().into()))
}

impl BlockLowerer<'_, '_, '_> {
    /// Loads lanes at any addresses in shared memory or a constant bank, one by one after one check
    /// of all lanes.
    pub(super) fn gather_checked(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let guard = access.guard.expect("analysis makes masks explicit");
        // Inactive lanes read at 0, which is in range.
        let mask = self.mask_words(guard);
        let offsets = self.offsets(access, Some(mask), slow);
        let (start, _) = self.memory_at_offsets(access.space);
        self.gather_near(access, extend, start, offsets, result_ty)
    }

    /// Loads lanes at offsets from a host address that are known to be in range.
    pub(super) fn gather_near(
        &mut self,
        access: &Access,
        extend: Extend,
        start: Clif,
        offsets: [Clif; 2],
        result_ty: Type,
    ) -> Vec<Lanes> {
        let (done, merged) = self.merging(access.count, result_ty);
        // Often all lanes walk through a tile together, or stand along its rows. One load then
        // serves all lanes.
        let [first, second] = [0, 1].map(|lane| self.b.ins().extractlane(offsets[0], lane));
        let distance = self.b.ins().isub(second, first);
        let apart = self.b.create_block();
        for step in [0, access.bytes().into()] {
            // The first two lanes tell which step is possible.
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

    /// Stores lanes at any addresses in shared memory: in vectors if they are consecutive, else one
    /// by one after one check of all lanes.
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

    /// Stores lanes at offsets in shared memory that are known to be in range. Inactive lanes have
    /// offset 0.
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
        // Inactive lanes write behind shared memory, which has room for an access that begins at
        // its end.
        let nowhere = self.ctx_load(types::I32, abi::SHARED_BYTES);
        let offsets = self.or_nowhere(access, Type::I32, &offsets, nowhere);
        let shared = self.ctx_load(types::I64, abi::SHARED);
        self.scatter_lanes(access, values, (shared, access.ty.bytes() as i32), &offsets);
    }

    /// Stores consecutive lanes of shared memory, with the old values for inactive lanes. No other
    /// thread sees these stores meanwhile, since a block's warps share a host thread. Goes to
    /// `apart` if lanes are not consecutive, or not all in range.
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

//! Shared memory: lanes of which one check tells that all are in reach.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};

use super::super::super::abi;
use super::super::super::forms::{Lanes, clif_type, parts};
use super::super::address::{Spaced, evenly, fits_a_page};
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::vector;
use super::LANES;
use super::lanes::Offsets;
use crate::ir::typing::MAX_ELEMENTS;
use crate::ir::{Access, Extend, Type};
use warploom_runtime::warp::SHARED_PADDING;

// What a lane accesses fits behind shared memory.
const _: () = assert!(MAX_ELEMENTS as u64 * 8 <= SHARED_PADDING);

impl BlockLowerer<'_, '_, '_> {
    /// Any lanes of shared memory: all are checked at once, then loaded one by one.
    pub(super) fn gather_shared(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
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

    /// Any lanes of shared memory: in vectors if they are consecutive, else one by one after one check of all.
    pub(super) fn scatter_shared(&mut self, access: &Access, values: &[Lanes], bits: Clif, slow: ClifBlock) {
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
}

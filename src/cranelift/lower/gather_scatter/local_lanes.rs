//! Local memory of lanes with different offsets: one by one, after one check of all lanes.

use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_engine::abi;
use warploom_ir::typing::MAX_ELEMENTS;
use warploom_ir::{Access, Extend, Type};
use warploom_runtime::warp::LOCAL_PADDING;

use super::super::block::BlockLowerer;
use super::super::int::constant;
use super::super::vector;
use super::lanes::Offsets;
use super::local::in_words;
use crate::forms::Lanes;

// The store of an inactive lane fits behind local memory, whose rows have at most 64 words.
const _: () = assert!(MAX_ELEMENTS as u64 * 2 * 64 * 4 <= LOCAL_PADDING);

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn gather_local(
        &mut self,
        access: &Access,
        extend: Extend,
        slow: ClifBlock,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let offsets = self.local_offsets(access, slow);
        self.gather_local_at(access, extend, offsets, result_ty)
    }

    pub(super) fn scatter_local(&mut self, access: &Access, values: &[Lanes], slow: ClifBlock) {
        let offsets = self.local_offsets(access, slow);
        self.scatter_local_at(access, values, offsets);
    }

    fn local_offsets(&mut self, access: &Access, slow: ClifBlock) -> [Clif; 2] {
        let mask = self.mask_words(access.guard.expect("analysis makes masks explicit"));
        self.offsets(access, Some(mask), slow)
    }

    pub(super) fn gather_local_at(
        &mut self,
        access: &Access,
        extend: Extend,
        offsets: [Clif; 2],
        result_ty: Type,
    ) -> Vec<Lanes> {
        let start = self.start_of_local();
        if let Some(words) = in_words(access) {
            let ty = if words.ty == access.ty { result_ty } else { words.ty };
            let places = self.places_in_local(offsets, true);
            let row = self.local_row_bytes();
            let loaded =
                self.gather_lanes(&words, extend, ty, (start, row), &Offsets::bytes(&places));
            return self.values_of_words(access, loaded, result_ty);
        }
        let one = Access { count: 1, ..*access };
        (0..u32::from(access.count))
            .map(|e| {
                let offsets = self.moved_on(offsets, e * access.ty.bytes());
                let places = self.places_in_local(offsets, false);
                self.gather_lanes(&one, extend, result_ty, (start, 0), &Offsets::bytes(&places))
                    .remove(0)
            })
            .collect()
    }

    /// Stores lanes one by one, at offsets in range. Inactive lanes write behind local memory.
    pub(super) fn scatter_local_at(
        &mut self,
        access: &Access,
        values: &[Lanes],
        offsets: [Clif; 2],
    ) {
        let start = self.start_of_local();
        let bytes = self.ctx_load(types::I64, abi::LOCAL_BYTES);
        let end = self.b.ins().imul_imm_s(bytes, i64::from(self.facts.function.lanes));
        let lane = self.first_lane();
        let first = self.b.ins().ishl_imm_u(lane, 2);
        let nowhere = self.b.ins().isub(end, first);
        let nowhere = self.b.ins().ireduce(types::I32, nowhere);
        if let Some(words) = in_words(access) {
            let rows = self.words_of_values(access, values);
            let places = self.places_in_local(offsets, true);
            let places = self.or_nowhere(access, Type::I32, &places, nowhere);
            let row = self.local_row_bytes();
            return self.scatter_lanes(&words, &rows, (start, row), &places);
        }
        let one = Access { count: 1, ..*access };
        for (e, lanes) in values.iter().enumerate() {
            let offsets = self.moved_on(offsets, e as u32 * access.ty.bytes());
            let places = self.places_in_local(offsets, false);
            let places = self.or_nowhere(access, Type::I32, &places, nowhere);
            self.scatter_lanes(&one, std::slice::from_ref(lanes), (start, 0), &places);
        }
    }

    fn moved_on(&mut self, offsets: [Clif; 2], bytes: u32) -> [Clif; 2] {
        if bytes == 0 {
            return offsets;
        }
        let bytes = constant(self.b, Type::I32, bytes.into(), true);
        offsets.map(|offset| self.b.ins().iadd(offset, bytes))
    }

    /// Returns the distances from the chunk's first word of local memory to the bytes at offsets.
    /// They are less than 2^30, since local memory has at most 2^24 bytes per lane.
    fn places_in_local(&mut self, offsets: [Clif; 2], words: bool) -> [Clif; 2] {
        let lanes = u64::from(self.facts.function.lanes);
        [0, 1].map(|part| {
            let number = 4 * part as u32;
            let lane = vector::words(self.b, [0, 1, 2, 3].map(|lane| 4 * (number + lane)));
            let (word, within) = if words {
                (offsets[part], lane)
            } else {
                let low = constant(self.b, Type::I32, 3, true);
                let byte = self.b.ins().band(offsets[part], low);
                (self.b.ins().band_not(offsets[part], low), self.b.ins().bor(lane, byte))
            };
            let row = if lanes.is_power_of_two() {
                self.b.ins().ishl_imm_u(word, i64::from(lanes.trailing_zeros()))
            } else {
                let lanes = constant(self.b, Type::I32, lanes, true);
                self.b.ins().imul(word, lanes)
            };
            self.b.ins().iadd(row, within)
        })
    }
}

//! Loads and stores of one lane after another, at offsets from a host address.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::{Access, Extend, Type};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::int::shifted_up;
use super::super::vector;
use super::LANES;
use crate::forms::{Lanes, clif_type, parts};

/// Offsets that are added to a host address for each lane: words or 64-bit values, to be shifted
/// left.
pub(super) struct Offsets {
    pub lanes: Lanes,
    pub signed: bool,
    pub shift: i64,
}

impl Offsets {
    pub fn bytes(lanes: &[Clif]) -> Offsets {
        Offsets { lanes: lanes.into(), signed: false, shift: 0 }
    }

    /// Returns the bytes of one lane's offset.
    fn cell(&self) -> i32 {
        16 * self.lanes.len() as i32 / LANES as i32
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Loads lanes at offsets from a host address. A lane's elements are `size` bytes apart.
    pub(super) fn gather_lanes(
        &mut self,
        access: &Access,
        extend: Extend,
        result_ty: Type,
        (host, size): (Clif, i32),
        offsets: &Offsets,
    ) -> Vec<Lanes> {
        let mut pair = None;
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
                    among => {
                        lanes[lane / per] =
                            self.b.ins().insertlane(lanes[lane / per], v, among as u8)
                    }
                }
            }
        }
        values
    }

    /// Returns a lane's offset. Words leave the vectors in pairs; `pair` keeps the last pair.
    ///
    /// The scratch area would need fewer instructions, but loads wait for stores to addresses that
    /// look alike. Without it, gathers take 0.82 to 0.96 of the time.
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
                if signed {
                    self.b.ins().sextend(types::I64, low)
                } else {
                    self.b.ins().uextend(types::I64, low)
                }
            }
        };
        shifted_up(self.b, offset, offsets.shift)
    }

    /// Returns the offsets of active lanes, and `nowhere` for inactive lanes.
    pub(super) fn or_nowhere(
        &mut self,
        access: &Access,
        ty: Type,
        offsets: &[Clif],
        nowhere: Clif,
    ) -> Offsets {
        let nowhere = self.b.ins().splat(clif_type(ty, true), nowhere);
        let masks = self.mask_lanes(access.guard.expect("analysis makes masks explicit"), ty);
        let lanes: Lanes = offsets
            .iter()
            .zip(masks)
            .map(|(&at, mask)| vector::blend(self.b, mask, at, nowhere))
            .collect();
        Offsets::bytes(&lanes)
    }

    /// Loads a lane's offset from the scratch area.
    fn staged_offset(&mut self, offsets: &Offsets, lane: usize) -> Clif {
        let (context, from) = (self.ctx, Self::scratch(0) + offsets.cell() * lane as i32);
        let offset = match (offsets.cell(), offsets.signed) {
            (8, _) => self.b.ins().load(types::I64, flags(), context, from),
            (_, true) => self.b.ins().sload32(flags(), context, from),
            (_, false) => self.b.ins().uload32(flags(), context, from),
        };
        shifted_up(self.b, offset, offsets.shift)
    }

    /// Stores lanes at offsets from a host address, like [`Self::gather_lanes`], the highest lane
    /// last. Offsets go through the scratch area, as values take enough registers.
    pub(super) fn scatter_lanes(
        &mut self,
        access: &Access,
        values: &[Lanes],
        (host, size): (Clif, i32),
        offsets: &Offsets,
    ) {
        self.stage_lanes(0, &offsets.lanes);
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
}

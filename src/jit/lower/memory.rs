//! Loads and stores of a chunk. Accesses whose lanes are evenly spaced are checked once and done inline; for others `gather_scatter` has
//! an inline way mostly. What is left is staged in the context's scratch area and done by a helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;

use super::super::forms::{Lanes, MaskForm, clif_type};
use super::super::helpers::{AccessKind, STAGED_VALUES};
use super::address::{Place, Rights};
use super::block::BlockLowerer;
use super::chunk::Chunk;
use super::vector;
use crate::analysis::{CHUNK, Class};
use crate::ir::{Access, Extend, Inst, Op, Space, Type};

const LANES: i64 = CHUNK as i64;

/// Where the ways of a load meet: a block with its results, and its sparse status, as parameters.
struct Meeting {
    done: ClifBlock,
    ty: Type,
    sparse: bool,
    /// Lanes that take part, unless all do.
    mask: Option<Lanes>,
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn load(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Load { access, extend, sparse } = inst.op else { unreachable!() };
        let result_ty = self.ty(inst.results[0]);
        if let Some(bail) = self.strip().and_then(|strip| strip.bail) {
            let (run, known) = (self.run_of(index), self.chunk().shared.elements.get(&index).copied());
            let loaded = self.gather_global(&access, extend, (run, known), bail, result_ty);
            let loaded = self.without_inactive_lanes(index, loaded, result_ty);
            return self.set_loaded(index, loaded);
        }
        let guard = access.guard.expect("analysis makes masks explicit");
        let run = self.may_scatter(&access).then(|| self.run_of(index));
        let desc = self.describe(index, AccessKind::Load { extend }, run);
        if self.loads_in_turn(&access) && !sparse {
            return self.load_in_turn(inst, desc, &access, extend);
        }
        let (done, merged) = self.merging(access.count, result_ty);
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let whole = self.settled_mask(guard) == Some(true);
        let mask = self.mask_lanes(guard, result_ty);
        let meeting = Meeting { done, ty: result_ty, sparse, mask: if whole { None } else { Some(mask) } };
        let slow = self.cold_block();
        let known = self.load_inline(&access, extend, run, slow, &meeting);
        self.b.switch_to_block(slow);
        self.unless_empty(guard, done, |lowerer| lowerer.nothing(&access, &meeting));
        self.stage(&access, &[]);
        let bits = self.mask_bits(guard);
        if sparse {
            self.clear_status();
        }
        self.call_access(desc, bits, true);
        let mut args = Vec::new();
        for element in 0..usize::from(access.count) {
            for v in self.staged_lanes(STAGED_VALUES + element * LANES as usize, result_ty) {
                args.push(BlockArg::Value(v));
            }
        }
        args.extend(status.map(|_| BlockArg::Value(self.status())));
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.chunk = known;
        for (&value, lanes) in inst.results.iter().zip(merged) {
            self.chunk().lanes.insert(value, lanes);
        }
        self.set_status(inst, status);
    }

    /// The ways of a load that are inline: in the first one that is found to be possible, else in `slow`, with what was known before
    /// they parted. Gives what was known before the first one.
    fn load_inline(
        &mut self,
        access: &Access,
        extend: Extend,
        run: Option<usize>,
        slow: ClifBlock,
        meeting: &Meeting,
    ) -> Option<Chunk> {
        // What is computed on one side of a branch is not known to the other.
        let mut known = None;
        if let Some(place) = self.place_in_tiles(access, Rights::READ) {
            known = Some(self.chunk.clone());
            let other = self.b.create_block();
            self.require(place.reachable, other);
            let loaded = self.load_spaced(access, extend, place.host, &place.distances, meeting.ty);
            self.meet(meeting, &loaded);
            self.b.switch_to_block(other);
        }
        let beyond = if self.has_windows(access) { self.cold_block() } else { slow };
        let place = self.place_for_both(access, Rights::READ);
        let saved = self.chunk.clone();
        if let Some(place) = place {
            let other = if run.is_some() { self.cold_block() } else { beyond };
            self.require(place.reachable, other);
            let loaded = self.load_spaced(access, extend, place.host, &place.distances, meeting.ty);
            self.meet(meeting, &loaded);
            self.chunk.clone_from(&saved);
            self.b.switch_to_block(other);
        }
        if place.is_none() || run.is_some() {
            self.unless_in_a_window(access, beyond, slow);
            if let Some(loaded) = self.gather_access(access, extend, run, beyond, meeting.ty) {
                self.meet(meeting, &loaded);
            }
        }
        self.chunk.clone_from(&saved);
        if beyond != slow {
            for (window, other) in self.windows(access, beyond, slow) {
                self.chunk.clone_from(&saved);
                let loaded = self.load_in_window(window, access, extend, other, meeting.ty);
                self.meet(meeting, &loaded);
                self.b.switch_to_block(other);
            }
            self.chunk.clone_from(&saved);
        }
        known.unwrap_or(saved)
    }

    /// Goes to where the ways of a load meet, with 0 in the lanes that take no part. What the code reaches by itself is resident.
    fn meet(&mut self, meeting: &Meeting, loaded: &[Lanes]) {
        let mut args = Vec::new();
        for lanes in loaded {
            for (part, &v) in lanes.iter().enumerate() {
                args.push(match &meeting.mask {
                    None => BlockArg::Value(v),
                    Some(mask) => {
                        let mask = vector::cast(self.b, clif_type(meeting.ty, true), mask[part]);
                        BlockArg::Value(self.b.ins().band(v, mask))
                    }
                });
            }
        }
        args.extend(self.no_status(meeting.sparse));
        self.b.ins().jump(meeting.done, &args);
    }

    /// What a load of no lane gives.
    fn nothing(&mut self, access: &Access, meeting: &Meeting) -> Vec<BlockArg> {
        let zeros: Vec<Clif> = (0..access.count).flat_map(|_| self.zero_lanes(meeting.ty)).collect();
        let status = self.no_status(meeting.sparse);
        zeros.into_iter().map(BlockArg::Value).chain(status).collect()
    }

    /// Notes the sparse status of an access: bits of the chunk's lanes.
    pub(super) fn set_status(&mut self, inst: &Inst, status: Option<Clif>) {
        if let (Some(bits), Some(&mask)) = (status, inst.results.last()) {
            self.chunk().masks.insert(mask, MaskForm { bits: Some(bits), ..MaskForm::default() });
        }
    }

    /// The place of an access whose lanes do not look scattered. The address is computed for the other ways too.
    fn place_for_both(&mut self, access: &Access, rights: Rights) -> Option<Place> {
        if self.looks_scattered(access) {
            let index = self.index_of(access).filter(|_| rights == Rights::READ);
            self.lanes(index.map_or(access.address, |index| index.word));
            return None;
        }
        if self.classes.get(access.address) == Class::Varying && !self.is_spilled(access.address) {
            self.lanes(access.address);
        }
        self.place(access, rights)
    }

    pub(super) fn store(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Store { access, ref values, sparse } = inst.op else { unreachable!() };
        let guard = access.guard.expect("analysis makes masks explicit");
        let run = self.may_scatter(&access).then(|| self.run_of(index));
        let desc = self.describe(index, AccessKind::Store, run);
        let leaves_later = self.may_fault_later(index);
        let done = self.b.create_block();
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let bits = self.mask_bits(guard);
        let lanes: Vec<Lanes> = values.iter().map(|&v| self.lanes(v)).collect();
        self.catch_up_on_loads();
        let mut known = None;
        if let Some(place) = self.place_in_tiles(&access, Rights::WRITE) {
            known = Some(self.chunk.clone());
            let other = self.b.create_block();
            let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
            let reachable = self.b.ins().band(full, place.reachable);
            self.require(reachable, other);
            self.store_spaced(&access, &lanes, place.host, &place.distances);
            self.finish_store(done, sparse);
            self.b.switch_to_block(other);
        }
        let slow = self.cold_block();
        let beyond = if self.has_windows(&access) { self.cold_block() } else { slow };
        let place = self.place_for_both(&access, Rights::WRITE);
        let saved = self.chunk.clone();
        let known = known.unwrap_or_else(|| saved.clone());
        let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
        let apart = place.is_none() || run.is_some() || self.scatters_shared(&access);
        if let Some(place) = place {
            let other = if apart { self.cold_block() } else { beyond };
            let reachable = self.b.ins().band(full, place.reachable);
            self.require(reachable, other);
            self.store_spaced(&access, &lanes, place.host, &place.distances);
            self.finish_store(done, sparse);
            self.chunk.clone_from(&saved);
            self.b.switch_to_block(other);
        }
        if apart {
            self.unless_in_a_window(&access, beyond, slow);
            if self.scatter_access((desc, run), &access, (values, &lanes), bits, beyond) {
                self.finish_store(done, sparse);
            }
        }
        self.chunk.clone_from(&saved);
        if beyond != slow {
            for (window, other) in self.windows(&access, beyond, slow) {
                self.chunk.clone_from(&saved);
                self.store_in_window(window, &access, &lanes, bits, other);
                self.finish_store(done, sparse);
                self.b.switch_to_block(other);
            }
            self.chunk.clone_from(&saved);
        }
        self.b.switch_to_block(slow);
        let any = self.b.create_block();
        let none = self.no_status(sparse);
        self.b.ins().brif(bits, any, &[], done, &none);
        self.b.switch_to_block(any);
        self.stage(&access, values);
        if sparse {
            self.clear_status();
        }
        self.call_access(desc, bits, leaves_later);
        let args: SmallVec<[BlockArg; 1]> = status.map(|_| BlockArg::Value(self.status())).into_iter().collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.chunk = known;
        self.set_status(inst, status);
    }

    /// Goes on after a store that met no sparse page.
    fn finish_store(&mut self, done: ClifBlock, sparse: bool) {
        let none = self.no_status(sparse);
        self.b.ins().jump(done, &none);
    }

    /// The status, if it is asked for, of a store that met no sparse page.
    fn no_status(&mut self, sparse: bool) -> SmallVec<[BlockArg; 1]> {
        sparse.then(|| BlockArg::Value(self.b.ins().iconst(types::I64, 0))).into_iter().collect()
    }

    /// Whether this instruction may have recorded a fault for the end of its segment. Local memory is seen by its own lanes only, and
    /// not at all after a fault, so that its stores are among loads.
    pub(super) fn may_fault_later(&self, index: usize) -> bool {
        match &self.block.insts[index].op {
            Op::Load { .. } => true,
            Op::Store { access, .. } => access.space == Space::Local,
            _ => false,
        }
    }
}

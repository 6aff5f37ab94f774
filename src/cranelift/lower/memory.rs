//! Loads and stores of a chunk.
//!
//! Accesses whose lanes are evenly spaced are checked once and done inline. For most other
//! accesses, `gather_scatter` has an inline way. The rest is staged in the context's scratch area
//! and done by a helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::Class;
use warploom_engine::descriptions::AccessId;
use warploom_engine::helpers::STAGED_VALUES;
use warploom_ir::{Access, Extend, Inst, Op, Space, Type, Value};

use super::address::{HostLanes, Rights};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::staging::Unreached;
use super::vector;
use crate::CHUNK;
use crate::forms::{Lanes, MaskForm, clif_type};

const LANES: i64 = CHUNK as i64;

/// A load that is being lowered.
struct Loading {
    access: Access,
    extend: Extend,
    guard: Value,
    desc: AccessId,
    /// The load's run of the TLB, if its lanes may be scattered.
    run: Option<usize>,
    /// The load's run of the TLB, if its lanes are evenly spaced but far apart.
    far: Option<usize>,
    meeting: Meeting,
}

/// The block where the ways of a load meet. Its parameters are the results and the sparse status.
struct Meeting {
    done: ClifBlock,
    ty: Type,
    sparse: bool,
    /// The lanes that take part, unless all do.
    mask: Option<Lanes>,
}

/// A store that is being lowered.
struct Storing<'i> {
    index: usize,
    access: Access,
    values: &'i [Value],
    lanes: Vec<Lanes>,
    guard: Value,
    /// The chunk's bits of the guard.
    bits: Clif,
    desc: AccessId,
    /// The store's run of the TLB, if its lanes may be scattered.
    run: Option<usize>,
    /// The store's run of the TLB, if its lanes are evenly spaced but far apart.
    far: Option<usize>,
    done: ClifBlock,
    sparse: bool,
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn load(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Load { access, extend, sparse } = inst.op else { unreachable!() };
        let result_ty = self.facts.ty(inst.results[0]);
        if let Some(bail) = self.strip().and_then(|strip| strip.bail) {
            let (run, known) =
                (self.run_of(index), self.chunk().shared.elements.get(&index).copied());
            let loaded = self.gather_global(&access, extend, (run, known), bail, result_ty);
            let loaded = self.without_inactive_lanes(index, loaded, result_ty);
            return self.set_loaded(index, loaded);
        }
        let guard = access.guard.expect("analysis makes masks explicit");
        let run = self.may_scatter(&access).then(|| self.run_of(index));
        let far = self.are_far_apart(&access).then(|| self.run_of(index));
        let desc = self.describe(index, run.or(far));
        if self.loads_in_turn(&access) && !sparse {
            return self.load_in_turn(inst, desc, &access, extend);
        }
        let (done, merged) = self.merging(access.count, result_ty);
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let whole = self.settled_mask(guard) == Some(true);
        let mask = self.mask_lanes(guard, result_ty);
        let meeting =
            Meeting { done, ty: result_ty, sparse, mask: if whole { None } else { Some(mask) } };
        let load = Loading { access, extend, guard, desc, run, far, meeting };
        let slow = self.cold_block();
        match self.place_in_tiles(&access, Rights::READ) {
            Some(place) => self.on_one_way(|lowerer| {
                let other = lowerer.b.create_block();
                lowerer.load_at(&load, &place, other);
                lowerer.b.switch_to_block(other);
                lowerer.load_elsewhere(&load, slow);
            }),
            None => self.load_elsewhere(&load, slow),
        }
        self.b.switch_to_block(done);
        for (&value, lanes) in inst.results.iter().zip(merged) {
            self.chunk().lanes.insert(value, lanes);
        }
        self.set_status(inst, status);
    }

    /// Loads the lanes at a known place if it is reachable, else goes to `other`.
    fn load_at(&mut self, load: &Loading, place: &HostLanes, other: ClifBlock) {
        self.require(place.reachable, other);
        let loaded = self.load_spaced(
            &load.access,
            load.extend,
            place.host,
            &place.distances,
            load.meeting.ty,
        );
        self.meet(&load.meeting, &loaded);
    }

    /// Lowers a load whose lanes do not lie in tiles. The load takes the first inline way that is
    /// found to be possible, else the helper in `slow`.
    fn load_elsewhere(&mut self, load: &Loading, slow: ClifBlock) {
        let Loading { access, extend, run, ref meeting, .. } = *load;
        let beyond = if self.has_windows(&access) { self.cold_block() } else { slow };
        let place = self.place_for_both(&access, load.far, Rights::READ);
        self.look_for_rows(&access);
        let otherwise = place.is_none() || run.is_some();
        if let Some(place) = place {
            let other = if run.is_some() { self.cold_block() } else { beyond };
            self.on_one_way(|lowerer| lowerer.load_at(load, &place, other));
            self.b.switch_to_block(other);
        }
        if otherwise {
            self.on_one_way(|lowerer| {
                lowerer.unless_in_a_window(&access, beyond, slow);
                if let Some(loaded) =
                    lowerer.gather_access(&access, extend, run, beyond, meeting.ty)
                {
                    lowerer.meet(meeting, &loaded);
                }
            });
        }
        if beyond != slow {
            for (window, other) in self.on_one_way(|lowerer| lowerer.windows(&access, beyond, slow))
            {
                self.on_one_way(|lowerer| {
                    let loaded = lowerer.load_in_window(window, &access, extend, other, meeting.ty);
                    lowerer.meet(meeting, &loaded);
                });
                self.b.switch_to_block(other);
            }
        }
        self.b.switch_to_block(slow);
        let apart =
            run.filter(|_| self.region.effort.is_fast() && self.may_be_in_several_buffers(&access));
        let in_turn = beyond != slow || apart.is_some() || self.may_reach_beyond(&access);
        if in_turn && !meeting.sparse {
            let helper = self.cold_block();
            self.on_one_way(|lowerer| {
                if let Some(run) = apart {
                    lowerer.unless_all_miss(&access, run, helper);
                }
                lowerer.load_one_by_one(load, helper);
            });
            self.b.switch_to_block(helper);
        }
        self.on_one_way(|lowerer| lowerer.load_by_helper(load));
    }

    /// Loads lanes one by one. They may be in different memories or buffers, and some may be out of
    /// reach. Goes to `helper` if a lane that takes part is out of reach.
    fn load_one_by_one(&mut self, load: &Loading, helper: ClifBlock) {
        let Loading { access, extend, ref meeting, .. } = *load;
        let word = |element: usize| STAGED_VALUES + element * LANES as usize;
        let elements = 0..usize::from(access.count);
        self.stage(&access, &[]);
        let zeros = self.zero_lanes(meeting.ty);
        elements.clone().for_each(|element| self.stage_lanes(word(element), &zeros));
        let bits = self.mask_bits(load.guard);
        self.generic_loop(
            &access,
            Rights::READ,
            bits,
            Unreached::Leaves(helper),
            |lowerer, host, lane| {
                for element in elements.clone() {
                    let v = lowerer.load_element(
                        access.ty,
                        extend,
                        host,
                        (element as u32 * access.ty.bytes()) as i32,
                    );
                    let (at, offset) = lowerer.staged_address(word(element), lane, meeting.ty);
                    lowerer.b.ins().store(flags(), v, at, offset);
                }
            },
        );
        let lanes = elements.flat_map(|element| self.staged_lanes(word(element), meeting.ty));
        let args: Vec<BlockArg> = lanes.map(BlockArg::Value).collect();
        self.b.ins().jump(meeting.done, &args);
    }

    fn load_by_helper(&mut self, load: &Loading) {
        let (access, meeting) = (&load.access, &load.meeting);
        self.unless_empty(load.guard, meeting.done, |lowerer| lowerer.nothing(access, meeting));
        self.stage(access, &[]);
        let bits = self.mask_bits(load.guard);
        if meeting.sparse {
            self.clear_status();
        }
        self.call_access(load.desc, bits, true);
        let mut args = Vec::new();
        for element in 0..usize::from(access.count) {
            for v in self.staged_lanes(STAGED_VALUES + element * LANES as usize, meeting.ty) {
                args.push(BlockArg::Value(v));
            }
        }
        if meeting.sparse {
            args.push(BlockArg::Value(self.status()));
        }
        self.b.ins().jump(meeting.done, &args);
    }

    /// Goes to the block where the ways of a load meet, with 0 in the lanes that take no part.
    /// Pages that code reaches by itself are resident.
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

    /// Returns the results of a load that has no lanes.
    fn nothing(&mut self, access: &Access, meeting: &Meeting) -> Vec<BlockArg> {
        let zeros: Vec<Clif> =
            (0..access.count).flat_map(|_| self.zero_lanes(meeting.ty)).collect();
        let status = self.no_status(meeting.sparse);
        zeros.into_iter().map(BlockArg::Value).chain(status).collect()
    }

    /// Records the sparse status of an access, which consists of bits of the chunk's lanes.
    pub(super) fn set_status(&mut self, inst: &Inst, status: Option<Clif>) {
        if let (Some(bits), Some(&mask)) = (status, inst.results.last()) {
            self.chunk().masks.insert(mask, MaskForm { bits: Some(bits), ..MaskForm::default() });
        }
    }

    /// Returns the place of an access unless its lanes look scattered. Computes the address in any
    /// case, for the other ways.
    fn place_for_both(
        &mut self,
        access: &Access,
        far: Option<usize>,
        rights: Rights,
    ) -> Option<HostLanes> {
        if self.looks_scattered(access) {
            let index = self.index_of(access).filter(|_| rights == Rights::READ);
            self.lanes(index.map_or(access.address, |index| index.word));
            return None;
        }
        if self.scope.classes.get(access.address) == Class::Varying
            && !self.is_spilled(access.address)
        {
            self.lanes(access.address);
        }
        self.place(access, far, rights)
    }

    pub(super) fn store(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Store { access, ref values, sparse } = inst.op else { unreachable!() };
        let guard = access.guard.expect("analysis makes masks explicit");
        let run = self.may_scatter(&access).then(|| self.run_of(index));
        let far = self.are_far_apart(&access).then(|| self.run_of(index));
        let desc = self.describe(index, run.or(far));
        let done = self.b.create_block();
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let bits = self.mask_bits(guard);
        let lanes: Vec<Lanes> = values.iter().map(|&v| self.lanes(v)).collect();
        self.catch_up_on_loads();
        let store =
            Storing { index, access, values, lanes, guard, bits, desc, run, far, done, sparse };
        match self.place_in_tiles(&access, Rights::WRITE) {
            Some(place) => self.on_one_way(|lowerer| {
                let other = lowerer.b.create_block();
                let full = lowerer.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
                lowerer.store_at(&store, &place, full, other);
                lowerer.b.switch_to_block(other);
                lowerer.store_elsewhere(&store);
            }),
            None => self.store_elsewhere(&store),
        }
        self.b.switch_to_block(done);
        self.set_status(inst, status);
    }

    /// Stores the lanes at a known place if it is reachable and all lanes take part, else goes to
    /// `other`.
    fn store_at(&mut self, store: &Storing, place: &HostLanes, full: Clif, other: ClifBlock) {
        let reachable = self.b.ins().band(full, place.reachable);
        self.require(reachable, other);
        self.store_spaced(&store.access, &store.lanes, place.host, &place.distances);
        self.finish_store(store);
    }

    /// Stores the lanes that take part one by one, at a known place if it is reachable, else goes
    /// to `other`.
    fn store_some_at(&mut self, store: &Storing, place: &HostLanes, other: ClifBlock) {
        self.require(place.reachable, other);
        let ((host, at), access) = (place.host, store.access);
        for (lane, distance) in place.distances.iter().enumerate() {
            let (takes_part, next) = (self.cold_block(), self.cold_block());
            let bit = self.b.ins().band_imm_u(store.bits, 1 << lane);
            self.b.ins().brif(bit, takes_part, &[], next, &[]);
            self.b.switch_to_block(takes_part);
            for (element, lanes) in (0..).zip(&store.lanes) {
                let per = LANES as usize / lanes.len();
                let v = self.b.ins().extractlane(lanes[lane / per], (lane % per) as u8);
                self.store_element(
                    access.ty,
                    v,
                    host,
                    at + *distance as i32 + element * access.ty.bytes() as i32,
                );
            }
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(next);
        }
        self.finish_store(store);
    }

    /// Lowers a store whose lanes do not lie in tiles.
    fn store_elsewhere(&mut self, store: &Storing) {
        let Storing { access, bits, run, .. } = *store;
        let slow = self.cold_block();
        let beyond = if self.has_windows(&access) { self.cold_block() } else { slow };
        let place = self.place_for_both(&access, store.far, Rights::WRITE);
        self.look_for_rows(&access);
        let full = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xff);
        let apart = place.is_none() || run.is_some() || self.scatters_shared(&access);
        if let Some(place) = place {
            let partly = !apart
                && self.region.effort.is_fast()
                && self.settled_mask(store.guard) != Some(true);
            let other = if apart || partly { self.cold_block() } else { beyond };
            self.on_one_way(|lowerer| lowerer.store_at(store, &place, full, other));
            self.b.switch_to_block(other);
            if partly {
                self.on_one_way(|lowerer| lowerer.store_some_at(store, &place, beyond));
                self.b.switch_to_block(beyond);
            }
        }
        if apart {
            self.on_one_way(|lowerer| {
                lowerer.unless_in_a_window(&access, beyond, slow);
                let values = (store.values, &store.lanes[..]);
                if lowerer.scatter_access((store.desc, run), &access, values, bits, beyond) {
                    lowerer.finish_store(store);
                }
            });
        }
        if beyond != slow {
            for (window, other) in self.on_one_way(|lowerer| lowerer.windows(&access, beyond, slow))
            {
                self.on_one_way(|lowerer| {
                    lowerer.store_in_window(window, &access, &store.lanes, bits, other)
                });
                self.finish_store(store);
                self.b.switch_to_block(other);
            }
        }
        self.b.switch_to_block(slow);
        self.on_one_way(|lowerer| {
            if beyond != slow && !store.sparse {
                lowerer.store_one_by_one(store);
            } else {
                lowerer.store_by_helper(store);
            }
        });
    }

    /// Stores lanes with generic addresses in different memories, in ascending order. The helper
    /// stores the lanes that are out of reach.
    fn store_one_by_one(&mut self, store: &Storing) {
        let Storing { access, bits, desc, .. } = *store;
        self.stage(&access, store.values);
        self.generic_loop(
            &access,
            Rights::WRITE,
            bits,
            Unreached::CallsHelper(desc),
            |lowerer, host, lane| {
                for element in 0..usize::from(access.count) {
                    let v = lowerer.staged_scalar(
                        STAGED_VALUES + element * LANES as usize,
                        lane,
                        access.ty,
                    );
                    lowerer.store_element(
                        access.ty,
                        v,
                        host,
                        (element as u32 * access.ty.bytes()) as i32,
                    );
                }
            },
        );
        self.finish_store(store);
    }

    fn store_by_helper(&mut self, store: &Storing) {
        let any = self.b.create_block();
        let none = self.no_status(store.sparse);
        self.b.ins().brif(store.bits, any, &[], store.done, &none);
        self.b.switch_to_block(any);
        self.stage(&store.access, store.values);
        if store.sparse {
            self.clear_status();
        }
        self.call_access(store.desc, store.bits, self.may_fault_later(store.index));
        let args: SmallVec<[BlockArg; 1]> =
            store.sparse.then(|| BlockArg::Value(self.status())).into_iter().collect();
        self.b.ins().jump(store.done, &args);
    }

    /// Continues after a store that met no sparse page.
    fn finish_store(&mut self, store: &Storing) {
        let none = self.no_status(store.sparse);
        self.b.ins().jump(store.done, &none);
    }

    /// Returns the status of an access that met no sparse page, if the status is wanted.
    fn no_status(&mut self, sparse: bool) -> SmallVec<[BlockArg; 1]> {
        sparse.then(|| BlockArg::Value(self.b.ins().iconst(types::I64, 0))).into_iter().collect()
    }

    /// Returns whether an instruction may have recorded a fault for the end of its segment.
    ///
    /// Local memory is seen by its own lanes only, and not at all after a fault. So its stores
    /// stand among loads.
    pub(super) fn may_fault_later(&self, index: usize) -> bool {
        match &self.facts.block.insts[index].op {
            Op::Load { .. } => true,
            Op::Store { access, .. } => access.space == Space::Local,
            _ => false,
        }
    }
}

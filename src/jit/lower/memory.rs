//! Loads and stores of a chunk. Accesses whose lanes are evenly spaced are checked once and done inline; for others `apart` has
//! an inline way mostly. What is left is staged in the context's scratch area and done by a helper.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;

use super::super::forms::{Lanes, MaskForm, clif_type, parts};
use super::super::helpers::{AccessKind, STAGED_VALUES};
use super::address::{Distances, Place, Rights, evenly};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::vector;
use crate::analysis::{CHUNK, Class};
use crate::ir::{Access, Extend, Inst, Op, Space, Type, Value};

const LANES: i64 = CHUNK as i64;

/// Where the vectors of 16 bytes begin that an access's lanes make, if they do.
pub(super) fn in_vectors(access: &Access, distances: &Distances) -> Option<impl Iterator<Item = i64>> {
    let bytes = i64::from(access.bytes());
    let lanes = usize::try_from(16 / bytes).ok().filter(|&lanes| 16 % bytes == 0 && lanes <= LANES as usize)?;
    let follow = |vector: &[i64]| vector.iter().zip(0..).all(|(&at, lane)| at == vector[0] + lane * bytes);
    let starts: SmallVec<[i64; 8]> = distances.iter().copied().step_by(lanes).collect();
    distances.chunks(lanes).all(follow).then(|| starts.into_iter())
}

/// Lanes of two or four words each as they lie in memory.
fn transposed(b: &mut FunctionBuilder, words: &[Lanes]) -> Vec<Clif> {
    let merged = |b: &mut FunctionBuilder, x: usize, y: usize| vector::interleave(b, &words[x], &words[y]);
    let first = merged(b, 0, 1);
    if words.len() == 2 {
        return first.into();
    }
    let last = merged(b, 2, 3);
    let lanes = first.into_iter().zip(last);
    lanes.flat_map(|(x, y)| [[0, 1, 4, 5], [2, 3, 6, 7]].map(|pick| vector::shuffle_words(b, x, y, pick))).collect()
}

impl BlockLowerer<'_, '_, '_> {
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
        let Op::Load { access, extend, sparse } = inst.op else { unreachable!() };
        let result_ty = self.ty(inst.results[0]);
        if let Some(bail) = self.strip().and_then(|strip| strip.bail) {
            let (run, known) = (self.run_of(index), self.chunk().shared.elements.get(&index).copied());
            let loaded = self.gather_global(&access, extend, (run, known), bail, result_ty);
            let loaded = self.without_idle_lanes(index, loaded, result_ty);
            return self.set_loaded(index, loaded);
        }
        let guard = access.guard.expect("analysis makes masks explicit");
        let run = self.may_scatter(&access).then(|| self.run_of(index));
        let desc = self.describe(index, AccessKind::Load { extend }, run);
        if self.loads_in_turn(&access) && !sparse {
            return self.load_in_turn(inst, desc, &access, extend);
        }
        let count = usize::from(access.count);

        let done = self.b.create_block();
        let merged: Vec<Lanes> = (0..count)
            .map(|_| {
                (0..parts(result_ty)).map(|_| self.b.append_block_param(done, clif_type(result_ty, true))).collect()
            })
            .collect();
        let status = sparse.then(|| self.b.append_block_param(done, types::I64));
        let whole = self.settled_mask(guard) == Some(true);
        let mask = self.mask_lanes(guard, result_ty);
        let masked = |lowerer: &mut Self, loaded: &[Lanes]| {
            let mut args = Vec::new();
            for lanes in loaded {
                for (&v, &mask) in lanes.iter().zip(&mask) {
                    if whole {
                        args.push(BlockArg::Value(v));
                        continue;
                    }
                    let mask = vector::cast(lowerer.b, clif_type(result_ty, true), mask);
                    args.push(BlockArg::Value(lowerer.b.ins().band(v, mask)));
                }
            }
            // What the code reaches by itself is resident.
            args.extend(status.map(|_| BlockArg::Value(lowerer.b.ins().iconst(types::I64, 0))));
            lowerer.b.ins().jump(done, &args);
        };
        // Lanes that take no part read 0.
        let nothing = |lowerer: &mut Self| {
            let zeros: Vec<Clif> = (0..count).flat_map(|_| lowerer.zero_lanes(result_ty)).collect();
            let status = sparse.then(|| lowerer.b.ins().iconst(types::I64, 0));
            zeros.into_iter().chain(status).map(BlockArg::Value).collect()
        };
        // What is computed on one side of a branch is not known to the other.
        let mut known = None;
        if let Some(place) = self.place_in_tiles(&access, Rights::READ) {
            known = Some(self.chunk.clone());
            let other = self.b.create_block();
            self.require(place.reachable, other);
            let loaded = self.load_spaced(&access, extend, place.host, &place.distances, result_ty);
            masked(self, &loaded);
            self.b.switch_to_block(other);
        }
        let slow = self.cold_block();
        let beyond = if self.has_windows(&access) { self.cold_block() } else { slow };
        let place = self.place_for_both(&access, Rights::READ);
        let saved = self.chunk.clone();
        let known = known.unwrap_or_else(|| saved.clone());
        if let Some(place) = place {
            let other = if run.is_some() { self.cold_block() } else { beyond };
            self.require(place.reachable, other);
            let loaded = self.load_spaced(&access, extend, place.host, &place.distances, result_ty);
            masked(self, &loaded);
            self.chunk.clone_from(&saved);
            self.b.switch_to_block(other);
        }
        if place.is_none() || run.is_some() {
            self.unless_in_a_window(&access, beyond, slow);
            if let Some(loaded) = self.load_apart(&access, extend, run, beyond, result_ty) {
                masked(self, &loaded);
            }
        }
        self.chunk.clone_from(&saved);
        if beyond != slow {
            for (window, other) in self.windows(&access, beyond, slow) {
                self.chunk.clone_from(&saved);
                let loaded = self.load_in_window(window, &access, extend, other, result_ty);
                masked(self, &loaded);
                self.b.switch_to_block(other);
            }
            self.chunk.clone_from(&saved);
        }
        self.b.switch_to_block(slow);
        self.unless_empty(guard, done, nothing);
        self.stage(&access, &[]);
        let bits = self.mask_bits(guard);
        if sparse {
            self.clear_status();
        }
        self.call_access(desc, bits, true);
        let mut args = Vec::new();
        for element in 0..count {
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

    /// Goes on if lanes take part in an access, else to `done` with these arguments. Of the lanes active at the block's entry there
    /// mostly are some.
    fn unless_empty(
        &mut self,
        guard: Value,
        done: ClifBlock,
        nothing: impl FnOnce(&mut Self) -> Vec<BlockArg>,
    ) {
        if self.settled_mask(guard).is_some() || self.entry_mask() == Some(guard) {
            return;
        }
        let bits = self.mask_bits(guard);
        let nothing = nothing(self);
        let some = self.b.create_block();
        self.b.ins().brif(bits, some, &[], done, &nothing);
        self.b.switch_to_block(some);
    }

    /// Goes on unless an access's lanes seem to be in a window, for which `beyond` has code if that is another block than `slow`.
    fn unless_in_a_window(&mut self, access: &Access, beyond: ClifBlock, slow: ClifBlock) {
        if beyond != slow {
            let window = self.looks_in_a_window(access);
            let global = self.b.create_block();
            self.b.ins().brif(window, beyond, &[], global, &[]);
            self.b.switch_to_block(global);
        }
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
        if self.classes.get(access.address) == Class::Varying && !self.is_resting(access.address) {
            self.lanes(access.address);
        }
        self.place(access, rights)
    }

    /// Lanes of memory at distances from the first one; `host` is that one's host address, with a constant to add.
    pub(super) fn load_spaced(
        &mut self,
        access: &Access,
        extend: Extend,
        (host, at): (Clif, i32),
        distances: &Distances,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let elements = 0..i32::from(access.count);
        let size = access.ty.bytes() as i32;
        let clif = clif_type(result_ty, true);
        if *distances == [0; LANES as usize] {
            return elements
                .map(|e| {
                    let v = self.load_element(access.ty, extend, host, at + e * size);
                    let v = self.b.ins().splat(clif, v);
                    Lanes::from_elem(v, parts(result_ty))
                })
                .collect();
        }
        if let Some(vectors) = in_vectors(access, distances) {
            let vectors: Vec<i32> = vectors.map(|distance| at + distance as i32).collect();
            match (size, access.count) {
                (4 | 8, 1) => {
                    return vec![vectors.into_iter().map(|at| self.b.ins().load(clif, flags(), host, at)).collect()];
                }
                (4, 2) => {
                    let quads: Lanes =
                        vectors.into_iter().map(|at| self.b.ins().load(clif, flags(), host, at)).collect();
                    let even = vector::halves(self.b, &quads, false);
                    let odd = vector::halves(self.b, &quads, true);
                    return [even, odd]
                        .into_iter()
                        .map(|pair| pair.into_iter().map(|v| vector::cast(self.b, clif, v)).collect())
                        .collect();
                }
                (4, 4) => return self.load_transposed(host, &vectors, clif),
                _ => {}
            }
        }
        if size == 1 && access.count == 1 && *distances == evenly(1) {
            return vec![self.load_bytes(extend, (host, at))];
        }
        elements
            .map(|e| {
                let mut lanes = self.zero_lanes(result_ty);
                let per = LANES as usize / parts(result_ty);
                for (lane, distance) in distances.iter().enumerate() {
                    let at = at + *distance as i32 + e * size;
                    let v = self.load_element(access.ty, extend, host, at);
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

    /// Eight quadruples of words, which lie at these constants from `host`, as four values.
    fn load_transposed(&mut self, host: Clif, at: &[i32], clif: cranelift_codegen::ir::Type) -> Vec<Lanes> {
        let mut values = vec![Lanes::new(); 4];
        for half in at.chunks(4) {
            let q: Vec<Clif> = half.iter().map(|&at| self.b.ins().load(types::I32X4, flags(), host, at)).collect();
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
            if self.store_apart((desc, run), &access, (values, &lanes), bits, beyond) {
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

    /// The reverse of [`Self::load_spaced`].
    pub(super) fn store_spaced(
        &mut self,
        access: &Access,
        values: &[Lanes],
        (host, at): (Clif, i32),
        distances: &Distances,
    ) {
        let size = access.ty.bytes() as i32;
        if let Some(vectors) = in_vectors(access, distances).filter(|_| access.count == 1 && size >= 4) {
            for (distance, &v) in vectors.zip(&values[0]) {
                self.b.ins().store(flags(), v, host, at + distance as i32);
            }
            return;
        }
        if size == 4
            && matches!(access.count, 2 | 4)
            && distances.windows(2).all(|pair| pair[1] - pair[0] == i64::from(access.bytes()))
        {
            for (vector, v) in transposed(self.b, values).into_iter().enumerate() {
                self.b.ins().store(flags(), v, host, at + distances[0] as i32 + 16 * vector as i32);
            }
            return;
        }
        // Lane by lane, the highest last.
        let first = if *distances == [0; LANES as usize] { LANES as usize - 1 } else { 0 };
        for (lane, distance) in distances.iter().enumerate().skip(first) {
            for (e, lanes) in values.iter().enumerate() {
                let per = LANES as usize / lanes.len();
                let v = self.b.ins().extractlane(lanes[lane / per], (lane % per) as u8);
                self.store_element(access.ty, v, host, at + *distance as i32 + e as i32 * size);
            }
        }
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

//! Accesses of a group, after the group's test.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_analysis::Sweep;
use warploom_ir::{ConvertOp, Inst, Op, Type, Value};

use super::super::address::{Distances, evenly, in_tiles};
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::spaced::in_vectors;
use super::super::vector;
use super::{Host, InMemory};
use crate::CHUNK;
use crate::forms::{Lanes, clif_type};

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Returns the host address of the chunk's first lane of an access, a constant to add to it,
    /// and the distances of the other lanes.
    pub(super) fn host_of(&mut self, index: usize) -> ((Clif, i32), Distances) {
        let Host { firsts, step, offset } = self.hosts()[&index].clone();
        let settled = self.scope.mode.settled().expect("a group is being lowered");
        let distances = settled.group.tiled.get(&index).map_or(evenly(step), in_tiles);
        if let Some(lane) = self.chunk().known_first_lane() {
            return match firsts[..] {
                [first] => ((first, offset + (step * lane) as i32), distances),
                _ => ((firsts[(lane / i64::from(CHUNK)) as usize], offset), distances),
            };
        }
        let start = (firsts[0], step);
        let known = self.chunk().hosts.iter().find(|&&(of, _)| of == start).map(|&(_, at)| at);
        let at = known.unwrap_or_else(|| {
            let table =
                self.scope.mode.settled().and_then(|settled| settled.tables.get(&start.0).copied());
            let at = match table {
                Some(table) => {
                    // A chunk has as many lanes as a table entry has bytes.
                    let lane = self.first_lane();
                    let table = self.b.ins().stack_addr(types::I64, table, 0);
                    let entry = self.b.ins().iadd(table, lane);
                    self.b.ins().load(types::I64, flags(), entry, 0)
                }
                None => {
                    let reach = self.reach_of_chunk();
                    self.spread(start.0, step, reach)
                }
            };
            self.chunk().hosts.push((start, at));
            at
        });
        ((at, offset), distances)
    }

    /// Defers a tested load until its values are needed. Vectors that are loaded where they are
    /// used need no registers, and unused vectors are never loaded.
    pub(in super::super) fn put_off_load(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Load { access, .. } = inst.op else { unreachable!() };
        for &value in &inst.results[..access.count.into()] {
            self.chunk().put_off.insert(value, index);
        }
        self.set_register_loop(inst);
        if self.scope.spills.is_some() {
            self.load_chunk(index);
        }
    }

    /// Emits the deferred loads, before a store that may overwrite their memory.
    pub(in super::super) fn catch_up_on_loads(&mut self) {
        let mut loads: Vec<usize> = self.chunk().put_off.values().copied().collect();
        loads.sort_unstable();
        loads.dedup();
        loads.into_iter().for_each(|index| self.load_chunk(index));
    }

    pub(in super::super) fn load_chunk(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let loaded = self.loaded(index, self.facts.ty(inst.results[0]));
        self.set_loaded(index, loaded);
    }

    /// Returns the location of a value's vectors in loaded memory, if the value has a single use.
    /// The host can then take them as memory operands.
    pub(in super::super) fn in_memory(&mut self, v: Value) -> Option<InMemory> {
        let (mut of, ty) = (v, clif_type(self.facts.ty(v), true));
        while let Op::Convert { op: ConvertOp::Bitcast, a, .. } = *self.facts.def_op(of) {
            if self.facts.uses[of] > 1 || self.chunk().lanes.contains_key(&of) {
                return None;
            }
            of = a;
        }
        let index = *self.chunk().put_off.get(&of)?;
        let access = *self.access(index);
        if self.facts.uses[of] > 1
            || access.count > 1
            || access.bytes() < 4
            || !self.hides_inactive_lanes(index)
        {
            return None;
        }
        let ((host, offset), distances) = self.host_of(index);
        let at =
            in_vectors(&access, &distances)?.map(|distance| offset + distance as i32).collect();
        Some(InMemory { value: of, ty, host, at })
    }

    pub(super) fn loaded(&mut self, index: usize, ty: Type) -> Vec<Lanes> {
        let Op::Load { access, extend, .. } = self.facts.block.insts[index].op else {
            unreachable!()
        };
        let (host, distances) = self.host_of(index);
        let loaded = self.load_spaced(&access, extend, host, &distances, ty);
        self.without_inactive_lanes(index, loaded, ty)
    }

    /// Returns whether no code sees the values that a load gives to inactive lanes, or no lane is
    /// inactive.
    pub(super) fn hides_inactive_lanes(&self, index: usize) -> bool {
        let guard = self.access(index).guard.expect("analysis makes masks explicit");
        let is_hidden = |sweep: &Sweep| self.strip().is_some() && sweep.hides_inactive_lanes(index);
        self.settled_mask(guard) == Some(true)
            || self.facts.planned.sweep.as_ref().is_some_and(is_hidden)
    }

    /// Returns the loaded values of all lanes, with zeros in inactive lanes if code sees them.
    pub(in super::super) fn without_inactive_lanes(
        &mut self,
        index: usize,
        mut loaded: Vec<Lanes>,
        ty: Type,
    ) -> Vec<Lanes> {
        if self.hides_inactive_lanes(index) {
            return loaded;
        }
        let guard = self.access(index).guard.expect("analysis makes masks explicit");
        let masks = self.mask_lanes(guard, ty);
        for lanes in &mut loaded {
            for (v, &mask) in lanes.iter_mut().zip(&masks) {
                let mask = vector::cast(self.b, clif_type(ty, true), mask);
                *v = self.b.ins().band(*v, mask);
            }
        }
        loaded
    }

    pub(in super::super) fn set_loaded(&mut self, index: usize, loaded: Vec<Lanes>) {
        for (&value, lanes) in self.facts.block.insts[index].results.iter().zip(loaded) {
            self.chunk().put_off.remove(&value);
            self.chunk().lanes.insert(value, lanes);
        }
    }

    /// Records that a tested access met no sparse page.
    pub(super) fn set_register_loop(&mut self, inst: &Inst) {
        if let Op::Load { sparse: true, .. } | Op::Store { sparse: true, .. } = inst.op {
            let none = self.b.ins().iconst(types::I64, 0);
            self.set_status(inst, Some(none));
        }
    }

    /// Returns whether an access was tested with the group that is lowered as a whole.
    pub(in super::super) fn is_tested_in_group(&self, index: usize) -> bool {
        self.scope.mode.settled().is_some_and(|settled| settled.group.accesses.contains(&index))
    }

    pub(in super::super) fn store_full_warp(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        let Op::Store { access, ref values, .. } = inst.op else { unreachable!() };
        let values: Vec<_> = values.iter().map(|&v| self.lanes(v)).collect();
        self.catch_up_on_loads();
        let (host, distances) = self.host_of(index);
        self.store_spaced(&access, &values, host, &distances);
        self.set_register_loop(inst);
    }
}

//! Loads and stores of one lane. If the lane is out of reach, a helper performs its access alone.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use cranelift_frontend as frontend;
use rustc_hash::FxHashMap;
use warploom_analysis::bound;
use warploom_engine::abi;
use warploom_engine::helpers::{MAX_LANES, STAGED_VALUES};
use warploom_ir::{Access, BinaryOp, Extend, Op, Space, Type, Value};

use super::super::address::Rights;
use super::super::block::BlockLowerer;
use super::super::gather_scatter::required_alignment;
use super::super::int;
use super::super::scalarized::Lane;
use crate::forms::clif_type;

/// The run of the TLB in which lanes of an access are expected. Code reloads it after a helper has
/// looked for another run.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    run: usize,
    rights: Rights,
    /// The run in variables, if it is held. Otherwise each lane loads the run from the TLB.
    held: Option<Held>,
}

/// A run held in variables.
#[derive(Clone, Copy)]
struct Held {
    /// The run's first address, a multiple of 16, and the number of multiples of the alignment from
    /// there at which an access may begin.
    first: frontend::Variable,
    limit: frontend::Variable,
    /// The number to add to an address to get the host address.
    addend: frontend::Variable,
}

/// Values that accesses of all lanes share.
#[derive(Default)]
pub(super) struct LaneAccesses {
    pub reaches: FxHashMap<usize, Reach>,
    /// The beginnings of local and shared memory.
    pub starts: FxHashMap<Space, Clif>,
    /// The number of multiples of an alignment at which an access may begin, by memory, size of the
    /// access and alignment as a power of two.
    pub limits: FxHashMap<(Space, u32, u32), Clif>,
}

/// The host address of the first element of a lane's access: an address and an offset.
struct Host {
    at: Clif,
    offset: i32,
}

/// The alignment of a run's first byte.
const RUN_ALIGNMENT: u8 = 16;

/// Returns the alignment that the distance from a run's first byte shows, as a power of two.
fn global_shift(access: &Access) -> u32 {
    access.align.min(RUN_ALIGNMENT).trailing_zeros()
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn reach_of_lanes(&mut self, index: usize, access: &Access, is_held: bool) -> Reach {
        let is_store = matches!(self.facts.block.insts[index].op, Op::Store { .. });
        let rights = if is_store { Rights::WRITE } else { Rights::READ };
        let held = is_held.then(|| {
            let [first, limit, addend] = [(); 3].map(|()| self.b.declare_var(types::I64));
            Held { first, limit, addend }
        });
        let reach = Reach { run: self.run_of(index), rights, held };
        self.look_into(access, &reach);
        reach
    }

    /// Loads the current run into its variables, if it is held.
    fn look_into(&mut self, access: &Access, reach: &Reach) {
        let Some(held) = reach.held else { return };
        let [first, bytes, addend] = self.run(reach.run, reach.rights);
        let limit = self.room(bytes, access.bytes(), global_shift(access));
        for (variable, value) in [(held.first, first), (held.limit, limit), (held.addend, addend)] {
            self.b.def_var(variable, value);
        }
    }

    /// Returns a run's first address, the number of multiples of the alignment from there at which
    /// an access may begin, and the number to add to get host addresses.
    fn reached(&mut self, access: &Access, reach: &Reach) -> [Clif; 3] {
        match reach.held {
            Some(held) => {
                [held.first, held.limit, held.addend].map(|variable| self.b.use_var(variable))
            }
            None => {
                let [first, bytes, addend] = self.run(reach.run, reach.rights);
                [first, self.room(bytes, access.bytes(), global_shift(access)), addend]
            }
        }
    }

    /// Returns the number of multiples of `1 << shift`, from the beginning of a memory, at which an
    /// element of `bytes` bytes lies wholly in the memory.
    fn room(&mut self, memory: Clif, bytes: u32, shift: u32) -> Clif {
        let multiples_less_one = (1i64 << shift) - 1;
        let room = int::plus(self.b, memory, multiples_less_one - (i64::from(bytes) - 1));
        let none = self.b.ins().iconst(types::I64, 0);
        let room = self.b.ins().smax(room, none);
        if shift == 0 { room } else { self.b.ins().ushr_imm_u(room, i64::from(shift)) }
    }

    /// Returns whether a distance is one of the first `limit` multiples of `1 << shift`. The
    /// rotation turns bits that alignment forbids into high bits.
    fn is_in_room(&mut self, distance: Clif, shift: u32, limit: Clif) -> Clif {
        let number =
            if shift == 0 { distance } else { self.b.ins().rotr_imm_u(distance, i64::from(shift)) };
        self.b.ins().icmp(IntCC::UnsignedLessThan, number, limit)
    }

    /// Finds the beginning of local or shared memory, and the offsets at which the access may
    /// begin.
    pub(super) fn add_memory(&mut self, places: &mut LaneAccesses, access: &Access) {
        let space = access.space;
        let (start, bytes) = match space {
            Space::Local => (abi::LOCAL, abi::LOCAL_BYTES),
            _ => (abi::SHARED, abi::SHARED_BYTES),
        };
        places.starts.entry(space).or_insert_with(|| self.ctx_load(types::I64, start));
        let shift = self.doubted_alignment(access);
        places.limits.entry((space, access.bytes(), shift)).or_insert_with(|| {
            let bytes = self.ctx_load(types::I64, bytes);
            self.room(bytes, access.bytes(), shift)
        });
    }

    /// Returns the alignment that an offset must have, as a power of two, or 0 if the offset is
    /// known to have it.
    fn doubted_alignment(&self, access: &Access) -> u32 {
        let (base, more) = self.base_of_offset(access.address, access.offset.into());
        let known = bound(|v| self.facts.ty(v), |v| self.facts.def_op(v), base)
            .zeros
            .min(more.trailing_zeros());
        let shift = required_alignment(access, access.space).trailing_zeros();
        if shift <= known { 0 } else { shift }
    }

    /// Emits a lane's load or store, if the lane is active.
    pub(super) fn access_of_lane(
        &mut self,
        lane: &mut Lane,
        index: usize,
        active: Value,
        places: &LaneAccesses,
    ) {
        let inst = &self.facts.block.insts[index];
        let access = *inst.op.access().expect("a memory operation");
        let guard = access.guard.expect("analysis makes masks explicit");
        let done = self.b.create_block();
        let tys: Vec<_> =
            inst.results.iter().map(|&v| clif_type(self.facts.ty(v), false)).collect();
        let results: Vec<Clif> =
            tys.iter().map(|&ty| self.b.append_block_param(done, ty)).collect();
        if guard != active {
            let zeros: Vec<BlockArg> = inst
                .results
                .iter()
                .map(|&v| int::constant(self.b, self.facts.ty(v), 0, false).into())
                .collect();
            let bit = self.lane_bit(lane, guard);
            let go = self.b.create_block();
            self.b.ins().brif(bit, go, &[], done, &zeros);
            self.b.switch_to_block(go);
        }
        let slow = self.cold_block();
        let loaded = match access.space {
            Space::Global => {
                self.global_of_lane(lane, index, &access, &places.reaches[&index], slow)
            }
            _ => self.offset_of_lane(lane, index, &access, places, slow),
        };
        self.b.ins().jump(done, &loaded);
        self.b.switch_to_block(slow);
        let loaded = self.access_by_helper(lane, index, &access, places.reaches.get(&index));
        self.b.ins().jump(done, &loaded);
        self.b.switch_to_block(done);
        lane.values.extend(inst.results.iter().copied().zip(results));
    }

    fn global_of_lane(
        &mut self,
        lane: &Lane,
        index: usize,
        access: &Access,
        reach: &Reach,
        slow: ClifBlock,
    ) -> Vec<BlockArg> {
        let address = self.lane_value(lane, access.address);
        let address = int::plus(self.b, address, access.offset.into());
        if access.align > RUN_ALIGNMENT
            && let Some(aligned) = self.is_aligned(access.align, address)
        {
            self.require(aligned, slow);
        }
        let [first, limit, addend] = self.reached(access, reach);
        let distance = self.b.ins().isub(address, first);
        let inside = self.is_in_room(distance, global_shift(access), limit);
        self.require(inside, slow);
        let at = self.b.ins().iadd(address, addend);
        self.elements_of_lane(lane, index, access, Host { at, offset: 0 }, access.ty.bytes() as i32)
    }

    /// Accesses shared or local memory, whose offsets wrap as guests compute them. A base below 0
    /// is valid if the access's offset leads back into the memory.
    fn offset_of_lane(
        &mut self,
        lane: &Lane,
        index: usize,
        access: &Access,
        places: &LaneAccesses,
        slow: ClifBlock,
    ) -> Vec<BlockArg> {
        let shift = self.doubted_alignment(access);
        let (start, limit) =
            (places.starts[&access.space], places.limits[&(access.space, access.bytes(), shift)]);
        let (base, more) = self.base_of_offset(access.address, access.offset.into());
        let offset = match self.facts.ty(base) {
            Type::I32 if more != 0 => {
                let base = self.lane_value(lane, base);
                let offset = int::plus(self.b, base, more);
                self.b.ins().uextend(types::I64, offset)
            }
            _ => {
                let base = self.lane_long(lane, base);
                int::plus(self.b, base, more)
            }
        };
        let inside = self.is_in_room(offset, shift, limit);
        self.require(inside, slow);
        if access.space == Space::Shared {
            let host = Host { at: self.b.ins().iadd(start, offset), offset: 0 };
            return self.elements_of_lane(lane, index, access, host, access.ty.bytes() as i32);
        }
        let column = self.b.ins().ishl_imm_u(lane.number, 2);
        let start = self.b.ins().iadd(start, column);
        let lanes = i64::from(self.facts.function.lanes);
        if access.ty.bytes() >= 4 {
            let row = self.b.ins().imul_imm_s(offset, lanes);
            let host = Host { at: self.b.ins().iadd(start, row), offset: 0 };
            return self.elements_of_lane(lane, index, access, host, self.local_row_bytes());
        }
        let mut loaded = Vec::new();
        for element in 0..usize::from(access.count) {
            let offset = int::plus(self.b, offset, element as i64 * i64::from(access.ty.bytes()));
            let (word, byte) =
                (self.b.ins().band_imm_s(offset, -4), self.b.ins().band_imm_u(offset, 3));
            let row = self.b.ins().imul_imm_s(word, lanes);
            let at = self.b.ins().iadd(start, row);
            let at = self.b.ins().iadd(at, byte);
            loaded.extend(self.element_of_lane(
                lane,
                index,
                access,
                element,
                (&Host { at, offset: 0 }, 0),
            ));
        }
        loaded
    }

    /// Splits an address and an access's offset into a base and a constant offset.
    fn base_of_offset(&self, address: Value, offset: i64) -> (Value, i64) {
        let Op::Binary { op: BinaryOp::Add, a, b } = *self.facts.def_op(address) else {
            return (address, offset);
        };
        if !self.is_home(address) {
            return (address, offset);
        }
        let known = |v: Value| self.facts.constant(v).map(|bits| i64::from(bits as i32));
        match (known(a), known(b)) {
            (_, Some(more)) => (a, offset + more),
            (Some(more), _) => (b, offset + more),
            _ => (address, offset),
        }
    }

    /// Loads or stores elements, each `size` bytes behind the previous element.
    fn elements_of_lane(
        &mut self,
        lane: &Lane,
        index: usize,
        access: &Access,
        host: Host,
        size: i32,
    ) -> Vec<BlockArg> {
        let elements = 0..usize::from(access.count);
        elements
            .filter_map(|element| self.element_of_lane(lane, index, access, element, (&host, size)))
            .collect()
    }

    fn element_of_lane(
        &mut self,
        lane: &Lane,
        index: usize,
        access: &Access,
        element: usize,
        (host, size): (&Host, i32),
    ) -> Option<BlockArg> {
        let at = host.offset + element as i32 * size;
        if let Op::Store { ref values, .. } = self.facts.block.insts[index].op {
            let v = self.lane_value(lane, values[element]);
            self.store_element(access.ty, v, host.at, at);
            return None;
        }
        Some(self.load_element(access.ty, self.extend_of(index), host.at, at).into())
    }

    fn extend_of(&self, index: usize) -> Extend {
        match self.facts.block.insts[index].op {
            Op::Load { extend, .. } => extend,
            _ => unreachable!("a load"),
        }
    }

    /// Has the helper perform the lane's access, as the first lane of a chunk.
    fn access_by_helper(
        &mut self,
        lane: &Lane,
        index: usize,
        access: &Access,
        reach: Option<&Reach>,
    ) -> Vec<BlockArg> {
        let inst = &self.facts.block.insts[index];
        let desc = self.describe(index, reach.map(|reach| reach.run));
        let address = self.lane_value(lane, access.address);
        self.ctx_store(address, Self::scratch(0));
        let word = |element: usize| Self::scratch(STAGED_VALUES + element * MAX_LANES);
        if let Op::Store { ref values, .. } = inst.op {
            for (element, &v) in values.iter().enumerate() {
                let v = self.lane_value(lane, v);
                self.ctx_store(v, word(element));
            }
        }
        let one = self.b.ins().iconst(types::I64, 1);
        self.call_access_from(desc, one, lane.number, self.may_fault_later(index));
        if let Some(reach) = reach {
            self.look_into(access, reach);
        }
        let load = |(element, &v): (usize, &Value)| {
            BlockArg::Value(self.ctx_load(clif_type(self.facts.ty(v), false), word(element)))
        };
        inst.results.iter().enumerate().map(load).collect()
    }
}

//! Finds the host addresses of the lanes of an access. Evenly spaced lanes are checked together.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use smallvec::SmallVec;
use warploom_analysis::{Class, NEAR, Tiled, tiled};
use warploom_engine::abi;
use warploom_engine::helpers::{self, Helper, REACHED, REACHED_ADDEND};
use warploom_ir::{Access, BinaryOp, ConvertOp, Op, Reg, Space, Type, Value};
use warploom_runtime::warp::{
    CONST_BANK_BYTES, PAGE_BITS, PAGE_BYTES, Run, TLB_ENTRIES, Tlb, TlbEntry, Ways,
};

use super::block::BlockLowerer;
use super::chunk::{Reach, flags};
use super::int::plus;
use super::vector;
use crate::CHUNK;

const LANES: i64 = CHUNK as i64;
const PAGE: i64 = PAGE_BYTES as i64;

/// An address whose lanes are evenly spaced. The access's offset is already added.
#[derive(Clone, Copy)]
pub(super) struct Spaced {
    /// The addresses of the first and of the last lane, `i64`. A 32-bit address is extended before
    /// its lanes are spread.
    pub first: Clif,
    pub last: Clif,
    pub step: i64,
}

impl Spaced {
    /// Returns the addresses of the lowest and of the highest lane.
    pub fn ends(&self) -> (Clif, Clif) {
        if self.step < 0 { (self.last, self.first) } else { (self.first, self.last) }
    }
}

/// A range of bytes that accesses touch, `i64`.
pub(super) struct Range {
    /// The first and the last byte of the range.
    pub low: Clif,
    pub last: Clif,
    /// The union of the address bits of lane 0 of all chunks.
    pub bits: Clif,
    /// Whether addresses fall from lane to lane. The first byte may then be below 0.
    pub falls: bool,
}

const RUN_FIELDS: [usize; 3] = [
    std::mem::offset_of!(Run, first),
    std::mem::offset_of!(Run, bytes),
    std::mem::offset_of!(Run, addend),
];

/// Returns the offset in the TLB of a run of an instruction. Way 0 is the run that the instruction
/// used last, way 1 the run before it.
const fn run_offset(run: usize, way: usize, rights: Rights) -> usize {
    let runs = match rights.write {
        true => std::mem::offset_of!(Tlb, write_runs),
        false => std::mem::offset_of!(Tlb, read_runs),
    };
    runs + run * size_of::<Ways>() + std::mem::offset_of!(Ways, runs) + way * size_of::<Run>()
}

/// The largest distance in bytes between neighbouring lanes that are checked by their two ends.
///
/// The host's addressing has 32 bits for the distance from the first lane to the last.
const FARTHEST: u64 = 1 << 27;

/// The most operations of an address that are followed back to a value that all lanes share.
pub(super) const MOST_SUMS: u32 = 4;

/// The origin of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pointer {
    /// An offset in a constant bank.
    Parameter(u8, u64),
    Register(Reg),
}

/// The rights that an access needs.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Rights {
    pub read: bool,
    pub write: bool,
}

impl Rights {
    pub const READ: Rights = Rights { read: true, write: false };
    pub const WRITE: Rights = Rights { read: false, write: true };
}

/// The distance in bytes from lane 0 to each lane of a chunk.
pub(super) type Distances = [i64; CHUNK as usize];

/// Returns the distances of evenly spaced lanes.
pub(super) fn evenly(step: i64) -> Distances {
    std::array::from_fn(|lane| step * lane as i64)
}

/// Returns the distances of lanes in tiles.
pub(super) fn in_tiles(tiled: &Tiled) -> Distances {
    std::array::from_fn(|lane| tiled.distances[lane])
}

/// The host addresses of a chunk's lanes.
#[derive(Clone, Copy)]
pub(super) struct HostLanes {
    /// The host address of lane 0, and a constant to add to it.
    pub host: (Clif, i32),
    pub distances: Distances,
    /// Whether all lanes are in reach.
    pub reachable: Clif,
}

/// Returns the distance from lane 0 to the lowest byte of an access, and the number of bytes from
/// the lowest to the highest.
pub(super) fn extent(access: &Access, distances: &[i64]) -> (i64, i64) {
    let (lowest, highest) =
        distances.iter().fold((0, 0), |(low, high), &at| (at.min(low), at.max(high)));
    (lowest, highest - lowest + i64::from(access.bytes()))
}

/// Returns whether lanes at these distances are aligned if lane 0 is, and lie together on one page
/// or on two neighbouring pages.
pub(super) fn fits_a_page(access: &Access, distances: &[i64]) -> bool {
    let align = i64::from(access.align.max(1));
    distances.iter().all(|distance| distance % align == 0)
        && extent(access, distances).1 <= PAGE - NEAR
}

/// A TLB look-up that a chunk has made. Accesses nearby use it too.
#[derive(Clone, Copy)]
pub(super) struct LookUp {
    address: Value,
    rights: Rights,
    /// The access offset with which the look-up was made.
    offset: i32,
    /// The bytes from the start of the page that was found to lane 0. The number is out of range
    /// for addresses outside the page.
    in_page: Clif,
    host: Clif,
}

/// The offsets in local memory of accesses of a segment to one address that all lanes share.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub address: Value,
    pub align: u8,
    /// The least offset that accesses add to the address, and the end of the last access.
    pub least: i32,
    pub end: i64,
    /// The lowest offset in local memory, `i64`.
    pub offset: Clif,
    /// The host address of the words of the chunk's lanes there, if the offset is a multiple of 4.
    pub host: Option<Clif>,
    /// Whether all accesses are in reach and aligned.
    pub hold: Clif,
}

/// Lane 0 of an address whose lanes have a given spacing, and whether they have it, if that is in
/// doubt.
type Guess = (Clif, Option<Clif>);

/// The facts that a chunk knows of its addresses.
#[derive(Clone, Default)]
pub(super) struct KnownAddresses {
    guesses: Vec<((Value, i64), Guess)>,
    pub(super) rows: Vec<Rows>,
    look_ups: Vec<LookUp>,
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the first of the evenly spaced lanes of an address, plus the access's offset, `i64`.
    pub(super) fn first_address(&mut self, access: &Access, base: Clif) -> Clif {
        let first = plus(self.b, base, i64::from(access.offset));
        if self.facts.ty(access.address) == Type::I64 {
            first
        } else {
            self.b.ins().uextend(types::I64, first)
        }
    }

    /// Returns the host addresses of the chunk's lanes of an access, if they are evenly spaced.
    ///
    /// Lanes are evenly spaced by the address's class, or by a guess that they are consecutive.
    /// Accesses that are never done inline as evenly spaced give `None`. An access whose lanes are
    /// [far apart](Self::are_far_apart) comes with its `run`.
    pub(super) fn place(
        &mut self,
        access: &Access,
        run: Option<usize>,
        rights: Rights,
    ) -> Option<HostLanes> {
        let class = self.scope.classes.get(access.address);
        let inline = match access.space {
            Space::Shared | Space::Const(_) => class != Class::Varying,
            space => matches!(space, Space::Global | Space::Generic),
        };
        let step = class.stride().unwrap_or(i64::from(access.bytes()));
        if !inline || run.is_none() && !fits_a_page(access, &evenly(step)) {
            return None;
        }
        let (base, holds) = self.guess(access.address, step);
        let mut place = match access.space {
            _ if let Some(run) = run => {
                self.place_in_run(access, base, evenly(step), (run, rights))
            }
            Space::Shared | Space::Const(_) => self.place_at_offset(access, base, step),
            _ => self.place_in_page(access, base, evenly(step), rights),
        };
        if let Some(holds) = holds {
            place.reachable = self.b.ins().band(holds, place.reachable);
        }
        Some(place)
    }

    /// Returns whether the lanes of an access to global memory are evenly spaced, but a chunk of
    /// them does not fit a page.
    pub(super) fn are_far_apart(&self, access: &Access) -> bool {
        let Some(step) = self.scope.classes.get(access.address).stride() else { return false };
        matches!(access.space, Space::Global | Space::Generic)
            && self.facts.ty(access.address) == Type::I64
            && step.unsigned_abs() <= FARTHEST
            && step % i64::from(access.align.max(1)) == 0
            && !fits_a_page(access, &evenly(step))
    }

    /// Returns lane 0 of an address, and whether the other lanes follow it `step` bytes apart.
    pub(super) fn guess(&mut self, address: Value, step: i64) -> Guess {
        // A compare of lanes that are in registers is cheaper than a test of the choice that made
        // them.
        let lanes = self.scope.classes.relies_on_choice(address) && !self.is_tested(address);
        if self.scope.classes.get(address).stride().is_some() && !lanes {
            return self.base(address);
        }
        let known = self.chunk().places.guesses.iter().find(|&&(key, _)| key == (address, step));
        if let Some(&(_, guess)) = known {
            return guess;
        }
        let lanes = self.lanes(address);
        let base = self.b.ins().extractlane(lanes[0], 0);
        let first = vector::first_lane(self.b, lanes[0]);
        let guess = (base, Some(self.are_spaced(&lanes, first, step)));
        self.chunk().places.guesses.push(((address, step), guess));
        guess
    }

    /// Returns whether the lanes of addresses follow the first lane `step` bytes apart. `first` is
    /// a vector with the first lane in all its lanes.
    pub(super) fn are_spaced(&mut self, lanes: &[Clif], first: Clif, step: i64) -> Clif {
        let per = LANES / lanes.len() as i64;
        let mut same: Option<Clif> = None;
        for (part, &lane) in lanes.iter().enumerate() {
            let at = |i: i64| (part as i64 * per + i) * step;
            let offsets = match per {
                _ if step == 0 => None,
                2 => Some(vector::longs(self.b, [at(0) as u64, at(1) as u64])),
                _ => Some(vector::words(
                    self.b,
                    [at(0) as u32, at(1) as u32, at(2) as u32, at(3) as u32],
                )),
            };
            let expected = offsets.map_or(first, |offsets| self.b.ins().iadd(first, offsets));
            let equal = self.b.ins().icmp(IntCC::Equal, lane, expected);
            let equal = vector::cast(self.b, types::I32X4, equal);
            same = Some(match same {
                Some(same) => self.b.ins().band(same, equal),
                None => equal,
            });
        }
        let bits = self.b.ins().vhigh_bits(types::I32, same.expect("an address has lanes"));
        self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0xf)
    }

    fn place_at_offset(&mut self, access: &Access, base: Clif, step: i64) -> HostLanes {
        let first = self.first_address(access, base);
        let last = self.spread(first, step, Reach::Known(LANES - 1));
        let (start, bytes) = self.memory_at_offsets(access.space);
        let reachable = self.is_inside(access, &Spaced { first, last, step }, bytes);
        HostLanes { host: (self.b.ins().iadd(start, first), 0), distances: evenly(step), reachable }
    }

    /// Returns the start of shared memory or of a constant bank, and its size in bytes.
    pub(super) fn memory_at_offsets(&mut self, space: Space) -> (Clif, Clif) {
        match space {
            Space::Const(bank) => {
                let start = self.ctx_load(types::I64, abi::CONSTANTS + 8 * i32::from(bank));
                (start, self.b.ins().iconst(types::I64, CONST_BANK_BYTES as i64))
            }
            _ => (
                self.ctx_load(types::I64, abi::SHARED),
                self.ctx_load(types::I64, abi::SHARED_BYTES),
            ),
        }
    }

    /// Returns the host addresses of the chunk's lanes of an access to a tiled image, whose varying
    /// address is made of the bits of an evenly spaced column.
    pub(super) fn place_in_tiles(&mut self, access: &Access, rights: Rights) -> Option<HostLanes> {
        if !matches!(access.space, Space::Global | Space::Generic)
            || self.scope.classes.get(access.address) != Class::Varying
            || self.facts.ty(access.address) != Type::I64
            // A segment that spills does not keep the operands of its values.
            || self.scope.spills.is_some()
        {
            return None;
        }
        // A varying value of another step is a row; its definition is not followed.
        let def = |v| {
            (self.scope.classes.get(v) != Class::Varying || self.is_home(v))
                .then(|| self.facts.def_op(v))
        };
        let tiled = tiled(self.scope.classes, |v| self.facts.ty(v), def, access)?;
        if !fits_a_page(access, &tiled.distances) {
            return None;
        }
        let (root, spaced) = self.guess(tiled.root, tiled.step);
        let low = self.b.ins().band_imm_u(root, tiled.low as i64);
        let mut holds = self.b.ins().icmp_imm_u(IntCC::Equal, low, 0);
        if let Some(spaced) = spaced {
            holds = self.b.ins().band(holds, spaced);
        }
        let base = self.first_lane_of(access.address, (tiled.root, root));
        for &limit in &tiled.limits {
            let fits = self.is_within(limit, (tiled.root, root));
            holds = self.b.ins().band(holds, fits);
        }
        let mut place = self.place_in_page(access, base, in_tiles(&tiled), rights);
        place.reachable = self.b.ins().band(holds, place.reachable);
        Some(place)
    }

    /// Returns whether lane 0 of a value is so low that extending later lanes wraps none.
    pub(super) fn is_within(&mut self, (v, most): (Value, u64), known: (Value, Clif)) -> Clif {
        let first = self.first_lane_of(v, known);
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, first, most as i64)
    }

    /// Returns lane 0 of a value that is made of uniform values and of one other value, whose lane
    /// 0 is known.
    pub(super) fn first_lane_of(&mut self, v: Value, known: (Value, Clif)) -> Clif {
        if v == known.0 {
            return known.1;
        }
        if self.scope.classes.get(v).stride().is_some() {
            return self.base(v).0;
        }
        if let Some(&(base, _)) = self.chunk().bases.get(&v) {
            return base;
        }
        let args: SmallVec<[Clif; 2]> = self
            .facts
            .def_op(v)
            .operands()
            .into_iter()
            .map(|operand| self.first_lane_of(operand, known))
            .collect();
        let first = self.base_of(v, &args);
        self.chunk().bases.insert(v, (first, None));
        first
    }

    fn place_in_page(
        &mut self,
        access: &Access,
        base: Clif,
        distances: Distances,
        rights: Rights,
    ) -> HostLanes {
        let wide = self.facts.ty(access.address) == Type::I64;
        let near = |known: &&LookUp| {
            (known.address, known.rights) == (access.address, rights)
                && i64::from(access.offset.abs_diff(known.offset)) < NEAR
        };
        let known =
            if wide { self.chunk().places.look_ups.iter().find(near).copied() } else { None };
        let look_up = known.unwrap_or_else(|| {
            let first = self.first_address(access, base);
            let (tags, addend) = self.tlb_entry(first, rights);
            let in_page = self.b.ins().isub(first, tags[0]);
            let host = self.b.ins().iadd(first, addend);
            let made =
                LookUp { address: access.address, rights, offset: access.offset, in_page, host };
            self.chunk().places.look_ups.push(made);
            made
        });
        // The lowest lane is less than a page from the address that was looked up. So the tag of an
        // empty entry matches neither.
        let distance = access.offset - look_up.offset;
        let (nearest, span) = extent(access, &distances);
        let low = plus(self.b, look_up.in_page, i64::from(distance) + nearest);
        // The rotation turns the bits that alignment forbids into high bits, which fail the
        // compare.
        let align = access.align.max(1).trailing_zeros();
        let low = if align == 0 { low } else { self.b.ins().rotr_imm_u(low, i64::from(align)) };
        let reachable =
            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, low, (PAGE - span) >> align);
        HostLanes { host: (look_up.host, distance), distances, reachable }
    }

    /// Returns the host addresses of lanes, which all lie in a run if the lowest and the highest
    /// do.
    fn place_in_run(
        &mut self,
        access: &Access,
        base: Clif,
        distances: Distances,
        run: (usize, Rights),
    ) -> HostLanes {
        let lane = self.first_address(access, base);
        let [first, bytes, addend] = self.run_around(run, access.address, |_| lane);
        let (lowest, span) = extent(access, &distances);
        let before = self.b.ins().isub(lane, first);
        let low = plus(self.b, before, lowest);
        let room = plus(self.b, bytes, -span);
        let starts = self.b.ins().icmp(IntCC::UnsignedLessThan, low, bytes);
        let ends = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, low, room);
        let mut reachable = self.b.ins().band(starts, ends);
        if let Some(aligned) = self.is_aligned(access.align, lane) {
            reachable = self.b.ins().band(reachable, aligned);
        }
        HostLanes { host: (self.b.ins().iadd(lane, addend), 0), distances, reachable }
    }

    /// Returns whether evenly spaced lanes lie aligned in a memory of `bytes` bytes. The spacing is
    /// such that all lanes are aligned if the first one is (see [`fits_a_page`]).
    pub(super) fn is_inside(&mut self, access: &Access, spaced: &Spaced, bytes: Clif) -> Clif {
        debug_assert!(
            spaced.step % i64::from(access.align.max(1)) == 0,
            "lanes are not aligned alike"
        );
        let (low, high) = spaced.ends();
        let end = self.b.ins().iadd_imm_s(high, i64::from(access.bytes()));
        let mut inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, bytes);
        if spaced.step < 0 {
            let positive = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, low, 0);
            inside = self.b.ins().band(inside, positive);
        }
        match self.is_aligned(access.align, spaced.first) {
            Some(aligned) => self.b.ins().band(aligned, inside),
            None => inside,
        }
    }

    /// Returns whether an address is a multiple of an alignment, if that is in doubt.
    pub(super) fn is_aligned(&mut self, align: u8, address: Clif) -> Option<Clif> {
        if align <= 1 {
            return None;
        }
        let low = self.b.ins().band_imm_u(address, i64::from(align) - 1);
        Some(self.b.ins().icmp_imm_u(IntCC::Equal, low, 0))
    }

    /// Continues in a fresh block if `condition` holds, else goes to `slow`.
    pub(super) fn require(&mut self, condition: Clif, slow: ClifBlock) {
        let go = self.b.create_block();
        self.b.ins().brif(condition, go, &[], slow, &[]);
        self.b.switch_to_block(go);
    }

    /// Returns the addend that turns addresses of a range into host addresses. Goes to `slow` if
    /// the range is not mapped or its lanes are not aligned.
    ///
    /// The range lies in a run, or a helper finds its place: a group's slow path costs more than
    /// the helper.
    pub(super) fn host_addend(
        &mut self,
        access: &Access,
        range: &Range,
        (run, rights): (usize, Rights),
        slow: ClifBlock,
    ) -> Clif {
        if let Some(aligned) = self.is_aligned(access.align, range.bits) {
            self.require(aligned, slow);
        }
        if access.space == Space::Shared {
            let limit = self.ctx_load(types::I64, abi::SHARED_BYTES);
            let mut inside = self.b.ins().icmp(IntCC::UnsignedLessThan, range.last, limit);
            if range.falls {
                let straight =
                    self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, range.low, range.last);
                inside = self.b.ins().band(inside, straight);
            }
            self.require(inside, slow);
            return self.ctx_load(types::I64, abi::SHARED);
        }
        let found = self.b.create_block();
        let result = self.b.append_block_param(found, types::I64);
        let tlb = self.ctx_load(types::I64, abi::TLB);
        for way in 0..self.run_ways(access.address) {
            let [first, bytes, addend] = self.run_at(tlb, run_offset(run, way, rights));
            let [low, last] = [range.low, range.last].map(|end| self.b.ins().isub(end, first));
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, last, bytes);
            let straight = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, low, last);
            let hit = self.b.ins().band(inside, straight);
            let miss = self.cold_block();
            self.b.ins().brif(hit, found, &[BlockArg::Value(addend)], miss, &[]);
            self.b.switch_to_block(miss);
        }
        if access.space == Space::Generic {
            // Shared memory lies in no run, and facts of a group's accesses to global memory do not
            // hold there.
            let window = self.is_in_a_window(range.low);
            let look = self.b.create_block();
            self.b.ins().brif(window, slow, &[], look, &[]);
            self.b.switch_to_block(look);
        }
        let [reached, addend] = self.find_run([range.low, range.last], (run, rights));
        self.b.ins().brif(reached, found, &[BlockArg::Value(addend)], slow, &[]);
        self.b.switch_to_block(found);
        result
    }

    /// Returns the TLB's run for accesses at an address. Accesses through one pointer share a run.
    pub(super) fn run_for(&mut self, address: Value) -> usize {
        match self.pointer(address) {
            Some(pointer) => self.region.run_of_pointer(pointer),
            None => self.region.next_run(),
        }
    }

    /// Returns the pointer to which an address adds an offset. The pointer is equal in all lanes.
    fn pointer(&self, address: Value) -> Option<Pointer> {
        let is_same = |v| self.scope.classes.get(v).is_same();
        let mut v = address;
        for _ in 0..MOST_SUMS {
            match *self.facts.def_op(v) {
                Op::Binary { op: BinaryOp::Add, a, b } => match [a, b].map(is_same) {
                    [true, false] if let Some(pointer) = self.source(a) => return Some(pointer),
                    [false, true] if let Some(pointer) = self.source(b) => return Some(pointer),
                    [true, false] => v = b,
                    _ => v = a,
                },
                // Guests without 64-bit addition add the low words here, and the high words
                // elsewhere.
                Op::Binary { op: BinaryOp::Sub, a, .. } | Op::Concat { lo: a, .. } => v = a,
                _ => break,
            }
        }
        None
    }

    /// Returns the register or the parameter that a value comes from, if all lanes have the same
    /// value.
    fn source(&self, mut v: Value) -> Option<Pointer> {
        for _ in 0..MOST_SUMS {
            match *self.facts.def_op(v) {
                Op::RfRead { reg, .. } => return Some(Pointer::Register(reg)),
                Op::Load { access, .. } => {
                    let Space::Const(bank) = access.space else { return None };
                    let offset =
                        self.facts.constant(access.address)?.wrapping_add(access.offset as u64);
                    return Some(Pointer::Parameter(bank, offset));
                }
                Op::Concat { lo, .. } => v = lo,
                Op::Splat { a }
                | Op::Convert { op: ConvertOp::FromMask, a, .. }
                | Op::Binary { op: BinaryOp::Add, a, .. } => v = a,
                _ => return None,
            }
        }
        None
    }

    /// Returns a run of the TLB: its first address, its bytes, and the addend to host addresses.
    pub(super) fn run(&mut self, run: usize, rights: Rights) -> [Clif; 3] {
        let tlb = self.ctx_load(types::I64, abi::TLB);
        self.run_at(tlb, run_offset(run, 0, rights))
    }

    /// Returns the runs of an access that code tests.
    pub(super) fn runs_of(&mut self, run: usize, rights: Rights, address: Value) -> Vec<[Clif; 3]> {
        let tlb = self.ctx_load(types::I64, abi::TLB);
        (0..self.run_ways(address))
            .map(|way| self.run_at(tlb, run_offset(run, way, rights)))
            .collect()
    }

    fn run_at(&mut self, tlb: Clif, at: usize) -> [Clif; 3] {
        RUN_FIELDS.map(|offset| self.b.ins().load(types::I64, flags(), tlb, (at + offset) as i32))
    }

    /// Returns the number of an instruction's runs that code tests.
    ///
    /// Code tests one run if the instruction's pointer never changes and no other pointer shares
    /// its run, or if code must be short. Otherwise it tests two.
    fn run_ways(&self, address: Value) -> usize {
        let may_change = || {
            self.region.shares_runs
                || self.pointer(address).is_none_or(|pointer| self.region.changes(pointer))
        };
        if self.region.effort.is_fast() && may_change() { 2 } else { 1 }
    }

    /// Returns the run, of an instruction's two, that contains lane 0 of an address. If neither
    /// does, returns the run that the instruction used last.
    ///
    /// If [`Self::run_ways`] is 1, the run used last is the only run.
    pub(super) fn run_around(
        &mut self,
        (run, rights): (usize, Rights),
        address: Value,
        lane: impl FnOnce(&mut Self) -> Clif,
    ) -> [Clif; 3] {
        let tlb = self.ctx_load(types::I64, abi::TLB);
        let last = self.run_at(tlb, run_offset(run, 0, rights));
        if self.run_ways(address) == 1 {
            return last;
        }
        let lane = lane(self);
        let (other, go) = (self.cold_block(), self.b.create_block());
        let chosen = [(); 3].map(|()| self.b.append_block_param(go, types::I64));
        let holds = |lowerer: &mut Self, [first, bytes, _]: [Clif; 3]| {
            let distance = lowerer.b.ins().isub(lane, first);
            lowerer.b.ins().icmp(IntCC::UnsignedLessThan, distance, bytes)
        };
        let here = holds(self, last);
        self.b.ins().brif(here, go, &last.map(BlockArg::Value), other, &[]);
        self.b.switch_to_block(other);
        let before = self.run_at(tlb, run_offset(run, 1, rights));
        let there = holds(self, before);
        self.b.ins().brif(there, go, &before.map(BlockArg::Value), go, &last.map(BlockArg::Value));
        self.b.switch_to_block(go);
        chosen
    }

    /// Has a helper find the pages of a range, which then lie in the run. Returns whether it found
    /// them, and the addend to their host addresses.
    pub(super) fn find_run(
        &mut self,
        [first, last]: [Clif; 2],
        (run, rights): (usize, Rights),
    ) -> [Clif; 2] {
        let number = self.b.ins().iconst(types::I64, helpers::run_number(run, rights.write));
        self.region.call(self.b, Helper::Reach, &[self.ctx, first, last, number]);
        [REACHED, REACHED_ADDEND].map(|word| self.ctx_load(types::I64, Self::scratch(word)))
    }

    /// Returns the tags and the addend of the TLB entry for the page of an address. The entry holds
    /// the page if every tag is the page's first address.
    pub(super) fn tlb_entry(
        &mut self,
        address: Clif,
        rights: Rights,
    ) -> (SmallVec<[Clif; 2]>, Clif) {
        // This is `tlb_slot`, times the size of an entry.
        let scale = size_of::<TlbEntry>().trailing_zeros();
        let page = self.b.ins().ushr_imm_u(address, i64::from(PAGE_BITS - scale));
        let folded = self.b.ins().ushr_imm_u(address, i64::from(PAGE_BITS + 8 - scale));
        let hash = self.b.ins().bxor(page, folded);
        let slot = self.b.ins().band_imm_u(hash, (TLB_ENTRIES as i64 - 1) << scale);
        let tlb = self.ctx_load(types::I64, abi::TLB);
        let entry = self.b.ins().iadd(tlb, slot);
        let tags = [
            (rights.read, std::mem::offset_of!(TlbEntry, read_tag)),
            (rights.write, std::mem::offset_of!(TlbEntry, write_tag)),
        ]
        .into_iter()
        .filter(|&(wanted, _)| wanted)
        .map(|(_, offset)| self.b.ins().load(types::I64, flags(), entry, offset as i32))
        .collect();
        let addend = std::mem::offset_of!(TlbEntry, addend) as i32;
        (tags, self.b.ins().load(types::I64, flags(), entry, addend))
    }
}

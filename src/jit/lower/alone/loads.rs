//! Loads of one lane. The place of each is looked up before the rounds, so that in a round one compare is left to do; streams
//! have even that behind them for many rounds.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};

use super::super::super::forms::clif_type;
use super::super::address::Rights;
use super::super::block::BlockLowerer;
use super::super::int;
use super::super::resident::Resident;
use super::ops::Lane;
use super::slots::{Slot, Slots};
use crate::analysis::bound;
use crate::ir::{Access, BinaryOp, Op, Value};

/// Where a load goes in a run of the TLB.
#[derive(Clone, Copy)]
pub struct Place {
    run: usize,
    /// What its address is made of besides what it is in all rounds, and whether that is as aligned as the access.
    rest: Value,
    rest_is_aligned: bool,
    /// Address of the run's beginning.
    first: Slot,
    /// What leads from `rest` to the distance from the run's beginning.
    start: Clif,
    /// Distances that are in the run with the whole access.
    room: Clif,
    /// Host address of the run's beginning.
    host: Clif,
}

impl BlockLowerer<'_, '_, '_> {
    /// Elements that a lane loads; to `fails` if it cannot.
    pub(super) fn load_of_lane(&mut self, lane: &Lane, index: usize, active: Value, fails: ClifBlock) -> Vec<Clif> {
        let inst = &self.block.insts[index];
        let Op::Load { access, extend, .. } = inst.op else { unreachable!("a load") };
        let after = access.guard.filter(|&guard| guard != active).map(|guard| {
            let guard = self.lane_bit(lane, guard);
            let (go, done) = (self.b.create_block(), self.b.create_block());
            let zeros: Vec<BlockArg> =
                inst.results.iter().map(|&v| int::constant(self.b, self.ty(v), 0, false).into()).collect();
            for &v in &inst.results {
                self.b.append_block_param(done, clif_type(self.ty(v), false));
            }
            self.b.ins().brif(guard, go, &[], done, &zeros);
            self.b.switch_to_block(go);
            done
        });
        let host = match lane.hosts.get(&index) {
            Some(&host) => host,
            None => self.host_of_lane(lane, &access, lane.places[&index], fails),
        };
        let size = access.ty.bytes() as i32;
        let loaded: Vec<Clif> =
            (0..i32::from(access.count)).map(|e| self.load_element(access.ty, extend, host, e * size)).collect();
        let Some(done) = after else { return loaded };
        let args: Vec<BlockArg> = loaded.into_iter().map(BlockArg::Value).collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.b.block_params(done).to_vec()
    }

    /// What there is to know of a load before the rounds. To `fails` if what its addresses have in common is not aligned.
    pub(super) fn place_of_lane(
        &mut self,
        resident: &Resident,
        lane: &Lane,
        access: &Access,
        slots: &mut Slots,
        fails: ClifBlock,
    ) -> Place {
        let changes = |v: Value| !self.is_unchanging(resident, lane, v);
        let (common, rest) = match *self.def_op(access.address) {
            Op::Binary { op: BinaryOp::Add, a, b } if changes(a) && !changes(b) => (Some(b), a),
            Op::Binary { op: BinaryOp::Add, a, b } if changes(b) && !changes(a) => (Some(a), b),
            _ => (None, access.address),
        };
        let common = match common {
            Some(v) => self.lane_value(lane, v),
            None => self.b.ins().iconst(types::I64, 0),
        };
        let common = int::plus(self.b, common, access.offset.into());
        let zeros = bound(|v| self.ty(v), |v| self.def_op(v), rest).zeros;
        let rest_is_aligned = 1u64 << zeros.min(63) >= u64::from(access.align);
        if rest_is_aligned && let Some(aligned) = self.is_aligned(access.align, common) {
            self.require(aligned, fails);
        }
        let run = self.region.next_run();
        let [first, bytes, addend] = self.run(run, Rights::READ);
        let start = self.b.ins().isub(common, first);
        let beyond = i64::from(access.bytes()) - 1;
        let enough = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, beyond);
        let room = self.b.ins().iadd_imm_s(bytes, -beyond);
        let none = self.b.ins().iconst(types::I64, 0);
        let room = self.b.ins().select(enough, room, none);
        let host = self.b.ins().iadd(first, addend);
        Place { run, rest, rest_is_aligned, first: slots.keep(self, first), start, room, host }
    }

    /// Host address of what a lane loads: it lies in the run, or a helper finds out where it is.
    fn host_of_lane(&mut self, lane: &Lane, access: &Access, place: Place, fails: ClifBlock) -> Clif {
        let rest = self.lane_value(lane, place.rest);
        let distance = self.b.ins().iadd(rest, place.start);
        // Runs begin where pages do.
        if !place.rest_is_aligned
            && let Some(aligned) = self.is_aligned(access.align, distance)
        {
            self.require(aligned, fails);
        }
        let (hit, miss, found) = (self.b.create_block(), self.cold_block(), self.b.create_block());
        let host_at = self.b.append_block_param(found, types::I64);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, place.room);
        self.b.ins().brif(inside, hit, &[], miss, &[]);
        self.b.switch_to_block(hit);
        let host = self.b.ins().iadd(place.host, distance);
        self.b.ins().jump(found, &[BlockArg::Value(host)]);
        self.b.switch_to_block(miss);
        let first = self.kept(place.first);
        let address = self.b.ins().iadd(distance, first);
        let host = self.reach_of_lane(access, address, place.run, fails);
        self.b.ins().jump(found, &[BlockArg::Value(host)]);
        self.b.switch_to_block(found);
        host_at
    }

    /// Host address of what a stream loads first, and how many rounds it goes on from there at least.
    pub(super) fn follow(&mut self, access: &Access, at: Clif, step: i64, fails: ClifBlock) -> (Clif, Clif) {
        let first = int::plus(self.b, at, access.offset.into());
        if let Some(aligned) = self.is_aligned(access.align, first) {
            self.require(aligned, fails);
        }
        let run = self.region.next_run();
        let [start, bytes, addend] = self.run(run, Rights::READ);
        let (hit, miss, found) = (self.b.create_block(), self.cold_block(), self.b.create_block());
        let [host_at, rounds_at] = [(); 2].map(|()| self.b.append_block_param(found, types::I64));
        let distance = self.b.ins().isub(first, start);
        let left = self.b.ins().isub(bytes, distance);
        let left = self.b.ins().iadd_imm_s(left, -i64::from(access.bytes()));
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, bytes);
        self.require(inside, miss);
        let inside = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, left, 0);
        self.b.ins().brif(inside, hit, &[], miss, &[]);
        self.b.switch_to_block(hit);
        let (room, size) = (if step < 0 { distance } else { left }, step.unsigned_abs());
        let more = if size.is_power_of_two() {
            self.b.ins().ushr_imm_u(room, i64::from(size.trailing_zeros()))
        } else {
            self.b.ins().udiv_imm_u(room, size as i64)
        };
        let rounds = self.b.ins().iadd_imm_s(more, 1);
        let host = self.b.ins().iadd(first, addend);
        self.b.ins().jump(found, &[host, rounds].map(BlockArg::Value));
        self.b.switch_to_block(miss);
        let host = self.reach_of_lane(access, first, run, fails);
        let one = self.b.ins().iconst(types::I64, 1);
        self.b.ins().jump(found, &[host, one].map(BlockArg::Value));
        self.b.switch_to_block(found);
        (host_at, rounds_at)
    }

    /// Host address of what a lane loads, as a helper finds out; to `fails` if there is none.
    fn reach_of_lane(&mut self, access: &Access, first: Clif, run: usize, fails: ClifBlock) -> Clif {
        let last = self.b.ins().iadd_imm_s(first, i64::from(access.bytes()) - 1);
        let [reached, addend] = self.find_run([first, last], (run, Rights::READ));
        let go = self.cold_block();
        self.b.ins().brif(reached, go, &[], fails, &[]);
        self.b.switch_to_block(go);
        self.b.ins().iadd(first, addend)
    }
}

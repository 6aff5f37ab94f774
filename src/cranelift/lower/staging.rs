//! Accesses that are done lane by lane, inline or by a helper. Their addresses and values go
//! through the context's scratch area.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::abi;
use warploom_engine::descriptions::{AccessId, AccessSite};
use warploom_engine::helpers::{Helper, SPARSE_LANES, STAGED_COMPARE, STAGED_VALUES};
use warploom_ir::{Access, Space, Type, Value};
use warploom_runtime::warp::PAGE_BYTES;

use super::address::{Rights, Spaced};
use super::block::BlockLowerer;
use super::chunk::flags;
use crate::CHUNK;
use crate::forms::{Lanes, clif_type, parts};

const LANES: usize = CHUNK as usize;

/// The treatment of a lane that code for single lanes does not reach inline.
pub(super) enum Unreached {
    /// The helper does the lane, which may end the call.
    CallsHelper(AccessId),
    /// All lanes of the chunk are done elsewhere.
    Leaves(ClifBlock),
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the number of an access for the helper.
    pub(super) fn describe(&mut self, index: usize, run: Option<usize>) -> AccessId {
        let (site, run) = (self.site(index), run.map(|run| run as u32));
        let keeps_least = self.may_fault_later(index);
        self.region.sites.access(AccessSite { site, keeps_least, run })
    }

    /// Returns the offset of a word of the scratch area in the context.
    pub(super) fn scratch(word: usize) -> i32 {
        abi::SCRATCH + 8 * word as i32
    }

    /// Stores lanes to the scratch area.
    pub(super) fn stage_lanes(&mut self, word: usize, lanes: &[Clif]) {
        for (i, &part) in lanes.iter().enumerate() {
            self.b.ins().store(flags(), part, self.ctx, Self::scratch(word) + i as i32 * 16);
        }
    }

    fn stage_value(&mut self, word: usize, v: Value) {
        let lanes = self.lanes(v);
        self.stage_lanes(word, &lanes);
    }

    /// Stages addresses, without the access's offset, and values.
    pub(super) fn stage(&mut self, access: &Access, values: &[Value]) {
        self.stage_value(0, access.address);
        for (e, &v) in values.iter().enumerate() {
            self.stage_value(STAGED_VALUES + e * LANES, v);
        }
    }

    pub(super) fn stage_compare(&mut self, v: Value) {
        self.stage_value(STAGED_COMPARE, v);
    }

    /// Clears the sparse status before the helper's calls for an access.
    pub(super) fn clear_status(&mut self) {
        let none = self.b.ins().iconst(types::I64, 0);
        self.ctx_store(none, Self::scratch(SPARSE_LANES));
    }

    /// Returns the sparse status after the helper's calls: the bits of the chunk's lanes that met a
    /// sparse page that is not resident.
    pub(super) fn status(&mut self) -> Clif {
        self.ctx_load(types::I64, Self::scratch(SPARSE_LANES))
    }

    /// Loads lanes from the scratch area.
    pub(super) fn staged_lanes(&mut self, word: usize, ty: Type) -> Lanes {
        let (at, clif) = (Self::scratch(word), clif_type(ty, true));
        (0..parts(ty) as i32)
            .map(|i| self.b.ins().load(clif, flags(), self.ctx, at + i * 16))
            .collect()
    }

    /// Returns the address of a staged lane whose number is a run-time value, with a constant to
    /// add.
    pub(super) fn staged_address(&mut self, word: usize, lane: Clif, ty: Type) -> (Clif, i32) {
        let bytes = self.b.ins().ishl_imm_u(lane, i64::from(ty.cell_bytes().trailing_zeros()));
        (self.b.ins().iadd(self.ctx, bytes), Self::scratch(word))
    }

    /// Loads a staged lane.
    pub(super) fn staged_scalar(&mut self, word: usize, lane: Clif, ty: Type) -> Clif {
        let (at, offset) = self.staged_address(word, lane, ty);
        self.b.ins().load(clif_type(ty, false), flags(), at, offset)
    }

    /// Runs `body` for each lane of the mask bits in ascending order, with the lane's host address.
    /// Global memory must be writable.
    pub(super) fn lane_loop(
        &mut self,
        access: &Access,
        bits: Clif,
        unreached: Unreached,
        body: impl FnOnce(&mut Self, Clif, Clif),
    ) {
        self.lane_loop_with((access, Rights::WRITE, false), bits, unreached, body);
    }

    /// Runs `body` for each lane as [`Self::lane_loop`] does, for addresses in any memory. That
    /// includes local memory, if the access takes at most 4 bytes.
    pub(super) fn generic_loop(
        &mut self,
        access: &Access,
        rights: Rights,
        bits: Clif,
        unreached: Unreached,
        body: impl FnOnce(&mut Self, Clif, Clif),
    ) {
        let sees_local = access.bytes() <= 4;
        self.lane_loop_with((access, rights, sees_local), bits, unreached, body);
    }

    fn lane_loop_with(
        &mut self,
        (access, rights, sees_local): (&Access, Rights, bool),
        bits: Clif,
        unreached: Unreached,
        body: impl FnOnce(&mut Self, Clif, Clif),
    ) {
        let head = self.b.create_block();
        let next = self.b.create_block();
        let exit = self.b.create_block();
        let helper = match unreached {
            Unreached::Leaves(block) => block,
            Unreached::CallsHelper(_) => self.cold_block(),
        };
        let left = self.b.append_block_param(head, types::I64);
        self.b.ins().brif(bits, head, &[BlockArg::Value(bits)], exit, &[]);
        self.b.switch_to_block(head);
        let lane = self.b.ins().ctz(left);
        let address = self.staged_scalar(0, lane, self.facts.ty(access.address));
        let address = self.first_address(access, address);
        let host =
            self.host_of_staged_lane((access, rights), address, sees_local.then_some(lane), helper);
        body(self, host, lane);
        self.b.ins().jump(next, &[]);
        if let Unreached::CallsHelper(desc) = unreached {
            self.b.switch_to_block(helper);
            let one = self.b.ins().iconst(types::I64, 1);
            let single = self.b.ins().ishl(one, lane);
            self.call_access(desc, single, false);
            self.b.ins().jump(next, &[]);
        }
        self.b.switch_to_block(next);
        let rest = self.without_first(left);
        self.b.ins().brif(rest, head, &[BlockArg::Value(rest)], exit, &[]);
        self.b.switch_to_block(exit);
    }

    /// Returns the host address of one lane's access, or goes to `helper` if it is out of reach.
    ///
    /// The access is to shared, constant or global memory, or by a generic address to shared
    /// memory. If the lane's number is given, it may also be to local memory.
    fn host_of_staged_lane(
        &mut self,
        (access, rights): (&Access, Rights),
        address: Clif,
        of_local: Option<Clif>,
        helper: ClifBlock,
    ) -> Clif {
        if matches!(access.space, Space::Shared | Space::Const(_)) {
            let (start, bytes) = self.memory_at_offsets(access.space);
            let inside =
                self.is_inside(access, &Spaced { first: address, last: address, step: 0 }, bytes);
            self.require(inside, helper);
            return self.b.ins().iadd(start, address);
        }
        if let Some(aligned) = self.is_aligned(access.align, address) {
            self.require(aligned, helper);
        }
        let (tags, addend) = self.tlb_entry(address, rights);
        let in_page = self.b.ins().isub(address, tags[0]);
        let room = PAGE_BYTES as i64 - i64::from(access.bytes()) + 1;
        let hit = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, in_page, room);
        let host = self.b.ins().iadd(address, addend);
        if access.space != Space::Generic {
            self.require(hit, helper);
            return host;
        }
        // The memory differs from lane to lane: a branch would be mispredicted.
        let (shared, bytes) = self.memory_at_offsets(Space::Shared);
        let (offset, is_shared) = self.offset_in_window(access, address, abi::SHARED_WINDOW, bytes);
        let in_shared = self.b.ins().iadd(shared, offset);
        let host = self.b.ins().select(is_shared, in_shared, host);
        let mut reached = self.b.ins().bor(hit, is_shared);
        let mut result = host;
        if let Some(lane) = of_local {
            let (in_local, is_local) = self.host_of_local_lane(access, address, lane);
            result = self.b.ins().select(is_local, in_local, host);
            reached = self.b.ins().bor(reached, is_local);
        }
        self.require(reached, helper);
        result
    }

    /// Returns the offset of an address in a window's memory of `bytes` bytes, and whether the
    /// access is in range.
    fn offset_in_window(
        &mut self,
        access: &Access,
        address: Clif,
        window: i32,
        bytes: Clif,
    ) -> (Clif, Clif) {
        let window = self.ctx_load(types::I64, window);
        let offset = self.b.ins().isub(address, window);
        // The first byte is inside, so the sum does not wrap.
        let begins = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, bytes);
        let end = self.b.ins().iadd_imm_s(offset, i64::from(access.bytes()));
        let ends = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, bytes);
        (offset, self.b.ins().band(begins, ends))
    }

    /// Returns the host address of a lane's generic access to an element of at most a word in its
    /// local memory, and whether it is in range.
    fn host_of_local_lane(&mut self, access: &Access, address: Clif, lane: Clif) -> (Clif, Clif) {
        let bytes = self.ctx_load(types::I64, abi::LOCAL_BYTES);
        let (offset, mut inside) = self.offset_in_window(access, address, abi::LOCAL_WINDOW, bytes);
        if let Some(aligned) = self.is_aligned(access.bytes() as u8, offset) {
            inside = self.b.ins().band(inside, aligned);
        }
        let start = self.start_of_local();
        let (word, byte) =
            (self.b.ins().band_imm_s(offset, -4), self.b.ins().band_imm_u(offset, 3));
        let row = self.b.ins().imul_imm_s(word, i64::from(self.facts.function.lanes));
        let column = self.b.ins().ishl_imm_u(lane, 2);
        let place = self.b.ins().iadd(row, column);
        let place = self.b.ins().iadd(place, byte);
        (self.b.ins().iadd(start, place), inside)
    }

    /// Calls the helper for the lanes of the chunk whose bits are set. With `leaves_later`, as for
    /// loads, a fault is left for the end of the segment; otherwise a fault ends the call.
    pub(super) fn call_access(&mut self, desc: AccessId, bits: Clif, leaves_later: bool) {
        let first = self.first_lane();
        self.call_access_from(desc, bits, first, leaves_later);
    }

    /// Calls the helper for lanes from `first` on.
    pub(super) fn call_access_from(
        &mut self,
        desc: AccessId,
        bits: Clif,
        first: Clif,
        leaves_later: bool,
    ) {
        let number = self.b.ins().iconst(types::I32, i64::from(desc.0));
        self.region.call(self.b, Helper::Access, &[self.ctx, number, bits, first]);
        if !leaves_later {
            self.leave_on_fault();
        }
    }
}

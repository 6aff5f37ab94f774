//! Ends of blocks at which lanes wait: dispatchers and barriers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::{Effort, abi};
use warploom_ir::{self as ir, Barrier, BarrierCounts, Block, BlockId, Op, Reg, Terminator, Value};
use warploom_runtime::warp::{BARRIERS, BarrierKind, ExitCode};

use super::block::BlockLowerer;
use super::chunk::flags;

impl BlockLowerer<'_, '_, '_> {
    /// Emits a test for each place, in order. Mostly one of the first places has lanes.
    pub(super) fn dispatch(
        &mut self,
        places: &[(Reg, BlockId)],
        from: Option<Value>,
        otherwise: BlockId,
    ) {
        let mut take = || {
            let block = self.b.create_block();
            (block, self.b.append_block_param(block, types::I64))
        };
        let taken: Vec<_> = places.iter().map(|_| take()).collect();
        if let Some(from) = from {
            // Try the places from `from` on first. If they have no lanes, a lane waits at an
            // earlier place.
            let from = self.scalar(from);
            let past = self.b.ins().icmp_imm_u(
                IntCC::UnsignedGreaterThanOrEqual,
                from,
                places.len() as i64,
            );
            let first = self.b.ins().iconst(types::I32, 0);
            let from = self.b.ins().select(past, first, from);
            for (index, &(reg, _)) in places.iter().enumerate() {
                let lanes = self.lanes_that_wait(reg);
                let reached =
                    self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, from, index as i64);
                let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, lanes, 0);
                let found = self.b.ins().band(some, reached);
                self.take_if(found, lanes, taken[index].0);
            }
        }
        for (index, &(reg, _)) in places.iter().enumerate() {
            let lanes = self.lanes_that_wait(reg);
            self.take_if(lanes, lanes, taken[index].0);
        }
        self.go(otherwise);
        for ((block, lanes), &(reg, place)) in taken.into_iter().zip(places) {
            self.b.switch_to_block(block);
            let none = self.b.ins().iconst(types::I64, 0);
            self.store_mask(self.facts.function.active, lanes);
            self.store_mask(reg, none);
            self.go(place);
        }
    }

    /// Returns the lanes that a mask register holds.
    fn lanes_that_wait(&mut self, reg: Reg) -> Clif {
        let offset = self.facts.layout.offset(reg) as i32;
        self.b.ins().load(types::I64, flags(), self.registers, offset)
    }

    fn store_mask(&mut self, reg: Reg, lanes: Clif) {
        let offset = self.facts.layout.offset(reg) as i32;
        self.b.ins().store(flags(), lanes, self.registers, offset);
    }

    fn take_if(&mut self, cond: Clif, lanes: Clif, block: ClifBlock) {
        let next = self.b.create_block();
        self.b.ins().brif(cond, block, &[BlockArg::Value(lanes)], next, &[]);
        self.b.switch_to_block(next);
    }

    pub(super) fn barrier(&mut self, barrier: &Barrier, resume: BlockId) {
        if passes_on(self.facts.block, self.region.effort) {
            self.pass_on(barrier, resume);
        }
        let id = self.scalar(barrier.id);
        self.ctx_store(id, abi::BARRIER_ID);
        let threads = match barrier.threads {
            Some(threads) => self.scalar(threads),
            None => self.b.ins().iconst(types::I32, 0),
        };
        self.ctx_store(threads, abi::BARRIER_THREADS);
        if let Some(predicate) = barrier.predicate {
            let predicate = self.scalar(predicate);
            self.ctx_store(predicate, abi::BARRIER_PREDICATE);
        }
        let names_lanes = barrier.predicate.is_some() || barrier.counts == BarrierCounts::Lanes;
        self.leave_to_barrier(barrier.kind.into(), barrier.counts, names_lanes, resume);
    }

    /// Continues with the block's next warp at a barrier. Otherwise the code that follows returns
    /// to the scheduler.
    ///
    /// The next warp runs if warps go in step, this warp is not the round's last, and the warps
    /// before it have come to this barrier.
    fn pass_on(&mut self, barrier: &Barrier, resume: BlockId) {
        let Some((top, needed)) = self.region.turns else {
            unreachable!("a block of the region passes on")
        };
        let id = self.scalar(barrier.id);
        let [in_step, taken, slow] = std::array::from_fn(|_| self.b.create_block());
        let (turn, last) =
            (self.ctx_load(types::I64, abi::TURN), self.ctx_load(types::I64, abi::LAST_TURN));
        let is_followed = self.b.ins().icmp(IntCC::UnsignedLessThan, turn, last);
        self.b.ins().brif(is_followed, in_step, &[], slow, &[]);

        self.b.switch_to_block(in_step);
        let of_round = self.ctx_load(types::I32, abi::TURN_BARRIER);
        let same = self.b.ins().icmp(IntCC::Equal, of_round, id);
        let first = self.b.ins().icmp_imm_u(IntCC::Equal, of_round, i64::from(abi::NO_BARRIER));
        let (next, end) =
            (self.b.ins().iadd_imm_s(turn, i64::from(abi::TURN_BYTES)), abi::TURN_END);
        let number = self.b.ins().load(types::I32, flags(), next, end);
        let is_alive = self.b.ins().icmp_imm_u(IntCC::NotEqual, number, i64::from(abi::TURN_DONE));
        let bytes = self.b.ins().load(types::I64, flags(), next, abi::TURN_REGISTER_BYTES);
        let has_room =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, bytes, needed as i64);
        let may = self.b.ins().bor(same, first);
        let may = self.b.ins().band(may, is_alive);
        let may = self.b.ins().band(may, has_room);
        self.b.ins().brif(may, taken, &[], slow, &[]);

        self.b.switch_to_block(taken);
        let came = self.b.ins().iconst(types::I64, 1 << 32 | i64::from(resume.0));
        self.b.ins().store(flags(), came, turn, end);
        self.ctx_store(id, abi::TURN_BARRIER);
        self.ctx_store(next, abi::TURN);
        for (from, to) in
            [(abi::INSTRUCTIONS, abi::TURN_BEGAN), (abi::TURN_BACK_EDGES, abi::BACK_EDGES)]
        {
            let count = self.ctx_load(types::I64, from);
            self.ctx_store(count, to);
        }
        for at in (0..abi::TURN_OWN_BYTES).step_by(16) {
            let ty = if abi::TURN_OWN_BYTES - at < 16 { types::I32 } else { types::I64X2 };
            let own = self.b.ins().load(ty, flags(), next, at);
            self.ctx_store(own, abi::REGISTERS + at);
        }
        self.b.ins().jump(top, &[BlockArg::Value(number)]);

        self.b.switch_to_block(slow);
    }

    /// Returns to the scheduler, which counts warps unless told otherwise.
    pub(super) fn leave_to_barrier(
        &mut self,
        kind: BarrierKind,
        counts: BarrierCounts,
        names_lanes: bool,
        resume: BlockId,
    ) {
        let kind = self.b.ins().iconst(types::I32, kind as i64);
        self.ctx_store(kind, abi::BARRIER_KIND);
        if counts == BarrierCounts::Lanes {
            let counts = self.b.ins().iconst(types::I32, counts as i64);
            self.ctx_store(counts, abi::BARRIER_COUNTS);
        }
        if names_lanes {
            let active = self.active_cell();
            self.ctx_store(active, abi::BARRIER_MASK);
        }
        self.resume_at(resume);
        self.return_code(ExitCode::Barrier as u32);
    }
}

/// Returns whether code itself continues with the next warp at the end of a block: at a barrier of
/// the whole block, in hot code. The block counts something, so that no turn passes without a
/// count.
pub(super) fn passes_on(block: &Block, effort: Effort) -> bool {
    let Terminator::Barrier { barrier, .. } = &block.term else { return false };
    let id =
        block.insts.iter().find(|inst| inst.results.contains(&barrier.id)).map(|inst| &inst.op);
    effort.is_fast()
        && block.cost > 0
        && barrier.kind == ir::BarrierKind::Sync
        && barrier.counts == BarrierCounts::Warps
        && barrier.threads.is_none()
        && barrier.predicate.is_none()
        && matches!(id, Some(&Op::Const { bits, .. }) if bits < BARRIERS as u64)
}

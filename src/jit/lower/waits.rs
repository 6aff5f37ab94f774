//! Ends of blocks at which lanes wait: dispatchers, and barriers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};

use super::super::abi;
use super::block::BlockLowerer;
use super::chunk::flags;
use crate::ir::{Barrier, BarrierCounts, BlockId, Reg, Value};
use warploom_runtime::warp::{BarrierKind, ExitCode};

impl BlockLowerer<'_, '_, '_> {
    /// A test for each place, in order. Mostly it is one of the first that has lanes.
    pub(super) fn dispatch(&mut self, places: &[(Reg, BlockId)], from: Option<Value>, otherwise: BlockId) {
        let mut take = || {
            let block = self.b.create_block();
            (block, self.b.append_block_param(block, types::I64))
        };
        let taken: Vec<_> = places.iter().map(|_| take()).collect();
        if let Some(from) = from {
            // First those from there on; if they have none, a lane that waits does so before.
            let from = self.scalar(from);
            let past = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, from, places.len() as i64);
            let first = self.b.ins().iconst(types::I32, 0);
            let from = self.b.ins().select(past, first, from);
            for (index, &(reg, _)) in places.iter().enumerate() {
                let (lanes, some) = self.lanes_that_wait(reg);
                let reached = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, from, index as i64);
                let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, some, 0);
                let found = self.b.ins().band(some, reached);
                self.take_if(found, lanes, taken[index].0);
            }
        }
        for (index, &(reg, _)) in places.iter().enumerate() {
            let (lanes, some) = self.lanes_that_wait(reg);
            self.take_if(some, lanes, taken[index].0);
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

    /// A mask register, and those of its bits that are lanes.
    fn lanes_that_wait(&mut self, reg: Reg) -> (Clif, Clif) {
        let offset = self.facts.layout.offset(reg) as i32;
        let lanes = self.b.ins().load(types::I64, flags(), self.registers, offset);
        (lanes, self.inside_warp(lanes))
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

    /// Returns to the scheduler, which counts warps unless it is told.
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

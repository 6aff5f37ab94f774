//! Entering and leaving blocks: budget, back edges, terminators, exit codes.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};
use cranelift_frontend::Switch;
use warploom_engine::abi;
use warploom_ir::{BarrierCounts, BlockId, LaneEvent, Terminator};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::{BarrierKind, ExitCode};

use super::block::BlockLowerer;
use super::chunk::flags;
use crate::forms::clif_type;
use crate::tuning;

impl BlockLowerer<'_, '_, '_> {
    /// Starts a fresh warp in the entry block.
    pub(super) fn enter(&mut self) {
        if self.facts.id.0 == 0 {
            self.start_warp();
        }
    }

    /// Counts the block for the active lanes.
    pub(super) fn count_block(&mut self) {
        if self.facts.block.cost == 0 {
            return;
        }
        let active = self.active_cell();
        self.count(active);
    }

    pub(super) fn active_cell(&mut self) -> Clif {
        let offset = self.facts.layout.offset(self.facts.function.active) as i32;
        self.b.ins().load(types::I64, flags(), self.registers, offset)
    }

    /// Counts the block's guest instructions for these active lanes. Leaves if the count goes over
    /// the limit.
    fn count(&mut self, active: Clif) {
        let cost = i64::from(self.facts.block.cost);
        let before = self.ctx_load(types::I64, abi::INSTRUCTIONS);
        let limit = self.ctx_load(types::I64, abi::INSTRUCTION_LIMIT);
        let after = self.b.ins().iadd_imm_s(before, cost);
        self.leave_over_budget(after, limit);
        self.ctx_store(after, abi::INSTRUCTIONS);
        let lanes = self.b.ins().popcnt(active);
        let lanes = if cost == 1 { lanes } else { self.b.ins().imul_imm_s(lanes, cost) };
        let total = self.ctx_load(types::I64, abi::LANE_INSTRUCTIONS);
        let total = self.b.ins().iadd(total, lanes);
        self.ctx_store(total, abi::LANE_INSTRUCTIONS);
    }

    /// Leaves with the budget's fault if the count `after` is over the limit.
    pub(super) fn leave_over_budget(&mut self, after: Clif, limit: Clif) {
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, after, limit);
        let pc = self.b.ins().iconst(types::I64, self.facts.block.pc as i64);
        let (stop, go) = (self.region.exits.over_budget(self.b), self.b.create_block());
        self.b.ins().brif(over, stop, &[BlockArg::Value(pc)], go, &[]);
        self.b.switch_to_block(go);
    }

    /// Initializes the state of a warp that begins: the active mask, and zeros where the code may
    /// read before it writes.
    fn start_warp(&mut self) {
        let launch = self.ctx_load(types::I64, abi::LAUNCH_MASK);
        let offset = self.facts.layout.offset(self.facts.function.active) as i32;
        self.b.ins().store(flags(), launch, self.registers, offset);
        let ranges = self.facts.layout.ranges(self.facts.function, self.region.read_first);
        ranges.into_iter().for_each(|range| self.clear(range));
    }

    /// Zeroes a range of the register file that consists of whole cells.
    fn clear(&mut self, range: Range<u32>) {
        let zero = self.b.ins().iconst(types::I64, 0);
        let zeros = self.b.ins().splat(types::I64X2, zero);
        let (start, mut rest) = (range.start as i32, range.end as i32 - range.start as i32);
        let mut at = start;
        if rest >= 3 * tuning::CLEARED_AT_ONCE {
            let end = rest / tuning::CLEARED_AT_ONCE * tuning::CLEARED_AT_ONCE;
            let (head, done) = (self.b.create_block(), self.b.create_block());
            let offset = self.b.append_block_param(head, types::I64);
            self.b.ins().jump(head, &[BlockArg::Value(zero)]);
            self.b.switch_to_block(head);
            let to = self.b.ins().iadd(self.registers, offset);
            for part in (0..tuning::CLEARED_AT_ONCE).step_by(16) {
                self.b.ins().store(flags(), zeros, to, start + part);
            }
            let next = self.b.ins().iadd_imm_s(offset, i64::from(tuning::CLEARED_AT_ONCE));
            let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, i64::from(end));
            self.b.ins().brif(more, head, &[BlockArg::Value(next)], done, &[]);
            self.b.switch_to_block(done);
            (at, rest) = (at + end, rest - end);
        }
        while rest > 0 {
            let (value, bytes) = if rest >= 16 { (zeros, 16) } else { (zero, 8) };
            self.b.ins().store(flags(), value, self.registers, at);
            (at, rest) = (at + bytes, rest - bytes);
        }
    }

    pub(super) fn return_code(&mut self, code: u32) {
        self.region.exits.leave(self.b, code);
    }

    /// Leaves if a helper has recorded a fault.
    pub(super) fn leave_on_fault(&mut self) {
        let kind = self.ctx_load(types::I32, abi::FAULT_KIND);
        let (leave, go) = (self.region.exits.fault(self.b), self.b.create_block());
        self.b.ins().brif(kind, leave, &[], go, &[]);
        self.b.switch_to_block(go);
    }

    /// Goes to a block: by a jump inside the region, else through the dispatcher. A jump backwards
    /// may yield.
    pub(super) fn go(&mut self, to: BlockId) {
        if to.0 <= self.facts.id.0 {
            if !self.region.effort.is_fast() {
                let known = self.region.backward.get(&to).copied();
                let block = known.unwrap_or_else(|| self.b.create_block());
                self.b.ins().jump(block, &[]);
                if known.is_some() {
                    return;
                }
                self.region.backward.insert(to, block);
                self.b.switch_to_block(block);
            }
            let left = self.ctx_load(types::I64, abi::BACK_EDGES);
            let left = self.b.ins().iadd_imm_s(left, -1);
            self.ctx_store(left, abi::BACK_EDGES);
            let used_up = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, left, 0);
            let number = self.b.ins().iconst(types::I32, i64::from(to.0));
            let (stop, go) = (self.region.exits.yields(self.b), self.region.block(to));
            let next = go.unwrap_or_else(|| self.b.create_block());
            self.b.ins().brif(used_up, stop, &[BlockArg::Value(number)], next, &[]);
            if go.is_some() {
                return;
            }
            self.b.switch_to_block(next);
        }
        match self.region.block(to) {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => {
                self.resume_at(to);
                self.return_code(abi::CONTINUE);
            }
        }
    }

    /// Returns a CLIF block that leads to a block, and whether it must still be filled. A block
    /// that would only jump is spared.
    pub(super) fn way_to(&mut self, to: BlockId) -> (ClifBlock, bool) {
        let backward = to.0 <= self.facts.id.0;
        let known =
            if backward { self.region.backward.get(&to).copied() } else { self.region.block(to) };
        known.map_or_else(|| (self.b.create_block(), true), |block| (block, false))
    }

    pub(super) fn resume_at(&mut self, to: BlockId) {
        let to = self.b.ins().iconst(types::I32, i64::from(to.0));
        self.ctx_store(to, abi::RESUME);
    }

    pub(super) fn terminate(&mut self) {
        match &self.facts.block.term {
            Terminator::Jump(to) => self.go(*to),
            Terminator::Branch { cond, then, otherwise } => {
                let cond = self.condition(*cond);
                let ways = [*then, *otherwise].map(|to| (to, self.way_to(to)));
                let [(_, (yes, _)), (_, (no, _))] = ways;
                self.b.ins().brif(cond, yes, &[], no, &[]);
                for (to, (block, _)) in ways.into_iter().filter(|&(_, (_, open))| open) {
                    self.b.switch_to_block(block);
                    self.go(to);
                }
            }
            Terminator::Switch { value, cases, default } => {
                let value_clif = self.scalar(*value);
                let value_clif = if clif_type(self.facts.ty(*value), false) == types::I64 {
                    value_clif
                } else {
                    self.b.ins().uextend(types::I64, value_clif)
                };
                self.switch(value_clif, cases.clone(), |lowerer| lowerer.go(*default));
            }
            Terminator::Indirect { pc } => {
                let pc = self.scalar(*pc);
                let cases = self.region.indirect_targets.clone();
                // The dispatcher handles other targets: there may be many, and many indirect jumps.
                self.switch(pc, cases, |lowerer| {
                    lowerer.ctx_store(pc, abi::INDIRECT_PC);
                    lowerer.resume_at(lowerer.facts.id);
                    lowerer.return_code(ExitCode::UnknownPc as u32);
                });
            }
            Terminator::Dispatch { places, from, otherwise } => {
                self.dispatch(places, *from, *otherwise)
            }
            Terminator::Barrier { barrier, resume } => self.barrier(barrier, *resume),
            Terminator::Lanes { event, resume } => {
                let kind = match event {
                    LaneEvent::Exit => BarrierKind::Exit,
                    LaneEvent::Wait => BarrierKind::Wait,
                    LaneEvent::Poll => BarrierKind::Poll,
                };
                self.leave_to_barrier(kind, BarrierCounts::Lanes, true, *resume);
            }
            Terminator::Service { service, lanes, resume } => {
                let service = self.b.ins().iconst(types::I32, *service as i64);
                self.ctx_store(service, abi::SERVICE);
                let lanes = self.scalar(*lanes);
                self.ctx_store(lanes, abi::SERVICE_LANES);
                self.resume_at(*resume);
                self.return_code(ExitCode::Service as u32);
            }
            Terminator::Exit => self.end_warp(),
            Terminator::Trap { kind, pc } => {
                let active = self.active_cell();
                let lane = self.b.ins().ctz(active);
                let lane = self.b.ins().ireduce(types::I32, lane);
                let none = self.b.ins().iconst(types::I32, 0);
                let lane = self.b.ins().select(active, lane, none);
                let pc = self.b.ins().iconst(types::I64, *pc as i64);
                self.region.exits.record_fault(self.b, self.ctx, (*kind).into(), Some(lane), pc);
            }
            Terminator::Deadlock { .. } => {
                // The interpreter knows which lanes wait.
                self.resume_at(self.facts.id);
                let (none, pc) = (self.b.ins().iconst(types::I32, 0), self.facts.block.pc as i64);
                let pc = self.b.ins().iconst(types::I64, pc);
                self.region.exits.record_fault(
                    self.b,
                    self.ctx,
                    FaultKind::Deadlock,
                    Some(none),
                    pc,
                );
            }
        }
    }

    fn switch(&mut self, value: Clif, cases: Vec<(u64, BlockId)>, default: impl FnOnce(&mut Self)) {
        let mut switch = Switch::new();
        let mut targets = Vec::new();
        for (key, to) in cases {
            let (block, open) = self.way_to(to);
            switch.set_entry(u128::from(key), block);
            targets.extend(open.then_some((block, to)));
        }
        let otherwise = self.b.create_block();
        switch.emit(self.b, value, otherwise);
        for (block, to) in targets {
            self.b.switch_to_block(block);
            self.go(to);
        }
        self.b.switch_to_block(otherwise);
        default(self);
    }

    /// Ends the warp: the next warp of the chain begins, or the call ends.
    pub(super) fn end_warp(&mut self) {
        let warp = self.ctx_load(types::I32, abi::WARP);
        let next = self.b.ins().iadd_imm_s(warp, 1);
        let end = self.ctx_load(types::I32, abi::CHAIN_END);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end);
        let (chain, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(more, chain, &[], done, &[]);
        self.b.switch_to_block(done);
        self.return_code(ExitCode::Done as u32);

        self.b.switch_to_block(chain);
        self.ctx_store(next, abi::WARP);
        let warps = self.ctx_load(types::I32, abi::WARPS);
        let after = self.b.ins().iadd_imm_s(next, 1);
        let last = self.b.ins().icmp(IntCC::Equal, after, warps);
        let partial = self.ctx_load(types::I64, abi::LAST_LAUNCH_MASK);
        let all = self.facts.warp_mask() as i64;
        let full = self.b.ins().iconst(types::I64, all);
        let mask = self.b.ins().select(last, partial, full);
        self.ctx_store(mask, abi::LAUNCH_MASK);
        match self.region.block(BlockId(0)) {
            Some(block) => {
                self.b.ins().jump(block, &[]);
            }
            None => {
                self.resume_at(BlockId(0));
                self.return_code(abi::CONTINUE);
            }
        }
    }
}

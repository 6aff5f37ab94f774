//! Entering and leaving blocks: budget, back edges, terminators, exit codes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::Switch;

use super::super::abi;
use super::super::forms::clif_type;
use super::block::BlockLowerer;
use super::chunk::flags;
use crate::interp::fault_of;
use crate::ir::{BarrierKind, BlockId, CellKind, Terminator};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::ExitCode;

impl BlockLowerer<'_, '_, '_> {
    /// Starts a fresh warp in the entry block.
    pub(super) fn enter(&mut self) {
        if self.number == 0 {
            self.start_warp();
        }
    }

    /// Counts the block for the active lanes.
    pub(super) fn count_block(&mut self) {
        if self.block.cost == 0 {
            return;
        }
        let active = self.active_cell();
        self.count(active);
    }

    fn active_cell(&mut self) -> Clif {
        let offset = self.layout.offset(self.function.active) as i32;
        self.b.ins().load(types::I64, flags(), self.registers, offset)
    }

    /// Counts the block's guest instructions for these active lanes, or leaves if they go over the limit.
    fn count(&mut self, active: Clif) {
        let cost = i64::from(self.block.cost);
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

    /// The fault of the budget if so many instructions are more than the limit.
    pub(super) fn leave_over_budget(&mut self, after: Clif, limit: Clif) {
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, after, limit);
        let (stop, go) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(over, stop, &[], go, &[]);
        self.b.switch_to_block(stop);
        let lane = self.b.ins().iconst(types::I32, 0);
        self.fault(FaultKind::BudgetExceeded, lane, self.block.pc);
        self.b.switch_to_block(go);
    }

    /// The state of a warp that begins: the active mask, and zeros where the code may read before it writes.
    fn start_warp(&mut self) {
        let launch = self.ctx_load(types::I64, abi::LAUNCH_MASK);
        let offset = self.layout.offset(self.function.active) as i32;
        self.b.ins().store(flags(), launch, self.registers, offset);
        let zero = self.b.ins().iconst(types::I64, 0);
        let zeros = self.b.ins().splat(types::I64X2, zero);
        for &reg in self.region.read_first {
            let offset = self.layout.offset(reg) as i32;
            match self.function.bank(reg.bank).kind {
                CellKind::Lane(ty) => {
                    for part in 0..(crate::ir::layout::row_bytes(self.function.lanes, ty) / 16) as i32 {
                        self.b.ins().store(flags(), zeros, self.registers, offset + part * 16);
                    }
                }
                CellKind::Bytes(bytes) => {
                    for part in 0..(bytes as usize).div_ceil(16) as i32 {
                        self.b.ins().store(flags(), zeros, self.registers, offset + part * 16);
                    }
                }
                CellKind::Uniform(_) | CellKind::Mask => {
                    self.b.ins().store(flags(), zero, self.registers, offset);
                }
            }
        }
    }

    pub(super) fn return_code(&mut self, code: u32) {
        let code = self.b.ins().iconst(types::I32, i64::from(code));
        self.b.ins().return_(&[code]);
    }

    /// Records a fault without an address and leaves.
    fn fault(&mut self, kind: FaultKind, lane: Clif, pc: u64) {
        let kind = self.b.ins().iconst(types::I32, kind as i64);
        self.ctx_store(kind, abi::FAULT_KIND);
        self.ctx_store(lane, abi::FAULT_LANE);
        let pc = self.b.ins().iconst(types::I64, pc as i64);
        self.ctx_store(pc, abi::FAULT_PC);
        let none = self.b.ins().iconst(types::I64, 0);
        self.ctx_store(none, abi::FAULT_ADDRESS);
        self.return_code(ExitCode::Fault as u32);
    }

    /// Leaves if a helper has recorded a fault.
    pub(super) fn leave_on_fault(&mut self) {
        let kind = self.ctx_load(types::I32, abi::FAULT_KIND);
        let (leave, go) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(kind, leave, &[], go, &[]);
        self.b.switch_to_block(leave);
        self.return_code(ExitCode::Fault as u32);
        self.b.switch_to_block(go);
    }

    /// Goes to a block: a jump inside the region, else through the dispatcher. A jump backwards may yield.
    pub(super) fn go(&mut self, to: BlockId) {
        if to.0 <= self.number {
            let left = self.ctx_load(types::I64, abi::BACK_EDGES);
            let left = self.b.ins().iadd_imm_s(left, -1);
            self.ctx_store(left, abi::BACK_EDGES);
            let (stop, go) = (self.cold_block(), self.b.create_block());
            let used_up = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, left, 0);
            self.b.ins().brif(used_up, stop, &[], go, &[]);
            self.b.switch_to_block(stop);
            self.resume_at(to);
            self.return_code(ExitCode::Yield as u32);
            self.b.switch_to_block(go);
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

    fn resume_at(&mut self, to: BlockId) {
        let to = self.b.ins().iconst(types::I32, i64::from(to.0));
        self.ctx_store(to, abi::RESUME);
    }

    pub(super) fn terminate(&mut self) {
        match &self.block.term {
            Terminator::Jump(to) => self.go(*to),
            Terminator::Branch { cond, then, otherwise } => {
                let cond = self.scalar(*cond);
                let (yes, no) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(cond, yes, &[], no, &[]);
                self.b.switch_to_block(yes);
                self.go(*then);
                self.b.switch_to_block(no);
                self.go(*otherwise);
            }
            Terminator::Switch { value, cases, default } => {
                let value_clif = self.scalar(*value);
                let value_clif = if clif_type(self.ty(*value), false) == types::I64 {
                    value_clif
                } else {
                    self.b.ins().uextend(types::I64, value_clif)
                };
                self.switch(value_clif, cases.clone(), |lowerer| lowerer.go(*default));
            }
            Terminator::Indirect { pc } => {
                let pc = self.scalar(*pc);
                let cases = self.region.indirect_targets.clone();
                self.switch(pc, cases, |lowerer| {
                    lowerer.ctx_store(pc, abi::INDIRECT_PC);
                    lowerer.return_code(ExitCode::UnknownPc as u32);
                });
            }
            Terminator::Barrier { barrier, resume } => {
                let kind = match barrier.kind {
                    BarrierKind::Sync => warploom_runtime::warp::BarrierKind::Sync,
                    BarrierKind::Arrive => warploom_runtime::warp::BarrierKind::Arrive,
                    BarrierKind::Popcount => warploom_runtime::warp::BarrierKind::Popcount,
                    BarrierKind::And => warploom_runtime::warp::BarrierKind::And,
                    BarrierKind::Or => warploom_runtime::warp::BarrierKind::Or,
                };
                let kind = self.b.ins().iconst(types::I32, kind as i64);
                self.ctx_store(kind, abi::BARRIER_KIND);
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
                    let active = self.active_cell();
                    self.ctx_store(active, abi::BARRIER_MASK);
                }
                self.resume_at(*resume);
                self.return_code(ExitCode::Barrier as u32);
            }
            Terminator::Exit => self.end_warp(),
            Terminator::Trap { kind, pc } => {
                let active = self.active_cell();
                let lane = self.b.ins().ctz(active);
                let lane = self.b.ins().ireduce(types::I32, lane);
                let none = self.b.ins().iconst(types::I32, 0);
                let lane = self.b.ins().select(active, lane, none);
                self.fault(fault_of(*kind), lane, *pc);
            }
        }
    }

    fn switch(&mut self, value: Clif, cases: Vec<(u64, BlockId)>, default: impl FnOnce(&mut Self)) {
        let mut switch = Switch::new();
        let mut targets = Vec::new();
        for (key, to) in cases {
            let block = self.b.create_block();
            switch.set_entry(u128::from(key), block);
            targets.push((block, to));
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

    /// The warp is done: the next one of the chain begins, or the call ends.
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
        let all = self.warp_mask() as i64;
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

//! Entry and end of blocks: budget, back edges, terminators, exit codes. All of it matches
//! Cranelift's code.

use std::ops::Range;

use warploom_engine::abi;
use warploom_ir::{BlockId, Op, Reg as IrReg, Terminator, Value};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::ExitCode;

use super::build::{context, registers};
use super::region::Selector;
use crate::asm::{Condition, opcode};
use crate::machine::{Base, Block, Inst, Mem, Reg, Rm};

/// The number of bytes from which a loop clears a range.
const CLEARED_BY_LOOP: u32 = 1024;

impl Selector<'_> {
    /// In the entry block, initialises the registers of a fresh warp.
    pub fn enter(&mut self) {
        if self.facts.id.0 != 0 {
            return;
        }
        let launch = self.general_of(opcode::MOV, context(abi::LAUNCH_MASK));
        let active = self.function().active;
        let ranges = self.prepared.layout().ranges(self.function(), self.prepared.read_first());
        ranges.into_iter().for_each(|range| self.clear(range));
        self.store(opcode::MOV_STORE, launch, registers(self.prepared.layout().offset(active)));
    }

    /// Clears a range of the register file that consists of whole cells.
    fn clear(&mut self, Range { mut start, end }: Range<u32>) {
        let zero = self.constant_vector(0, false);
        if end - start >= CLEARED_BY_LOOP {
            let bytes = (end - start) / 64 * 64;
            let (head, done) = (self.body.block(), self.body.block());
            let offset = self.general_param(head);
            let first = self.number(0);
            self.body.jump(head, vec![first]);
            self.body.switch_to(head);
            let place =
                Mem { base: Base::Registers, index: Some((offset, 0)), displacement: start as i32 };
            self.store_vector(opcode::VMOVDQU64_STORE, zero, Rm::Memory(place), None);
            let next = self.plus(offset, 64);
            self.cmp_imm(next, bytes.into());
            self.body.branch(Condition::Below, (head, vec![next]), (done, Vec::new()));
            self.body.switch_to(done);
            start += bytes;
        }
        while end - start >= 64 {
            self.store_vector(opcode::VMOVDQU64_STORE, zero, registers(start), None);
            start += 64;
        }
        for at in (start..end).step_by(8) {
            self.store_number(opcode::MOV_STORE_IMM, 0, registers(at));
        }
    }

    /// Counts the block's guest instructions, or leaves if they exceed the limit.
    pub fn count_block(&mut self) {
        let cost = self.facts.block.cost;
        if cost == 0 {
            return;
        }
        let before = self.general_of(opcode::MOV, context(abi::INSTRUCTIONS));
        let after = self.plus(before, cost as i32);
        self.leave_over_budget(after);
        self.store(opcode::MOV_STORE, after, context(abi::INSTRUCTIONS));
        let offset = self.prepared.layout().offset(self.function().active);
        let lanes = self.general_of(opcode::POPCNT, registers(offset));
        self.count_lanes(lanes);
    }

    /// Counts the block's instructions for `lanes` lanes.
    pub fn count_lanes(&mut self, lanes: Reg) {
        let lanes = self.times(Rm::Reg(lanes), self.facts.block.cost.into());
        let total = self.general_of(opcode::MOV, context(abi::LANE_INSTRUCTIONS));
        let total = self.general(opcode::ADD, total, Rm::Reg(lanes));
        self.store(opcode::MOV_STORE, total, context(abi::LANE_INSTRUCTIONS));
    }

    /// Raises the budget's fault if `after` instructions exceed the limit.
    pub fn leave_over_budget(&mut self, after: Reg) {
        let over = self.body.cold_block();
        self.cmp(after, context(abi::INSTRUCTION_LIMIT));
        self.require(Condition::BelowOrEqual, over);
        let go = self.suspend();
        self.body.switch_to(over);
        let lane = self.number(0);
        self.record_fault(FaultKind::BudgetExceeded, lane, self.facts.block.pc);
        self.resume_in(go);
    }

    /// Ends the open block with a jump to a new block, and returns the new block, to continue there
    /// later.
    pub fn suspend(&mut self) -> Block {
        let go = self.body.block();
        self.body.jump(go, Vec::new());
        go
    }

    pub fn resume_in(&mut self, go: Block) {
        self.body.switch_to(go);
    }

    fn record_fault(&mut self, kind: FaultKind, lane: Reg, pc: u64) {
        self.store_number(opcode::MOV_STORE_IMM32, kind as i64, context(abi::FAULT_KIND));
        self.store(opcode::MOV_STORE32, lane, context(abi::FAULT_LANE));
        let pc = self.number(pc);
        self.store(opcode::MOV_STORE, pc, context(abi::FAULT_PC));
        self.store_number(opcode::MOV_STORE_IMM, 0, context(abi::FAULT_ADDRESS));
        self.leave(ExitCode::Fault as u32);
    }

    /// Leaves the region's code with a result.
    pub fn leave(&mut self, code: u32) {
        let block = self.returning(code);
        self.body.jump(block, Vec::new());
    }

    /// Returns a block that returns a number.
    pub fn returning(&mut self, code: u32) -> Block {
        match self.returns.get(&code) {
            Some(&block) => block,
            None => {
                let block = self.body.cold_block();
                self.returns.insert(code, block);
                block
            }
        }
    }

    pub fn finish_returns(&mut self) {
        let mut returns: Vec<(u32, Block)> =
            std::mem::take(&mut self.returns).into_iter().collect();
        returns.sort_unstable_by_key(|&(code, _)| code);
        for (code, block) in returns {
            self.body.switch_to(block);
            self.body.push(Inst::Return(code));
        }
    }

    pub fn resume_at(&mut self, to: BlockId) {
        self.store_number(opcode::MOV_STORE_IMM32, to.0.into(), context(abi::RESUME));
    }

    /// Goes to a block: by a jump inside the region, else through the dispatcher. A backward jump
    /// may yield.
    pub fn go(&mut self, to: BlockId) {
        if to.0 <= self.facts.id.0 {
            let left = self.general_of(opcode::MOV, context(abi::BACK_EDGES));
            let left = self.plus(left, -1);
            self.store(opcode::MOV_STORE, left, context(abi::BACK_EDGES));
            let (yields, go) = (self.body.cold_block(), self.body.block());
            self.cmp_imm(left, 0);
            self.body.branch(Condition::Greater, (go, Vec::new()), (yields, Vec::new()));
            self.body.switch_to(yields);
            self.resume_at(to);
            self.leave(ExitCode::Yield as u32);
            self.body.switch_to(go);
        }
        self.go_at_once(to);
    }

    /// Goes to a block without counting a backward jump.
    fn go_at_once(&mut self, to: BlockId) {
        match self.entries.get(&to) {
            Some(&block) => self.body.jump(block, Vec::new()),
            None => {
                self.resume_at(to);
                self.leave(abi::CONTINUE);
            }
        }
    }

    /// Sets the flags by a condition. Returns the flags' condition that means true.
    pub fn condition(&mut self, cond: Value) -> Condition {
        if let Op::ICmp { cc, a, b } = *self.facts.op(cond)
            && self.value_type(a).is_uniform()
            && self.value_type(b).is_uniform()
        {
            return self.compare_scalars(cc, a, b);
        }
        let cond = self.scalar(cond);
        self.test(cond);
        Condition::NotEqual
    }

    pub fn terminate(&mut self) {
        let block = self.facts.block;
        match &block.term {
            Terminator::Jump(to) => self.go(*to),
            Terminator::Branch { cond, then, otherwise } => {
                let condition = self.condition(*cond);
                self.ways(condition, *then, *otherwise);
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.scalar(*value);
                for &(key, to) in cases {
                    let key = self.number(key);
                    self.cmp(value, Rm::Reg(key));
                    let (taken, next) = (self.body.block(), self.body.block());
                    self.body.branch(Condition::Equal, (taken, Vec::new()), (next, Vec::new()));
                    self.body.switch_to(taken);
                    self.go(to);
                    self.body.switch_to(next);
                }
                self.go(*default);
            }
            Terminator::Dispatch { places, otherwise, .. } => self.dispatch(places, *otherwise),
            Terminator::Exit => self.end_warp(),
            Terminator::Trap { kind, pc } => {
                let offset = self.prepared.layout().offset(self.function().active);
                let active = self.general_of(opcode::MOV, registers(offset));
                let lane = self.general_of(opcode::TZCNT, Rm::Reg(active));
                let none = self.number(0);
                self.test(active);
                let lane = self.choose(Condition::NotEqual, lane, none);
                self.record_fault((*kind).into(), lane, *pc);
            }
            term => unreachable!("{term:?} is not supported"),
        }
    }

    /// Goes to one of two blocks.
    pub fn ways(&mut self, condition: Condition, then: BlockId, otherwise: BlockId) {
        let (yes, no) = (self.body.block(), self.body.block());
        self.body.branch(condition, (yes, Vec::new()), (no, Vec::new()));
        self.body.switch_to(yes);
        self.go(then);
        self.body.switch_to(no);
        self.go(otherwise);
    }

    fn dispatch(&mut self, places: &[(IrReg, BlockId)], otherwise: BlockId) {
        let active = self.prepared.layout().offset(self.function().active);
        for &(reg, to) in places {
            let waiting = self.prepared.layout().offset(reg);
            let lanes = self.general_of(opcode::MOV, registers(waiting));
            let (taken, next) = (self.body.block(), self.body.block());
            self.test(lanes);
            self.body.branch(Condition::NotEqual, (taken, Vec::new()), (next, Vec::new()));
            self.body.switch_to(taken);
            self.store(opcode::MOV_STORE, lanes, registers(active));
            self.store_number(opcode::MOV_STORE_IMM, 0, registers(waiting));
            self.go(to);
            self.body.switch_to(next);
        }
        self.go(otherwise);
    }

    /// Ends the warp: the next warp of the chain begins, or the call ends.
    fn end_warp(&mut self) {
        let warp = self.general_of(opcode::MOV_32, context(abi::WARP));
        let next = self.plus(warp, 1);
        let end = self.general_of(opcode::MOV_32, context(abi::CHAIN_END));
        let (chain, done) = (self.body.block(), self.body.block());
        self.cmp(next, Rm::Reg(end));
        self.body.branch(Condition::Below, (chain, Vec::new()), (done, Vec::new()));
        self.body.switch_to(done);
        self.leave(ExitCode::Done as u32);

        self.body.switch_to(chain);
        self.store(opcode::MOV_STORE32, next, context(abi::WARP));
        let warps = self.general_of(opcode::MOV_32, context(abi::WARPS));
        let after = self.plus(next, 1);
        let partial = self.general_of(opcode::MOV, context(abi::LAST_LAUNCH_MASK));
        let full = self.number(self.warp_mask());
        self.cmp(after, Rm::Reg(warps));
        let mask = self.choose(Condition::Equal, partial, full);
        self.store(opcode::MOV_STORE, mask, context(abi::LAUNCH_MASK));
        self.go_at_once(BlockId(0));
    }
}

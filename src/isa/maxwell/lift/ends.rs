//! The helper blocks behind a block that ends with a decision. They have no cost.

use warploom_guest::divergence::first_lane;
use warploom_ir::{BlockBuilder, BlockId, IntCc, Reg, TrapKind, Type, Value};

use super::context::Cx;
use super::emit::Emitter;
use super::flow::{Flow, Wait};
use super::program::Step;
use super::stack::without;
use crate::{BUNDLE_BYTES, WORD_BYTES};
use warploom_sass::lift::Flags;
use warploom_sass::lift::service::Frame;

/// The low bit of a site number: set for the lanes that a conditional call or jump leaves behind,
/// as such an instruction may push twice.
const BEHIND: u64 = 1;

impl Emitter<'_, '_> {
    /// Ends a block with a conditional branch. `rest`, also in the split register, are the lanes
    /// that do not take it. An empty `rest` takes the direct path, so that a loop in which all
    /// lanes stay jumps to itself. If lanes diverge, the side further down waits.
    pub(super) fn part_ways(
        &mut self,
        block: BlockId,
        rest: Value,
        may_be_empty: bool,
        pc: u64,
        target: u64,
        next: u64,
    ) {
        let [taken, fallen] = [target, next].map(|pc| self.block_at(pc));
        let [some, both] = [(); 2].map(|()| self.function.new_block(pc));
        let all = if may_be_empty { self.function.new_block(pc) } else { taken };
        self.function.at(block).branch(rest, some, all);
        if may_be_empty {
            let mut b = self.function.at(all);
            let active = b.read_active();
            b.branch(active, taken, self.pop);
        }

        let mut b = self.function.at(some);
        let (lanes, _) = parted(&mut b, self.split);
        b.branch(lanes, both, fallen);

        let mut b = self.function.at(both);
        let (lanes, rest) = parted(&mut b, self.split);
        let backward = target <= pc;
        let (first, waiting, go_on, resume) =
            if backward { (lanes, rest, taken, next) } else { (rest, lanes, fallen, target) };
        if let Some(stack) = &mut self.stack {
            stack.push(&mut b, None, waiting, pc, resume, Some(block));
        }
        b.write_active(first);
        b.jump(go_on);
    }

    /// Ends a block with the flow of an instruction for `lanes`, if there are any. The remaining
    /// lanes, in the split register, go to `next`.
    pub(super) fn act_for(
        &mut self,
        block: BlockId,
        lanes: Value,
        step: &Step,
        pc: u64,
        next: u64,
    ) {
        let fallen = self.block_at(next);
        let doing = self.function.new_block(pc);
        match step.flow {
            // The warp arrives with all its lanes.
            Flow::Barrier(_) => self.function.at(block).branch(lanes, doing, fallen),
            Flow::Trap(_) => {
                self.function.at(block).branch(lanes, doing, fallen);
                let mut b = self.function.at(doing);
                let (lanes, _) = parted(&mut b, self.split);
                b.write_active(lanes);
            }
            _ => {
                let [some, both] = [(); 2].map(|()| self.function.new_block(pc));
                self.function.at(block).branch(lanes, some, fallen);
                let mut b = self.function.at(some);
                let (_, rest) = parted(&mut b, self.split);
                b.branch(rest, both, doing);

                let mut b = self.function.at(both);
                let (lanes, rest) = parted(&mut b, self.split);
                if let Some(stack) = &mut self.stack {
                    stack.push(&mut b, None, rest, pc | BEHIND, next, Some(block));
                }
                b.write_active(lanes);
                b.jump(doing);
            }
        }
        self.act(doing, step, pc, next);
    }

    /// Ends a block with the flow of an instruction.
    pub(super) fn act(&mut self, block: BlockId, step: &Step, pc: u64, next: u64) {
        match step.flow {
            Flow::Trap(kind) => {
                let mut b = self.function.at(block);
                b.set_pc(pc);
                b.trap(kind);
            }
            Flow::Call(target) => {
                let target = self.block_at(target);
                let full = self.function.new_block(pc);
                self.function.at(full).trap(TrapKind::StackOverflow);
                let mut b = self.function.at(block);
                b.set_pc(pc);
                let active = b.read_active();
                if let Some(stack) = &mut self.stack {
                    let room = stack.has_room(&mut b);
                    stack.push(&mut b, Some(Wait::Return), active, pc, next, Some(block));
                    b.branch(room, target, full);
                }
            }
            Flow::Barrier(_) => {
                let resume = self.block_at(next);
                let mut cx = self.resume_in(block, step, pc);
                if let Some(Flow::Barrier(barrier)) = lift_again(&mut cx, step) {
                    cx.b.barrier(barrier, resume);
                }
            }
            Flow::Service(service) => {
                let (answered, next) = (self.function.new_block(pc), self.block_at(next));
                let registers = self.banks.common.registers;
                let frame = Frame { registers, stack_end: crate::driver::word::STACK };
                frame.ask(&mut self.function.at(block), service, answered);
                let mut b = self.function.at(answered);
                frame.take(&mut b, service);
                b.jump(next);
            }
            Flow::Indirect(_) => self.jump_indirectly(block, step, pc),
            Flow::Next
            | Flow::Branch(_)
            | Flow::Push(..)
            | Flow::Leave(_)
            | Flow::Activate(_)
            | Flow::Kill => {}
        }
    }

    /// Jumps to the target of the first active lane. Lanes with another target come back to this
    /// instruction when it is their turn.
    fn jump_indirectly(&mut self, block: BlockId, step: &Step, pc: u64) {
        let [part, go] = [(); 2].map(|()| self.function.new_block(pc));
        let split = self.split;
        let mut cx = self.resume_in(block, step, pc);
        if let Some((address, first)) = first_target(&mut cx, step) {
            let same = cx.b.icmp(IntCc::Eq, address, first);
            let active = cx.active();
            let rest = without(&mut cx.b, active, same);
            cx.b.rf_write(split, rest);
            cx.b.branch(rest, part, go);
        }

        let mut b = self.function.at(part);
        let (lanes, rest) = parted(&mut b, split);
        if let Some(stack) = &mut self.stack {
            stack.push(&mut b, None, rest, pc, pc, Some(block));
        }
        b.write_active(lanes);
        b.jump(go);

        let mut cx = self.resume_in(go, step, pc);
        if let Some((_, first)) = first_target(&mut cx, step) {
            let target = past_control_at_run_time(&mut cx.b, first);
            cx.b.indirect(target);
        }
    }

    /// Starts an instruction in a block whose flags are all in the register file.
    fn resume_in(&mut self, block: BlockId, step: &Step, pc: u64) -> Cx<'_> {
        let mut cx = Cx::new(self.function.at(block), self.banks, Flags::NONE);
        if let Some(insn) = step.insn {
            cx.start(&insn, pc, Flags::ALL);
        }
        cx
    }
}

fn lift_again(cx: &mut Cx<'_>, step: &Step) -> Option<Flow> {
    let insn = step.insn?;
    insn.row.lift.and_then(|lift| lift(cx, &insn).ok())
}

/// Returns the targets of an indirect jump, and the target of the first active lane (uniform).
fn first_target(cx: &mut Cx<'_>, step: &Step) -> Option<(Value, Value)> {
    let Some(Flow::Indirect(address)) = lift_again(cx, step) else { return None };
    let active = cx.active();
    let lane = first_lane(&mut cx.b, active);
    let first = cx.b.lane_read(address, lane);
    Some((address, first))
}

/// Emits [`past_control`](crate::past_control) of an address that is known at run time only.
fn past_control_at_run_time(b: &mut BlockBuilder<'_>, pc: Value) -> Value {
    let in_bundle = b.iconst(Type::I64, BUNDLE_BYTES - 1);
    let (zero, word) = (b.iconst(Type::I64, 0), b.iconst(Type::I64, WORD_BYTES));
    let place = b.and(pc, in_bundle);
    let control = b.icmp(IntCc::Eq, place, zero);
    let skip = b.uniform_select(control, word, zero);
    b.add(pc, skip)
}

/// Returns the active lanes outside the split register, and the lanes in it.
fn parted(b: &mut BlockBuilder<'_>, split: Reg) -> (Value, Value) {
    let (active, split) = (b.read_active(), b.rf_read(split));
    // All lanes of the split register are active, but only this `and` shows it to analysis. Without
    // it, the lanes would count as formerly inactive.
    let rest = b.and(active, split);
    (without(b, active, rest), rest)
}

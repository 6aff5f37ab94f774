//! Ends of blocks: lanes go, wait and meet again. `calls` has calls and returns. Facts,
//! `visa-semantics.md` 6.

use warploom_guest::divergence::nonzero;
use warploom_ir::{
    Barrier, BarrierCounts, BarrierKind, BlockBuilder, BlockId, Reg, TrapKind, Type, Value,
};

use super::chain::Step;
use super::emit::{Here, Shape};
use super::graph::End;
use super::mode::Mode;
use super::waiting::{Waiting, is_always, is_uniform, must_wait};
use super::{Cx, Lifted};
use crate::instruction::{Combine, Instruction};

/// The number of named barriers.
pub(super) const NAMED: u32 = 16;

/// Lifts labels, hints and statements about the source: emits nothing.
pub fn nothing(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(())
}

/// Ends a block.
pub(super) fn end(shape: &Shape<'_>, mut cx: Cx<'_>, here: Here<'_>) {
    let block = &shape.graph.blocks[here.block];
    let code = &shape.routine(block.routine).code;
    let ending = code.get(block.last as usize);
    if let Some(insn) = ending {
        cx.begin(insn, insn.at.into());
    }
    let mode = cx.mode;
    let at = At { shape, here, mode, unit: block.unit };
    match (&block.end, ending) {
        (End::Next, _) if cx.running.is_some() => at.next_of_any(cx),
        (End::Next, _) => at.next(&mut cx.b),
        (End::Last, _) => at.returned(&mut cx.b),
        (End::Goto { target, .. }, Some(insn)) => at.goto(cx, insn, *target),
        (End::Switch { targets, .. }, Some(insn)) => at.switch(cx, insn, targets),
        (End::Call { unit, .. }, Some(insn)) => at.call(cx, insn, &[(None, *unit)]),
        (End::CallIndirect, Some(insn)) => {
            let addressed = &shape.graph.addressed;
            let all: Vec<_> = addressed
                .iter()
                .map(|(name, unit)| (shape.kernel.symbols.get(name).copied(), *unit))
                .collect();
            at.call(cx, insn, &all);
        }
        (End::Return { .. }, Some(insn)) => at.leave(cx, insn),
        (End::Barrier, Some(insn)) => at.barrier(cx, insn),
        _ => cx.b.trap(TrapKind::Unimplemented),
    }
}

/// Continues into the next block of a row.
pub(super) fn run_on(shape: &Shape<'_>, cx: &mut Cx<'_>, here: Here<'_>, step: Step) {
    let block = &shape.graph.blocks[here.block];
    let at = At { shape, here, mode: cx.mode, unit: block.unit };
    if let Step::Leave(target) | Step::Change(target) = step {
        if let Some(insn) = shape.routine(block.routine).code.get(block.last as usize) {
            cx.begin(insn, insn.at.into());
        }
        let active = cx.active();
        let taken = at.taken(cx, active);
        let others = cx.b.not(taken);
        let others = cx.b.and(active, others);
        at.park(&mut cx.b, taken, target);
        cx.set_active(others);
    }
    let next = here.block + 1;
    let waits = here.waiting.contains(&next)
        || matches!(step, Step::Leave(target) | Step::Change(target) if target == next);
    if waits {
        let (active, others) = (cx.active(), cx.b.rf_read(at.place(next)));
        let all = cx.b.or(active, others);
        cx.set_active(all);
        let none = cx.constant(Type::Mask, 0);
        cx.b.rf_write(at.place(next), none);
    }
}

/// Tests whether lanes are left, unless some surely are.
pub(super) fn look(cx: &mut Cx<'_>, surely: bool) {
    cx.running = None;
    if !surely {
        let active = cx.active();
        cx.running = Some(nonzero(&mut cx.b, active));
    }
}

/// Ends a block at an instruction that is not executed: a fault if lanes are left.
pub(super) fn trap(shape: &Shape<'_>, mut cx: Cx<'_>, here: Here<'_>) {
    let unit = shape.graph.blocks[here.block].unit;
    let at = At { shape, here, mode: cx.mode, unit };
    match cx.running {
        None => cx.b.trap(TrapKind::Unimplemented),
        Some(_) => {
            let fault = at.in_new_block(&mut cx.b, |b| b.trap(TrapKind::Unimplemented));
            let rest = at.dispatching(&mut cx.b, here.waiting, shape.done);
            let active = cx.active();
            cx.b.branch(active, fault, rest);
        }
    }
}

/// The end of a block.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) shape: &'a Shape<'a>,
    pub(super) here: Here<'a>,
    pub(super) mode: Mode,
    pub(super) unit: usize,
}

impl At<'_> {
    fn place(&self, block: usize) -> Reg {
        self.shape.waits.reg(block as u32)
    }

    /// Returns the IR's block of a block in this mode.
    pub(super) fn block(&self, block: usize) -> BlockId {
        self.shape
            .plan
            .node(block, self.mode)
            .map_or(self.shape.done, |node| self.shape.blocks[node])
    }

    /// Makes lanes wait for a block.
    fn park(&self, b: &mut BlockBuilder<'_>, lanes: Value, block: usize) {
        let mut all = lanes;
        if self.here.waiting.contains(&block) {
            let before = b.rf_read(self.place(block));
            all = b.or(before, lanes);
        }
        b.rf_write(self.place(block), all);
    }

    /// Sends all active lanes to a block, or makes them wait for it if they must.
    fn go(&self, b: &mut BlockBuilder<'_>, to: usize) {
        let waiting = self.here.waiting;
        if must_wait(self.here.block, to, waiting) {
            let active = b.read_active();
            self.park(b, active, to);
            let mut parked = waiting.clone();
            parked.insert(to);
            return self.dispatch(b, &parked, self.shape.done);
        }
        if waiting.contains(&to) {
            let (active, others) = (b.read_active(), b.rf_read(self.place(to)));
            let all = b.or(active, others);
            b.write_active(all);
            let none = b.lanes_of(0);
            b.rf_write(self.place(to), none);
        }
        b.jump(self.block(to));
    }

    /// Makes a block that sends all active lanes to one block.
    pub(super) fn going(&self, b: &mut BlockBuilder<'_>, to: usize) -> BlockId {
        if !must_wait(self.here.block, to, self.here.waiting) && !self.here.waiting.contains(&to) {
            return self.block(to);
        }
        self.in_new_block(b, |b| self.go(b, to))
    }

    pub(super) fn in_new_block(
        &self,
        b: &mut BlockBuilder<'_>,
        with: impl FnOnce(&mut BlockBuilder<'_>),
    ) -> BlockId {
        let pc = b.pc();
        let block = b.function().new_block(pc);
        with(&mut b.function().at(block));
        block
    }

    /// Continues with the first block that lanes wait for.
    pub(super) fn dispatch(&self, b: &mut BlockBuilder<'_>, waiting: &Waiting, otherwise: BlockId) {
        if waiting.is_empty() {
            return b.jump(otherwise);
        }
        let places = waiting.iter().map(|&block| (self.place(block), self.block(block))).collect();
        b.dispatch(places, None, otherwise);
    }

    /// Makes a block that dispatches.
    fn dispatching(
        &self,
        b: &mut BlockBuilder<'_>,
        waiting: &Waiting,
        otherwise: BlockId,
    ) -> BlockId {
        if waiting.is_empty() {
            return otherwise;
        }
        self.in_new_block(b, |b| self.dispatch(b, waiting, otherwise))
    }

    pub(super) fn next(&self, b: &mut BlockBuilder<'_>) {
        match self.shape.graph.next(self.here.block) {
            Some(next) => self.go(b, next),
            None => self.returned(b),
        }
    }

    /// Continues with the next block if lanes are left or wait there, else with a later block.
    fn next_of_any(&self, mut cx: Cx<'_>) {
        let Some(next) = self.shape.graph.next(self.here.block) else {
            return self.returned(&mut cx.b);
        };
        let mut others = self.here.waiting.clone();
        if others.remove(&next) {
            let (active, waiting) = (cx.active(), cx.b.rf_read(self.place(next)));
            let all = cx.b.or(active, waiting);
            cx.set_active(all);
            let none = cx.constant(Type::Mask, 0);
            cx.b.rf_write(self.place(next), none);
        }
        let after = At { here: Here { waiting: &others, ..self.here }, ..*self };
        let active = cx.active();
        let going = after.going(&mut cx.b, next);
        let rest = after.dispatching(&mut cx.b, &others, self.shape.done);
        cx.b.branch(active, going, rest);
    }

    /// Makes a block that continues behind this block.
    pub(super) fn on(&self, b: &mut BlockBuilder<'_>) -> BlockId {
        match self.shape.graph.next(self.here.block) {
            Some(next) => self.going(b, next),
            None => self.in_new_block(b, |b| self.returned(b)),
        }
    }

    /// Returns the active lanes that take a branch.
    pub(super) fn taken(&self, cx: &mut Cx<'_>, active: Value) -> Value {
        let Some(used) = cx.predicate else { return active };
        let bits = cx.predicate(used);
        let bits = cx.move_bits(bits, 0, 0, Type::Mask);
        let taken = cx.b.and(active, bits);
        let exec = cx.exec();
        if exec.size >= cx.lanes() {
            return taken;
        }
        let of = cx.constant(Type::Mask, super::mask::ones(exec.size.into()) << exec.offset);
        cx.b.and(taken, of)
    }

    /// Returns whether a branch of the whole warp is taken; None if it always is.
    pub(super) fn is_taken(&self, cx: &mut Cx<'_>) -> Option<Value> {
        let used = cx.predicate?;
        let bits = cx.predicate(used);
        if used.combine != Combine::None {
            return Some(bits);
        }
        let ty = cx.b.ty(bits).ty;
        let bit = cx.constant(ty, 1 << cx.exec().offset);
        Some(cx.b.and(bits, bit))
    }

    fn goto(&self, mut cx: Cx<'_>, insn: &Instruction, target: usize) {
        if is_always(insn) && cx.running.is_some() {
            let active = cx.active();
            let going = self.going(&mut cx.b, target);
            let rest = self.dispatching(&mut cx.b, self.here.waiting, self.shape.done);
            return cx.b.branch(active, going, rest);
        }
        if is_always(insn) {
            return self.go(&mut cx.b, target);
        }
        if is_uniform(insn) {
            let Some(cond) = self.is_taken(&mut cx) else { return self.go(&mut cx.b, target) };
            let (taken, on) = (self.going(&mut cx.b, target), self.on(&mut cx.b));
            return cx.b.branch(cond, taken, on);
        }
        let active = cx.active();
        let taken = self.taken(&mut cx, active);
        let others = cx.b.not(taken);
        let others = cx.b.and(active, others);
        let Some(next) = self.shape.graph.next(self.here.block) else {
            return cx.b.trap(TrapKind::Unimplemented);
        };
        let (early, late, later) =
            if target > self.here.block { (others, taken, target) } else { (taken, others, next) };
        self.park(&mut cx.b, late, later);
        cx.set_active(early);
        let mut parked = self.here.waiting.clone();
        parked.insert(later);
        let after = At { here: Here { waiting: &parked, ..self.here }, ..*self };
        let earlier = if target > self.here.block { next } else { target };
        let going = after.going(&mut cx.b, earlier);
        let rest = after.dispatching(&mut cx.b, &parked, self.shape.done);
        cx.b.branch(early, going, rest);
    }

    fn switch(&self, mut cx: Cx<'_>, insn: &Instruction, targets: &[usize]) {
        let index = insn
            .operands
            .iter()
            .position(|operand| !matches!(operand, crate::instruction::Operand::Labels(_)));
        let index = index.and_then(|n| cx.scalar(insn, n, Type::I32).ok());
        let (Some(index), Some(&first)) = (index, targets.first()) else {
            return cx.b.trap(TrapKind::Unimplemented);
        };
        let cases =
            (0..).zip(targets).map(|(n, &target)| (n, self.going(&mut cx.b, target))).collect();
        let default = self.going(&mut cx.b, first);
        cx.b.switch(index, cases, default);
    }

    /// Emits a barrier of the thread group, or a named barrier.
    fn barrier(&self, mut cx: Cx<'_>, insn: &Instruction) {
        let (kind, counts) = (BarrierKind::Sync, BarrierCounts::Warps);
        let id = cx.word(0);
        let all = Barrier { kind, counts, id, threads: None, predicate: None };
        let barrier = match (insn.row.name, insn.row.sub) {
            ("nbarrier.signal", Some(1)) => return self.signal(cx, insn, None),
            ("nbarrier.signal", _) => return self.signal(cx, insn, Some(3)),
            ("nbarrier.wait", _) => {
                let Ok(id) = cx.scalar(insn, 0, Type::I32) else {
                    return cx.b.trap(TrapKind::Unimplemented);
                };
                let named = self.shape.named;
                let threads = cx.b.rf_gather(named, 0, NAMED, id);
                Barrier { id, threads: Some(threads), ..all }
            }
            _ => all,
        };
        let resume = self.on(&mut cx.b);
        cx.b.barrier(barrier, resume);
    }

    /// Emits the warp's signal to a named barrier.
    ///
    /// A warp that only produces continues. Other warps wait for missing warps at `nbarrier.wait`,
    /// and keep the number of threads until then. `consumers` is the operand with the number of
    /// consumers.
    fn signal(&self, mut cx: Cx<'_>, insn: &Instruction, consumers: Option<usize>) {
        const PRODUCER: u64 = 1;
        let (id, count) = (
            cx.scalar(insn, 0, Type::I32),
            cx.scalar(insn, consumers.map_or(1, |n| n - 1), Type::I32),
        );
        let more = consumers.map(|n| cx.scalar(insn, n, Type::I32)).transpose();
        let (Ok(id), Ok(mut count), Ok(more)) = (id, count, more) else {
            return cx.b.trap(TrapKind::Unimplemented);
        };
        if let Some(more) = more {
            count = cx.b.add(count, more);
        }
        let lanes = cx.word(cx.lanes().into());
        let threads = cx.b.mul(count, lanes);
        let role = match consumers {
            None => Some(0),
            Some(_) => cx.scalar(insn, 1, Type::I32).ok().and_then(|role| cx.b.constant(role)),
        };
        match role {
            Some(PRODUCER) => {
                let (kind, counts) = (BarrierKind::Arrive, BarrierCounts::Warps);
                let resume = self.on(&mut cx.b);
                cx.b.barrier(
                    Barrier { kind, counts, id, threads: Some(threads), predicate: None },
                    resume,
                );
            }
            Some(_) => {
                let named = self.shape.named;
                cx.b.rf_scatter(named, 0, NAMED, id, threads);
                self.next(&mut cx.b);
            }
            None => cx.b.trap(TrapKind::Unimplemented),
        }
    }
}

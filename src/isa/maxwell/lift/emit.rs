//! Emission of IR blocks for blocks of guest instructions.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use warploom_guest::divergence::Mask;
use warploom_ir::{BlockBuilder, BlockId, BuildError, Function, FunctionBuilder, Reg, Value};

use super::cc;
use super::context::{Banks, Cx};
use super::flow::Leave;
use super::liveness::Liveness;
use super::program::{Action, End, Program, Step, When};
use super::stack::{Stack, without};
use crate::driver;
use warploom_sass::lift::Flags;

pub struct Emitter<'p, 'a> {
    pub(super) program: &'p Program<'a>,
    live: Liveness,
    pub(super) function: FunctionBuilder,
    pub(super) banks: Banks,
    /// The divergence stack. None: nothing pushes, and lanes that leave are done.
    pub(super) stack: Option<Stack>,
    /// The block to enter when the active mask is empty.
    pub(super) pop: BlockId,
    /// The mask register that passes lanes from a block to its helper blocks.
    pub(super) split: Reg,
    /// Holds the active mask between SAM and RAM, if there are any.
    suspended: Option<Reg>,
    /// The kernel's first block.
    first: Option<BlockId>,
    blocks: FxHashMap<u64, BlockId>,
    queue: VecDeque<u64>,
}

impl<'p, 'a> Emitter<'p, 'a> {
    pub fn new(
        program: &'p Program<'a>,
        function: FunctionBuilder,
        banks: Banks,
        stack: Option<Stack>,
        pop: BlockId,
        split: Reg,
        suspended: Option<Reg>,
    ) -> Self {
        let live = Liveness::of(program);
        let (blocks, queue) = (FxHashMap::default(), VecDeque::new());
        Emitter {
            program,
            live,
            function,
            banks,
            stack,
            pop,
            split,
            suspended,
            first: None,
            blocks,
            queue,
        }
    }

    /// Returns the block at a guest address, and queues it for emission.
    pub fn block_at(&mut self, pc: u64) -> BlockId {
        *self.blocks.entry(pc).or_insert_with(|| {
            self.queue.push_back(pc);
            self.function.new_block(pc)
        })
    }

    /// Makes an empty block, the kernel's first, the block at a guest address.
    pub fn claim(&mut self, pc: u64, block: BlockId) {
        self.first = Some(block);
        self.blocks.insert(pc, block);
        self.queue.push_back(pc);
    }

    /// Makes an empty block, the kernel's first, go on at a guest address.
    pub fn enter(&mut self, entry: BlockId, pc: u64) {
        let (first, pop) = (self.block_at(pc), self.pop);
        let Some(shader) = self.banks.shader else { return self.function.at(entry).jump(first) };
        let mut cx = Cx::new(self.function.at(entry), self.banks, Flags::NONE);
        cx.begin(shader);
        let active = cx.active();
        cx.b.branch(active, first, pop);
    }

    /// Emits all requested blocks and all blocks that they lead to.
    pub fn drain(&mut self) {
        while let Some(pc) = self.queue.pop_front() {
            self.emit(pc);
            for pc in self.stack.as_mut().map(Stack::take_resumes).unwrap_or_default() {
                self.block_at(pc);
            }
        }
    }

    pub fn finish(mut self) -> Result<Function, BuildError> {
        if let Some(stack) = self.stack.take() {
            let blocks = &self.blocks;
            stack.finish(&mut self.function, |pc| blocks[&pc]);
        }
        self.function.finish()
    }

    fn emit(&mut self, start: u64) {
        let program = self.program;
        let guest = &program.blocks[&start];
        let block = self.blocks[&start];
        self.function.set_cost(block, guest.cost);
        // Lanes that do not keep on are inactive at the block's end.
        let pusher = Some(block).filter(|_| !matches!(guest.end, End::KeepOn { .. }));
        let live = self.live.after_steps(program, guest);
        let mut cx = Cx::new(self.function.at(block), self.banks, self.live.kept);
        cx.images = program.images;
        cx.compiled = program.constants;
        cx.ntid = program.driver_words.then_some(driver::word::NTID);
        let mut may_be_empty = guest.may_be_empty;
        if let Some(shader) = self.banks.shader.filter(|_| self.first == Some(block)) {
            cx.begin(shader);
            may_be_empty = true;
        }
        for (&(pc, action), &live) in guest.steps.iter().zip(&live) {
            let step = program.step(pc);
            let Some(insn) = step.insn.filter(|_| action != Action::Nothing) else { continue };
            cx.start(&insn, pc, live);
            match action {
                Action::Nothing => {}
                Action::Plain => {
                    if let Some(lift) = insn.row.lift {
                        // The trial run showed that the instruction is supported.
                        let _ = lift(&mut cx, &insn);
                    }
                }
                Action::Push(wait, resume) => {
                    let lanes = cx.executing();
                    if let Some(stack) = &mut self.stack {
                        stack.push(&mut cx.b, Some(wait), lanes, pc, resume, pusher);
                    }
                }
                Action::Activate(active) => {
                    if let Some(suspended) = self.suspended {
                        cx.activate(active, suspended);
                    }
                }
                Action::Kill => {
                    if let Some(lift) = insn.row.lift {
                        let _ = lift(&mut cx, &insn);
                    }
                    let done = cx.quads_without_pixels();
                    mark(&self.stack, &mut cx.b, Leave::Exit, done);
                    let active = cx.active();
                    let staying = without(&mut cx.b, active, done);
                    cx.set_active(staying);
                }
                Action::Leave(leave) => {
                    let lanes = condition(&mut cx, step);
                    end(&mut cx, leave, Mask::Lanes(lanes));
                    mark(&self.stack, &mut cx.b, leave, lanes);
                    let active = cx.active();
                    let staying = without(&mut cx.b, active, lanes);
                    cx.set_active(staying);
                }
            }
        }
        let after = self.live.after_end(program, guest);
        match guest.end {
            End::Jump(target) => match program.leave_at(target) {
                Some(leave) => {
                    end(&mut cx, leave, Mask::Always);
                    cx.flush(after);
                    self.leave_all(block, leave);
                }
                None => {
                    cx.flush(after);
                    self.go(block, target, may_be_empty);
                }
            },
            End::Leave(leave) => {
                end(&mut cx, leave, Mask::Always);
                cx.flush(after);
                self.leave_all(block, leave);
            }
            End::KeepOn { pc, target, leave } => {
                let lanes = start_end(&mut cx, program.step(pc), pc);
                let marks = self.stack.as_ref().is_some_and(|stack| stack.marks(leave));
                if marks || self.banks.shader.is_some() {
                    let rest = others(&mut cx, lanes);
                    end(&mut cx, leave, Mask::Lanes(rest));
                    mark(&self.stack, &mut cx.b, leave, rest);
                }
                cx.set_active(lanes);
                cx.flush(after);
                let target = self.block_at(target);
                self.function.at(block).branch(lanes, target, self.pop);
            }
            End::Split { pc, target, next } => {
                let lanes = start_end(&mut cx, program.step(pc), pc);
                let rest = others(&mut cx, lanes);
                cx.b.rf_write(self.split, rest);
                cx.flush(after);
                self.part_ways(block, rest, may_be_empty, pc, target, next);
            }
            End::Do { pc, next } => {
                let step = program.step(pc);
                let before = self.live.at_end(program, guest);
                let conditional = step.when == When::Lanes;
                if conditional {
                    let lanes = start_end(&mut cx, step, pc);
                    let rest = others(&mut cx, lanes);
                    cx.b.rf_write(self.split, rest);
                    cx.flush(before);
                    self.act_for(block, lanes, step, pc, next);
                } else {
                    cx.flush(before);
                    self.act(block, step, pc, next);
                }
            }
        }
    }

    /// Ends a block with a jump, if lanes are left.
    fn go(&mut self, block: BlockId, target: u64, may_be_empty: bool) {
        let (target, pop) = (self.block_at(target), self.pop);
        let mut b = self.function.at(block);
        if may_be_empty {
            let active = b.read_active();
            b.branch(active, target, pop);
        } else {
            b.jump(target);
        }
    }

    fn leave_all(&mut self, block: BlockId, leave: Leave) {
        let mut b = self.function.at(block);
        if self.stack.as_ref().is_some_and(|stack| stack.marks(leave)) {
            let active = b.read_active();
            mark(&self.stack, &mut b, leave, active);
        }
        b.jump(self.pop);
    }
}

/// Emits the effects of lanes that exit.
fn end(cx: &mut Cx<'_>, leave: Leave, lanes: Mask) {
    if leave == Leave::Exit {
        cx.end(lanes);
    }
}

fn mark(stack: &Option<Stack>, b: &mut BlockBuilder<'_>, leave: Leave, lanes: Value) {
    if let Some(stack) = stack {
        stack.mark(b, leave, lanes);
    }
}

/// Returns the active lanes that the guard and the CC test choose.
fn condition(cx: &mut Cx<'_>, step: &Step) -> Value {
    let lanes = cx.executing();
    // An unsupported test makes the instruction a trap without a test.
    let Some(Ok(test)) = step.test.map(|test| cc::test(cx, test)) else { return lanes };
    let lanes = cx.and(Mask::Lanes(lanes), test);
    lanes.value(&mut cx.b)
}

/// Starts the instruction that ends the block, and returns the active lanes of its condition.
fn start_end(cx: &mut Cx<'_>, step: &Step, pc: u64) -> Value {
    if let Some(insn) = step.insn {
        cx.start(&insn, pc, Flags::ALL);
    }
    condition(cx, step)
}

/// Returns the active lanes that are not in `lanes`.
fn others(cx: &mut Cx<'_>, lanes: Value) -> Value {
    let active = cx.active();
    without(&mut cx.b, active, lanes)
}

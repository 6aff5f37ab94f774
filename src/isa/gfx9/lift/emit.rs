//! Blocks of guest instructions become blocks of the IR.

use std::collections::{BTreeMap, VecDeque};

use warploom_ir::{
    Barrier, BarrierCounts, BarrierKind, BlockId, BuildError, Function, FunctionBuilder, Type,
};

use super::context::{Banks, Cx};
use super::flow::{Condition, Flow};
use super::program::{CodePoint, End, GuestBlock, Program};
use super::{Kernel, NAN, WARP_LANES, entry};

struct Emitter<'p> {
    kernel: &'p Kernel<'p>,
    program: &'p Program,
    function: FunctionBuilder,
    banks: Banks,
    blocks: BTreeMap<CodePoint, BlockId>,
    queue: VecDeque<CodePoint>,
}

/// Emits the function.
///
/// Blocks are numbered in the order of their first use, from the entry and then from each indirect
/// target. So a program with more indirect targets extends one with fewer.
pub fn emit<'p>(kernel: &'p Kernel<'p>, program: &'p Program) -> Result<Function, BuildError> {
    let mut function = FunctionBuilder::new(kernel.name, WARP_LANES, NAN);
    function.set_observed(kernel.observed);
    let banks = Banks::declare(&mut function, program.vectors);
    let first = function.new_block(kernel.entry);
    let (blocks, queue) = (BTreeMap::new(), VecDeque::new());
    let mut emitter = Emitter { kernel, program, function, banks, blocks, queue };
    let mut cx = Cx::new(emitter.function.at(first), banks, program.vectors, kernel.mode);
    cx.shader = kernel.initial.shader.as_ref();
    entry::set_up(&mut cx, &kernel.initial);
    let start = emitter.block_at((kernel.entry, kernel.mode));
    emitter.function.at(first).jump(start);
    emitter.drain();
    for &pc in &program.indirect {
        let block = emitter.block_at((pc, kernel.mode));
        emitter.function.set_indirect_target(block, true);
        emitter.drain();
    }
    emitter.function.finish()
}

impl Emitter<'_> {
    fn block_at(&mut self, place: CodePoint) -> BlockId {
        *self.blocks.entry(place).or_insert_with(|| {
            self.queue.push_back(place);
            self.function.new_block(place.0)
        })
    }

    fn drain(&mut self) {
        while let Some(place) = self.queue.pop_front() {
            let program = self.program;
            self.emit(self.blocks[&place], &program.blocks[&place]);
        }
    }

    fn emit(&mut self, block: BlockId, guest: &GuestBlock) {
        self.function.set_cost(block, guest.steps.len() as u32);
        let mut cx = Cx::new(self.function.at(block), self.banks, self.program.vectors, guest.mode);
        cx.chip = self.kernel.chip;
        cx.data_share = self.kernel.initial.data_share;
        cx.known = guest.known.clone();
        cx.constant_vectors = Some(&self.program.constants);
        (cx.constants, cx.words, cx.objects) =
            (&self.kernel.initial.constants, &self.kernel.initial.words, self.kernel.objects);
        cx.shader = self.kernel.initial.shader.as_ref();
        let mut pc = cx.b.pc();
        for &(at, ref step) in &guest.steps {
            pc = at;
            if let Some(insn) = step.insn {
                cx.start(&insn, at);
                if !matches!(step.flow, Flow::Trap(_))
                    && let Some(lift) = insn.row().lift
                {
                    // The trial run has shown that the instruction is supported.
                    let _ = lift(&mut cx, &insn);
                }
            }
        }
        let (flow, next) = match guest.end {
            End::Jump(place) => return self.jump(block, place),
            End::Flow { flow, next } => (flow, next),
        };
        match flow {
            Flow::Next | Flow::SetMode(_) => unreachable!("these end no block"),
            Flow::Jump(target) => self.jump(block, (target, guest.mode)),
            Flow::Branch { on, nonzero, target } => {
                let condition = match on {
                    Condition::Scc => cx.scc(),
                    Condition::Vcc => cx.vcc(),
                    Condition::Exec => cx.exec(),
                };
                let (target, next) = (self.block_at((target, guest.mode)), self.block_at(next));
                let (then, otherwise) = if nonzero { (target, next) } else { (next, target) };
                self.function.at(block).branch(condition, then, otherwise);
            }
            Flow::Indirect(operand) => {
                let to = cx.scalar_pair(operand);
                cx.b.indirect(to);
            }
            Flow::Call { link, target } => {
                let back = cx.b.iconst(Type::I64, next.0);
                cx.set_scalar_pair(link, back);
                self.jump(block, (target, guest.mode));
            }
            Flow::IndirectCall { link, to } => {
                let to = cx.scalar_pair(to);
                let back = cx.b.iconst(Type::I64, next.0);
                cx.set_scalar_pair(link, back);
                cx.b.indirect(to);
            }
            Flow::Barrier => {
                let id = cx.b.iconst(Type::I32, 0);
                let resume = self.block_at(next);
                let barrier = Barrier {
                    kind: BarrierKind::Sync,
                    counts: BarrierCounts::Warps,
                    id,
                    threads: None,
                    predicate: None,
                };
                self.function.at(block).barrier(barrier, resume);
            }
            Flow::Exit => cx.b.exit(),
            Flow::Trap(kind) => {
                cx.b.set_pc(pc);
                cx.b.trap(kind);
            }
        }
    }

    fn jump(&mut self, block: BlockId, place: CodePoint) {
        let target = self.block_at(place);
        self.function.at(block).jump(target);
    }
}

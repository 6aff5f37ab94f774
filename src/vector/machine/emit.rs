//! Emits bytes from allocated instructions.

use regalloc2::{Allocation, AllocationKind, Block as RaBlock, Edit, InstOrEdit, Output};
use warploom_engine::abi;

use super::body::Function;
use super::{Arg, Base, GENERAL, Inst, Mem, Op, Rm, VECTOR};
use crate::asm::opcode::{self, Form};
use crate::asm::{Address, Assembled, Assembler, Label, Operands, Source};

const RAX: u8 = 0;
const RCX: u8 = 1;
const RDX: u8 = 2;
const RBX: u8 = 3;
const RSP: u8 = 4;
const RBP: u8 = 5;
const RSI: u8 = 6;
const RDI: u8 = 7;
/// The register file's address.
const REGISTERS: u8 = 14;
const CONTEXT: u8 = 15;
/// Registers that are kept for the caller, besides the frame pointer.
const KEPT: [u8; 5] = [RBX, 12, 13, 14, 15];
/// Registers that a call of a helper pushes before the stub runs.
const PUSHED: [u8; 5] = [RAX, RDI, RSI, RDX, RCX];
const ARGUMENTS: [u8; 4] = [RDI, RSI, RDX, RCX];

const PAGE: i32 = 1 << 12;

/// The code of a function.
#[derive(Debug)]
pub struct MachineFunction {
    pub code: Assembled,
    /// The bytes of the host's stack that a call takes.
    pub frame_bytes: u32,
}

struct Emitter<'f> {
    function: &'f Function,
    output: &'f Output,
    code: Assembler,
    labels: Vec<Label>,
    /// The order of the blocks in the code.
    order: Vec<usize>,
    /// The bytes of the spill slots.
    spills: i32,
    /// The stub that saves vectors and masks around a call.
    stub: Option<Label>,
}

/// Emits a function with its registers allocated.
pub fn emit(function: &Function, output: &Output) -> MachineFunction {
    let mut code = Assembler::default();
    let labels = function.blocks.iter().map(|_| code.label()).collect();
    let blocks = 0..function.blocks.len();
    let (hot, cold): (Vec<usize>, Vec<usize>) =
        blocks.partition(|&block| !function.blocks[block].cold);
    let spills = (output.num_spillslots * 8).next_multiple_of(64) as i32;
    let calls = function.insts.iter().any(|inst| matches!(inst, Inst::Call { .. }));
    let order = hot.into_iter().chain(cold).collect();
    let mut emitter = Emitter { function, output, code, labels, order, spills, stub: None };
    let saved = if calls { SAVED_BYTES } else { 0 };
    let frame = spills + saved;
    emitter.order.retain(|&block| block == 0 || passes(function, output, block).is_none());
    emitter.prologue(frame);
    for at in 0..emitter.order.len() {
        emitter.block(at);
    }
    if let Some(stub) = emitter.stub {
        emitter.save_around_call(stub);
    }
    MachineFunction { code: emitter.code.finish(), frame_bytes: frame as u32 + 128 }
}

/// The bytes that save all vectors and masks.
const SAVED_BYTES: i32 = 32 * 64 + 8 * 8;

fn at(base: u8, displacement: i32) -> Source {
    Source::Memory(Address { base, index: None, displacement })
}

impl Emitter<'_> {
    fn op(&mut self, op: opcode::Opcode, reg: u8, rm: Source) {
        self.code.op(op, &Operands::of(reg, 0, rm));
    }

    fn prologue(&mut self, frame: i32) {
        self.code.push(RBP);
        self.op(opcode::MOV, RBP, Source::Register(RSP));
        KEPT.iter().for_each(|&register| self.code.push(register));
        // Touches each page, so that a large frame cannot skip the stack's guard page.
        for page in 1..=frame / PAGE {
            self.op(opcode::MOV_STORE, RSP, at(RSP, -page * PAGE));
        }
        if frame > 0 {
            self.code
                .op(opcode::SUB_IMM, &Operands::of(0, 0, Source::Register(RSP)).imm(frame.into()));
        }
        self.code.op(opcode::AND_IMM, &Operands::of(0, 0, Source::Register(RSP)).imm(-64));
        self.op(opcode::MOV, CONTEXT, Source::Register(RDI));
        self.op(opcode::MOV, REGISTERS, at(CONTEXT, abi::REGISTERS));
    }

    fn epilogue(&mut self, code: u32) {
        self.code
            .op(opcode::MOV_IMM32, &Operands::of(RAX, 0, Source::Register(0)).imm(code.into()));
        self.code.vzeroupper();
        self.op(opcode::LEA, RSP, at(RBP, -8 * KEPT.len() as i32));
        KEPT.iter().rev().for_each(|&register| self.code.pop(register));
        self.code.pop(RBP);
        self.code.ret();
    }

    fn block(&mut self, at: usize) {
        let (function, output) = (self.function, self.output);
        let number = self.order[at];
        let block = RaBlock::new(number);
        if self.is_loop(number) {
            self.code.align(32);
        }
        self.code.bind(self.labels[number]);
        for item in output.block_insts_and_edits(function, block) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.copy(*from, *to),
                InstOrEdit::Inst(inst) => {
                    let allocations = output.inst_allocs(inst);
                    self.inst(at, &function.insts[inst.index()], allocations);
                }
            }
        }
    }

    /// Returns whether a hot block begins a loop: the block itself or a later hot block leads to
    /// it.
    fn is_loop(&self, number: usize) -> bool {
        let blocks = &self.function.blocks;
        let comes_back = |from: &RaBlock| from.index() >= number && !blocks[from.index()].cold;
        !blocks[number].cold && blocks[number].predecessors.iter().any(comes_back)
    }

    fn inst(&mut self, block: usize, inst: &Inst, allocations: &[Allocation]) {
        let successors = &self.function.blocks[self.order[block]].successors;
        let next = self.order.get(block + 1).copied();
        match inst {
            Inst::Op(op) => self.machine_op(op, allocations),
            Inst::Entry { .. } => {}
            Inst::Call { helper, args } => self.call(*helper, args, allocations),
            Inst::Jump => {
                let to = self.end_of(successors[0].index());
                if next != Some(to) {
                    self.code.jump(self.labels[to]);
                }
            }
            Inst::Branch(condition) => {
                let [yes, no] = [0, 1].map(|which| self.end_of(successors[which].index()));
                if next == Some(yes) {
                    self.code.jump_if(condition.inverse(), self.labels[no]);
                    return;
                }
                self.code.jump_if(*condition, self.labels[yes]);
                if next != Some(no) {
                    self.code.jump(self.labels[no]);
                }
            }
            Inst::Return(code) => self.epilogue(*code),
        }
    }

    /// Returns the block where a jump to `block` ends, past blocks that only jump.
    fn end_of(&self, mut block: usize) -> usize {
        while let Some(next) = passes(self.function, self.output, block) {
            block = next;
        }
        block
    }

    fn slot(&self, allocation: Allocation) -> Source {
        at(RSP, allocation.index() as i32 * 8)
    }

    fn copy(&mut self, from: Allocation, to: Allocation) {
        if from == to {
            return;
        }
        let class = [from, to].into_iter().find_map(Allocation::as_reg).map(|reg| reg.class());
        let class = class.expect("the allocator moves nothing from memory to memory");
        let (load, store, copy) = match class {
            GENERAL => (opcode::MOV, opcode::MOV_STORE, opcode::MOV),
            VECTOR => (opcode::VMOVDQU64, opcode::VMOVDQU64_STORE, opcode::VMOVDQA64),
            _ => (opcode::KMOVQ, opcode::KMOVQ_STORE, opcode::KMOVQ),
        };
        match (from.kind(), to.kind()) {
            (AllocationKind::Stack, _) => self.op(load, number(to), self.slot(from)),
            (_, AllocationKind::Stack) => self.op(store, number(from), self.slot(to)),
            _ => self.op(copy, number(to), Source::Register(number(from))),
        }
    }

    fn machine_op(&mut self, op: &Op, allocations: &[Allocation]) {
        let mut allocations = allocations.iter().map(|&allocation| number(allocation));
        let mut next = || allocations.next().expect("each operand has a place");
        let mut place = |mem: &Mem| Address {
            base: match mem.base {
                Base::Reg(_) => next(),
                Base::Context => CONTEXT,
                Base::Registers => REGISTERS,
            },
            index: mem.index.map(|(_, scale)| (next(), scale)),
            displacement: mem.displacement,
        };
        let last = match &op.last {
            Rm::None => None,
            Rm::Memory(mem) => Some(Source::Memory(place(mem))),
            Rm::Reg(_) => Some(Source::Register(next())),
            Rm::Constant(bits) => Some(Source::Constant(*bits)),
            Rm::Vector(words) => Some(Source::Vector(*words)),
        };
        let first = op.first.map(|_| next());
        let mask = op.mask.map_or(0, |_| next());
        op.tied.map(|_| next());
        let result = op.result.map(|_| next());
        let one = |register: Option<u8>| register.unwrap_or(0);
        let (reg, vvvv, rm) = match op.opcode.form {
            Form::Reg => (one(result.or(first)), 0, last),
            Form::RegV => (one(result), one(first), last),
            Form::Rm => (one(first), 0, result.map(Source::Register).or(last)),
            Form::V => (one(result), 0, last),
            Form::Digit => (0, 0, result.map(Source::Register).or(last)),
            Form::InOpcode => (one(result), 0, Some(Source::Register(0))),
        };
        let rm = rm.expect("an instruction has a last operand");
        self.code.op(op.opcode, &Operands { reg, vvvv, rm, mask, zero: op.zero, imm: op.imm });
    }

    /// Calls a helper. Helpers preserve general registers; the stub preserves vectors and masks.
    fn call(&mut self, helper: u32, args: &[Arg], allocations: &[Allocation]) {
        let stub = *self.stub.get_or_insert_with(|| self.code.label());
        PUSHED.iter().for_each(|&register| self.code.push(register));
        let mut allocations = allocations.iter();
        self.code.push(CONTEXT);
        for arg in args {
            match arg {
                Arg::Reg(_) => {
                    self.code.push(number(*allocations.next().expect("each operand has a place")))
                }
                Arg::Number(number) => self.code.push_number(*number),
            }
        }
        ARGUMENTS[..=args.len()].iter().rev().for_each(|&register| self.code.pop(register));
        self.code.helper(RAX, helper);
        self.code.call(stub);
        PUSHED.iter().rev().for_each(|&register| self.code.pop(register));
    }

    /// Emits the stub, which calls RAX and saves vectors and masks in the frame.
    fn save_around_call(&mut self, stub: Label) {
        self.code.align(32);
        self.code.bind(stub);
        let area = self.spills + 8 * (PUSHED.len() as i32 + 1);
        let vector = |register: u8| at(RSP, area + 64 * i32::from(register));
        let mask = |register: u8| at(RSP, area + 32 * 64 + 8 * i32::from(register));
        (0..32).for_each(|register| self.op(opcode::VMOVDQU64_STORE, register, vector(register)));
        (1..8).for_each(|register| self.op(opcode::KMOVQ_STORE, register, mask(register)));
        self.code.vzeroupper();
        self.code.call_register(RAX);
        (0..32).for_each(|register| self.op(opcode::VMOVDQU64, register, vector(register)));
        (1..8).for_each(|register| self.op(opcode::KMOVQ, register, mask(register)));
        self.code.ret();
    }
}

/// Returns the target of a block that only jumps to another block.
fn passes(function: &Function, output: &Output, block: usize) -> Option<usize> {
    let mut items = output.block_insts_and_edits(function, RaBlock::new(block));
    let is_move =
        |item: &InstOrEdit| matches!(item, InstOrEdit::Edit(Edit::Move { from, to }) if from != to);
    let first = items.find(|item| is_move(item) || matches!(item, InstOrEdit::Inst(_)));
    match first {
        Some(InstOrEdit::Inst(inst)) if matches!(function.insts[inst.index()], Inst::Jump) => {
            // A block that jumps to itself is an endless loop.
            Some(function.blocks[block].successors[0].index()).filter(|&next| next != block)
        }
        _ => None,
    }
}

fn number(allocation: Allocation) -> u8 {
    let register = allocation.as_reg().expect("operands are in registers");
    register.hw_enc() as u8
}

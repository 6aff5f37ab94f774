//! A function of machine instructions: [`Body`] while it is made, [`Function`] as regalloc2 reads
//! it.

use regalloc2::{Block as RaBlock, Inst as RaInst, InstRange, Operand, PRegSet, RegClass, VReg};

use super::{Inst, Op, Reg, VECTOR};
use crate::asm::Condition;

/// A basic block of a [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block(pub u32);

#[derive(Default)]
pub(super) struct Content {
    pub insts: Vec<Inst>,
    params: Vec<Reg>,
    successors: Vec<(Block, Vec<Reg>)>,
    /// The code lies behind the hot blocks.
    pub cold: bool,
}

/// Instructions in blocks, in SSA form: each register is defined once, and blocks have parameters.
#[derive(Default)]
pub struct Body {
    pub(super) blocks: Vec<Content>,
    /// The order of the code, hot and cold blocks mixed, which the allocator keeps.
    pub(super) order: Vec<Block>,
    current: Option<Block>,
    registers: usize,
}

impl Body {
    pub fn reg(&mut self, class: RegClass) -> Reg {
        self.registers += 1;
        VReg::new(self.registers - 1, class)
    }

    /// Creates a block whose code comes where it is first filled.
    pub fn block(&mut self) -> Block {
        self.blocks.push(Content::default());
        Block(self.blocks.len() as u32 - 1)
    }

    /// Creates a block that is not expected to be reached.
    pub fn cold_block(&mut self) -> Block {
        let block = self.block();
        self.blocks[block.0 as usize].cold = true;
        block
    }

    pub fn param(&mut self, block: Block, class: RegClass) -> Reg {
        let reg = self.reg(class);
        self.blocks[block.0 as usize].params.push(reg);
        reg
    }

    /// Puts the instructions that follow into a block.
    pub fn switch_to(&mut self, block: Block) {
        debug_assert!(self.current.is_none(), "the last block has an end");
        self.order.push(block);
        self.current = Some(block);
    }

    pub fn push(&mut self, inst: Inst) {
        let current = self.current.expect("instructions are in a block");
        if inst.ends_block() {
            self.current = None;
        }
        self.blocks[current.0 as usize].insts.push(inst);
    }

    pub fn op(&mut self, op: Op) {
        self.push(Inst::Op(op));
    }

    pub fn jump(&mut self, to: Block, args: Vec<Reg>) {
        let current = self.current.expect("a jump is in a block");
        self.push(Inst::Jump);
        self.blocks[current.0 as usize].successors.push((to, args));
    }

    /// Goes to `yes` if the flags of the previous instruction satisfy the condition, else to `no`.
    pub fn branch(&mut self, condition: Condition, yes: (Block, Vec<Reg>), no: (Block, Vec<Reg>)) {
        let current = self.current.expect("a branch is in a block");
        self.push(Inst::Branch(condition));
        self.blocks[current.0 as usize].successors.extend([yes, no]);
    }

    /// Splits edges of blocks with several successors, if the target has several predecessors or
    /// the edge has arguments: moves for parameters have no other place.
    fn split_edges(&mut self) {
        let mut predecessors = vec![0; self.blocks.len()];
        for block in &self.blocks {
            block.successors.iter().for_each(|(to, _)| predecessors[to.0 as usize] += 1);
        }
        let mut order = Vec::with_capacity(self.order.len());
        for block in std::mem::take(&mut self.order) {
            order.push(block);
            if self.blocks[block.0 as usize].successors.len() < 2 {
                continue;
            }
            for at in 0..self.blocks[block.0 as usize].successors.len() {
                let (to, args) = self.blocks[block.0 as usize].successors[at].clone();
                if predecessors[to.0 as usize] > 1 || !args.is_empty() {
                    let cold =
                        self.blocks[block.0 as usize].cold || self.blocks[to.0 as usize].cold;
                    let edge = self.block();
                    let content = &mut self.blocks[edge.0 as usize];
                    (content.cold, content.insts) = (cold, vec![Inst::Jump]);
                    content.successors = vec![(to, args)];
                    self.blocks[block.0 as usize].successors[at] = (edge, Vec::new());
                    order.push(edge);
                }
            }
        }
        self.order = order;
    }

    /// Returns the function as the allocator reads it, without unreachable blocks.
    pub fn finish(mut self) -> Function {
        debug_assert!(self.current.is_none(), "the last block has an end");
        self.split_edges();
        let mut reached = vec![false; self.blocks.len()];
        let mut next = vec![self.order[0]];
        while let Some(block) = next.pop() {
            if !std::mem::replace(&mut reached[block.0 as usize], true) {
                next.extend(self.blocks[block.0 as usize].successors.iter().map(|(to, _)| *to));
            }
        }
        self.order.retain(|block| reached[block.0 as usize]);
        let mut numbers = vec![usize::MAX; self.blocks.len()];
        for (number, block) in self.order.iter().enumerate() {
            numbers[block.0 as usize] = number;
        }
        let mut function = Function { registers: self.registers, ..Function::default() };
        let mut contents: Vec<Option<Content>> = self.blocks.into_iter().map(Some).collect();
        for block in &self.order {
            let content = contents[block.0 as usize].take().expect("a block is filled once");
            let first = function.insts.len();
            for inst in content.insts {
                function.operand_ends.push(function.operands.len() as u32);
                inst.operands(&mut function.operands);
                function.insts.push(inst);
            }
            let successors =
                content.successors.iter().map(|(to, _)| RaBlock::new(numbers[to.0 as usize]));
            function.blocks.push(FunctionBlock {
                range: InstRange::new(RaInst::new(first), RaInst::new(function.insts.len())),
                params: content.params,
                successors: successors.collect(),
                args: content.successors.into_iter().map(|(_, args)| args).collect(),
                predecessors: Vec::new(),
                cold: content.cold,
            });
        }
        function.operand_ends.push(function.operands.len() as u32);
        for number in 0..function.blocks.len() {
            for to in function.blocks[number].successors.clone() {
                function.blocks[to.index()].predecessors.push(RaBlock::new(number));
            }
        }
        function
    }
}

#[derive(Debug)]
pub(super) struct FunctionBlock {
    pub range: InstRange,
    params: Vec<Reg>,
    pub successors: Vec<RaBlock>,
    args: Vec<Vec<Reg>>,
    pub predecessors: Vec<RaBlock>,
    pub cold: bool,
}

/// A finished [`Body`].
#[derive(Debug, Default)]
pub struct Function {
    pub(super) insts: Vec<Inst>,
    pub(super) blocks: Vec<FunctionBlock>,
    operands: Vec<Operand>,
    /// The index where each instruction's operands begin, and finally the end of the last operands.
    operand_ends: Vec<u32>,
    registers: usize,
}

impl regalloc2::Function for Function {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> RaBlock {
        RaBlock::new(0)
    }

    fn block_insns(&self, block: RaBlock) -> InstRange {
        self.blocks[block.index()].range
    }

    fn block_succs(&self, block: RaBlock) -> &[RaBlock] {
        &self.blocks[block.index()].successors
    }

    fn block_preds(&self, block: RaBlock) -> &[RaBlock] {
        &self.blocks[block.index()].predecessors
    }

    fn block_params(&self, block: RaBlock) -> &[VReg] {
        &self.blocks[block.index()].params
    }

    fn is_ret(&self, inst: RaInst) -> bool {
        matches!(self.insts[inst.index()], Inst::Return(_))
    }

    fn is_branch(&self, inst: RaInst) -> bool {
        matches!(self.insts[inst.index()], Inst::Jump | Inst::Branch(_))
    }

    fn branch_blockparams(&self, block: RaBlock, _: RaInst, successor: usize) -> &[VReg] {
        &self.blocks[block.index()].args[successor]
    }

    fn inst_operands(&self, inst: RaInst) -> &[Operand] {
        let (start, end) = (self.operand_ends[inst.index()], self.operand_ends[inst.index() + 1]);
        &self.operands[start as usize..end as usize]
    }

    fn inst_clobbers(&self, _: RaInst) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.registers
    }

    /// The size of a spill slot in words of 8 bytes.
    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == VECTOR { 8 } else { 1 }
    }
}

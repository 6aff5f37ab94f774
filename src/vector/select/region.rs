//! The function of a region, which is entered by the number of a block, as Cranelift's code is.

use std::collections::HashMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use warploom_engine::Prepared;
use warploom_engine::descriptions::Sites;
use warploom_ir::{Block as IrBlock, BlockId, Defs, Function, Op, Type, Value, ValueType, Window};

use super::PIECE;
use super::bits::bits_used;
use super::values::{Forms, lane_masks};
use crate::asm::Condition;
use crate::machine::{Block, Body, GENERAL, Inst, Reg};

/// Facts about a block that are known before its code is made.
pub struct BlockFacts<'p> {
    pub id: BlockId,
    pub block: &'p IrBlock,
    pub defs: Defs,
    /// The number of uses of each value.
    pub uses: SecondaryMap<Value, u32>,
    /// Float values whose bits can be told apart, so that their NaNs must be canonical.
    pub bits_used: SecondaryMap<Value, bool>,
    /// Masks that are made lane by lane.
    pub lane_masks: SecondaryMap<Value, bool>,
    /// Masks of a loop, with simpler masks that are equal.
    pub equal_masks: HashMap<Value, Value>,
}

impl<'p> BlockFacts<'p> {
    fn of(prepared: &'p Prepared, id: BlockId) -> BlockFacts<'p> {
        let block = prepared.function().block(id);
        let mut uses: SecondaryMap<Value, u32> = warploom_ir::table(block.values.len(), 0);
        block.insts.iter().for_each(|inst| inst.op.for_each_operand(|v| uses[v] += 1));
        block.term.for_each_operand(|v| uses[v] += 1);
        let lane_masks = lane_masks(block, |_| false);
        let equal_masks = HashMap::new();
        BlockFacts {
            id,
            block,
            defs: block.defs(),
            uses,
            bits_used: bits_used(block),
            lane_masks,
            equal_masks,
        }
    }

    pub fn ty(&self, v: Value) -> Type {
        self.block.ty(v).ty
    }

    pub fn op(&self, v: Value) -> &'p Op {
        &self.block.insts[self.defs[v].0].op
    }
}

/// The state of the code generator for a region.
pub struct Selector<'p> {
    pub prepared: &'p Prepared,
    pub body: Body,
    pub facts: BlockFacts<'p>,
    /// The pieces for which code is being made.
    pub group: Range<usize>,
    /// The forms that each value of the block has so far.
    pub forms: Forms,
    /// Constant vectors, by their bits and whether their lanes have 64 bits.
    pub constants: FxHashMap<(u64, bool), Reg>,
    /// The start of each block's code.
    pub entries: FxHashMap<BlockId, Block>,
    pub sites: Sites,
    /// Blocks that return a number, created when they are first needed.
    pub returns: FxHashMap<u32, Block>,
}

/// Selects the code of a region whose operations are all supported. Returns it with the sites of
/// its calls of helpers.
pub fn select(prepared: &Prepared, blocks: &[BlockId]) -> (Body, Sites) {
    let mut body = Body::default();
    let entry = body.block();
    body.switch_to(entry);
    let number = body.reg(GENERAL);
    body.push(Inst::Entry { number });
    let entries: FxHashMap<BlockId, Block> = blocks.iter().map(|&id| (id, body.block())).collect();
    let mut selector = Selector {
        prepared,
        body,
        facts: BlockFacts::of(prepared, blocks[0]),
        group: 0..usize::from(prepared.function().lanes) / PIECE,
        forms: Forms::default(),
        constants: FxHashMap::default(),
        entries,
        sites: Sites::default(),
        returns: FxHashMap::default(),
    };
    selector.go_to_number(number, blocks);
    for &id in blocks {
        selector.begin(id);
        selector.block();
    }
    selector.finish_returns();
    (selector.body, selector.sites)
}

impl<'p> Selector<'p> {
    /// Goes to the block with a number, which must be a block of the region.
    fn go_to_number(&mut self, number: Reg, blocks: &[BlockId]) {
        let Some((last, others)) = blocks.split_last() else { return };
        for id in others {
            let (to, next) = (self.entries[id], self.body.block());
            self.cmp_imm(number, id.0.into());
            self.body.branch(Condition::Equal, (to, Vec::new()), (next, Vec::new()));
            self.body.switch_to(next);
        }
        self.body.jump(self.entries[last], Vec::new());
    }

    fn begin(&mut self, id: BlockId) {
        self.facts = BlockFacts::of(self.prepared, id);
        self.forms = Forms::new(self.facts.block.values.len());
        self.constants.clear();
        self.body.switch_to(self.entries[&id]);
    }

    pub fn function(&self) -> &'p Function {
        self.prepared.function()
    }

    /// The number of pieces of a varying value.
    pub fn pieces(&self) -> usize {
        usize::from(self.function().lanes) / PIECE
    }

    /// The mask of all lanes of the warp.
    pub fn warp_mask(&self) -> u64 {
        Window::all(self.function().lanes).mask()
    }

    pub fn ty(&self, v: Value) -> Type {
        self.facts.ty(v)
    }

    pub fn value_type(&self, v: Value) -> ValueType {
        self.facts.block.ty(v)
    }
}

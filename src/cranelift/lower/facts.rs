//! What is known of a block before code is made for it.

use cranelift_entity::{EntitySet, SecondaryMap};
use warploom_analysis::{CHUNK, Liveness, Masks};
use warploom_engine::plan::BlockPlan;
use warploom_engine::{Effort, Prepared};
use warploom_ir::layout::RegLayout;
use warploom_ir::{Block, BlockId, Function, Inst, Op, Type, Value, Window, table};

use super::arms::{SkippedArms, skipped_arms};

/// A block, and what analysis and the plan say of it. Nothing of this changes while the block is lowered.
pub struct BlockFacts<'r> {
    pub function: &'r Function,
    pub layout: &'r RegLayout,
    pub liveness: &'r Liveness,
    pub id: BlockId,
    pub block: &'r Block,
    pub planned: &'r BlockPlan,
    /// How often each value is used.
    pub uses: SecondaryMap<Value, u32>,
    /// Values that are made before the values of long chains that come from them.
    pub stations: EntitySet<Value>,
    /// What only skipped arms of choices need.
    pub skipped: SkippedArms,
    /// The active mask at the block's end, if it is known.
    pub exit_mask: Option<Value>,
    /// Steps that skip chunks without active lanes.
    pub inactive: Vec<Option<Value>>,
    /// How many steps may be done again by careful code.
    pub repeatable: Option<usize>,
}

impl<'r> BlockFacts<'r> {
    pub(super) fn of(
        prepared: &'r Prepared,
        id: BlockId,
        planned: &'r BlockPlan,
        effort: Effort,
    ) -> Self {
        let (function, block) = (prepared.function(), prepared.function().block(id));
        let mut facts = BlockFacts {
            function,
            layout: prepared.layout(),
            liveness: prepared.liveness(),
            id,
            block,
            planned,
            stations: EntitySet::new(),
            skipped: SkippedArms::default(),
            uses: uses(block),
            exit_mask: block.exit_mask(function.active),
            inactive: Vec::new(),
            repeatable: None,
        };
        if effort.is_fast() {
            facts.skipped = skipped_arms(block, planned, |v| facts.uses[v]);
        }
        facts.stations = facts.stations();
        facts.inactive = facts.inactive_steps();
        facts.repeatable = facts.repeatable_steps(effort);
        facts
    }

    pub(super) fn ty(&self, v: Value) -> Type {
        self.block.ty(v).ty
    }

    pub(super) fn def(&self, v: Value) -> &'r Inst {
        &self.block.insts[self.planned.defs[v].0]
    }

    pub(super) fn def_op(&self, v: Value) -> &'r Op {
        &self.def(v).op
    }

    pub(super) fn constant(&self, v: Value) -> Option<u64> {
        match self.def_op(v) {
            Op::Const { bits, .. } => Some(*bits),
            Op::Splat { a } => self.constant(*a),
            _ => None,
        }
    }

    pub(super) fn masks(&self) -> Masks<'r> {
        Masks::of(self.function.lanes, &self.block.insts, &self.planned.defs)
    }

    pub(super) fn chunk_count(&self) -> i64 {
        i64::from(u32::from(self.function.lanes).div_ceil(CHUNK))
    }

    /// All lanes of the warp as a mask.
    pub(super) fn warp_mask(&self) -> u64 {
        Window::all(self.function.lanes).mask()
    }

    /// The active mask as the block reads it at entry.
    pub(super) fn entry_mask(&self) -> Option<Value> {
        self.block.entry_mask(self.function.active)
    }
}

/// How often each value of a block is used.
fn uses(block: &Block) -> SecondaryMap<Value, u32> {
    let mut uses = table(block.values.len(), 0);
    let mut note = |v: Value| uses[v] += 1;
    block.insts.iter().for_each(|inst| inst.op.for_each_operand(&mut note));
    block.term.for_each_operand(note);
    uses
}

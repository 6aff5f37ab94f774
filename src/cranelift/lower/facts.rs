//! The facts that are known of a block before code is made for it.

use cranelift_entity::{EntitySet, SecondaryMap};
use warploom_analysis::{Liveness, Masks};
use warploom_engine::plan::BlockPlan;
use warploom_engine::{Effort, Prepared};
use warploom_ir::layout::RegLayout;
use warploom_ir::{Block, BlockId, Function, Inst, Op, Type, Value, Window, table};

use super::arms::{SkippedArms, skipped_arms};
use crate::CHUNK;

/// A block, and the facts that analysis and the plan give of it. These facts do not change while
/// the block is lowered.
pub struct BlockFacts<'r> {
    pub function: &'r Function,
    pub layout: &'r RegLayout,
    pub liveness: &'r Liveness,
    pub id: BlockId,
    pub block: &'r Block,
    pub planned: &'r BlockPlan,
    /// The number of uses of each value.
    pub uses: SecondaryMap<Value, u32>,
    /// Values that are made before the values of long chains that come from them.
    pub stations: EntitySet<Value>,
    /// The values that only skipped arms of choices need.
    pub skipped: SkippedArms,
    /// The active mask at the block's end, if it is known.
    pub exit_mask: Option<Value>,
    /// For each step, the mask without whose lanes a chunk is skipped, if there is one.
    pub inactive: Vec<Option<Value>>,
    /// The number of steps that careful code may do again.
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

    /// Returns all lanes of the warp as a mask.
    pub(super) fn warp_mask(&self) -> u64 {
        Window::all(self.function.lanes).mask()
    }

    /// Returns the active mask as the block reads it at entry.
    pub(super) fn entry_mask(&self) -> Option<Value> {
        self.block.entry_mask(self.function.active)
    }
}

/// Returns the number of uses of each value of a block.
fn uses(block: &Block) -> SecondaryMap<Value, u32> {
    let mut uses = table(block.values.len(), 0);
    let mut note = |v: Value| uses[v] += 1;
    block.insts.iter().for_each(|inst| inst.op.for_each_operand(&mut note));
    block.term.for_each_operand(note);
    uses
}

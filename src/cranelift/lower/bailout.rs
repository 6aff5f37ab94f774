//! Restarts blocks in careful code if conditions of a group that code relies on do not hold.

use std::collections::HashSet;

use cranelift_codegen::ir::{BlockArg, InstBuilder, types};
use warploom_analysis::Step;
use warploom_engine::Effort;
use warploom_ir::{Op, Reg};

use super::block::BlockLowerer;
use super::facts::BlockFacts;

impl BlockFacts<'_> {
    /// Returns how many of the block's steps, from the first on, careful code may do once more: the
    /// block reads nothing that they write. Returns `None` if this code does not rely on likely
    /// conditions.
    pub(super) fn repeatable_steps(&self, effort: Effort) -> Option<usize> {
        if effort != Effort::Likely {
            return None;
        }
        let mut read: HashSet<Reg> = HashSet::from([self.function.active]);
        for inst in &self.block.insts {
            match inst.op {
                Op::RfRead { reg, .. } => {
                    read.insert(reg);
                }
                Op::RfGather { bank, first, count, .. } => {
                    read.extend((first..first + count).map(|index| bank.reg(index)));
                }
                _ => {}
            }
        }
        let repeatable = |op: &Op| match *op {
            Op::RfWrite { reg, .. } => !read.contains(&reg),
            Op::RfScatter { bank, first, count, .. } => {
                (first..first + count).all(|index| !read.contains(&bank.reg(index)))
            }
            _ => op.traits().repeatable,
        };
        let lasts = |step: &Step| {
            !step.insts().iter().all(|&index| repeatable(&self.block.insts[index].op))
        };
        let steps = &self.planned.plan.steps;
        Some(steps.iter().position(lasts).unwrap_or(steps.len()))
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Has careful code do the block from its beginning.
    pub(super) fn leave_to_careful_code(&mut self) {
        let number = self.b.ins().iconst(types::I32, i64::from(self.facts.id.0));
        let cost = self.b.ins().iconst(types::I64, i64::from(self.facts.block.cost));
        let careful = self.region.exits.careful(self.b);
        self.b.ins().jump(careful, &[BlockArg::Value(number), BlockArg::Value(cost)]);
    }
}

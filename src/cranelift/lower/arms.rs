//! Skips work that only few lanes need, in chunks where no lane needs it: an arm of a choice, or a
//! further condition of a mask.
//!
//! Analysis makes choices between an operation of the host and long steps that few operands need
//! (see `analysis/exact.rs`). Guest code has some, too.

use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Value as Clif, types};
use rustc_hash::FxHashMap;
use warploom_analysis::Class;
use warploom_engine::plan::BlockPlan;
use warploom_ir::{
    BinaryOp, Block, Defs, FloatBinaryOp, FloatUnaryOp, IntCc, Op, Type, Value, ValueType,
};

use super::block::BlockLowerer;
use super::masks::mask_form;
use crate::forms::{Lanes, MaskForm, clif_type};

/// The amount of work that is worth a test: about one unit for each vector operation of the host.
const WORTH_A_TEST: u32 = 12;
/// The most values of an arm that are examined.
const MOST_VALUES: usize = 48;

/// For each value that only a skipped arm or condition needs, the instruction that chooses.
pub(super) type SkippedArms = FxHashMap<Value, usize>;

/// Returns the arms of a block's choices, and the conditions of its masks, that are worth skipping.
pub(super) fn skipped_arms(
    block: &Block,
    planned: &BlockPlan,
    uses: impl Fn(Value) -> u32,
) -> SkippedArms {
    let defs = &planned.defs;
    let mut skipped = SkippedArms::default();
    for (index, inst) in block.insts.iter().enumerate() {
        let is_rare = |mask: Value| is_range_test(block, defs, mask);
        let arm = match inst.op {
            Op::Select { mask, a, .. } if is_rare(mask) => a,
            Op::Binary { op: BinaryOp::And, a, b }
                if block.ty(inst.results[0]) == ValueType::MASK =>
            {
                match (is_rare(a), is_rare(b)) {
                    (true, false) => b,
                    (false, true) => a,
                    _ => continue,
                }
            }
            _ => continue,
        };
        // A value that an earlier step made is already there.
        let step = planned.plan.home[inst.results[0]];
        let own = own_values(block, defs, &uses, arm, |v| planned.plan.home[v] == step);
        if own.iter().map(|&v| work(&block.insts[defs[v].0].op)).sum::<u32>() >= WORTH_A_TEST {
            skipped.extend(own.into_iter().map(|v| (v, index)));
        }
    }
    skipped
}

/// Returns whether a mask tells which numbers lie outside a range. Code treats these numbers apart,
/// and mostly there are none.
fn is_range_test(block: &Block, defs: &Defs, mask: Value) -> bool {
    let op = |v: Value| &block.insts[defs[v].0].op;
    matches!(*op(mask), Op::ICmp { cc: IntCc::GtU | IntCc::GeU, b, .. } if matches!(op(b), Op::Const { .. }))
}

/// Returns the lane values that only an arm needs.
fn own_values(
    block: &Block,
    defs: &Defs,
    uses: &impl Fn(Value) -> u32,
    arm: Value,
    is_in_step: impl Fn(Value) -> bool,
) -> Vec<Value> {
    // Each value with its uses in the arm. Operands are defined before their users, so the value
    // that is defined last comes first.
    let mut seen: Vec<(Value, u32)> = vec![(arm, 1)];
    let mut own = Vec::new();
    while let Some(last) = (0..seen.len()).max_by_key(|&at| defs[seen[at].0].0) {
        let (v, count) = seen.swap_remove(last);
        let (inst, _) = defs[v];
        let op = &block.insts[inst].op;
        let of_lanes = block.ty(v) == ValueType::MASK || !block.ty(v).is_uniform();
        if count < uses(v)
            || !of_lanes
            || !is_skippable(op)
            || !is_in_step(v)
            || own.len() == MOST_VALUES
        {
            continue;
        }
        own.push(v);
        op.for_each_operand(|operand| match seen.iter_mut().find(|(v, _)| *v == operand) {
            Some((_, count)) => *count += 1,
            None => seen.push((operand, 1)),
        });
    }
    own
}

/// Returns whether a lane-wise operation can be made later than where it stands.
fn is_skippable(op: &Op) -> bool {
    let is_at_hand = matches!(
        op,
        Op::Const { .. }
            | Op::LaneId
            | Op::Special(_)
            | Op::Splat { .. }
            | Op::Unpack { .. }
            | Op::Pack { .. }
    );
    let traits = op.traits();
    traits.lane_wise && !traits.masks_by_lane && !is_at_hand
}

fn work(op: &Op) -> u32 {
    match op {
        Op::Shared { .. } => 12,
        Op::FUnary { op: FloatUnaryOp::Sqrt, .. } | Op::FBinary { op: FloatBinaryOp::Div, .. } => 6,
        Op::Convert { .. } => 0,
        _ => 1,
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers a choice between `a` and `b` that makes `a` only if a lane takes it. Returns `None`
    /// if both are always made.
    pub(super) fn skipping_an_arm(
        &mut self,
        mask: Value,
        a: Value,
        b: Value,
        to: Type,
    ) -> Option<Lanes> {
        let choice = *self.facts.skipped.get(&a)?;
        if self.chunk().lanes.contains_key(&a) {
            return None;
        }
        self.have_operands(choice);
        let usual = self.lanes(b);
        Some(self.where_any_lane(mask, &usual, clif_type(to, true), |lowerer| {
            let made = lowerer.lanes(a);
            lowerer.merge(mask, &made, &usual, to)
        }))
    }

    /// Lowers the conjunction of two conditions, of which one is made only if a lane has the other.
    pub(super) fn skipping_a_condition(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
    ) -> Option<MaskForm> {
        if op != BinaryOp::And {
            return None;
        }
        let found =
            [(a, b), (b, a)].into_iter().find(|(_, more)| self.facts.skipped.contains_key(more));
        let (first, more) = found.filter(|(_, more)| !self.chunk().masks.contains_key(more))?;
        self.have_operands(self.facts.skipped[&more]);
        let words = self.mask_words(first);
        let both = self.where_any_lane(first, &words, types::I32X4, |lowerer| {
            let more = lowerer.mask_words(more);
            words.iter().zip(more).map(|(&word, more)| lowerer.b.ins().band(word, more)).collect()
        });
        Some(mask_form(both))
    }

    /// Returns `usual`, or if a mask has a lane, the result of `make`, which is lowered in a cold
    /// block.
    fn where_any_lane(
        &mut self,
        mask: Value,
        usual: &[Clif],
        ty: clif::Type,
        make: impl FnOnce(&mut Self) -> Lanes,
    ) -> Lanes {
        let [low, high] = self.mask_words(mask);
        let any = self.b.ins().bor(low, high);
        let any = self.b.ins().vany_true(any);
        let (apart, done) = (self.cold_block(), self.b.create_block());
        let results = usual.iter().map(|_| self.b.append_block_param(done, ty)).collect();
        let args = |lanes: &[Clif]| lanes.iter().map(|&v| BlockArg::Value(v)).collect::<Vec<_>>();
        self.b.ins().brif(any, apart, &[], done, &args(usual));
        self.b.switch_to_block(apart);
        let made = self.on_one_way(|lowerer| lowerer.on_one_scalar_way(make));
        self.b.ins().jump(done, &args(&made));
        self.b.switch_to_block(done);
        results
    }

    /// Returns the instruction of the step being lowered that chooses whether a value is made, if
    /// there is one.
    pub(super) fn choice_of_skipped(&self, v: Value) -> Option<usize> {
        let choice = *self.facts.skipped.get(&v)?;
        self.is_home(self.facts.block.insts[choice].results[0]).then_some(choice)
    }

    /// Makes the operands of skipped values, except other skipped values: an operand that is first
    /// made under a condition would not be known everywhere.
    fn have_operands(&mut self, choice: usize) {
        let skipped = &self.facts.skipped;
        let own = skipped.iter().filter(|&(_, &of)| of == choice).map(|(&v, _)| v);
        let mut operands: Vec<Value> = own.flat_map(|v| self.facts.def_op(v).operands()).collect();
        operands.retain(|v| !skipped.contains_key(v));
        operands.sort_unstable();
        operands.dedup();
        for v in operands {
            if self.facts.block.ty(v) == ValueType::MASK {
                self.mask_words(v);
            } else if self.scope.classes.get(v) != Class::Uniform {
                self.lanes(v);
            } else if self.facts.constant(v).is_none() {
                self.scalar(v);
            }
        }
    }
}

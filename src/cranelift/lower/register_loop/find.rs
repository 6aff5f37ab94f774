//! Finds the blocks that are loops in registers, and the parts of each such loop.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use warploom_analysis::Step;
use warploom_engine::exit_masks::{ExitMasks, Rounds};
use warploom_ir::{BinaryOp, CellKind, ConvertOp, Op, Reg, Terminator, Type, UnaryOp, Value};

use super::super::block::BlockLowerer;
use super::super::orders::NoRegisterLoop;
use super::RegisterLoop;

impl BlockLowerer<'_, '_, '_> {
    /// Returns the block as a loop in registers.
    ///
    /// # Errors
    /// The block is not such a loop.
    pub(in super::super) fn register_loop(&self) -> Result<RegisterLoop, NoRegisterLoop> {
        let this = self.facts.id;
        let (cond, otherwise) = match self.facts.block.term {
            Terminator::Branch { cond, then, otherwise } if then == this && otherwise != this => {
                (cond, otherwise)
            }
            ref term => {
                let mut returns = false;
                term.for_each_target(|to| returns |= to == this);
                return Err(match returns {
                    true => "its end is no branch that goes back or leaves",
                    false => "the loop has several blocks",
                }
                .into());
            }
        };
        if this.0 == 0 {
            return Err("it is the first block of the function".into());
        }
        if self.facts.block.cost == 0 {
            return Err("its rounds count no instructions".into());
        }
        let mut body = None;
        let mut lanes = BTreeMap::new();
        let mut masks = BTreeMap::new();
        for step in &self.facts.planned.plan.steps {
            match step {
                Step::Segment(insts) if body.is_none() => body = Some(insts.clone()),
                Step::Segment(insts) => {
                    return Err(NoRegisterLoop::at(insts[0], "a second segment begins"));
                }
                Step::Scalar(_) => {}
                Step::Warp(inst) => {
                    return Err(NoRegisterLoop::at(*inst, "an operation is for the whole warp"));
                }
                Step::Interpret(inst) => {
                    return Err(NoRegisterLoop::at(*inst, "a helper does an operation"));
                }
            }
        }
        let body = body.ok_or("no operation is lane-wise")?;
        let active = self.facts.entry_mask().ok_or("it does not read the active mask")?;
        let mut loads = 0;
        for (index, inst) in self.facts.block.insts.iter().enumerate() {
            let refused = |reason| Err(NoRegisterLoop::at(index, reason));
            match inst.op {
                Op::RfWrite { reg, value, guard, .. } => {
                    match self.facts.function.bank(reg.bank).kind {
                        CellKind::Lane(_) => {
                            if !guard
                                .is_some_and(|guard| self.facts.masks().is_subset(guard, active))
                            {
                                return refused("a register changes in inactive lanes");
                            }
                            lanes.insert(reg, (value, guard));
                        }
                        CellKind::Mask => {
                            masks.insert(reg, value);
                        }
                        _ => return refused("a uniform register changes"),
                    }
                }
                Op::Load { access, .. } => {
                    loads += usize::from(!self.facts.block.ty(access.address).is_uniform())
                }
                Op::RfGather { .. } | Op::RfScatter { .. } => {
                    return refused("a register is found by its number");
                }
                ref op if op.traits().reads_clock => return refused("a clock is read"),
                ref op if op.traits().effect => return refused("an operation has an effect"),
                _ => {}
            }
        }
        let next_active =
            *masks.get(&self.facts.function.active).ok_or("it does not change the active mask")?;
        if next_active != cond {
            return Err("it goes on by another condition than its active lanes".into());
        }
        if !self.facts.masks().is_subset(next_active, active) {
            return Err("lanes become active".into());
        }
        if !masks.iter().all(|(&reg, &value)| self.keeps_inactive_lanes(reg, value, active)) {
            return Err("a mask register changes in inactive lanes".into());
        }
        let carried_scalars = self.carried_scalars(&masks, &body)?;
        let raw = self.raw_floats(&lanes);
        let exit_masks = ExitMasks::default();
        let mut register_loop = RegisterLoop {
            body,
            loads,
            exit: otherwise,
            active,
            next_active,
            lanes,
            masks,
            exit_masks,
            carried_scalars,
            raw,
        };
        if self.region.effort.is_fast() {
            let active = (self.facts.function.active, active, next_active);
            let (block, defs, warp_mask) =
                (self.facts.block, &self.facts.planned.defs, self.facts.warp_mask());
            let rounds = Rounds { block, defs, warp_mask, active };
            register_loop.exit_masks = rounds.exit_masks(&register_loop.masks);
        }
        if loads > 0 {
            register_loop.raw.retain(|reg| register_loop.lanes[reg].1 == Some(active));
            if self.counted(&register_loop).is_none() {
                register_loop.exit_masks = ExitMasks::default();
            }
            if !self.is_scalarized(&register_loop) {
                return Err("loads differ by lane, and lanes do not run one by one".into());
            }
        }
        Ok(register_loop)
    }

    /// Whether a mask register keeps its bits in inactive lanes.
    fn keeps_inactive_lanes(&self, reg: Reg, value: Value, active: Value) -> bool {
        let is_active = |mask: Value| self.facts.masks().is_subset(mask, active);
        (reg == self.facts.function.active && is_active(value))
            || self.differs_in_active_lanes(value, reg, active)
    }

    /// Whether a mask differs from the register's value at entry in active lanes only.
    fn differs_in_active_lanes(&self, mut mask: Value, reg: Reg, active: Value) -> bool {
        let is_active = |v: Value| self.facts.masks().is_subset(v, active);
        let has_all_inactive = |v: Value| match *self.facts.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => is_active(a),
            _ => false,
        };
        loop {
            // The walk follows one operand at most, so it takes at most as many steps as the block
            // is long.
            mask = match *self.facts.def_op(mask) {
                Op::RfRead { reg: read, .. } => return read == reg,
                Op::Binary { op: BinaryOp::And, a, b } if has_all_inactive(b) => a,
                Op::Binary { op: BinaryOp::And, a, b } if has_all_inactive(a) => b,
                Op::Binary { op: BinaryOp::Or, a, b } if is_active(b) => a,
                Op::Binary { op: BinaryOp::Or, a, b } if is_active(a) => b,
                _ => return false,
            };
        }
    }

    /// Returns the scalar instructions' results that depend on carried masks or on the segment. The
    /// chunk computes them.
    ///
    /// # Errors
    /// One of these instructions is not lane-wise.
    fn carried_scalars(
        &self,
        masks: &BTreeMap<Reg, Value>,
        body: &[usize],
    ) -> Result<HashSet<Value>, NoRegisterLoop> {
        let mut carried = HashSet::new();
        let made: HashSet<Value> = body
            .iter()
            .flat_map(|&index| &self.facts.block.insts[index].results)
            .copied()
            .collect();
        for step in &self.facts.planned.plan.steps {
            let Step::Scalar(index) = step else { continue };
            let inst = &self.facts.block.insts[*index];
            let depends =
                inst.op.operands().iter().any(|v| carried.contains(v) || made.contains(v));
            match inst.op {
                Op::RfRead { reg, .. } if masks.contains_key(&reg) => {
                    carried.insert(inst.results[0]);
                }
                Op::RfWrite { .. } => {}
                Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, .. }
                | Op::Unary { op: UnaryOp::Not, .. }
                    if depends =>
                {
                    carried.insert(inst.results[0]);
                }
                _ if depends => {
                    return Err(NoRegisterLoop::at(*index, "a scalar depends on the lanes"));
                }
                _ => {}
            }
        }
        Ok(carried)
    }

    /// Returns the registers that the loop uses only as floats and writes with results of float
    /// operations.
    fn raw_floats(&self, lanes: &BTreeMap<Reg, (Value, Option<Value>)>) -> BTreeSet<Reg> {
        let float_of = |v: Value| match *self.facts.def_op(v) {
            Op::Convert { op: ConvertOp::Bitcast, a, .. } if self.facts.ty(a) == Type::F32 => {
                Some(a)
            }
            _ => None,
        };
        let arithmetic = |v: Value| {
            matches!(self.facts.def_op(v), Op::FBinary { .. } | Op::Fma { .. } | Op::FUnary { .. })
        };
        lanes
            .iter()
            .filter(|&(&reg, &(value, _))| {
                let Some(float) = float_of(value) else { return false };
                let read = self
                    .facts
                    .block
                    .insts
                    .iter()
                    .find(|inst| matches!(inst.op, Op::RfRead { reg: r, .. } if r == reg));
                let uses_are_float = |v: Value| {
                    self.facts.block.insts.iter().all(|inst| {
                        !inst.op.operands().contains(&v)
                            || match inst.op {
                                Op::Convert { op: ConvertOp::Bitcast, to: Type::F32, .. } => {
                                    !self.facts.planned.bits_used[inst.results[0]]
                                }
                                _ => false,
                            }
                    })
                };
                // Only this one write may use the integer value.
                let mut seen = 0;
                for inst in &self.facts.block.insts {
                    seen += inst.op.operands().iter().filter(|&&v| v == value).count();
                }
                let casts = self
                    .facts
                    .block
                    .insts
                    .iter()
                    .filter(|inst| {
                        inst.op.operands().contains(&float)
                            && matches!(inst.op, Op::Convert { op: ConvertOp::Bitcast, .. })
                    })
                    .count();
                arithmetic(float)
                    && seen == 1
                    && casts == 1
                    && read.is_none_or(|inst| uses_are_float(inst.results[0]))
            })
            .map(|(&reg, _)| reg)
            .collect()
    }
}

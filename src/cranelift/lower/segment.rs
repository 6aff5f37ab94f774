//! A segment: the loop over its chunks, its work in each, and the masks that it makes for later
//! steps.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_ir::{BinaryOp, Op, Reg, UnaryOp, Value, ValueType};

use super::block::BlockLowerer;
use super::orders::Order;

/// A mask that a segment computes for later steps.
pub(super) struct Outgoing {
    pub value: Value,
    /// The mask's bits in chunks that are skipped.
    pub outside: Clif,
    holds: Holds,
}

/// The state of a mask in chunks that are not skipped, where its bits of [`Outgoing::outside`] are
/// set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    /// The mask is set, and only there: it depends on no compare of lanes.
    Same,
    /// The mask is set.
    There,
    Perhaps,
}

impl BlockLowerer<'_, '_, '_> {
    pub(super) fn segment(&mut self, insts: &[usize]) {
        let outgoing = self.outgoing(insts);
        let masks = match self.few_lanes(insts) {
            None => self.chunk_by_chunk(insts, &outgoing),
            Some((active, most)) => {
                self.note(self.scope.steps.clone(), Order::FewLanes(most));
                let few = self.are_few(active, most);
                let [apart, together, done] = [(); 3].map(|()| self.b.create_block());
                self.b.ins().brif(few, apart, &[], together, &[]);
                self.b.switch_to_block(apart);
                let masks = self.on_one_scalar_way(|lowerer| {
                    lowerer.lanes_one_by_one(insts, &outgoing, active)
                });
                self.b
                    .ins()
                    .jump(done, &masks.into_iter().map(BlockArg::Value).collect::<Vec<_>>());
                self.b.switch_to_block(together);
                let masks =
                    self.on_one_scalar_way(|lowerer| lowerer.chunk_by_chunk(insts, &outgoing));
                self.b
                    .ins()
                    .jump(done, &masks.into_iter().map(BlockArg::Value).collect::<Vec<_>>());
                self.b.switch_to_block(done);
                outgoing.iter().map(|_| self.b.append_block_param(done, types::I64)).collect()
            }
        };
        for (out, mask) in outgoing.iter().zip(masks) {
            self.set_scalar(out.value, mask);
        }
        if insts.iter().any(|&i| self.may_fault_later(i)) {
            self.leave_on_fault();
        }
    }

    /// Does a segment chunk by chunk. Returns the masks that later steps need.
    fn chunk_by_chunk(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        let skip = self.skippable();
        let none = self.b.ins().iconst(types::I64, 0);
        let outside: Vec<Clif> = outgoing.iter().map(|out| out.outside).collect();
        self.each_chunk(none, &outside, |lowerer, before| {
            let skipped = skip.map(|active| {
                let latch = lowerer.b.create_block();
                let bits = lowerer.mask_bits(active);
                let work = lowerer.b.create_block();
                let args: Vec<BlockArg> = before.iter().copied().map(BlockArg::Value).collect();
                lowerer.b.ins().brif(bits, work, &[], latch, &args);
                lowerer.b.switch_to_block(work);
                latch
            });
            lowerer.scope.spills = lowerer.spill_for(insts);
            lowerer.chunk_body(insts);
            let mut after: Vec<Clif> = outgoing
                .iter()
                .zip(before)
                .map(|(out, &before)| lowerer.gather(out, before))
                .collect();
            if let Some(latch) = skipped {
                let args: Vec<BlockArg> = after.iter().copied().map(BlockArg::Value).collect();
                lowerer.b.ins().jump(latch, &args);
                lowerer.b.switch_to_block(latch);
                after =
                    after.iter().map(|_| lowerer.b.append_block_param(latch, types::I64)).collect();
            }
            lowerer.scope.spills = None;
            after
        })
    }

    /// Emits the body of the loop: the segment's instructions in order. Values are made on demand.
    pub(super) fn chunk_body(&mut self, insts: &[usize]) {
        self.chunk_values(insts);
        if self.scope.mode.settled().is_some() {
            self.write_rows(insts);
        }
    }

    /// Emits the body without the writes of registers by a group's segments.
    pub(super) fn chunk_values(&mut self, insts: &[usize]) {
        // A row is overwritten in place, but a group may still need lanes of the whole warp after
        // the first chunk.
        let at_once = self.scope.mode.settled().is_none();
        for (at, &index) in insts.iter().enumerate() {
            let inst = &self.facts.block.insts[index];
            match inst.op {
                Op::RfWrite { reg, value, guard, .. } if at_once => {
                    self.read_before_write(reg, index);
                    self.write_row(reg, value, guard);
                    self.overwrite(reg);
                }
                Op::RfWrite { value, guard, .. } => {
                    self.lanes(value);
                    if let Some(guard) =
                        guard.filter(|&guard| self.settled_mask(guard) != Some(true))
                    {
                        self.mask(guard);
                    }
                }
                Op::Load { .. } if self.is_tested_in_group(index) => self.put_off_load(index),
                Op::Store { .. } if self.is_tested_in_group(index) => self.store_full_warp(index),
                Op::Load { .. } => self.load(index),
                Op::Store { .. } => self.store(index),
                Op::Atomic { .. } => self.atomic(index),
                _ if self.scope.spills.is_some() => self.compute_now(&inst.results),
                _ => {}
            }
            for &result in &inst.results {
                if !self.escapes(result) {
                    continue;
                }
                if self.facts.block.ty(result) == ValueType::MASK {
                    self.mask_bits(result);
                } else if self.facts.planned.slots.is_stored(result)
                    && !self.facts.block.ty(result).is_uniform()
                {
                    self.store_slot(result);
                }
            }
            self.spill(at);
        }
    }

    /// Writes the registers that a group's segments write, for the chunk.
    pub(super) fn write_rows(&mut self, insts: &[usize]) {
        for &index in insts {
            if let Op::RfWrite { reg, value, guard, .. } = self.facts.block.insts[index].op {
                self.write_row(reg, value, guard);
            }
        }
    }

    /// Loads a register's value before the instruction that overwrites it, if code lowered later
    /// may need the value.
    fn read_before_write(&mut self, reg: Reg, index: usize) {
        for inst in &self.facts.block.insts[..index] {
            if let Op::RfRead { reg: read, .. } = inst.op
                && read == reg
                && (self.is_home(inst.results[0])
                    || !self.facts.planned.slots.is_stored(inst.results[0]))
                && self.is_still_needed(inst.results[0])
            {
                self.lanes(inst.results[0]);
            }
        }
    }

    /// Returns the masks that the segment makes for later steps.
    pub(super) fn outgoing(&mut self, insts: &[usize]) -> Vec<Outgoing> {
        let masks: Vec<Value> = insts
            .iter()
            .flat_map(|&index| &self.facts.block.insts[index].results)
            .copied()
            .collect();
        let masks: Vec<Value> =
            masks.into_iter().filter(|&v| self.facts.block.ty(v) == ValueType::MASK).collect();
        let mut needed = HashSet::new();
        for &value in masks.iter().rev() {
            if needed.contains(&value) || self.escapes(value) {
                needed.insert(value);
                if let Op::Unary { .. } | Op::Binary { .. } = self.facts.def_op(value) {
                    needed.extend(self.facts.def_op(value).operands());
                }
            }
        }
        let mut outside = HashMap::new();
        for &value in masks.iter().filter(|value| needed.contains(value)) {
            let bits = self.outside(value, &outside);
            outside.insert(value, bits);
        }
        let escaping = masks.into_iter().filter(|&value| self.escapes(value));
        let outgoing = escaping.map(|value| Outgoing {
            value,
            outside: outside[&value].0,
            holds: outside[&value].1,
        });
        outgoing.collect()
    }

    /// Merges the chunk's bits of an outgoing mask into the bits of other chunks. The accumulated
    /// mask begins as the mask's `outside`.
    fn gather(&mut self, out: &Outgoing, before: Clif) -> Clif {
        let bits = self.mask_bits(out.value);
        if out.holds != Holds::Perhaps {
            return self.add_chunk_bits(before, bits);
        }
        let outside = self.chunk_bits(out.outside);
        let changed = self.b.ins().bxor(bits, outside);
        let changed = self.in_warp(changed);
        self.b.ins().bxor(before, changed)
    }

    /// Returns a mask of the segment with every compare of the segment taken for false, and whether
    /// the mask holds wherever this result does. `known` has the results for the mask's operands.
    ///
    /// The result is the mask in chunks that `skippable` allows to skip.
    fn outside(&mut self, v: Value, known: &HashMap<Value, (Clif, Holds)>) -> (Clif, Holds) {
        if let Some(scalar) = self.scope.scalars[v] {
            return (scalar, Holds::Same);
        }
        let operand = |lowerer: &mut Self, v: Value| match known.get(&v) {
            Some(&outside) => outside,
            None => (lowerer.scalar(v), Holds::Same),
        };
        match *self.facts.def_op(v) {
            Op::Unary { op: UnaryOp::Not, a } => {
                let (a, holds) = operand(self, a);
                (self.other_lanes(a), if holds == Holds::Same { holds } else { Holds::Perhaps })
            }
            Op::Binary { op, a, b } => {
                let ((a, first), (b, second)) = (operand(self, a), operand(self, b));
                let holds = first.max(second);
                match op {
                    BinaryOp::And => (self.b.ins().band(a, b), holds),
                    BinaryOp::Or => (self.b.ins().bor(a, b), holds),
                    _ => (
                        self.b.ins().bxor(a, b),
                        if holds == Holds::Same { holds } else { Holds::Perhaps },
                    ),
                }
            }
            _ => (self.b.ins().iconst(types::I64, 0), Holds::There),
        }
    }
}

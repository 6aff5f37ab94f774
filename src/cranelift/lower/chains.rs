//! Long chains of operations, each on the result of the one before.
//!
//! Lowering makes a value on demand, and its operands first: its recursion is as deep as the chain
//! is long. So values at some distance from each other along a chain are *stations*. Before a value
//! is made, the stations that it comes from are made, in the block's order. No way from one station
//! to the next is longer than [`tuning::MOST_IN_A_ROW`].

use cranelift_entity::EntitySet;
use rustc_hash::FxHashSet;
use warploom_analysis::{Class, visit};
use warploom_ir::{Inst, Op, Value, ValueType, table};

use super::block::BlockLowerer;
use super::facts::BlockFacts;
use crate::tuning;

impl BlockFacts<'_> {
    /// Returns the values of the block at which chains are cut. A value that only a skipped arm
    /// makes is no station.
    pub(super) fn stations(&self) -> EntitySet<Value> {
        let mut stations = EntitySet::new();
        let mut distances = table(self.block.values.len(), 0u32);
        for inst in &self.block.insts {
            let mut distance = 0;
            inst.op.for_each_operand(|v| distance = distance.max(distances[v] + 1));
            for &result in &inst.results {
                let is_station =
                    distance >= tuning::MOST_IN_A_ROW && !self.skipped.contains_key(&result);
                distances[result] = if is_station { 0 } else { distance };
                if is_station {
                    stations.insert(result);
                }
            }
        }
        stations
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Makes the result of an instruction in the chunk, after the stations that its operands come
    /// from.
    pub(super) fn in_order<T>(&mut self, inst: &Inst, make: impl FnOnce(&mut Self) -> T) -> T {
        if self.facts.stations.is_empty() || self.scope.in_order {
            return make(self);
        }
        self.scope.in_order = true;
        for station in self.missing_stations(inst) {
            if self.facts.block.ty(station) == ValueType::MASK {
                self.mask(station);
            } else {
                self.lanes(station);
            }
        }
        let made = make(self);
        self.scope.in_order = false;
        made
    }

    /// Returns the stations that an instruction's operands come from and that the chunk lacks, in
    /// the block's order.
    fn missing_stations(&mut self, inst: &Inst) -> Vec<Value> {
        let mut open = inst.op.operands().to_vec();
        let mut seen = FxHashSet::default();
        let mut missing = Vec::new();
        while let Some(v) = open.pop() {
            visit();
            if !seen.insert(v) || !self.is_made_of_operands(v) {
                continue;
            }
            if self.facts.stations.contains(v) {
                missing.push(v);
            }
            self.facts.def_op(v).for_each_operand(|operand| open.push(operand));
        }
        missing.sort_unstable_by_key(|&v| self.facts.planned.defs[v].0);
        missing
    }

    /// Returns whether the chunk has no form of a value yet, and makes the value from the operands
    /// of its instruction.
    fn is_made_of_operands(&mut self, v: Value) -> bool {
        let chunk = self.chunk();
        if chunk.lanes.contains_key(&v)
            || chunk.masks.contains_key(&v)
            || chunk.shared.masks.contains_key(&v)
        {
            return false;
        }
        if self.is_spilled(v)
            || self.scope.mode.carried().is_some_and(|carried| carried.laid_down.contains_key(&v))
        {
            return false;
        }
        if let Op::Load { .. } | Op::Atomic { .. } = self.facts.def_op(v) {
            return self.chunk().put_off.contains_key(&v);
        }
        if self.facts.block.ty(v) == ValueType::MASK {
            let in_chunk =
                self.scope.mode.carried().is_some_and(|carried| carried.in_chunk.contains(&v));
            return in_chunk || (self.is_home(v) && self.scope.scalars[v].is_none());
        }
        match self.scope.classes.get(v) {
            Class::Uniform | Class::Affine { exact: true, .. } => false,
            Class::Affine { .. } if self.is_tested(v) => false,
            Class::Affine { .. } if !self.scope.classes.relies_on_choice(v) => true,
            Class::Affine { .. } | Class::Varying => self.is_home(v),
        }
    }
}

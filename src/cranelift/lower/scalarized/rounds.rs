//! The rounds of a lane: which values change from round to round, and which of these are needed.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use warploom_ir::{Op, Reg, Value};

use super::super::block::BlockLowerer;
use super::super::register_loop::RegisterLoop;
use super::loads::Address;
use super::variables::{Next, Stream, Variable};

/// The contents of a lane's rounds.
pub struct Rounds {
    pub variables: Vec<Variable>,
    /// Loads whose addresses are known for all rounds before the first one.
    pub streams: Vec<Stream>,
    /// The parts of all other loads' addresses, by the index of the load.
    pub addresses: BTreeMap<usize, Address>,
    /// The values that differ between rounds.
    pub changing: FxHashSet<Value>,
    /// The values that the loads in `addresses` need, and all values that are needed.
    early: FxHashSet<Value>,
    needed: FxHashSet<Value>,
}

impl Rounds {
    pub fn needs(&self, v: Value) -> bool {
        self.needed.contains(&v)
    }

    /// Whether an instruction is due in the pass up to the last load that may fail (`early`), or in
    /// the pass after it. So instructions that need only loads that cannot fail stay next to these
    /// loads.
    pub fn is_due(&self, index: usize, results: &[Value], early: bool) -> bool {
        let of = |values: &FxHashSet<Value>| {
            results.iter().any(|v| values.contains(v) && self.changing.contains(v))
        };
        let is_early = self.addresses.contains_key(&index) || of(&self.early);
        if early { is_early } else { !is_early && of(&self.needed) }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Returns the contents of rounds. `masks` must be known after each round. At most `streams`
    /// streams are checked before the first round.
    pub(super) fn rounds_of(
        &mut self,
        register_loop: &RegisterLoop,
        masks: &[Value],
        streams: usize,
    ) -> Rounds {
        let changing = self.changing(register_loop);
        let variables = self.variables(register_loop);
        let mut addresses = BTreeMap::new();
        for &index in &register_loop.body {
            if let Op::Load { access, .. } = self.facts.block.insts[index].op {
                addresses.insert(index, self.address_of(&access, &changing));
            }
        }
        let mut candidates = self.streams(register_loop, &variables);
        candidates.truncate(streams);
        let mut rounds = Rounds {
            variables,
            streams: Vec::new(),
            addresses,
            changing,
            early: FxHashSet::default(),
            needed: FxHashSet::default(),
        };
        let all = rounds.addresses.clone();
        loop {
            rounds.addresses = all.clone();
            candidates.iter().for_each(|stream| drop(rounds.addresses.remove(&stream.inst)));
            rounds.early = self.needed_for(&rounds, None);
            rounds.needed = self.needed_for(&rounds, Some(masks));
            // A stream is dropped if the rounds need its address itself, too.
            let before = candidates.len();
            candidates.retain(|stream| {
                let mut reads = rounds.variables[stream.variable].reads.iter().flatten();
                !reads.any(|read| rounds.needed.contains(read))
            });
            if candidates.len() == before {
                rounds.streams = candidates;
                return rounds;
            }
        }
    }

    /// Returns the values that depend on results or loads of an earlier round.
    pub(super) fn changing(&self, register_loop: &RegisterLoop) -> FxHashSet<Value> {
        let mut changing = FxHashSet::default();
        for (index, inst) in self.facts.block.insts.iter().enumerate() {
            let changes = match inst.op {
                _ if !self.is_done_by_lanes(register_loop, index) => false,
                Op::RfRead { reg, .. } => {
                    register_loop.lanes.contains_key(&reg) || self.changes_mask(register_loop, reg)
                }
                Op::Load { .. } => true,
                ref op => op.operands().iter().any(|v| changing.contains(v)),
            };
            if changes {
                changing.extend(&inst.results);
            }
        }
        changing
    }

    /// Whether a lane's bit of a mask register may change in a later round. A lane in the loop is
    /// active, and has not left.
    fn changes_mask(&self, register_loop: &RegisterLoop, reg: Reg) -> bool {
        let written = register_loop.masks.contains_key(&reg);
        written
            && reg != self.facts.function.active
            && !register_loop.exit_masks.regs.contains(&reg)
    }

    /// Returns the values needed for all loads in `addresses`. With `masks` it adds the values
    /// needed for these masks and for the variables.
    fn needed_for(&self, rounds: &Rounds, masks: Option<&[Value]>) -> FxHashSet<Value> {
        let mut left: Vec<Value> = masks.unwrap_or_default().to_vec();
        let parts = |left: &mut Vec<Value>, index: usize| {
            let Op::Load { access, .. } = self.facts.block.insts[index].op else {
                unreachable!("a load")
            };
            left.extend(access.guard);
            left.extend(rounds.addresses.get(&index).map(|address| address.rest));
        };
        rounds.addresses.keys().for_each(|&index| parts(&mut left, index));
        if masks.is_some() {
            for variable in &rounds.variables {
                left.extend(variable.guard);
                left.extend(match variable.next {
                    Next::Value(value) => Some(value),
                    Next::Step(_) => None,
                });
            }
        }
        let mut needed = FxHashSet::default();
        while let Some(v) = left.pop() {
            if !needed.insert(v) || !rounds.changing.contains(&v) {
                continue;
            }
            let index = self.facts.planned.defs[v].0;
            match self.facts.block.insts[index].op {
                Op::Load { .. } => parts(&mut left, index),
                ref op => left.extend(op.operands()),
            }
        }
        needed
    }

    /// Whether an instruction that computes lanes or their masks runs in the loop.
    pub(super) fn is_done_by_lanes(&self, register_loop: &RegisterLoop, index: usize) -> bool {
        let carried = |v: &Value| register_loop.carried_scalars.contains(v);
        register_loop.has(index) || self.facts.block.insts[index].results.iter().any(carried)
    }

    /// Whether a value that does not change is equal in all active lanes.
    pub(super) fn is_same(&self, register_loop: &RegisterLoop, v: Value) -> bool {
        let classes = self.facts.planned.full_warp_classes();
        let alike = !self.is_mask(v) && classes.span_warp() && classes.get(v).is_same();
        alike || !self.is_done_by_lanes(register_loop, self.facts.planned.defs[v].0)
    }
}

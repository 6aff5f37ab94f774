//! Facts about lane registers at the entry of each block: the lanes that are active then hold
//! evenly spaced values.
//!
//! A forward dataflow analysis of the function computes them, from "all alike" at the entry.
//!
//! A fact is about the active lanes. It stays valid while the active mask only shrinks. Lanes come
//! back in two ways. Where a block joins lanes that another block pushed
//! ([`Block::join`](warploom_ir::Block::join)), the facts at the pusher's end hold again, for the
//! registers that nothing on the way writes. Where a mask register keeps lanes meanwhile, the
//! analysis follows the facts about the kept and active lanes together with the register
//! ([`Kept`]).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use cranelift_entity::EntityRef;
use smallvec::SmallVec;
use warploom_ir::{BinaryOp, Block, Defs, Function, Op, Part, Reg, Terminator, Value};

use super::bits::Bits;
use super::class::{Classes, Execution};
use super::flow::Flow;
use super::liveness::Numbers;
use super::masks::Masks;
use super::registers;
use super::visits::visit;

/// Registers whose active lanes are evenly spaced, with the distance from lane to lane in the
/// register's type. Registers go by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// `None`: there are no facts.
    numbers: Option<Arc<Numbers>>,
    /// The registers whose active lanes are alike.
    alike: Bits,
    /// The other registers in order, with their distances. There are few of them.
    spaced: SmallVec<[(usize, i64); 4]>,
}

impl Facts {
    fn none(numbers: &Arc<Numbers>) -> Facts {
        let alike = Bits::new(numbers.count());
        Facts { numbers: Some(numbers.clone()), alike, spaced: SmallVec::new() }
    }

    /// Returns the distance from lane to lane of a register.
    pub(super) fn get(&self, reg: Reg) -> Option<i64> {
        let number = self.number(reg)?;
        if self.alike.contains(number) {
            return Some(0);
        }
        let at = self.spaced.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(self.spaced[at].1)
    }

    pub(super) fn remove(&mut self, reg: Reg) {
        if let Some(number) = self.number(reg) {
            self.alike.remove(number);
            self.spaced.retain(|&mut (other, _)| other != number);
        }
    }

    fn insert(&mut self, reg: Reg, step: i64) {
        self.remove(reg);
        let number = self.number(reg).expect("an analysis of facts has numbers");
        if step == 0 {
            self.alike.insert(number);
        } else {
            let at = self.spaced.partition_point(|&(other, _)| other < number);
            self.spaced.insert(at, (number, step));
        }
    }

    /// Keeps the facts that `other` has, too.
    fn meet(&mut self, other: &Facts) {
        self.alike.intersect(&other.alike);
        self.spaced.retain(|fact| other.spaced.contains(fact));
    }

    fn without(&self, registers: &Bits) -> Facts {
        let mut facts = self.clone();
        facts.alike.subtract(registers);
        facts.spaced.retain(|&mut (number, _)| !registers.contains(number));
        facts
    }

    fn len(&self) -> usize {
        self.alike.iter().count() + self.spaced.len()
    }

    fn number(&self, reg: Reg) -> Option<usize> {
        self.numbers.as_ref().map(|numbers| numbers.of_register(reg))
    }
}

/// The facts when a block is entered.
#[derive(Clone, Debug, PartialEq)]
struct State {
    facts: Facts,
    kept: BTreeMap<Reg, Kept>,
}

/// The facts about the lanes in a mask register.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    /// Facts about the kept and the active lanes, all together.
    facts: Facts,
    /// Whether the register has all active lanes.
    covers: bool,
    /// Mask registers that have all of the kept lanes.
    within: BTreeSet<Reg>,
}

/// Returns the facts at the entry of every block. A block that is not reached has none.
pub fn facts(function: &Function, flow: &Flow, execution: Execution) -> Vec<Facts> {
    // Liveness numbers the registers of the function before analysis. Registers that code finds only
    // by an index share a number there, but the analysed function may name them.
    let numbers = Arc::new(Numbers::of(function));
    // For each block, the joins of the lanes that it pushed, with the registers that may be written
    // on the way.
    let mut joins: Vec<Vec<(usize, Bits)>> = vec![Vec::new(); flow.successors.len()];
    for join in &flow.joins {
        let written = registers_written(function, &numbers, &join.on_the_way);
        joins[join.pusher].push((join.block, written));
    }
    let passages: Vec<Passage> =
        function.blocks.iter().map(|block| Passage::of(function, block, &numbers)).collect();
    let mut keepers = keepers(&passages);
    keepers.extend(flow.places.registers());
    // None: not reached so far.
    let mut entry: Vec<Option<State>> = vec![None; flow.successors.len()];
    let lanes = registers(function).filter(|&reg| function.is_lane(reg));
    let mut alike = Facts::none(&numbers);
    lanes.for_each(|reg| alike.insert(reg, 0));
    // No lane waits so far.
    let waiting = Kept { facts: alike.clone(), covers: false, within: BTreeSet::new() };
    let places = flow.places.registers().map(|reg| (reg, waiting.clone())).collect();
    entry[0] = Some(State { facts: alike, kept: places });
    let mut pending: BTreeSet<usize> = BTreeSet::from([0]);
    while let Some(index) = pending.pop_first() {
        let known = entry[index].clone().expect("a pending block has been reached");
        // The node behind the last block does nothing.
        let end = match passages.get(index) {
            Some(passage) => passage.end(&known, &keepers, execution),
            None => known,
        };
        let block = function.blocks.get(index);
        if let Some(Terminator::Dispatch { places, .. }) = block.map(|block| &block.term) {
            for &(reg, to) in places.iter().filter(|&&(reg, _)| flow.places.may_hold(index, reg)) {
                if meet(&mut entry[to.index()], end.dispatched(reg, &numbers)) {
                    pending.insert(to.index());
                }
            }
        }
        for &to in block
            .map_or(&flow.successors[index][..], |block| leads_on(block, &flow.successors[index]))
        {
            // A join takes the facts of its pusher. It has none if the blocks on the way are not
            // known.
            let state = match function.blocks.get(to).and_then(|block| block.join) {
                None => end.clone(),
                Some(_) if flow.join(to).is_none() => State::unknown(&numbers),
                Some(_) => continue,
            };
            if meet(&mut entry[to], state) {
                pending.insert(to);
            }
        }
        for (join, written) in &joins[index] {
            let state = State { facts: end.facts.without(written), kept: BTreeMap::new() };
            if meet(&mut entry[*join], state) {
                pending.insert(*join);
            }
        }
    }
    let facts =
        entry.into_iter().map(|state| state.map_or_else(Facts::default, |state| state.facts));
    facts.take(function.blocks.len()).collect()
}

/// Returns the successors of the lanes that are active at a block's end.
fn leads_on<'a>(block: &Block, successors: &'a [usize]) -> &'a [usize] {
    match block.term {
        // Active lanes go on only if no lane waits: to the last successor.
        Terminator::Dispatch { .. } => &successors[successors.len() - 1..],
        _ => successors,
    }
}

/// Keeps the facts that both states have. Returns whether `known` has changed.
fn meet(known: &mut Option<State>, other: State) -> bool {
    let Some(known) = known else {
        *known = Some(other);
        return true;
    };
    let before = known.clone();
    known.facts.meet(&other.facts);
    known.kept.retain(|mask, kept| {
        let Some(other) = other.kept.get(mask) else { return false };
        kept.facts.meet(&other.facts);
        kept.covers &= other.covers;
        kept.within.retain(|mask| other.within.contains(mask));
        true
    });
    *known != before
}

/// Returns the mask registers that lanes come back from.
fn keepers(passages: &[Passage<'_>]) -> BTreeSet<Reg> {
    let mut keepers = BTreeSet::new();
    for passage in passages {
        let active_register = passage.function.active;
        let Some(&Some(active)) = passage.masks.get(&active_register) else { continue };
        let (mut open, mut seen) = (vec![active], HashSet::from([active]));
        while let Some(mask) = open.pop() {
            match *passage.def(mask) {
                Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b } => {
                    open.extend([a, b].into_iter().filter(|&part| seen.insert(part)));
                }
                Op::RfRead { reg, .. } if reg != active_register => {
                    keepers.insert(reg);
                }
                _ => {}
            }
        }
    }
    keepers
}

/// The flow of masks through a block.
struct Passage<'a> {
    function: &'a Function,
    block: &'a Block,
    defs: Defs,
    /// The active lanes at entry, if the block reads them.
    active: Option<Value>,
    /// The values that are a uniform register's contents at entry, where the block reads it.
    at_entry: BTreeMap<Value, Reg>,
    /// The uniform registers that the block writes, with the value at its end, if it is one value.
    masks: BTreeMap<Reg, Option<Value>>,
    /// The lane registers that the block writes.
    written: Bits,
    /// The numbers of the function's registers.
    numbers: &'a Arc<Numbers>,
}

/// The lanes that a mask register has at a block's end.
#[derive(Clone, Copy)]
enum Lanes {
    /// The lanes of this mask.
    Mask(Value),
    /// The lanes that this register had at entry.
    Same(Reg),
    Unknown,
}

impl<'a> Passage<'a> {
    fn of(function: &'a Function, block: &'a Block, numbers: &'a Arc<Numbers>) -> Passage<'a> {
        let active = block.entry_mask(function.active);
        let (at_entry, masks) = (BTreeMap::new(), BTreeMap::new());
        let (defs, written) = (block.defs(), Bits::new(numbers.count()));
        let mut passage =
            Passage { function, block, defs, active, at_entry, masks, written, numbers };
        for inst in &block.insts {
            match inst.op {
                Op::RfRead { reg, part: Part::Whole }
                    if !function.is_lane(reg) && !passage.masks.contains_key(&reg) =>
                {
                    passage.at_entry.insert(inst.results[0], reg);
                }
                Op::RfWrite { reg, part, value, .. } if !function.is_lane(reg) => {
                    passage.masks.insert(reg, Some(value).filter(|_| part == Part::Whole));
                }
                ref op => written_registers(op, |reg| {
                    if function.is_lane(reg) {
                        passage.written.insert(numbers.of_register(reg));
                    } else {
                        passage.masks.insert(reg, None);
                    }
                }),
            }
        }
        passage
    }

    fn def(&self, value: Value) -> &Op {
        &self.block.insts[self.defs[value].0].op
    }

    fn is_subset(&self, a: Value, b: Value) -> bool {
        Masks::of(self.function.lanes, &self.block.insts, &self.defs).is_subset(a, b)
    }

    fn at_end(&self, mask: Reg) -> Lanes {
        match self.masks.get(&mask) {
            Some(&Some(value)) => Lanes::Mask(value),
            Some(None) => Lanes::Unknown,
            None => self
                .active
                .filter(|_| mask == self.function.active)
                .map_or(Lanes::Same(mask), Lanes::Mask),
        }
    }

    /// Whether lanes are proven to be among the lanes that mask registers had at entry.
    ///
    /// Only registers for which `holds` is true count. If `active_counts`, the lanes active at
    /// entry count too.
    fn are_among(&self, lanes: Lanes, active_counts: bool, holds: &impl Fn(Reg) -> bool) -> bool {
        match lanes {
            Lanes::Mask(value) => {
                let mut steps = MAX_STEPS;
                self.is_among(value, active_counts, holds, &mut steps)
            }
            Lanes::Same(reg) => holds(reg) || active_counts && reg == self.function.active,
            Lanes::Unknown => false,
        }
    }

    fn is_among(
        &self,
        mask: Value,
        active_counts: bool,
        holds: &impl Fn(Reg) -> bool,
        steps: &mut usize,
    ) -> bool {
        visit();
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if active_counts && self.active.is_some_and(|active| self.is_subset(mask, active)) {
            return true;
        }
        match *self.def(mask) {
            Op::Const { bits: 0, .. } => true,
            Op::RfRead { .. } => self.at_entry.get(&mask).is_some_and(|&reg| holds(reg)),
            Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } => {
                self.is_among(a, active_counts, holds, steps)
                    && self.is_among(b, active_counts, holds, steps)
            }
            Op::Binary { op: BinaryOp::And, a, b } => {
                self.is_among(a, active_counts, holds, steps)
                    || self.is_among(b, active_counts, holds, steps)
            }
            _ => false,
        }
    }

    /// Returns the facts at the block's end.
    fn end(&self, known: &State, keepers: &BTreeSet<Reg>, execution: Execution) -> State {
        let active = self.at_end(self.function.active);
        let Some((before, _)) = self.known_of(known, &[active]) else {
            return State::unknown(self.numbers);
        };
        let lanes = match active {
            Lanes::Mask(active) => Some(active),
            _ => None,
        };
        let facts = self.facts_at_end(before, lanes, execution);
        let mut kept = BTreeMap::new();
        for &mask in keepers {
            let lanes = self.at_end(mask);
            let none = matches!(lanes, Lanes::Mask(value) if matches!(self.def(value), Op::Const { bits: 0, .. }));
            let facts = match self.known_of(known, &[active, lanes]) {
                _ if none => facts.clone(),
                Some((before, true)) => self.facts_at_end(before, self.active, execution),
                Some((before, false)) => before.without(&self.written),
                None => continue,
            };
            let unchanged = known.kept.iter().filter(|&(other, _)| !self.masks.contains_key(other));
            let has_all = |&(&other, kept): &(&Reg, &Kept)| {
                mask != other && self.has_all(known, other, kept, lanes)
            };
            let within = unchanged.filter(has_all).map(|(&other, _)| other).collect();
            let covers = match (lanes, active) {
                (Lanes::Mask(value), Lanes::Mask(active)) => self.is_subset(active, value),
                (Lanes::Same(mask), active) => known
                    .kept
                    .get(&mask)
                    .is_some_and(|kept| self.has_all(known, mask, kept, active)),
                _ => false,
            };
            kept.insert(mask, Kept { facts, covers, within });
        }
        State { facts, kept }
    }

    /// Whether the register `mask` has all of the lanes. It keeps its contents from entry.
    fn has_all(&self, known: &State, mask: Reg, kept: &Kept, lanes: Lanes) -> bool {
        self.are_among(lanes, kept.covers, &|reg| reg == mask || known.lies_within(reg, mask))
    }

    /// Returns the facts at entry about a set of lanes that includes all of `lanes`, and whether
    /// these are the active lanes.
    fn known_of<'s>(&self, known: &'s State, lanes: &[Lanes]) -> Option<(&'s Facts, bool)> {
        if lanes.iter().all(|&lanes| self.are_among(lanes, true, &|_| false)) {
            return Some((&known.facts, true));
        }
        let has_all = |&(&mask, _): &(&Reg, &Kept)| {
            lanes.iter().all(|&lanes| {
                self.are_among(lanes, true, &|reg| reg == mask || known.lies_within(reg, mask))
            })
        };
        let facts = known.kept.iter().filter(has_all).map(|(_, kept)| &kept.facts);
        facts.max_by_key(|facts| facts.len()).map(|facts| (facts, false))
    }

    /// Returns the facts at the block's end about the lanes of a mask, or about all lanes that were
    /// active.
    ///
    /// `known` has the facts about these lanes at entry.
    fn facts_at_end(&self, known: &Facts, lanes: Option<Value>, execution: Execution) -> Facts {
        let (block, function) = (self.block, self.function);
        let classes = Classes::with_facts(function, block, execution, known, lanes, &|_| true);
        let mut facts = known.clone();
        for inst in &block.insts {
            match inst.op {
                Op::RfWrite { reg, value, guard, .. } => {
                    let whole = inst.window.count == function.lanes
                        && guard.is_none_or(|guard| {
                            lanes.is_some_and(|lanes| self.is_subset(lanes, guard))
                        });
                    match classes.get(value).affine() {
                        Some((step, true)) if whole && !block.ty(value).is_uniform() => {
                            facts.insert(reg, step);
                        }
                        _ => facts.remove(reg),
                    }
                }
                _ => written_registers(&inst.op, |reg| {
                    facts.remove(reg);
                }),
            }
        }
        facts
    }
}

impl State {
    fn unknown(numbers: &Arc<Numbers>) -> State {
        State { facts: Facts::none(numbers), kept: BTreeMap::new() }
    }

    /// Returns the state after the lanes that wait in `reg` go on, so that no lane waits there.
    ///
    /// The facts about these lanes are then facts about the active lanes.
    fn dispatched(&self, reg: Reg, numbers: &Arc<Numbers>) -> State {
        let Some(Kept { facts, .. }) = self.kept.get(&reg) else { return State::unknown(numbers) };
        let waiting = Kept { facts: facts.clone(), covers: false, within: BTreeSet::new() };
        State { facts: facts.clone(), kept: BTreeMap::from([(reg, waiting)]) }
    }

    fn lies_within(&self, mask: Reg, other: Reg) -> bool {
        self.kept.get(&mask).is_some_and(|kept| kept.within.contains(&other))
    }
}

/// The most steps of a proof that lanes are among other lanes.
const MAX_STEPS: usize = 64;

fn registers_written(function: &Function, numbers: &Numbers, blocks: &[usize]) -> Bits {
    let mut written = Bits::new(numbers.count());
    for &block in blocks {
        for inst in &function.blocks[block].insts {
            written_registers(&inst.op, |reg| {
                written.insert(numbers.of_register(reg));
            });
        }
    }
    written
}

pub(super) fn written_registers(op: &Op, mut each: impl FnMut(Reg)) {
    match *op {
        Op::RfWrite { reg, .. } | Op::RegionWrite { reg, .. } => each(reg),
        Op::RfScatter { bank, first, count, .. } => {
            (first..first + count).for_each(|index| each(bank.reg(index)))
        }
        _ => {}
    }
}

//! Groups: steps that a full warp executes at once, as one segment without masks and without a
//! check for each access.
//!
//! A group runs at once while all lanes are active, every access is in reach, and no chunk reads or
//! writes bytes that another chunk writes. This module puts the first requirement into
//! [`Condition`]s. The engine tests the other two with a few numbers: the lanes of every access are
//! evenly spaced, or made of the bits of a value with evenly spaced lanes. They are so over the
//! warp, or only in every chunk ([`Classes::span_warp`]). In the latter case the engine tests one
//! chunk after the other.

mod accesses;
mod require;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use rustc_hash::FxHashMap;
use warploom_ir::{Access, Block, Defs, Function, Inst, IntCc, Op, Reg, Space, Value, table};

use super::class::Classes;
use super::editor::is_pure;
use super::facts::written_registers;
use super::segment::{Plan, Step};
use super::tiled::Tiled;

/// The most lane-wise instructions of a group.
const MAX_INSTS: usize = 256;
/// The most instructions, times their chunks, of a group that exchanges lanes: code has each chunk
/// by itself. (A guess.)
const MAX_EXCHANGED: usize = 800;
/// The most pairs of accesses whose addresses are compared at run time.
const MAX_PAIRS: usize = 8;

/// A condition that must hold at run time for all lanes of the warp.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A mask computed before the group is full, or empty.
    Mask { mask: Value, full: bool },
    /// `a cc b`, of evenly spaced `a` and uniform `b` of 32 or 64 bits.
    Compare { cc: IntCc, a: Value, b: Value },
    /// `base` plus any offset within `offsets` (least, greatest) is less than `limit`, as unsigned
    /// 32-bit numbers, and does not wrap between the least and the greatest. `base` is evenly
    /// spaced, and `limit` is the same in all lanes.
    Below { base: Value, offsets: (i32, i32), limit: Value },
    /// These low bits of `a` are 0 in lane 0 of every chunk. If lanes are evenly spaced over the
    /// warp, the distance between chunks has none of these bits.
    Aligned { a: Value, low: u64 },
}

#[derive(Clone)]
pub struct Group {
    /// Segments, scalar steps and exchanges.
    pub steps: Range<usize>,
    /// Whether the group has exchanges. An exchange sees all steps before it and none after it.
    pub exchanges: bool,
    /// Scalar steps that run after the segments: they write registers or need masks that the
    /// segments make. All other scalar steps run first.
    pub after: Vec<usize>,
    pub conditions: Vec<Condition>,
    /// Masks that are full (`true`) or empty (`false`) under the conditions.
    pub settled: BTreeMap<Value, bool>,
    /// The memory accesses that are tested, by instruction.
    pub accesses: Vec<usize>,
    /// The accesses whose lanes are not evenly spaced but in tiles, in each chunk.
    pub tiled: BTreeMap<usize, Tiled>,
    /// Whether the group has an atomic or a store with any addresses in shared memory, which no
    /// other access of the group touches. If it faults, nothing shows how far the other accesses
    /// have come: they only read.
    pub scattered: bool,
    /// Whether the group has loads with any addresses. They may fault, so no step follows their
    /// segment, and no step writes memory.
    pub loose: bool,
    /// Pairs of accesses that must not overlap between different lanes.
    pub apart: Vec<(usize, usize)>,
}

/// Whether two accesses of one address, with lanes `stride` apart, overlap only within a lane.
pub fn keep_to_lanes(a: &Access, b: &Access, stride: i64) -> bool {
    let bytes = u64::from(a.bytes().max(b.bytes()));
    u64::from(a.offset.abs_diff(b.offset)) + bytes <= stride.unsigned_abs()
}

/// The bound on the distance between offsets of accesses that are tested as one.
///
/// A larger bound makes it more likely that a page (for a group: a run) ends between the accesses.
/// Then a helper does the accesses that the look-up did not find. (A guess.)
pub const NEAR: i64 = 1 << 10;

/// Whether two accesses are tested as one.
///
/// Both are aligned if one is, and they are so close that a run rarely ends between them.
pub fn are_near(a: &Access, b: &Access) -> bool {
    let kind = |access: &Access| (access.space, access.address, access.align);
    let distance = i64::from(a.offset.abs_diff(b.offset));
    kind(a) == kind(b) && distance < NEAR && distance % i64::from(a.align.max(1)) == 0
}

/// The largest stride of lanes, and distance between offsets, that are compared with a limit
/// together. It is so small that a launch's lanes do not wrap.
const NARROW: u64 = 1 << 16;

fn is_shared(access: &Access) -> bool {
    access.space == Space::Shared
}

/// For exchanges between lanes, by instruction: the lane that each lane reads, if it is always the
/// same lane.
pub type Sources = FxHashMap<usize, Vec<u8>>;

/// Returns the groups of a block, in order.
///
/// `classes` may rely on all lanes being active.
pub fn groups(
    function: &Function,
    block: &Block,
    in_loop: bool,
    defs: &Defs,
    classes: &Classes,
    plan: &Plan,
    sources: &Sources,
) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut finder = Finder {
        sources: Some(sources),
        ..Finder::new(function, block, in_loop, defs, classes, plan)
    };
    for (number, step) in plan.steps.iter().enumerate() {
        if !finder.takes(number, step) {
            groups.extend(finder.finish(number));
            if !finder.takes(number, step) {
                finder.finish(number + 1);
            }
        }
    }
    groups.extend(finder.finish(plan.steps.len()));
    groups
}

impl Group {
    pub(super) fn new(start: usize) -> Group {
        Group {
            steps: start..start,
            exchanges: false,
            after: Vec::new(),
            conditions: Vec::new(),
            settled: BTreeMap::new(),
            accesses: Vec::new(),
            tiled: BTreeMap::new(),
            scattered: false,
            loose: false,
            apart: Vec::new(),
        }
    }
}

pub(super) struct Finder<'a> {
    function: &'a Function,
    block: &'a Block,
    in_loop: bool,
    defs: &'a Defs,
    classes: &'a Classes,
    plan: &'a Plan,
    /// `None`: no step may exchange lanes.
    sources: Option<&'a Sources>,
    pub(super) group: Group,
    /// Whether the group is for strips of lanes of several warps. Then lanes that take no part in a
    /// load may load too, if all are in reach: strips go on past the lanes for which everything
    /// holds.
    pub(super) strips: bool,
    /// All lanes of a warp complete the accesses before this index before any later access starts.
    phase: usize,
    insts: usize,
    /// Registers that scalar steps of the group write.
    written: Vec<Reg>,
    /// Values that scalar steps compute after the segments.
    late: HashSet<Value>,
    /// Masks without simple conditions, each with the requested state (full or not). Many paths may
    /// reach one mask.
    refused: HashSet<(Value, bool)>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        function: &'a Function,
        block: &'a Block,
        in_loop: bool,
        defs: &'a Defs,
        classes: &'a Classes,
        plan: &'a Plan,
    ) -> Finder<'a> {
        Finder {
            function,
            block,
            in_loop,
            defs,
            classes,
            plan,
            sources: None,
            group: Group::new(0),
            strips: false,
            phase: 0,
            insts: 0,
            written: Vec::new(),
            late: HashSet::new(),
            refused: HashSet::new(),
        }
    }

    /// Ends the open group before step `end`, and opens the next one there.
    ///
    /// Returns the ended group, if it is worth its code.
    pub(super) fn finish(&mut self, end: usize) -> Option<Group> {
        self.group.steps.end = end;
        let accesses = !self.group.accesses.is_empty() || self.group.loose;
        let worth_it = (accesses
            || self.group.exchanges
            || self.in_loop && self.writes_where_all_are_active())
            && self.may_rely_on_facts();
        if worth_it {
            self.settle_what_follows();
        }
        let group = std::mem::replace(&mut self.group, Group::new(end));
        self.phase = 0;
        self.insts = 0;
        self.written.clear();
        self.late.clear();
        self.refused.clear();
        worth_it.then_some(group)
    }

    /// Has all lanes of a warp complete the group's steps so far before later steps. For strips,
    /// which are one group.
    pub(super) fn next_phase(&mut self) {
        self.phase = self.group.accesses.len();
        self.insts = 0;
        self.group.loose = false;
    }

    /// Adds a step that exchanges lanes, if each lane always reads the same lane.
    fn takes_exchange(&mut self, index: usize) -> bool {
        let is_known = self.sources.is_some_and(|sources| sources.contains_key(&index));
        if !is_known || self.group.loose || self.insts >= self.most_exchanged() {
            return false;
        }
        self.phase = self.group.accesses.len();
        self.insts += 1;
        self.group.exchanges = true;
        true
    }

    /// Returns the most instructions of a group that exchanges lanes.
    fn most_exchanged(&self) -> usize {
        MAX_EXCHANGED / (u32::from(self.function.lanes) / self.classes.chunk()).max(1) as usize
    }

    /// Whether a group without accesses saves the masks of register writes. Outside loops, that
    /// saving is not worth the group's code.
    fn writes_where_all_are_active(&mut self) -> bool {
        let steps = &self.plan.steps[self.group.steps.clone()];
        let segments = steps.iter().filter(|step| matches!(step, Step::Segment(_)));
        let guards: Vec<Value> = segments
            .flat_map(|step| step.insts())
            .filter_map(|&index| match self.block.insts[index].op {
                Op::RfWrite { guard, .. } => guard,
                _ => None,
            })
            .collect();
        !guards.is_empty()
            && !self.group.scattered
            && guards.into_iter().all(|guard| self.require(guard, true))
    }

    /// Whether the group may rely on facts.
    ///
    /// Facts hold for the lanes that are active at the block's entry, so all lanes must be active
    /// there. Registers must also still hold their values from the entry.
    pub(super) fn may_rely_on_facts(&mut self) -> bool {
        if !self.classes.of_some_lanes() {
            return true;
        }
        let active = self.block.entry_mask(self.function.active);
        !self.reads_what_is_overwritten()
            && active
                .is_some_and(|active| self.is_known_before(active) && self.require(active, true))
    }

    /// Whether the group or a later step needs a value that follows from a register that an earlier
    /// step writes.
    fn reads_what_is_overwritten(&self) -> bool {
        let (before, rest) = self.plan.steps.split_at(self.group.steps.start);
        let mut written: HashSet<Reg> = HashSet::new();
        for &index in before.iter().flat_map(Step::insts) {
            // Other registers are read only once.
            written_registers(&self.block.insts[index].op, |reg| {
                if self.function.is_lane(reg) {
                    written.insert(reg);
                }
            });
        }
        if written.is_empty() {
            return false;
        }
        let mut needed = table(self.block.values.len(), false);
        let mut inside = vec![false; self.block.insts.len()];
        rest.iter().flat_map(Step::insts).for_each(|&index| inside[index] = true);
        for (inst, inside) in self.block.insts.iter().zip(inside).rev() {
            if !inside && !inst.results.iter().any(|&result| needed[result]) {
                continue;
            }
            if !inside && matches!(inst.op, Op::RfRead { reg, .. } if written.contains(&reg)) {
                return true;
            }
            inst.op.for_each_operand(|v| needed[v] = true);
        }
        false
    }

    /// Adds a step to the open group. Returns false if the group cannot contain it.
    pub(super) fn takes(&mut self, number: usize, step: &Step) -> bool {
        self.group.steps.end = number + 1;
        match step {
            Step::Scalar(index) => self.takes_scalar(number, &self.block.insts[*index]),
            Step::Segment(insts) => {
                let most = if self.group.exchanges { self.most_exchanged() } else { MAX_INSTS };
                if self.insts + insts.len() > most || self.group.loose {
                    return false;
                }
                let before = self.group.clone();
                let fits = insts.iter().all(|&index| self.takes_lanes(index))
                    && self.group.apart.len() <= MAX_PAIRS;
                if fits {
                    self.insts += insts.len();
                } else {
                    self.group = before;
                }
                fits
            }
            Step::Warp(index) => self.takes_exchange(*index),
            Step::Interpret(_) => false,
        }
    }

    fn takes_scalar(&mut self, number: usize, inst: &Inst) -> bool {
        match inst.op {
            Op::RfWrite { reg, .. } => {
                self.written.push(reg);
                self.group.after.push(number);
                true
            }
            Op::RfRead { reg, .. } => !self.written.contains(&reg),
            // Engines emit nothing for it: the condition is that it raises nothing.
            Op::Raise { guard: Some(guard), .. } => {
                let before = self.group.clone();
                let possible = self.require(guard, false);
                if !possible {
                    self.group = before;
                }
                possible
            }
            ref op if is_pure(op, |v| self.constant(v)) => {
                if !op.operands().into_iter().all(|v| self.is_known_before(v)) {
                    self.group.after.push(number);
                    self.late.extend(&inst.results);
                }
                true
            }
            _ => false,
        }
    }

    /// Whether no segment of the group computes the value.
    fn is_known_before(&self, v: Value) -> bool {
        let home = self.plan.home[v] as usize;
        let scalar = matches!(self.plan.steps[home], Step::Scalar(_)) && !self.late.contains(&v);
        home < self.group.steps.start || home < self.group.steps.end && scalar
    }

    fn def(&self, v: Value) -> &Op {
        &self.block.insts[self.defs[v].0].op
    }

    fn constant(&self, v: Value) -> Option<u64> {
        match self.def(v) {
            Op::Const { bits, .. } => Some(*bits),
            _ => None,
        }
    }
}

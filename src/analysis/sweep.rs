//! Sweeps: kernels that run for strips of lanes at once.
//!
//! The kernel must be one basic block that ends it and forms one group, and its warps must differ
//! only by their thread indices. The group's conditions are tested once for a strip. A strip is all
//! lanes of a thread block whose indices differ only along x. Strips of thread blocks that follow
//! each other along x are one strip if lanes run on from block to block, as in
//! `ctaid.x * ntid.x + tid.x`.

use std::collections::{BTreeMap, HashMap, HashSet};

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};
use warploom_ir::{
    BinaryOp, Block, BlockId, ConvertOp, Defs, Function, Inst, Op, Special, Terminator, Type,
    UnaryOp, Value, ValueType, table,
};

use super::class::{Class, Classes, LaunchClass};
use super::group::{Condition, Finder, Group};
use super::masks::{Masks, is_all_or_none};
use super::segment::{Plan, Step};

pub struct Sweep {
    /// All steps of the kernel. Loads run in all lanes, even where their masks are not settled.
    pub group: Group,
    /// The conditions under which lanes take part in all loads, if lanes do not always take part.
    pub inner: Option<Inner>,
    /// The lane-wise instructions of each phase. All lanes of a warp finish a phase before any lane
    /// begins the next. Only launches of lines may have several phases, or loads with arbitrary
    /// addresses.
    pub phases: Vec<Vec<usize>>,
    /// If lanes may run on from block to block: the values that must be tested. They run on if the
    /// next block's first lane continues the sequence of this block's last lane.
    pub joints: Option<Vec<Value>>,
    /// For each value, whether it depends on the strip.
    by_strip: SecondaryMap<Value, bool>,
    /// The loads whose values nobody sees in lanes that take no part.
    hidden: HashSet<usize>,
}

/// The facts that hold where lanes take part in all loads of a sweep.
pub struct Inner {
    /// The conditions beside the group's conditions. They concern masks that the warp has as a
    /// whole, and compares of words, also with offsets. The words are the same in all lanes, or a
    /// power of two apart.
    pub conditions: Vec<Condition>,
    /// The masks that then have all lanes (true), or none (false).
    pub settled: BTreeMap<Value, bool>,
}

/// How a lane value continues in the next thread block along x.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// It is the same as in this block.
    Same,
    /// It moves by a sum, as the values of [`Sweep::joints`] do.
    Moved,
    /// It continues where the strip ends.
    RunsOn,
    Unknown,
}

impl Sweep {
    /// Returns the sweep of a function's first block, if the block can be one.
    pub fn of(function: &Function, defs: &Defs, classes: &Classes, plan: &Plan) -> Option<Sweep> {
        let block = function.block(BlockId(0));
        // Strips would have to end where lanes make different choices.
        if classes.launch() == LaunchClass::Any
            || classes.has_choices()
            || !is_kernel(function, block)
        {
            return None;
        }
        let (group, inner, phases) = full_warp_group(function, block, defs, classes, plan)?;
        if classes.launch() != LaunchClass::Line && (phases.len() > 1 || group.loose) {
            return None;
        }
        let is_alike = |&mask: &Value| {
            let of_warp = matches!(plan.steps[plan.home[mask] as usize], Step::Scalar(_));
            let known = match def(block, defs, mask) {
                Op::Const { bits, .. } => is_all_or_none(*bits, function.lanes),
                _ => false,
            };
            !of_warp || known || classes.is_alike(mask) || group.settled.contains_key(&mask)
        };
        if !phases
            .iter()
            .flatten()
            .all(|&index| masks_used(block, &block.insts[index]).iter().all(is_alike))
        {
            return None;
        }
        let mut sweep = Sweep {
            joints: None,
            by_strip: by_strip(block),
            hidden: HashSet::new(),
            group,
            inner,
            phases,
        };
        sweep.joints = sweep.joints(block, defs, classes, plan);
        sweep.hidden = sweep.hidden(function.lanes, block, defs);
        Some(sweep)
    }

    /// Returns the masks that lane-wise operations use, except for settled masks, which have all
    /// lanes or none.
    pub fn masks_used(&self, block: &Block) -> Vec<Value> {
        let masks =
            self.phases.iter().flatten().flat_map(|&index| masks_used(block, &block.insts[index]));
        masks.filter(|mask| !self.group.settled.contains_key(mask)).collect()
    }

    pub fn depends_on_strip(&self, v: Value) -> bool {
        self.by_strip[v]
    }

    /// Returns whether nobody sees the values that a load gives to lanes that take no part.
    pub fn hides_inactive_lanes(&self, load: usize) -> bool {
        self.hidden.contains(&load)
    }

    fn joints(
        &self,
        block: &Block,
        defs: &Defs,
        classes: &Classes,
        plan: &Plan,
    ) -> Option<Vec<Value>> {
        let mut joints = Vec::new();
        let mut next = table(block.values.len(), Next::Unknown);
        let in_lanes = |v: Value| matches!(plan.steps[plan.home[v] as usize], Step::Segment(_));
        for inst in &block.insts {
            for &result in &inst.results {
                let of_lanes = block.ty(result) == ValueType::MASK && in_lanes(result);
                next[result] = match classes.get(result) {
                    Class::Varying => Next::RunsOn,
                    _ if of_lanes => Next::RunsOn,
                    class => {
                        let how = next_of(block, defs, &inst.op, classes, &next);
                        let joint =
                            how == Next::Moved && class.stride().is_some_and(|stride| stride != 0);
                        joints.extend(joint.then_some(result));
                        if joint { Next::RunsOn } else { how }
                    }
                };
            }
        }
        let fits = |v: Value| match next[v] {
            Next::Same => classes.get(v).is_same(),
            how => how == Next::RunsOn,
        };
        let conditions_fit = self.group.conditions.iter().all(|condition| match *condition {
            Condition::Mask { mask, .. } => next[mask] == Next::Same,
            Condition::Compare { a, b, .. } => fits(a) && fits(b),
            Condition::Below { base, limit, .. } => fits(base) && fits(limit),
            Condition::Aligned { a, .. } => fits(a),
        });
        let is_made_of_lanes = |inst: &Inst| {
            let spaced =
                |&v: &Value| block.ty(v) != ValueType::MASK && classes.get(v) != Class::Varying;
            inst.results.is_empty() || !inst.results.iter().all(spaced)
        };
        let mut insts = self.phases.iter().flatten().map(|&index| &block.insts[index]);
        let lanes_fit =
            insts.all(|inst| !is_made_of_lanes(inst) || inst.op.operands().into_iter().all(fits));
        (conditions_fit && lanes_fit).then_some(joints)
    }

    /// Returns the loads whose values are seen only in lanes of the load's guard.
    fn hidden(&self, lanes: u8, block: &Block, defs: &Defs) -> HashSet<usize> {
        let mut insts: Vec<usize> = self.phases.iter().flatten().copied().collect();
        insts.sort_unstable();
        let masks = Masks::of(lanes, &block.insts, defs);
        let mut seen_within: HashMap<Value, SecondaryMap<Value, bool>> = HashMap::new();
        let mut is_hidden = |&index: &usize| {
            let Op::Load { access, .. } = block.insts[index].op else { return false };
            let Some(guard) = access.guard else { return false };
            let within = seen_within
                .entry(guard)
                .or_insert_with(|| values_seen_within(block, &insts, &masks, guard));
            block.insts[index].results.iter().all(|&v| within[v])
        };
        insts.iter().copied().filter(|index| is_hidden(index)).collect()
    }
}

/// Returns whether a block is all that a kernel does, and warps differ only by their thread
/// indices.
fn is_kernel(function: &Function, block: &Block) -> bool {
    let ends = match block.term {
        Terminator::Exit => true,
        Terminator::Jump(to) => {
            let block = function.block(to);
            block.insts.is_empty() && block.cost == 0 && block.term == Terminator::Exit
        }
        _ => false,
    };
    let is_same_in_warps = |inst: &Inst| match inst.op {
        Op::LaneId | Op::Special(Special::WarpId | Special::WarpSlot | Special::Clock) => false,
        Op::RfRead { reg, .. } => reg == function.active,
        Op::RfWrite { reg, .. } => !function.is_lane(reg),
        _ => true,
    };
    ends && block.insts.iter().all(is_same_in_warps)
}

/// Returns all steps of a block as a group, if they can form one, with the lane-wise instructions
/// of each phase.
fn full_warp_group(
    function: &Function,
    block: &Block,
    defs: &Defs,
    classes: &Classes,
    plan: &Plan,
) -> Option<(Group, Option<Inner>, Vec<Vec<usize>>)> {
    let mut finder = Finder::new(function, block, false, defs, classes, plan);
    finder.strips = true;
    finder.group.steps = 0..plan.steps.len();
    // Only stores need all lanes to take part, but loads may rely on it.
    for inst in &block.insts {
        if let Op::Store { access, .. } = inst.op
            && !finder.require(access.guard?, true)
        {
            return None;
        }
    }
    let mut phases = vec![Vec::new()];
    let mut loose = false;
    for (number, step) in plan.steps.iter().enumerate() {
        if !finder.takes(number, step) {
            finder.next_phase();
            phases.push(Vec::new());
            if !finder.takes(number, step) {
                return None;
            }
        }
        if let (Step::Segment(insts), Some(phase)) = (step, phases.last_mut()) {
            phase.extend(insts);
        }
        loose |= finder.group.loose;
    }
    if !finder.may_rely_on_facts()
        || finder.group.accesses.is_empty()
        || !finder.group.tiled.is_empty()
    {
        return None;
    }
    let group = Group { loose, ..finder.group.clone() };
    Some((group, inner(block, classes, finder), phases))
}

fn inner(block: &Block, classes: &Classes, mut finder: Finder) -> Option<Inner> {
    let conditions = finder.group.conditions.len();
    for inst in &block.insts {
        if let Op::Load { access, .. } = inst.op
            && let Some(guard) = access.guard
            && !finder.require(guard, true)
        {
            return None;
        }
    }
    let conditions = finder.group.conditions.split_off(conditions);
    // The engine computes between which lanes these conditions hold.
    let is_spaced = |a: Value, b: Value| {
        let step = classes.get(a).stride().unwrap_or(0);
        let sure = [a, b].iter().all(|&v| classes.get(v).is_exact());
        block.ty(a).ty == Type::I32 && (step == 0 || step.unsigned_abs().is_power_of_two()) && sure
    };
    let is_simple = |condition: &Condition| match *condition {
        Condition::Mask { .. } => true,
        Condition::Compare { a, b, .. } => is_spaced(a, b),
        Condition::Below { base, limit, .. } => is_spaced(base, limit),
        Condition::Aligned { .. } => false,
    };
    let fits = !conditions.is_empty() && conditions.iter().all(is_simple);
    fits.then_some(Inner { conditions, settled: finder.group.settled })
}

/// Returns how the result of an operation continues, if it is the same in all lanes or evenly
/// spaced.
fn next_of(
    block: &Block,
    defs: &Defs,
    op: &Op,
    classes: &Classes,
    next: &SecondaryMap<Value, Next>,
) -> Next {
    let of = |v: Value| next[v];
    let mut all_same = true;
    op.for_each_operand(|v| all_same &= of(v) == Next::Same);
    match *op {
        Op::Special(Special::Ctaid(0)) => Next::Moved,
        _ if all_same => Next::Same,
        Op::Splat { a }
        | Op::Unary { op: UnaryOp::Neg, a }
        | Op::Convert { op: ConvertOp::Trunc, a, .. } => of(a),
        // Numbers of blocks are less than 2^31.
        Op::Convert { op: ConvertOp::ZeroExtend | ConvertOp::SignExtend, a, .. }
            if of(a) == Next::Moved =>
        {
            if is_block_number(block, defs, a) {
                Next::Moved
            } else {
                Next::Unknown
            }
        }
        Op::Convert { op: ConvertOp::ZeroExtend | ConvertOp::SignExtend, a, .. } => of(a),
        Op::Concat { lo, hi } if of(hi) == Next::Same && of(lo) == Next::RunsOn => Next::RunsOn,
        Op::Binary { op: BinaryOp::Add | BinaryOp::Sub, a, b } => match (of(a), of(b)) {
            (Next::RunsOn, Next::RunsOn) => Next::RunsOn,
            (Next::RunsOn, Next::Same) if classes.get(b).is_same() => Next::RunsOn,
            (Next::Same, Next::RunsOn) if classes.get(a).is_same() => Next::RunsOn,
            (Next::Moved, Next::Moved | Next::Same) | (Next::Same, Next::Moved) => Next::Moved,
            _ => Next::Unknown,
        },
        Op::Binary { op: BinaryOp::Mul, a, b } => match (of(a), of(b)) {
            (how, Next::Same) if classes.get(b).is_same() => how,
            (Next::Same, how) if classes.get(a).is_same() => how,
            _ => Next::Unknown,
        },
        Op::Binary { op: BinaryOp::Shl, a, b }
            if matches!(def(block, defs, b), Op::Const { .. }) =>
        {
            of(a)
        }
        _ => Next::Unknown,
    }
}

/// Returns the masks that a lane-wise operation uses.
fn masks_used(block: &Block, inst: &Inst) -> SmallVec<[Value; 4]> {
    match inst.op {
        Op::Select { mask, .. } => smallvec![mask],
        Op::AddCarry { carry, .. } => carry.into_iter().collect(),
        Op::Binary { .. } | Op::Unary { .. } if block.ty(inst.results[0]) == ValueType::MASK => {
            inst.op.operands()
        }
        ref op => op.access().and_then(|access| access.guard).into_iter().collect(),
    }
}

fn def<'a>(block: &'a Block, defs: &Defs, v: Value) -> &'a Op {
    &block.insts[defs[v].0].op
}

fn is_block_number(block: &Block, defs: &Defs, v: Value) -> bool {
    match *def(block, defs, v) {
        Op::Splat { a } => is_block_number(block, defs, a),
        ref op => *op == Op::Special(Special::Ctaid(0)),
    }
}

fn by_strip(block: &Block) -> SecondaryMap<Value, bool> {
    let mut depends = table(block.values.len(), false);
    for inst in &block.insts {
        let mut any = matches!(inst.op, Op::Special(Special::Tid(1 | 2)));
        inst.op.for_each_operand(|v| any |= depends[v]);
        inst.results.iter().for_each(|&r| depends[r] = any);
    }
    depends
}

/// Returns for each value whether the value, and all values computed from it, are seen only in the
/// lanes of a mask.
fn values_seen_within(
    block: &Block,
    insts: &[usize],
    masks: &Masks,
    mask: Value,
) -> SecondaryMap<Value, bool> {
    let mut within = table(block.values.len(), true);
    // Uses come after definitions, so the loop visits uses first.
    for &index in insts.iter().rev() {
        let inst = &block.insts[index];
        let hides = match inst.op {
            Op::Store { access, .. } | Op::Load { access, .. } => {
                access.guard.is_some_and(|guard| masks.is_subset(guard, mask))
            }
            ref op => {
                let traits = op.traits();
                traits.pure
                    && !traits.cross_lane
                    && inst.results.iter().all(|&v| block.ty(v) != ValueType::MASK && within[v])
            }
        };
        inst.op.for_each_operand(|v| {
            let chosen = matches!(inst.op, Op::Select { mask: chosen, a, b }
                if a == v && b != v && masks.is_subset(chosen, mask));
            within[v] &= hides || chosen;
        });
    }
    within
}

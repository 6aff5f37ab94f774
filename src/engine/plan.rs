//! Decisions about a block before code is made: steps, classes, and the places of values between
//! steps.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use warploom_analysis::{
    Class, Classes, Execution, Facts, Group, Plan, Sources, Step, Support, Sweep, fixed_lanes,
    groups,
};
use warploom_ir::layout::RegLayout;
use warploom_ir::{Block, BlockId, ConvertOp, Defs, Function, Inst, Op, Reg, Type, Value, table};

use crate::support::support;

/// Slots of the register file, behind the registers, for values that a later step needs in memory.
pub struct Slots {
    /// The offset of each value that has a slot.
    rows: SecondaryMap<Value, Option<u32>>,
    interpreted: SecondaryMap<Value, bool>,
}

impl Slots {
    pub fn row(&self, v: Value) -> u32 {
        self.rows[v].expect("the value has a slot")
    }

    pub fn is_stored(&self, v: Value) -> bool {
        self.rows[v].is_some()
    }

    /// Returns whether the interpreter computes this value.
    pub fn interpreted(&self, v: Value) -> bool {
        self.interpreted[v]
    }
}

pub struct BlockPlan {
    pub classes: Classes,
    /// The classes while all lanes are active, if there may be groups.
    pub full_warp_classes: Option<Classes>,
    pub plan: Plan,
    pub groups: Vec<Group>,
    /// How the kernel runs for strips of lanes, if it is this block and allows it.
    pub sweep: Option<Sweep>,
    /// Whether control may come back to the block.
    pub in_loop: bool,
    pub sources: Sources,
    pub slots: Slots,
    pub defs: Defs,
    pub bits_used: SecondaryMap<Value, bool>,
    /// Bytes of the register file up to the end of the block's slots.
    pub bytes: usize,
}

impl BlockPlan {
    /// Returns the classes while all lanes are active.
    pub fn full_warp_classes(&self) -> &Classes {
        self.full_warp_classes.as_ref().unwrap_or(&self.classes)
    }

    pub fn of(
        function: &Function,
        layout: &RegLayout,
        id: BlockId,
        in_loop: bool,
        execution: Execution,
        facts: Option<&Facts>,
    ) -> BlockPlan {
        let block = function.block(id);
        let defs = block.defs();
        let constant = |v: Value| match block.insts[defs[v].0].op {
            Op::Const { bits, .. } => Some(bits),
            _ => None,
        };
        let support = |inst: &Inst| support(function, &block.values, &constant, inst);
        let active = block.entry_mask(function.active);
        let whole_chunks = u32::from(function.lanes).is_multiple_of(execution.chunk);
        let lane_wise = |inst: &Inst| support(inst) == Support::LaneWise;
        let classes = Classes::of(function, block, execution, &lane_wise);
        let full_warp_classes = facts.filter(|_| whole_chunks).map(|facts| {
            Classes::with_facts(function, block, execution, facts, active, &lane_wise)
        });
        let plan = Plan::of(function, block, &classes, support);
        let sources = plan.steps.iter().flat_map(Step::insts);
        let sources = sources
            .filter_map(|&index| Some((index, gathered(function, block, &defs, index)?)))
            .collect();
        let groups = match &full_warp_classes {
            Some(classes) => groups(function, block, in_loop, &defs, classes, &plan, &sources),
            None => Vec::new(),
        };
        let strips = full_warp_classes.as_ref().filter(|_| id == BlockId(0) && !in_loop);
        let sweep = strips.and_then(|classes| Sweep::of(function, &defs, classes, &plan));
        let mut bytes = layout.bytes() as usize;
        // Warps keep their registers when they go on in better code. With and without groups, each
        // value that may vary in any set of classes therefore has a slot, whatever the facts.
        let interprets =
            plan.steps.iter().any(|step| matches!(step, Step::Interpret(_) | Step::Warp(_)));
        let least_known = (full_warp_classes.is_none() && interprets).then(|| {
            Classes::with_facts(function, block, execution, &Facts::default(), None, &lane_wise)
        });
        let all_classes: Vec<&Classes> =
            std::iter::once(&classes).chain(&full_warp_classes).chain(&least_known).collect();
        let slots = assign_slots(
            function,
            layout,
            block,
            &all_classes,
            (&plan, &sources),
            &defs,
            &mut bytes,
        );
        let bits_used = bits_used(block, &plan);
        BlockPlan {
            classes,
            full_warp_classes,
            plan,
            groups,
            sweep,
            in_loop,
            sources,
            slots,
            defs,
            bits_used,
            bytes,
        }
    }
}

/// Returns the lanes that an exchange between lanes reads, if they are constant.
fn gathered(function: &Function, block: &Block, defs: &Defs, index: usize) -> Option<Vec<u8>> {
    let Op::LaneGather { index, .. } = block.insts[index].op else { return None };
    let lanes = fixed_lanes(function, block, defs, index)?;
    Some(lanes.into_iter().map(|lane| (lane % u64::from(function.lanes)) as u8).collect())
}

fn assign_slots(
    function: &Function,
    layout: &RegLayout,
    block: &Block,
    classes: &[&Classes],
    (plan, sources): (&Plan, &Sources),
    defs: &Defs,
    bytes: &mut usize,
) -> Slots {
    let values = block.values.len();
    let mut slots = Slots { rows: table(values, None), interpreted: table(values, false) };
    let place = |slots: &mut Slots, v: Value, bytes: &mut usize| {
        slots.rows[v].get_or_insert_with(|| {
            let ty = block.ty(v);
            let size = if ty.is_uniform() {
                8
            } else {
                warploom_ir::layout::row_bytes(layout.lanes(), ty.ty)
            };
            *bytes = bytes.next_multiple_of(if ty.is_uniform() { 8 } else { 64 });
            let offset = *bytes as u32;
            *bytes += size as usize;
            offset
        });
    };
    let first_write = first_writes(function, block, plan);
    for (number, step) in plan.steps.iter().enumerate() {
        let (in_memory, interpreted) = match step {
            Step::Interpret(_) => (true, true),
            // The interpreter raises the fault.
            Step::Scalar(index) if matches!(block.insts[*index].op, Op::Raise { .. }) => {
                (true, true)
            }
            Step::Warp(_) => (true, false),
            _ => (false, false),
        };
        for &index in step.insts() {
            let inst = &block.insts[index];
            for v in inst.op.operands() {
                if sources.contains_key(&index)
                    && matches!(inst.op, Op::LaneGather { a, .. } if v != a)
                {
                    continue;
                }
                let foreign = plan.home[v] as usize != number;
                let varying = !block.ty(v).is_uniform();
                if (interpreted && (varying || foreign)) || (in_memory && varying) {
                    place(&mut slots, v, bytes);
                } else if foreign
                    && varying
                    && classes.iter().any(|classes| classes.get(v) == Class::Varying)
                {
                    let row_backed = match block.insts[defs[v].0].op {
                        Op::RfRead { reg, .. } => {
                            first_write.get(&reg).is_none_or(|&written| written >= number)
                        }
                        _ => false,
                    };
                    if !row_backed {
                        place(&mut slots, v, bytes);
                    }
                }
            }
            if in_memory {
                for &v in &inst.results {
                    if interpreted || !block.ty(v).is_uniform() {
                        place(&mut slots, v, bytes);
                    }
                    if interpreted {
                        slots.interpreted[v] = true;
                    }
                }
            }
        }
    }
    slots
}

/// Returns the first step that writes each lane register.
fn first_writes(function: &Function, block: &Block, plan: &Plan) -> FxHashMap<Reg, usize> {
    let mut first = FxHashMap::default();
    for (number, step) in plan.steps.iter().enumerate() {
        for &index in step.insts() {
            match block.insts[index].op {
                Op::RfWrite { reg, .. } => {
                    first.entry(reg).or_insert(number);
                }
                Op::RfScatter { bank, first: from, count, .. }
                    if function.is_lane(bank.reg(from)) =>
                {
                    for reg in from..from + count {
                        first.entry(bank.reg(reg)).or_insert(number);
                    }
                }
                _ => {}
            }
        }
    }
    first
}

/// Returns the float values whose bits can be observed: all but operands of arithmetic. Arithmetic
/// treats all NaNs alike, also behind selects and copies.
fn bits_used(block: &Block, plan: &Plan) -> SecondaryMap<Value, bool> {
    let mut used = table(block.values.len(), false);
    block.term.for_each_operand(|v| used[v] = true);
    for step in plan.steps.iter().rev() {
        let interpreted = matches!(step, Step::Interpret(_) | Step::Warp(_));
        for &index in step.insts().iter().rev() {
            let inst = &block.insts[index];
            let passes = interpreted || shows_bits(block, inst, &used);
            if passes {
                inst.op.for_each_operand(|v| used[v] = true);
            }
        }
    }
    used
}

/// Returns whether the bits of an operation's operands can be observed; `used` tells it of the
/// result. Arithmetic treats all NaNs alike.
pub fn shows_bits(block: &Block, inst: &Inst, used: &SecondaryMap<Value, bool>) -> bool {
    match inst.op {
        _ if inst.op.traits().nans_alike => false,
        Op::Shared { function, .. } => function.ty() != Type::F32,
        // A unary operation changes only a float's sign, but makes another integer.
        Op::Unary { a, .. } if !block.ty(a).ty.is_float() => true,
        Op::Unary { .. }
        | Op::Select { .. }
        | Op::UniformSelect { .. }
        | Op::Splat { .. }
        | Op::Convert { op: ConvertOp::Bitcast, .. } => used[inst.results[0]],
        _ => true,
    }
}

//! Cuts a block into steps: scalar operations, operations on the whole warp, and *segments*. A
//! segment is a run of lane-wise operations that each chunk of lanes may execute by itself: nobody
//! can see that the lanes are not in lockstep.
//!
//! A segment ends where an operation needs the results of all lanes: a cross-lane operation, a mask
//! used as a number, or a memory operation that conflicts with an earlier one. Two memory
//! operations conflict if one of them writes or is atomic. Besides, faults are precise, so a
//! segment that writes memory holds no other memory operation. A store to local memory counts as a
//! load here: other lanes do not see it, and nobody sees it after a fault.

use cranelift_entity::{EntitySet, SecondaryMap};
use warploom_ir::{BankId, Block, Function, Inst, Op, Reg, Space, Value, ValueType, table};

use super::class::{Class, Classes};
use super::editor::is_pure;

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An instruction executed once.
    Scalar(usize),
    /// Instructions executed chunk by chunk.
    Segment(Vec<usize>),
    /// A cross-lane instruction that the engine has code for.
    Warp(usize),
    /// An instruction left to the interpreter.
    Interpret(usize),
}

/// How the engine's own code can execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    LaneWise,
    Warp,
    None,
}

/// The steps of a block, in order.
pub struct Plan {
    pub steps: Vec<Step>,
    /// For each value, the step that computes it.
    pub home: SecondaryMap<Value, u32>,
    /// For each value, whether later steps or the terminator use it.
    pub escapes: SecondaryMap<Value, bool>,
}

struct Planner<'a> {
    function: &'a Function,
    block: &'a Block,
    classes: &'a Classes,
    constants: SecondaryMap<Value, Option<u64>>,
    steps: Vec<Step>,
    /// The steps before the open segment. The segment's instructions (`body`) and the scalar steps
    /// after it (`after`) follow.
    before: Vec<Step>,
    body: Vec<usize>,
    after: Vec<Step>,
    in_body: EntitySet<Value>,
    loads: bool,
    writes: bool,
}

impl Plan {
    pub fn of(
        function: &Function,
        block: &Block,
        classes: &Classes,
        support: impl Fn(&Inst) -> Support,
    ) -> Plan {
        let mut planner = Planner {
            function,
            block,
            classes,
            constants: constants(block),
            steps: Vec::new(),
            before: Vec::new(),
            body: Vec::new(),
            after: Vec::new(),
            in_body: EntitySet::with_capacity(block.values.len()),
            loads: false,
            writes: false,
        };
        for (index, inst) in block.insts.iter().enumerate() {
            planner.place(index, inst, support(inst));
        }
        planner.close();
        let steps = planner.steps;
        let mut home = table(block.values.len(), 0u32);
        let mut escapes = table(block.values.len(), false);
        for (number, step) in steps.iter().enumerate() {
            for &index in step.insts() {
                for result in &block.insts[index].results {
                    home[*result] = number as u32;
                }
            }
            for &index in step.insts() {
                block.insts[index].op.for_each_operand(|v| escapes[v] |= home[v] != number as u32);
            }
        }
        block.term.for_each_operand(|v| escapes[v] = true);
        Plan { steps, home, escapes }
    }
}

impl Step {
    /// Returns the instructions of the step.
    pub fn insts(&self) -> &[usize] {
        match self {
            Step::Scalar(index) | Step::Warp(index) | Step::Interpret(index) => {
                std::slice::from_ref(index)
            }
            Step::Segment(insts) => insts,
        }
    }
}

impl Planner<'_> {
    fn place(&mut self, index: usize, inst: &Inst, support: Support) {
        match support {
            Support::None if self.comes_before_the_body(&inst.op) => {
                return self.before.push(Step::Interpret(index));
            }
            Support::None => return self.alone(Step::Interpret(index)),
            Support::Warp => return self.place_on_warp(index, &inst.op),
            Support::LaneWise => {}
        }
        match &inst.op {
            Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. } => {
                if self.block.ty(access.address).is_uniform() {
                    if self.is_pure(&inst.op) && !self.uses_body(&inst.op) {
                        return self.before.push(Step::Scalar(index));
                    }
                    return self.alone(Step::Scalar(index));
                }
                let writes = !matches!(inst.op, Op::Load { .. }) && access.space != Space::Local;
                if self.writes || (writes && self.loads) {
                    self.close();
                }
                self.add_to_body(index, inst);
                self.loads |= !writes;
                self.writes |= writes;
            }
            // Earlier operations of the segment may fault first.
            Op::Raise { .. } if self.loads || self.writes || self.uses_body(&inst.op) => {
                self.alone(Step::Scalar(index))
            }
            Op::Raise { .. } => self.before.push(Step::Scalar(index)),
            Op::Fence => self.alone(Step::Scalar(index)),
            Op::RfWrite { reg, value, .. } if !self.function.is_lane(*reg) => {
                debug_assert!(
                    !self.is_pending(*reg) || self.in_body.contains(*value),
                    "an earlier write comes later"
                );
                if self.in_body.contains(*value) {
                    self.after.push(Step::Scalar(index));
                } else {
                    self.before.push(Step::Scalar(index));
                }
            }
            Op::RfRead { reg, .. } if !self.function.is_lane(*reg) => {
                debug_assert!(!self.is_pending(*reg), "it reads what is written later");
                self.before.push(Step::Scalar(index));
            }
            Op::RfGather { bank, first, .. } | Op::RfScatter { bank, first, .. } => {
                let lanes = self.function.is_lane(bank.reg(*first))
                    || has_varying_operand(&inst.op, self.classes);
                if lanes || self.is_bank_pending(*bank) || self.uses_body(&inst.op) {
                    self.alone(Step::Scalar(index));
                } else {
                    self.before.push(Step::Scalar(index));
                }
            }
            op if self.is_scalar(inst) => {
                if !self.uses_body(op) {
                    self.before.push(Step::Scalar(index));
                } else if is_lane_mask(op, self.block) {
                    self.add_to_body(index, inst);
                } else {
                    self.close();
                    self.before.push(Step::Scalar(index));
                }
            }
            _ => self.add_to_body(index, inst),
        }
    }

    /// Places an operation on the whole warp.
    ///
    /// Only region operations access byte arrays, so a read comes before the open segment and a
    /// write after it.
    fn place_on_warp(&mut self, index: usize, op: &Op) {
        match *op {
            Op::RegionRead { reg, .. } if !self.uses_body(op) && !self.is_pending(reg) => {
                self.before.push(Step::Warp(index));
            }
            Op::RegionWrite { .. } => self.after.push(Step::Warp(index)),
            _ => self.alone(Step::Warp(index)),
        }
    }

    /// Returns the registers that are written after the open segment.
    fn pending(&self) -> impl Iterator<Item = Reg> {
        let insts = self.after.iter().flat_map(Step::insts);
        insts.filter_map(|&index| match self.block.insts[index].op {
            Op::RfWrite { reg, .. } | Op::RegionWrite { reg, .. } => Some(reg),
            _ => None,
        })
    }

    fn is_pending(&self, reg: Reg) -> bool {
        self.pending().any(|pending| pending == reg)
    }

    /// Returns whether any register of a bank is written after the open segment.
    fn is_bank_pending(&self, bank: BankId) -> bool {
        self.pending().any(|pending| pending.bank == bank)
    }

    /// Returns whether an instruction computes one value for the warp: all its results are uniform,
    /// and no operand varies.
    fn is_scalar(&self, inst: &Inst) -> bool {
        !inst.results.is_empty()
            && inst.results.iter().all(|&r| self.classes.get(r) == Class::Uniform)
            && !has_varying_operand(&inst.op, self.classes)
    }

    fn is_pure(&self, op: &Op) -> bool {
        is_pure(op, |v| self.constants[v].filter(|_| self.block.ty(v).is_uniform()))
    }

    /// Returns whether an operation is a load at a uniform address that may move before the body.
    ///
    /// Nobody can tell the difference: nothing in the body faults or writes, and the active lanes,
    /// one of which a fault names, are known before the body.
    fn comes_before_the_body(&self, op: &Op) -> bool {
        let Op::Load { access, .. } = op else { return false };
        self.block.ty(access.address).is_uniform()
            && !self.uses_body(op)
            && !self.loads
            && !self.writes
            && !self.is_pending(self.function.active)
    }

    fn uses_body(&self, op: &Op) -> bool {
        let mut uses = false;
        op.for_each_operand(|v| uses |= self.in_body.contains(v));
        uses
    }

    fn add_to_body(&mut self, index: usize, inst: &Inst) {
        if counts_mask(&inst.op, self.block, |v| self.in_body.contains(v)) {
            self.close();
        }
        self.body.push(index);
        for result in &inst.results {
            self.in_body.insert(*result);
        }
    }

    fn alone(&mut self, step: Step) {
        self.close();
        self.steps.push(step);
    }

    fn close(&mut self) {
        self.steps.append(&mut self.before);
        if !self.body.is_empty() {
            self.steps.push(Step::Segment(std::mem::take(&mut self.body)));
        }
        self.steps.append(&mut self.after);
        self.in_body.clear();
        self.loads = false;
        self.writes = false;
    }
}

/// Returns whether an operation is bitwise on masks. It stays inside a segment: bit i of the result
/// comes from bits i of the operands.
fn is_lane_mask(op: &Op, block: &Block) -> bool {
    matches!(*op, Op::Binary { a, .. } | Op::Unary { a, .. } if block.ty(a) == ValueType::MASK)
}

/// Returns whether an operation needs the bits of all lanes of a mask for which `of` holds.
pub(super) fn counts_mask(op: &Op, block: &Block, of: impl Fn(Value) -> bool) -> bool {
    let whole = |v: Value| of(v) && block.ty(v) == ValueType::MASK;
    match *op {
        _ if op.traits().masks_by_lane => false,
        Op::RfWrite { value, .. } => whole(value),
        _ => !is_lane_mask(op, block) && op.operands().into_iter().any(whole),
    }
}

/// Returns whether any operand varies. Compares are uniform in type and still lane-wise.
fn has_varying_operand(op: &Op, classes: &Classes) -> bool {
    let mut varying = false;
    op.for_each_operand(|v| varying |= classes.get(v) != Class::Uniform);
    varying
}

/// Returns the bits of the values that are constants.
fn constants(block: &Block) -> SecondaryMap<Value, Option<u64>> {
    let mut constants = table(block.values.len(), None);
    for inst in &block.insts {
        if let Op::Const { bits, .. } = inst.op {
            constants[inst.results[0]] = Some(bits);
        }
    }
    constants
}

//! The values that an operation, an instruction or a terminator uses. No other module knows them.

use smallvec::SmallVec;

use super::function::{BlockId, Inst, Terminator, Value};
use super::op::{Access, Op};
use super::register::Reg;

/// Visits every operand in the order of its field in the declaration (an access: address, then
/// guard). It is a macro because it works on both `&` and `&mut`.
macro_rules! visit_op {
    ($op:expr, $f:expr) => {
        match $op {
            Op::Const { .. } | Op::LaneId | Op::Special(_) | Op::RfRead { .. } | Op::Fence => {}
            Op::Splat { a }
            | Op::Unary { a, .. }
            | Op::Convert { a, .. }
            | Op::FUnary { a, .. }
            | Op::FConvert { a, .. }
            | Op::IntToFloat { a, .. }
            | Op::FloatToInt { a, .. }
            | Op::Shared { a, .. } => $f(a),
            Op::Binary { a, b, .. }
            | Op::ICmp { a, b, .. }
            | Op::FCmp { a, b, .. }
            | Op::FBinary { a, b, .. } => {
                $f(a);
                $f(b);
            }
            Op::AddCarry { a, b, carry } => {
                $f(a);
                $f(b);
                if let Some(carry) = carry {
                    $f(carry);
                }
            }
            Op::Select { mask: x, a, b } | Op::UniformSelect { cond: x, a, b } => {
                $f(x);
                $f(a);
                $f(b);
            }
            Op::Concat { lo, hi } => {
                $f(lo);
                $f(hi);
            }
            Op::Fma { a, b, c, .. } => {
                $f(a);
                $f(b);
                $f(c);
            }
            Op::LaneGather { a, index: x } | Op::LaneRead { a, lane: x } => {
                $f(a);
                $f(x);
            }
            Op::LaneScatter { a, index, lanes } => {
                $f(a);
                $f(index);
                $f(lanes);
            }
            Op::Unpack { format, a } | Op::Pack { format, a } => {
                $f(format);
                for a in a {
                    $f(a);
                }
            }
            Op::Product { args, .. } => {
                for arg in args {
                    $f(arg);
                }
            }
            Op::RfGather { index, .. } => $f(index),
            Op::Sample { image, sampler, args, guard, .. } => {
                $f(image);
                $f(sampler);
                for arg in args {
                    $f(arg);
                }
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::Wide { args, guard, .. } | Op::Observe { args, guard, .. } => {
                for arg in args {
                    $f(arg);
                }
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::Raise { guard, .. } => {
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::RegionRead { index, .. } => {
                if let Some(index) = index {
                    $f(index);
                }
            }
            Op::RegionWrite { index, value, guard, .. } => {
                if let Some(index) = index {
                    $f(index);
                }
                $f(value);
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::RfWrite { value, guard, .. } => {
                $f(value);
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::RfScatter { index, value, guard, .. } => {
                $f(index);
                $f(value);
                if let Some(guard) = guard {
                    $f(guard);
                }
            }
            Op::Load { access, .. } => visit_access!(access, $f),
            Op::Store { access, values, .. } => {
                visit_access!(access, $f);
                for value in values {
                    $f(value);
                }
            }
            Op::Atomic { access, value, compare, .. } => {
                visit_access!(access, $f);
                $f(value);
                if let Some(compare) = compare {
                    $f(compare);
                }
            }
        }
    };
}

macro_rules! visit_access {
    ($access:expr, $f:expr) => {{
        let Access { address, guard, .. } = $access;
        $f(address);
        if let Some(guard) = guard {
            $f(guard);
        }
    }};
}

macro_rules! visit_terminator {
    ($term:expr, $f:expr) => {
        match $term {
            Terminator::Jump(_)
            | Terminator::Lanes { .. }
            | Terminator::Exit
            | Terminator::Trap { .. }
            | Terminator::Deadlock { .. } => {}
            Terminator::Dispatch { from, .. } => {
                if let Some(from) = from {
                    $f(from);
                }
            }
            Terminator::Branch { cond, .. } => $f(cond),
            Terminator::Switch { value, .. } => $f(value),
            Terminator::Indirect { pc } => $f(pc),
            Terminator::Service { lanes, .. } => $f(lanes),
            Terminator::Barrier { barrier, .. } => {
                let super::function::Barrier { kind: _, counts: _, id, threads, predicate } =
                    barrier;
                $f(id);
                if let Some(threads) = threads {
                    $f(threads);
                }
                if let Some(predicate) = predicate {
                    $f(predicate);
                }
            }
        }
    };
}

macro_rules! visit_targets {
    ($term:expr, $f:expr) => {
        match $term {
            Terminator::Jump(target) => $f(target),
            Terminator::Branch { then, otherwise, .. } => {
                $f(then);
                $f(otherwise);
            }
            Terminator::Switch { cases, default, .. } => {
                for (_, target) in cases {
                    $f(target);
                }
                $f(default);
            }
            Terminator::Dispatch { places, otherwise, .. } => {
                for (_, target) in places {
                    $f(target);
                }
                $f(otherwise);
            }
            Terminator::Barrier { resume, .. }
            | Terminator::Lanes { resume, .. }
            | Terminator::Service { resume, .. } => $f(resume),
            Terminator::Indirect { .. }
            | Terminator::Exit
            | Terminator::Trap { .. }
            | Terminator::Deadlock { .. } => {}
        }
    };
}

pub type Operands = SmallVec<[Value; 4]>;

impl Op {
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let mut visit = |value: &Value| f(*value);
        visit_op!(self, visit)
    }

    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        let mut visit = |value: &mut Value| *value = f(*value);
        visit_op!(self, visit)
    }

    pub fn operands(&self) -> Operands {
        let mut out = Operands::new();
        self.for_each_operand(|value| out.push(value));
        out
    }

    /// The access of a memory operation.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. } => {
                Some(access)
            }
            _ => None,
        }
    }

    /// The guard and `nomask` of an operation that takes them.
    pub fn masking(&self) -> Option<(Option<Value>, bool)> {
        match self {
            Op::RfWrite { guard, nomask, .. }
            | Op::RfScatter { guard, nomask, .. }
            | Op::RegionWrite { guard, nomask, .. }
            | Op::Sample { guard, nomask, .. }
            | Op::Wide { guard, nomask, .. }
            | Op::Observe { guard, nomask, .. }
            | Op::Raise { guard, nomask, .. } => Some((*guard, *nomask)),
            _ => self.access().map(|access| (access.guard, access.nomask)),
        }
    }
}

impl Inst {
    pub fn for_each_operand(&self, f: impl FnMut(Value)) {
        self.op.for_each_operand(f);
    }

    pub fn map_operands(&mut self, f: impl FnMut(Value) -> Value) {
        self.op.map_operands(f);
    }

    pub fn operands(&self) -> Operands {
        self.op.operands()
    }
}

impl Terminator {
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let mut visit = |value: &Value| f(*value);
        visit_terminator!(self, visit)
    }

    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        let mut visit = |value: &mut Value| *value = f(*value);
        visit_terminator!(self, visit)
    }

    pub fn operands(&self) -> Operands {
        let mut out = Operands::new();
        self.for_each_operand(|value| out.push(value));
        out
    }

    /// The mask registers that the terminator reads implicitly. A dispatcher also writes them.
    pub fn registers(&self) -> SmallVec<[Reg; 8]> {
        match self {
            Terminator::Dispatch { places, .. } => places.iter().map(|&(reg, _)| reg).collect(),
            Terminator::Deadlock { waiting } => waiting.iter().map(|&(reg, _)| reg).collect(),
            _ => SmallVec::new(),
        }
    }

    /// Visits the blocks that the terminator names. [`Terminator::Indirect`] may also go to any
    /// [`Block::indirect_target`].
    ///
    /// [`Block::indirect_target`]: super::function::Block::indirect_target
    pub fn for_each_target(&self, mut f: impl FnMut(BlockId)) {
        let mut visit = |target: &BlockId| f(*target);
        visit_targets!(self, visit)
    }

    pub fn map_targets(&mut self, mut f: impl FnMut(BlockId) -> BlockId) {
        let mut visit = |target: &mut BlockId| *target = f(*target);
        visit_targets!(self, visit)
    }
}

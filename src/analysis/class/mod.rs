//! Classifies how each value varies over the lanes of a chunk.

mod choice;
mod launched;
mod low_word;

use std::cell::OnceCell;

pub use choice::Choice;
use cranelift_entity::{EntitySet, SecondaryMap};
pub use launched::{Execution, GridClass, LaunchClass, Launched};
use low_word::Known;
pub use low_word::{LowWord, low_word};
use rustc_hash::FxHashMap;
use warploom_ir::{
    BinaryOp, Block, ConvertOp, Defs, Function, Inst, IntCc, Op, Special, Type, UnaryOp, Value,
    ValueType, table,
};

use super::bounds::bound_in;
use super::facts::{Facts, written_registers};
use super::masks::{Masks, is_all_or_none};

/// The most operations in a row that make an affine value or an alike mask from a lane's number, a
/// row or a uniform value.
///
/// Engines recompute these values at each use, with one recursive call per operation. A value that
/// needs more operations is varying.
const MOST_OPERATIONS: u32 = 200;

/// Bound of [`Class::stride`]. The values of any two lanes of a block, at most 2048 lanes, are then
/// less than 2^31 apart.
const MAX_STRIDE: u64 = 1 << 18;

/// The variation of a value over the lanes of a chunk.
///
/// Lane `i` of an affine value is lane 0 plus `i * step`, wrapping in the value's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// All lanes of the warp have one value.
    Uniform,
    /// Lane `i` is lane 0 plus `i * step`.
    ///
    /// If `exact` is false, this holds only under a condition, which users must check: (a) the
    /// 32-bit value that is extended does not wrap within the chunk, and the word above it, if it
    /// is a register's, is equal in all lanes; (b) the bits that are cut off are equal in all
    /// lanes; or (c) all lanes choose alike ([`Choice`]).
    Affine {
        step: i64,
        exact: bool,
    },
    Varying,
}

impl Class {
    pub const SAME_IN_CHUNK: Class = Class::Affine { step: 0, exact: true };

    /// Whether all lanes of each chunk, or of the warp, have one value.
    pub fn is_same(self) -> bool {
        self.affine() == Some((0, true))
    }

    /// Returns the distance from lane to lane if it is known and not large: many lanes together
    /// stay far from wrapping.
    pub fn stride(self) -> Option<i64> {
        self.affine().map(|(step, _)| step).filter(|step| step.unsigned_abs() <= MAX_STRIDE)
    }

    /// Whether a value is evenly spaced without a condition.
    pub fn is_exact(self) -> bool {
        self.affine().is_some_and(|(_, exact)| exact)
    }

    /// Returns step and exactness. A uniform value has step 0.
    pub fn affine(self) -> Option<(i64, bool)> {
        match self {
            Class::Uniform => Some((0, true)),
            Class::Affine { step, exact } => Some((step, exact)),
            Class::Varying => None,
        }
    }
}

/// The bits of values that are constants.
type Constants = SecondaryMap<Value, Option<u64>>;

/// The class of every value of a block.
pub struct Classes {
    /// The number of lanes of a warp.
    lanes: u8,
    classes: SecondaryMap<Value, Class>,
    /// Masks that have all lanes of a chunk or none of them.
    alike: SecondaryMap<Value, bool>,
    choices: FxHashMap<Value, Choice>,
    /// Values that are evenly spaced because of a choice.
    chosen: EntitySet<Value>,
    execution: Execution,
    /// Facts at the block's entry about registers that nothing has written yet, if the classes
    /// describe only some lanes.
    facts: Option<Facts>,
}

impl Classes {
    /// Returns the classes of all lanes.
    ///
    /// A value that is not `computable` again from its operands is varying, unless it is uniform.
    pub fn of(
        function: &Function,
        block: &Block,
        execution: Execution,
        computable: &dyn Fn(&Inst) -> bool,
    ) -> Classes {
        Classes::compute(function.lanes, block, execution, None, computable)
    }

    /// Returns the classes of the lanes of the mask `lanes`, or of a subset.
    ///
    /// `facts` hold for the registers of these lanes at the block's entry.
    pub fn with_facts(
        function: &Function,
        block: &Block,
        execution: Execution,
        facts: &Facts,
        lanes: Option<Value>,
        computable: &dyn Fn(&Inst) -> bool,
    ) -> Classes {
        Classes::compute(function.lanes, block, execution, Some((facts, lanes)), computable)
    }

    fn compute(
        lanes: u8,
        block: &Block,
        execution: Execution,
        active: Option<(&Facts, Option<Value>)>,
        computable: &dyn Fn(&Inst) -> bool,
    ) -> Classes {
        let facts = active.map(|(facts, _)| facts.clone());
        let active = active.and_then(|(_, mask)| mask);
        let (varying, different) =
            (table(block.values.len(), Class::Varying), table(block.values.len(), false));
        let mut classes = Classes {
            lanes,
            classes: varying,
            alike: different,
            choices: FxHashMap::default(),
            chosen: EntitySet::new(),
            execution,
            facts,
        };
        let mut rows = table(block.values.len(), false);
        // The number of operations in a row that make each affine value and alike mask.
        let mut operations: SecondaryMap<Value, u32> = table(block.values.len(), 0);
        let mut constants: Constants = table(block.values.len(), None);
        let made = OnceCell::new();
        let defs = || -> &Defs { made.get_or_init(|| block.defs()) };
        let most = |v: Value| {
            let def = |v: Value| &block.insts[defs()[v].0].op;
            bound_in(execution.launch.grid, |v| block.ty(v).ty, def, v).max
        };
        let is_subset = |a, b| Masks::of(lanes, &block.insts, defs()).is_subset(a, b);
        for inst in &block.insts {
            if let Some(facts) = &mut classes.facts {
                written_registers(&inst.op, |reg| {
                    facts.remove(reg);
                });
            }
            let Some(&result) = inst.results.first() else { continue };
            let length = classes.operations_in_a_row(block, &inst.op, &operations);
            inst.results.iter().for_each(|&r| operations[r] = length);
            let is_short = length <= MOST_OPERATIONS;
            let alike = is_short && classes.makes_alike(&inst.op, &constants);
            for r in &inst.results {
                if block.ty(*r).is_uniform() {
                    classes.classes[*r] = Class::Uniform;
                    classes.alike[*r] = alike && block.ty(*r) == ValueType::MASK;
                }
            }
            if !is_short || inst.results.len() > 1 && !matches!(inst.op, Op::AddCarry { .. }) {
                continue;
            }
            match inst.op {
                Op::RfRead { .. } => rows[result] = true,
                // A register's varying row as high word: engines compare its lanes.
                Op::Concat { lo, hi } if classes.facts.is_some() && rows[hi] => {
                    if let (Some((step, true)), Class::Varying) =
                        (classes.get(lo).affine(), classes.get(hi))
                    {
                        classes.classes[result] = Class::Affine { step, exact: false };
                        continue;
                    }
                }
                Op::Const { bits, .. } => constants[result] = Some(bits),
                Op::Splat { a } => constants[result] = constants[a],
                Op::Select { mask, a, .. }
                    if active.is_some_and(|active| is_subset(active, mask)) =>
                {
                    classes.classes[result] = match classes.get(a) {
                        Class::Uniform => Class::SAME_IN_CHUNK,
                        class => class,
                    };
                    continue;
                }
                _ => {}
            }
            classes.classes[result] = if block.ty(result).is_uniform() {
                Class::Uniform
            } else {
                let ty = block.ty(result).ty;
                let known = Known {
                    def: &|v| &block.insts[defs()[v].0].op,
                    ty: &|v| block.ty(v).ty,
                    constants: &constants,
                };
                match classes.result(inst, &known, ty, &most) {
                    // Integers of less than 32 bits wrap after a few lanes, and engines keep them
                    // in wider cells.
                    Class::Affine { step, .. } if step != 0 && ty.bits() < 32 => Class::Varying,
                    Class::Affine { .. } if !computable(inst) => Class::Varying,
                    Class::Varying if classes.facts.is_some() && computable(inst) => {
                        let def = |v: Value| {
                            Some(&block.insts[defs()[v].0]).filter(|inst| computable(inst))
                        };
                        classes.chooses(&inst.op, def, &constants).map_or(
                            Class::Varying,
                            |choice| {
                                classes.choices.insert(result, choice);
                                Class::Affine {
                                    step: classes.get(choice.chosen).stride().unwrap_or(0),
                                    exact: false,
                                }
                            },
                        )
                    }
                    class => class,
                }
            };
            if matches!(classes.get(result), Class::Affine { exact: false, .. }) {
                let mut chosen = classes.choices.contains_key(&result);
                inst.op.for_each_operand(|v| chosen |= classes.chosen.contains(v));
                if chosen {
                    classes.chosen.insert(result);
                }
            }
        }
        classes
    }

    /// Returns the length of the longest chain of operations that engines may repeat for the result
    /// of `op`, with `op` itself.
    ///
    /// A scalar or varying value is computed once, and ends a chain.
    fn operations_in_a_row(
        &self,
        block: &Block,
        op: &Op,
        operations: &SecondaryMap<Value, u32>,
    ) -> u32 {
        let (mut longest, mut is_scalar) = (0, true);
        op.for_each_operand(|v| {
            is_scalar &= block.ty(v).is_uniform() && !self.is_alike(v);
            if self.get(v) != Class::Varying {
                longest = longest.max(operations[v]);
            }
        });
        if is_scalar { 0 } else { longest + 1 }
    }

    pub fn get(&self, value: Value) -> Class {
        self.classes[value]
    }

    /// Whether a mask has all lanes of each chunk (of the warp, if affine values span it) or none.
    pub fn is_alike(&self, mask: Value) -> bool {
        self.alike[mask]
    }

    /// Whether an operation makes a mask whose lanes are alike.
    fn makes_alike(&self, op: &Op, constants: &Constants) -> bool {
        let same = |v: Value| self.get(v).is_same();
        match *op {
            Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } => same(a) && same(b),
            Op::AddCarry { a, b, carry } => {
                same(a)
                    && same(b)
                    && carry.is_none_or(|carry| self.is_alike_or_known(carry, constants))
            }
            Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b } => {
                self.is_alike_or_known(a, constants) && self.is_alike_or_known(b, constants)
            }
            Op::Unary { op: UnaryOp::Not, a } => self.is_alike_or_known(a, constants),
            _ => false,
        }
    }

    fn is_alike_or_known(&self, mask: Value, constants: &Constants) -> bool {
        self.is_alike(mask) || constants[mask].is_some_and(|bits| is_all_or_none(bits, self.lanes))
    }

    /// Whether the classes describe only some lanes, and rely on registers' contents at the block's
    /// entry.
    pub fn of_some_lanes(&self) -> bool {
        self.facts.is_some()
    }

    /// Returns the number of lanes that the back end executes at a time.
    pub fn chunk(&self) -> u32 {
        self.execution.chunk
    }

    pub fn launch(&self) -> LaunchClass {
        self.execution.launch.block
    }

    /// Returns an ordered compare of an evenly spaced value with a value that all lanes share, in
    /// this order.
    pub fn spaced_compare(&self, cc: IntCc, a: Value, b: Value) -> Option<(IntCc, Value, Value)> {
        if matches!(cc, IntCc::Eq | IntCc::Ne) {
            return None;
        }
        match [a, b].map(|v| self.get(v).stride()) {
            [Some(_), Some(0)] => Some((cc, a, b)),
            [Some(0), Some(_)] => Some((cc.swapped(), b, a)),
            _ => None,
        }
    }

    /// Whether affine values are affine over the whole warp, not only in each chunk.
    pub fn span_warp(&self) -> bool {
        matches!(self.execution.launch.block, LaunchClass::Line | LaunchClass::Warp)
    }

    /// Returns the class of an operation's first result, of type `ty`. `most` bounds values.
    fn result(
        &self,
        inst: &Inst,
        known: &Known<'_>,
        ty: Type,
        most: &dyn Fn(Value) -> u64,
    ) -> Class {
        let (op, constants) = (&inst.op, known.constants);
        // Evenly spaced words that do not cross 2^31 keep their distance when they are extended.
        let extended = |v: Value, step: i64, exact: bool| {
            let exact = exact && step.unsigned_abs() <= MAX_STRIDE && most(v) <= i32::MAX as u64;
            Class::Affine { step, exact }
        };
        let class = |v: Value| self.get(v);
        let signed = |v: Value| constants[v].map(|bits| sign_extend(bits, ty));
        match *op {
            Op::Splat { a } => class(a),
            Op::LaneId => Class::Affine { step: 1, exact: true },
            Op::Special(Special::Tid(axis)) => self.execution.launch.block.tid(axis),
            Op::Unary { op: UnaryOp::Not | UnaryOp::Neg, a } => scale(class(a), -1, ty),
            Op::Binary { op: BinaryOp::Add, a, b } => combine(class(a), class(b), 1, ty),
            Op::Binary { op: BinaryOp::Sub, a, b } => combine(class(a), class(b), -1, ty),
            Op::Binary { op: BinaryOp::Mul, a, b } => match (signed(a), signed(b)) {
                (_, Some(k)) => scale(class(a), k, ty),
                (Some(k), _) => scale(class(b), k, ty),
                _ => same(op, self),
            },
            Op::Binary { op: BinaryOp::Shl, a, b } => match constants[b] {
                Some(k) if k < u64::from(ty.bits()) => {
                    scale(class(a), 1i64.wrapping_shl(k as u32), ty)
                }
                _ => same(op, self),
            },
            Op::Binary { op: BinaryOp::And, a, b } => match (constants[a], constants[b]) {
                (_, Some(bits)) => cut(class(a), bits, ty).unwrap_or_else(|| same(op, self)),
                (Some(bits), _) => cut(class(b), bits, ty).unwrap_or_else(|| same(op, self)),
                _ => same(op, self),
            },
            Op::AddCarry { a, b, carry } => match carry {
                None => combine(class(a), class(b), 1, ty),
                Some(carry) if self.is_alike_or_known(carry, constants) => {
                    match combine(class(a), class(b), 1, ty) {
                        Class::Uniform => Class::SAME_IN_CHUNK,
                        // An inexact sum would be recomputed at its uses, from a mask that is not
                        // available there.
                        Class::Affine { exact: false, .. } => Class::Varying,
                        class => class,
                    }
                }
                Some(_) => Class::Varying,
            },
            // The high word is the same in all lanes.
            Op::Concat { lo, hi } if class(hi).is_same() => match class(lo) {
                Class::Affine { step, exact: true } if step != 0 => extended(lo, step, true),
                _ => same(op, self),
            },
            Op::Select { mask, a, b }
                if self.is_alike(mask) && class(a).is_same() && class(b).is_same() =>
            {
                Class::SAME_IN_CHUNK
            }
            Op::Convert { op: ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, .. } => {
                match class(a) {
                    Class::Affine { step, exact } if step != 0 => extended(a, step, exact),
                    other => other,
                }
            }
            Op::Convert { op: ConvertOp::Trunc, a, .. } => match class(a) {
                Class::Affine { .. } if ty == Type::I32 && !self.chosen.contains(a) => {
                    self.of_low_word(a, known)
                }
                Class::Affine { step, exact } => {
                    Class::Affine { step: sign_extend(step as u64, ty), exact }
                }
                other => other,
            },
            // The upper word and the sign of a small number are 0 in all lanes.
            Op::Convert { op: ConvertOp::HighHalf, .. } | Op::Binary { op: BinaryOp::ShrS, .. } => {
                match same(op, self) {
                    Class::Varying if most(inst.results[0]) == 0 => Class::SAME_IN_CHUNK,
                    class => class,
                }
            }
            Op::RfRead { reg, .. } => match self.facts.as_ref().and_then(|facts| facts.get(reg)) {
                Some(step) => Class::Affine { step, exact: true },
                None => Class::Varying,
            },
            Op::RfGather { .. }
            | Op::RegionRead { .. }
            | Op::Load { .. }
            | Op::Atomic { .. }
            | Op::Wide { .. }
            | Op::LaneGather { .. }
            | Op::LaneScatter { .. }
            | Op::Product { .. }
            | Op::Select { .. }
            | Op::Special(_) => Class::Varying,
            ref op => same(op, self),
        }
    }
}

/// Returns the number of low bits that a constant mask keeps, if words stay evenly spaced under it:
/// the bits above are the same in most warps.
pub fn kept_bits(bits: u64) -> Option<u32> {
    let kept = (!bits & Type::I32.bit_mask()).trailing_zeros();
    (LEAST_KEPT..32).contains(&kept).then_some(kept)
}

const LEAST_KEPT: u32 = 20;

/// Returns the class of evenly spaced words that are masked with `bits`.
fn cut(a: Class, bits: u64, ty: Type) -> Option<Class> {
    let step = a.stride().filter(|&step| step != 0 && ty == Type::I32)?;
    kept_bits(bits).map(|_| Class::Affine { step, exact: false })
}

/// Returns the class of a pure operation by its operands: if they do not vary (in the chunk),
/// neither does the result.
fn same(op: &Op, classes: &Classes) -> Class {
    let mut result = Class::Uniform;
    op.for_each_operand(|v| {
        result = match (result, classes.get(v)) {
            (Class::Varying, _) | (_, Class::Varying) => Class::Varying,
            (a, Class::Uniform) => a,
            (_, Class::Affine { step: 0, exact: true }) => Class::SAME_IN_CHUNK,
            _ => Class::Varying,
        };
    });
    result
}

fn combine(a: Class, b: Class, sign: i64, ty: Type) -> Class {
    match (a, b) {
        (Class::Uniform, Class::Uniform) => Class::Uniform,
        _ => match (a.affine(), b.affine()) {
            (Some((x, ex)), Some((y, ey))) => Class::Affine {
                step: sign_extend(x.wrapping_add(y.wrapping_mul(sign)) as u64, ty),
                exact: ex && ey,
            },
            _ => Class::Varying,
        },
    }
}

fn scale(a: Class, k: i64, ty: Type) -> Class {
    match a {
        Class::Affine { step, exact } => {
            Class::Affine { step: sign_extend(step.wrapping_mul(k) as u64, ty), exact }
        }
        other => other,
    }
}

fn sign_extend(bits: u64, ty: Type) -> i64 {
    let shift = 64 - ty.bits();
    ((bits << shift) as i64) >> shift
}

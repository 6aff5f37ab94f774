//! Separates flushes of denormals from operations, where a value may be a denormal.
//!
//! An operation that flushes does so with each operand and with its result. Most operands are
//! results of flushing operations, and many results are never denormal: a multiple of 2^-126 is 0
//! or normal. Sums with a constant that is not tiny, values rounded to an integral value, integers
//! converted to floats, products of integral values with constants, and roots are no denormals. Nor
//! is a sum of values that are no denormals and not less than 0, such as squares.

use cranelift_entity::packed_option::ReservedValue;
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warploom_ir::{
    Block, ConvertOp, FloatAttrs, FloatBinaryOp, FloatUnaryOp, Inst, Op, SharedFn, Type, UnaryOp,
    Value, ValueType, Values, Window, numbered,
};

/// The exponent of the least denormal, and of the least normal number.
const LEAST: i32 = -149;
const LEAST_NORMAL: i32 = -126;
/// The exponent of the last place of the greatest number. 0 counts as a multiple of it.
const GREATEST: i32 = 104;
/// The number of binary places of an `f32` after the first.
const PLACES: i32 = 23;

/// The facts known about the bits of a value as an `f32`.
#[derive(Clone, Copy)]
struct Known {
    /// The value is no denormal.
    normal: bool,
    /// The value is a multiple of 2^step, infinite or NaN.
    step: i32,
    /// For a constant that is a normal number: its magnitude is from 2^exponent to twice that.
    exponent: Option<i32>,
    /// The value is not less than 0, or it is NaN.
    positive: bool,
}

impl Known {
    const NOTHING: Known = Known { normal: false, step: LEAST, exponent: None, positive: false };

    fn multiple(step: i32) -> Known {
        let step = step.clamp(LEAST, GREATEST);
        Known { normal: step >= LEAST_NORMAL, step, ..Known::NOTHING }
    }

    fn constant(bits: u32) -> Known {
        let (exponent, mantissa) = ((bits >> PLACES & 0xff) as i32, bits & 0x7f_ffff);
        let positive = bits >> 31 == 0;
        match (exponent, mantissa) {
            (0, 0) => Known { positive: true, ..Known::multiple(GREATEST) },
            (0xff, _) => Known { positive, ..Known::multiple(GREATEST) },
            (0, _) => Known { positive, ..Known::NOTHING },
            _ => {
                let places = PLACES - (mantissa | 1 << PLACES).trailing_zeros() as i32;
                let exponent = exponent - 127;
                Known { normal: true, step: exponent - places, exponent: Some(exponent), positive }
            }
        }
    }

    /// Returns the facts that hold for both values, and so for a choice between them.
    fn either(self, other: Known) -> Known {
        Known {
            normal: self.normal && other.normal,
            step: self.step.min(other.step),
            exponent: None,
            positive: self.positive && other.positive,
        }
    }

    /// Returns these facts for a number that is not less than 0.
    fn positive(self) -> Known {
        Known { positive: true, ..self }
    }

    /// Returns the facts about a sum. A summand that is not a constant has `places` places after
    /// the first.
    fn sum(self, other: Known, places: i32) -> Known {
        let step = self.step.min(other.step);
        // If the other summand is less than half of the constant, the sum is at least half of the
        // constant, and so has its last place at `exponent - 1 - places` or above. Otherwise, the
        // other summand has its own last place there or above.
        let of_constant = [self.exponent, other.exponent]
            .into_iter()
            .flatten()
            .map(|exponent| exponent - 1 - places);
        let positive = self.positive && other.positive;
        Known { positive, ..Known::multiple(of_constant.fold(step, i32::max)) }
    }
}

/// Returns the block with flushes as separate operations.
pub fn apart(block: Block) -> Block {
    let mut flushes = Flushes {
        insts: Vec::with_capacity(block.insts.len()),
        types: Vec::with_capacity(block.values.len()),
        known: SecondaryMap::with_default(Known::NOTHING),
        flushed: FxHashMap::default(),
    };
    let mut renamed: SecondaryMap<Value, Value> =
        SecondaryMap::with_default(Value::reserved_value());
    for mut inst in block.insts {
        inst.op.map_operands(|v| renamed[v]);
        let types = inst
            .results
            .iter()
            .map(|v| block.values[v.index()])
            .collect::<SmallVec<[ValueType; 4]>>();
        let results = flushes.add(inst.op, &types, (inst.window, inst.pc));
        inst.results.iter().zip(results).for_each(|(&old, new)| renamed[old] = new);
    }
    let mut term = block.term;
    term.map_operands(|v| renamed[v]);
    Block { insts: flushes.insts, values: flushes.types, term, ..block }
}

struct Flushes {
    insts: Vec<Inst>,
    types: Vec<ValueType>,
    known: SecondaryMap<Value, Known>,
    /// The flushed values of operands and results, by value and window.
    flushed: FxHashMap<(Value, Window), Value>,
}

impl Flushes {
    /// Appends an operation and its flushes. Returns the operation's results, flushed if need be.
    fn add(&mut self, mut op: Op, types: &[ValueType], at: (Window, u64)) -> Values {
        let flushes = self.flushes(&op);
        if flushes {
            op.map_operands(|v| self.flush(v, at));
            clear(&mut op);
        }
        let known = self.result(&op);
        let results = self.push(op, types, at);
        match results[..] {
            [v] if flushes && self.is_single(v) => {
                self.known[v] = known;
                numbered(self.flush(v, at).index(), 1)
            }
            [v] => {
                self.known[v] = known;
                results
            }
            _ => results,
        }
    }

    fn push(&mut self, op: Op, types: &[ValueType], (window, pc): (Window, u64)) -> Values {
        let results = numbered(self.types.len(), types.len());
        self.types.extend_from_slice(types);
        self.insts.push(Inst { op, results: results.clone(), window, pc });
        results
    }

    /// Whether an operation on `f32` flushes, and is not a flush itself.
    fn flushes(&self, op: &Op) -> bool {
        match *op {
            Op::FUnary { op: FloatUnaryOp::Copy, .. } => false,
            Op::FUnary { attrs, a, .. }
            | Op::FBinary { attrs, a, .. }
            | Op::Fma { attrs, a, .. } => attrs.flush && self.is_single(a),
            Op::FCmp { flush, a, .. } => flush && self.is_single(a),
            _ => false,
        }
    }

    fn is_single(&self, v: Value) -> bool {
        self.types[v.index()].ty == Type::F32
    }

    /// Returns the value without denormals: appends a flush if it may be a denormal.
    fn flush(&mut self, v: Value, at: (Window, u64)) -> Value {
        if self.known[v].normal {
            return v;
        }
        if let Some(&flushed) = self.flushed.get(&(v, at.0)) {
            return flushed;
        }
        let op = Op::FUnary {
            op: FloatUnaryOp::Copy,
            attrs: FloatAttrs { flush: true, ..FloatAttrs::IEEE },
            a: v,
        };
        let known = self.result(&op);
        let flushed = self.push(op, &[self.types[v.index()]], at)[0];
        self.known[flushed] = known;
        self.flushed.insert((v, at.0), flushed);
        flushed
    }

    /// Returns the facts about an operation's result before a flush.
    fn result(&self, op: &Op) -> Known {
        let known = |v: Value| self.known[v];
        match *op {
            Op::Const { ty: Type::F32 | Type::I32, bits } => Known::constant(bits as u32),
            Op::Splat { a } => known(a),
            Op::Unary { op: UnaryOp::FAbs, a } => known(a).positive(),
            Op::Unary { op: UnaryOp::FNeg, a } => Known { positive: false, ..known(a) },
            Op::Convert { op: ConvertOp::Bitcast, to: Type::F32 | Type::I32, a } => known(a),
            Op::Select { a, b, .. } | Op::UniformSelect { a, b, .. } => known(a).either(known(b)),
            Op::IntToFloat { to: Type::F32, signed, .. } => {
                Known { positive: !signed, ..Known::multiple(0) }
            }
            Op::FUnary { op: FloatUnaryOp::Copy, attrs, a } => {
                let copied = saturated(attrs, known(a));
                Known { normal: copied.normal || attrs.flush, ..copied }
            }
            Op::FUnary { op: FloatUnaryOp::Integral, attrs, a } if self.is_single(a) => {
                saturated(attrs, Known { positive: known(a).positive, ..Known::multiple(0) })
            }
            // Roots are 0 or at least 2^-75.
            Op::FUnary { op: FloatUnaryOp::Sqrt, attrs, a } if self.is_single(a) => {
                saturated(attrs, Known::multiple(-75 - PLACES).positive())
            }
            Op::FBinary { op, attrs, a, b } if self.is_single(a) => {
                let result = binary(op, known(a), known(b));
                let is_square = op == FloatBinaryOp::Mul && a == b;
                saturated(attrs, Known { positive: result.positive || is_square, ..result })
            }
            // The product is exact: it has twice as many places.
            Op::Fma { attrs, a, b, c } if self.is_single(a) => {
                let positive = a == b || known(a).positive && known(b).positive;
                let product =
                    Known { step: known(a).step + known(b).step, positive, ..Known::NOTHING };
                saturated(attrs, product.sum(known(c), 2 * PLACES + 1))
            }
            Op::Shared { function: SharedFn::Rcp | SharedFn::Ex2, .. } => {
                Known { normal: true, ..Known::NOTHING }
            }
            // Results are 0 or at least 2^-64.
            Op::Shared {
                function: SharedFn::Rsq | SharedFn::RsqDenormal | SharedFn::SqrtApprox,
                ..
            } => Known::multiple(-64 - PLACES).positive(),
            _ => Known::NOTHING,
        }
    }
}

fn binary(op: FloatBinaryOp, a: Known, b: Known) -> Known {
    match op {
        FloatBinaryOp::Add => {
            let sum = a.sum(b, PLACES);
            // Summands that are not less than 0 do not cancel each other.
            Known { normal: sum.normal || sum.positive && a.normal && b.normal, ..sum }
        }
        FloatBinaryOp::Sub => Known { positive: false, ..a.sum(b, PLACES) },
        FloatBinaryOp::Mul => {
            Known { positive: a.positive && b.positive, ..Known::multiple(a.step + b.step) }
        }
        FloatBinaryOp::Min | FloatBinaryOp::Max => a.either(b),
        FloatBinaryOp::Div => Known::NOTHING,
    }
}

/// Returns the facts about a result after saturation, which may have changed it to 1.
fn saturated(attrs: FloatAttrs, known: Known) -> Known {
    if attrs.saturate { known.either(Known::multiple(0)).positive() } else { known }
}

/// Clears the flush attribute of an operation.
fn clear(op: &mut Op) {
    match op {
        Op::FUnary { attrs, .. } | Op::FBinary { attrs, .. } | Op::Fma { attrs, .. } => {
            attrs.flush = false
        }
        Op::FCmp { flush, .. } => *flush = false,
        _ => {}
    }
}

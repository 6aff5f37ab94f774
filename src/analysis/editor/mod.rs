//! Rebuilds a block's instructions, sharing equal pure operations and simplifying as it goes.

mod simplify;

use std::hash::BuildHasher;

use cranelift_entity::EntityRef;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::smallvec;
use warploom_ir::{
    BinaryOp, ConvertOp, Defs, Inst, Op, Reg, Space, Type, UnaryOp, Value, ValueType, Values,
    Window, defs, numbered,
};

use super::masks::Masks;
use super::rules::{Firings, Rules};

/// Whether equal operations have equal results and no effect, within one block.
///
/// `known` returns the bits of uniform constants. With it, a scalar load from a constant bank at an
/// aligned address is pure, because it cannot fault.
pub fn is_pure(op: &Op, known: impl Fn(Value) -> Option<u64>) -> bool {
    match op {
        Op::Load { access, sparse: false, .. }
            if matches!(access.space, Space::Const(_)) && access.guard.is_none() =>
        {
            known(access.address).is_some_and(|at| {
                (at as u32)
                    .wrapping_add(access.offset as u32)
                    .is_multiple_of(u32::from(access.align))
            })
        }
        _ => op.traits().pure,
    }
}

/// Returns the hash of an operation and its window.
fn key(op: &Op, window: Window) -> u64 {
    FxBuildHasher.hash_one((op, window))
}

/// Instructions under construction. Values are numbered as in [`warploom_ir::Block::values`].
pub struct Editor {
    pub lanes: u8,
    pub insts: Vec<Inst>,
    pub values: Vec<ValueType>,
    /// The defining instruction of each value, and the number of the value among its results.
    pub(super) defs: Defs,
    /// Indices of the pure instructions of `insts`, hashed by operation and window.
    shared: HashTable<usize>,
    /// The value to use in place of each replaced value from here on.
    replaced: FxHashMap<Value, Value>,
    /// The value that each pair of halves has been fused to, and the low half of each fused value.
    pub(super) pairs: FxHashMap<(Value, Value, Window), Value>,
    pub(super) low_words: FxHashMap<Value, Value>,
    /// The number of pairs that are being fused, each for the pair before it.
    pub(super) nested: u32,
    pub pc: u64,
    pub(super) rules: Rules,
    pub(super) firings: Firings,
}

impl Editor {
    /// Returns an empty editor.
    ///
    /// `expected` is about the number of instructions there will be.
    pub fn new(lanes: u8, expected: usize, rules: Rules) -> Self {
        Editor {
            lanes,
            insts: Vec::with_capacity(expected),
            values: Vec::with_capacity(expected),
            defs: Defs::with_capacity(expected),
            shared: HashTable::with_capacity(expected),
            replaced: FxHashMap::default(),
            pairs: FxHashMap::default(),
            low_words: FxHashMap::default(),
            nested: 0,
            pc: 0,
            rules,
            firings: Firings::default(),
        }
    }

    pub fn window(&self) -> Window {
        Window::all(self.lanes)
    }

    /// Appends an instruction as it is.
    pub fn push(&mut self, op: Op, window: Window, types: &[ValueType]) -> Values {
        let first = self.values.len();
        self.values.extend_from_slice(types);
        for i in 0..types.len() {
            self.defs[Value::new(first + i)] = (self.insts.len(), i);
        }
        self.insts.push(Inst { op, results: numbered(first, types.len()), window, pc: self.pc });
        numbered(first, types.len())
    }

    /// Appends a pure operation, simplified, or returns the values of an equal operation.
    pub fn pure(&mut self, op: Op, window: Window, types: &[ValueType]) -> Values {
        let op = self.with_inverted_last(op);
        if let Some(value) = self.simplify(&op, window) {
            return smallvec![self.shaped(value, types[0], window)];
        }
        if let Some(values) = self.rewrite_all(&op, window) {
            return values
                .into_iter()
                .zip(types)
                .map(|(value, &ty)| self.shaped(value, ty, window))
                .collect();
        }
        self.shared_as_it_is(op, window, types)
    }

    /// Puts an inverted operand of an addition with carry, the subtrahend of a difference, last.
    fn with_inverted_last(&self, op: Op) -> Op {
        let is_inverted = |v: Value| matches!(self.def(v), Op::Unary { op: UnaryOp::Not, .. });
        match op {
            Op::AddCarry { a, b, carry } if is_inverted(a) && !is_inverted(b) => {
                Op::AddCarry { a: b, b: a, carry }
            }
            op => op,
        }
    }

    /// Appends a pure operation without simplifying it, or returns the values of an equal
    /// operation.
    pub(super) fn shared_as_it_is(
        &mut self,
        op: Op,
        window: Window,
        types: &[ValueType],
    ) -> Values {
        let (insts, key) = (&self.insts, key(&op, window));
        let equal = |&at: &usize| insts[at].window == window && insts[at].op == op;
        if let Some(&at) = self.shared.find(key, equal) {
            return insts[at].results.iter().map(|&v| self.current(v)).collect();
        }
        let at = insts.len();
        self.shared.insert_unique(key, at, |&at| self::key(&insts[at].op, insts[at].window));
        let mut results = self.push(op, window, types);
        if let [_, _] = results[..] {
            self.rewrite_appended(at, window);
            results.iter_mut().for_each(|v| *v = self.current(*v));
        }
        results
    }

    /// Returns the value of an equal pure operation, if there is one.
    pub(super) fn find(&self, op: &Op, window: Window) -> Option<Value> {
        let equal = |&at: &usize| self.insts[at].window == window && self.insts[at].op == *op;
        self.shared.find(key(op, window), equal).map(|&at| self.insts[at].results[0])
    }

    /// Uses `by`, an equal value of the same type, in place of `value` from here on.
    pub(super) fn replace(&mut self, value: Value, by: Value) {
        if value != by {
            self.replaced.insert(value, by);
        }
    }

    /// Returns the value to use in place of `value` by now.
    pub fn current(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(&by) = self.replaced.get(&value) {
            value = by;
        }
        value
    }

    /// Returns `value`, splatted if it is uniform and a varying value is wanted.
    ///
    /// A simplified value may be uniform where its user needs a varying value: an address, for
    /// example.
    pub fn shaped(&mut self, value: Value, wanted: ValueType, window: Window) -> Value {
        if self.ty(value).is_uniform() && !wanted.is_uniform() {
            return self.pure(Op::Splat { a: value }, window, &[wanted])[0];
        }
        value
    }

    /// Returns the indices of the writes at the block's end of registers that are not live after
    /// it, in order.
    ///
    /// Writes further up are there because an operation of the block reads the register file.
    /// `live` is told the guard, too.
    pub fn dead_writes(&self, live: impl Fn(Reg, Option<Value>) -> bool) -> Vec<usize> {
        let is_write = |inst: &Inst| matches!(inst.op, Op::RfWrite { .. });
        let tail = self.insts.iter().rposition(|inst| !is_write(inst)).map_or(0, |last| last + 1);
        let dead = |&index: &usize| matches!(self.insts[index].op, Op::RfWrite { reg, guard, .. } if !live(reg, guard));
        (tail..self.insts.len()).filter(dead).collect()
    }

    /// Returns the defining instruction of each value and the value's number among its results,
    /// even after instructions have been moved.
    pub fn defs_as_they_are(&self) -> Defs {
        defs(&self.insts, self.values.len())
    }

    pub fn ty(&self, value: Value) -> ValueType {
        self.values[value.index()]
    }

    pub fn def(&self, value: Value) -> &Op {
        &self.insts[self.defs[value].0].op
    }

    /// Returns the index of the defining instruction, and the number of the value among its
    /// results.
    pub fn def_at(&self, value: Value) -> (usize, usize) {
        self.defs[value]
    }

    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.def(value) {
            Op::Const { bits, .. } => Some(*bits),
            Op::Splat { a } => self.constant(*a),
            _ => None,
        }
    }

    /// Returns the uniform value that equals all lanes of a value, if it is known.
    fn splat_of(&self, value: Value) -> Option<Value> {
        match *self.def(value) {
            Op::Splat { a } => Some(a),
            _ => Some(value).filter(|&value| self.ty(value).is_uniform()),
        }
    }

    pub fn is_pure(&self, op: &Op) -> bool {
        is_pure(op, |v| self.constant(v).filter(|_| self.ty(v).is_uniform()))
    }

    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        let window = self.window();
        let bits = bits & ty.bits_of_lanes(self.lanes);
        self.pure(Op::Const { ty, bits }, window, &[ValueType::uniform(ty)])[0]
    }

    /// Returns the constant mask of the lanes in `bits`.
    pub fn lanes_of(&mut self, bits: u64) -> Value {
        self.iconst(Type::Mask, bits)
    }

    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value, window: Window) -> Value {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let ty = ValueType { ty: ta.ty, shape: ta.shape.join(tb.shape) };
        self.pure(Op::Binary { op, a, b }, window, &[ty])[0]
    }

    pub fn convert(&mut self, op: ConvertOp, to: Type, a: Value, window: Window) -> Value {
        let ty = ValueType { ty: to, shape: self.ty(a).shape };
        self.pure(Op::Convert { op, to, a }, window, &[ty])[0]
    }

    pub fn concat(&mut self, lo: Value, hi: Value, window: Window) -> Value {
        let shape = self.ty(lo).shape.join(self.ty(hi).shape);
        self.pure(Op::Concat { lo, hi }, window, &[ValueType { ty: Type::I64, shape }])[0]
    }

    pub fn and_mask(&mut self, a: Value, b: Value) -> Value {
        let window = self.window();
        self.binary(BinaryOp::And, a, b, window)
    }

    pub fn or_mask(&mut self, a: Value, b: Value) -> Value {
        let window = self.window();
        self.binary(BinaryOp::Or, a, b, window)
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value, window: Window) -> Value {
        let ty = ValueType::varying(self.ty(a).ty);
        self.pure(Op::Select { mask, a, b }, window, &[ty])[0]
    }

    pub fn is_subset(&self, a: Value, b: Value) -> bool {
        self.masks().is_subset(a, b)
    }

    pub fn is_disjoint(&self, a: Value, b: Value) -> bool {
        self.masks().is_disjoint(a, b)
    }

    fn masks(&self) -> Masks<'_> {
        Masks::of(self.lanes, &self.insts, &self.defs)
    }
}

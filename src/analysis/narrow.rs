//! Narrows 64-bit values of which only the low words are used.
//!
//! 32-bit code often computes an index with a 64-bit multiply-add (`v_mad_u64_u32`, `mad.wide`).
//! This pass computes only the low words, so that the index stays evenly spaced.

use cranelift_entity::{EntitySet, SecondaryMap};
use warploom_ir::{BinaryOp, ConvertOp, Op, Type, Value, ValueType, Window, table};

use super::editor::Editor;

/// The part of a value that its users need.
#[derive(Clone, Copy, PartialEq)]
enum Used {
    Not,
    LowWord,
    Whole,
}

/// The varying 64-bit values of a block of which only the low words are used and can be computed
/// alone.
pub struct LowWords {
    used: SecondaryMap<Value, Used>,
    low: EntitySet<Value>,
}

impl LowWords {
    /// Creates the table for a block. The caller notes the block's instructions in reverse order.
    pub fn new(values: usize) -> LowWords {
        LowWords { used: table(values, Used::Not), low: EntitySet::with_capacity(values) }
    }

    pub fn any(&self) -> bool {
        !self.low.is_empty()
    }

    pub fn contains(&self, value: Value) -> bool {
        self.low.contains(value)
    }

    pub fn is_used(&mut self, value: Value) {
        self.used[value] = Used::Whole;
    }

    /// Records that `instead` replaces `value`: every need of `value` becomes a need of `instead`.
    pub fn stands_for(&mut self, value: Value, instead: Value) {
        match self.used[value] {
            Used::Not => {}
            Used::LowWord => self.is_used_low(instead),
            Used::Whole => self.is_used(instead),
        }
    }

    /// Records the parts of its operands that an operation needs.
    pub fn note(&mut self, editor: &Editor, op: &Op, results: &[Value]) {
        if is_low_word(editor, op) {
            return op.for_each_operand(|v| self.is_used_low(v));
        }
        if let &[result] = results
            && self.used[result] == Used::LowWord
            && editor.ty(result) == ValueType::varying(Type::I64)
            && has_low_word(editor, op)
        {
            self.low.insert(result);
            return op.for_each_operand(|v| self.is_used_low(v));
        }
        op.for_each_operand(|v| self.is_used(v));
    }

    fn is_used_low(&mut self, value: Value) {
        let used = &mut self.used[value];
        if *used == Used::Not {
            *used = Used::LowWord;
        }
    }
}

/// Returns whether an operation takes the low word of a 64-bit value.
pub fn is_low_word(editor: &Editor, op: &Op) -> bool {
    matches!(*op, Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a } if editor.ty(a).ty == Type::I64)
}

/// Returns whether the low word of the result follows from the low words of the operands.
fn has_low_word(editor: &Editor, op: &Op) -> bool {
    match *op {
        Op::Binary { op: BinaryOp::Shl, b, .. } => editor.constant(b).is_some_and(|by| by < 32),
        Op::Binary { op, .. } => {
            use BinaryOp::{Add, And, Mul, Or, Sub, Xor};
            matches!(op, Add | Sub | Mul | And | Or | Xor)
        }
        Op::Convert { op: ConvertOp::ZeroExtend | ConvertOp::SignExtend, a, .. } => {
            editor.ty(a).ty == Type::I32
        }
        Op::Concat { .. } => true,
        _ => false,
    }
}

/// Emits the low word of an operation for which `has_low_word` holds.
///
/// `word` maps a 64-bit operand to its low word, and a 32-bit operand to itself.
pub fn low_word(
    out: &mut Editor,
    op: &Op,
    window: Window,
    mut word: impl FnMut(&mut Editor, Value) -> Value,
) -> Value {
    let value = match *op {
        Op::Binary { op, a, b } => {
            let (a, b) = (word(out, a), word(out, b));
            out.binary(op, a, b, window)
        }
        Op::Convert { a, .. } => word(out, a),
        Op::Concat { lo, .. } => word(out, lo),
        ref op => unreachable!("{op:?} has no low word"),
    };
    out.shaped(value, ValueType::varying(Type::I32), window)
}

//! Low words of 64-bit numbers. They are evenly spaced whatever the high words are.

use warploom_ir::{BinaryOp, ConvertOp, Op, Type, Value};

use super::{Class, Classes, Constants, combine, scale};

/// The values that make the low word of a 64-bit number.
pub enum LowWord {
    /// A word.
    Word(Value),
    /// The sum of the low words of two numbers.
    Sum(Value, Value),
    /// The difference of the low words of two numbers.
    Difference(Value, Value),
    /// The low word of a number, shifted to the left.
    Shifted(Value, u32),
}

/// Returns how the low word of an operation's result, a 64-bit number, is made. `constant` returns
/// the bits of constants, `ty` the type of a value.
pub fn low_word(
    op: &Op,
    constant: impl Fn(Value) -> Option<u64>,
    ty: impl Fn(Value) -> Type,
) -> Option<LowWord> {
    match *op {
        Op::Concat { lo, .. } => Some(LowWord::Word(lo)),
        Op::Convert { op: ConvertOp::SignExtend | ConvertOp::ZeroExtend, a, .. } => {
            (ty(a) == Type::I32).then_some(LowWord::Word(a))
        }
        Op::Binary { op: BinaryOp::Add, a, b } => Some(LowWord::Sum(a, b)),
        Op::Binary { op: BinaryOp::Sub, a, b } => Some(LowWord::Difference(a, b)),
        Op::Binary { op: BinaryOp::Shl, a, b } => {
            let bits = constant(b).filter(|&bits| bits < 32)?;
            Some(LowWord::Shifted(a, bits as u32))
        }
        _ => None,
    }
}

/// Definitions, types and constants of a block's values.
pub(super) struct Known<'a> {
    pub def: &'a dyn Fn(Value) -> &'a Op,
    pub ty: &'a dyn Fn(Value) -> Type,
    pub constants: &'a Constants,
}

/// The most numbers that the search for the words of a low word visits.
const MOST_VISITS: u32 = 64;

impl Classes {
    /// Returns the class of the low word of a number whose class is affine.
    pub(super) fn of_low_word(&self, v: Value, known: &Known<'_>) -> Class {
        self.low_class(v, known, &mut { MOST_VISITS })
    }

    fn low_class(&self, v: Value, known: &Known<'_>, visits: &mut u32) -> Class {
        let class = scale(self.get(v), 1, Type::I32);
        if class.is_exact() || class == Class::Varying || *visits == 0 {
            return class;
        }
        *visits -= 1;
        let mut low = |v| self.low_class(v, known, visits);
        match low_word((known.def)(v), |v| known.constants[v], known.ty) {
            Some(LowWord::Word(word)) => self.get(word),
            Some(LowWord::Sum(a, b)) => combine(low(a), low(b), 1, Type::I32),
            Some(LowWord::Difference(a, b)) => combine(low(a), low(b), -1, Type::I32),
            Some(LowWord::Shifted(a, bits)) => scale(low(a), 1 << bits, Type::I32),
            None => class,
        }
    }
}

//! Recognises square roots of floats that LLVM expands to steps for AMD's GPUs.
//!
//! The steps scale `x` up by 2^32 if it is below 2^-96, and take the root. They correct the root by
//! a unit in the last place up or down, as the sign of its error tells, and scale it down by 2^16.
//! For zeros and infinity they take `x` itself. The result is the correctly rounded root: a test
//! tries all operands.

use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, IntCc, Op, Round, Type,
    UnaryOp, Value, ValueType, Window,
};

use super::editor::Editor;
use super::visits::visit;

const INFINITY: u64 = 0x7f80_0000;
/// `SMALL` is 2^-96, `UP` 2^32, `DOWN` 2^-16.
const SMALL: u64 = 0x0f80_0000;
const UP: u64 = 0x4f80_0000;
const DOWN: u64 = 0x3780_0000;

impl Editor {
    /// Emits the root whose last step is the select `op`. Operand and result are words with the
    /// bits of floats.
    pub(super) fn root_of_steps(&mut self, op: &Op, window: Window) -> Option<Value> {
        let &Op::Select { mask: exact, a: x, b: root } = op else { return None };
        if self.ty(x) != ValueType::varying(Type::I32) || !self.is_exact(exact, x, &mut 8) {
            return None;
        }
        // The result is scaled down where the operand was scaled up.
        let &Op::Select { mask: small, a: less, b: root } = self.def(root) else { return None };
        let &Op::Select { mask, a: more, b: plain } = self.def(x) else { return None };
        let scaled = |v: Value, of: Value, by: u64| {
            let factor = self.product_with(self.float(v)?, by)?;
            self.is_float(factor, of).then_some(())
        };
        scaled(less, root, DOWN)?;
        scaled(more, plain, UP)?;
        let is_small = match *self.def(small) {
            Op::FCmp { cc: FloatCc::Gt, flush: false, a, b } => {
                self.constant(a) == Some(SMALL) && self.is_float(b, plain)
            }
            Op::FCmp { cc: FloatCc::Lt, flush: false, a, b } => {
                self.constant(b) == Some(SMALL) && self.is_float(a, plain)
            }
            _ => false,
        };
        if mask != small || !is_small {
            return None;
        }
        // The root plus one where it is too small, else minus one where it is too large.
        let &Op::Select { mask: too_little, a: above, b: rest } = self.def(root) else {
            return None;
        };
        let &Op::Select { mask: too_much, a: below, b: first } = self.def(rest) else {
            return None;
        };
        let near = self.float(first)?;
        let &Op::FUnary { op: FloatUnaryOp::Sqrt, attrs, a } = self.def(near) else { return None };
        let nearest = attrs.round == Round::Nearest && !attrs.saturate;
        let steps =
            self.is_next(above, first, 1) && self.is_next(below, first, u64::from(u32::MAX));
        let signs = self.is_error(too_little, FloatCc::Gt, (above, near, x))
            && self.is_error(too_much, FloatCc::Le, (below, near, x));
        if !nearest || !self.is_float(a, x) || !steps || !signs {
            return None;
        }
        let operand = self.convert(ConvertOp::Bitcast, Type::F32, plain, window);
        let ty = self.ty(operand);
        let root = Op::FUnary { op: FloatUnaryOp::Sqrt, attrs: FloatAttrs::IEEE, a: operand };
        let root = self.pure(root, window, &[ty])[0];
        Some(self.convert(ConvertOp::Bitcast, Type::I32, root, window))
    }

    /// Returns whether a mask has only lanes in which word `x` has the bits of a float zero or
    /// infinity. The root is the operand there.
    fn is_exact(&self, mask: Value, x: Value, left: &mut u32) -> bool {
        visit();
        if *left == 0 {
            return false;
        }
        *left -= 1;
        match *self.def(mask) {
            Op::Binary { op: BinaryOp::Or, a, b } => {
                self.is_exact(a, x, left) && self.is_exact(b, x, left)
            }
            Op::ICmp { cc: IntCc::Eq, a, b } if a == x => {
                matches!(self.constant(b), Some(0 | INFINITY))
            }
            Op::ICmp { cc: IntCc::Eq, a, b } if self.constant(b) == Some(0) => {
                let magnitude = self.matches_binary(a, BinaryOp::And);
                magnitude
                    .is_some_and(|(a, bits)| a == x && self.constant(bits) == Some(0x7fff_ffff))
            }
            _ => false,
        }
    }

    /// Returns the float whose bits a word has.
    fn float(&self, word: Value) -> Option<Value> {
        match *self.def(word) {
            Op::Convert { op: ConvertOp::Bitcast, a, .. } if self.ty(a).ty == Type::F32 => Some(a),
            _ => None,
        }
    }

    fn is_float(&self, float: Value, word: Value) -> bool {
        self.float(word) == Some(float)
            || matches!(*self.def(float), Op::Convert { op: ConvertOp::Bitcast, a, .. } if a == word)
    }

    /// Returns the other factor of a product with the constant `by`.
    fn product_with(&self, v: Value, by: u64) -> Option<Value> {
        let Op::FBinary { op: FloatBinaryOp::Mul, attrs: FloatAttrs::IEEE, a, b } = *self.def(v)
        else {
            return None;
        };
        if self.constant(a) == Some(by) {
            Some(b)
        } else {
            (self.constant(b) == Some(by)).then_some(a)
        }
    }

    /// Returns whether a word is the sum of `of` and the constant `step`.
    fn is_next(&self, v: Value, of: Value, step: u64) -> bool {
        let sum = self.matches_binary(v, BinaryOp::Add);
        sum.is_some_and(|(a, b)| {
            (a == of && self.constant(b) == Some(step))
                || (b == of && self.constant(a) == Some(step))
        })
    }

    /// Returns whether a mask tells that `x - candidate * near`, rounded once, is greater than 0
    /// (`wanted` is `Gt`) or at most 0 (`Le`).
    fn is_error(
        &self,
        mask: Value,
        wanted: FloatCc,
        (candidate, near, x): (Value, Value, Value),
    ) -> bool {
        let Op::FCmp { cc, flush: false, a, b } = *self.def(mask) else { return false };
        let error = match (cc, self.constant(a), self.constant(b)) {
            (FloatCc::Gt, _, Some(0)) if wanted == FloatCc::Gt => a,
            (FloatCc::Lt, Some(0), _) if wanted == FloatCc::Gt => b,
            (FloatCc::Le, _, Some(0)) if wanted == FloatCc::Le => a,
            (FloatCc::Ge, Some(0), _) if wanted == FloatCc::Le => b,
            _ => return false,
        };
        let Op::Fma { attrs: FloatAttrs::IEEE, a, b, c } = *self.def(error) else { return false };
        let is_minus = |v: Value| match *self.def(v) {
            Op::Unary { op: UnaryOp::FNeg, a } => self.is_float(a, candidate),
            _ => false,
        };
        let factors = (is_minus(a) && b == near) || (is_minus(b) && a == near);
        factors && self.is_float(c, x)
    }
}

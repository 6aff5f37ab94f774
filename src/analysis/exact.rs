//! Replaces the steps that NVIDIA's compilers make of quotients and roots with one operation, where
//! both results are equal.
//!
//! The steps are an estimate, iterations, and a last step that corrects the result by its error.
//! The compiler's code tests that no step meets denormals or overflows, and calls a function
//! otherwise. The editor tests that operands have moderate exponents, which is less work, and keeps
//! the steps for other operands. Nearly always no lane has other operands: lowering skips the code
//! that only these lanes need.
//!
//! *Quotients.* Let floats have p bits, let b be a whole number below 2^p, q the estimate of a / b
//! and y the estimate of 1 / b, scaled so that the last bit of q is 1. The last step rounds
//! a / b + E, where |E| = |a / b - q| |y b - 1|. The iterations leave |y b - 1| <=
//! 2^-2p b (1 + t): 1 / b is rounded, and t, the iterations' own error, is below 2^(3 - p). The
//! last step rounds wrong only if a midpoint of two numbers is nearer than |E|; a midpoint is
//! k / 2b away for a positive whole k. Then q is beside the midpoint, so that |a / b - q|
//! <= 1/2 + k / 2b, and 2b |E| <= (b^2 + k b) (1 + t) / 2^2p. This bound is less than k,
//! except for some of the last numbers b before 2^p. `tests/divisions` tries these b with all a
//! that have a small k, and every b of `f32`.
//!
//! *Roots.* The estimates of the root and of half its reciprocal are so close that the last step
//! rounds sqrt(x) + E with |E| < 2^-49 of the last bit. A root is so near a midpoint m + 1/2 only
//! if x and m^2 + m differ by less than 2^8. `tests/divisions` tries all x for which they do.

use warploom_ir::division::are_unusual;
use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, FloatUnaryOp, Op, Round, SharedFn, Type,
    UnaryOp, Value, ValueType, Window,
};

use super::division::Putter;
use super::editor::Editor;

/// The number whose addition to the high word of a reciprocal root halves it: -1 in the exponent.
const HALF: u64 = 0xfff0_0000;

impl Editor {
    /// Replaces the last step of a quotient: divides where operands are moderate, and keeps the
    /// steps' value elsewhere.
    pub(super) fn exact_quotient(&mut self, op: &Op, window: Window) -> Option<Value> {
        let (x, y) = self
            .last_step(op, |error, factor, estimate| self.quotient_of(error, factor, estimate))?;
        self.exact_where_moderate(op, (x, Some(y)), window)
    }

    /// Replaces the last step of a root: takes the root where the operand is moderate, and keeps
    /// the steps' value elsewhere.
    pub(super) fn exact_root(&mut self, op: &Op, window: Window) -> Option<Value> {
        let x =
            self.last_step(op, |error, factor, estimate| self.root_of(error, factor, estimate))?;
        self.exact_where_moderate(op, (x, None), window)
    }

    /// Returns the result of `of` for `error * factor + estimate`, with the factors in either
    /// order.
    fn last_step<T>(&self, op: &Op, of: impl Fn(Value, Value, Value) -> Option<T>) -> Option<T> {
        let &Op::Fma { attrs, a, b, c: estimate } = op else { return None };
        if !is_nearest(attrs) {
            return None;
        }
        of(a, b, estimate).or_else(|| of(b, a, estimate))
    }

    /// Returns `x / y`, or the root of `x`, where operands have moderate exponents; elsewhere the
    /// value of the steps, of which `op` is the last.
    ///
    /// A uniform result is not replaced.
    fn exact_where_moderate(
        &mut self,
        op: &Op,
        (x, y): (Value, Option<Value>),
        window: Window,
    ) -> Option<Value> {
        let shape = y.map_or(self.ty(x).shape, |y| self.ty(x).shape.join(self.ty(y).shape));
        let ty = ValueType { ty: self.ty(x).ty, shape };
        if ty.is_uniform() {
            return None;
        }
        let attrs = FloatAttrs::IEEE;
        let exact = match y {
            Some(y) => Op::FBinary { op: FloatBinaryOp::Div, attrs, a: x, b: y },
            None => Op::FUnary { op: FloatUnaryOp::Sqrt, attrs, a: x },
        };
        let by_steps = self.shared_as_it_is(op.clone(), window, &[ty])[0];
        let unusual = are_unusual(&mut Putter { editor: self, window }, ty.ty, x, y);
        let exact = self.pure(exact, window, &[ty])[0];
        Some(self.select(unusual, by_steps, exact, window))
    }

    /// Returns `x` and `y` if the last step adds `error * reciprocal` to an estimate of x / y.
    fn quotient_of(
        &self,
        error: Value,
        reciprocal: Value,
        estimate: Value,
    ) -> Option<(Value, Value)> {
        let (x, y) = self.difference_of_product_with(error, estimate)?;
        let is_estimate = match *self.def(estimate) {
            Op::Fma { attrs, a, b, c } => {
                is_nearest(attrs) && are(a, b, x, reciprocal) && self.constant(c) == Some(0)
            }
            _ => self.is_product(estimate, x, reciprocal),
        };
        let (first, more) = self.more_than(reciprocal)?;
        let is_reciprocal = match self.ty(x).ty {
            Type::F32 => {
                let is_reciprocal =
                    matches!(*self.def(first), Op::Shared { function: SharedFn::Rcp, a } if a == y);
                is_reciprocal && self.is_reciprocal_error(more, first, y)
            }
            // A double has two iterations, the first by the error and its square.
            Type::F64 => {
                let (start, more_by_two) = self.more_than(first)?;
                let (error, square) = self.more_than(more_by_two)?;
                self.is_reciprocal_error(more, first, y)
                    && square == error
                    && self.is_reciprocal_error(error, start, y)
                    && self.is_high_estimate(start, SharedFn::Rcp64High, y)
            }
            _ => false,
        };
        (is_estimate && is_reciprocal).then_some((x, y))
    }

    /// Returns `x` if the last step adds `error * half` to an estimate of the root of x.
    ///
    /// `half` is half of the reciprocal of the root. Only doubles are recognized.
    fn root_of(&self, error: Value, half: Value, estimate: Value) -> Option<Value> {
        let (x, again) = self.difference_of_product_with(error, estimate)?;
        if again != estimate || self.ty(x).ty != Type::F64 {
            return None;
        }
        let &Op::Concat { lo, hi } = self.def(self.bits_of(half)?) else { return None };
        let (hi, step) = self.matches_binary(hi, BinaryOp::Add)?;
        let part = |v: Value, wanted: ConvertOp| match *self.def(v) {
            Op::Convert { op, a, .. } if op == wanted => self.bits_of(a),
            _ => None,
        };
        let reciprocal = part(hi, ConvertOp::HighHalf)?;
        if self.constant(step) != Some(HALF) || part(lo, ConvertOp::Trunc) != Some(reciprocal) {
            return None;
        }
        if !self.is_product(estimate, x, reciprocal) {
            return None;
        }
        // r + r e (1/2 + 3/8 e), where e is 1 - x r^2.
        let &Op::Fma { attrs, a, b, c: first } = self.def(reciprocal) else { return None };
        let is_correction = |factor: Value, product: Value| {
            let &Op::Fma { attrs, a, b, c } = self.def(factor) else { return None };
            let (error, more) = if self.is_number(a, 0.375) { (b, a) } else { (a, b) };
            let is_sum = is_nearest(attrs) && self.is_number(more, 0.375) && self.is_number(c, 0.5);
            let (one, square) = self.difference_of_product_with(error, x)?;
            let is_error = self.is_number(one, 1.0) && self.is_product(square, first, first);
            (is_sum && is_error && self.is_product(product, first, error)).then_some(())
        };
        is_correction(a, b).or_else(|| is_correction(b, a))?;
        (is_nearest(attrs) && self.is_high_estimate(first, SharedFn::Rsq64High, x)).then_some(x)
    }

    /// Returns `c` and the factors of `c - a * b`.
    fn difference_of_product(&self, v: Value) -> Option<(Value, [Value; 2])> {
        let &Op::Fma { attrs, a, b, c } = self.def(v) else { return None };
        let minus = |v: Value| match *self.def(v) {
            Op::Unary { op: UnaryOp::FNeg, a } => Some(a),
            _ => None,
        };
        let factors = match (minus(a), minus(b)) {
            (Some(a), None) => [a, b],
            (None, Some(b)) => [a, b],
            _ => return None,
        };
        is_nearest(attrs).then_some((c, factors))
    }

    /// Returns `c` and `b` of `c - a * b` for this `a`.
    fn difference_of_product_with(&self, v: Value, a: Value) -> Option<(Value, Value)> {
        let (c, factors) = self.difference_of_product(v)?;
        match factors {
            [first, b] if first == a => Some((c, b)),
            [b, second] if second == a => Some((c, b)),
            _ => None,
        }
    }

    /// Returns `r` and `e` of `r + r * e`.
    fn more_than(&self, v: Value) -> Option<(Value, Value)> {
        let &Op::Fma { attrs, a, b, c } = self.def(v) else { return None };
        let other = if a == c { b } else { (b == c).then_some(a)? };
        is_nearest(attrs).then_some((c, other))
    }

    /// Whether a value is `1 - y * r`.
    fn is_reciprocal_error(&self, error: Value, r: Value, y: Value) -> bool {
        let parts = self.difference_of_product(error);
        parts.is_some_and(|(one, [a, b])| self.is_number(one, 1.0) && are(a, b, y, r))
    }

    fn is_product(&self, v: Value, x: Value, y: Value) -> bool {
        match *self.def(v) {
            Op::FBinary { op: FloatBinaryOp::Mul, attrs, a, b } => {
                is_nearest(attrs) && are(a, b, x, y)
            }
            _ => false,
        }
    }

    /// Whether the high word of a double is the estimate `wanted` of `of`. The low word hardly
    /// matters.
    fn is_high_estimate(&self, v: Value, wanted: SharedFn, of: Value) -> bool {
        self.made_high_word(v).is_some_and(|hi| match *self.def(hi) {
            Op::Shared { function, a } => {
                function == wanted
                    && (self.made_high_word(of) == Some(a) || self.is_high_word_of(a, of))
            }
            _ => false,
        })
    }

    /// Returns the high word of a double that is made of words.
    fn made_high_word(&self, double: Value) -> Option<Value> {
        match *self.def(self.bits_of(double)?) {
            Op::Concat { hi, .. } => Some(hi),
            _ => None,
        }
    }

    fn is_high_word_of(&self, word: Value, of: Value) -> bool {
        match *self.def(word) {
            Op::Convert { op: ConvertOp::HighHalf, a, .. } => {
                self.bits_of(of) == Some(a)
                    || matches!(*self.def(a), Op::Convert { op: ConvertOp::Bitcast, a, .. } if a == of)
            }
            _ => false,
        }
    }

    fn is_number(&self, v: Value, x: f64) -> bool {
        let bits =
            if self.ty(v).ty == Type::F64 { x.to_bits() } else { (x as f32).to_bits().into() };
        self.constant(v) == Some(bits)
    }
}

/// Whether an operation rounds to nearest and does not saturate.
///
/// With moderate operands nothing is denormal, so whether the operation flushes makes no
/// difference.
fn is_nearest(attrs: FloatAttrs) -> bool {
    attrs.round == Round::Nearest && !attrs.saturate
}

/// Whether `a` and `b` are `x` and `y`, in either order.
fn are(a: Value, b: Value, x: Value, y: Value) -> bool {
    (a, b) == (x, y) || (a, b) == (y, x)
}

//! Recognises divisions of 64-bit integers that compilers expand to 32-bit steps.
//!
//! LLVM for AMD's GPUs and NVIDIA's compilers use one method, once products and differences of
//! words are 64-bit operations. With y the divisor and X = 2^64 / y:
//!
//! - An estimate x of X, by the reciprocal of a float of y that is made a bit smaller. It is at
//!   most X, and at least X - (X / 2^21 + 1): the float is wrong by two roundings or by one up, the
//!   reciprocal by one. The factor of the reciprocal, or the number taken off its bits, lowers it
//!   by as much.
//! - Newton's step `x + high(x * (0 - x * y))`, twice. With d = X - x, the step gives X - d^2 / X,
//!   cut. So x stays at most X. If X is at least 2^10, d is less than X / 2^42 + 1.001 after the
//!   first step, and 1.002 after the second. If X is less, d is at most 1.0005 at the beginning,
//!   and no step makes it greater. (If the estimate is 0, it stays 0. X is below 1.0005 then.)
//! - `q = high(n * x)`. It is at most n / y, and above n / y - 2.002. So the quotient is q, q + 1
//!   or q + 2, and the rest `n - q * y` tells which.
//!
//! So both compilers' sequences are exact for all operands except y = 0, for which the rules emit a
//! select. `tests/divisions` compares each sequence with the division, and tries the reciprocals of
//! all floats.

mod words;

use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, FloatUnaryOp, Op, Round, SharedFn, Type, Value,
    Window,
};

use super::editor::Editor;

/// The factor by which LLVM multiplies the reciprocal: 2^64 (1 - 2^-22).
const BELOW_2_64: u64 = 0x5f7f_fffc;
/// `UP` is 2^32, `DOWN` 2^-32, `LESS` -2^32.
const UP: u64 = 0x4f80_0000;
const DOWN: u64 = 0x2f80_0000;
const LESS: u64 = 0xcf80_0000;
/// The number that NVIDIA's compilers add to the bits of the reciprocal. It multiplies the
/// reciprocal by 2^64, and takes two units off its last place.
const EXPONENT_64: u64 = 0x1fff_fffe;

/// The compiler whose estimate it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Estimate {
    Llvm,
    Nvidia,
}

/// A half of a 64-bit value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

impl Half {
    /// Returns the conversion that gives this half.
    fn of(self) -> ConvertOp {
        match self {
            Half::Low => ConvertOp::Trunc,
            Half::High => ConvertOp::HighHalf,
        }
    }
}

/// A quotient that is at most two too small.
struct Quotient {
    n: Value,
    y: Value,
    q: Value,
    /// `n - q * y`
    rest: Value,
    by: Estimate,
}

impl Editor {
    /// Emits the quotient or the remainder, or a half of one, whose last step is the select `op`.
    pub(super) fn wide_division_of_steps(&mut self, op: &Op, window: Window) -> Option<Value> {
        let &Op::Select { mask, a: more, b: less } = op else { return None };
        let (rest, y) = self.at_least(mask)?;
        if self.ty(rest).ty != Type::I64 {
            return None;
        }
        if let Some(first) = self.wide_quotient(rest, y) {
            return self.chosen_at_once(&first, more, less, window);
        }
        let &Op::Select { mask: once, b: whole, .. } = self.def(rest) else { return None };
        let first = self.wide_quotient(whole, y)?;
        if !self.is_corrected(&first, rest) {
            return None;
        }
        self.chosen_twice(&first, (once, rest), more, less, window)
    }

    /// Matches LLVM's sequence: a choice among three computed values.
    fn chosen_at_once(
        &mut self,
        first: &Quotient,
        more: Value,
        less: Value,
        window: Window,
    ) -> Option<Value> {
        let &Op::Select { mask, a: most, b: more } = self.def(more) else { return None };
        let (rest, y) = self.at_least(mask)?;
        if y != first.y || !self.is_rest_less(rest, first) {
            return None;
        }
        if self.ty(less).ty == Type::I64 {
            let lowered = self.matches_binary(more, BinaryOp::Sub) == Some((first.rest, y))
                && self.matches_binary(most, BinaryOp::Sub) == Some((more, y));
            return (less == first.rest && lowered).then(|| self.wide_remainder(first, window));
        }
        for half in [Half::Low, Half::High] {
            if self.is_half(less, half, first.q) {
                let raised = self.is_raised(more, half, first.q, 1)
                    && self.is_raised(most, half, first.q, 2);
                return raised.then(|| self.half_of_quotient(first, half, window));
            }
            if self.is_half(less, half, first.rest) {
                let lowered =
                    self.is_lowered(more, half, first, 1) && self.is_lowered(most, half, first, 2);
                return lowered.then(|| self.half_of_remainder(first, half, window));
            }
        }
        // The upper word of the rest need not be in a pair.
        let lowered = self.is_lowered(less, Half::High, first, 0)
            && self.is_lowered(more, Half::High, first, 1)
            && self.is_lowered(most, Half::High, first, 2);
        lowered.then(|| self.half_of_remainder(first, Half::High, window))
    }

    /// Matches NVIDIA's sequence, which corrects twice. `once` is the mask of the first correction,
    /// `rest` the rest after it.
    fn chosen_twice(
        &mut self,
        first: &Quotient,
        (once, rest): (Value, Value),
        more: Value,
        less: Value,
        window: Window,
    ) -> Option<Value> {
        if self.ty(less).ty == Type::I64 {
            let lowered = self.matches_binary(more, BinaryOp::Sub) == Some((rest, first.y));
            return (less == rest && lowered).then(|| self.wide_remainder(first, window));
        }
        let low = self.low_word(rest)?;
        let lower = self.less_word(low, first.y);
        if less == low {
            return (lower == Some(more)).then(|| self.half_of_remainder(first, Half::Low, window));
        }
        if self.pairs.get(&(low, less, window)) == Some(&rest) {
            let pair = self.concat(lower?, more, window);
            let lowered = self.matches_binary(pair, BinaryOp::Sub) == Some((rest, first.y));
            return lowered.then(|| self.half_of_remainder(first, Half::High, window));
        }
        let &Op::Select { mask, b: whole, .. } = self.def(less) else { return None };
        let half =
            [Half::Low, Half::High].into_iter().find(|&half| self.is_half(whole, half, first.q))?;
        let is_next = match half {
            Half::Low => self.is_next_word(less, once, first.q) && self.is_more(more, less, 1),
            Half::High => mask == once && self.is_next_upper_word(more, less, once, first.q),
        };
        is_next.then(|| self.half_of_quotient(first, half, window))
    }

    /// Returns whether a word is the low word of the quotient, plus one where `once` corrects it.
    fn is_next_word(&self, v: Value, once: Value, q: Value) -> bool {
        match *self.def(v) {
            Op::Select { mask, a, b } => {
                mask == once && self.is_half(b, Half::Low, q) && self.is_raised(a, Half::Low, q, 1)
            }
            _ => false,
        }
    }

    /// Returns whether `less` is the upper word of the quotient corrected once, and `more` the
    /// upper word of that quotient plus one.
    fn is_next_upper_word(&self, more: Value, less: Value, once: Value, q: Value) -> bool {
        let &Op::Select { a: raised, .. } = self.def(less) else { return false };
        let &Op::AddCarry { a, b, carry: Some(carry) } = self.def(more) else { return false };
        let (at, 1) = self.def_at(carry) else { return false };
        let Op::AddCarry { a: x, b: y, carry: None } = self.insts[at].op else { return false };
        let adds_one =
            |x: Value, y: Value| self.constant(y) == Some(1) && self.is_next_word(x, once, q);
        let sum = (a == less && self.constant(b) == Some(0))
            || (b == less && self.constant(a) == Some(0));
        sum && self.def_at(more).1 == 0
            && self.is_raised(raised, Half::High, q, 1)
            && (adds_one(x, y) || adds_one(y, x))
    }

    fn half_of_quotient(&mut self, first: &Quotient, half: Half, window: Window) -> Value {
        let quotient = self.binary(BinaryOp::DivU, first.n, first.y, window);
        let of_zero = self.quotient_by_zero(first, window);
        let zero = self.is_zero(first.y, window);
        let quotient = self.select(zero, of_zero, quotient, window);
        self.wide_half(quotient, half, window)
    }

    fn half_of_remainder(&mut self, first: &Quotient, half: Half, window: Window) -> Value {
        let remainder = self.wide_remainder(first, window);
        self.wide_half(remainder, half, window)
    }

    /// Emits the remainder. By 0, it is the dividend.
    fn wide_remainder(&mut self, first: &Quotient, window: Window) -> Value {
        let remainder = self.binary(BinaryOp::RemU, first.n, first.y, window);
        let zero = self.is_zero(first.y, window);
        self.select(zero, first.n, remainder, window)
    }

    fn wide_half(&mut self, v: Value, half: Half, window: Window) -> Value {
        self.convert(half.of(), Type::I32, v, window)
    }

    /// Emits the result of the steps for a division by 0. LLVM's estimate is then 2^64 - 2^32, so
    /// the quotient is n - n / 2^32, where n / 2^32 is rounded up, plus two. NVIDIA's estimate is
    /// 0, so the quotient is two.
    fn quotient_by_zero(&mut self, first: &Quotient, window: Window) -> Value {
        let [one, two, word, words] =
            [1, 2, u32::MAX.into(), 32].map(|bits| self.iconst(Type::I64, bits));
        if first.by == Estimate::Nvidia {
            return two;
        }
        let (high, low) = (
            self.binary(BinaryOp::ShrU, first.n, words, window),
            self.binary(BinaryOp::And, first.n, word, window),
        );
        let up = self.binary(BinaryOp::MinU, low, one, window);
        let less = self.binary(BinaryOp::Add, high, up, window);
        let rest = self.binary(BinaryOp::Sub, first.n, less, window);
        self.binary(BinaryOp::Add, rest, two, window)
    }

    /// Returns the quotient that leaves `rest`.
    fn wide_quotient(&self, rest: Value, y: Value) -> Option<Quotient> {
        let (n, product) = self.matches_binary(rest, BinaryOp::Sub)?;
        let q = self.other_operand(product, BinaryOp::Mul, y)?;
        let estimate = self.other_operand(q, BinaryOp::MulHiU, n)?;
        let x = self.before_newton(self.before_newton(estimate, y)?, y)?;
        let by = self.wide_estimate(x, y)?;
        Some(Quotient { n, y, q, rest, by })
    }

    /// Returns `x` of `x + high(x * (0 - x * y))`.
    fn before_newton(&self, v: Value, y: Value) -> Option<Value> {
        let (a, b) = self.matches_binary(v, BinaryOp::Add)?;
        let of = |x: Value, more: Value| {
            let error = self.other_operand(more, BinaryOp::MulHiU, x)?;
            let is_product = match self.negated(error) {
                Some(product) => self.other_operand(product, BinaryOp::Mul, x) == Some(y),
                None => {
                    self.other_operand(error, BinaryOp::Mul, x).and_then(|y| self.negated(y))
                        == Some(y)
                }
            };
            is_product.then_some(x)
        };
        of(a, b).or_else(|| of(b, a))
    }

    fn wide_estimate(&self, v: Value, y: Value) -> Option<Estimate> {
        match *self.def(v) {
            Op::Concat { lo, hi } => {
                let Op::Concat { lo: y_lo, hi: y_hi } = *self.def(y) else { return None };
                let high = self.cut(hi)?;
                let &Op::FUnary { op: FloatUnaryOp::Integral, attrs, a: scaled } = self.def(high)
                else {
                    return None;
                };
                let x = self.float_product(scaled, DOWN)?;
                let (p, q) = self.float_sum(self.cut(lo)?)?;
                let less = if q == x { p } else { (p == x).then_some(q)? };
                let reciprocal = self.float_product(x, BELOW_2_64)?;
                let &Op::Shared { function: SharedFn::Rcp, a: float } = self.def(reciprocal) else {
                    return None;
                };
                let (p, q) = self.float_sum(float)?;
                let is_float = |high: Value, low: Value| {
                    self.float_product(high, UP)
                        .is_some_and(|high| self.is_float_of(high, y_hi, Round::Nearest))
                        && self.is_float_of(low, y_lo, Round::Nearest)
                };
                let found = attrs.round == Round::Zero
                    && self.float_product(less, LESS) == Some(high)
                    && (is_float(p, q) || is_float(q, p));
                found.then_some(Estimate::Llvm)
            }
            Op::FloatToInt { to: Type::I64, signed: false, round: Round::Zero, a, .. } => {
                let (a, b) = self.matches_binary(self.bits_of(a)?, BinaryOp::Add)?;
                let (step, bits) = if self.constant(a).is_some() { (a, b) } else { (b, a) };
                let &Op::Shared { function: SharedFn::Rcp, a: float } =
                    self.def(self.bits_of(bits)?)
                else {
                    return None;
                };
                let found = self.constant(step) == Some(EXPONENT_64)
                    && self.is_float_of(float, y, Round::Up);
                found.then_some(Estimate::Nvidia)
            }
            _ => None,
        }
    }

    fn is_float_of(&self, float: Value, of: Value, wanted: Round) -> bool {
        match *self.def(float) {
            Op::IntToFloat { to: Type::F32, signed: false, round, a } => round == wanted && a == of,
            _ => false,
        }
    }

    /// Returns the operands of a sum that is rounded to nearest. (No operand here is denormal.)
    fn float_sum(&self, v: Value) -> Option<(Value, Value)> {
        self.float_operands(v, FloatBinaryOp::Add)
    }

    fn float_product(&self, v: Value, by: u64) -> Option<Value> {
        let (a, b) = self.float_operands(v, FloatBinaryOp::Mul)?;
        if self.constant(b) == Some(by) {
            Some(a)
        } else {
            (self.constant(a) == Some(by)).then_some(b)
        }
    }

    fn float_operands(&self, v: Value, wanted: FloatBinaryOp) -> Option<(Value, Value)> {
        match *self.def(v) {
            Op::FBinary {
                op,
                attrs: FloatAttrs { round: Round::Nearest, saturate: false, .. },
                a,
                b,
            } if op == wanted => (self.ty(v).ty == Type::F32).then_some((a, b)),
            _ => None,
        }
    }

    /// Returns whether a value is the rest, minus y where the rest is at least y.
    fn is_corrected(&self, first: &Quotient, v: Value) -> bool {
        let &Op::Select { mask, a, b } = self.def(v) else { return false };
        self.at_least(mask) == Some((first.rest, first.y))
            && b == first.rest
            && self.matches_binary(a, BinaryOp::Sub) == Some((first.rest, first.y))
    }

    /// Returns whether a value is the rest minus y.
    fn is_rest_less(&self, v: Value, first: &Quotient) -> bool {
        match *self.def(v) {
            Op::Concat { lo, hi } => {
                self.is_lowered(lo, Half::Low, first, 1)
                    && self.is_lowered(hi, Half::High, first, 1)
            }
            _ => self.matches_binary(v, BinaryOp::Sub) == Some((first.rest, first.y)),
        }
    }
}

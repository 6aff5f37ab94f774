//! Replaces the steps that compilers make of divisions with one operation.
//!
//! *Floats.* The editor emits LLVM's steps for AMD's GPUs once more, for the operands that the last
//! step names ([`warploom_ir::division`]). Equal operations are shared, so the code is that
//! division if its last step is the value that is emitted. The division is the correctly rounded
//! quotient for all operands. Reciprocals begin correctly rounded, and the iterations leave the
//! quotient's error so small that the last iteration rounds as the exact quotient does (Markstein).
//! The steps around them keep operands where that holds, and the last step itself rounds a denormal
//! quotient. `tests/divisions` compares steps and quotients, and tries all reciprocals.
//!
//! *Words.* All compilers multiply by an estimate of 2^32 / y that is at most 2 * y / 2^32 too
//! small, and correct the quotient by up to two units. So remainder and quotient are exact for all
//! operands but y = 0, which is tested. A test checks that estimates are so close for every y.
//!
//! *Words by floats.* Intel's compiler estimates the quotient twice in floats that are rounded
//! toward zero, and corrects it once. Let u = 2^-24. The operands y = f + g and x are in two exact
//! parts each, and g / f < 2 u. The factor r, 1 / f less 6 u of it, is below 1 / y, and at least
//! (1 - 9 u) / y. So the first quotient p, a whole number, is at most x / y, and the rest
//! R = x - p y is at most 14 u x + y. R is the sum of two whole numbers of which one is at most
//! 512. Rounding cuts at most 4 u (R + 512) from them and their sum. The second quotient, r times
//! that sum, is at most R / y before it is cut and, as R / y < 2^12, above R / y - 0.01. So the sum
//! of both quotients is x / y or one less.

use warploom_ir::division::{Build, Division};
use warploom_ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, IntCc, Op, Round, SharedFn, Type, UnaryOp,
    Value, ValueType, Window,
};

use super::editor::Editor;

/// The factor by which LLVM multiplies the reciprocal: a bit less than 2^32.
const BELOW_2_32: u64 = 0x4f7f_fffe;
/// The number that NVIDIA's compilers add to the bits of the reciprocal of a number that was
/// rounded up. The sum is the reciprocal times nearly 2^32.
const EXPONENT_32: u64 = 0x0fff_fffe;

/// Emits operations into an editor.
pub(super) struct Putter<'e> {
    pub editor: &'e mut Editor,
    pub window: Window,
}

impl Build for Putter<'_> {
    fn put(&mut self, op: Op) -> Value {
        let editor = &mut *self.editor;
        // Factors and summands may come in either order.
        let other = match op {
            Op::Fma { attrs, a, b, c } => Some(Op::Fma { attrs, a: b, b: a, c }),
            Op::FBinary { op: op @ (FloatBinaryOp::Mul | FloatBinaryOp::Add), attrs, a, b } => {
                Some(Op::FBinary { op, attrs, a: b, b: a })
            }
            Op::Binary { op: BinaryOp::Add, a, b } => {
                Some(Op::Binary { op: BinaryOp::Add, a: b, b: a })
            }
            _ => None,
        };
        if let Some(known) = other.and_then(|other| editor.find(&other, self.window)) {
            return editor.current(known);
        }
        let of = |editor: &Editor, values: &[Value]| {
            let shapes = values.iter().map(|&v| editor.ty(v));
            shapes
                .reduce(|x, y| ValueType { ty: x.ty, shape: x.shape.join(y.shape) })
                .expect("it has operands")
        };
        let ty = match op {
            Op::Const { ty, .. } => ValueType::uniform(ty),
            Op::IntToFloat { to, a, .. } | Op::FloatToInt { to, a, .. } => {
                ValueType { ty: to, shape: editor.ty(a).shape }
            }
            Op::ICmp { .. } | Op::FCmp { .. } => ValueType::MASK,
            Op::Select { a, .. } => ValueType::varying(editor.ty(a).ty),
            Op::Convert { to, a, .. } => ValueType { ty: to, shape: editor.ty(a).shape },
            ref op => of(editor, &op.operands()),
        };
        editor.pure(op, self.window, &[ty])[0]
    }
}

impl Editor {
    /// Whether a choice gives all ones for a divisor of 0, as the operation does by itself.
    pub(super) fn is_by_zero(&self, mask: Value, ones: Value, result: Value) -> bool {
        let Op::Binary { op: BinaryOp::DivU | BinaryOp::RemU, b: divisor, .. } = *self.def(result)
        else {
            return false;
        };
        let Op::ICmp { cc: IntCc::Eq, a, b } = *self.def(mask) else { return false };
        let zero = if a == divisor { b } else { a };
        (a == divisor || b == divisor)
            && self.constant(zero) == Some(0)
            && self.constant(ones) == Some(self.ty(result).ty.bit_mask())
    }

    pub(super) fn float_quotient(
        &mut self,
        (mask, nan, signed): (Value, Value, Value),
        window: Window,
    ) -> Option<Value> {
        let ty = self.ty(signed).ty;
        let bits = self.constant(nan)?;
        let (single, double) = (0x7fc0_0000, 0x7ff8 << 48);
        if bits != if ty == Type::F32 { single } else { double } {
            return None;
        }
        let (_, sign) = self.matches_binary(self.bits_of(signed)?, BinaryOp::Or)?;
        let (signs, _) = self.matches_binary(sign, BinaryOp::And)?;
        let (d, n) = self.matches_binary(signs, BinaryOp::Xor)?;
        let [n, d] = [n, d].map(|bits| self.convert(ConvertOp::Bitcast, ty, bits, window));
        let mut put = Putter { editor: self, window };
        let mut division = Division { b: &mut put, attrs: FloatAttrs::IEEE, nan: bits, ty };
        let ((scaled_d, _), (scaled_n, moved)) =
            (division.scale([d, d, n]), division.scale([n, d, n]));
        let [e, r, q] = iterations(&mut division, scaled_n, scaled_d);
        let quotient = division.fmas([e, r, q], moved);
        let fixed = division.fixup([quotient, d, n]);
        let found = (fixed.neither, fixed.nan, fixed.signed) == (mask, nan, signed);
        found.then(|| division.quotient(n, d))
    }

    /// Returns the remainder for `r - (r < y ? 0 : y)`, or the quotient for `q - (r < y ? 0 : -1)`.
    ///
    /// `r` is `x - q y`, and `q` is at most one less than x / y.
    pub(super) fn corrected_quotient(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        window: Window,
    ) -> Option<Value> {
        let (value, step) = match (op, self.negated(a), self.negated(b)) {
            (BinaryOp::Sub, _, _) => (a, b),
            (BinaryOp::Add, _, Some(step)) => (a, step),
            (BinaryOp::Add, Some(step), None) => (b, step),
            _ => return None,
        };
        let (mask, none, full) = self.choice(step)?;
        let (rest, y, none, full) = match *self.def(mask) {
            Op::ICmp { cc: IntCc::LtU, a, b } => (a, b, none, full),
            Op::ICmp { cc: IntCc::GtU, a, b } => (b, a, none, full),
            Op::ICmp { cc: IntCc::GeU, a, b } => (a, b, full, none),
            Op::ICmp { cc: IntCc::LeU, a, b } => (b, a, full, none),
            _ => return None,
        };
        if self.ty(y).ty != Type::I32 || self.constant(none) != Some(0) {
            return None;
        }
        let (x, q) = self.less_product(rest, y)?;
        let is_remainder = value == rest && full == y;
        let is_quotient = value == q && self.constant(full) == Some(u32::MAX.into());
        let (first, second) = self.matches_binary(q, BinaryOp::Add)?;
        let cut = |v: Value| matches!(self.def(v), Op::FloatToInt { .. });
        if !(is_remainder || is_quotient) || !cut(first) || !cut(second) {
            return None;
        }
        if quotient_by_floats(&mut Putter { editor: self, window }, x, y) != q {
            return None;
        }
        // In a division by 0 the floats are NaNs, and the quotient before its correction is 0.
        let (op, of_zero) = if is_remainder {
            (BinaryOp::RemU, x)
        } else {
            (BinaryOp::DivU, self.iconst(Type::I32, 1))
        };
        let (zero, exact) = (self.is_zero(y, window), self.binary(op, x, y, window));
        if self.ty(exact).is_uniform() {
            let choice = Op::UniformSelect { cond: zero, a: of_zero, b: exact };
            return Some(self.pure(choice, window, &[ValueType::uniform(Type::I32)])[0]);
        }
        Some(self.select(zero, of_zero, exact, window))
    }

    /// Returns the condition and both operands of a select, or of a uniform select by a uniform
    /// compare.
    fn choice(&self, v: Value) -> Option<(Value, Value, Value)> {
        match *self.def(v) {
            Op::Select { mask, a, b } => Some((mask, a, b)),
            Op::UniformSelect { cond, a, b } => {
                // A compare of uniform values has all bits or none.
                let mask = match self.matches_binary(cond, BinaryOp::And) {
                    Some((mask, one)) if self.constant(one).is_some_and(|bits| bits != 0) => mask,
                    _ => cond,
                };
                let Op::ICmp { a: x, b: y, .. } = *self.def(mask) else { return None };
                (self.ty(x).is_uniform() && self.ty(y).is_uniform()).then_some((mask, a, b))
            }
            _ => None,
        }
    }

    /// Returns the bits that a float was made of.
    pub(super) fn bits_of(&self, float: Value) -> Option<Value> {
        match *self.def(float) {
            Op::Convert { op: ConvertOp::Bitcast, a, .. } => Some(a),
            _ => None,
        }
    }

    /// Returns the remainder for the second correction `r >= y ? r - y : r`.
    ///
    /// Before both corrections, the remainder is too great by at most 2 y.
    pub(super) fn word_remainder(
        &mut self,
        choice: (Value, Value, Value),
        window: Window,
    ) -> Option<Value> {
        let (rest, y) = self.corrected(choice)?;
        let (x, _, y) = self.uncorrected(rest, y)?;
        let zero = self.is_zero(y, window);
        let remainder = self.binary(BinaryOp::RemU, x, y, window);
        Some(self.select(zero, x, remainder, window))
    }

    /// Returns the quotient for the second correction `r >= y ? q + 1 : q`.
    ///
    /// Before both corrections, the quotient is too small by at most 2.
    pub(super) fn word_quotient(
        &mut self,
        (mask, more, q): (Value, Value, Value),
        window: Window,
    ) -> Option<Value> {
        let next = |editor: &Editor, more: Value, q: Value| {
            let (a, b) = editor.matches_binary(more, BinaryOp::Add)?;
            ((a == q && editor.constant(b) == Some(1)) || (b == q && editor.constant(a) == Some(1)))
                .then_some(())
        };
        next(self, more, q)?;
        let (rest, y) = self.at_least(mask)?;
        let &Op::Select { mask: first, a: once, b: estimate } = self.def(q) else { return None };
        next(self, once, estimate)?;
        let &Op::Select { mask: again, .. } = self.def(rest) else { return None };
        if again != first {
            return None;
        }
        let (x, found, y) = self.uncorrected(rest, y)?;
        if found != estimate {
            return None;
        }
        let zero = self.is_zero(y, window);
        let (quotient, two) =
            (self.binary(BinaryOp::DivU, x, y, window), self.iconst(Type::I32, 2));
        let estimate = self.estimate_by_zero(x, estimate, window)?;
        let of_zero = self.binary(BinaryOp::Add, estimate, two, window);
        Some(self.select(zero, of_zero, quotient, window))
    }

    /// Returns the estimated quotient of `x` where y is 0: max(x, 1) - 1 in LLVM's code, 0 in other
    /// code.
    fn estimate_by_zero(&mut self, x: Value, estimate: Value, window: Window) -> Option<Value> {
        let (a, b) = self.high_product(estimate)?;
        let (z, more) = self.matches_binary(if a == x { b } else { a }, BinaryOp::Add)?;
        let (_, is_great) = self.first_estimate(z).or_else(|| self.first_estimate(more))?;
        let one = self.iconst(Type::I32, 1);
        if !is_great {
            return Some(self.iconst(Type::I32, 0));
        }
        let least = self.binary(BinaryOp::MaxU, x, one, window);
        Some(self.binary(BinaryOp::Sub, least, one, window))
    }

    pub(super) fn is_zero(&mut self, y: Value, window: Window) -> Value {
        let zero = self.iconst(self.ty(y).ty, 0);
        self.pure(Op::ICmp { cc: IntCc::Eq, a: y, b: zero }, window, &[ValueType::MASK])[0]
    }

    /// Returns the operands of an unsigned `r >= y`.
    pub(super) fn at_least(&self, mask: Value) -> Option<(Value, Value)> {
        match *self.def(mask) {
            Op::ICmp { cc: IntCc::GeU, a, b } => Some((a, b)),
            Op::ICmp { cc: IntCc::LeU, a, b } => Some((b, a)),
            _ => None,
        }
    }

    /// Returns `r` and `y` of `r >= y ? r - y : r`.
    fn corrected(&self, (mask, less, rest): (Value, Value, Value)) -> Option<(Value, Value)> {
        let (r, y) = self.at_least(mask)?;
        (r == rest && self.matches_binary(less, BinaryOp::Sub)? == (r, y)).then_some((r, y))
    }

    /// Returns `x`, `q` and `y` of a remainder that is corrected once, where `q` is at most two
    /// less than x / y.
    fn uncorrected(&self, rest: Value, y: Value) -> Option<(Value, Value, Value)> {
        let &Op::Select { mask, a, b } = self.def(rest) else { return None };
        let (rest, again) = self.corrected((mask, a, b))?;
        if again != y {
            return None;
        }
        let (x, q) = self.less_product(rest, y)?;
        let (a, b) = self.high_product(q)?;
        let is_estimate = |z: Value, other: Value| other == x && self.is_estimate(z, y);
        (is_estimate(a, b) || is_estimate(b, a)).then_some((x, q, y))
    }

    /// Returns the operand beside `one`, in either order.
    pub(super) fn other_operand(&self, v: Value, op: BinaryOp, one: Value) -> Option<Value> {
        let (a, b) = self.matches_binary(v, op)?;
        if b == one { Some(a) } else { (a == one).then_some(b) }
    }

    /// Returns the float whose whole part is a word.
    pub(super) fn cut(&self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::FloatToInt {
                to: Type::I32, signed: false, round: Round::Zero, nan: 0, a, ..
            } => Some(a),
            _ => None,
        }
    }

    /// Returns `x` and `q` of `x - q * y`.
    fn less_product(&self, v: Value, y: Value) -> Option<(Value, Value)> {
        let factor = |v: Value| self.other_operand(v, BinaryOp::Mul, y);
        if let Some((x, product)) = self.matches_binary(v, BinaryOp::Sub) {
            return Some((x, factor(product)?));
        }
        let (a, b) = self.matches_binary(v, BinaryOp::Add)?;
        let negated = |product: Value| match self.negated(product) {
            Some(product) => factor(product),
            None => self.negated(factor(product)?),
        };
        if let Some(q) = negated(a) { Some((b, q)) } else { Some((a, negated(b)?)) }
    }

    pub(super) fn negated(&self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::Unary { op: UnaryOp::Neg, a } => Some(a),
            Op::Binary { op: BinaryOp::Sub, a, b } if self.constant(a) == Some(0) => Some(b),
            _ => None,
        }
    }

    /// Returns the factors of the product whose high word is a value.
    fn high_product(&self, v: Value) -> Option<(Value, Value)> {
        match *self.def(v) {
            Op::Binary { op: BinaryOp::MulHiU, a, b } if self.ty(a).ty == Type::I32 => Some((a, b)),
            Op::Convert { op: ConvertOp::HighHalf, a, .. } => {
                let (a, b) = self.matches_binary(a, BinaryOp::Mul)?;
                Some((self.zero_extended(a)?, self.zero_extended(b)?))
            }
            _ => None,
        }
    }

    /// Whether a value is the estimate of 2^32 / y that compilers make: a first estimate `z`, plus
    /// the high word of z * -(z * y).
    fn is_estimate(&self, v: Value, y: Value) -> bool {
        let of = |z: Value, more: Value| {
            let (a, b) = self.high_product(more)?;
            let error = if a == z { b } else { (b == z).then_some(a)? };
            let negative_product = |error: Value| {
                if let Some(product) = self.negated(error) {
                    return self
                        .matches_binary(product, BinaryOp::Mul)
                        .is_some_and(|p| p == (z, y) || p == (y, z));
                }
                let Some((a, b)) = self.matches_binary(error, BinaryOp::Mul) else { return false };
                (a == z && self.negated(b) == Some(y)) || (b == z && self.negated(a) == Some(y))
            };
            let (of, _) = self.first_estimate(z)?;
            (of == y && negative_product(error)).then_some(())
        };
        let Some((a, b)) = self.matches_binary(v, BinaryOp::Add) else { return false };
        of(a, b).or_else(|| of(b, a)).is_some()
    }

    /// Returns the `y` of a first estimate of 2^32 / y, and whether the estimate is LLVM's.
    ///
    /// The estimate is made of the reciprocal of y as a float.
    fn first_estimate(&self, v: Value) -> Option<(Value, bool)> {
        let a = self.cut(v)?;
        let reciprocal = |v: Value, round: Round| match *self.def(v) {
            Op::Shared { function: SharedFn::Rcp, a } => match *self.def(a) {
                Op::IntToFloat { to: Type::F32, signed: false, round: found, a }
                    if found == round =>
                {
                    (self.ty(a).ty == Type::I32).then_some(a)
                }
                _ => None,
            },
            _ => None,
        };
        match *self.def(a) {
            Op::FBinary { op: FloatBinaryOp::Mul, attrs, a, b }
                if attrs.round == Round::Nearest && !attrs.saturate =>
            {
                let (factor, other) = if self.constant(a).is_some() { (a, b) } else { (b, a) };
                let y = reciprocal(other, Round::Nearest)?;
                (self.constant(factor) == Some(BELOW_2_32)).then_some((y, true))
            }
            Op::Convert { op: ConvertOp::Bitcast, a, .. } => {
                let (a, b) = self.matches_binary(a, BinaryOp::Add)?;
                let (step, bits) = if self.constant(a).is_some() { (a, b) } else { (b, a) };
                let y = reciprocal(self.bits_of(bits)?, Round::Up)?;
                (self.constant(step) == Some(EXPONENT_32)).then_some((y, false))
            }
            _ => None,
        }
    }
}

/// Emits LLVM's iterations for scaled operands. Returns the operands of the last fused
/// multiply-add.
fn iterations<B: Build>(division: &mut Division<'_, B>, n: Value, d: Value) -> [Value; 3] {
    let one = division.number(1.0);
    let negative = division.b.put(Op::Unary { op: UnaryOp::FNeg, a: d });
    if division.ty == Type::F64 {
        let r = division.quotient(one, d);
        let e = division.fma(negative, r, one);
        let r = division.fma(r, e, r);
        let e = division.fma(negative, r, one);
        let r = division.fma(r, e, r);
        let q = division.product(n, r);
        return [division.fma(negative, q, n), r, q];
    }
    let r = division.b.put(Op::Shared { function: SharedFn::Rcp, a: d });
    let e = division.fma(negative, r, one);
    let r = division.fma(e, r, r);
    let q = division.product(n, r);
    let e = division.fma(negative, q, n);
    let q = division.fma(e, r, q);
    [division.fma(negative, q, n), r, q]
}

/// The multiple of the reciprocal that Intel's compiler adds to it: -6 * 2^-24.
const BELOW_0: u64 = 0xb4c0_0000;

/// Emits the estimate that Intel's compiler makes of a quotient of words: the quotient or one less.
///
/// It is computed from the words' floats, rounded toward zero, and from the rests that these leave.
fn quotient_by_floats<B: Build>(b: &mut B, x: Value, y: Value) -> Value {
    const CUT: FloatAttrs = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
    let float = |b: &mut B, a: Value| {
        b.put(Op::IntToFloat { to: Type::F32, signed: false, round: Round::Zero, a })
    };
    let word = |b: &mut B, a: Value| {
        b.put(Op::FloatToInt {
            to: Type::I32,
            signed: false,
            round: Round::Zero,
            flush: false,
            nan: 0,
            a,
        })
    };
    let negative = |b: &mut B, a: Value| b.put(Op::Unary { op: UnaryOp::FNeg, a });
    let fma =
        |b: &mut B, x: Value, y: Value, z: Value| b.put(Op::Fma { attrs: CUT, a: x, b: y, c: z });
    let float_op = |b: &mut B, op: FloatBinaryOp, attrs: FloatAttrs, x: Value, y: Value| {
        b.put(Op::FBinary { op, attrs, a: x, b: y })
    };
    let sum = |b: &mut B, x: Value, y: Value| b.put(Op::Binary { op: BinaryOp::Add, a: x, b: y });
    let [[y, more_y], [x, more_x]] = [y, x].map(|of| {
        let whole = float(b, of);
        let cut = word(b, whole);
        let cut = b.put(Op::Unary { op: UnaryOp::Neg, a: cut });
        let rest = sum(b, of, cut);
        [whole, float(b, rest)]
    });
    let one = b.put(Op::Const { ty: Type::F32, bits: 1.0_f32.to_bits().into() });
    let r = float_op(b, FloatBinaryOp::Div, FloatAttrs::IEEE, one, y);
    let below = b.put(Op::Const { ty: Type::F32, bits: BELOW_0 });
    let r = fma(b, r, below, r);
    let first = float_op(b, FloatBinaryOp::Mul, CUT, x, r);
    let first = word(b, first);
    let whole = float(b, first);
    let (y, more_y) = (negative(b, y), negative(b, more_y));
    let (rest, more) = (fma(b, y, whole, x), fma(b, more_y, whole, more_x));
    let rest = float_op(b, FloatBinaryOp::Add, CUT, rest, more);
    let second = float_op(b, FloatBinaryOp::Mul, CUT, r, rest);
    let second = word(b, second);
    sum(b, second, first)
}

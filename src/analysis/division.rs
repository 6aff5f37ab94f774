//! Divisions that compilers make of steps, as one operation.
//!
//! *Floats.* What LLVM makes for AMD's GPUs is emitted once more for the operands that the last step names ([`crate::ir::division`]). As
//! equal operations are shared, it is that division if the last step comes out as it is there. It is the correctly rounded quotient, for all
//! operands: reciprocals begin correctly rounded, and the iterations leave the quotient's error so small that the last one rounds as the
//! exact quotient does (Markstein); the steps around them keep operands where that holds, and a denormal quotient is the last step's own.
//! `tests/divisions.rs` holds the one against the other, and tries all reciprocals.
//!
//! *Words.* All compilers multiply with an estimate of 2^32 / y that is at most 2 * y / 2^32 too small, and correct the quotient by up to two
//! units: so remainder and quotient are exact for all operands but y = 0, which is told apart. That estimates are as close a test
//! finds for every y.

use super::editor::Editor;
use crate::ir::division::{Build, Division};
use crate::ir::{
    BinaryOp, ConvertOp, FloatAttrs, FloatBinaryOp, IntCc, Op, Round, SharedFn, Type, UnaryOp, Value, ValueType, Window,
};

/// What LLVM multiplies the reciprocal with: a bit less than 2^32.
const BELOW_2_32: u64 = 0x4f7f_fffe;
/// What NVIDIA's compilers add to the bits of the reciprocal of a number that was rounded up: they multiply it with nearly 2^32.
const EXPONENT_32: u64 = 0x0fff_fffe;

/// Operations put into an editor.
struct Putter<'e> {
    editor: &'e mut Editor,
    window: Window,
}

impl Build for Putter<'_> {
    fn put(&mut self, op: Op) -> Value {
        let editor = &mut *self.editor;
        // Factors may come in either order.
        let other = match op {
            Op::Fma { attrs, a, b, c } => Some(Op::Fma { attrs, a: b, b: a, c }),
            Op::FBinary { op: FloatBinaryOp::Mul, attrs, a, b } => {
                Some(Op::FBinary { op: FloatBinaryOp::Mul, attrs, a: b, b: a })
            }
            _ => None,
        };
        if let Some(known) = other.and_then(|other| editor.find(&other, self.window)) {
            return editor.current(known);
        }
        let of = |editor: &Editor, values: &[Value]| {
            let shapes = values.iter().map(|&v| editor.ty(v));
            shapes.reduce(|x, y| ValueType { ty: x.ty, shape: x.shape.join(y.shape) }).expect("it has operands")
        };
        let ty = match op {
            Op::Const { ty, .. } => ValueType::uniform(ty),
            Op::ICmp { .. } | Op::FCmp { .. } => ValueType::MASK,
            Op::Select { a, .. } => ValueType::varying(editor.ty(a).ty),
            Op::Convert { to, a, .. } => ValueType { ty: to, shape: editor.ty(a).shape },
            ref op => of(editor, &op.operands()),
        };
        editor.pure(op, self.window, &[ty])[0]
    }
}

impl Editor {
    /// The quotient that a choice is the last step of.
    pub(super) fn quotient_of_steps(&mut self, op: &Op, window: Window) -> Option<Value> {
        let &Op::Select { mask, a, b } = op else { return None };
        match self.ty(b).ty {
            Type::F32 | Type::F64 => self.float_quotient((mask, a, b), window),
            Type::I32 => self.word_remainder((mask, a, b), window).or_else(|| self.word_quotient((mask, a, b), window)),
            _ => None,
        }
    }

    fn float_quotient(&mut self, (mask, nan, signed): (Value, Value, Value), window: Window) -> Option<Value> {
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
        let ((scaled_d, _), (scaled_n, moved)) = (division.scale([d, d, n]), division.scale([n, d, n]));
        let [e, r, q] = iterations(&mut division, scaled_n, scaled_d);
        let quotient = division.fmas([e, r, q], moved);
        let fixed = division.fixup([quotient, d, n]);
        let found = (fixed.neither, fixed.nan, fixed.signed) == (mask, nan, signed);
        found.then(|| division.quotient(n, d))
    }

    fn bits_of(&self, float: Value) -> Option<Value> {
        match *self.def(float) {
            Op::Convert { op: ConvertOp::Bitcast, a, .. } => Some(a),
            _ => None,
        }
    }

    /// `r >= y ? r - y : r` of a remainder that is at most twice too great.
    fn word_remainder(&mut self, choice: (Value, Value, Value), window: Window) -> Option<Value> {
        let (rest, y) = self.corrected(choice)?;
        let (x, _, y) = self.uncorrected(rest, y)?;
        let zero = self.is_zero_word(y, window);
        let remainder = self.binary(BinaryOp::RemU, x, y, window);
        Some(self.select(zero, x, remainder, window))
    }

    /// `r >= y ? q + 1 : q`, the same way.
    fn word_quotient(&mut self, (mask, more, q): (Value, Value, Value), window: Window) -> Option<Value> {
        let next = |editor: &Editor, more: Value, q: Value| {
            let (a, b) = editor.matches_binary(more, BinaryOp::Add)?;
            ((a == q && editor.constant(b) == Some(1)) || (b == q && editor.constant(a) == Some(1))).then_some(())
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
        let zero = self.is_zero_word(y, window);
        let (quotient, two) = (self.binary(BinaryOp::DivU, x, y, window), self.iconst(Type::I32, 2));
        let estimate = self.estimate_by_zero(x, estimate, window)?;
        let of_zero = self.binary(BinaryOp::Add, estimate, two, window);
        Some(self.select(zero, of_zero, quotient, window))
    }

    /// The quotient of `x` that is estimated where y is 0: x less one by LLVM's way, 0 by the other.
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

    fn is_zero_word(&mut self, y: Value, window: Window) -> Value {
        let zero = self.iconst(Type::I32, 0);
        self.pure(Op::ICmp { cc: IntCc::Eq, a: y, b: zero }, window, &[ValueType::MASK])[0]
    }

    /// The operands of `r >= y`.
    fn at_least(&self, mask: Value) -> Option<(Value, Value)> {
        match *self.def(mask) {
            Op::ICmp { cc: IntCc::GeU, a, b } => Some((a, b)),
            Op::ICmp { cc: IntCc::LeU, a, b } => Some((b, a)),
            _ => None,
        }
    }

    /// `r` and `y` of `r >= y ? r - y : r`.
    fn corrected(&self, (mask, less, rest): (Value, Value, Value)) -> Option<(Value, Value)> {
        let (r, y) = self.at_least(mask)?;
        (r == rest && self.matches_binary(less, BinaryOp::Sub)? == (r, y)).then_some((r, y))
    }

    /// `x`, `q` and `y` of what is a remainder corrected once, where `q` is at most two less than x / y.
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

    /// `x` and `q` of `x - q * y`.
    fn less_product(&self, v: Value, y: Value) -> Option<(Value, Value)> {
        let factor = |v: Value| {
            let (a, b) = self.matches_binary(v, BinaryOp::Mul)?;
            if b == y { Some(a) } else { (a == y).then_some(b) }
        };
        if let Some((x, product)) = self.matches_binary(v, BinaryOp::Sub) {
            return Some((x, factor(product)?));
        }
        let (a, b) = self.matches_binary(v, BinaryOp::Add)?;
        let negated = |product: Value| self.negated(factor(product)?);
        if let Some(q) = negated(a) { Some((b, q)) } else { Some((a, negated(b)?)) }
    }

    fn negated(&self, v: Value) -> Option<Value> {
        match *self.def(v) {
            Op::Unary { op: UnaryOp::Neg, a } => Some(a),
            Op::Binary { op: BinaryOp::Sub, a, b } if self.constant(a) == Some(0) => Some(b),
            _ => None,
        }
    }

    /// The factors of which a value is the high word of the product.
    fn high_product(&self, v: Value) -> Option<(Value, Value)> {
        let word = |v: Value| match *self.def(v) {
            Op::Convert { op: ConvertOp::ZeroExtend, a, .. } if self.ty(a).ty == Type::I32 => Some(a),
            _ => None,
        };
        match *self.def(v) {
            Op::Binary { op: BinaryOp::MulHiU, a, b } if self.ty(a).ty == Type::I32 => Some((a, b)),
            Op::Convert { op: ConvertOp::HighHalf, a, .. } => {
                let (a, b) = self.matches_binary(a, BinaryOp::Mul)?;
                Some((word(a)?, word(b)?))
            }
            _ => None,
        }
    }

    /// Whether a value is what compilers make of 2^32 / y: an estimate `z`, plus the high word of z * -(z * y).
    fn is_estimate(&self, v: Value, y: Value) -> bool {
        let of = |z: Value, more: Value| {
            let (a, b) = self.high_product(more)?;
            let error = if a == z { b } else { (b == z).then_some(a)? };
            let negative_product = |error: Value| {
                if let Some(product) = self.negated(error) {
                    return self.matches_binary(product, BinaryOp::Mul).is_some_and(|p| p == (z, y) || p == (y, z));
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

    /// The `y` of a first estimate of 2^32 / y, by its reciprocal as a float; and whether it is LLVM's.
    fn first_estimate(&self, v: Value) -> Option<(Value, bool)> {
        let &Op::FloatToInt { to: Type::I32, signed: false, round: Round::Zero, nan: 0, a, .. } = self.def(v) else {
            return None;
        };
        let reciprocal = |v: Value, round: Round| match *self.def(v) {
            Op::Shared { function: SharedFn::Rcp, a } => match *self.def(a) {
                Op::IntToFloat { to: Type::F32, signed: false, round: found, a } if found == round => {
                    (self.ty(a).ty == Type::I32).then_some(a)
                }
                _ => None,
            },
            _ => None,
        };
        match *self.def(a) {
            Op::FBinary { op: FloatBinaryOp::Mul, attrs, a, b } if attrs.round == Round::Nearest && !attrs.saturate => {
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

/// The iterations that LLVM makes of scaled operands: what the last fused multiply-add takes.
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

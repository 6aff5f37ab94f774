//! The steps that frame Newton's iterations in an exact division, as AMD's hardware has them. They
//! scale operands into a range where no iteration meets denormals or overflows, scale the quotient
//! back, and replace results that are no quotient. Lifters emit the steps. Analysis finds a
//! division that a compiler made of them by emitting them again.
//!
//! Source: the pseudocode of "AMD Instinct MI300" Instruction Set Architecture. Where a division
//! after it would not be exact, it is corrected by what CLRX (GcnInstrsVop3) found that the
//! hardware does; `docs/fidelity.md` names these places.

use super::op::{
    ConvertOp, FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, IntCc, Op, Round, UnaryOp,
};
use super::types::Type;
use super::{BinaryOp, Value};

/// A sink for operations without effect, which come in order.
pub trait Build {
    fn put(&mut self, op: Op) -> Value;
}

/// The limits of a division in `f32` or `f64`.
struct Limits {
    /// The number by which exponents of operands and results are moved.
    step: i32,
    /// Quotients with this exponent or more come near infinity.
    near_infinity: u32,
    /// Numerators with this exponent field or less leave denormal residuals.
    tiny: u32,
    /// Numbers above this magnitude have denormal reciprocals.
    great: u64,
    /// Quotients with a smaller exponent are 0.
    vanish: i32,
}

fn limits(ty: Type) -> Limits {
    match ty {
        Type::F64 => {
            Limits { step: 128, near_infinity: 768, tiny: 53, great: 0x7fd0 << 48, vanish: -1075 }
        }
        _ => Limits { step: 64, near_infinity: 96, tiny: 23, great: 0x7e80_0000, vanish: -150 },
    }
}

/// The steps of one division.
pub struct Division<'b, B> {
    pub b: &'b mut B,
    /// The rounding and flushing of the guest's operations.
    pub attrs: FloatAttrs,
    /// The bits of a NaN of this type.
    pub nan: u64,
    pub ty: Type,
}

/// A corrected quotient: `nan` in lanes of `neither`, else `signed`.
#[derive(PartialEq, Eq)]
pub struct Fixed {
    pub neither: Value,
    pub nan: Value,
    pub signed: Value,
}

/// The sign bit of a float type; [`infinity`] gives the bits of infinity.
fn sign(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

fn infinity(ty: Type) -> u64 {
    match ty {
        Type::F16 => 0x7c00,
        Type::F32 => 0x7f80_0000,
        _ => 0x7ff0 << 48,
    }
}

impl<B: Build> Division<'_, B> {
    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.b.put(Op::Const { ty, bits: bits & ty.bit_mask() })
    }

    pub fn number(&mut self, x: f64) -> Value {
        let bits = match self.ty {
            Type::F16 => half::f16::from_f64(x).to_bits().into(),
            Type::F32 => (x as f32).to_bits().into(),
            _ => x.to_bits(),
        };
        self.constant(self.ty, bits)
    }

    /// A constant of the float's width.
    fn word(&mut self, bits: u64) -> Value {
        self.constant(self.ty.as_int(), bits)
    }

    fn int(&mut self, n: i32) -> Value {
        self.constant(Type::I32, n as u32 as u64)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.b.put(Op::Binary { op, a, b })
    }

    fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    fn not(&mut self, a: Value) -> Value {
        self.b.put(Op::Unary { op: UnaryOp::Not, a })
    }

    fn fabs(&mut self, a: Value) -> Value {
        self.b.put(Op::Unary { op: UnaryOp::FAbs, a })
    }

    fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.b.put(Op::ICmp { cc, a, b })
    }

    fn fcmp(&mut self, cc: FloatCc, a: Value, b: Value) -> Value {
        self.b.put(Op::FCmp { cc, flush: false, a, b })
    }

    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.b.put(Op::Select { mask, a, b })
    }

    fn arithmetic(&mut self, op: FloatBinaryOp, attrs: FloatAttrs, a: Value, b: Value) -> Value {
        self.b.put(Op::FBinary { op, attrs, a, b })
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.arithmetic(FloatBinaryOp::Sub, FloatAttrs::IEEE, a, b)
    }

    /// a * b
    pub fn product(&mut self, a: Value, b: Value) -> Value {
        self.arithmetic(FloatBinaryOp::Mul, self.attrs, a, b)
    }

    /// a * b + c
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.b.put(Op::Fma { attrs: self.attrs, a, b, c })
    }

    /// n / d, rounded once to nearest.
    pub fn quotient(&mut self, n: Value, d: Value) -> Value {
        self.arithmetic(FloatBinaryOp::Div, FloatAttrs::IEEE, n, d)
    }

    fn bits_of(&mut self, a: Value) -> Value {
        self.b.put(Op::Convert { op: ConvertOp::Bitcast, to: self.ty.as_int(), a })
    }

    fn of_bits(&mut self, a: Value) -> Value {
        self.b.put(Op::Convert { op: ConvertOp::Bitcast, to: self.ty, a })
    }

    fn flushed(&mut self, a: Value) -> Value {
        let attrs = FloatAttrs { round: Round::Nearest, ..self.attrs };
        if attrs.flush { self.b.put(Op::FUnary { op: FloatUnaryOp::Copy, attrs, a }) } else { a }
    }

    fn magnitude(&mut self, x: Value) -> Value {
        let (bits, others) = (self.bits_of(x), self.word(sign(self.ty) - 1));
        self.and(bits, others)
    }

    /// The exponent field, an `i32`.
    fn exponent_field(&mut self, x: Value) -> Value {
        let mut bits = self.magnitude(x);
        if self.ty == Type::F64 {
            bits = self.b.put(Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a: bits });
        }
        let count = self.int(if self.ty == Type::F64 { 20 } else { 23 });
        self.binary(BinaryOp::ShrU, bits, count)
    }

    fn has_magnitude(&mut self, x: Value, bits: u64) -> Value {
        let (magnitude, bits) = (self.magnitude(x), self.word(bits));
        self.icmp(IntCc::Eq, magnitude, bits)
    }

    /// x * 2^n for a constant n, without flushing.
    fn times(&mut self, x: Value, n: i32) -> Value {
        let power = self.number(2f64.powi(n));
        self.arithmetic(FloatBinaryOp::Mul, FloatAttrs::IEEE, x, power)
    }

    /// Scales `x`, which is the denominator `d` or the numerator `n`, so that the iterations meet
    /// no denormals. The mask tells whether the quotient must be scaled back.
    pub fn scale(&mut self, [x, d, n]: [Value; 3]) -> (Value, Value) {
        let limits = limits(self.ty);
        let [x, d, n] = [x, d, n].map(|v| self.flushed(v));
        let (ed, en) = (self.exponent_field(d), self.exponent_field(n));
        let (zero_d, zero_n) = (self.has_magnitude(d, 0), self.has_magnitude(n, 0));
        let no_quotient = self.or(zero_d, zero_n);

        let (difference, near) =
            (self.binary(BinaryOp::Sub, en, ed), self.int(limits.near_infinity as i32));
        let great_quotient = self.icmp(IntCc::GeS, difference, near);
        let none = self.int(0);
        let denormal_d = self.icmp(IntCc::Eq, ed, none);
        let quotient = self.quotient(n, d);
        let denormal_quotient = self.is_denormal(quotient);
        let great_d = {
            let magnitude = self.magnitude(d);
            let (least, infinite) = (self.word(limits.great), self.word(infinity(self.ty)));
            let above = self.icmp(IntCc::GtU, magnitude, least);
            let below = self.icmp(IntCc::LtU, magnitude, infinite);
            self.and(above, below)
        };
        let tiny = self.int(limits.tiny as i32);
        let tiny_n = self.icmp(IntCc::LeU, en, tiny);

        let (up, down) = (self.times(x, limits.step), self.times(x, -limits.step));
        let (is_d, is_n) = (self.fcmp(FloatCc::Eq, x, d), self.fcmp(FloatCc::Eq, x, n));
        let (d_up, n_up, d_down) =
            (self.select(is_d, up, x), self.select(is_n, up, x), self.select(is_d, down, x));
        let value = self.select(tiny_n, up, x);
        let value = self.select(denormal_quotient, n_up, value);
        let both = self.select(denormal_quotient, d_down, down);
        let value = self.select(great_d, both, value);
        let value = self.select(denormal_d, up, value);
        let value = self.select(great_quotient, d_up, value);
        let nan = self.constant(self.ty, self.nan);
        let value = self.select(no_quotient, nan, value);

        let usual_d = self.not(denormal_d);
        let back = self.and(denormal_quotient, usual_d);
        let back = self.or(back, great_quotient);
        let some_quotient = self.not(no_quotient);
        let back = self.and(back, some_quotient);
        (value, back)
    }

    fn is_denormal(&mut self, x: Value) -> Value {
        let (magnitude, one) = (self.magnitude(x), self.word(1));
        let offset = self.binary(BinaryOp::Sub, magnitude, one);
        let count = self.word((1 << infinity(self.ty).trailing_zeros()) - 1);
        self.icmp(IntCc::LtU, offset, count)
    }

    /// x * y + z. Where `moved` is set, the result is scaled back: up if z is at least 2, else
    /// down. It is rounded once if it is near z, as the quotient of the iterations is.
    pub fn fmas(&mut self, args: [Value; 3], moved: Value) -> Value {
        let step = limits(self.ty).step;
        let [x, y, z] = args;
        let attrs = FloatAttrs { flush: false, ..self.attrs };
        let plain = self.b.put(Op::Fma { attrs, a: x, b: y, c: z });
        let (two, size) = (self.number(2.0), self.fabs(z));
        let great = self.fcmp(FloatCc::GeU, size, two);
        let up = self.times(plain, step);
        let down = self.moved_down(args, step);
        let result = self.select(great, up, down);
        let value = self.select(moved, result, plain);
        self.flushed(value)
    }

    /// (x * y + z) / 2^step.
    fn moved_down(&mut self, [x, y, z]: [Value; 3], step: i32) -> Value {
        let attrs = FloatAttrs { flush: false, ..self.attrs };
        let factor = self.number(2f64.powi(-step));
        let nearest = self.b.put(Op::Fma { attrs: FloatAttrs::IEEE, a: x, b: y, c: z });
        let rest = self.sub(z, nearest);
        let error = self.b.put(Op::Fma { attrs: FloatAttrs::IEEE, a: x, b: y, c: rest });
        let zero = self.constant(self.ty, 0);
        let least = 1 << infinity(self.ty).trailing_zeros();
        if attrs.round != Round::Nearest {
            // The last bit of an inexact result becomes 1, which is enough for a denormal result.
            let plain = self.b.put(Op::Fma { attrs, a: x, b: y, c: z });
            let inexact = self.fcmp(FloatCc::Ne, error, zero);
            let odd = self.rounded_to_odd(nearest, error, inexact);
            let result = self.arithmetic(FloatBinaryOp::Mul, attrs, plain, factor);
            let of_odd = self.arithmetic(FloatBinaryOp::Mul, attrs, odd, factor);
            let (size, least) = (self.fabs(result), self.constant(self.ty, least));
            let denormal = self.fcmp(FloatCc::Lt, size, least);
            return self.select(denormal, of_odd, result);
        }
        let result = self.arithmetic(FloatBinaryOp::Mul, attrs, nearest, factor);
        let back = self.times(result, step);
        let lost = self.sub(nearest, back);
        // Midway between two denormals, the error decides the rounding, not evenness.
        let half = self.number(2f64.powi(if self.ty == Type::F64 { -1075 } else { -150 } + step));
        let size = self.fabs(lost);
        let midway = self.fcmp(FloatCc::Eq, size, half);
        let (lost_bits, error_bits) = (self.bits_of(lost), self.bits_of(error));
        let (signs, limit) =
            (self.binary(BinaryOp::Xor, lost_bits, error_bits), self.word(sign(self.ty)));
        let same_sign = self.icmp(IntCc::LtU, signs, limit);
        let inexact = self.fcmp(FloatCc::Ne, error, zero);
        let further = self.and(midway, same_sign);
        let further = self.and(further, inexact);
        let next = self.arithmetic(FloatBinaryOp::Add, FloatAttrs::IEEE, nearest, lost);
        let next = self.arithmetic(FloatBinaryOp::Mul, FloatAttrs::IEEE, next, factor);
        self.select(further, next, result)
    }

    /// Rounds a result that lacks `error` to odd: the last bit is 1 if the result is inexact.
    fn rounded_to_odd(&mut self, nearest: Value, error: Value, inexact: Value) -> Value {
        let (bits, error) = (self.bits_of(nearest), self.bits_of(error));
        let other_sign = self.binary(BinaryOp::Xor, bits, error);
        let count = self.word(u64::from(self.ty.bits()) - 1);
        let step = self.binary(BinaryOp::ShrS, other_sign, count);
        let one = self.word(1);
        let step = self.or(step, one);
        let neighbour = self.binary(BinaryOp::Add, bits, step);
        let (last, none) = (self.and(bits, one), self.word(0));
        let even = self.icmp(IntCc::Eq, last, none);
        let adjust = self.and(inexact, even);
        let odd = self.select(adjust, neighbour, bits);
        self.of_bits(odd)
    }

    /// The quotient `q` of `n` by `d`, or its replacement if there is no quotient; not flushed.
    pub fn fixup(&mut self, [q, d, n]: [Value; 3]) -> Fixed {
        let [q, d, n] = [q, d, n].map(|v| self.flushed(v));
        let (d_bits, n_bits) = (self.bits_of(d), self.bits_of(n));
        let (signs, sign_bit) =
            (self.binary(BinaryOp::Xor, d_bits, n_bits), self.word(sign(self.ty)));
        let sign_out = self.and(signs, sign_bit);
        // Iterations that overflow leave a NaN.
        let lost = self.fcmp(FloatCc::Nan, q, q);
        let (infinite, zero) =
            (self.constant(self.ty, infinity(self.ty)), self.constant(self.ty, 0));
        let size = self.fabs(q);
        let mut size = self.select(lost, infinite, size);
        if self.ty != Type::F16 && self.attrs.round == Round::Nearest {
            // The steps round a denormal quotient by an error that is not quite its own.
            let least = self.constant(self.ty, 1 << infinity(self.ty).trailing_zeros());
            let denormal = self.fcmp(FloatCc::Le, size, least);
            let quotient = self.quotient(n, d);
            let quotient = self.fabs(quotient);
            size = self.select(denormal, quotient, size);
        }
        if self.ty != Type::F16 {
            let (ed, en) = (self.exponent_field(d), self.exponent_field(n));
            let (difference, bound) =
                (self.binary(BinaryOp::Sub, en, ed), self.int(limits(self.ty).vanish));
            let vanishes = self.icmp(IntCc::LtS, difference, bound);
            let nothing = self.underflow(sign_out);
            size = self.select(vanishes, nothing, size);
        }
        let (zero_d, zero_n) = (self.has_magnitude(d, 0), self.has_magnitude(n, 0));
        let infinity = infinity(self.ty);
        let (infinite_d, infinite_n) =
            (self.has_magnitude(d, infinity), self.has_magnitude(n, infinity));
        let to_zero = self.or(infinite_d, zero_n);
        let size = self.select(to_zero, zero, size);
        let to_infinity = self.or(zero_d, infinite_n);
        let size = self.select(to_infinity, infinite, size);
        let size = self.bits_of(size);
        let signed = self.or(size, sign_out);
        let signed = self.of_bits(signed);
        // 0 / 0, infinity / infinity, NaNs.
        let neither = self.and(to_zero, to_infinity);
        let nan = self.fcmp(FloatCc::Nan, d, n);
        let neither = self.or(neither, nan);
        let nan = self.constant(self.ty, self.nan);
        Fixed { neither, nan, signed }
    }

    /// The magnitude of a result that is less than half the least number.
    fn underflow(&mut self, sign_out: Value) -> Value {
        if matches!(self.attrs.round, Round::Nearest | Round::Zero) {
            return self.constant(self.ty, 0);
        }
        let least = self.constant(self.ty, 1 << infinity(self.ty).trailing_zeros());
        let bits = self.bits_of(least);
        let signed = self.or(bits, sign_out);
        let signed = self.of_bits(signed);
        let attrs = FloatAttrs { flush: false, ..self.attrs };
        let product = self.arithmetic(FloatBinaryOp::Mul, attrs, signed, least);
        self.fabs(product)
    }
}

/// Bounds on the word that has a float's exponent: the mask of all bits but the sign, and the least
/// word and the span of the words whose exponents are moderate.
struct Moderate {
    magnitude: u64,
    least: u64,
    span: u64,
}

const MODERATE_SINGLE: Moderate =
    Moderate { magnitude: 0x7fff_ffff, least: (127 - 60) << 23, span: 120 << 23 };
const MODERATE_DOUBLE: Moderate =
    Moderate { magnitude: 0x7fff_ffff, least: (1023 - 400) << 20, span: 800 << 20 };

/// Lanes where an operand of a quotient, or the only operand of a root, is not moderate: 0,
/// denormal, infinite, a NaN, near these values, or a negative operand of a root. For moderate
/// operands, neither results nor intermediate values of the steps are denormal or infinite.
pub fn are_unusual<B: Build>(b: &mut B, ty: Type, x: Value, y: Option<Value>) -> Value {
    let limits = if ty == Type::F64 { MODERATE_DOUBLE } else { MODERATE_SINGLE };
    let mut word = |bits: u64| b.put(Op::Const { ty: Type::I32, bits });
    let [magnitude, least, span] = [limits.magnitude, limits.least, limits.span].map(&mut word);
    let mut offset = |v: Value| {
        let mut word = b.put(Op::Convert { op: ConvertOp::Bitcast, to: ty.as_int(), a: v });
        if ty == Type::F64 {
            word = b.put(Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a: word });
        }
        if y.is_some() {
            word = b.put(Op::Binary { op: BinaryOp::And, a: word, b: magnitude });
        }
        b.put(Op::Binary { op: BinaryOp::Sub, a: word, b: least })
    };
    let mut greatest = offset(x);
    if let Some(y) = y {
        let other = offset(y);
        greatest = b.put(Op::Binary { op: BinaryOp::MaxU, a: greatest, b: other });
    }
    b.put(Op::ICmp { cc: IntCc::GtU, a: greatest, b: span })
}

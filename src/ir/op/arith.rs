//! The functions, conditions and roundings of operations.

use super::Type;

/// The rounding of a float result, or to an integral value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// The treatment of a float operation's operands and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatAttrs {
    pub round: Round,
    /// Denormal operands and (after rounding) results become zeros of equal sign.
    pub flush: bool,
    /// The result is clamped to [+0, 1]; NaN and -0 become +0.
    pub saturate: bool,
}

impl FloatAttrs {
    pub const IEEE: FloatAttrs =
        FloatAttrs { round: Round::Nearest, flush: false, saturate: false };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntCc {
    Eq,
    Ne,
    LtS,
    LeS,
    GtS,
    GeS,
    LtU,
    LeU,
    GtU,
    GeU,
}

impl IntCc {
    /// The relation that holds where this relation does not.
    pub fn inverse(self) -> IntCc {
        match self {
            IntCc::Eq => IntCc::Ne,
            IntCc::Ne => IntCc::Eq,
            IntCc::LtS => IntCc::GeS,
            IntCc::LeS => IntCc::GtS,
            IntCc::GtS => IntCc::LeS,
            IntCc::GeS => IntCc::LtS,
            IntCc::LtU => IntCc::GeU,
            IntCc::LeU => IntCc::GtU,
            IntCc::GtU => IntCc::LeU,
            IntCc::GeU => IntCc::LtU,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, IntCc::LtS | IntCc::LeS | IntCc::GtS | IntCc::GeS)
    }

    /// The relation for exchanged operands.
    pub fn swapped(self) -> IntCc {
        match self {
            IntCc::Eq | IntCc::Ne => self,
            IntCc::LtS => IntCc::GtS,
            IntCc::LeS => IntCc::GeS,
            IntCc::GtS => IntCc::LtS,
            IntCc::GeS => IntCc::LeS,
            IntCc::LtU => IntCc::GtU,
            IntCc::LeU => IntCc::GeU,
            IntCc::GtU => IntCc::LtU,
            IntCc::GeU => IntCc::LeU,
        }
    }
}

/// Float compares. Without `U`: false if an operand is NaN (also `Ne`); with `U`: true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCc {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    EqU,
    NeU,
    LtU,
    LeU,
    GtU,
    GeU,
    /// Neither operand is NaN.
    Num,
    /// An operand is NaN.
    Nan,
}

impl FloatCc {
    /// The relation that holds where this relation does not.
    pub fn inverse(self) -> FloatCc {
        match self {
            FloatCc::Eq => FloatCc::NeU,
            FloatCc::Ne => FloatCc::EqU,
            FloatCc::Lt => FloatCc::GeU,
            FloatCc::Le => FloatCc::GtU,
            FloatCc::Gt => FloatCc::LeU,
            FloatCc::Ge => FloatCc::LtU,
            FloatCc::EqU => FloatCc::Ne,
            FloatCc::NeU => FloatCc::Eq,
            FloatCc::LtU => FloatCc::Ge,
            FloatCc::LeU => FloatCc::Gt,
            FloatCc::GtU => FloatCc::Le,
            FloatCc::GeU => FloatCc::Lt,
            FloatCc::Num => FloatCc::Nan,
            FloatCc::Nan => FloatCc::Num,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Bitwise complement (integers), or the other lanes of the warp (masks).
    Not,
    /// Two's complement negation.
    Neg,
    /// Absolute value; the least integer stays.
    Abs,
    Popcnt,
    /// Leading zeros; the width if the operand is 0.
    Clz,
    /// Trailing zeros; the width if the operand is 0.
    Ctz,
    /// Bits in reverse order.
    BitReverse,
    /// Flips the sign bit of a float, also of a NaN.
    FNeg,
    /// Clears the sign bit of a float, also of a NaN.
    FAbs,
}

/// Integer operations on two operands of one type. `And`, `Or` and `Xor` take masks too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// High half of the signed product.
    MulHiS,
    /// High half of the unsigned product.
    MulHiU,
    /// Quotient, truncated towards 0. Division by 0 gives all ones as quotient and remainder. The
    /// least integer divided by -1 is itself, remainder 0.
    DivS,
    DivU,
    /// Remainder, with the sign of the dividend.
    RemS,
    RemU,
    And,
    Or,
    Xor,
    /// Shifts. The count is unsigned and has the operand's type. A count of the width or more gives
    /// 0, or for `ShrS` the sign in every bit.
    Shl,
    ShrU,
    ShrS,
    /// Rotates to the left. The count is unsigned, has the operand's type and is taken modulo the
    /// width.
    RotL,
    MinS,
    MinU,
    MaxS,
    MaxU,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatBinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    /// minNum/maxNum. If one operand is a NaN, the result is the other operand; if both are, the
    /// canonical NaN. -0 is less than +0.
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatUnaryOp {
    Sqrt,
    /// Rounds to an integral value by `attrs.round`; the sign of zero stays. With `attrs.flush`,
    /// denormals flush first.
    Integral,
    /// The value itself, with flush, saturation and NaN canonicalisation applied.
    Copy,
}

/// The way that [`Op::Convert`](super::Op::Convert) makes its result from its operand's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvertOp {
    /// Low bits of a wider integer.
    Trunc,
    ZeroExtend,
    SignExtend,
    /// The bits as another type of equal width.
    Bitcast,
    /// The high `i32` of an `i64`.
    HighHalf,
    /// The bits of a mask as a uniform `i64`.
    FromMask,
    /// A uniform `i64` as a mask; the bits past the last lane are dropped.
    ToMask,
}

impl ConvertOp {
    /// The type that the conversion always gives, if there is only one type. Such a conversion has
    /// no type in the text form.
    pub const fn only_type(self) -> Option<Type> {
        match self {
            ConvertOp::HighHalf => Some(Type::I32),
            ConvertOp::FromMask => Some(Type::I64),
            ConvertOp::ToMask => Some(Type::Mask),
            ConvertOp::Trunc
            | ConvertOp::ZeroExtend
            | ConvertOp::SignExtend
            | ConvertOp::Bitcast => None,
        }
    }
}

/// Functions with one definition for both engines: `crate::shared`. All are pure and lane-wise, and
/// act on `f32` unless noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedFn {
    /// 1/x, correctly rounded; denormal operands and results flush to zero.
    Rcp,
    /// 1/sqrt(x), correctly rounded; denormal operands flush to zero.
    Rsq,
    /// 1/sqrt(x), correctly rounded, also for denormal operands.
    RsqDenormal,
    /// sqrt(x), correctly rounded, flushing as `Rsq`.
    SqrtApprox,
    /// log2: denormal operands flush to zero.
    Lg2,
    /// 2^x: denormal operands and results flush to zero.
    Ex2,
    /// 1/x, 1/sqrt(x), sqrt(x), log2(x), 2^x, sin(2 pi x) and cos(2 pi x), as NVIDIA's hardware
    /// computes them: [`special`](super::super::special).
    TableRcp,
    TableRsq,
    TableSqrt,
    TableLg2,
    TableEx2,
    TableSin,
    TableCos,
    /// The high word (`i32` to `i32`) of 1/x and 1/sqrt(x) of the `f64` whose high word is the
    /// operand, as NVIDIA's hardware computes it; denormal operands and results flush to zero.
    Rcp64High,
    Rsq64High,
    /// sin(2 pi x) and cos(2 pi x) for |x| up to 256; 0 and 1 for greater numbers, NaN for
    /// infinities. Denormals count. A sine of 0 has the sign of x, a cosine of 0 has no sign.
    SinTurns,
    CosTurns,
    /// 32 bits of 2 / pi, which is less than 1, from bit `a` behind the point on (`i32` to `i32`);
    /// bits past the 1201st are 0.
    TwoOverPi,
}

impl SharedFn {
    /// Returns whether hosts can compute the function with float arithmetic.
    pub fn is_vector_by_vector(self) -> bool {
        matches!(self, SharedFn::Rcp | SharedFn::Rsq | SharedFn::RsqDenormal | SharedFn::SqrtApprox)
    }

    /// The type of the operand and of the result.
    pub fn ty(self) -> Type {
        match self {
            SharedFn::Rcp64High | SharedFn::Rsq64High | SharedFn::TwoOverPi => Type::I32,
            _ => Type::F32,
        }
    }
}

//! Directed rounding (toward zero, down, up) on hosts that round to nearest. The code changes no
//! rounding mode of the host.
//!
//! An operation is rounded to nearest first. The sign of its error (the exact result minus the
//! nearest number) tells whether the nearest number lies too far in a direction. If so, the result
//! moves by one unit in the last place. [`Rounding`] emits this for one value or one vector. Two
//! roundings in one direction, first to a format and then to a format with fewer numbers, equal one
//! rounding. So `f32` is computed in `f64`, where products are exact, and rounded twice. `f16` is
//! computed in `f32` in this way (see [`super::half`]).
//!
//! `arithmetic` has sums, products, quotients and roots; `fused` has the fused multiply-add;
//! `convert` has conversions.

mod arithmetic;
mod convert;
mod fused;

pub use convert::singles_for_half;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use smallvec::{SmallVec, smallvec};
use warploom_ir::{Round, Type};

use super::int::constant;
use super::{float, vector};
use crate::forms::clif_type;

/// One `f64`, or two vectors of `f64` for the lanes of one vector of 32-bit elements.
pub type Doubles = SmallVec<[Clif; 2]>;

/// Emits rounded operations on one value or one vector.
pub struct Rounding<'a, 'f> {
    b: &'a mut FunctionBuilder<'f>,
    round: Round,
    vector: bool,
}

impl<'a, 'f> Rounding<'a, 'f> {
    pub fn new(b: &'a mut FunctionBuilder<'f>, round: Round, vector: bool) -> Self {
        Rounding { b, round, vector }
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Clif {
        constant(self.b, ty, bits, self.vector)
    }

    /// 2^`exponent` as an `f64`.
    fn power(&mut self, exponent: i32) -> Clif {
        self.constant(Type::F64, 2f64.powi(exponent).to_bits())
    }

    fn choose(&mut self, condition: Clif, x: Clif, y: Clif) -> Clif {
        if self.vector {
            vector::blend(self.b, condition, x, y)
        } else {
            self.b.ins().select(condition, x, y)
        }
    }

    fn bits(&mut self, ty: Type, a: Clif) -> Clif {
        vector::cast(self.b, clif_type(ty.as_int(), self.vector), a)
    }

    fn float(&mut self, ty: Type, a: Clif) -> Clif {
        vector::cast(self.b, clif_type(ty, self.vector), a)
    }

    fn magnitude(&mut self, ty: Type, a: Clif) -> Clif {
        float::magnitude(self.b, ty, a, self.vector)
    }

    /// The sign bit alone, as an integer.
    fn sign(&mut self, ty: Type, a: Clif) -> Clif {
        let (bits, sign) = (self.bits(ty, a), self.constant(ty.as_int(), 1 << (ty.bits() - 1)));
        self.b.ins().band(bits, sign)
    }

    /// Returns `a` with its sign flipped where `sign` is negative.
    fn with_sign_of(&mut self, ty: Type, a: Clif, sign: Clif) -> Clif {
        let (bits, sign) = (self.bits(ty, a), self.sign(ty, sign));
        let bits = self.b.ins().bxor(bits, sign);
        self.float(ty, bits)
    }

    /// Whether a relation holds: ones or zeros as wide as `ty`.
    fn holds(&mut self, cc: FloatCC, ty: Type, x: Clif, y: Clif) -> Clif {
        let holds = self.b.ins().fcmp(cc, x, y);
        if self.vector { holds } else { self.b.ins().bmask(clif_type(ty.as_int(), false), holds) }
    }

    /// Whether `near` lies beyond `exact`, on the side that the direction excludes.
    fn is_beyond(&mut self, ty: Type, near: Clif, exact: Clif) -> Clif {
        match self.round {
            Round::Down => self.holds(FloatCC::GreaterThan, ty, near, exact),
            Round::Up => self.holds(FloatCC::LessThan, ty, near, exact),
            Round::Zero | Round::Nearest => {
                let (near, exact) = (self.magnitude(ty, near), self.magnitude(ty, exact));
                self.holds(FloatCC::GreaterThan, ty, near, exact)
            }
        }
    }

    /// Moves numbers one unit in the direction where `beyond` is ones. It is zeros elsewhere.
    fn moved(&mut self, ty: Type, near: Clif, beyond: Clif) -> Clif {
        let bits = self.bits(ty, near);
        let moved = match self.round {
            // A lane of ones is -1.
            Round::Zero | Round::Nearest => self.b.ins().iadd(bits, beyond),
            Round::Down | Round::Up => {
                let negative = self.negative(ty, bits);
                // Bits of negative numbers step with the other sign: -1 becomes 1.
                let step = self.b.ins().bxor(beyond, negative);
                let step = self.b.ins().isub(step, negative);
                if self.round == Round::Down {
                    self.b.ins().iadd(bits, step)
                } else {
                    self.b.ins().isub(bits, step)
                }
            }
        };
        self.float(ty, moved)
    }

    /// Returns ones where the sign is set.
    fn negative(&mut self, ty: Type, bits: Clif) -> Clif {
        if self.vector && ty == Type::F64 {
            // x86-64 has no single instruction for an arithmetic shift of 64-bit lanes.
            let zero = self.constant(Type::I64, 0);
            return self.b.ins().icmp(IntCC::SignedLessThan, bits, zero);
        }
        self.b.ins().sshr_imm_u(bits, i64::from(ty.bits()) - 1)
    }

    /// Rounds a result in the direction, from its value `near` rounded to nearest. `missing` has
    /// the sign of the exact result minus `near`. It is 0 or a NaN where the result stays.
    fn directed(&mut self, ty: Type, near: Clif, missing: Clif) -> Clif {
        let zero = self.constant(ty, 0);
        let beyond = match self.round {
            Round::Down => self.holds(FloatCC::LessThan, ty, missing, zero),
            Round::Up => self.holds(FloatCC::GreaterThan, ty, missing, zero),
            Round::Zero | Round::Nearest => {
                let outward = self.with_sign_of(ty, missing, near);
                self.holds(FloatCC::LessThan, ty, outward, zero)
            }
        };
        self.moved(ty, near, beyond)
    }

    /// Gives `sum`, of `x` and `y`, the sign of a zero. Rounded down, a zero is negative unless
    /// both summands are +0.
    pub fn signed_zero(&mut self, ty: Type, sum: Clif, x: Clif, y: Clif) -> Clif {
        if self.round != Round::Down {
            return sum;
        }
        let zero = self.constant(ty, 0);
        let is_zero = self.holds(FloatCC::Equal, ty, sum, zero);
        let (x, y) = (self.sign(ty, x), self.sign(ty, y));
        let sign = self.b.ins().bor(x, y);
        let sign = self.b.ins().band(sign, is_zero);
        let bits = self.bits(ty, sum);
        let bits = self.b.ins().bor(bits, sign);
        self.float(ty, bits)
    }

    /// Converts an `f32` to `f64`, exactly.
    fn widened(&mut self, a: Clif) -> Doubles {
        if self.vector {
            return float::promote(self.b, a).into_iter().collect();
        }
        smallvec![self.b.ins().fpromote(types::F64, a)]
    }

    /// Converts `f64` to the nearest `f32`.
    fn nearest(&mut self, doubles: &[Clif]) -> Clif {
        match doubles {
            &[low, high] => float::demote(self.b, low, high),
            doubles => self.b.ins().fdemote(types::F32, doubles[0]),
        }
    }

    /// Narrows ones and zeros from the width of `f64` to the width of `f32`.
    fn narrowed(&mut self, longs: &[Clif]) -> Clif {
        match longs {
            &[low, high] => {
                let [low, high] = [low, high].map(|mask| vector::cast(self.b, types::I32X4, mask));
                vector::shuffle_words(self.b, low, high, [0, 2, 4, 6])
            }
            longs => self.b.ins().ireduce(types::I32, longs[0]),
        }
    }

    /// Rounds `f64` numbers to `f32` in the direction.
    pub fn singles(&mut self, exact: &[Clif]) -> Clif {
        let near = self.nearest(exact);
        let wide = self.widened(near);
        let beyond: Doubles = wide
            .iter()
            .zip(exact)
            .map(|(&near, &exact)| self.is_beyond(Type::F64, near, exact))
            .collect();
        let beyond = self.narrowed(&beyond);
        self.moved(Type::F32, near, beyond)
    }
}

//! Conversions that round: from integers to floats, and from `f64` to the `f32` that is narrowed to
//! `f16`.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use smallvec::smallvec;
use warploom_ir::{Round, Type};

use super::super::block::BlockLowerer;
use super::super::{int, vector};
use super::{Doubles, Rounding};
use crate::forms::{Lanes, clif_type};

/// 2^32 as an `f64`.
const WORD: u64 = 0x41f0_0000_0000_0000;
/// 2^16 as an `f32`.
const HALF_WORD: u64 = 0x4780_0000;

impl Rounding<'_, '_> {
    /// Converts words to `f64`, exactly.
    fn doubles_of_words(&mut self, signed: bool, words: Clif) -> Doubles {
        if !self.vector {
            let long = if signed {
                self.b.ins().sextend(types::I64, words)
            } else {
                self.b.ins().uextend(types::I64, words)
            };
            return smallvec![self.b.ins().fcvt_from_sint(types::F64, long)];
        }
        let high = vector::shuffle_words(self.b, words, words, [2, 3, 2, 3]);
        [words, high]
            .into_iter()
            .map(|pair| {
                if signed {
                    let pair = self.b.ins().swiden_low(pair);
                    self.b.ins().fcvt_from_sint(types::F64X2, pair)
                } else {
                    let pair = self.b.ins().uwiden_low(pair);
                    self.b.ins().fcvt_from_uint(types::F64X2, pair)
                }
            })
            .collect()
    }

    /// Converts words to `f32`.
    fn singles_of_words(&mut self, signed: bool, words: Clif) -> Clif {
        // Both halves of a word are exact as `f32`, and the high part is 0 or not less than the low
        // part.
        let low = self.constant(Type::I32, 0xffff);
        let low = self.b.ins().band(words, low);
        let high = if signed {
            self.b.ins().sshr_imm_u(words, 16)
        } else {
            self.b.ins().ushr_imm_u(words, 16)
        };
        let clif = clif_type(Type::F32, self.vector);
        let [low, high] = [low, high].map(|half| self.b.ins().fcvt_from_sint(clif, half));
        let scale = self.constant(Type::F32, HALF_WORD);
        let high = self.b.ins().fmul(high, scale);
        self.sum_of_parts(Type::F32, high, low)
    }

    /// Returns the sum of the exact parts of an integer. The high part is 0 or not less than the
    /// low part.
    fn sum_of_parts(&mut self, ty: Type, high: Clif, low: Clif) -> Clif {
        let sum = self.b.ins().fadd(high, low);
        if self.round == Round::Nearest {
            return sum;
        }
        let missing = self.missing(sum, high, low);
        self.directed(ty, sum, missing)
    }

    /// Converts 64-bit integers to `f64`, from their low and high words.
    fn doubles_of_longs(&mut self, signed: bool, low: Clif, high: Clif) -> Doubles {
        let (low, high) = (self.doubles_of_words(false, low), self.doubles_of_words(signed, high));
        let word = self.constant(Type::F64, WORD);
        (low.iter().zip(&high))
            .map(|(&low, &high)| {
                let high = self.b.ins().fmul(high, word);
                self.sum_of_parts(Type::F64, high, low)
            })
            .collect()
    }

    /// Converts numbers to `f32` rounded to odd: cut, with the last bit set where the cut is
    /// inexact. Rounding the result to `f16` in any mode equals rounding the numbers.
    fn odd_singles(&mut self, exact: &[Clif]) -> Clif {
        let near = self.nearest(exact);
        let wide = self.widened(near);
        let inexact: Doubles = (wide.iter().zip(exact))
            .map(|(&near, &exact)| self.holds(FloatCC::NotEqual, Type::F64, near, exact))
            .collect();
        let inexact = self.narrowed(&inexact);
        let cut = self.singles(exact);
        let one = self.constant(Type::I32, 1);
        let (bits, last) = (self.bits(Type::F32, cut), self.b.ins().band(inexact, one));
        let odd = self.b.ins().bor(bits, last);
        self.float(Type::F32, odd)
    }
}

/// Converts `f64` to an `f32` that gives the correct `f16` when it is narrowed with `round`.
pub fn singles_for_half(
    b: &mut cranelift_frontend::FunctionBuilder,
    round: Round,
    exact: &[Clif],
    vector: bool,
) -> Clif {
    match round {
        Round::Nearest => Rounding::new(b, Round::Zero, vector).odd_singles(exact),
        _ => Rounding::new(b, round, vector).singles(exact),
    }
}

impl BlockLowerer<'_, '_, '_> {
    pub(in super::super) fn int_to_float(
        &mut self,
        signed: bool,
        round: Round,
        from: Type,
        to: Type,
        a: Clif,
    ) -> Clif {
        if to == Type::F16 {
            // An integer that `f32` rounds to nearest is too great for `f16`.
            let wide = self.int_to_float(signed, round, from, Type::F32, a);
            return self.half(false).narrow(round, wide);
        }
        let clif = clif_type(to, false);
        if round != Round::Nearest && !is_exact(from, to) {
            let mut rounding = Rounding::new(self.b, round, false);
            if from.bits() <= 32 {
                return rounding.singles_of_words(signed, a);
            }
            let low = rounding.b.ins().ireduce(types::I32, a);
            let high = int::high_half(rounding.b, a);
            let doubles = rounding.doubles_of_longs(signed, low, high);
            return if to == Type::F32 { rounding.singles(&doubles) } else { doubles[0] };
        }
        if signed {
            let a = int::widen_sign(self.b, from, a);
            self.b.ins().fcvt_from_sint(clif, a)
        } else if from.bits() == 64 {
            self.b.ins().fcvt_from_uint(clif, a)
        } else {
            let a = self.b.ins().uextend(types::I64, a);
            self.b.ins().fcvt_from_sint(clif, a)
        }
    }

    /// Converts the lanes of a chunk. Returns `None` if vectors have no such conversion.
    pub(in super::super) fn ints_to_floats(
        &mut self,
        signed: bool,
        round: Round,
        (from, to): (Type, Type),
        lanes: &[Clif],
    ) -> Option<Lanes> {
        if to == Type::F16 {
            let wide = self.ints_to_floats(signed, round, (from, Type::F32), lanes)?;
            return Some(wide.iter().map(|&x| self.half(true).narrow(round, x)).collect());
        }
        let mut rounding = Rounding::new(self.b, round, true);
        if from.bits() == 64 {
            if to == Type::F32 && round == Round::Nearest {
                return None;
            }
            let (low, high) =
                (vector::halves(rounding.b, lanes, false), vector::halves(rounding.b, lanes, true));
            let doubles = low
                .into_iter()
                .zip(high)
                .map(|(low, high)| rounding.doubles_of_longs(signed, low, high));
            let doubles: Vec<Doubles> = doubles.collect();
            return Some(match to {
                Type::F32 => doubles.iter().map(|pair| rounding.singles(pair)).collect(),
                _ => doubles.into_iter().flatten().collect(),
            });
        }
        let words: Lanes = (lanes.iter())
            .map(|&x| if signed { int::widen_sign(rounding.b, from, x) } else { x })
            .collect();
        Some(match to {
            Type::F64 => words.iter().flat_map(|&x| rounding.doubles_of_words(signed, x)).collect(),
            _ if round == Round::Nearest || is_exact(from, to) => words
                .iter()
                .map(|&x| {
                    if signed {
                        rounding.b.ins().fcvt_from_sint(types::F32X4, x)
                    } else {
                        rounding.b.ins().fcvt_from_uint(types::F32X4, x)
                    }
                })
                .collect(),
            _ => words.iter().map(|&x| rounding.singles_of_words(signed, x)).collect(),
        })
    }
}

/// Whether every integer of `from` is a number of `to`.
fn is_exact(from: Type, to: Type) -> bool {
    match to {
        Type::F64 => from.bits() <= 32,
        Type::F32 => from.bits() <= 16,
        _ => from.bits() <= 8,
    }
}

//! The functions of [`warploom_ir::elementary`], in vectors.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::Type;
use warploom_ir::elementary::{
    COSINE, EXPONENT, LEAST_MANTISSA, LOGARITHM, MOST_POWER, MOST_TURNS, POWER, SINE, UNITS_OF_1,
};

use super::super::{float, vector};
use super::{SIGN, Special};

const INFINITY: u32 = 0x7f80_0000;

impl Special<'_, '_> {
    fn horner(&mut self, coefficients: &[f64], x: Clif) -> Clif {
        let sum = coefficients.iter().rev().fold(None, |sum, &coefficient| {
            let coefficient = self.double(coefficient);
            Some(match sum {
                None => coefficient,
                Some(sum) => {
                    let product = self.b.ins().fmul(sum, x);
                    self.b.ins().fadd(product, coefficient)
                }
            })
        });
        sum.expect("a polynomial has coefficients")
    }

    /// Promotes floats to two vectors of `f64`.
    fn promoted(&mut self, words: Clif) -> [Clif; 2] {
        let floats = self.floats(words);
        float::promote(self.b, floats)
    }

    /// Rounds two vectors of `f64` to the words of floats.
    fn rounded(&mut self, x: [Clif; 2]) -> Clif {
        let floats = float::demote(self.b, x[0], x[1]);
        self.words(floats)
    }

    /// Replaces NaNs by NaNs with the function's own bits.
    fn canonical(&mut self, words: Clif) -> Clif {
        let floats = self.floats(words);
        let floats = float::canonical(self.b, Type::F32, self.nan.into(), floats, true);
        self.words(floats)
    }

    pub(super) fn power(&mut self, x: [Clif; 2]) -> [Clif; 2] {
        x.map(|x| {
            let powers = self.promoted(x).map(|x| {
                let [most, least, units] =
                    [MOST_POWER, -MOST_POWER, UNITS_OF_1].map(|x| self.double(x));
                let great = self.b.ins().fcmp(FloatCC::GreaterThan, x, most);
                let x = vector::blend(self.b, great, most, x);
                let small = self.b.ins().fcmp(FloatCC::LessThan, x, least);
                let x = vector::blend(self.b, small, least, x);
                let sum = self.b.ins().fadd(x, units);
                let whole = self.b.ins().fsub(sum, units);
                let rest = self.b.ins().fsub(x, whole);
                let power = self.horner(&POWER, rest);
                let [power, whole] = [power, sum].map(|x| vector::cast(self.b, types::I64X2, x));
                let exponent = self.b.ins().ishl_imm_u(whole, 52);
                let power = self.b.ins().iadd(power, exponent);
                vector::cast(self.b, types::F64X2, power)
            });
            let power = self.rounded(powers);
            let power = self.floats(power);
            let power = float::flush(self.b, Type::F32, power, true);
            let power = self.words(power);
            self.canonical(power)
        })
    }

    pub(super) fn logarithm(&mut self, x: [Clif; 2]) -> [Clif; 2] {
        x.map(|x| {
            let above = self.plus(x, LEAST_MANTISSA.wrapping_neg());
            let exponent = self.b.ins().sshr_imm_u(above, 23);
            let exponents = self.doubles(exponent);
            let place = self.bits(above, EXPONENT);
            let mantissa = self.b.ins().isub(x, place);
            let mantissas = self.promoted(mantissa);
            let logarithms = [0, 1].map(|pair| {
                let one = self.double(1.0);
                let (less, more) = (
                    self.b.ins().fsub(mantissas[pair], one),
                    self.b.ins().fadd(mantissas[pair], one),
                );
                let quotient = self.b.ins().fdiv(less, more);
                let square = self.b.ins().fmul(quotient, quotient);
                let series = self.horner(&LOGARITHM, square);
                let product = self.b.ins().fmul(quotient, series);
                self.b.ins().fadd(exponents[pair], product)
            });
            let result = self.rounded(logarithms);
            let magnitude = self.bits(x, !SIGN);
            let infinite = self.is(IntCC::Equal, magnitude, INFINITY);
            let result = self.unless(infinite, INFINITY, result);
            let nan = self.is(IntCC::SignedGreaterThan, magnitude, INFINITY);
            let negative = self.is(IntCC::SignedLessThan, x, 0);
            let nan = self.b.ins().bor(nan, negative);
            let result = self.unless(nan, self.nan, result);
            let exponent = self.bits(x, INFINITY);
            let zero = self.is(IntCC::Equal, exponent, 0);
            self.unless(zero, SIGN | INFINITY, result)
        })
    }

    /// Sine, or cosine, of x turns.
    pub(super) fn turns(&mut self, cosine: bool, x: [Clif; 2]) -> [Clif; 2] {
        x.map(|x| {
            let parts = self.promoted(x).map(|x| {
                let [four, units, quarter] = [4.0, UNITS_OF_1, 0.25].map(|x| self.double(x));
                let quarters = self.b.ins().fmul(x, four);
                let sum = self.b.ins().fadd(quarters, units);
                let whole = self.b.ins().fsub(sum, units);
                let whole = self.b.ins().fmul(whole, quarter);
                let rest = self.b.ins().fsub(x, whole);
                let square = self.b.ins().fmul(rest, rest);
                let sine = self.horner(&SINE, square);
                (self.b.ins().fmul(rest, sine), self.horner(&COSINE, square), sum)
            });
            let sines = self.rounded(parts.map(|(sine, _, _)| sine));
            let cosines = self.rounded(parts.map(|(_, cosine, _)| cosine));
            let quarter = self.low_words(parts.map(|(_, _, sum)| sum));
            let quarter = if cosine { self.plus(quarter, 1) } else { quarter };
            let odd = self.shifted_up(quarter, 31);
            let odd = self.b.ins().sshr_imm_u(odd, 31);
            let value = vector::blend(self.b, odd, cosines, sines);
            let negative = self.shifted_up(quarter, 30);
            let negative = self.bits(negative, SIGN);
            let value = self.b.ins().bxor(value, negative);
            let magnitude = self.bits(value, !SIGN);
            let zero = self.is(IntCC::Equal, magnitude, 0);
            let sign = self.bits(x, if cosine { 0 } else { SIGN });
            let value = vector::blend(self.b, zero, sign, value);
            // Great numbers, infinities and NaNs have results of their own.
            let magnitude = self.bits(x, !SIGN);
            let great = self.is(IntCC::SignedGreaterThan, magnitude, MOST_TURNS.to_bits());
            let value = self.unless(great, if cosine { 1f32.to_bits() } else { 0 }, value);
            let nan = self.is(IntCC::SignedGreaterThanOrEqual, magnitude, INFINITY);
            self.unless(nan, self.nan, value)
        })
    }
}

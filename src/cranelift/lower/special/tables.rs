//! The tables of NVIDIA's hardware. Gathers load the polynomial of an interval from its row; `f64`
//! computes it exactly.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::special::{FRACTION, PART, PLACES, Rows, rows};
use warploom_ir::{SharedFn, Type};

use super::super::chunk::flags;
use super::super::tables::Table;
use super::super::{float, vector};
use super::{SIGN, Special};

const INFINITY: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const MANTISSA: u32 = (1 << FRACTION) - 1;

/// The format of a number in a word: an `f32`, or the upper half of an `f64`.
struct Word {
    fraction: u32,
    bias: u32,
    infinity: u32,
}

const FLOAT: Word = Word { fraction: FRACTION, bias: 127, infinity: INFINITY };
const HIGH: Word = Word { fraction: 20, bias: 1023, infinity: 0x7ff0_0000 };

/// Results that the polynomial does not give.
struct Exceptions {
    infinity: u32,
    /// The results at zeros and denormals, and at infinity, without the operand's sign.
    at_zero: u32,
    at_infinity: u32,
    /// Whether negative numbers give NaN. Otherwise they give the positive result with a sign.
    of_positive: bool,
}

impl Special<'_, '_> {
    /// Evaluates the polynomials at fractions of 23 bits. Results are integers in 2^-17 of a unit,
    /// two vectors for each vector of words. `row` is added to the row number.
    fn polynomial(
        &mut self,
        function: SharedFn,
        fractions: [Clif; 2],
        row: Option<[Clif; 2]>,
    ) -> [[Clif; 2]; 2] {
        let rows = rows(function).expect("it has a table");
        let rests = fractions.map(|fraction| {
            let rest = self.shifted_up(fraction, rows.parts + PART - FRACTION);
            self.bits(rest, (1 << PART) - 1)
        });
        let squares = self.squares(rests);
        [0, 1].map(|half| {
            let number = self.shifted_down(fractions[half], FRACTION - rows.parts);
            let number = match row {
                Some(row) => self.b.ins().iadd(number, row[half]),
                None => number,
            };
            let [constants, slopes, curvatures] = self.rows(function, rows, number);
            let (rests, squares) = (self.doubles(rests[half]), self.doubles(squares[half]));
            [0, 1].map(|pair| {
                let linear = self.b.ins().fmul(slopes[pair], rests[pair]);
                let quadratic = self.b.ins().fmul(curvatures[pair], squares[pair]);
                let sum = self.b.ins().fadd(constants[pair], linear);
                self.b.ins().fadd(sum, quadratic)
            })
        })
    }

    /// Loads the constants, slopes and curvatures of four rows.
    fn rows(&mut self, function: SharedFn, rows: Rows, number: Clif) -> [[Clif; 2]; 3] {
        let table = Table::Rows(function).in_code(self.b);
        // The mask keeps the row inside the table for operands without a valid fraction, too.
        let offset = self.bits(number, rows.rows.len() as u32 - 1);
        let offset = self.shifted_up(offset, 4);
        let row: [Clif; 4] = std::array::from_fn(|lane| {
            let offset = self.b.ins().extractlane(offset, lane as u8);
            let offset = self.b.ins().uextend(types::I64, offset);
            let at = self.b.ins().iadd(table, offset);
            self.b.ins().load(types::F64X2, flags(), at, 0)
        });
        let pairs = [[row[0], row[1]], [row[2], row[3]]];
        let constants = pairs.map(|[x, y]| vector::shuffle_words(self.b, x, y, [0, 1, 4, 5]));
        let others = pairs.map(|[x, y]| {
            let words = vector::shuffle_words(self.b, x, y, [2, 6, 3, 7]);
            let words = self.floats(words);
            float::promote(self.b, words)
        });
        [constants, others.map(|[slopes, _]| slopes), others.map(|[_, curvatures]| curvatures)]
    }

    /// Returns the upper 15 bits of squares of 17 bits. [`warploom_ir::special`] says which
    /// products of single bits make them. Eight lanes fit into a vector.
    fn squares(&mut self, x: [Clif; 2]) -> [Clif; 2] {
        let upper = x.map(|x| self.shifted_down(x, 9));
        let lower = x.map(|x| self.bits(x, 0x1ff));
        let [upper, lower] = [upper, lower].map(|[x, y]| self.b.ins().snarrow(x, y));
        let half = |special: &mut Self, bits: u16| {
            let words = special.word(u32::from(bits) << 16 | u32::from(bits));
            vector::cast(special.b, types::I16X8, words)
        };
        let one = half(self, 1);
        let odd = self.b.ins().band(upper, one);
        let square = self.b.ins().imul(upper, upper);
        let square = self.b.ins().isub(square, odd);
        let square = self.shifted_down(square, 1);
        let sum = (2..9).fold(square, |sum, bit| {
            let place = half(self, 1 << bit);
            let chosen = self.b.ins().band(lower, place);
            let product = self.b.ins().imul(chosen, upper);
            let product = self.shifted_down(product, 9);
            self.b.ins().iadd(sum, product)
        });
        [self.b.ins().uwiden_low(sum), self.b.ins().uwiden_high(sum)]
    }

    /// Multiplies integers by two to the power of `unit`, and cuts them to the places of a float.
    fn cut(&mut self, x: [Clif; 2], unit: i32) -> Clif {
        let places = vector::longs(self.b, [!((1 << 29) - 1); 2]);
        let unit = self.double(2f64.powi(unit));
        let [low, high] = x.map(|x| {
            let longs = vector::cast(self.b, types::I64X2, x);
            let longs = self.b.ins().band(longs, places);
            let cut = vector::cast(self.b, types::F64X2, longs);
            self.b.ins().fmul(cut, unit)
        });
        let floats = float::demote(self.b, low, high);
        self.words(floats)
    }

    /// Returns the words of positive integers without their lowest `dropped` bits, 20 at most.
    fn upper_words(&mut self, x: [Clif; 2], dropped: u32) -> Clif {
        // The low bits of an `f64` of this size are the bits of an integer.
        let units = self.double((1u64 << 52) as f64);
        let longs = x.map(|x| {
            let sum = self.b.ins().fadd(x, units);
            let longs = vector::cast(self.b, types::I64X2, sum);
            self.shifted_down(longs, dropped)
        });
        self.low_words(longs)
    }

    fn with_exceptions(&mut self, exceptions: &Exceptions, x: Clif, result: Clif) -> Clif {
        let infinity = exceptions.infinity;
        let (magnitude, sign) = (self.bits(x, !SIGN), self.bits(x, SIGN));
        let signed = |special: &mut Self, value: u32| {
            let value = special.word(value);
            special.b.ins().bor(sign, value)
        };
        let infinite = self.is(IntCC::Equal, magnitude, infinity);
        let limit = signed(self, exceptions.at_infinity);
        let result = vector::blend(self.b, infinite, limit, result);
        let mut nan = self.is(IntCC::SignedGreaterThan, magnitude, infinity);
        if exceptions.of_positive {
            let negative = self.is(IntCC::SignedLessThan, x, 0);
            nan = self.b.ins().bor(nan, negative);
        }
        let result = self.unless(nan, self.nan, result);
        let exponent = self.bits(x, infinity);
        let zero = self.is(IntCC::Equal, exponent, 0);
        // The exponent of a NaN is not 0, so NaNs stay. Zeros and denormals keep their sign.
        let limit = signed(self, exceptions.at_zero);
        vector::blend(self.b, zero, limit, result)
    }

    /// Emits reciprocals, roots and reciprocal roots of floats and of upper halves.
    pub(super) fn reciprocal_by_table(&mut self, function: SharedFn, x: [Clif; 2]) -> [Clif; 2] {
        let of_high = function.ty() == Type::I32;
        let word = if of_high { HIGH } else { FLOAT };
        let is_root = !matches!(function, SharedFn::TableRcp | SharedFn::Rcp64High);
        let is_reciprocal = function != SharedFn::TableSqrt;
        let table = rows(function).expect("such a function has a table");
        let fractions = x.map(|x| {
            let fraction = self.bits(x, (1 << word.fraction) - 1);
            self.shifted_up(fraction, FRACTION - word.fraction)
        });
        let biased = x.map(|x| {
            let magnitude = self.bits(x, !SIGN);
            self.shifted_down(magnitude, word.fraction)
        });
        // The bias is odd, so an exponent is odd where the biased exponent is even.
        let odd = biased.map(|biased| {
            let even = self.bits(biased, 1);
            let one = self.word(1);
            self.b.ins().bxor(even, one)
        });
        let row = is_root.then(|| odd.map(|odd| self.shifted_up(odd, table.parts)));
        let values = self.polynomial(function, fractions, row);
        let dropped = PART + FRACTION - word.fraction + u32::from(!is_reciprocal);
        [0, 1].map(|half| {
            let mut value = self.upper_words(values[half], dropped);
            if is_root && is_reciprocal {
                // The reciprocal root of a power of 4 is exact.
                let any = self.b.ins().bor(fractions[half], odd[half]);
                let exact = self.is(IntCC::Equal, any, 0);
                value = self.unless(exact, 2 << word.fraction, value);
            }
            let exponent = self.plus(biased[half], word.bias.wrapping_neg());
            let exponent = if is_root { self.b.ins().sshr_imm_u(exponent, 1) } else { exponent };
            let exponent = match is_reciprocal {
                true => {
                    let bias = self.word(word.bias - 2);
                    self.b.ins().isub(bias, exponent)
                }
                false => self.plus(exponent, word.bias - 1),
            };
            // The bits of the value above its fraction add to the exponent.
            let exponent = self.shifted_up(exponent, word.fraction);
            let number = self.b.ins().iadd(exponent, value);
            let is_normal = self.is(IntCC::SignedGreaterThanOrEqual, number, 1 << word.fraction);
            let number = self.b.ins().band(number, is_normal);
            let sign = self.bits(x[half], SIGN);
            let number = self.b.ins().bor(number, sign);
            let (at_zero, at_infinity) =
                if is_reciprocal { (word.infinity, 0) } else { (0, word.infinity) };
            let exceptions =
                Exceptions { infinity: word.infinity, at_zero, at_infinity, of_positive: is_root };
            self.with_exceptions(&exceptions, x[half], number)
        })
    }

    /// Emits 2^x.
    pub(super) fn power_by_table(&mut self, x: [Clif; 2]) -> [Clif; 2] {
        let fixed = x.map(|x| {
            let magnitude = self.bits(x, !SIGN);
            // Beyond 200 every result is infinite or 0. A NaN gives some number here.
            let great = self.is(IntCC::SignedGreaterThan, magnitude, 200f32.to_bits());
            let magnitude = self.unless(great, 200f32.to_bits(), magnitude);
            let (magnitude, unit) =
                (self.floats(magnitude), self.word(((1 << FRACTION) as f32).to_bits()));
            let unit = self.floats(unit);
            let places = self.b.ins().fmul(magnitude, unit);
            let places = self.b.ins().fcvt_to_sint_sat(types::I32X4, places);
            // The bits of a negative number are inverted; a whole number is negated instead.
            let negative = self.b.ins().sshr_imm_u(x, 31);
            let fraction = self.bits(places, MANTISSA);
            let whole = self.is(IntCC::Equal, fraction, 0);
            let turned = self.b.ins().bxor(places, negative);
            let last = self.b.ins().band(whole, negative);
            self.b.ins().isub(turned, last)
        });
        let fractions = fixed.map(|fixed| self.bits(fixed, MANTISSA));
        let values = self.polynomial(SharedFn::TableEx2, fractions, None);
        [0, 1].map(|half| {
            let value = self.cut(values[half], -(PART as i32));
            let mantissa = self.bits(value, MANTISSA);
            let power = self.b.ins().sshr_imm_u(fixed[half], i64::from(FRACTION));
            let biased = self.plus(power, FLOAT.bias);
            let biased = self.shifted_up(biased, FRACTION);
            let number = self.b.ins().iadd(biased, mantissa);
            let is_normal = self.is(IntCC::SignedGreaterThan, power, (-(FLOAT.bias as i32)) as u32);
            let number = self.b.ins().band(number, is_normal);
            let great = self.is(IntCC::SignedGreaterThan, power, FLOAT.bias);
            let number = self.unless(great, INFINITY, number);
            let magnitude = self.bits(x[half], !SIGN);
            let nan = self.is(IntCC::SignedGreaterThan, magnitude, INFINITY);
            self.unless(nan, self.nan, number)
        })
    }

    /// Emits log2(x).
    pub(super) fn logarithm_by_table(&mut self, x: [Clif; 2]) -> [Clif; 2] {
        let fractions = x.map(|x| self.bits(x, MANTISSA));
        let values = self.polynomial(SharedFn::TableLg2, fractions, None);
        [0, 1].map(|half| {
            let x = x[half];
            let biased = self.shifted_down(x, FRACTION);
            let exponent = self.plus(biased, FLOAT.bias.wrapping_neg());
            let exponents = self.doubles(exponent);
            let sums = [0, 1].map(|pair| {
                let [down, up] = [2f64.powi(PLACES - 24 - PART as i32), 2f64.powi(PLACES)]
                    .map(|unit| self.double(unit));
                let fraction = self.b.ins().fmul(values[half][pair], down);
                let fraction = self.b.ins().floor(fraction);
                let exponent = self.b.ins().fmul(exponents[pair], up);
                let sum = self.b.ins().fadd(exponent, fraction);
                // Inverting the bits of a negative sum makes it one more.
                let [zero, one, sign] = [0.0, 1.0, -0.0].map(|x| self.double(x));
                let negative = self.b.ins().fcmp(FloatCC::LessThan, sum, zero);
                let negative = vector::cast(self.b, types::F64X2, negative);
                let (last, sign) =
                    (self.b.ins().band(negative, one), self.b.ins().band(negative, sign));
                let turned = self.b.ins().fadd(sum, last);
                // The sign is set also where the sum is now 0.
                self.b.ins().bor(turned, sign)
            });
            let result = self.cut(sums, -PLACES);
            let one = self.is(IntCC::Equal, x, ONE);
            let result = self.b.ins().band_not(result, one);
            let (at_zero, at_infinity) = (SIGN | INFINITY, INFINITY);
            let exceptions =
                Exceptions { infinity: INFINITY, at_zero, at_infinity, of_positive: true };
            self.with_exceptions(&exceptions, x, result)
        })
    }

    /// Emits the sine or cosine of x turns.
    pub(super) fn turn_by_table(&mut self, function: SharedFn, x: [Clif; 2]) -> [Clif; 2] {
        let cosine = function == SharedFn::TableCos;
        let angles = x.map(|x| {
            let magnitude = self.bits(x, !SIGN);
            let magnitude = self.floats(magnitude);
            let whole = self.b.ins().floor(magnitude);
            let turn = self.b.ins().fsub(magnitude, whole);
            let unit = self.word(((1 << (FRACTION + 2)) as f32).to_bits());
            let unit = self.floats(unit);
            let turn = self.b.ins().fmul(turn, unit);
            let angle = self.b.ins().fcvt_to_sint_sat(types::I32X4, turn);
            if cosine { self.plus(angle, 1 << FRACTION) } else { angle }
        });
        let fractions = angles.map(|angle| {
            let odd = self.shifted_up(angle, 31 - FRACTION);
            let odd = self.b.ins().sshr_imm_u(odd, 31);
            let turned = self.b.ins().bxor(angle, odd);
            self.bits(turned, MANTISSA)
        });
        let values = self.polynomial(function, fractions, None);
        [0, 1].map(|half| {
            let value = self.cut(values[half], -24 - PART as i32);
            let sign = self.shifted_up(angles[half], 30 - FRACTION);
            let sign = if cosine { sign } else { self.b.ins().bxor(sign, x[half]) };
            let sign = self.bits(sign, SIGN);
            let value = self.b.ins().bor(value, sign);
            let magnitude = self.bits(x[half], !SIGN);
            let nan = self.is(IntCC::SignedGreaterThanOrEqual, magnitude, INFINITY);
            self.unless(nan, self.nan, value)
        })
    }
}

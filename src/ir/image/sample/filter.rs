//! Weights of texels, and their sums. Source: facts, `maxwell-surfaces.md`, section 5.3.

use super::texel::NAN;

/// A weight of 1: weights are in 256ths.
pub const WHOLE: u32 = 256;

/// The share of a weight for a fraction of 256.
#[inline]
pub fn share(part: u32, fraction: u32) -> u32 {
    (part * fraction + 128) >> 8
}

/// Splits a total weight over two slices of two rows of two texels, by the distances towards the
/// second of each.
#[inline]
pub fn weights(total: u32, [x, y, z]: [u32; 3]) -> [[[u32; 2]; 2]; 2] {
    let far = share(total, z);
    [total - far, far].map(|slice| {
        let second = share(slice, x);
        let first = slice - second;
        let below = [(first * y + 127) >> 8, share(second, y)];
        [[first - below[0], second - below[1]], below]
    })
}

/// The way components are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Floats with this number of significant places: the places of texels.
    Float { places: u32 },
    /// Integers, in which `one` stands for 1.
    Integer { one: u32 },
    /// Signed bytes, in which 127 stands for 1; the sum's unit is [`WORD`].
    SignedBytes,
}

/// The number that stands for 1 in an unsigned integer of 16 bits; below, in a signed integer.
pub const SHORT: u32 = 65535;
pub const WORD: u32 = 32767;

/// The bits of a float's fraction; below, its implied bit.
const FRACTION: u32 = 23;
const IMPLIED: u32 = 1 << FRACTION;
const NOT_FINITE: i32 = 255;
/// The places that texels keep, beyond the places of the result, when they are brought to one
/// exponent.
const GUARD: u32 = 4;
/// A sum of floats: `digits` times a power of two. The power is `exponent` plus a number that
/// [`Float::bits`] adds.
#[derive(Clone, Copy, Default)]
struct Float {
    digits: i64,
    /// The biased exponent: the greatest exponent of the texels.
    exponent: i32,
    /// The sum of texels that are infinite or NaNs.
    not_finite: f32,
}

impl Float {
    /// Adds texels. They are brought to their greatest exponent before they are weighted.
    #[inline]
    fn add(&mut self, places: u32, quad: impl Iterator<Item = (u32, u32)> + Clone) {
        let parts = |bits: u32| ((bits >> FRACTION & 255) as i32, bits & (IMPLIED - 1) | IMPLIED);
        let mut greatest = 0;
        for (bits, weight) in quad.clone() {
            let (exponent, _) = parts(bits);
            if exponent == NOT_FINITE && weight > 0 {
                self.not_finite += f32::from_bits(bits);
            } else if weight > 0 {
                greatest = greatest.max(exponent);
            }
        }
        if greatest == 0 {
            return;
        }
        let mut sum = 0;
        for (bits, weight) in quad {
            let (exponent, digits) = parts(bits);
            // Numbers that are not normal count as 0.
            if weight > 0 && (1..NOT_FINITE).contains(&exponent) {
                let places = (FRACTION + 1 - places) as i32 + greatest - exponent;
                let aligned = (i64::from(digits) << GUARD) >> places.min(63);
                sum += if bits >> 31 != 0 { -aligned } else { aligned } * i64::from(weight);
            }
        }
        // Quads are added one by one: the sum with the lesser exponent loses the places that the
        // other sum lacks.
        let without = |digits: i64, places: i32| digits >> places.min(63);
        if greatest > self.exponent {
            self.digits = without(self.digits, greatest - self.exponent) + sum;
            self.exponent = greatest;
        } else {
            self.digits += without(sum, self.exponent - greatest);
        }
    }

    /// Rounds to `places`; of two equally near numbers, to the number farther from 0. If the result
    /// is not normal, it is 0.
    fn bits(&self, places: u32) -> u32 {
        if self.not_finite != 0.0 {
            return if self.not_finite.is_nan() { NAN } else { self.not_finite.to_bits() };
        }
        let digits = self.digits.unsigned_abs();
        if digits == 0 {
            return 0;
        }
        let sign = u32::from(self.digits < 0) << 31;
        // The exponent of the last digit: digits of texels with guards, in 256ths.
        let last = self.exponent - 127 - (places + GUARD) as i32 + 1 - 8;
        let exponent = last + (u64::BITS - digits.leading_zeros()) as i32;
        let half = places < FRACTION;
        let least = if half { -13 } else { -125 };
        let unit = exponent.max(least) - places as i32;
        let value = match unit - last {
            cut @ 1..64 => libm::ldexp(((digits + (1 << (cut - 1))) >> cut) as f64, unit),
            64.. => 0.0,
            _ => libm::ldexp(digits as f64, last),
        };
        let most = if half { 65536.0 } else { f64::from(f32::MAX) * 2.0 };
        match value {
            _ if value >= most || value > f64::from(f32::MAX) => sign | f32::INFINITY.to_bits(),
            _ if value < f64::from(f32::MIN_POSITIVE) => sign,
            _ => sign | (value as f32).to_bits(),
        }
    }
}

/// A sum of weighted texels.
pub struct Sum {
    numbers: [Numbers; 4],
    floats: [Float; 4],
    integers: [i64; 4],
}

impl Sum {
    pub fn new(numbers: [Numbers; 4]) -> Sum {
        Sum { numbers, floats: [Float::default(); 4], integers: [0; 4] }
    }

    /// Adds weighted texels: the texels around one position in one slice of one level.
    #[inline]
    pub fn add(&mut self, quad: &[([u32; 4], u32)]) {
        if let [Numbers::Integer { one }, ..] = self.numbers
            && self.numbers == [Numbers::Integer { one }; 4]
        {
            // All components of a texel are added at once.
            for (texel, weight) in quad {
                self.add_numbers(texel.map(|bits| nearest(one, bits)), *weight);
            }
            return;
        }
        for (c, numbers) in self.numbers.into_iter().enumerate() {
            let component = quad.iter().map(|(texel, weight)| (texel[c], *weight));
            match numbers {
                Numbers::Float { places } => self.floats[c].add(places, component),
                Numbers::Integer { one } => self.integers[c] += integer(one, component),
                Numbers::SignedBytes => self.integers[c] += integer(127, component),
            }
        }
    }

    /// Adds the numbers of a texel if all are integers.
    #[inline]
    pub fn add_numbers(&mut self, numbers: [i32; 4], weight: u32) {
        for (sum, number) in self.integers.iter_mut().zip(numbers) {
            *sum += i64::from(number) * i64::from(weight);
        }
    }

    /// The bits for the result registers.
    pub fn bits(&self) -> [u32; 4] {
        let scaled = |value: i64, one: u32| (value as f32 / one as f32).to_bits();
        std::array::from_fn(|c| match self.numbers[c] {
            Numbers::Float { places } => self.floats[c].bits(places),
            Numbers::Integer { one } => scaled((self.integers[c] + 128) >> 8, one),
            Numbers::SignedBytes => {
                const WHOLE: i64 = 127 * 256;
                scaled((2 * self.integers[c] * i64::from(WORD) + WHOLE).div_euclid(2 * WHOLE), WORD)
            }
        })
    }
}

/// The weighted sum of numbers in which `one` stands for 1.
#[inline]
fn integer(one: u32, component: impl Iterator<Item = (u32, u32)>) -> i64 {
    component.fold(0, |sum, (bits, weight)| sum + i64::from(nearest(one, bits)) * i64::from(weight))
}

/// The nearest number in which `one` stands for 1.
#[inline]
pub fn nearest(one: u32, bits: u32) -> i32 {
    let scaled = f64::from(f32::from_bits(bits)) * f64::from(one);
    (scaled + 0.5f64.copysign(scaled)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(places: u32, quads: &[&[(f32, u32)]]) -> f32 {
        let mut sum = Sum::new([Numbers::Float { places }; 4]);
        for quad in quads {
            let quad: Vec<_> =
                quad.iter().map(|&(texel, weight)| ([texel.to_bits(); 4], weight)).collect();
            sum.add(&quad);
        }
        f32::from_bits(sum.bits()[0])
    }

    #[test]
    fn weights_are_whole() {
        for total in [256, 77, 1, 0] {
            for at in [[0, 0, 0], [128, 128, 128], [255, 1, 77], [93, 211, 160]] {
                assert_eq!(
                    weights(total, at).as_flattened().as_flattened().iter().sum::<u32>(),
                    total,
                    "{at:?}"
                );
            }
        }
        assert_eq!(weights(256, [128, 64, 0])[0], [[96, 96], [32, 32]]);
    }

    /// Source: an H200.
    #[test]
    fn texels_lose_what_is_below_the_greatest_one() {
        assert_eq!(sum(24, &[&[(51_427_892.0, 78), (1_626.170_3, 178)]]), 15_670_566.0);
        assert_eq!(sum(24, &[&[(0.246_180_64, 182), (-120_730_216.0, 74)]]), -34_898_580.0);
        // A weight of 0 removes a texel.
        assert_eq!(sum(24, &[&[(114.127_79, 256), (3_281_738.2, 0)]]), 114.127_79);
        // Quads are added one by one.
        assert_eq!(sum(24, &[&[(16_777_216.0, 128)], &[(1.0, 128)]]), 8_388_609.0);
    }

    #[test]
    fn numbers_that_are_none() {
        assert_eq!(sum(24, &[&[(f32::INFINITY, 1), (1.0, 255)]]), f32::INFINITY);
        assert_eq!(sum(24, &[&[(f32::INFINITY, 1)], &[(-f32::INFINITY, 255)]]).to_bits(), NAN);
        assert_eq!(sum(24, &[&[(f32::MAX, 256)]]), f32::MAX);
        assert_eq!(sum(24, &[&[(1e-39, 128), (1e-39, 128)]]), 0.0);
        assert_eq!(sum(11, &[&[(65504.0, 256)]]), 65504.0);
        assert_eq!(sum(11, &[&[(6e-8, 256)]]), 5.960_464_5e-8);
    }

    #[test]
    fn normalised_integers() {
        let mut sum = Sum::new([Numbers::Integer { one: 65535 }; 4]);
        sum.add(&[([0; 4], 255), ([1f32.to_bits(); 4], 1)]);
        // 65535 / 256 is nearly 256.
        assert_eq!(sum.bits(), [(256.0f32 / 65535.0).to_bits(); 4]);
    }
}

//! `bf16`: the upper half of an `f32`.

use warploom_ir::{FloatAttrs, FloatCc, IntCc, Round, Type, Value};

use super::bits::{Emit, to_even};

/// Converts the bits of a `bf16`, an `i16`, to an `f32`.
pub fn from_bf16<'a>(cx: &mut impl Emit<'a>, bits: Value) -> Value {
    let word = cx.builder().zero_extend(Type::I32, bits);
    let count = cx.constant_of(Type::I32, 16);
    let word = cx.builder().shl(word, count);
    cx.builder().bitcast(Type::F32, word)
}

/// Converts an `f32` to the bits of a `bf16`, an `i16`, with one rounding. A NaN becomes the bits
/// `nan`.
pub fn to_bf16<'a>(cx: &mut impl Emit<'a>, round: Round, nan: u64, value: Value) -> Value {
    let bits = cx.builder().bitcast(Type::I32, value);
    let mut word = |bits: u64| cx.constant_of(Type::I32, bits);
    let (sixteen, zero, all) = (word(16), word(0), word(0xffff));
    let (infinity, magnitude) = (word(0x7f80_0000), word(0x7fff_ffff));
    let increment = match round {
        Round::Nearest => to_even(cx, bits, 16),
        Round::Zero => zero,
        Round::Up | Round::Down => {
            // The magnitude grows if the number's sign is the sign of the rounding direction.
            let negative = cx.builder().icmp(IntCc::LtS, bits, zero);
            if round == Round::Up {
                cx.one_of(negative, zero, all)
            } else {
                cx.one_of(negative, all, zero)
            }
        }
    };
    let magnitude = cx.builder().and(bits, magnitude);
    let finite = cx.builder().icmp(IntCc::LtU, magnitude, infinity);
    let rounded = cx.builder().add(bits, increment);
    let rounded = cx.one_of(finite, rounded, bits);
    let high = cx.builder().shr_u(rounded, sixteen);
    let high = cx.builder().trunc(Type::I16, high);
    let is_nan = cx.builder().fcmp(FloatCc::Nan, false, value, value);
    let nan = cx.constant_of(Type::I16, nan);
    cx.one_of(is_nan, nan, high)
}

const IEEE: FloatAttrs = FloatAttrs::IEEE;

/// Returns a * b + c of `bf16` as an `f32` that rounds like the exact sum, in any direction.
///
/// The product has 16 digits and is exact in `f64`. The sum is rounded to odd, to `f64` and then to
/// `f32`: an inexact result gets a last digit of 1. A number rounded to odd with at least two
/// digits more than the final format (24 >= 8 + 2) lies on the same side of each number of that
/// format, and of each midpoint between two, as the exact number (Boldo and Melquiond).
pub fn fused_bf16<'a>(cx: &mut impl Emit<'a>, round: Round, factors: [Value; 3]) -> Value {
    let [a, b, c] = factors.map(|value| cx.builder().fconvert(Type::F64, IEEE, value));
    let build = cx.builder();
    let product = build.fmul(IEEE, a, b);
    let sum = build.fadd(IEEE, product, c);
    // The exact error of the sum (Knuth).
    let c_part = build.fsub(IEEE, sum, product);
    let product_part = build.fsub(IEEE, sum, c_part);
    let (product_rest, c_rest) =
        (build.fsub(IEEE, product, product_part), build.fsub(IEEE, c, c_part));
    let missing = build.fadd(IEEE, product_rest, c_rest);
    let mut odd = one_further(cx, sum, missing);
    if round == Round::Down {
        // A zero sum has another sign.
        let down = cx.builder().fadd(FloatAttrs { round, ..IEEE }, product, c);
        let zero = cx.constant_of(Type::F64, 0);
        let is_zero = cx.builder().fcmp(FloatCc::Eq, false, sum, zero);
        odd = cx.one_of(is_zero, down, odd);
    }
    to_odd_f32(cx, odd)
}

/// Returns `sum`. If something is missing and the last digit of `sum` is 0, returns the next `f64`
/// in the direction of the missing part.
fn one_further<'a>(cx: &mut impl Emit<'a>, sum: Value, missing: Value) -> Value {
    let zero = cx.constant_of(Type::F64, 0);
    // This excludes the NaN that an infinite sum makes.
    let inexact = cx.builder().fcmp(FloatCc::Ne, false, missing, zero);
    let mut number = |bits: u64| cx.constant_of(Type::I64, bits);
    let (one, none, minus) = (number(1), number(0), number(u64::MAX));
    let build = cx.builder();
    let (bits, missing) = (build.bitcast(Type::I64, sum), build.bitcast(Type::I64, missing));
    let last = build.and(bits, one);
    let even = build.icmp(IntCc::Eq, last, none);
    let signs = build.xor(bits, missing);
    let toward_zero = build.icmp(IntCc::LtS, signs, none);
    let moves = build.and(inexact, even);
    let step = cx.one_of(toward_zero, minus, one);
    let moved = cx.builder().add(bits, step);
    let bits = cx.one_of(moves, moved, bits);
    cx.builder().bitcast(Type::F64, bits)
}

/// Converts an `f64` to an `f32`, rounded to odd.
pub fn to_odd_f32<'a>(cx: &mut impl Emit<'a>, value: Value) -> Value {
    let one = cx.constant_of(Type::I32, 1);
    let build = cx.builder();
    let toward_zero = FloatAttrs { round: Round::Zero, ..IEEE };
    let cut = build.fconvert(Type::F32, toward_zero, value);
    let back = build.fconvert(Type::F64, IEEE, cut);
    let inexact = build.fcmp(FloatCc::Ne, false, back, value);
    let bits = build.bitcast(Type::I32, cut);
    let odd = build.or(bits, one);
    let bits = cx.one_of(inexact, odd, bits);
    cx.builder().bitcast(Type::F32, bits)
}

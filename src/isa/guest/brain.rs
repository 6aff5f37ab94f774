//! `bf16`: the upper half of an `f32`.

use warploom_ir::{FloatCc, IntCc, Round, Type, Value};

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

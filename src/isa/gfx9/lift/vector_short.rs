//! Integers of 16 bits and of bytes: the vector unit's sums, products and differences of parts.
//!
//! Source: "Vega" Instruction Set Architecture, "VOP2 Instructions", "VOP3A & VOP3B Instructions".

use warploom_ir::{IntCc, Type, Value};

use super::context::Cx;
use super::{Flow, Lifted, Unsupported};
use crate::Instruction;

/// Declares instructions with results of 16 bits, computed on operands that are extended to 32
/// bits, with or without sign.
macro_rules! halves {
    ($($name:ident($($x:ident),+) $signed:literal: |$cx:ident| $result:expr;)*) => {$(
        pub fn $name($cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let mut n = 0;
            $(
                let $x = $cx.half_word(i, n, $signed);
                n += 1;
            )+
            let _ = n;
            let mut result = $result;
            if i.clamp() {
                result = saturated($cx, result, $signed);
            }
            $cx.set_half_word(i, result);
            Ok(Flow::Next)
        }
    )*};
}

/// Saturates a number to 16 bits.
pub fn saturated(cx: &mut Cx<'_>, value: Value, signed: bool) -> Value {
    let (least, most) = if signed { (-0x8000_i32, 0x7fff) } else { (0, 0xffff) };
    let (least, most) = (cx.int(least as u32), cx.int(most));
    // An unsigned difference below 0 is a large number: as a signed number it is below 0, too.
    // Products are not clamped this way.
    let value = cx.b.max_s(value, least);
    if signed { cx.b.min_s(value, most) } else { cx.b.min_u(value, most) }
}

halves! {
    v_add_u16(x, y) false: |cx| cx.b.add(x, y);
    v_sub_u16(x, y) false: |cx| cx.b.sub(x, y);
    v_subrev_u16(x, y) false: |cx| cx.b.sub(y, x);
    v_add_i16(x, y) true: |cx| cx.b.add(x, y);
    v_sub_i16(x, y) true: |cx| cx.b.sub(x, y);
    v_mul_lo_u16(x, y) false: |cx| cx.b.mul(x, y);
    v_min_i16(x, y) true: |cx| cx.b.min_s(x, y);
    v_max_i16(x, y) true: |cx| cx.b.max_s(x, y);
    v_min_u16(x, y) false: |cx| cx.b.min_u(x, y);
    v_max_u16(x, y) false: |cx| cx.b.max_u(x, y);
    v_min3_i16(x, y, z) true: |cx| {
        let least = cx.b.min_s(x, y);
        cx.b.min_s(least, z)
    };
    v_max3_i16(x, y, z) true: |cx| {
        let most = cx.b.max_s(x, y);
        cx.b.max_s(most, z)
    };
    v_med3_i16(x, y, z) true: |cx| {
        let (least, most) = (cx.b.min_s(x, y), cx.b.max_s(x, y));
        let upper = cx.b.min_s(most, z);
        cx.b.max_s(least, upper)
    };
    v_min3_u16(x, y, z) false: |cx| {
        let least = cx.b.min_u(x, y);
        cx.b.min_u(least, z)
    };
    v_max3_u16(x, y, z) false: |cx| {
        let most = cx.b.max_u(x, y);
        cx.b.max_u(most, z)
    };
    v_med3_u16(x, y, z) false: |cx| {
        let (least, most) = (cx.b.min_u(x, y), cx.b.max_u(x, y));
        let upper = cx.b.min_u(most, z);
        cx.b.max_u(least, upper)
    };
    v_lshlrev_b16(count, x) false: |cx| {
        let count = cx.and_bits(count, 15);
        cx.b.shl(x, count)
    };
    v_lshrrev_b16(count, x) false: |cx| {
        let count = cx.and_bits(count, 15);
        cx.b.shr_u(x, count)
    };
    v_ashrrev_i16(count, x) true: |cx| {
        let count = cx.and_bits(count, 15);
        cx.b.shr_s(x, count)
    };
}

/// Emits `x * y + z`, saturated from the exact result if the instruction clamps.
fn multiply_add(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    let [x, y, z] = [0, 1, 2].map(|n| cx.half_word(i, n, signed));
    let product = cx.b.mul(x, y);
    let (mut result, carry) = cx.b.add_carry(product, z, None);
    if i.clamp() {
        result = if signed {
            saturated(cx, result, true)
        } else {
            let most = cx.int(0xffff);
            let least = cx.b.min_u(result, most);
            cx.b.select(carry, most, least)
        };
    }
    cx.set_half_word(i, result);
    Ok(Flow::Next)
}

macro_rules! multiply_adds {
    ($($name:ident: $signed:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            multiply_add(cx, i, $signed)
        }
    )*};
}

multiply_adds! {
    v_mad_u16: false;
    v_mad_i16: true;
    v_mad_legacy_u16: false;
    v_mad_legacy_i16: true;
}

/// Emits two bytes side by side, to which 16-bit numbers saturate.
pub fn v_sat_pk_u8_i16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.word(i, 0);
    let high = cx.sar(x, 16);
    let low = cx.low_bits(x, 16, true);
    let [low, high] = [low, high].map(|half| {
        let (least, most) = (cx.int(0), cx.int(255));
        let half = cx.b.max_s(half, least);
        cx.b.min_s(half, most)
    });
    let high = cx.shl(high, 8);
    let result = cx.b.or(low, high);
    cx.set_half_word(i, result);
    Ok(Flow::Next)
}

/// Returns `|a - b|` of the parts of `bits` bits from bit `at` on.
fn part_difference(cx: &mut Cx<'_>, a: Value, b: Value, at: u32, bits: u32) -> Value {
    let part = |cx: &mut Cx<'_>, v: Value| {
        let v = if at == 0 { v } else { cx.shr(v, at) };
        cx.low_bits(v, bits, false)
    };
    let (a, b) = (part(cx, a), part(cx, b));
    let (most, least) = (cx.b.max_u(a, b), cx.b.min_u(a, b));
    cx.b.sub(most, least)
}

/// Returns the sum of the differences of all parts of two words.
fn sum_of_differences(cx: &mut Cx<'_>, a: Value, b: Value, bits: u32) -> Value {
    let mut sum = part_difference(cx, a, b, 0, bits);
    for at in (bits..32).step_by(bits as usize) {
        let part = part_difference(cx, a, b, at, bits);
        sum = cx.b.add(sum, part);
    }
    sum
}

/// Emits a sum of absolute differences, shifted for `sad_hi`, plus the third operand.
fn sad(cx: &mut Cx<'_>, i: &Instruction, bits: u32, shift: u32) -> Lifted {
    let [a, b, c] = [0, 1, 2].map(|n| cx.word(i, n));
    let sum = sum_of_differences(cx, a, b, bits);
    let sum = if shift == 0 { sum } else { cx.shl(sum, shift) };
    let (mut result, carry) = cx.b.add_carry(sum, c, None);
    if i.clamp() {
        let most = cx.int(u32::MAX);
        result = cx.b.select(carry, most, result);
    }
    cx.set_word(i, result);
    Ok(Flow::Next)
}

pub fn v_sad_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sad(cx, i, 8, 0)
}

pub fn v_sad_hi_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sad(cx, i, 8, 16)
}

pub fn v_sad_u16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sad(cx, i, 16, 0)
}

pub fn v_sad_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sad(cx, i, 32, 0)
}

/// Returns the sum of the differences of all bytes, without bytes where `b` has 0.
fn masked_sum(cx: &mut Cx<'_>, a: Value, b: Value) -> Value {
    let mut sum = cx.int(0);
    for at in [0, 8, 16, 24] {
        let part = part_difference(cx, a, b, at, 8);
        let (byte, zero) = (cx.and_bits(b, 0xff << at), cx.int(0));
        let masked = cx.b.icmp(IntCc::Eq, byte, zero);
        let part = cx.b.select(masked, zero, part);
        sum = cx.b.add(sum, part);
    }
    sum
}

pub fn v_msad_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [a, b, c] = [0, 1, 2].map(|n| cx.word(i, n));
    let sum = masked_sum(cx, a, b);
    let (mut result, carry) = cx.b.add_carry(sum, c, None);
    if i.clamp() {
        let most = cx.int(u32::MAX);
        result = cx.b.select(carry, most, result);
    }
    cx.set_word(i, result);
    Ok(Flow::Next)
}

/// Returns the four words that begin at bytes 0 to 3 of a 64-bit source.
fn windows(cx: &mut Cx<'_>, i: &Instruction) -> [Value; 4] {
    let bytes = cx.long_word(i, 0);
    [0, 8, 16, 24].map(|at| {
        let moved = if at == 0 { bytes } else { cx.shr(bytes, at) };
        cx.b.trunc(Type::I32, moved)
    })
}

/// Emits four sums of 16 bits, added to the four 16-bit parts of the third operand.
fn packed_sums(cx: &mut Cx<'_>, i: &Instruction, masked: bool) -> Lifted {
    let (b, c) = (cx.word(i, 1), cx.long_word(i, 2));
    let mut result = cx.long(0);
    for (window, at) in windows(cx, i).into_iter().zip([0, 16, 32, 48]) {
        let sum =
            if masked { masked_sum(cx, window, b) } else { sum_of_differences(cx, window, b, 8) };
        let half = if at == 0 { c } else { cx.shr(c, at) };
        let half = cx.b.trunc(Type::I32, half);
        let half = cx.low_bits(half, 16, false);
        let mut sum = cx.b.add(sum, half);
        if i.clamp() {
            let most = cx.int(0xffff);
            sum = cx.b.min_u(sum, most);
        }
        let sum = cx.low_bits(sum, 16, false);
        let sum = cx.b.zero_extend(Type::I64, sum);
        let sum = if at == 0 { sum } else { cx.shl(sum, at) };
        result = cx.b.or(result, sum);
    }
    cx.set_long_word(i, result);
    Ok(Flow::Next)
}

pub fn v_qsad_pk_u16_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    packed_sums(cx, i, false)
}

pub fn v_mqsad_pk_u16_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    packed_sums(cx, i, true)
}

/// Emits four sums of 32 bits, added to four registers.
pub fn v_mqsad_u32_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let b = cx.word(i, 1);
    let sums = windows(cx, i).map(|window| masked_sum(cx, window, b));
    let added: Vec<Value> = (sums.into_iter().zip(0..))
        .map(|(sum, n)| {
            let part = cx.part_of(i, 2, n);
            let (mut total, carry) = cx.b.add_carry(sum, part, None);
            if i.clamp() {
                let most = cx.int(u32::MAX);
                total = cx.b.select(carry, most, total);
            }
            total
        })
        .collect();
    cx.set_parts(i, &added);
    Ok(Flow::Next)
}

/// Emits `(a + b + (c & 1)) >> 1` of each byte.
pub fn v_lerp_u8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [a, b, c] = [0, 1, 2].map(|n| cx.word(i, n));
    let mut result = cx.int(0);
    for at in [0, 8, 16, 24] {
        let part = |cx: &mut Cx<'_>, v: Value, bits: u32| {
            let v = if at == 0 { v } else { cx.shr(v, at) };
            cx.low_bits(v, bits, false)
        };
        let (a, b, c) = (part(cx, a, 8), part(cx, b, 8), part(cx, c, 1));
        let sum = cx.b.add(a, b);
        let sum = cx.b.add(sum, c);
        let half = cx.shr(sum, 1);
        let half = if at == 0 { half } else { cx.shl(half, at) };
        result = cx.b.or(result, half);
    }
    cx.set_word(i, result);
    Ok(Flow::Next)
}

/// Packs two integers of 32 bits, each saturated to 16 bits.
fn pack(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    let [low, high] = [0, 1].map(|n| {
        let word = cx.word(i, n);
        let half = if signed {
            saturated(cx, word, true)
        } else {
            let most = cx.int(0xffff);
            cx.b.min_u(word, most)
        };
        cx.low_bits(half, 16, false)
    });
    let high = cx.shl(high, 16);
    let result = cx.b.or(low, high);
    cx.set_word(i, result);
    Ok(Flow::Next)
}

pub fn v_cvt_pk_u16_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    pack(cx, i, false)
}

pub fn v_cvt_pk_i16_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    pack(cx, i, true)
}

/// Packs two halves. They may be negated and made absolute as floats.
pub fn v_pack_b32_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.clamp() {
        return Err(Unsupported);
    }
    let [low, high] = [0, 1].map(|n| {
        let half = cx.f16(i, n);
        let half = cx.cast(Type::I16, half);
        cx.b.zero_extend(Type::I32, half)
    });
    let high = cx.shl(high, 16);
    let result = cx.b.or(low, high);
    cx.set_word(i, result);
    Ok(Flow::Next)
}

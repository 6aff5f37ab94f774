//! Integers of the vector unit: sums, products, logic and shifts of 32 and 64 bits.
//!
//! Source: "Vega" Instruction Set Architecture, "VOP2 Instructions", "VOP1 Instructions", "VOP3A &
//! VOP3B Instructions".

use warploom_ir::{IntCc, Type, Value};

use super::context::Cx;
use super::{Flow, Lifted};
use crate::Instruction;

fn done() -> Lifted {
    Ok(Flow::Next)
}

/// Declares instructions with a 32-bit result of one to three operands of 32 bits.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+): |$cx:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name($cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let mut n = 0;
            $(
                let $x = $cx.word(i, n);
                n += 1;
            )+
            let _ = n;
            let result = $result;
            $cx.set_word(i, result);
            done()
        }
    )*};
}

words! {
    v_mov_b32(x): |cx| x;
    v_not_b32(x): |cx| cx.b.not(x);
    v_bfrev_b32(x): |cx| cx.b.bit_reverse(x);
    v_and_b32(x, y): |cx| cx.b.and(x, y);
    v_or_b32(x, y): |cx| cx.b.or(x, y);
    v_xor_b32(x, y): |cx| cx.b.xor(x, y);
    v_xnor_b32(x, y): |cx| {
        let different = cx.b.xor(x, y);
        cx.b.not(different)
    };
    v_min_i32(x, y): |cx| cx.b.min_s(x, y);
    v_max_i32(x, y): |cx| cx.b.max_s(x, y);
    v_min_u32(x, y): |cx| cx.b.min_u(x, y);
    v_max_u32(x, y): |cx| cx.b.max_u(x, y);
    v_lshlrev_b32(count, x): |cx| {
        let count = cx.and_bits(count, 31);
        cx.b.shl(x, count)
    };
    v_lshrrev_b32(count, x): |cx| {
        let count = cx.and_bits(count, 31);
        cx.b.shr_u(x, count)
    };
    v_ashrrev_i32(count, x): |cx| {
        let count = cx.and_bits(count, 31);
        cx.b.shr_s(x, count)
    };
    v_mul_lo_u32(x, y): |cx| cx.b.mul(x, y);
    v_mul_hi_u32(x, y): |cx| cx.b.mul_hi_u(x, y);
    v_mul_hi_i32(x, y): |cx| cx.b.mul_hi_s(x, y);
    v_mul_hi_u32_u24(x, y): |cx| {
        let (x, y) = (cx.low_bits(x, 24, false), cx.low_bits(y, 24, false));
        cx.b.mul_hi_u(x, y)
    };
    v_mul_hi_i32_i24(x, y): |cx| {
        let (x, y) = (cx.low_bits(x, 24, true), cx.low_bits(y, 24, true));
        cx.b.mul_hi_s(x, y)
    };
    v_lshl_add_u32(x, count, y): |cx| {
        let count = cx.and_bits(count, 31);
        let shifted = cx.b.shl(x, count);
        cx.b.add(shifted, y)
    };
    v_add_lshl_u32(x, y, count): |cx| {
        let (sum, count) = (cx.b.add(x, y), cx.and_bits(count, 31));
        cx.b.shl(sum, count)
    };
    v_lshl_or_b32(x, count, y): |cx| {
        let count = cx.and_bits(count, 31);
        let shifted = cx.b.shl(x, count);
        cx.b.or(shifted, y)
    };
    v_and_or_b32(x, y, z): |cx| {
        let both = cx.b.and(x, y);
        cx.b.or(both, z)
    };
    v_or3_b32(x, y, z): |cx| {
        let either = cx.b.or(x, y);
        cx.b.or(either, z)
    };
    v_add3_u32(x, y, z): |cx| {
        let sum = cx.b.add(x, y);
        cx.b.add(sum, z)
    };
    v_xad_u32(x, y, z): |cx| {
        let different = cx.b.xor(x, y);
        cx.b.add(different, z)
    };
    v_min3_i32(x, y, z): |cx| {
        let least = cx.b.min_s(x, y);
        cx.b.min_s(least, z)
    };
    v_max3_i32(x, y, z): |cx| {
        let most = cx.b.max_s(x, y);
        cx.b.max_s(most, z)
    };
    v_med3_i32(x, y, z): |cx| {
        let (least, most) = (cx.b.min_s(x, y), cx.b.max_s(x, y));
        let upper = cx.b.min_s(most, z);
        cx.b.max_s(least, upper)
    };
    v_min3_u32(x, y, z): |cx| {
        let least = cx.b.min_u(x, y);
        cx.b.min_u(least, z)
    };
    v_max3_u32(x, y, z): |cx| {
        let most = cx.b.max_u(x, y);
        cx.b.max_u(most, z)
    };
    v_med3_u32(x, y, z): |cx| {
        let (least, most) = (cx.b.min_u(x, y), cx.b.max_u(x, y));
        let upper = cx.b.min_u(most, z);
        cx.b.max_u(least, upper)
    };
    /// Emits `(x & y) | (!x & z)`.
    v_bfi_b32(x, y, z): |cx| {
        let (others, taken) = (cx.b.not(x), cx.b.and(x, y));
        let rest = cx.b.and(others, z);
        cx.b.or(taken, rest)
    };
    v_bfm_b32(size, offset): |cx| {
        let (size, offset) = (cx.and_bits(size, 31), cx.and_bits(offset, 31));
        let one = cx.int(1);
        let top = cx.b.shl(one, size);
        let ones = cx.b.sub(top, one);
        cx.b.shl(ones, offset)
    };
    v_bfe_u32(x, offset, width): |cx| field(cx, x, offset, width, false);
    v_bfe_i32(x, offset, width): |cx| field(cx, x, offset, width, true);
    v_bcnt_u32_b32(x, y): |cx| {
        let count = cx.b.popcnt(x);
        cx.b.add(count, y)
    };
    /// Emits the number of leading zeros, or -1.
    v_ffbh_u32(x): |cx| {
        let count = cx.b.clz(x);
        unless_zero(cx, x, count)
    };
    /// Emits the number of trailing zeros, or -1.
    v_ffbl_b32(x): |cx| {
        let count = cx.b.ctz(x);
        unless_zero(cx, x, count)
    };
    /// Emits the first bit from the top that differs from the sign, or -1.
    v_ffbh_i32(x): |cx| {
        let sign = cx.sar(x, 31);
        let different = cx.b.xor(x, sign);
        let count = cx.b.clz(different);
        unless_zero(cx, different, count)
    };
    /// Emits bytes `n & 3` and up of `x:y`.
    v_alignbyte_b32(x, y, n): |cx| {
        let n = cx.and_bits(n, 3);
        let bits = cx.shl(n, 3);
        low_of_shifted(cx, x, y, bits)
    };
    v_alignbit_b32(x, y, n): |cx| {
        let bits = cx.and_bits(n, 31);
        low_of_shifted(cx, x, y, bits)
    };
    v_perm_b32(x, y, selector): |cx| permuted(cx, x, y, selector);
}

/// Returns `count`, or -1 where `x` is 0.
fn unless_zero(cx: &mut Cx<'_>, x: Value, count: Value) -> Value {
    let (zero, none) = (cx.int(0), cx.int(u32::MAX));
    let empty = cx.b.icmp(IntCc::Eq, x, zero);
    cx.b.select(empty, none, count)
}

/// Returns `width & 31` bits from bit `offset & 31` on, extended.
fn field(cx: &mut Cx<'_>, x: Value, offset: Value, width: Value, signed: bool) -> Value {
    let (offset, width) = (cx.and_bits(offset, 31), cx.and_bits(width, 31));
    let all = cx.int(32);
    let space = cx.b.sub(all, width);
    if signed {
        // Bits past the top are signs. A field of no bits is 0.
        let moved = cx.b.shr_s(x, offset);
        let top = cx.b.shl(moved, space);
        return cx.b.shr_s(top, space);
    }
    let (moved, one) = (cx.b.shr_u(x, offset), cx.int(1));
    let end = cx.b.shl(one, width);
    let mask = cx.b.sub(end, one);
    cx.b.and(moved, mask)
}

/// Returns the low word of `high:low` shifted right.
fn low_of_shifted(cx: &mut Cx<'_>, high: Value, low: Value, bits: Value) -> Value {
    let (both, bits) = (cx.b.concat(low, high), cx.b.zero_extend(Type::I64, bits));
    let shifted = cx.b.shr_u(both, bits);
    cx.b.trunc(Type::I32, shifted)
}

/// Returns four bytes, each named by a byte of `selector`: 0 to 7 are bytes of `x:y`, 8 to 11 are
/// signs of its bytes 1, 3, 5 and 7, 12 is 0, and above 12 all bits are ones.
fn permuted(cx: &mut Cx<'_>, x: Value, y: Value, selector: Value) -> Value {
    let bytes = cx.b.concat(y, x);
    let mut result = cx.int(0);
    for at in 0..4 {
        let chosen = cx.shr(selector, 8 * at);
        let chosen = cx.and_bits(chosen, 0xff);
        let place = cx.and_bits(chosen, 7);
        let place = cx.shl(place, 3);
        let plain = cx.b.zero_extend(Type::I64, place);
        let plain = cx.b.shr_u(bytes, plain);
        let plain = cx.b.trunc(Type::I32, plain);
        let plain = cx.and_bits(plain, 0xff);
        // The sign is bit 15, 31, 47 or 63.
        let sign = cx.and_bits(chosen, 3);
        let sign = cx.shl(sign, 4);
        let fifteen = cx.int(15);
        let sign = cx.b.add(sign, fifteen);
        let sign = cx.b.zero_extend(Type::I64, sign);
        let sign = cx.b.shr_u(bytes, sign);
        let sign = cx.b.trunc(Type::I32, sign);
        let sign = cx.and_bits(sign, 1);
        let sign = cx.b.neg(sign);
        let sign = cx.and_bits(sign, 0xff);
        let (eight, twelve, ones, zero) = (cx.int(8), cx.int(12), cx.int(0xff), cx.int(0));
        let is_plain = cx.b.icmp(IntCc::LtU, chosen, eight);
        let is_sign = cx.b.icmp(IntCc::LtU, chosen, twelve);
        let is_zero = cx.b.icmp(IntCc::Eq, chosen, twelve);
        let byte = cx.b.select(is_zero, zero, ones);
        let byte = cx.b.select(is_sign, sign, byte);
        let byte = cx.b.select(is_plain, plain, byte);
        let byte = cx.shl(byte, 8 * at);
        result = cx.b.or(result, byte);
    }
    result
}

/// Declares products of 24 or 16 bits, alone or plus a third operand. If the instruction clamps, it
/// clamps the exact result.
macro_rules! products {
    ($($name:ident: $bits:literal, $signed:literal, $sum:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let [x, y] = [0, 1].map(|n| {
                let x = cx.word(i, n);
                cx.low_bits(x, $bits, $signed)
            });
            let z = if $sum { Some(cx.word(i, 2)) } else { None };
            let result = product(cx, i, [x, y], z, $signed);
            cx.set_word(i, result);
            done()
        }
    )*};
}

products! {
    v_mul_u32_u24: 24, false, false;
    v_mul_i32_i24: 24, true, false;
    v_mad_u32_u24: 24, false, true;
    v_mad_i32_i24: 24, true, true;
    v_mad_u32_u16: 16, false, true;
    v_mad_i32_i16: 16, true, true;
}

fn product(
    cx: &mut Cx<'_>,
    i: &Instruction,
    factors: [Value; 2],
    z: Option<Value>,
    signed: bool,
) -> Value {
    let extend = |cx: &mut Cx<'_>, v| match (i.clamp(), signed) {
        (false, _) => v,
        (true, true) => cx.b.sign_extend(Type::I64, v),
        (true, false) => cx.b.zero_extend(Type::I64, v),
    };
    let [x, y] = factors.map(|v| extend(cx, v));
    let mut result = cx.b.mul(x, y);
    if let Some(z) = z {
        let z = extend(cx, z);
        result = cx.b.add(result, z);
    }
    if !i.clamp() {
        return result;
    }
    let result = if signed {
        let (least, most) = (cx.long(i64::from(i32::MIN) as u64), cx.long(i32::MAX as u64));
        let result = cx.b.max_s(result, least);
        cx.b.min_s(result, most)
    } else {
        let most = cx.long(u32::MAX.into());
        cx.b.min_u(result, most)
    };
    cx.b.trunc(Type::I32, result)
}

/// Returns `x + y`, saturated if the instruction clamps.
fn sum(cx: &mut Cx<'_>, i: &Instruction, x: Value, y: Value, signed: bool) -> Value {
    let (total, carry) = cx.b.add_carry(x, y, None);
    if !i.clamp() {
        return total;
    }
    if !signed {
        let most = cx.int(u32::MAX);
        return cx.b.select(carry, most, total);
    }
    let (a, b) = (cx.b.xor(x, total), cx.b.xor(y, total));
    let overflow = cx.b.and(a, b);
    signed_saturation(cx, total, overflow)
}

/// Returns `x - y`, saturated if the instruction clamps.
fn difference(cx: &mut Cx<'_>, i: &Instruction, x: Value, y: Value, signed: bool) -> Value {
    let total = cx.b.sub(x, y);
    if !i.clamp() {
        return total;
    }
    if !signed {
        let (borrow, zero) = (cx.b.icmp(IntCc::LtU, x, y), cx.int(0));
        return cx.b.select(borrow, zero, total);
    }
    let (a, b) = (cx.b.xor(x, y), cx.b.xor(x, total));
    let overflow = cx.b.and(a, b);
    signed_saturation(cx, total, overflow)
}

/// Returns `total`; where the sign of `overflow` is set, the limit on the side that `total` left.
fn signed_saturation(cx: &mut Cx<'_>, total: Value, overflow: Value) -> Value {
    let zero = cx.int(0);
    let overflows = cx.b.icmp(IntCc::LtS, overflow, zero);
    let (sign, most) = (cx.sar(total, 31), cx.int(0x8000_0000));
    let limit = cx.b.xor(sign, most);
    cx.b.select(overflows, limit, total)
}

macro_rules! sums {
    ($($name:ident: $x:literal $how:ident $y:literal, $signed:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, y) = (cx.word(i, $x), cx.word(i, $y));
            let result = $how(cx, i, x, y, $signed);
            cx.set_word(i, result);
            done()
        }
    )*};
}

sums! {
    v_add_u32: 0 sum 1, false;
    v_sub_u32: 0 difference 1, false;
    v_subrev_u32: 1 difference 0, false;
    v_add_i32: 0 sum 1, true;
    v_sub_i32: 0 difference 1, true;
}

/// Emits a sum with a carry out, of two operands and perhaps a carry in.
fn carry_sum(cx: &mut Cx<'_>, i: &Instruction, carry_in: bool) -> Lifted {
    let (x, y) = (cx.word(i, 0), cx.word(i, 1));
    let carry = carry_in.then(|| cx.lane_mask(i.src(2).operand));
    let (mut total, out) = cx.b.add_carry(x, y, carry);
    if i.clamp() {
        let most = cx.int(u32::MAX);
        total = cx.b.select(out, most, total);
    }
    cx.set_word(i, total);
    set_carry(cx, i, out);
    done()
}

/// Emits a difference with a borrow out.
fn borrow_difference(
    cx: &mut Cx<'_>,
    i: &Instruction,
    [x, y]: [usize; 2],
    borrow_in: bool,
) -> Lifted {
    let (x, y) = (cx.word(i, x), cx.word(i, y));
    let borrow = borrow_in.then(|| cx.lane_mask(i.src(2).operand));
    // x - y - borrow is x + !y + !borrow. A carry out means no borrow.
    let carry = match borrow {
        Some(borrow) => cx.b.not(borrow),
        None => cx.lanes(u64::MAX),
    };
    let inverse = cx.b.not(y);
    let (mut total, out) = cx.b.add_carry(x, inverse, Some(carry));
    let out = cx.b.not(out);
    if i.clamp() {
        let zero = cx.int(0);
        total = cx.b.select(out, zero, total);
    }
    cx.set_word(i, total);
    set_carry(cx, i, out);
    done()
}

/// Writes the carry. Under DPP, only lanes that are written get a new bit.
fn set_carry(cx: &mut Cx<'_>, i: &Instruction, carry: Value) {
    let carry = match cx.dpp_guard(i) {
        Some(guard) => {
            let old = cx.lane_mask(i.sdst());
            let (rest, new) = (cx.b.not(guard), cx.b.and(carry, guard));
            let kept = cx.b.and(old, rest);
            cx.b.or(kept, new)
        }
        None => carry,
    };
    cx.set_lane_mask(i.sdst(), carry);
}

pub fn v_add_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    carry_sum(cx, i, false)
}

pub fn v_addc_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    carry_sum(cx, i, true)
}

pub fn v_sub_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    borrow_difference(cx, i, [0, 1], false)
}

pub fn v_subrev_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    borrow_difference(cx, i, [1, 0], false)
}

pub fn v_subb_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    borrow_difference(cx, i, [0, 1], true)
}

pub fn v_subbrev_co_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    borrow_difference(cx, i, [1, 0], true)
}

/// Emits a product of 64 bits plus a third operand, with the sum's carry.
fn wide_product(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    let (x, y, z) = (cx.word(i, 0), cx.word(i, 1), cx.long_word(i, 2));
    let extend = |cx: &mut Cx<'_>, v| {
        if signed { cx.b.sign_extend(Type::I64, v) } else { cx.b.zero_extend(Type::I64, v) }
    };
    let (x, y) = (extend(cx, x), extend(cx, y));
    let product = cx.b.mul(x, y);
    let (mut total, mut carry) = cx.b.add_carry(product, z, None);
    if signed {
        let (sign, zero) = (cx.sar(total, 63), cx.long(0));
        // The carry is the sign of the exact sum, bit 64.
        let (a, b) = (cx.b.xor(product, total), cx.b.xor(z, total));
        let overflow = cx.b.and(a, b);
        let exact = cx.b.xor(overflow, total);
        carry = cx.b.icmp(IntCc::LtS, exact, zero);
        if i.clamp() {
            let (overflows, most) = (cx.b.icmp(IntCc::LtS, overflow, zero), cx.long(1 << 63));
            let limit = cx.b.xor(sign, most);
            total = cx.b.select(overflows, limit, total);
        }
    } else if i.clamp() {
        let most = cx.long(u64::MAX);
        total = cx.b.select(carry, most, total);
    }
    cx.set_long_word(i, total);
    cx.set_lane_mask(i.sdst(), carry);
    done()
}

pub fn v_mad_u64_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    wide_product(cx, i, false)
}

pub fn v_mad_i64_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    wide_product(cx, i, true)
}

/// Declares shifts of 64 bits.
macro_rules! long_shifts {
    ($($name:ident: $op:ident;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (count, x) = (cx.word(i, 0), cx.long_word(i, 1));
            let count = cx.and_bits(count, 63);
            let count = cx.b.zero_extend(Type::I64, count);
            let result = cx.b.$op(x, count);
            cx.set_long_word(i, result);
            done()
        }
    )*};
}

long_shifts! {
    v_lshlrev_b64: shl;
    v_lshrrev_b64: shr_u;
    v_ashrrev_i64: shr_s;
}

/// Emits one of two sources, by a mask of lanes. The modifiers of floats apply to the sources.
pub fn v_cndmask_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (no, yes, mask) =
        (cx.signed_word(i, 0), cx.signed_word(i, 1), cx.lane_mask(i.src(2).operand));
    let result = cx.b.select(mask, yes, no);
    cx.set_word(i, result);
    done()
}

impl Cx<'_> {
    /// Returns a source of 32 bits, with the modifiers of floats if it has any.
    fn signed_word(&mut self, i: &Instruction, n: usize) -> Value {
        let source = i.src(n);
        if source.neg || source.abs {
            let value = self.f32(i, n);
            return self.cast(Type::I32, value);
        }
        self.word(i, n)
    }
}

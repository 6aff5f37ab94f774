//! Bits of scalar registers: counts, searches, single bits, quads of lanes. SOP1.
//!
//! Source: "Vega" Instruction Set Architecture, "SOP1 Instructions".

use warploom_ir::{Type, UnaryOp, Value};

use super::Lifted;
use super::context::Cx;
use super::scalar_alu::done;
use crate::Instruction;

pub fn s_brev_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    // Compilers write numbers this way.
    let result = match cx.b.constant(x) {
        Some(bits) => cx.int((bits as u32).reverse_bits()),
        None => cx.b.bit_reverse(x),
    };
    cx.set_s32(i, result);
    done()
}

pub fn s_brev_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s64(i, 0);
    let result = cx.b.bit_reverse(x);
    cx.set_s64(i, result);
    done()
}

/// Emits a count as an `i32`.
fn count(cx: &mut Cx<'_>, op: UnaryOp, value: Value) -> Value {
    let count = cx.b.unary(op, value);
    if cx.b.ty(count).ty == Type::I64 { cx.b.trunc(Type::I32, count) } else { count }
}

/// Declares counts of bits: SCC = the result is not 0.
macro_rules! bit_counts {
    ($($name:ident: $get:ident, $not:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let x = cx.$get(i, 0);
            let x = if $not { cx.b.not(x) } else { x };
            let result = count(cx, UnaryOp::Popcnt, x);
            cx.set_s32(i, result);
            cx.set_scc_nonzero(result);
            done()
        }
    )*};
}

bit_counts! {
    s_bcnt0_i32_b32: s32, true;
    s_bcnt0_i32_b64: s64, true;
    s_bcnt1_i32_b32: s32, false;
    s_bcnt1_i32_b64: s64, false;
}

/// Returns the number that `op` counts, or -1 if `value` is 0.
fn found(cx: &mut Cx<'_>, op: UnaryOp, value: Value) -> Value {
    let (number, none, zero) = (count(cx, op, value), cx.int(u32::MAX), cx.is_zero(value));
    cx.b.uniform_select(zero, none, number)
}

/// Declares searches for the lowest 0 or 1, or the highest 1 counted from the top; -1 if there is
/// none.
macro_rules! finds {
    ($($name:ident: $get:ident, $not:literal, $op:ident;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let x = cx.$get(i, 0);
            let x = if $not { cx.b.not(x) } else { x };
            let result = found(cx, UnaryOp::$op, x);
            cx.set_s32(i, result);
            done()
        }
    )*};
}

finds! {
    s_ff0_i32_b32: s32, true, Ctz;
    s_ff0_i32_b64: s64, true, Ctz;
    s_ff1_i32_b32: s32, false, Ctz;
    s_ff1_i32_b64: s64, false, Ctz;
    s_flbit_i32_b32: s32, false, Clz;
    s_flbit_i32_b64: s64, false, Clz;
}

/// Returns the first bit from the top that differs from the sign; -1 if there is none.
fn first_unlike_sign(cx: &mut Cx<'_>, x: Value) -> Value {
    let sign = cx.sar(x, 63.min(cx.b.ty(x).ty.bits() - 1));
    let different = cx.b.xor(x, sign);
    found(cx, UnaryOp::Clz, different)
}

pub fn s_flbit_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let result = first_unlike_sign(cx, x);
    cx.set_s32(i, result);
    done()
}

pub fn s_flbit_i32_i64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s64(i, 0);
    let result = first_unlike_sign(cx, x);
    cx.set_s32(i, result);
    done()
}

pub fn s_sext_i32_i8(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let result = cx.low_bits(x, 8, true);
    cx.set_s32(i, result);
    done()
}

pub fn s_sext_i32_i16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let result = cx.low_bits(x, 16, true);
    cx.set_s32(i, result);
    done()
}

/// Declares instructions that set or clear a bit of the destination.
macro_rules! bit_sets {
    ($($narrow:ident $wide:ident: $set:literal;)*) => {$(
        pub fn $narrow(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (place, old, one) = (cx.s32(i, 0), cx.scalar(i.dst()), cx.int(1));
            let place = cx.and_bits(place, 31);
            let bit = cx.b.shl(one, place);
            let result = with_bit(cx, old, bit, $set);
            cx.set_s32(i, result);
            done()
        }

        pub fn $wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (place, old, one) = (cx.s32(i, 0), cx.scalar_pair(i.dst()), cx.long(1));
            let place = cx.and_bits(place, 63);
            let place = cx.b.zero_extend(Type::I64, place);
            let bit = cx.b.shl(one, place);
            let result = with_bit(cx, old, bit, $set);
            cx.set_s64(i, result);
            done()
        }
    )*};
}

bit_sets! {
    s_bitset0_b32 s_bitset0_b64: false;
    s_bitset1_b32 s_bitset1_b64: true;
}

fn with_bit(cx: &mut Cx<'_>, value: Value, bit: Value, set: bool) -> Value {
    if set {
        return cx.b.or(value, bit);
    }
    let others = cx.b.not(bit);
    cx.b.and(value, others)
}

/// Emits each bit twice.
pub fn s_bitreplicate_b64_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let mut x = cx.b.zero_extend(Type::I64, x);
    // The bits spread out, step by step, to every other place.
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        let high = cx.shl(x, shift);
        let both = cx.b.or(x, high);
        x = cx.and_bits(both, mask);
    }
    let upper = cx.shl(x, 1);
    let result = cx.b.or(x, upper);
    cx.set_s64(i, result);
    done()
}

/// Declares operations on groups of four bits: SCC = the result is not 0.
macro_rules! of_quads {
    ($($(#[$doc:meta])* $narrow:ident $wide:ident: $result:ident;)*) => {$(
        $(#[$doc])*
        pub fn $narrow(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let x = cx.s32(i, 0);
            let wide = cx.b.zero_extend(Type::I64, x);
            let result = $result(cx, wide);
            let result = cx.b.trunc(Type::I32, result);
            cx.set_s32(i, result);
            cx.set_scc_nonzero(result);
            done()
        }

        $(#[$doc])*
        pub fn $wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let x = cx.s64(i, 0);
            let result = $result(cx, x);
            cx.set_s64(i, result);
            cx.set_scc_nonzero(result);
            done()
        }
    )*};
}

of_quads! {
    /// Emits a bit for each group of four bits, set if any bit of the group is set.
    s_quadmask_b32 s_quadmask_b64: quads;
    /// Emits all bits of each group of four bits in which any bit is set.
    s_wqm_b32 s_wqm_b64: whole_quads;
}

/// Returns bit 4n set if any of bits 4n to 4n+3 is set. Other bits are 0.
fn any_of_quads(cx: &mut Cx<'_>, x: Value) -> Value {
    let pairs = cx.shr(x, 1);
    let x = cx.b.or(x, pairs);
    let fours = cx.shr(x, 2);
    let x = cx.b.or(x, fours);
    cx.and_bits(x, 0x1111_1111_1111_1111)
}

fn quads(cx: &mut Cx<'_>, x: Value) -> Value {
    let mut x = any_of_quads(cx, x);
    // The bits gather, step by step, in the low bits.
    for (shift, mask) in [
        (3, 0x0303_0303_0303_0303),
        (6, 0x000f_000f_000f_000f),
        (12, 0x0000_00ff_0000_00ff),
        (24, 0x0000_0000_0000_ffff),
    ] {
        let moved = cx.shr(x, shift);
        let both = cx.b.or(x, moved);
        x = cx.and_bits(both, mask);
    }
    x
}

fn whole_quads(cx: &mut Cx<'_>, x: Value) -> Value {
    let first = any_of_quads(cx, x);
    let fifteen = cx.long(15);
    cx.b.mul(first, fifteen)
}

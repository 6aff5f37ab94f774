//! Scalar arithmetic and logic: SOP2, and a part of SOP1 and SOPK. Bits are in `scalar_bits`.
//!
//! Source: "Vega" Instruction Set Architecture, "SOP2 Instructions", "SOP1 Instructions", "SOPK
//! Instructions".

use warploom_ir::{BinaryOp, IntCc, Type, Value};

use super::context::Cx;
use super::{Flow, Lifted};
use crate::{Instruction, Operand};

impl Cx<'_> {
    /// Returns source `n` as a uniform `i32`.
    pub fn s32(&mut self, i: &Instruction, n: usize) -> Value {
        self.scalar(i.src(n).operand)
    }

    /// Returns source `n` as a uniform `i64`.
    pub fn s64(&mut self, i: &Instruction, n: usize) -> Value {
        self.long_word(i, n)
    }

    /// Returns source `n` of 64 bits as a mask of lanes.
    pub fn s64_mask(&mut self, i: &Instruction, n: usize) -> Value {
        match i.src(n).operand {
            scalar @ Operand::Scalar(_) => self.scalar_mask(scalar),
            _ => {
                let bits = self.s64(i, n);
                self.mask_of(bits)
            }
        }
    }

    pub fn set_s32(&mut self, i: &Instruction, value: Value) {
        self.set_scalar(i.dst(), value);
    }

    /// Writes a mask or an `i64` to the destination.
    pub fn set_s64(&mut self, i: &Instruction, value: Value) {
        self.set_scalar_pair(i.dst(), value);
    }

    /// Returns all lanes if `a cc b`, else none.
    pub fn test(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.b.icmp(cc, a, b)
    }
}

/// Returns the flow to the next instruction.
pub(super) fn done() -> Lifted {
    Ok(Flow::Next)
}

/// Declares bitwise operations of two operands: SCC = the result is not 0.
macro_rules! bitwise {
    ($($narrow:ident $wide:ident: |$b:ident, $x:ident, $y:ident| $result:expr;)*) => {$(
        pub fn $narrow(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let ($x, $y) = (cx.s32(i, 0), cx.s32(i, 1));
            let $b = &mut cx.b;
            let result = $result;
            cx.set_s32(i, result);
            cx.set_scc_nonzero(result);
            done()
        }

        pub fn $wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let ($x, $y) = (cx.s64_mask(i, 0), cx.s64_mask(i, 1));
            let $b = &mut cx.b;
            let result = $result;
            cx.set_s64(i, result);
            cx.set_scc_nonzero(result);
            done()
        }
    )*};
}

bitwise! {
    s_and_b32 s_and_b64: |b, x, y| b.and(x, y);
    s_or_b32 s_or_b64: |b, x, y| b.or(x, y);
    s_xor_b32 s_xor_b64: |b, x, y| b.xor(x, y);
    s_andn2_b32 s_andn2_b64: |b, x, y| {
        let y = b.not(y);
        b.and(x, y)
    };
    s_orn2_b32 s_orn2_b64: |b, x, y| {
        let y = b.not(y);
        b.or(x, y)
    };
    s_nand_b32 s_nand_b64: |b, x, y| {
        let both = b.and(x, y);
        b.not(both)
    };
    s_nor_b32 s_nor_b64: |b, x, y| {
        let either = b.or(x, y);
        b.not(either)
    };
    s_xnor_b32 s_xnor_b64: |b, x, y| {
        let different = b.xor(x, y);
        b.not(different)
    };
}

/// Emits a sum: SCC = carry out.
fn sum(cx: &mut Cx<'_>, i: &Instruction, carry: bool) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    // This adds only the carry to the upper half of an address.
    let carried = match i.src(0).operand {
        Operand::Scalar(number) if carry && cx.b.constant(y) == Some(0) => cx.with_carry(number),
        _ => None,
    };
    let (x, y) = (cx.b.zero_extend(Type::I64, x), cx.b.zero_extend(Type::I64, y));
    let mut total = cx.b.add(x, y);
    if carry {
        let scc = cx.scc();
        let scc = cx.b.from_mask(scc);
        let one = cx.and_bits(scc, 1);
        total = cx.b.add(total, one);
    }
    let (low, high) = (cx.b.trunc(Type::I32, total), cx.b.high_half(total));
    cx.set_s32(i, low);
    if let (Some(known), Operand::Scalar(number)) = (carried, i.dst()) {
        cx.known.set(number, Some(known));
    }
    cx.set_scc_nonzero(high);
    done()
}

pub fn s_add_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sum(cx, i, false)
}

pub fn s_addc_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sum(cx, i, true)
}

/// Emits a difference: SCC = borrow.
fn difference(cx: &mut Cx<'_>, i: &Instruction, borrow: bool) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let (x, y) = (cx.b.zero_extend(Type::I64, x), cx.b.zero_extend(Type::I64, y));
    let mut total = cx.b.sub(x, y);
    if borrow {
        let scc = cx.scc();
        let scc = cx.b.from_mask(scc);
        let one = cx.and_bits(scc, 1);
        total = cx.b.sub(total, one);
    }
    let (low, high) = (cx.b.trunc(Type::I32, total), cx.b.high_half(total));
    cx.set_s32(i, low);
    cx.set_scc_nonzero(high);
    done()
}

pub fn s_sub_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    difference(cx, i, false)
}

pub fn s_subb_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    difference(cx, i, true)
}

/// Sets SCC = signed overflow of `x + y = result`.
fn set_overflow(cx: &mut Cx<'_>, x: Value, y: Value, result: Value) {
    let (a, b) = (cx.b.xor(x, result), cx.b.xor(y, result));
    let both = cx.b.and(a, b);
    let zero = cx.int(0);
    let overflow = cx.test(IntCc::LtS, both, zero);
    cx.set_scc(overflow);
}

pub fn s_add_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let result = cx.b.add(x, y);
    cx.set_s32(i, result);
    set_overflow(cx, x, y, result);
    done()
}

pub fn s_sub_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let result = cx.b.sub(x, y);
    cx.set_s32(i, result);
    // x = result + y overflows where the difference does.
    set_overflow_of_difference(cx, x, y, result);
    done()
}

/// Sets SCC = signed overflow of `x - y = result`.
fn set_overflow_of_difference(cx: &mut Cx<'_>, x: Value, y: Value, result: Value) {
    let (a, b) = (cx.b.xor(x, y), cx.b.xor(x, result));
    let both = cx.b.and(a, b);
    let zero = cx.int(0);
    let overflow = cx.test(IntCc::LtS, both, zero);
    cx.set_scc(overflow);
}

/// Emits a sum of SOPK: the destination is the first operand, the immediate the second.
pub fn s_addk_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.scalar(i.dst()), cx.int(i32::from(i.simm16()) as u32));
    let result = cx.b.add(x, y);
    cx.set_s32(i, result);
    set_overflow(cx, x, y, result);
    done()
}

pub fn s_mulk_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.scalar(i.dst()), cx.int(i32::from(i.simm16()) as u32));
    let result = cx.b.mul(x, y);
    cx.set_s32(i, result);
    done()
}

pub fn s_movk_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = cx.int(i32::from(i.simm16()) as u32);
    cx.set_s32(i, value);
    done()
}

pub fn s_cmovk_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (value, old, scc) = (cx.int(i32::from(i.simm16()) as u32), cx.scalar(i.dst()), cx.scc());
    let result = cx.b.uniform_select(scc, value, old);
    cx.set_s32(i, result);
    done()
}

/// Emits the least or the greatest operand: SCC = the first operand was taken.
fn extremum(cx: &mut Cx<'_>, i: &Instruction, cc: IntCc) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let first = cx.test(cc, x, y);
    let result = cx.b.uniform_select(first, x, y);
    cx.set_s32(i, result);
    cx.set_scc(first);
    done()
}

pub fn s_min_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    extremum(cx, i, IntCc::LtS)
}

pub fn s_min_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    extremum(cx, i, IntCc::LtU)
}

pub fn s_max_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    extremum(cx, i, IntCc::GtS)
}

pub fn s_max_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    extremum(cx, i, IntCc::GtU)
}

pub fn s_cselect_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y, scc) = (cx.s32(i, 0), cx.s32(i, 1), cx.scc());
    let result = cx.b.uniform_select(scc, x, y);
    cx.set_s32(i, result);
    done()
}

pub fn s_cselect_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y, scc) = (cx.s64_mask(i, 0), cx.s64_mask(i, 1), cx.scc());
    let result = cx.b.uniform_select(scc, x, y);
    cx.set_s64(i, result);
    done()
}

/// Declares shifts by the low five or six bits of the count.
macro_rules! shifts {
    ($($narrow:ident $wide:ident: $op:ident;)*) => {$(
        pub fn $narrow(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, count) = (cx.s32(i, 0), cx.s32(i, 1));
            let count = cx.and_bits(count, 31);
            let result = cx.b.binary(BinaryOp::$op, x, count);
            cx.set_s32(i, result);
            cx.set_scc_nonzero(result);
            done()
        }

        pub fn $wide(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, count) = (cx.s64(i, 0), cx.s32(i, 1));
            let count = cx.and_bits(count, 63);
            let count = cx.b.zero_extend(Type::I64, count);
            let result = cx.b.binary(BinaryOp::$op, x, count);
            cx.set_s64(i, result);
            cx.set_scc_nonzero(result);
            done()
        }
    )*};
}

shifts! {
    s_lshl_b32 s_lshl_b64: Shl;
    s_lshr_b32 s_lshr_b64: ShrU;
    s_ashr_i32 s_ashr_i64: ShrS;
}

/// Declares `(x << n) + y`: SCC = carry out.
macro_rules! shifted_sums {
    ($($name:ident: $n:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
            let (x, y) = (cx.b.zero_extend(Type::I64, x), cx.b.zero_extend(Type::I64, y));
            let x = cx.shl(x, $n);
            let total = cx.b.add(x, y);
            let (low, high) = (cx.b.trunc(Type::I32, total), cx.b.high_half(total));
            cx.set_s32(i, low);
            cx.set_scc_nonzero(high);
            done()
        }
    )*};
}

shifted_sums! {
    s_lshl1_add_u32: 1;
    s_lshl2_add_u32: 2;
    s_lshl3_add_u32: 3;
    s_lshl4_add_u32: 4;
}

pub fn s_bfm_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (size, offset) = (cx.s32(i, 0), cx.s32(i, 1));
    // Compilers make floats such as 1.5 this way.
    if let (Some(size), Some(offset)) = (cx.b.constant(size), cx.b.constant(offset)) {
        let result = cx.int(((1 << (size & 31)) - 1) << (offset & 31));
        cx.set_s32(i, result);
        return done();
    }
    let (size, offset) = (cx.and_bits(size, 31), cx.and_bits(offset, 31));
    let one = cx.int(1);
    let top = cx.b.shl(one, size);
    let ones = cx.b.sub(top, one);
    let result = cx.b.shl(ones, offset);
    cx.set_s32(i, result);
    done()
}

pub fn s_bfm_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (size, offset) = (cx.s32(i, 0), cx.s32(i, 1));
    let (size, offset) = (cx.and_bits(size, 63), cx.and_bits(offset, 63));
    let (size, offset) = (cx.b.zero_extend(Type::I64, size), cx.b.zero_extend(Type::I64, offset));
    let one = cx.long(1);
    let top = cx.b.shl(one, size);
    let ones = cx.b.sub(top, one);
    let result = cx.b.shl(ones, offset);
    cx.set_s64(i, result);
    done()
}

pub fn s_mul_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let result = cx.b.mul(x, y);
    cx.set_s32(i, result);
    done()
}

pub fn s_mul_hi_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let result = cx.b.mul_hi_u(x, y);
    cx.set_s32(i, result);
    done()
}

pub fn s_mul_hi_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let result = cx.b.mul_hi_s(x, y);
    cx.set_s32(i, result);
    done()
}

/// Emits a bit field: SCC = the result is not 0. The offset is in the low bits of the second
/// operand, the width from bit 16 on.
fn field(cx: &mut Cx<'_>, i: &Instruction, ty: Type, signed: bool) -> Lifted {
    let value = if ty == Type::I64 { cx.s64(i, 0) } else { cx.s32(i, 0) };
    let spec = cx.s32(i, 1);
    let offset = cx.and_bits(spec, u64::from(ty.bits()) - 1);
    let width = cx.shr(spec, 16);
    let width = cx.and_bits(width, 127);
    let (offset, width) = match ty {
        Type::I64 => (cx.b.zero_extend(ty, offset), cx.b.zero_extend(ty, width)),
        _ => (offset, width),
    };
    // Bits past the top are zeros, or signs: the field begins at `offset` and is cut at the width.
    let all = cx.like(value, u64::from(ty.bits()));
    let width = cx.b.min_u(width, all);
    let space = cx.b.sub(all, width);
    let field = if signed { cx.b.shr_s(value, offset) } else { cx.b.shr_u(value, offset) };
    let top = cx.b.shl(field, space);
    let extended = if signed { cx.b.shr_s(top, space) } else { cx.b.shr_u(top, space) };
    // A field of no bits is 0. The shifts by the whole width give 0 only without a sign.
    let empty = cx.is_zero(width);
    let zero = cx.like(value, 0);
    let result = cx.b.uniform_select(empty, zero, extended);
    if ty == Type::I64 {
        cx.set_s64(i, result)
    } else {
        cx.set_s32(i, result)
    }
    cx.set_scc_nonzero(result);
    done()
}

pub fn s_bfe_u32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    field(cx, i, Type::I32, false)
}

pub fn s_bfe_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    field(cx, i, Type::I32, true)
}

pub fn s_bfe_u64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    field(cx, i, Type::I64, false)
}

pub fn s_bfe_i64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    field(cx, i, Type::I64, true)
}

/// Emits the absolute difference: SCC = the result is not 0.
pub fn s_absdiff_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let difference = cx.b.sub(x, y);
    let result = cx.b.abs(difference);
    cx.set_s32(i, result);
    cx.set_scc_nonzero(result);
    done()
}

/// Emits the absolute value: SCC = the result is not 0.
pub fn s_abs_i32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let result = cx.b.abs(x);
    cx.set_s32(i, result);
    cx.set_scc_nonzero(result);
    done()
}

/// Packs one half of each of two words.
fn pack(cx: &mut Cx<'_>, i: &Instruction, low_high: bool, high_high: bool) -> Lifted {
    let (x, y) = (cx.s32(i, 0), cx.s32(i, 1));
    let low = if low_high { cx.shr(x, 16) } else { cx.and_bits(x, 0xffff) };
    let high = if high_high { cx.and_bits(y, 0xffff_0000) } else { cx.shl(y, 16) };
    let result = cx.b.or(low, high);
    cx.set_s32(i, result);
    done()
}

pub fn s_pack_ll_b32_b16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    pack(cx, i, false, false)
}

pub fn s_pack_lh_b32_b16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    pack(cx, i, false, true)
}

pub fn s_pack_hh_b32_b16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    pack(cx, i, true, true)
}

// SOP1.

pub fn s_mov_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    cx.set_s32(i, x);
    done()
}

pub fn s_mov_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s64_mask(i, 0);
    cx.set_s64(i, x);
    done()
}

pub fn s_cmov_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, old, scc) = (cx.s32(i, 0), cx.scalar(i.dst()), cx.scc());
    let result = cx.b.uniform_select(scc, x, old);
    cx.set_s32(i, result);
    done()
}

pub fn s_cmov_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, old, scc) = (cx.s64_mask(i, 0), cx.scalar_mask(i.dst()), cx.scc());
    let result = cx.b.uniform_select(scc, x, old);
    cx.set_s64(i, result);
    done()
}

pub fn s_not_b32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s32(i, 0);
    let result = cx.b.not(x);
    cx.set_s32(i, result);
    cx.set_scc_nonzero(result);
    done()
}

pub fn s_not_b64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.s64_mask(i, 0);
    let result = cx.b.not(x);
    cx.set_s64(i, result);
    cx.set_scc_nonzero(result);
    done()
}

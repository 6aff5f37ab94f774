//! Integer operations on one value or one vector.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use warploom_ir::{BinaryOp, IntCc, Type, UnaryOp};

use super::vector;
use crate::forms::clif_type;

/// Emits `v + by`, wrapping.
pub fn plus(b: &mut FunctionBuilder, v: Clif, by: i64) -> Clif {
    if by == 0 { v } else { b.ins().iadd_imm_s(v, by) }
}

/// Emits `v << by`.
pub fn shifted_up(b: &mut FunctionBuilder, v: Clif, by: i64) -> Clif {
    if by == 0 { v } else { b.ins().ishl_imm_u(v, by) }
}

/// Joins two words to an `i64`.
pub fn concat(b: &mut FunctionBuilder, low: Clif, high: Clif) -> Clif {
    let [low, high] = [low, high].map(|word| b.ins().uextend(types::I64, word));
    let high = b.ins().ishl_imm_u(high, 32);
    b.ins().bor(low, high)
}

/// Returns the high word of an `i64`.
pub fn high_half(b: &mut FunctionBuilder, v: Clif) -> Clif {
    let high = b.ins().ushr_imm_u(v, 32);
    b.ins().ireduce(types::I32, high)
}

/// Returns a constant, in every lane if it is a vector.
pub fn constant(b: &mut FunctionBuilder, ty: Type, bits: u64, vector: bool) -> Clif {
    if vector {
        // From the constant pool: one instruction.
        let lanes = if ty.bits() == 64 {
            super::vector::longs(b, [bits; 2])
        } else {
            super::vector::words(b, [bits as u32; 4])
        };
        return super::vector::cast(b, clif_type(ty, true), lanes);
    }
    match ty {
        Type::F32 => b.ins().f32const(f32::from_bits(bits as u32)),
        Type::F64 => b.ins().f64const(f64::from_bits(bits)),
        Type::I64 | Type::Mask => b.ins().iconst(types::I64, bits as i64),
        _ => b.ins().iconst(types::I32, i64::from(bits as u32 as i32) & 0xffff_ffff),
    }
}

pub fn condition(cc: IntCc) -> IntCC {
    match cc {
        IntCc::Eq => IntCC::Equal,
        IntCc::Ne => IntCC::NotEqual,
        IntCc::LtS => IntCC::SignedLessThan,
        IntCc::LeS => IntCC::SignedLessThanOrEqual,
        IntCc::GtS => IntCC::SignedGreaterThan,
        IntCc::GeS => IntCC::SignedGreaterThanOrEqual,
        IntCc::LtU => IntCC::UnsignedLessThan,
        IntCc::LeU => IntCC::UnsignedLessThanOrEqual,
        IntCc::GtU => IntCC::UnsignedGreaterThan,
        IntCc::GeU => IntCC::UnsignedGreaterThanOrEqual,
    }
}

/// Makes narrow operands of signed operations comparable: they live zero-extended and are
/// sign-extended here.
pub fn widen_sign(b: &mut FunctionBuilder, ty: Type, a: Clif) -> Clif {
    let shift = 32 - ty.bits().min(32);
    if shift == 0 || ty.bits() == 64 {
        return a;
    }
    let up = b.ins().ishl_imm_u(a, i64::from(shift));
    b.ins().sshr_imm_u(up, i64::from(shift))
}

/// Clears the bits above the type's width.
pub fn narrow(b: &mut FunctionBuilder, ty: Type, a: Clif, vector: bool) -> Clif {
    if ty.bits() >= 32 {
        return a;
    }
    let mask = constant(b, Type::I32, ty.bit_mask(), vector);
    b.ins().band(a, mask)
}

/// Compares vectors; the result is all ones where the comparison holds.
pub fn compare_vector(b: &mut FunctionBuilder, cc: IntCc, ty: Type, x: Clif, y: Clif) -> Clif {
    let (mut x, mut y) = (x, y);
    if cc.is_signed() {
        x = widen_sign(b, ty, x);
        y = widen_sign(b, ty, y);
    }
    if ty.bits() == 64 && matches!(cc, IntCc::LtU | IntCc::LeU | IntCc::GtU | IntCc::GeU) {
        let sign = constant(b, Type::I64, 1 << 63, true);
        let (fx, fy) = (b.ins().bxor(x, sign), b.ins().bxor(y, sign));
        let signed = match cc {
            IntCc::LtU => IntCC::SignedLessThan,
            IntCc::LeU => IntCC::SignedLessThanOrEqual,
            IntCc::GtU => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        return b.ins().icmp(signed, fx, fy);
    }
    match cc {
        // The host's code has complements here, too. They cost nothing if the mask is part of
        // another mask.
        IntCc::Ne | IntCc::LtU | IntCc::GtU => {
            let opposite = b.ins().icmp(condition(cc.inverse()), x, y);
            b.ins().bnot(opposite)
        }
        _ => b.ins().icmp(condition(cc), x, y),
    }
}

/// Compares scalars, with an `i8` as result.
pub fn compare_bit(b: &mut FunctionBuilder, cc: IntCc, ty: Type, x: Clif, y: Clif) -> Clif {
    let (mut x, mut y) = (x, y);
    if cc.is_signed() {
        x = widen_sign(b, ty, x);
        y = widen_sign(b, ty, y);
    }
    b.ins().icmp(condition(cc), x, y)
}

/// Emits a unary operation. Returns `None` if vectors lack it: the caller then takes the lanes
/// apart.
pub fn unary(
    b: &mut FunctionBuilder,
    op: UnaryOp,
    ty: Type,
    a: Clif,
    vector: bool,
) -> Option<Clif> {
    let result = match op {
        UnaryOp::Not => b.ins().bnot(a),
        UnaryOp::Neg => b.ins().ineg(a),
        UnaryOp::Abs if ty == Type::I64 && vector => return None,
        UnaryOp::Abs => {
            let a = widen_sign(b, ty, a);
            b.ins().iabs(a)
        }
        UnaryOp::FNeg if ty == Type::F16 => {
            let sign = constant(b, ty, 0x8000, vector);
            b.ins().bxor(a, sign)
        }
        UnaryOp::FAbs if ty == Type::F16 => {
            let magnitude = constant(b, ty, 0x7fff, vector);
            b.ins().band(a, magnitude)
        }
        UnaryOp::FNeg => b.ins().fneg(a),
        UnaryOp::FAbs => super::float::magnitude(b, ty, a, vector),
        _ if vector => return None,
        UnaryOp::Popcnt => b.ins().popcnt(a),
        UnaryOp::Clz => {
            let n = b.ins().clz(a);
            let excess = 32 - i64::from(ty.bits().min(32));
            if ty.bits() == 64 { n } else { b.ins().iadd_imm_s(n, -excess) }
        }
        UnaryOp::Ctz => {
            let guarded = if ty.bits() < 32 {
                let bound = constant(b, Type::I32, 1 << ty.bits(), false);
                b.ins().bor(a, bound)
            } else {
                a
            };
            b.ins().ctz(guarded)
        }
        UnaryOp::BitReverse => {
            let r = b.ins().bitrev(a);
            if ty.bits() < 32 { b.ins().ushr_imm_u(r, 32 - i64::from(ty.bits())) } else { r }
        }
    };
    Some(narrow(b, if ty.is_float() { Type::F32 } else { ty }, result, vector))
}

pub fn binary(
    b: &mut FunctionBuilder,
    op: BinaryOp,
    ty: Type,
    x: Clif,
    y: Clif,
    vector: bool,
) -> Option<Clif> {
    let wide_vector = vector && ty == Type::I64;
    let result = match op {
        BinaryOp::Add => b.ins().iadd(x, y),
        BinaryOp::Sub => b.ins().isub(x, y),
        BinaryOp::Mul => b.ins().imul(x, y),
        BinaryOp::And => b.ins().band(x, y),
        BinaryOp::Or => b.ins().bor(x, y),
        BinaryOp::Xor => b.ins().bxor(x, y),
        BinaryOp::MinU | BinaryOp::MaxU if !wide_vector => {
            if op == BinaryOp::MinU {
                b.ins().umin(x, y)
            } else {
                b.ins().umax(x, y)
            }
        }
        BinaryOp::MinS | BinaryOp::MaxS if !wide_vector => {
            let (x, y) = (widen_sign(b, ty, x), widen_sign(b, ty, y));
            if op == BinaryOp::MinS { b.ins().smin(x, y) } else { b.ins().smax(x, y) }
        }
        BinaryOp::MinU | BinaryOp::MaxU | BinaryOp::MinS | BinaryOp::MaxS => {
            let cc = match op {
                BinaryOp::MinU => IntCc::LtU,
                BinaryOp::MaxU => IntCc::GtU,
                BinaryOp::MinS => IntCc::LtS,
                _ => IntCc::GtS,
            };
            let first = compare_vector(b, cc, ty, x, y);
            b.ins().bitselect(first, x, y)
        }
        BinaryOp::MulHiS | BinaryOp::MulHiU if vector && !wide_vector => {
            high_product(b, op, ty, x, y)
        }
        BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU
            if vector && !wide_vector =>
        {
            divide_vector(b, op, ty, x, y)
        }
        _ if vector => return None,
        BinaryOp::MulHiS | BinaryOp::MulHiU if ty == Type::I64 => {
            if op == BinaryOp::MulHiS {
                b.ins().smulhi(x, y)
            } else {
                b.ins().umulhi(x, y)
            }
        }
        BinaryOp::MulHiS | BinaryOp::MulHiU => {
            let extend = |b: &mut FunctionBuilder, v| {
                if op == BinaryOp::MulHiS {
                    let v = widen_sign(b, ty, v);
                    b.ins().sextend(types::I64, v)
                } else {
                    b.ins().uextend(types::I64, v)
                }
            };
            let (x, y) = (extend(b, x), extend(b, y));
            let product = b.ins().imul(x, y);
            let high = b.ins().ushr_imm_u(product, i64::from(ty.bits()));
            b.ins().ireduce(types::I32, high)
        }
        BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU => {
            divide(b, op, ty, x, y)
        }
        BinaryOp::Shl | BinaryOp::ShrU | BinaryOp::ShrS => {
            return Some(shift(b, op, ty, x, y, None));
        }
        BinaryOp::RotL if ty.bits() >= 32 => b.ins().rotl(x, y),
        BinaryOp::RotL => rotate(b, ty, x, y),
    };
    Some(narrow(b, ty, result, vector))
}

/// Returns the upper halves of the products of a vector's words or narrower integers.
fn high_product(b: &mut FunctionBuilder, op: BinaryOp, ty: Type, x: Clif, y: Clif) -> Clif {
    let signed = op == BinaryOp::MulHiS;
    let (x, y) = if signed { (widen_sign(b, ty, x), widen_sign(b, ty, y)) } else { (x, y) };
    if ty.bits() < 32 {
        let product = b.ins().imul(x, y);
        return b.ins().ushr_imm_u(product, i64::from(ty.bits()));
    }
    let [x, y] = [x, y].map(|v| match signed {
        true => [b.ins().swiden_low(v), b.ins().swiden_high(v)],
        false => [b.ins().uwiden_low(v), b.ins().uwiden_high(v)],
    });
    let products = [0, 1].map(|part| b.ins().imul(x[part], y[part]));
    let high = vector::shuffle_words(b, products[0], products[1], [1, 3, 5, 7]);
    vector::cast(b, types::I32X4, high)
}

/// Returns quotients or remainders of a vector's words or narrower integers.
///
/// `f64` holds all of these integers, and its truncated quotients are exact: a quotient that is no
/// whole number is further from the next one than its rounding error, as the product of quotient
/// and divisor is below 2^53.
fn divide_vector(b: &mut FunctionBuilder, op: BinaryOp, ty: Type, x: Clif, y: Clif) -> Clif {
    /// 2^52. The low bits of its sum with a whole number are the number's bits. With 2^51 more,
    /// this holds for negative numbers, too.
    const WHOLE: u64 = 0x433 << 52;
    const SIGNED: u64 = WHOLE | 1 << 51;
    let signed = matches!(op, BinaryOp::DivS | BinaryOp::RemS);
    let (x, y) = if signed { (widen_sign(b, ty, x), widen_sign(b, ty, y)) } else { (x, y) };
    let whole = constant(b, Type::F64, if signed { SIGNED } else { WHOLE }, true);
    let floats = |b: &mut FunctionBuilder, v: Clif| match signed {
        true => {
            let upper = vector::shuffle_words(b, v, v, [2, 3, 2, 3]);
            [v, upper].map(|v| {
                let wide = b.ins().swiden_low(v);
                b.ins().fcvt_from_sint(types::F64X2, wide)
            })
        }
        false => {
            let bits = constant(b, Type::I64, WHOLE, true);
            [b.ins().uwiden_low(v), b.ins().uwiden_high(v)].map(|wide| {
                let sum = b.ins().bor(wide, bits);
                let sum = vector::cast(b, types::F64X2, sum);
                b.ins().fsub(sum, whole)
            })
        }
    };
    let (dividends, divisors) = (floats(b, x), floats(b, y));
    let quotients = [0, 1].map(|part| {
        let quotient = b.ins().fdiv(dividends[part], divisors[part]);
        let cut = b.ins().trunc(quotient);
        b.ins().fadd(cut, whole)
    });
    let quotient = vector::shuffle_words(b, quotients[0], quotients[1], [0, 2, 4, 6]);
    let quotient = vector::cast(b, types::I32X4, quotient);
    let result = match op {
        BinaryOp::DivS | BinaryOp::DivU => quotient,
        _ => {
            let product = b.ins().imul(quotient, y);
            b.ins().isub(x, product)
        }
    };
    // A result of a division by 0 is all ones.
    let zero = constant(b, Type::I32, 0, true);
    let by_zero = b.ins().icmp(IntCC::Equal, y, zero);
    b.ins().bor(result, by_zero)
}

/// Returns a scalar quotient or remainder. The host's division never gets a divisor for which it
/// traps.
fn divide(b: &mut FunctionBuilder, op: BinaryOp, ty: Type, x: Clif, y: Clif) -> Clif {
    let signed = matches!(op, BinaryOp::DivS | BinaryOp::RemS);
    let (x, y) = if signed { (widen_sign(b, ty, x), widen_sign(b, ty, y)) } else { (x, y) };
    let (one, ones) = (constant(b, ty, 1, false), constant(b, ty, ty.bit_mask(), false));
    let by_zero = b.ins().icmp_imm_u(IntCC::Equal, y, 0);
    let mut divisor = b.ins().select(by_zero, one, y);
    let result = match op {
        BinaryOp::DivU => b.ins().udiv(x, divisor),
        BinaryOp::RemU => b.ins().urem(x, divisor),
        _ => {
            let minus_one = b.ins().icmp_imm_s(IntCC::Equal, y, -1);
            divisor = b.ins().select(minus_one, one, divisor);
            if op == BinaryOp::RemS {
                b.ins().srem(x, divisor)
            } else {
                let quotient = b.ins().sdiv(x, divisor);
                let negated = b.ins().ineg(x);
                b.ins().select(minus_one, negated, quotient)
            }
        }
    };
    b.ins().select(by_zero, ones, result)
}

/// Shifts a scalar by a scalar count that may be too large. `known` is the count if it is a
/// constant.
pub fn shift(
    b: &mut FunctionBuilder,
    op: BinaryOp,
    ty: Type,
    x: Clif,
    count: Clif,
    known: Option<u64>,
) -> Clif {
    let width = i64::from(ty.bits());
    if known.is_some_and(|n| n < width as u64) {
        let result = match op {
            BinaryOp::Shl => b.ins().ishl(x, count),
            BinaryOp::ShrU => b.ins().ushr(x, count),
            _ => {
                let x = widen_sign(b, ty, x);
                b.ins().sshr(x, count)
            }
        };
        return narrow(b, ty, result, false);
    }
    let inside = b.ins().icmp_imm_u(IntCC::UnsignedLessThan, count, width);
    let zero = constant(b, ty, 0, false);
    let result = match op {
        BinaryOp::Shl => {
            let shifted = b.ins().ishl(x, count);
            b.ins().select(inside, shifted, zero)
        }
        BinaryOp::ShrU => {
            let shifted = b.ins().ushr(x, count);
            b.ins().select(inside, shifted, zero)
        }
        _ => {
            let x = widen_sign(b, ty, x);
            let most = constant(b, ty, width as u64 - 1, false);
            let clamped = b.ins().select(inside, count, most);
            b.ins().sshr(x, clamped)
        }
    };
    narrow(b, ty, result, false)
}

/// Shifts all lanes of a vector by one count. `count` is a scalar of the type.
pub fn shift_vector(
    b: &mut FunctionBuilder,
    op: BinaryOp,
    ty: Type,
    x: Clif,
    count: &ShiftCount,
) -> Clif {
    let width = ty.bits();
    let result = match *count {
        ShiftCount::Constant(n) if n >= u64::from(width) => match op {
            BinaryOp::ShrS => {
                let x = widen_sign(b, ty, x);
                b.ins().sshr_imm_u(x, i64::from(if ty.bits() == 64 { 63 } else { 31 }))
            }
            _ => constant(b, ty, 0, true),
        },
        ShiftCount::Constant(n) => match op {
            BinaryOp::Shl => b.ins().ishl_imm_u(x, n as i64),
            BinaryOp::ShrU => b.ins().ushr_imm_u(x, n as i64),
            _ => {
                let x = widen_sign(b, ty, x);
                b.ins().sshr_imm_u(x, n as i64)
            }
        },
        ShiftCount::Scalar(count) => {
            let inside = b.ins().icmp_imm_u(IntCC::UnsignedLessThan, count, i64::from(width));
            match op {
                BinaryOp::ShrS => {
                    let x = widen_sign(b, ty, x);
                    let most = constant(b, ty, u64::from(width) - 1, false);
                    let clamped = b.ins().select(inside, count, most);
                    b.ins().sshr(x, clamped)
                }
                _ => {
                    let shifted = if op == BinaryOp::Shl {
                        b.ins().ishl(x, count)
                    } else {
                        b.ins().ushr(x, count)
                    };
                    let element = if ty.bits() == 64 { types::I64 } else { types::I32 };
                    let keep = b.ins().bmask(element, inside);
                    let keep = b.ins().splat(clif_type(ty, true), keep);
                    b.ins().band(shifted, keep)
                }
            }
        }
    };
    narrow(b, ty, result, true)
}

/// Rotates a scalar, or all lanes of a vector, by one scalar count.
///
/// CLIF takes the counts of shifts modulo the width of the cell. For a count of 0, the second shift
/// therefore gives `x` or 0, and the result is `x`.
pub fn rotate(b: &mut FunctionBuilder, ty: Type, x: Clif, count: Clif) -> Clif {
    let vector = b.func.dfg.value_type(x).is_vector();
    let width = constant(b, ty, ty.bits().into(), false);
    let up = b.ins().band_imm_u(count, i64::from(ty.bits()) - 1);
    let down = b.ins().isub(width, up);
    let (high, low) = (b.ins().ishl(x, up), b.ins().ushr(x, down));
    let both = b.ins().bor(high, low);
    narrow(b, ty, both, vector)
}

pub enum ShiftCount {
    Constant(u64),
    Scalar(Clif),
}

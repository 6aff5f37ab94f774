//! Integer operations, and bitwise operations on floats.

use super::super::op::{BinaryOp, IntCc, UnaryOp};
use super::super::types::Type;
use super::{each1, each2, mask_of, sign_extend};

pub fn unary(op: UnaryOp, ty: Type, a: &[u64], out: &mut [u64]) {
    let bits = ty.bits();
    let all = ty.bit_mask();
    let sign = 1 << (bits - 1);
    match op {
        UnaryOp::Not => each1(a, out, |a| !a & all),
        UnaryOp::Neg => each1(a, out, |a| a.wrapping_neg() & all),
        UnaryOp::Abs => each1(a, out, |a| sign_extend(ty, a).unsigned_abs() & all),
        UnaryOp::Popcnt => each1(a, out, |a| a.count_ones().into()),
        UnaryOp::Clz => each1(a, out, |a| (a.leading_zeros() - (64 - bits)).into()),
        UnaryOp::Ctz => each1(a, out, |a| a.trailing_zeros().min(bits).into()),
        UnaryOp::BitReverse => each1(a, out, |a| a.reverse_bits() >> (64 - bits)),
        UnaryOp::FNeg => each1(a, out, |a| a ^ sign),
        UnaryOp::FAbs => each1(a, out, |a| a & !sign),
    }
}

pub fn binary(op: BinaryOp, ty: Type, a: &[u64], b: &[u64], out: &mut [u64]) {
    let bits = ty.bits();
    let all = ty.bit_mask();
    let signed = |x| sign_extend(ty, x);
    match op {
        BinaryOp::Add => each2(a, b, out, |a, b| a.wrapping_add(b) & all),
        BinaryOp::Sub => each2(a, b, out, |a, b| a.wrapping_sub(b) & all),
        BinaryOp::Mul => each2(a, b, out, |a, b| a.wrapping_mul(b) & all),
        BinaryOp::MulHiS => each2(a, b, out, |a, b| {
            ((i128::from(signed(a)) * i128::from(signed(b))) >> bits) as u64 & all
        }),
        BinaryOp::MulHiU => {
            each2(a, b, out, |a, b| ((u128::from(a) * u128::from(b)) >> bits) as u64)
        }
        BinaryOp::DivS | BinaryOp::RemS => {
            let divide = if op == BinaryOp::DivS { i64::wrapping_div } else { i64::wrapping_rem };
            each2(
                a,
                b,
                out,
                |a, b| if b == 0 { all } else { divide(signed(a), signed(b)) as u64 & all },
            );
        }
        BinaryOp::DivU => each2(a, b, out, |a, b| a.checked_div(b).unwrap_or(all)),
        BinaryOp::RemU => each2(a, b, out, |a, b| a.checked_rem(b).unwrap_or(all)),
        BinaryOp::And => each2(a, b, out, |a, b| a & b),
        BinaryOp::Or => each2(a, b, out, |a, b| a | b),
        BinaryOp::Xor => each2(a, b, out, |a, b| a ^ b),
        BinaryOp::Shl => each2(a, b, out, |a, b| if b < bits.into() { a << b & all } else { 0 }),
        BinaryOp::ShrU => each2(a, b, out, |a, b| if b < bits.into() { a >> b } else { 0 }),
        BinaryOp::ShrS => each2(a, b, out, |a, b| (signed(a) >> b.min(63)) as u64 & all),
        BinaryOp::RotL => each2(a, b, out, |a, b| {
            let by = b % u64::from(bits);
            (a << by | a.checked_shr(bits - by as u32).unwrap_or(0)) & all
        }),
        BinaryOp::MinS => each2(a, b, out, |a, b| if signed(a) < signed(b) { a } else { b }),
        BinaryOp::MinU => each2(a, b, out, |a, b| a.min(b)),
        BinaryOp::MaxS => each2(a, b, out, |a, b| if signed(a) > signed(b) { a } else { b }),
        BinaryOp::MaxU => each2(a, b, out, |a, b| a.max(b)),
    }
}

/// Adds rows and returns the carries as a mask. Bit `i` of `carry` is the carry into element `i`.
pub fn add_carry(ty: Type, a: &[u64], b: &[u64], carry: u64, out: &mut [u64]) -> u64 {
    let mut carries = 0;
    for (i, ((out, &a), &b)) in out.iter_mut().zip(a).zip(b).enumerate() {
        let sum = u128::from(a) + u128::from(b) + u128::from(carry >> i & 1);
        *out = sum as u64 & ty.bit_mask();
        carries |= ((sum >> ty.bits()) as u64 & 1) << i;
    }
    carries
}

pub fn icmp(cc: IntCc, ty: Type, a: &[u64], b: &[u64]) -> u64 {
    let signed = |x| sign_extend(ty, x);
    match cc {
        IntCc::Eq => mask_of(a, b, |a, b| a == b),
        IntCc::Ne => mask_of(a, b, |a, b| a != b),
        IntCc::LtS => mask_of(a, b, |a, b| signed(a) < signed(b)),
        IntCc::LeS => mask_of(a, b, |a, b| signed(a) <= signed(b)),
        IntCc::GtS => mask_of(a, b, |a, b| signed(a) > signed(b)),
        IntCc::GeS => mask_of(a, b, |a, b| signed(a) >= signed(b)),
        IntCc::LtU => mask_of(a, b, |a, b| a < b),
        IntCc::LeU => mask_of(a, b, |a, b| a <= b),
        IntCc::GtU => mask_of(a, b, |a, b| a > b),
        IntCc::GeU => mask_of(a, b, |a, b| a >= b),
    }
}

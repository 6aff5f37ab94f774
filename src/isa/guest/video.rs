//! Video instructions of NVIDIA: exact results of numbers that are parts of words, saturated and
//! put together.
//!
//! Source: PTX ISA, *Video Instructions*, which the compiler maps one to one to Maxwell's video
//! instructions; facts, `maxwell-semantics.md` 2.5 and `ptx.md` 2.13.

use warploom_ir::{IntCc, Type, Value};

use super::bits::{Emit, add_carry, shl};
use super::divergence::Mask;

/// A source, extended to an `i64` by its own type.
#[derive(Clone, Copy)]
pub struct Number {
    pub value: Value,
    pub signed: bool,
}

pub fn wide<'a>(cx: &mut impl Emit<'a>, value: i64) -> Value {
    cx.constant_of(Type::I64, value as u64)
}

pub fn extend<'a>(cx: &mut impl Emit<'a>, word: Value, signed: bool) -> Value {
    let b = cx.builder();
    if signed { b.sign_extend(Type::I64, word) } else { b.zero_extend(Type::I64, word) }
}

/// Clamps a signed number to the range of a type of `bits` bits.
pub fn clamp<'a>(cx: &mut impl Emit<'a>, value: Value, signed: bool, bits: u32) -> Value {
    let (least, most) =
        if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let ty = cx.builder().ty(value).ty;
    let (least, most): (i64, i64) = (least, most);
    let (least, most) = (cx.constant_of(ty, least as u64), cx.constant_of(ty, most as u64));
    let value = cx.builder().max_s(value, least);
    cx.builder().min_s(value, most)
}

/// Returns `a << count`, for a later clamp if `saturate`.
pub fn shifted_left<'a>(cx: &mut impl Emit<'a>, a: Number, count: Value, saturate: bool) -> Value {
    let value = cx.builder().shl(a.value, count);
    if saturate && !a.signed {
        // The result has up to 64 bits, and `clamp` must not see a great number as negative.
        let most = wide(cx, i64::MAX);
        return cx.builder().min_u(value, most);
    }
    value
}

/// Replaces bits of `c` from bit `lo` on by the low `bits` bits of a word.
pub fn merged<'a>(cx: &mut impl Emit<'a>, value: Value, c: Value, lo: u32, bits: u32) -> Value {
    let mask = ((1 << bits) - 1) << lo;
    let (new, old) = (cx.constant_of(Type::I32, mask), cx.constant_of(Type::I32, !mask));
    let placed = shl(cx, value, lo);
    let b = cx.builder();
    let (new, old) = (b.and(placed, new), b.and(c, old));
    b.or(new, old)
}

/// A product, a word added to it, and the treatment of the sum.
pub struct ProductSum {
    pub factors: [Number; 2],
    pub product_negated: bool,
    /// An `i32`.
    pub c: Value,
    pub c_negated: bool,
    pub plus_one: bool,
    /// The number of bits by which the sum is shifted right.
    pub scale: u32,
    pub saturate: bool,
}

impl ProductSum {
    /// Emits the result as an `i32`. The product of two words and the sum take up to 66 bits: the
    /// low 64 bits, and a word of higher bits.
    pub fn emit<'a>(self, cx: &mut impl Emit<'a>) -> Value {
        let [a, b] = self.factors;
        let signed_factors = a.signed || b.signed;
        // Only the product of unsigned words can have 64 bits, and then they are its magnitude.
        let (bits, zero) = (wide(cx, 63), wide(cx, 0));
        let mut low = cx.builder().mul(a.value, b.value);
        let mut high = if signed_factors { cx.builder().shr_s(low, bits) } else { zero };
        if self.product_negated {
            (low, high) = (cx.builder().not(low), cx.builder().not(high));
        }
        let signed = signed_factors || self.product_negated;
        let mut c = extend(cx, self.c, signed);
        if self.c_negated {
            c = cx.builder().not(c);
        }
        // An unsigned C has a negative high word only as a complement.
        let c_high = if signed || self.c_negated { cx.builder().shr_s(c, bits) } else { zero };
        let plus_one = self.product_negated || self.c_negated || self.plus_one;
        let (sum, carry) = add_carry(cx, low, c, Mask::of(plus_one));
        let high = cx.builder().add(high, c_high);
        let (one, none) = (wide(cx, 1), wide(cx, 0));
        let carry = carry.value(cx.builder());
        let carried = cx.builder().select(carry, one, none);
        let high = cx.builder().add(high, carried);
        self.finish(cx, sum, high, signed || self.c_negated)
    }

    fn finish<'a>(&self, cx: &mut impl Emit<'a>, sum: Value, high: Value, signed: bool) -> Value {
        let bits = wide(cx, 63);
        let (low, high) = if self.scale == 0 {
            (sum, high)
        } else {
            let (down, up) = (wide(cx, self.scale.into()), wide(cx, i64::from(64 - self.scale)));
            let b = cx.builder();
            let (kept, moved) = (b.shr_u(sum, down), b.shl(high, up));
            (b.or(kept, moved), b.shr_s(high, down))
        };
        let result = if self.saturate {
            // A number that does not fit into 64 bits becomes the most distant `i64` of its sign.
            let most = wide(cx, i64::MAX);
            let b = cx.builder();
            let sign = b.shr_s(low, bits);
            let fits = b.icmp(IntCc::Eq, high, sign);
            let far = b.shr_s(high, bits);
            let far = b.xor(far, most);
            let near = b.select(fits, low, far);
            clamp(cx, near, signed, 32)
        } else {
            low
        };
        cx.builder().trunc(Type::I32, result)
    }
}

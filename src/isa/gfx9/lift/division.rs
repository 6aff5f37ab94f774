//! The steps of an exact division that frame Newton's iterations.
//!
//! Source: the pseudocode of "AMD Instinct MI300" Instruction Set Architecture, corrected where a division after it would not be
//! exact, by what CLRX (GcnInstrsVop3) found that the hardware does; `docs/fidelity.md` says where.

use crate::ir::{FloatAttrs, FloatCc, IntCc, Round, Type, Value};
use crate::isa::gfx9::Instruction;

use super::context::Cx;
use super::floats::{float_lifts, infinity, sign};
use super::flow::{Flow, Lifted};

float_lifts! { F32:
    v_div_scale_f32 = scale;
    v_div_fmas_f32 = fmas;
    v_div_fixup_f32 = fixup;
}

float_lifts! { F64:
    v_div_scale_f64 = scale;
    v_div_fmas_f64 = fmas;
    v_div_fixup_f64 = fixup;
}

float_lifts! { F16:
    v_div_fixup_f16 = fixup;
    v_div_fixup_legacy_f16 = fixup;
}

/// Of a division in `f32` or `f64`.
struct Limits {
    /// Exponents of operands and results are moved by so much.
    step: i32,
    /// Quotients with so great an exponent come near infinity.
    near_infinity: u32,
    /// Numerators with so small an exponent field leave residuals that are denormal.
    tiny: u32,
    /// The reciprocals of greater numbers are denormal.
    great: u64,
    /// Quotients with a smaller exponent are 0.
    vanish: i32,
}

fn limits(ty: Type) -> Limits {
    match ty {
        Type::F64 => Limits { step: 128, near_infinity: 768, tiny: 53, great: 0x7fd0 << 48, vanish: -1075 },
        _ => Limits { step: 64, near_infinity: 96, tiny: 23, great: 0x7e80_0000, vanish: -150 },
    }
}

impl Cx<'_> {
    fn magnitude(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x).ty;
        let bits = self.bits_of(x);
        self.and_bits(bits, sign(ty) - 1)
    }

    /// The exponent field, an `i32`.
    fn exponent_field(&mut self, x: Value) -> Value {
        let magnitude = self.magnitude(x);
        if self.b.ty(x).ty == Type::F64 {
            let high = self.b.high_half(magnitude);
            return self.shr(high, 20);
        }
        self.shr(magnitude, 23)
    }

    fn is_zero_float(&mut self, x: Value) -> Value {
        let magnitude = self.magnitude(x);
        let zero = self.like(magnitude, 0);
        self.b.icmp(IntCc::Eq, magnitude, zero)
    }

    fn is_infinite(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x).ty;
        let magnitude = self.magnitude(x);
        let infinity = self.like(magnitude, infinity(ty));
        self.b.icmp(IntCc::Eq, magnitude, infinity)
    }

    /// x * 2^n for a constant n, without flushing.
    fn times(&mut self, x: Value, n: i32) -> Value {
        let power = self.number(self.b.ty(x).ty, 2f64.powi(n));
        self.b.fmul(FloatAttrs::IEEE, x, power)
    }
}

/// S0, which is the denominator S1 or the numerator S2, moved so that the iterations meet no denormals; the mask says whether
/// the quotient has to be moved back.
fn scale(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let limits = limits(ty);
    let [x, d, n] = [0, 1, 2].map(|k| {
        let v = cx.float(ty, i, k);
        cx.flushed(v)
    });
    let (ed, en) = (cx.exponent_field(d), cx.exponent_field(n));
    let (zero_d, zero_n) = (cx.is_zero_float(d), cx.is_zero_float(n));
    let no_quotient = cx.b.or(zero_d, zero_n);

    let (difference, near) = (cx.b.sub(en, ed), cx.int(limits.near_infinity));
    let great_quotient = cx.b.icmp(IntCc::GeS, difference, near);
    let none = cx.int(0);
    let denormal_d = cx.b.icmp(IntCc::Eq, ed, none);
    let quotient = cx.b.fdiv(FloatAttrs::IEEE, n, d);
    let denormal_quotient = is_denormal(cx, quotient);
    let great_d = {
        let magnitude = cx.magnitude(d);
        let (least, infinite) = (cx.like(magnitude, limits.great), cx.like(magnitude, infinity(ty)));
        let (above, below) = (cx.b.icmp(IntCc::GtU, magnitude, least), cx.b.icmp(IntCc::LtU, magnitude, infinite));
        cx.b.and(above, below)
    };
    let tiny = cx.int(limits.tiny);
    let tiny_n = cx.b.icmp(IntCc::LeU, en, tiny);

    let (up, down) = (cx.times(x, limits.step), cx.times(x, -limits.step));
    let (is_d, is_n) = (cx.b.fcmp(FloatCc::Eq, false, x, d), cx.b.fcmp(FloatCc::Eq, false, x, n));
    let (d_up, n_up, d_down) = (cx.b.select(is_d, up, x), cx.b.select(is_n, up, x), cx.b.select(is_d, down, x));
    let value = cx.b.select(tiny_n, up, x);
    let value = cx.b.select(denormal_quotient, n_up, value);
    let both = cx.b.select(denormal_quotient, d_down, down);
    let value = cx.b.select(great_d, both, value);
    let value = cx.b.select(denormal_d, up, value);
    let value = cx.b.select(great_quotient, d_up, value);
    let nan = cx.nan(ty);
    let value = cx.b.select(no_quotient, nan, value);

    let usual_d = cx.b.not(denormal_d);
    let back = cx.b.and(denormal_quotient, usual_d);
    let back = cx.b.or(back, great_quotient);
    let some_quotient = cx.b.not(no_quotient);
    let back = cx.b.and(back, some_quotient);
    cx.set_float(i, value)?;
    cx.set_lane_mask(i.sdst(), back);
    Ok(Flow::Next)
}

fn is_denormal(cx: &mut Cx<'_>, x: Value) -> Value {
    let ty = cx.b.ty(x).ty;
    let magnitude = cx.magnitude(x);
    let one = cx.like(magnitude, 1);
    let offset = cx.b.sub(magnitude, one);
    let count = cx.like(magnitude, (1 << infinity(ty).trailing_zeros()) - 1);
    cx.b.icmp(IntCc::LtU, offset, count)
}

/// S0 * S1 + S2. Where the mask is set the result is moved back: up if S2 is at least 2, else down. It is rounded once if S2 is
/// near it, as the quotient of the iterations is.
fn fmas(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let step = limits(ty).step;
    let [x, y, z] = [0, 1, 2].map(|k| cx.float(ty, i, k));
    let moved = cx.lane_mask(i.src(3).operand);
    let attrs = FloatAttrs { flush: false, ..cx.mode.attrs(ty) };
    let plain = cx.b.fma(attrs, x, y, z);
    let (two, size) = (cx.number(ty, 2.0), cx.b.fabs(z));
    let great = cx.b.fcmp(FloatCc::GeU, false, size, two);
    let up = cx.times(plain, step);
    let down = moved_down(cx, attrs, [x, y, z], step);
    let result = cx.b.select(great, up, down);
    let value = cx.b.select(moved, result, plain);
    let value = cx.flushed(value);
    cx.set_float(i, value)
}

/// (x * y + z) / 2^step.
fn moved_down(cx: &mut Cx<'_>, attrs: FloatAttrs, [x, y, z]: [Value; 3], step: i32) -> Value {
    let ty = cx.b.ty(x).ty;
    let factor = cx.number(ty, 2f64.powi(-step));
    let nearest = cx.b.fma(FloatAttrs::IEEE, x, y, z);
    let rest = cx.b.fsub(FloatAttrs::IEEE, z, nearest);
    let error = cx.b.fma(FloatAttrs::IEEE, x, y, rest);
    let zero = cx.b.iconst(ty, 0);
    let least = cx.b.iconst(ty, 1 << infinity(ty).trailing_zeros());
    if attrs.round != Round::Nearest {
        // Of an inexact result the last bit is made 1, which is enough for a denormal one.
        let plain = cx.b.fma(attrs, x, y, z);
        let inexact = cx.b.fcmp(FloatCc::Ne, false, error, zero);
        let odd = to_odd(cx, nearest, error, inexact);
        let (result, of_odd) = (cx.b.fmul(attrs, plain, factor), cx.b.fmul(attrs, odd, factor));
        let size = cx.b.fabs(result);
        let denormal = cx.b.fcmp(FloatCc::Lt, false, size, least);
        return cx.b.select(denormal, of_odd, result);
    }
    let result = cx.b.fmul(attrs, nearest, factor);
    let back = cx.times(result, step);
    let lost = cx.b.fsub(FloatAttrs::IEEE, nearest, back);
    // Midway between two denormals the error decides, not which is even.
    let half = match ty {
        Type::F64 => cx.number(ty, 2f64.powi(-1075 + step)),
        _ => cx.number(ty, 2f64.powi(-150 + step)),
    };
    let size = cx.b.fabs(lost);
    let midway = cx.b.fcmp(FloatCc::Eq, false, size, half);
    let (lost_bits, error_bits) = (cx.bits_of(lost), cx.bits_of(error));
    let (signs, limit) = (cx.b.xor(lost_bits, error_bits), cx.like(lost_bits, sign(ty)));
    let same_sign = cx.b.icmp(IntCc::LtU, signs, limit);
    let inexact = cx.b.fcmp(FloatCc::Ne, false, error, zero);
    let further = cx.b.and(midway, same_sign);
    let further = cx.b.and(further, inexact);
    let next = cx.b.fadd(FloatAttrs::IEEE, nearest, lost);
    let next = cx.b.fmul(FloatAttrs::IEEE, next, factor);
    cx.b.select(further, next, result)
}

/// A result that lacks `error`, with the last bit 1 if it is not exact.
fn to_odd(cx: &mut Cx<'_>, nearest: Value, error: Value, inexact: Value) -> Value {
    let ty = cx.b.ty(nearest).ty;
    let (bits, error) = (cx.bits_of(nearest), cx.bits_of(error));
    let other_sign = cx.b.xor(bits, error);
    let step = cx.sar(other_sign, ty.bits() - 1);
    let one = cx.like(bits, 1);
    let step = cx.b.or(step, one);
    let neighbour = cx.b.add(bits, step);
    let (last, none) = (cx.and_bits(bits, 1), cx.like(bits, 0));
    let even = cx.b.icmp(IntCc::Eq, last, none);
    let adjust = cx.b.and(inexact, even);
    let odd = cx.b.select(adjust, neighbour, bits);
    cx.cast(ty, odd)
}

/// The quotient S0 of S2 by S1, or what it is where there is none.
fn fixup(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let [q, d, n] = [0, 1, 2].map(|k| {
        let v = cx.float(ty, i, k);
        cx.flushed(v)
    });
    let (d_bits, n_bits) = (cx.bits_of(d), cx.bits_of(n));
    let signs = cx.b.xor(d_bits, n_bits);
    let sign_out = cx.and_bits(signs, sign(ty));
    // Of overflowing iterations a NaN is left.
    let lost = cx.b.fcmp(FloatCc::Nan, false, q, q);
    let (infinite, zero) = (cx.b.iconst(ty, infinity(ty)), cx.b.iconst(ty, 0));
    let size = cx.b.fabs(q);
    let mut size = cx.b.select(lost, infinite, size);
    if ty != Type::F16 {
        let (ed, en) = (cx.exponent_field(d), cx.exponent_field(n));
        let (difference, bound) = (cx.b.sub(en, ed), cx.int(limits(ty).vanish as u32));
        let vanishes = cx.b.icmp(IntCc::LtS, difference, bound);
        let nothing = underflow(cx, ty, sign_out);
        size = cx.b.select(vanishes, nothing, size);
    }
    let (zero_d, zero_n) = (cx.is_zero_float(d), cx.is_zero_float(n));
    let (infinite_d, infinite_n) = (cx.is_infinite(d), cx.is_infinite(n));
    let to_zero = cx.b.or(infinite_d, zero_n);
    let size = cx.b.select(to_zero, zero, size);
    let to_infinity = cx.b.or(zero_d, infinite_n);
    let size = cx.b.select(to_infinity, infinite, size);
    let size = cx.bits_of(size);
    let signed = cx.b.or(size, sign_out);
    let signed = cx.cast(ty, signed);
    // 0 / 0, infinity / infinity, NaNs.
    let neither = cx.b.and(to_zero, to_infinity);
    let nan = cx.b.fcmp(FloatCc::Nan, false, d, n);
    let neither = cx.b.or(neither, nan);
    let nan = cx.nan(ty);
    let value = cx.b.select(neither, nan, signed);
    let value = cx.flushed(value);
    cx.set_float(i, value)
}

/// The size of what is less than half the least number.
fn underflow(cx: &mut Cx<'_>, ty: Type, sign_out: Value) -> Value {
    let attrs = cx.mode.attrs(ty);
    if matches!(attrs.round, Round::Nearest | Round::Zero) {
        return cx.b.iconst(ty, 0);
    }
    let least = cx.b.iconst(ty, 1 << infinity(ty).trailing_zeros());
    let bits = cx.bits_of(least);
    let signed = cx.b.or(bits, sign_out);
    let signed = cx.cast(ty, signed);
    let product = cx.b.fmul(FloatAttrs { flush: false, ..attrs }, signed, least);
    cx.b.fabs(product)
}

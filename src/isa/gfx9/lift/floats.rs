//! The parts that the float instructions of all three widths share.
//!
//! Sources: "Vega" Instruction Set Architecture; the pseudocode of the "AMD Instinct MI300"
//! document, whose vector instructions are equal. Where both leave a question open: CLRX,
//! GcnInstrsVop1 to 3. Decisions are in `docs/fidelity.md`.

use warploom_ir::{
    FloatAttrs, FloatBinaryOp, FloatCc, FloatUnaryOp, IntCc, Round, SharedFn, Type, Value,
};

use super::context::Cx;
use super::flow::{Flow, Lifted};
use crate::{Instruction, Operand};

/// Declares lift functions that differ only in the function that they compute of a float of one
/// type.
macro_rules! float_lifts {
    ($ty:ident: $($(#[$doc:meta])* $name:ident = $f:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            $f(cx, i, Type::$ty)
        }
    )*};
}
pub(super) use float_lifts;

impl Cx<'_> {
    /// Returns a float source of this type.
    pub fn float(&mut self, ty: Type, i: &Instruction, n: usize) -> Value {
        match ty {
            Type::F16 => self.f16(i, n),
            Type::F32 => self.f32(i, n),
            _ => self.f64(i, n),
        }
    }

    /// Writes a float to the destination.
    pub fn set_float(&mut self, i: &Instruction, value: Value) -> Lifted {
        match self.b.ty(value).ty {
            Type::F16 => self.set_f16(i, value),
            Type::F32 => self.set_f32(i, value),
            _ => self.set_f64(i, value),
        }
        Ok(Flow::Next)
    }

    /// Returns the destination's old value.
    fn accumulator(&mut self, ty: Type, i: &Instruction) -> Value {
        let Operand::Vector(number) = i.dst() else { return self.b.iconst(ty, 0) };
        if ty == Type::F64 {
            let bits = self.vector_pair_of(3, number);
            return self.cast(ty, bits);
        }
        let mut bits = self.vector_of(3, number);
        if ty == Type::F16 {
            if i.op_sel() & 8 != 0 {
                bits = self.shr(bits, 16);
            }
            bits = self.b.trunc(Type::I16, bits);
        }
        self.cast(ty, bits)
    }

    /// Returns a constant float of type `ty`.
    pub fn number(&mut self, ty: Type, value: f64) -> Value {
        let bits = match ty {
            Type::F16 => half::f16::from_f64(value).to_bits().into(),
            Type::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        };
        self.b.iconst(ty, bits)
    }

    pub fn ieee(&self) -> bool {
        self.mode.bits() & 0x200 != 0
    }

    /// Returns the value with denormals as the mode treats them; NaNs become quiet.
    pub fn plain(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        let attrs = FloatAttrs { round: Round::Nearest, ..self.mode.attrs(ty) };
        self.b.funary(FloatUnaryOp::Copy, attrs, value)
    }

    /// Returns the value, with denormals as zeros if the mode says so.
    pub fn flushed(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        if self.mode.flush(ty) { self.plain(value) } else { value }
    }

    /// Returns the bits of a float as an integer.
    pub fn bits_of(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        self.cast(ty.as_int(), value)
    }

    /// Returns the lanes in which the value is a signaling NaN.
    fn is_signaling(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        let infinity = infinity(ty);
        let bits = self.bits_of(value);
        let magnitude = self.and_bits(bits, sign(ty) - 1);
        let first = self.like(bits, infinity + 1);
        let offset = self.b.sub(magnitude, first);
        let count = self.like(bits, quiet(ty) - 1);
        self.b.icmp(IntCc::LtU, offset, count)
    }

    /// Returns the lesser or the greater of two numbers.
    ///
    /// A NaN loses against a number. In IEEE mode a signaling NaN wins and becomes quiet.
    pub fn extreme(&mut self, op: FloatBinaryOp, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x).ty;
        let attrs = FloatAttrs { round: Round::Nearest, ..self.mode.attrs(ty) };
        let result = self.b.fbinary(op, attrs, x, y);
        if !self.ieee() {
            return result;
        }
        let (first, second) = (self.is_signaling(x), self.is_signaling(y));
        let any = self.b.or(first, second);
        let nan = self.nan(ty);
        self.b.select(any, nan, result)
    }

    pub fn nan(&mut self, ty: Type) -> Value {
        self.b.iconst(ty, super::NAN.canonical(ty))
    }

    /// Returns x * y + z, with product and sum each rounded. Denormals are zeros in every mode.
    pub fn mad(&mut self, x: Value, y: Value, z: Value) -> Value {
        let attrs = self.mad_attrs(self.b.ty(x).ty);
        let product = self.b.fmul(attrs, x, y);
        self.b.fadd(attrs, product, z)
    }

    pub fn mad_attrs(&self, ty: Type) -> FloatAttrs {
        FloatAttrs { flush: true, ..self.mode.attrs(ty) }
    }

    /// Returns x * y, but 0 if a factor is 0.
    pub fn legacy_product(&mut self, attrs: FloatAttrs, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x).ty;
        let zero = self.b.iconst(ty, 0);
        let first = self.b.fcmp(FloatCc::Eq, attrs.flush, x, zero);
        let second = self.b.fcmp(FloatCc::Eq, attrs.flush, y, zero);
        let any = self.b.or(first, second);
        let product = self.b.fmul(attrs, x, y);
        self.b.select(any, zero, product)
    }

    /// Returns 2^n in this type (`F32`, `F64`); n is an `i32` within the exponents of normal
    /// numbers.
    pub fn power(&mut self, ty: Type, n: Value) -> Value {
        let bias = self.int(if ty == Type::F64 { 1023 } else { 127 });
        let exponent = self.b.add(n, bias);
        if ty == Type::F64 {
            let (low, high) = (self.int(0), self.shl(exponent, 20));
            let bits = self.b.concat(low, high);
            return self.cast(ty, bits);
        }
        let bits = self.shl(exponent, 23);
        self.cast(ty, bits)
    }

    /// Clamps an `i32` between two bounds.
    pub fn between(&mut self, n: Value, least: i32, greatest: i32) -> Value {
        let (least, greatest) = (self.int(least as u32), self.int(greatest as u32));
        let n = self.b.max_s(n, least);
        self.b.min_s(n, greatest)
    }

    /// Returns x * 2^n, rounded once, with the mode's attributes.
    pub fn scaled(&mut self, x: Value, n: Value) -> Value {
        let attrs = self.mode.attrs(self.b.ty(x).ty);
        let x = self.flushed(x);
        self.scaled_by(attrs, x, n)
    }

    /// Returns x * 2^n, rounded once.
    pub fn scaled_by(&mut self, attrs: FloatAttrs, x: Value, n: Value) -> Value {
        let ty = self.b.ty(x).ty;
        let exact = FloatAttrs { flush: false, saturate: false, ..attrs };
        match ty {
            // The product is a number of the next format.
            Type::F16 | Type::F32 => {
                let (wide, bound) =
                    if ty == Type::F16 { (Type::F32, 60) } else { (Type::F64, 400) };
                let n = self.between(n, -bound, bound);
                let power = self.power(wide, n);
                let x = self.b.fconvert(wide, exact, x);
                let product = self.b.fmul(FloatAttrs::IEEE, x, power);
                self.b.fconvert(ty, attrs, product)
            }
            // Multiplies in steps. Only the last step rounds, or the earlier steps lose far less
            // than the last step rounds.
            _ => {
                let (mut x, mut n) = (x, n);
                for _ in 0..2 {
                    let (step, up) = self.step(n);
                    x = self.b.fmul(exact, x, up);
                    n = self.b.sub(n, step);
                }
                let n = self.between(n, -1022, 1023);
                let power = self.power(ty, n);
                self.b.fmul(attrs, x, power)
            }
        }
    }

    /// Returns the part of a great exponent that one factor takes, and that factor.
    fn step(&mut self, n: Value) -> (Value, Value) {
        let (great, small) = (self.int(1023), self.int(-1022i32 as u32));
        let (up, down) = (self.b.icmp(IntCc::GtS, n, great), self.b.icmp(IntCc::LtS, n, small));
        let (zero, back) = (self.int(0), self.int(-969i32 as u32));
        let step = self.b.select(down, back, zero);
        let step = self.b.select(up, great, step);
        (step, self.power(Type::F64, step))
    }

    /// Returns a fraction and an exponent (`i32`) such that `x` is fraction * 2^exponent.
    ///
    /// The fraction's magnitude is at least 1/2 and less than 1. For 0, both are 0. For an infinity
    /// or a NaN, the fraction is `x` itself and the exponent 0.
    pub fn fraction_and_exponent(&mut self, x: Value) -> (Value, Value) {
        let ty = self.b.ty(x).ty;
        if ty == Type::F16 {
            // The conversion is exact.
            let x = self.flushed(x);
            let wide = self.b.fconvert(Type::F32, FloatAttrs::IEEE, x);
            let (fraction, exponent) = self.parts(wide);
            return (self.b.fconvert(ty, FloatAttrs::IEEE, fraction), exponent);
        }
        let x = self.flushed(x);
        self.parts(x)
    }

    fn parts(&mut self, x: Value) -> (Value, Value) {
        let ty = self.b.ty(x).ty;
        let (mantissa, bias) = if ty == Type::F64 { (52, 1023) } else { (23, 127) };
        let bits = self.bits_of(x);
        let magnitude = self.and_bits(bits, sign(ty) - 1);
        // The shift that moves the first 1 of a denormal to the place of a normal number's first 1.
        let zeros = self.b.clz(magnitude);
        let spare = self.like(bits, u64::from(ty.bits() - 1 - mantissa));
        let shift = self.b.sub(zeros, spare);
        let least = self.like(bits, 1 << mantissa);
        let denormal = self.b.icmp(IntCc::LtU, magnitude, least);
        let one = self.like(bits, 1);
        let (shifted, below) = (self.b.shl(magnitude, shift), self.b.sub(one, shift));
        let above = self.shr(magnitude, mantissa);
        let exponent = self.b.select(denormal, below, above);
        let digits = self.b.select(denormal, shifted, magnitude);
        let digits = self.and_bits(digits, (1 << mantissa) - 1);
        let (half, sign_bit) =
            (self.like(bits, (bias - 1) << mantissa), self.and_bits(bits, sign(ty)));
        let fraction = self.b.or(digits, half);
        let fraction = self.b.or(fraction, sign_bit);
        let fraction = self.cast(ty, fraction);
        let bias = self.like(bits, bias - 1);
        let exponent = self.b.sub(exponent, bias);
        let exponent = if ty == Type::F64 { self.b.trunc(Type::I32, exponent) } else { exponent };
        // True if `x` is neither 0 nor infinite nor NaN.
        let infinite = self.like(bits, infinity(ty) - 1);
        let offset = self.b.sub(magnitude, one);
        let usual = self.b.icmp(IntCc::LtU, offset, infinite);
        let (itself, none) = (self.b.funary(FloatUnaryOp::Copy, FloatAttrs::IEEE, x), self.int(0));
        (self.b.select(usual, fraction, itself), self.b.select(usual, exponent, none))
    }

    /// Returns `f` of an `f16`, computed as an `f32` and rounded to `f16`.
    pub fn through_f32(&mut self, x: Value, f: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let attrs = FloatAttrs { round: Round::Nearest, ..self.mode.attrs(Type::F16) };
        let wide = self.b.fconvert(Type::F32, attrs, x);
        let result = f(self, wide);
        self.b.fconvert(Type::F16, attrs, result)
    }
}

/// Returns the sign bit of a float type.
///
/// [`infinity`] returns the bits of infinity. [`quiet`] returns the first mantissa bit, which is
/// set in a quiet NaN.
pub fn sign(ty: Type) -> u64 {
    1 << (ty.bits() - 1)
}

pub fn infinity(ty: Type) -> u64 {
    match ty {
        Type::F16 => 0x7c00,
        Type::F32 => 0x7f80_0000,
        _ => 0x7ff0 << 48,
    }
}

pub fn quiet(ty: Type) -> u64 {
    super::NAN.canonical(ty) & !infinity(ty)
}

macro_rules! binary {
    ($($name:ident: |$cx:ident, $x:ident, $y:ident, $attrs:ident| $body:expr;)*) => {$(
        pub fn $name($cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
            let ($x, $y, $attrs) = ($cx.float(ty, i, 0), $cx.float(ty, i, 1), $cx.mode.attrs(ty));
            let value = $body;
            $cx.set_float(i, value)
        }
    )*};
}

binary! {
    add: |cx, x, y, attrs| cx.b.fadd(attrs, x, y);
    sub: |cx, x, y, attrs| cx.b.fsub(attrs, x, y);
    subrev: |cx, x, y, attrs| cx.b.fsub(attrs, y, x);
    mul: |cx, x, y, attrs| cx.b.fmul(attrs, x, y);
    mul_legacy: |cx, x, y, attrs| cx.legacy_product(attrs, x, y);
}

/// Emits the lesser or greater of two sources.
///
/// If both sources are one operand, it only emits a copy, which quiets NaNs.
fn least_or_greatest(cx: &mut Cx<'_>, i: &Instruction, ty: Type, op: FloatBinaryOp) -> Lifted {
    let x = cx.float(ty, i, 0);
    let value = if i.src(0) == i.src(1) && i.dpp().is_none() {
        cx.plain(x)
    } else {
        let y = cx.float(ty, i, 1);
        cx.extreme(op, x, y)
    };
    cx.set_float(i, value)
}

pub fn min(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    least_or_greatest(cx, i, ty, FloatBinaryOp::Min)
}

pub fn max(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    least_or_greatest(cx, i, ty, FloatBinaryOp::Max)
}

fn three(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> [Value; 3] {
    [0, 1, 2].map(|n| cx.float(ty, i, n))
}

pub fn mad(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let [x, y, z] = three(cx, i, ty);
    let value = cx.mad(x, y, z);
    cx.set_float(i, value)
}

pub fn mad_legacy_rules(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let [x, y, z] = three(cx, i, ty);
    let attrs = cx.mad_attrs(ty);
    let product = cx.legacy_product(attrs, x, y);
    let value = cx.b.fadd(attrs, product, z);
    cx.set_float(i, value)
}

pub fn mac(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let (x, y, z) = (cx.float(ty, i, 0), cx.float(ty, i, 1), cx.accumulator(ty, i));
    let value = cx.mad(x, y, z);
    cx.set_float(i, value)
}

pub fn fma(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let ([x, y, z], attrs) = (three(cx, i, ty), cx.mode.attrs(ty));
    let value = cx.b.fma(attrs, x, y, z);
    cx.set_float(i, value)
}

pub fn fmac(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let (x, y, z) = (cx.float(ty, i, 0), cx.float(ty, i, 1), cx.accumulator(ty, i));
    let attrs = cx.mode.attrs(ty);
    let value = cx.b.fma(attrs, x, y, z);
    cx.set_float(i, value)
}

fn extreme_of_three(cx: &mut Cx<'_>, op: FloatBinaryOp, [x, y, z]: [Value; 3]) -> Value {
    let two = cx.extreme(op, x, y);
    cx.extreme(op, two, z)
}

pub fn min3(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let values = three(cx, i, ty);
    let value = extreme_of_three(cx, FloatBinaryOp::Min, values);
    cx.set_float(i, value)
}

pub fn max3(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let values = three(cx, i, ty);
    let value = extreme_of_three(cx, FloatBinaryOp::Max, values);
    cx.set_float(i, value)
}

/// Emits the median of three sources; if one is a NaN, the least.
pub fn med3(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let values @ [x, y, z] = three(cx, i, ty);
    let attrs = cx.mode.attrs(ty);
    let least = extreme_of_three(cx, FloatBinaryOp::Min, values);
    let (xy, xz, yz) = (cx.b.fmax(attrs, x, y), cx.b.fmax(attrs, x, z), cx.b.fmax(attrs, y, z));
    let greatest = cx.b.fmax(attrs, xy, z);
    let is_y = cx.b.fcmp(FloatCc::Eq, attrs.flush, greatest, y);
    let is_x = cx.b.fcmp(FloatCc::Eq, attrs.flush, greatest, x);
    let rest = cx.b.select(is_y, xz, xy);
    let rest = cx.b.select(is_x, yz, rest);
    let (two, third) = (cx.b.fcmp(FloatCc::Nan, false, x, y), cx.b.fcmp(FloatCc::Nan, false, z, z));
    let nan = cx.b.or(two, third);
    let value = cx.b.select(nan, least, rest);
    cx.set_float(i, value)
}

fn integral(cx: &mut Cx<'_>, i: &Instruction, ty: Type, round: Round) -> Lifted {
    let x = cx.float(ty, i, 0);
    let attrs = FloatAttrs { round, ..cx.mode.attrs(ty) };
    let value = cx.b.funary(FloatUnaryOp::Integral, attrs, x);
    cx.set_float(i, value)
}

pub fn trunc(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    integral(cx, i, ty, Round::Zero)
}

pub fn ceil(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    integral(cx, i, ty, Round::Up)
}

pub fn floor(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    integral(cx, i, ty, Round::Down)
}

pub fn rndne(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    integral(cx, i, ty, Round::Nearest)
}

/// Emits the distance from the next integral number below; it is less than 1.
pub fn fract(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let (x, attrs) = (cx.float(ty, i, 0), cx.mode.attrs(ty));
    let below = cx.b.funary(FloatUnaryOp::Integral, FloatAttrs { round: Round::Down, ..attrs }, x);
    let rest = cx.b.fsub(attrs, x, below);
    let one = cx.number(ty, 1.0);
    let one = cx.bits_of(one);
    let ulp = cx.like(one, 1);
    let last = cx.b.sub(one, ulp);
    let last = cx.cast(ty, last);
    let great = cx.b.fcmp(FloatCc::Gt, false, rest, last);
    let value = cx.b.select(great, last, rest);
    cx.set_float(i, value)
}

pub fn frexp_mant(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let x = cx.float(ty, i, 0);
    let (fraction, _) = cx.fraction_and_exponent(x);
    cx.set_float(i, fraction)
}

/// Emits the exponent, an integer.
pub fn frexp_exp(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    super::convert::no_omod(i)?;
    let x = cx.float(ty, i, 0);
    let (_, exponent) = cx.fraction_and_exponent(x);
    if ty == Type::F16 {
        cx.set_half_word(i, exponent)
    } else {
        cx.set_word(i, exponent)
    }
    Ok(Flow::Next)
}

/// Emits the source times a power of two; the exponent is an integer.
pub fn ldexp(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    super::convert::no_sign(i, 1)?;
    let x = cx.float(ty, i, 0);
    let n = if ty == Type::F16 { cx.half_word(i, 1, true) } else { cx.word(i, 1) };
    let value = cx.scaled(x, n);
    cx.set_float(i, value)
}

/// Emits a function of an `f32`.
pub fn shared(cx: &mut Cx<'_>, i: &Instruction, function: SharedFn) -> Lifted {
    let x = cx.f32(i, 0);
    let value = cx.b.shared(function, x);
    cx.set_float(i, value)
}

/// Emits a function of an `f16`, computed as an `f32`.
pub fn shared_half(cx: &mut Cx<'_>, i: &Instruction, function: SharedFn) -> Lifted {
    let x = cx.f16(i, 0);
    let value = cx.through_f32(x, |cx, x| cx.b.shared(function, x));
    cx.set_float(i, value)
}

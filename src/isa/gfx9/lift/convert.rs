//! Conversions of the vector unit.
//!
//! Sources: "Vega" Instruction Set Architecture, VOP1 and VOP3 instructions; CLRX, GcnInstrsVop1
//! and GcnInstrsVop3, for rounding and NaNs; LLVM for operands. Decisions are in
//! `docs/fidelity.md`.

use warploom_ir::{FloatAttrs, IntCc, Round, Type, Value};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use crate::{Instruction, Operand, Sel};

/// Checks that the instruction has no output modifier, as an integer result has none.
pub fn no_omod(i: &Instruction) -> Result<(), Unsupported> {
    if i.omod() == 0 { Ok(()) } else { Err(Unsupported) }
}

/// Checks that an integer source has no sign modifier, which VOP3 could give it.
pub fn no_sign(i: &Instruction, n: usize) -> Result<(), Unsupported> {
    let source = i.src(n);
    if source.sext && source.sel == Sel::Dword || source.neg { Err(Unsupported) } else { Ok(()) }
}

/// Converts a float to an integer. A NaN gives 0; a number out of range gives the nearest integer.
fn to_int(cx: &mut Cx<'_>, to: Type, signed: bool, round: Round, x: Value) -> Value {
    cx.b.float_to_int(to, signed, round, false, 0, x)
}

macro_rules! float_to_int {
    ($($name:ident: $from:ident to $signed:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            no_omod(i)?;
            let x = cx.float(Type::$from, i, 0);
            let value = to_int(cx, Type::I32, $signed, Round::Zero, x);
            cx.set_word(i, value);
            Ok(Flow::Next)
        }
    )*};
}

float_to_int! {
    v_cvt_i32_f32: F32 to true;
    v_cvt_u32_f32: F32 to false;
    v_cvt_i32_f64: F64 to true;
    v_cvt_u32_f64: F64 to false;
}

macro_rules! int_to_float {
    ($($name:ident: $signed:literal to $to:ident;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, round) = (cx.word(i, 0), cx.mode.attrs(Type::$to).round);
            let value = cx.b.int_to_float(Type::$to, $signed, round, x);
            cx.set_float(i, value)
        }
    )*};
}

int_to_float! {
    v_cvt_f32_i32: true to F32;
    v_cvt_f32_u32: false to F32;
    v_cvt_f64_i32: true to F64;
    v_cvt_f64_u32: false to F64;
}

fn from_half_word(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    let (x, round) = (cx.half_word(i, 0, signed), cx.mode.attrs(Type::F16).round);
    let value = cx.b.int_to_float(Type::F16, signed, round, x);
    cx.set_float(i, value)
}

pub fn v_cvt_f16_u16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    from_half_word(cx, i, false)
}

pub fn v_cvt_f16_i16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    from_half_word(cx, i, true)
}

/// Saturates an integer to 16 bits.
fn saturated(cx: &mut Cx<'_>, value: Value, signed: bool) -> Value {
    if signed { cx.between(value, -0x8000, 0x7fff) } else { cx.between(value, 0, 0xffff) }
}

fn to_half_word(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    no_omod(i)?;
    let x = cx.f16(i, 0);
    // All numbers of f16 fit in 32 bits.
    let value = to_int(cx, Type::I32, true, Round::Zero, x);
    let value = saturated(cx, value, signed);
    cx.set_half_word(i, value);
    Ok(Flow::Next)
}

pub fn v_cvt_u16_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    to_half_word(cx, i, false)
}

pub fn v_cvt_i16_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    to_half_word(cx, i, true)
}

/// Converts an `f32` to an `f16`, with the mode's treatment of denormals for each type.
pub(super) fn halved(cx: &mut Cx<'_>, round: Round, x: Value) -> Value {
    let x = cx.flushed(x);
    let attrs = FloatAttrs { round, ..cx.mode.attrs(Type::F16) };
    cx.b.fconvert(Type::F16, attrs, x)
}

pub fn v_cvt_f16_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, round) = (cx.f32(i, 0), cx.mode.attrs(Type::F16).round);
    let value = halved(cx, round, x);
    cx.set_float(i, value)
}

pub fn v_cvt_f32_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f16(i, 0);
    let value = widened(cx, x);
    cx.set_float(i, value)
}

/// Converts an `f16` to an `f32`.
pub(super) fn widened(cx: &mut Cx<'_>, x: Value) -> Value {
    let attrs = exact(cx, Type::F16);
    cx.b.fconvert(Type::F32, attrs, x)
}

/// Returns the attributes of a conversion to a wider type.
fn exact(cx: &Cx<'_>, from: Type) -> FloatAttrs {
    FloatAttrs { flush: cx.mode.flush(from), ..FloatAttrs::IEEE }
}

pub fn v_cvt_f64_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, attrs) = (cx.f32(i, 0), exact(cx, Type::F32));
    let value = cx.b.fconvert(Type::F64, attrs, x);
    cx.set_float(i, value)
}

pub fn v_cvt_f32_f64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, attrs) = (cx.f64(i, 0), cx.mode.attrs(Type::F32));
    let value = cx.b.fconvert(Type::F32, attrs, x);
    cx.set_float(i, value)
}

/// Converts a float to a signed integer, rounded down.
///
/// A NaN gives the greatest integer, or the least if the NaN is negative.
fn floor_to_int(cx: &mut Cx<'_>, x: Value) -> Value {
    let number = cx.b.float_to_int(Type::I32, true, Round::Down, false, 0x7fff_ffff, x);
    let (bits, negative_infinity) = (cx.bits_of(x), cx.int(0xff80_0000));
    let negative_nan = cx.b.icmp(IntCc::GtU, bits, negative_infinity);
    let least = cx.int(0x8000_0000);
    cx.b.select(negative_nan, least, number)
}

/// Converts x + 1/2, computed as an `f32`, to an integer, rounded down.
pub fn v_cvt_rpi_i32_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    no_omod(i)?;
    let (x, half) = (cx.f32(i, 0), cx.number(Type::F32, 0.5));
    let sum = cx.b.fadd(FloatAttrs::IEEE, x, half);
    let nan = cx.b.fcmp(warploom_ir::FloatCc::Nan, false, x, x);
    // The sum has lost the sign of a NaN.
    let sum = cx.b.select(nan, x, sum);
    let value = floor_to_int(cx, sum);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

pub fn v_cvt_flr_i32_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    no_omod(i)?;
    let x = cx.f32(i, 0);
    let value = floor_to_int(cx, x);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

/// Converts four bits, signed and in sixteenths, to an `f32`.
pub fn v_cvt_off_f32_i4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.word(i, 0);
    let x = cx.low_bits(x, 4, true);
    let whole = cx.b.int_to_float(Type::F32, true, Round::Nearest, x);
    let sixteenth = cx.number(Type::F32, 1.0 / 16.0);
    let value = cx.b.fmul(FloatAttrs::IEEE, whole, sixteenth);
    cx.set_float(i, value)
}

macro_rules! byte {
    ($($name:ident = $lo:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let x = cx.word(i, 0);
            let x = if $lo == 0 { x } else { cx.shr(x, $lo) };
            let x = cx.low_bits(x, 8, false);
            let value = cx.b.int_to_float(Type::F32, true, Round::Nearest, x);
            cx.set_float(i, value)
        }
    )*};
}

byte! {
    v_cvt_f32_ubyte0 = 0;
    v_cvt_f32_ubyte1 = 8;
    v_cvt_f32_ubyte2 = 16;
    v_cvt_f32_ubyte3 = 24;
}

/// Converts a number of [-1, 1] or [0, 1] to a part of the greatest 16-bit integer.
///
/// The product is exact, then rounded to nearest even. A NaN gives 0.
fn normalized(cx: &mut Cx<'_>, x: Value, signed: bool) -> Value {
    let one = if signed { 0x7fff } else { 0xffff };
    let x = cx.flushed(x);
    let wide = cx.b.fconvert(Type::F64, FloatAttrs::IEEE, x);
    let factor = cx.number(Type::F64, one.into());
    let product = cx.b.fmul(FloatAttrs::IEEE, wide, factor);
    let value = to_int(cx, Type::I32, true, Round::Nearest, product);
    cx.between(value, if signed { -one } else { 0 }, one)
}

fn normalized_half(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    no_omod(i)?;
    let x = cx.f16(i, 0);
    let value = normalized(cx, x, signed);
    cx.set_half_word(i, value);
    Ok(Flow::Next)
}

pub fn v_cvt_norm_i16_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    normalized_half(cx, i, true)
}

pub fn v_cvt_norm_u16_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    normalized_half(cx, i, false)
}

impl Cx<'_> {
    /// Packs the low halves of two integers into an `i32`.
    pub fn packed(&mut self, low: Value, high: Value) -> Value {
        let (low, high) = (self.low_bits(low, 16, false), self.shl(high, 16));
        self.b.or(low, high)
    }

    /// Packs two `f16` into an `i32`.
    pub fn packed_halves(&mut self, [low, high]: [Value; 2]) -> Value {
        let [low, high] = [low, high].map(|half| {
            let bits = self.bits_of(half);
            self.b.zero_extend(Type::I32, bits)
        });
        let high = self.shl(high, 16);
        self.b.or(low, high)
    }
}

macro_rules! pack {
    ($($(#[$doc:meta])* $name:ident: |$cx:ident, $i:ident, $n:ident| $part:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name($cx: &mut Cx<'_>, $i: &Instruction) -> Lifted {
            no_omod($i)?;
            let [low, high] = [0, 1].map(|$n| $part);
            let value = $cx.packed(low, high);
            $cx.set_word($i, value);
            Ok(Flow::Next)
        }
    )*};
}

pack! {
    v_cvt_pknorm_i16_f32: |cx, i, n| { let x = cx.f32(i, n); normalized(cx, x, true) };
    v_cvt_pknorm_u16_f32: |cx, i, n| { let x = cx.f32(i, n); normalized(cx, x, false) };
    v_cvt_pknorm_i16_f16: |cx, i, n| { let x = cx.f16(i, n); normalized(cx, x, true) };
    v_cvt_pknorm_u16_f16: |cx, i, n| { let x = cx.f16(i, n); normalized(cx, x, false) };
}

/// Packs two `f32` as `f16`, rounded toward zero.
pub fn v_cvt_pkrtz_f16_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let halves = [0, 1].map(|n| {
        let x = cx.f32(i, n);
        let half = halved(cx, Round::Zero, x);
        cx.float_result(i, half)
    });
    let value = cx.packed_halves(halves);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

/// Emits an `f32` as a byte, in the byte of `rest` that source 1 names.
fn byte_into(cx: &mut Cx<'_>, i: &Instruction, rest: Value) -> Lifted {
    let (x, place) = (cx.f32(i, 0), cx.word(i, 1));
    let round = cx.mode.attrs(Type::F32).round;
    let byte = to_int(cx, Type::I32, true, round, x);
    let byte = cx.between(byte, 0, 255);
    let place = cx.and_bits(place, 3);
    let (shift, ones) = (cx.shl(place, 3), cx.int(0xff));
    let (byte, hole) = (cx.b.shl(byte, shift), cx.b.shl(ones, shift));
    let hole = cx.b.not(hole);
    let rest = cx.b.and(rest, hole);
    let value = cx.b.or(rest, byte);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

pub fn v_cvt_pk_u8_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    no_sign(i, 1)?;
    no_sign(i, 2)?;
    let rest = cx.word(i, 2);
    byte_into(cx, i, rest)
}

/// Emits an `f32` as a byte, with the other bytes taken from the destination.
pub fn v_cvt_pkaccum_u8_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    no_sign(i, 1)?;
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    let rest = cx.vector_of(3, number);
    byte_into(cx, i, rest)
}

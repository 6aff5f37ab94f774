//! Packed halves, mixed precision and dot products: VOP3P.
//!
//! Source: "Vega" Instruction Set Architecture, "VOP3P Instructions", and the 7nm edition's for dot
//! products; LLVM, AMDGPUMCCodeEmitter, for inline constants. Integer constants have 32 bits. Float
//! constants are an `f16` with a high half of 0, or an `f32` in an integer instruction.

use warploom_ir::{BinaryOp, FloatAttrs, FloatBinaryOp, Round, Type, Value};

use super::context::Cx;
use super::flow::{Flow, Lifted, Unsupported};
use super::scalars::float_constant;
use crate::{Instruction, Operand};

/// Returns the 32 bits of a source. `constant` is the type of float constants.
fn bits(cx: &mut Cx<'_>, i: &Instruction, n: usize, constant: Type) -> Value {
    match i.src(n).operand {
        Operand::Vector(number) => cx.vector_of(n, number),
        Operand::Float(number) => cx.int(float_constant(number, constant) as u32),
        operand => cx.scalar(operand),
    }
}

/// Returns the halves of a source for the low and the high operation, in the low bits of an `i32`.
fn halves(cx: &mut Cx<'_>, i: &Instruction, n: usize, constant: Type) -> [Value; 2] {
    let (bits, source) = (bits(cx, i, n, constant), i.src(n));
    [source.op_sel, source.op_sel_hi].map(|high| if high { cx.shr(bits, 16) } else { bits })
}

fn half_floats(cx: &mut Cx<'_>, i: &Instruction, n: usize) -> [Value; 2] {
    let (halves, source) = (halves(cx, i, n, Type::F16), i.src(n));
    let mut signs = [source.neg, source.neg_hi].into_iter();
    halves.map(|bits| {
        let bits = cx.b.trunc(Type::I16, bits);
        let value = cx.cast(Type::F16, bits);
        if signs.next() == Some(true) { cx.b.fneg(value) } else { value }
    })
}

fn set_half_floats(cx: &mut Cx<'_>, i: &Instruction, halves: [Value; 2]) -> Lifted {
    let halves = halves.map(|half| cx.float_result(i, half));
    let value = cx.packed_halves(halves);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

macro_rules! half_floats {
    ($($name:ident: |$cx:ident, $x:ident, $y:ident, $attrs:ident| $body:expr;)*) => {$(
        pub fn $name($cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let ([xl, xh], [yl, yh]) = (half_floats($cx, i, 0), half_floats($cx, i, 1));
            let $attrs = $cx.mode.attrs(Type::F16);
            let results = [(xl, yl), (xh, yh)].map(|($x, $y)| $body);
            set_half_floats($cx, i, results)
        }
    )*};
}

half_floats! {
    v_pk_add_f16: |cx, x, y, attrs| cx.b.fadd(attrs, x, y);
    v_pk_mul_f16: |cx, x, y, attrs| cx.b.fmul(attrs, x, y);
    v_pk_min_f16: |cx, x, y, _attrs| cx.extreme(FloatBinaryOp::Min, x, y);
    v_pk_max_f16: |cx, x, y, _attrs| cx.extreme(FloatBinaryOp::Max, x, y);
}

pub fn v_pk_fma_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let [[xl, xh], [yl, yh], [zl, zh]] = [0, 1, 2].map(|n| half_floats(cx, i, n));
    let attrs = cx.mode.attrs(Type::F16);
    let results = [(xl, yl, zl), (xh, yh, zh)].map(|(x, y, z)| cx.b.fma(attrs, x, y, z));
    set_half_floats(cx, i, results)
}

/// Checks that no source has a sign modifier: integers have no signs to change.
fn check(i: &Instruction) -> Result<(), Unsupported> {
    let plain = (0..i.source_count()).all(|n| !i.src(n).neg && !i.src(n).neg_hi);
    if plain { Ok(()) } else { Err(Unsupported) }
}

/// Clamps a 32-bit result to 16 bits if the instruction clamps.
fn fitted(cx: &mut Cx<'_>, i: &Instruction, signed: bool, value: Value) -> Value {
    match (i.clamp(), signed) {
        (false, _) => value,
        (true, true) => cx.between(value, -0x8000, 0x7fff),
        (true, false) => {
            let greatest = cx.int(0xffff);
            cx.b.min_u(value, greatest)
        }
    }
}

fn integers<const N: usize>(
    cx: &mut Cx<'_>,
    i: &Instruction,
    signed: bool,
    f: impl Fn(&mut Cx<'_>, [Value; N]) -> Value,
) -> Lifted {
    check(i)?;
    let sources: [[Value; 2]; N] = std::array::from_fn(|n| halves(cx, i, n, Type::F32));
    let results = [0, 1].map(|half| {
        let sources = sources.map(|source| cx.low_bits(source[half], 16, signed));
        let value = f(cx, sources);
        fitted(cx, i, signed, value)
    });
    let value = cx.packed(results[0], results[1]);
    cx.set_word(i, value);
    Ok(Flow::Next)
}

macro_rules! integers {
    ($($name:ident: $signed:literal |$cx:ident, $sources:pat_param| $body:expr;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            integers(cx, i, $signed, |$cx, $sources| $body)
        }
    )*};
}

integers! {
    v_pk_add_i16: true |cx, [x, y]| cx.b.add(x, y);
    v_pk_sub_i16: true |cx, [x, y]| cx.b.sub(x, y);
    v_pk_mad_i16: true |cx, [x, y, z]| { let product = cx.b.mul(x, y); cx.b.add(product, z) };
    v_pk_min_i16: true |cx, [x, y]| cx.b.min_s(x, y);
    v_pk_max_i16: true |cx, [x, y]| cx.b.max_s(x, y);
    v_pk_add_u16: false |cx, [x, y]| cx.b.add(x, y);
    v_pk_mad_u16: false |cx, [x, y, z]| { let product = cx.b.mul(x, y); cx.b.add(product, z) };
    v_pk_mul_lo_u16: false |cx, [x, y]| cx.b.mul(x, y);
    v_pk_min_u16: false |cx, [x, y]| cx.b.min_u(x, y);
    v_pk_max_u16: false |cx, [x, y]| cx.b.max_u(x, y);
    v_pk_lshlrev_b16: false |cx, [x, y]| shifted(cx, BinaryOp::Shl, x, y);
    v_pk_lshrrev_b16: false |cx, [x, y]| shifted(cx, BinaryOp::ShrU, x, y);
    v_pk_ashrrev_i16: true |cx, [x, y]| shifted(cx, BinaryOp::ShrS, x, y);
}

fn shifted(cx: &mut Cx<'_>, op: BinaryOp, count: Value, value: Value) -> Value {
    let count = cx.and_bits(count, 15);
    let shifted = cx.b.binary(op, value, count);
    // The result leaves nothing to clamp.
    cx.low_bits(shifted, 16, op == BinaryOp::ShrS)
}

/// Emits differences. If clamped, a difference below 0 becomes 0.
pub fn v_pk_sub_u16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let clamp = i.clamp();
    integers(cx, i, false, |cx, [x, y]| {
        let x = if clamp { cx.b.max_u(x, y) } else { x };
        cx.b.sub(x, y)
    })
}

/// Returns a source of mixed precision as an `f32`: an `f32`, or either half as an `f16`.
fn mixed(cx: &mut Cx<'_>, i: &Instruction, n: usize) -> Value {
    let source = i.src(n);
    let bits = bits(cx, i, n, if source.op_sel_hi { Type::F16 } else { Type::F32 });
    let mut value = if source.op_sel_hi {
        let bits = if source.op_sel { cx.shr(bits, 16) } else { bits };
        let bits = cx.b.trunc(Type::I16, bits);
        let half = cx.cast(Type::F16, bits);
        let attrs = FloatAttrs { flush: cx.mode.flush(Type::F16), ..FloatAttrs::IEEE };
        cx.b.fconvert(Type::F32, attrs, half)
    } else {
        cx.cast(Type::F32, bits)
    };
    if source.abs {
        value = cx.b.fabs(value);
    }
    if source.neg {
        value = cx.b.fneg(value);
    }
    value
}

fn mix(cx: &mut Cx<'_>, i: &Instruction) -> Value {
    let [x, y, z] = [0, 1, 2].map(|n| mixed(cx, i, n));
    if cx.chip.fused_mix() {
        let attrs = cx.mode.attrs(Type::F32);
        return cx.b.fma(attrs, x, y, z);
    }
    cx.mad(x, y, z)
}

pub fn v_mad_mix_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let value = mix(cx, i);
    cx.set_float(i, value)
}

/// Emits the result as an `f16`, in one half of the destination.
fn mix_half(cx: &mut Cx<'_>, i: &Instruction, high: bool) -> Lifted {
    let Operand::Vector(number) = i.dst() else { return Err(Unsupported) };
    let (value, attrs) = (mix(cx, i), cx.mode.attrs(Type::F16));
    let half = cx.b.fconvert(Type::F16, attrs, value);
    let half = cx.float_result(i, half);
    let half = cx.bits_of(half);
    let half = cx.b.zero_extend(Type::I32, half);
    let old = cx.vector_of(3, number);
    let value = if high {
        cx.packed(old, half)
    } else {
        let rest = cx.and_bits(old, 0xffff_0000);
        cx.b.or(rest, half)
    };
    cx.set_destination(number, value);
    Ok(Flow::Next)
}

pub fn v_mad_mixlo_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    mix_half(cx, i, false)
}

pub fn v_mad_mixhi_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    mix_half(cx, i, true)
}

/// Approximate: S2 plus the low product, then plus the high product, each sum rounded; hardware may
/// add in another order
pub fn v_dot2_f32_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.src(2).neg_hi {
        return Err(Unsupported);
    }
    no_halves(i, 2..3)?;
    let [x, y] = [0, 1].map(|n| half_floats(cx, i, n));
    let bits = bits(cx, i, 2, Type::F32);
    let mut sum = cx.cast(Type::F32, bits);
    if i.src(2).neg {
        sum = cx.b.fneg(sum);
    }
    let halves =
        FloatAttrs { round: Round::Nearest, flush: cx.mode.flush(Type::F16), saturate: false };
    let attrs = cx.mode.attrs(Type::F32);
    for half in [0, 1] {
        let [x, y] = [x[half], y[half]].map(|v| cx.b.fconvert(Type::F32, halves, v));
        // The product is exact.
        sum = cx.b.fma(attrs, x, y, sum);
    }
    cx.set_float(i, sum)
}

/// Checks that sources that are no pairs of halves have the usual selection bits.
///
/// The addend has 32 bits. Its bit for the high half is 1 (LLVM) or 0 (rocBLAS's Tensile), and
/// means nothing.
fn no_halves(i: &Instruction, sources: std::ops::Range<usize>) -> Result<(), Unsupported> {
    let usual = sources
        .map(|n| (n, i.src(n)))
        .all(|(n, source)| !source.op_sel && (source.op_sel_hi || n == 2));
    if usual { Ok(()) } else { Err(Unsupported) }
}

/// Emits the sum of the products of the elements and S2.
///
/// The sum is clamped to 32 bits if the instruction clamps, else it wraps.
fn dot(cx: &mut Cx<'_>, i: &Instruction, elements: [Vec<Value>; 2], signed: bool) -> Lifted {
    let [x, y] = elements;
    let mut sum = bits(cx, i, 2, Type::F32);
    let wide = |cx: &mut Cx<'_>, v| match (i.clamp(), signed) {
        (false, _) => v,
        (true, true) => cx.b.sign_extend(Type::I64, v),
        (true, false) => cx.b.zero_extend(Type::I64, v),
    };
    sum = wide(cx, sum);
    for (x, y) in x.into_iter().zip(y) {
        let product = cx.b.mul(x, y);
        let product = wide(cx, product);
        sum = cx.b.add(sum, product);
    }
    if i.clamp() {
        let (least, greatest) = if signed {
            (i64::from(i32::MIN), i64::from(i32::MAX))
        } else {
            (0, i64::from(u32::MAX))
        };
        let (least, greatest) = (cx.long(least as u64), cx.long(greatest as u64));
        sum = cx.b.max_s(sum, least);
        sum = cx.b.min_s(sum, greatest);
        sum = cx.b.trunc(Type::I32, sum);
    }
    cx.set_word(i, sum);
    Ok(Flow::Next)
}

fn dot_halves(cx: &mut Cx<'_>, i: &Instruction, signed: bool) -> Lifted {
    check(i)?;
    no_halves(i, 2..3)?;
    let elements = [0, 1].map(|n| {
        let halves = halves(cx, i, n, Type::F32);
        halves.map(|half| cx.low_bits(half, 16, signed)).to_vec()
    });
    dot(cx, i, elements, signed)
}

/// Emits a dot product of elements of `width` bits.
fn dot_parts(cx: &mut Cx<'_>, i: &Instruction, width: u32, signed: bool) -> Lifted {
    check(i)?;
    no_halves(i, 0..3)?;
    let elements = [0, 1].map(|n| {
        let all = bits(cx, i, n, Type::F32);
        let part = |cx: &mut Cx<'_>, at: u32| {
            // Shifts extend the element: up to the top, and down.
            let top = if at + width == 32 { all } else { cx.shl(all, 32 - width - at) };
            if signed { cx.sar(top, 32 - width) } else { cx.shr(top, 32 - width) }
        };
        (0..32 / width).map(|n| part(cx, n * width)).collect()
    });
    dot(cx, i, elements, signed)
}

macro_rules! dots {
    ($($name:ident = $f:ident($($arg:expr),*);)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            $f(cx, i, $($arg),*)
        }
    )*};
}

dots! {
    v_dot2_i32_i16 = dot_halves(true);
    v_dot2_u32_u16 = dot_halves(false);
    v_dot4_i32_i8 = dot_parts(8, true);
    v_dot4_u32_u8 = dot_parts(8, false);
    v_dot8_i32_i4 = dot_parts(4, true);
    v_dot8_u32_u4 = dot_parts(4, false);
}

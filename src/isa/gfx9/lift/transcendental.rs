//! Powers, logarithms and trigonometric functions of the vector unit. `floats` names the sources.

use warploom_ir::{FloatAttrs, IntCc, Round, SharedFn, Type, Value};

use super::context::Cx;
use super::floats;
use super::flow::Lifted;
use crate::Instruction;

/// Approximate: evaluated in f64 and rounded once; hardware within 1 ulp. Denormals are zeros
pub fn v_exp_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Ex2)
}

/// Approximate: as v_exp_f32; hardware slightly less exact
pub fn v_exp_legacy_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Ex2)
}

/// Approximate: evaluated in f64 and rounded once; hardware within 1 ulp. Denormals are zeros
pub fn v_log_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Lg2)
}

/// Approximate: as v_log_f32; hardware slightly different
pub fn v_log_legacy_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Lg2)
}

/// Approximate: evaluated in f64 and rounded once; hardware within about 2^-20. Past 256 turns 0
pub fn v_sin_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    turns(cx, i, SharedFn::SinTurns)
}

/// Approximate: evaluated in f64 and rounded once; hardware within about 2^-20. Past 256 turns 1
pub fn v_cos_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    turns(cx, i, SharedFn::CosTurns)
}

/// Emits a function of an angle in turns.
fn turns(cx: &mut Cx<'_>, i: &Instruction, function: SharedFn) -> Lifted {
    let x = cx.f32(i, 0);
    let x = cx.flushed(x);
    let value = cx.b.shared(function, x);
    let value = cx.flushed(value);
    cx.set_float(i, value)
}

/// Emits 53 bits of 2 / pi, at their place.
///
/// The segment (53 times S1) and the exponent of S0 name the first bit. The place is 2^128 times
/// greater if S0 is very great.
pub fn v_trig_preop_f64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    super::convert::no_sign(i, 1)?;
    let (x, segment) = (cx.f64(i, 0), cx.word(i, 1));
    let bits = cx.bits_of(x);
    let high = cx.b.high_half(bits);
    let exponent = cx.shr(high, 20);
    let exponent = cx.and_bits(exponent, 0x7ff);
    let (segment, width) = (cx.and_bits(segment, 31), cx.int(53));
    let shift = cx.b.mul(segment, width);
    let (past, none, great) = (cx.int(1077), cx.int(0), cx.int(1968));
    let excess = cx.b.sub(exponent, past);
    let excess = cx.b.max_s(excess, none);
    let shift = cx.b.add(shift, excess);
    let digits = segment_of_two_over_pi(cx, shift);
    let (back, raised) = (cx.int(-53i32 as u32), cx.int((128 - 53i32) as u32));
    let is_great = cx.b.icmp(IntCc::GeS, exponent, great);
    let start = cx.b.select(is_great, raised, back);
    let scale = cx.b.sub(start, shift);
    let value = cx.scaled_by(FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE }, digits, scale);
    cx.set_float(i, value)
}

/// Returns the 53 bits of 2 / pi from bit `first` on, as an `f64`.
fn segment_of_two_over_pi(cx: &mut Cx<'_>, first: Value) -> Value {
    let word = cx.int(32);
    let second = cx.b.add(first, word);
    let (high, low) =
        (cx.b.shared(SharedFn::TwoOverPi, first), cx.b.shared(SharedFn::TwoOverPi, second));
    let both = cx.b.concat(low, high);
    let digits = cx.shr(both, 11);
    cx.b.int_to_float(Type::F64, true, Round::Nearest, digits)
}

//! `f16` arithmetic of the vector unit. `floats` names the sources.
//!
//! The "legacy" forms of v_mad, v_fma and v_div_fixup clear the other half of the destination.
//! Their numbers are equal.

use warploom_ir::{FloatAttrs, FloatUnaryOp, Round, SharedFn, Type};

use super::context::Cx;
use super::floats::{self, float_lifts};
use super::flow::Lifted;
use crate::Instruction;

float_lifts! { F16:
    v_add_f16 = floats::add;
    v_sub_f16 = floats::sub;
    v_subrev_f16 = floats::subrev;
    v_mul_f16 = floats::mul;
    v_min_f16 = floats::min;
    v_max_f16 = floats::max;
    v_mad_f16 = floats::mad;
    v_mad_legacy_f16 = floats::mad;
    v_mac_f16 = floats::mac;
    v_madmk_f16 = floats::mad;
    v_madak_f16 = floats::mad;
    v_fma_f16 = floats::fma;
    v_fma_legacy_f16 = floats::fma;
    v_min3_f16 = floats::min3;
    v_max3_f16 = floats::max3;
    v_med3_f16 = floats::med3;
    v_trunc_f16 = floats::trunc;
    v_ceil_f16 = floats::ceil;
    v_floor_f16 = floats::floor;
    v_rndne_f16 = floats::rndne;
    v_fract_f16 = floats::fract;
    v_frexp_mant_f16 = floats::frexp_mant;
    v_frexp_exp_i16_f16 = floats::frexp_exp;
    v_ldexp_f16 = floats::ldexp;
}

fn nearest(cx: &Cx<'_>) -> FloatAttrs {
    FloatAttrs { round: Round::Nearest, ..cx.mode.attrs(Type::F16) }
}

/// Approximate: correctly rounded; hardware within 1 ulp
pub fn v_rcp_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (x, one) = (cx.f16(i, 0), cx.number(Type::F16, 1.0));
    let value = cx.b.fdiv(nearest(cx), one, x);
    cx.set_float(i, value)
}

/// Approximate: correctly rounded; hardware within 1 ulp
pub fn v_sqrt_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f16(i, 0);
    let value = cx.b.funary(FloatUnaryOp::Sqrt, nearest(cx), x);
    cx.set_float(i, value)
}

/// Approximate: the f32 result, rounded; hardware within 1 ulp
pub fn v_rsq_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared_half(cx, i, SharedFn::Rsq)
}

/// Approximate: the f32 result, rounded; hardware within 1 ulp
pub fn v_log_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared_half(cx, i, SharedFn::Lg2)
}

/// Approximate: the f32 result, rounded; hardware within 1 ulp
pub fn v_exp_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared_half(cx, i, SharedFn::Ex2)
}

/// Approximate: the f32 result, rounded; hardware within about 2^-10. Past 256 turns 0
pub fn v_sin_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared_half(cx, i, SharedFn::SinTurns)
}

/// Approximate: the f32 result, rounded; hardware within about 2^-10. Past 256 turns 1
pub fn v_cos_f16(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared_half(cx, i, SharedFn::CosTurns)
}

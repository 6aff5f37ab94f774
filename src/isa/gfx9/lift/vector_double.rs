//! `f64` arithmetic of the vector unit. `floats` names the sources.

use warploom_ir::{FloatAttrs, FloatUnaryOp, Round, Type, Value};

use super::context::Cx;
use super::floats::{self, float_lifts};
use super::flow::Lifted;
use crate::Instruction;

float_lifts! { F64:
    v_add_f64 = floats::add;
    v_mul_f64 = floats::mul;
    v_min_f64 = floats::min;
    v_max_f64 = floats::max;
    v_fma_f64 = floats::fma;
    v_trunc_f64 = floats::trunc;
    v_ceil_f64 = floats::ceil;
    v_floor_f64 = floats::floor;
    v_rndne_f64 = floats::rndne;
    v_fract_f64 = floats::fract;
    v_frexp_mant_f64 = floats::frexp_mant;
    v_frexp_exp_i32_f64 = floats::frexp_exp;
    v_ldexp_f64 = floats::ldexp;
}

fn nearest(cx: &Cx<'_>) -> FloatAttrs {
    FloatAttrs { round: Round::Nearest, ..cx.mode.attrs(Type::F64) }
}

fn reciprocal(cx: &mut Cx<'_>, x: Value) -> Value {
    let one = cx.number(Type::F64, 1.0);
    cx.b.fdiv(nearest(cx), one, x)
}

/// Approximate: correctly rounded; hardware within 2^29 ulp
pub fn v_rcp_f64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f64(i, 0);
    let value = reciprocal(cx, x);
    cx.set_float(i, value)
}

/// Approximate: root and quotient each correctly rounded; hardware within 2^29 ulp
pub fn v_rsq_f64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f64(i, 0);
    let root = cx.b.funary(FloatUnaryOp::Sqrt, nearest(cx), x);
    let value = reciprocal(cx, root);
    cx.set_float(i, value)
}

/// Approximate: correctly rounded; hardware within 2^29 ulp
pub fn v_sqrt_f64(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f64(i, 0);
    let value = cx.b.funary(FloatUnaryOp::Sqrt, nearest(cx), x);
    cx.set_float(i, value)
}

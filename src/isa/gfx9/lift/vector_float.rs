//! `f32` arithmetic of the vector unit. `floats` names the sources.

use warploom_ir::{FloatAttrs, FloatCc, FloatUnaryOp, SharedFn, Type, Value};

use super::context::Cx;
use super::floats::{self, float_lifts};
use super::flow::Lifted;
use crate::Instruction;

float_lifts! { F32:
    v_add_f32 = floats::add;
    v_sub_f32 = floats::sub;
    v_subrev_f32 = floats::subrev;
    v_mul_f32 = floats::mul;
    v_mul_legacy_f32 = floats::mul_legacy;
    v_min_f32 = floats::min;
    v_max_f32 = floats::max;
    v_mad_f32 = floats::mad;
    v_mad_legacy_f32 = floats::mad_legacy_rules;
    v_mac_f32 = floats::mac;
    // The constant lies where the text has it: each instruction is S0 * S1 + S2.
    v_madmk_f32 = floats::mad;
    v_madak_f32 = floats::mad;
    v_fma_f32 = floats::fma;
    v_fmac_f32 = floats::fmac;
    v_min3_f32 = floats::min3;
    v_max3_f32 = floats::max3;
    v_med3_f32 = floats::med3;
    v_trunc_f32 = floats::trunc;
    v_ceil_f32 = floats::ceil;
    v_floor_f32 = floats::floor;
    v_rndne_f32 = floats::rndne;
    v_fract_f32 = floats::fract;
    v_frexp_mant_f32 = floats::frexp_mant;
    v_frexp_exp_i32_f32 = floats::frexp_exp;
    v_ldexp_f32 = floats::ldexp;
}

/// Approximate: correctly rounded; hardware within 1 ulp. Denormals are zeros
pub fn v_rcp_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Rcp)
}

/// Approximate: correctly rounded; hardware within 1 ulp. Denormals are zeros
pub fn v_rcp_iflag_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Rcp)
}

/// Approximate: correctly rounded; hardware within 1 ulp. Denormals are zeros
pub fn v_rsq_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    floats::shared(cx, i, SharedFn::Rsq)
}

/// Approximate: correctly rounded; hardware within 1 ulp. Denormals are zeros
pub fn v_sqrt_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let x = cx.f32(i, 0);
    let value = cx.b.funary(FloatUnaryOp::Sqrt, FloatAttrs { flush: true, ..FloatAttrs::IEEE }, x);
    cx.set_float(i, value)
}

/// Returns the coordinates, and the axis of a cube that a vector points along.
///
/// The axis is given as the lanes of the z axis, and the lanes of the y axis if not z.
fn axes(cx: &mut Cx<'_>, i: &Instruction) -> ([Value; 3], Value, Value) {
    let [x, y, z] = [0, 1, 2].map(|n| {
        let v = cx.f32(i, n);
        cx.flushed(v)
    });
    let [ax, ay, az] = [x, y, z].map(|v| cx.b.fabs(v));
    let (zx, zy) = (cx.b.fcmp(FloatCc::Ge, false, az, ax), cx.b.fcmp(FloatCc::Ge, false, az, ay));
    let along_z = cx.b.and(zx, zy);
    let along_y = cx.b.fcmp(FloatCc::Ge, false, ay, ax);
    ([x, y, z], along_z, along_y)
}

fn negative(cx: &mut Cx<'_>, value: Value) -> Value {
    let zero = cx.b.iconst(Type::F32, 0);
    cx.b.fcmp(FloatCc::Lt, false, value, zero)
}

/// Picks the value for the axis from three values.
fn along(cx: &mut Cx<'_>, along_z: Value, along_y: Value, [x, y, z]: [Value; 3]) -> Value {
    let rest = cx.b.select(along_y, y, x);
    cx.b.select(along_z, z, rest)
}

/// Emits the face of a cube: 0 to 5 for +x, -x, +y, -y, +z, -z.
pub fn v_cubeid_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (coordinates, along_z, along_y) = axes(cx, i);
    let mut face = 0.0;
    let faces = coordinates.map(|v| {
        let (positive, other) = (cx.number(Type::F32, face), cx.number(Type::F32, face + 1.0));
        face += 2.0;
        let below = negative(cx, v);
        cx.b.select(below, other, positive)
    });
    let value = along(cx, along_z, along_y, faces);
    cx.set_float(i, value)
}

pub fn v_cubesc_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ([x, _, z], along_z, along_y) = axes(cx, i);
    let (minus_x, minus_z) = (cx.b.fneg(x), cx.b.fneg(z));
    let (below_z, below_x) = (negative(cx, z), negative(cx, x));
    let on_z = cx.b.select(below_z, minus_x, x);
    let on_x = cx.b.select(below_x, z, minus_z);
    let value = along(cx, along_z, along_y, [on_x, x, on_z]);
    cx.set_float(i, value)
}

pub fn v_cubetc_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let ([_, y, z], along_z, along_y) = axes(cx, i);
    let (minus_y, minus_z) = (cx.b.fneg(y), cx.b.fneg(z));
    let below = negative(cx, y);
    let on_y = cx.b.select(below, minus_z, z);
    let value = along(cx, along_z, along_y, [minus_y, on_y, minus_y]);
    cx.set_float(i, value)
}

/// Emits twice the coordinate on the axis.
pub fn v_cubema_f32(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (coordinates, along_z, along_y) = axes(cx, i);
    let major = along(cx, along_z, along_y, coordinates);
    let (two, attrs) = (cx.number(Type::F32, 2.0), cx.mode.attrs(Type::F32));
    let value = cx.b.fmul(attrs, major, two);
    cx.set_float(i, value)
}

//! Comparisons of the scalar unit: SOPC, and the comparisons of SOPK. They write SCC.
//!
//! Source: "Vega" Instruction Set Architecture, "SOPC Instructions", "SOPK Instructions".

use warploom_ir::{IntCc, Type, Value};

use super::context::Cx;
use super::{Flow, Lifted};
use crate::Instruction;

macro_rules! compares {
    ($($name:ident: $get:ident $cc:ident;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (x, y) = (cx.$get(i, 0), cx.$get(i, 1));
            let scc = cx.test(IntCc::$cc, x, y);
            cx.set_scc(scc);
            Ok(Flow::Next)
        }
    )*};
}

compares! {
    s_cmp_eq_i32: s32 Eq;
    s_cmp_lg_i32: s32 Ne;
    s_cmp_gt_i32: s32 GtS;
    s_cmp_ge_i32: s32 GeS;
    s_cmp_lt_i32: s32 LtS;
    s_cmp_le_i32: s32 LeS;
    s_cmp_eq_u32: s32 Eq;
    s_cmp_lg_u32: s32 Ne;
    s_cmp_gt_u32: s32 GtU;
    s_cmp_ge_u32: s32 GeU;
    s_cmp_lt_u32: s32 LtU;
    s_cmp_le_u32: s32 LeU;
    s_cmp_eq_u64: s64 Eq;
    s_cmp_lg_u64: s64 Ne;
}

/// Declares comparisons with the immediate, which is extended by the comparison's sign.
macro_rules! immediate_compares {
    ($($name:ident: $cc:ident, $signed:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let immediate = if $signed { i32::from(i.simm16()) as u32 } else { u32::from(i.simm16() as u16) };
            let (x, y) = (cx.s32(i, 0), cx.int(immediate));
            let scc = cx.test(IntCc::$cc, x, y);
            cx.set_scc(scc);
            Ok(Flow::Next)
        }
    )*};
}

immediate_compares! {
    s_cmpk_eq_i32: Eq, true;
    s_cmpk_lg_i32: Ne, true;
    s_cmpk_gt_i32: GtS, true;
    s_cmpk_ge_i32: GeS, true;
    s_cmpk_lt_i32: LtS, true;
    s_cmpk_le_i32: LeS, true;
    s_cmpk_eq_u32: Eq, false;
    s_cmpk_lg_u32: Ne, false;
    s_cmpk_gt_u32: GtU, false;
    s_cmpk_ge_u32: GeU, false;
    s_cmpk_lt_u32: LtU, false;
    s_cmpk_le_u32: LeU, false;
}

/// Sets SCC = the bit of the first operand that the second operand names has the value `set`.
fn bit_is(cx: &mut Cx<'_>, value: Value, place: Value, set: bool) -> Lifted {
    let ty = cx.b.ty(value).ty;
    let place = cx.and_bits(place, u64::from(ty.bits()) - 1);
    let place = if ty == Type::I64 { cx.b.zero_extend(ty, place) } else { place };
    let bit = cx.b.shr_u(value, place);
    let bit = cx.and_bits(bit, 1);
    let expected = cx.like(bit, set.into());
    let scc = cx.test(IntCc::Eq, bit, expected);
    cx.set_scc(scc);
    Ok(Flow::Next)
}

macro_rules! bit_compares {
    ($($name:ident: $get:ident, $set:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            let (value, place) = (cx.$get(i, 0), cx.s32(i, 1));
            bit_is(cx, value, place, $set)
        }
    )*};
}

bit_compares! {
    s_bitcmp0_b32: s32, false;
    s_bitcmp1_b32: s32, true;
    s_bitcmp0_b64: s64, false;
    s_bitcmp1_b64: s64, true;
}

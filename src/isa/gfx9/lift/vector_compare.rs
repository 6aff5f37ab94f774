//! Comparisons of lanes, VOPC: a bit of a mask for each lane, 0 for inactive lanes.
//!
//! `v_cmpx` also makes the mask the active mask.
//!
//! Source: "Vega" Instruction Set Architecture, "VOPC Instructions".

use warploom_ir::{FloatCc, IntCc, Type, Value};

use super::context::Cx;
use super::floats::{infinity, sign};
use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;

/// Checks that DPP writes all lanes. No document gives the mask's bit of a lane without a source.
fn check(i: &Instruction) -> Result<(), Unsupported> {
    let whole =
        i.dpp().is_none_or(|dpp| (dpp.row_mask, dpp.bank_mask, dpp.bound_ctrl) == (15, 15, true));
    if whole { Ok(()) } else { Err(Unsupported) }
}

fn set(cx: &mut Cx<'_>, i: &Instruction, lanes: Value, activates: bool) -> Lifted {
    cx.set_lane_mask(i.dst(), lanes);
    if activates {
        let exec = cx.exec();
        let both = cx.b.and(lanes, exec);
        cx.set_exec(both);
    }
    Ok(Flow::Next)
}

/// Emits a comparison that does not depend on its operands.
fn settled(cx: &mut Cx<'_>, i: &Instruction, holds: bool, activates: bool) -> Lifted {
    check(i)?;
    let lanes = cx.lanes(if holds { u64::MAX } else { 0 });
    set(cx, i, lanes, activates)
}

fn compare_floats(
    cx: &mut Cx<'_>,
    i: &Instruction,
    ty: Type,
    cc: FloatCc,
    activates: bool,
) -> Lifted {
    check(i)?;
    let (x, y) = (cx.float(ty, i, 0), cx.float(ty, i, 1));
    let flush = cx.mode.flush(ty);
    let lanes = cx.b.fcmp(cc, flush, x, y);
    set(cx, i, lanes, activates)
}

fn compare_ints(
    cx: &mut Cx<'_>,
    i: &Instruction,
    bits: u32,
    cc: IntCc,
    signed: bool,
    activates: bool,
) -> Lifted {
    check(i)?;
    let [x, y] = [0, 1].map(|n| match bits {
        16 => cx.half_word(i, n, signed),
        32 => cx.word(i, n),
        _ => cx.long_word(i, n),
    });
    let lanes = cx.b.icmp(cc, x, y);
    set(cx, i, lanes, activates)
}

macro_rules! settled {
    ($($name:ident $x_name:ident = $holds:literal;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            settled(cx, i, $holds, false)
        }
        pub fn $x_name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            settled(cx, i, $holds, true)
        }
    )*};
}

settled! {
    v_cmp_f_f16 v_cmpx_f_f16 = false;
    v_cmp_f_f32 v_cmpx_f_f32 = false;
    v_cmp_f_f64 v_cmpx_f_f64 = false;
    v_cmp_f_i16 v_cmpx_f_i16 = false;
    v_cmp_f_u16 v_cmpx_f_u16 = false;
    v_cmp_f_i32 v_cmpx_f_i32 = false;
    v_cmp_f_u32 v_cmpx_f_u32 = false;
    v_cmp_f_i64 v_cmpx_f_i64 = false;
    v_cmp_f_u64 v_cmpx_f_u64 = false;
    v_cmp_tru_f16 v_cmpx_tru_f16 = true;
    v_cmp_tru_f32 v_cmpx_tru_f32 = true;
    v_cmp_tru_f64 v_cmpx_tru_f64 = true;
    v_cmp_t_i16 v_cmpx_t_i16 = true;
    v_cmp_t_u16 v_cmpx_t_u16 = true;
    v_cmp_t_i32 v_cmpx_t_i32 = true;
    v_cmp_t_u32 v_cmpx_t_u32 = true;
    v_cmp_t_i64 v_cmpx_t_i64 = true;
    v_cmp_t_u64 v_cmpx_t_u64 = true;
}

macro_rules! floats {
    ($($ty:ident { $($name:ident $x_name:ident = $cc:ident;)* })*) => {$($(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            compare_floats(cx, i, Type::$ty, FloatCc::$cc, false)
        }
        pub fn $x_name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            compare_floats(cx, i, Type::$ty, FloatCc::$cc, true)
        }
    )*)*};
}

floats! {
    F16 {
        v_cmp_lt_f16 v_cmpx_lt_f16 = Lt;
        v_cmp_eq_f16 v_cmpx_eq_f16 = Eq;
        v_cmp_le_f16 v_cmpx_le_f16 = Le;
        v_cmp_gt_f16 v_cmpx_gt_f16 = Gt;
        v_cmp_lg_f16 v_cmpx_lg_f16 = Ne;
        v_cmp_ge_f16 v_cmpx_ge_f16 = Ge;
        v_cmp_o_f16 v_cmpx_o_f16 = Num;
        v_cmp_u_f16 v_cmpx_u_f16 = Nan;
        v_cmp_nge_f16 v_cmpx_nge_f16 = LtU;
        v_cmp_nlg_f16 v_cmpx_nlg_f16 = EqU;
        v_cmp_ngt_f16 v_cmpx_ngt_f16 = LeU;
        v_cmp_nle_f16 v_cmpx_nle_f16 = GtU;
        v_cmp_neq_f16 v_cmpx_neq_f16 = NeU;
        v_cmp_nlt_f16 v_cmpx_nlt_f16 = GeU;
    }
    F32 {
        v_cmp_lt_f32 v_cmpx_lt_f32 = Lt;
        v_cmp_eq_f32 v_cmpx_eq_f32 = Eq;
        v_cmp_le_f32 v_cmpx_le_f32 = Le;
        v_cmp_gt_f32 v_cmpx_gt_f32 = Gt;
        v_cmp_lg_f32 v_cmpx_lg_f32 = Ne;
        v_cmp_ge_f32 v_cmpx_ge_f32 = Ge;
        v_cmp_o_f32 v_cmpx_o_f32 = Num;
        v_cmp_u_f32 v_cmpx_u_f32 = Nan;
        v_cmp_nge_f32 v_cmpx_nge_f32 = LtU;
        v_cmp_nlg_f32 v_cmpx_nlg_f32 = EqU;
        v_cmp_ngt_f32 v_cmpx_ngt_f32 = LeU;
        v_cmp_nle_f32 v_cmpx_nle_f32 = GtU;
        v_cmp_neq_f32 v_cmpx_neq_f32 = NeU;
        v_cmp_nlt_f32 v_cmpx_nlt_f32 = GeU;
    }
    F64 {
        v_cmp_lt_f64 v_cmpx_lt_f64 = Lt;
        v_cmp_eq_f64 v_cmpx_eq_f64 = Eq;
        v_cmp_le_f64 v_cmpx_le_f64 = Le;
        v_cmp_gt_f64 v_cmpx_gt_f64 = Gt;
        v_cmp_lg_f64 v_cmpx_lg_f64 = Ne;
        v_cmp_ge_f64 v_cmpx_ge_f64 = Ge;
        v_cmp_o_f64 v_cmpx_o_f64 = Num;
        v_cmp_u_f64 v_cmpx_u_f64 = Nan;
        v_cmp_nge_f64 v_cmpx_nge_f64 = LtU;
        v_cmp_nlg_f64 v_cmpx_nlg_f64 = EqU;
        v_cmp_ngt_f64 v_cmpx_ngt_f64 = LeU;
        v_cmp_nle_f64 v_cmpx_nle_f64 = GtU;
        v_cmp_neq_f64 v_cmpx_neq_f64 = NeU;
        v_cmp_nlt_f64 v_cmpx_nlt_f64 = GeU;
    }
}

macro_rules! ints {
    ($($bits:literal $signed:literal { $($name:ident $x_name:ident = $cc:ident;)* })*) => {$($(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            compare_ints(cx, i, $bits, IntCc::$cc, $signed, false)
        }
        pub fn $x_name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            compare_ints(cx, i, $bits, IntCc::$cc, $signed, true)
        }
    )*)*};
}

ints! {
    16 true {
        v_cmp_lt_i16 v_cmpx_lt_i16 = LtS;
        v_cmp_eq_i16 v_cmpx_eq_i16 = Eq;
        v_cmp_le_i16 v_cmpx_le_i16 = LeS;
        v_cmp_gt_i16 v_cmpx_gt_i16 = GtS;
        v_cmp_ne_i16 v_cmpx_ne_i16 = Ne;
        v_cmp_ge_i16 v_cmpx_ge_i16 = GeS;
    }
    16 false {
        v_cmp_lt_u16 v_cmpx_lt_u16 = LtU;
        v_cmp_eq_u16 v_cmpx_eq_u16 = Eq;
        v_cmp_le_u16 v_cmpx_le_u16 = LeU;
        v_cmp_gt_u16 v_cmpx_gt_u16 = GtU;
        v_cmp_ne_u16 v_cmpx_ne_u16 = Ne;
        v_cmp_ge_u16 v_cmpx_ge_u16 = GeU;
    }
    32 true {
        v_cmp_lt_i32 v_cmpx_lt_i32 = LtS;
        v_cmp_eq_i32 v_cmpx_eq_i32 = Eq;
        v_cmp_le_i32 v_cmpx_le_i32 = LeS;
        v_cmp_gt_i32 v_cmpx_gt_i32 = GtS;
        v_cmp_ne_i32 v_cmpx_ne_i32 = Ne;
        v_cmp_ge_i32 v_cmpx_ge_i32 = GeS;
    }
    32 false {
        v_cmp_lt_u32 v_cmpx_lt_u32 = LtU;
        v_cmp_eq_u32 v_cmpx_eq_u32 = Eq;
        v_cmp_le_u32 v_cmpx_le_u32 = LeU;
        v_cmp_gt_u32 v_cmpx_gt_u32 = GtU;
        v_cmp_ne_u32 v_cmpx_ne_u32 = Ne;
        v_cmp_ge_u32 v_cmpx_ge_u32 = GeU;
    }
    64 true {
        v_cmp_lt_i64 v_cmpx_lt_i64 = LtS;
        v_cmp_eq_i64 v_cmpx_eq_i64 = Eq;
        v_cmp_le_i64 v_cmpx_le_i64 = LeS;
        v_cmp_gt_i64 v_cmpx_gt_i64 = GtS;
        v_cmp_ne_i64 v_cmpx_ne_i64 = Ne;
        v_cmp_ge_i64 v_cmpx_ge_i64 = GeS;
    }
    64 false {
        v_cmp_lt_u64 v_cmpx_lt_u64 = LtU;
        v_cmp_eq_u64 v_cmpx_eq_u64 = Eq;
        v_cmp_le_u64 v_cmpx_le_u64 = LeU;
        v_cmp_gt_u64 v_cmpx_gt_u64 = GtU;
        v_cmp_ne_u64 v_cmpx_ne_u64 = Ne;
        v_cmp_ge_u64 v_cmpx_ge_u64 = GeU;
    }
}

macro_rules! class {
    ($($name:ident $x_name:ident: $ty:ident;)*) => {$(
        pub fn $name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            class(cx, i, Type::$ty, false)
        }
        pub fn $x_name(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
            class(cx, i, Type::$ty, true)
        }
    )*};
}

class! {
    v_cmp_class_f16 v_cmpx_class_f16: F16;
    v_cmp_class_f32 v_cmpx_class_f32: F32;
    v_cmp_class_f64 v_cmpx_class_f64: F64;
}

/// Emits whether source 1 has the bit of source 0's class.
fn class(cx: &mut Cx<'_>, i: &Instruction, ty: Type, activates: bool) -> Lifted {
    check(i)?;
    let (x, wanted) = (cx.float(ty, i, 0), cx.word(i, 1));
    if let Some(wanted) = cx.b.constant(wanted) {
        let lanes = is_of_classes(cx, x, wanted as u32);
        return set(cx, i, lanes, activates);
    }
    let class = class_of(cx, x);
    let (found, none) = (cx.b.and(class, wanted), cx.int(0));
    let lanes = cx.b.icmp(IntCc::Ne, found, none);
    set(cx, i, lanes, activates)
}

/// Returns the lanes whose float is of a wanted class. The bits are as in [`class_of`].
fn is_of_classes(cx: &mut Cx<'_>, x: Value, wanted: u32) -> Value {
    let ty = cx.b.ty(x).ty;
    let bits = cx.bits_of(x);
    let magnitude = cx.and_bits(bits, sign(ty) - 1);
    let (least_normal, infinity, quiet) =
        (1 << infinity(ty).trailing_zeros(), infinity(ty), super::NAN.canonical(ty));
    // Each range has its least magnitude, the magnitude behind its greatest, and the bits of
    // positive and of negative numbers.
    let ranges = [
        (0, 1, [6, 5]),
        (1, least_normal, [7, 4]),
        (least_normal, infinity, [8, 3]),
        (infinity, infinity + 1, [9, 2]),
        (infinity + 1, quiet, [0, 0]),
        (quiet, sign(ty), [1, 1]),
    ];
    let mut lanes = cx.lanes(0);
    for (first, end, numbers) in ranges {
        let (value, first) = match numbers.map(|number| wanted >> number & 1 != 0) {
            [true, true] => (magnitude, first),
            [true, false] => (bits, first),
            [false, true] => (bits, first | sign(ty)),
            [false, false] => continue,
        };
        let (start, count) = (cx.like(bits, first), end - (first & (sign(ty) - 1)));
        let found = if count == 1 {
            cx.b.icmp(IntCc::Eq, value, start)
        } else {
            let (offset, count) = (cx.b.sub(value, start), cx.like(bits, count));
            cx.b.icmp(IntCc::LtU, offset, count)
        };
        lanes = cx.b.or(lanes, found);
    }
    lanes
}

/// Returns the class of a float as a bit.
///
/// Bit 0 is a signaling NaN, 1 a quiet NaN. Bits 2 to 5 are minus infinity, negative, negative
/// denormal, -0. Bits 6 to 9 are the positive classes from +0 on.
fn class_of(cx: &mut Cx<'_>, x: Value) -> Value {
    let ty = cx.b.ty(x).ty;
    let bits = cx.bits_of(x);
    let magnitude = cx.and_bits(bits, sign(ty) - 1);
    let least_normal = 1 << infinity(ty).trailing_zeros();
    // Each step has a bound, and the classes of a positive and a negative number below it.
    let steps = [
        (1, [6, 5]),
        (least_normal, [7, 4]),
        (infinity(ty), [8, 3]),
        (infinity(ty) + 1, [9, 2]),
        (super::NAN.canonical(ty), [0, 0]),
    ];
    let mut class = [cx.int(1 << 1); 2];
    for (bound, numbers) in steps.into_iter().rev() {
        let bound = cx.like(bits, bound);
        let below = cx.b.icmp(IntCc::LtU, magnitude, bound);
        for (class, number) in class.iter_mut().zip(numbers) {
            let this = cx.int(1 << number);
            *class = cx.b.select(below, this, *class);
        }
    }
    let limit = cx.like(bits, sign(ty));
    let positive = cx.b.icmp(IntCc::LtU, bits, limit);
    cx.b.select(positive, class[0], class[1])
}

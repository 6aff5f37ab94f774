//! Float operations and conversions. `rustc_apfloat` defines rounding; all NaNs count as equal.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::{Expected, Random, Same, check};

pub const RN: Round = Round::NearestTiesToEven;
pub const RZ: Round = Round::TowardZero;
pub const RM: Round = Round::TowardNegative;
pub const RP: Round = Round::TowardPositive;

/// Accepts an equal `f32`, for kernels that return one.
pub const F32: Same = |found, expected| {
    let (found, expected) = (found as u32, expected as u32);
    found == expected || (f(found.into()).is_nan() && f(expected.into()).is_nan())
};
pub const F64: Same =
    |found, expected| found == expected || (d(found).is_nan() && d(expected).is_nan());
pub const F16: Same = |found, expected| {
    let nan = |bits: u64| bits & 0x7fff > 0x7c00;
    found == expected || (nan(found) && nan(expected))
};
const INT: Same = |found, expected| found == expected;
const LOW: Same = |found, expected| found as u32 == expected as u32;
/// Accepts an error within the documented bound of the approximate functions.
pub const CLOSE: Same = |found, expected| {
    let (found, expected) = (f(found), f(expected));
    found == expected
        || (found.is_nan() && expected.is_nan())
        || (found - expected).abs() <= 1e-6 * expected.abs().max(1.0)
};

pub const EDGES: [u64; 24] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x0000_0001,
    0x007f_ffff,
    0x8080_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffa0_0001,
    0x4f00_0000,
    0xcf00_0001,
    0x3f00_0000,
    0x3ff0_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x7ff0_0000_0000_0000,
    0xfff8_0000_0000_0001,
    0x41ef_ffff_ffff_ffff,
    0xc3e0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
];

/// Returns a random operand for both widths. The low half is an `f32`, the whole an `f64`; each is
/// an edge case, of moderate size or arbitrary.
pub fn operand(random: &mut Random) -> u64 {
    let bits = random.bits();
    match random.bits() % 5 {
        0 => EDGES[bits as usize % EDGES.len()],
        1 => u64::from(((bits as i32 >> 16) as f32 / 64.0).to_bits()) | bits & !0xffff_ffff,
        2 => ((bits as i64 >> 24) as f64 / 1024.0).to_bits(),
        3 => bits & 0x87ff_ffff_87ff_ffff | 0x3800_0000_3800_0000,
        _ => bits,
    }
}

#[test]
fn float_operations() {
    check("float.sm_50.cubin", operand, &EDGES, KERNELS);
}

pub fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

pub fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

pub fn s(x: u64) -> Single {
    Single::from_bits(u128::from(x as u32))
}

pub fn t(x: u64) -> Double {
    Double::from_bits(x.into())
}

pub fn bits(value: impl Float) -> u64 {
    value.to_bits() as u64
}

fn add(x: u64, y: u64, round: Round) -> u64 {
    bits(s(x).add_r(s(y), round).value)
}

fn mul(x: u64, y: u64, round: Round) -> u64 {
    bits(s(x).mul_r(s(y), round).value)
}

fn fma(x: u64, y: u64, z: u64, round: Round) -> u64 {
    bits(s(x).mul_add_r(s(y), s(z), round).value)
}

fn div(x: u64, y: u64, round: Round) -> u64 {
    bits(s(x).div_r(s(y), round).value)
}

/// Replaces a denormal by a zero of its sign.
pub fn flush(x: u64) -> u64 {
    if x as u32 & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x & 0xffff_ffff }
}

pub fn sat(x: u64) -> u64 {
    let x = f(x);
    let clamped = if x > 0.0 { x.min(1.0) } else { 0.0 };
    clamped.to_bits().into()
}

fn sqrt_rz(x: u64) -> u64 {
    let root = f(x).sqrt();
    let above = f64::from(root) * f64::from(root) > f64::from(f(x));
    if above && root.is_finite() { u64::from(root.to_bits() - 1) } else { root.to_bits().into() }
}

/// Returns the minimum or maximum of PTX: of a NaN and a number the number; -0 is less than +0.
pub fn pick(x: f64, y: f64, least: bool) -> f64 {
    let x_first = match x.partial_cmp(&y) {
        None => y.is_nan(),
        Some(std::cmp::Ordering::Equal) => x.is_sign_negative() == least,
        Some(order) => order.is_lt() == least,
    };
    if x_first { x } else { y }
}

pub fn pick32(x: u64, y: u64, least: bool) -> u64 {
    u64::from((pick(f(x).into(), f(y).into(), least) as f32).to_bits())
}

fn relations<T: PartialOrd>(x: T, y: T) -> u64 {
    let [lt, le, gt, ge] = [x < y, x <= y, x > y, x >= y];
    let bits = [lt, le, x == y, x != y, gt, ge, !lt, !le, !gt, !ge];
    bits.iter().enumerate().fold(0, |all, (i, &bit)| all | u64::from(bit) << i)
}

/// Rounds `value` and clamps it to the range; returns `nan` for NaN, as PTX does.
fn to_int(value: f64, round: fn(f64) -> f64, least: f64, most: f64, nan: u64) -> u64 {
    if value.is_nan() {
        return nan;
    }
    let value = round(value).clamp(least, most);
    if value < 0.0 { value as i64 as u64 } else { value as u64 }
}

const S32: (f64, f64) = (i32::MIN as f64, i32::MAX as f64);
const U32: (f64, f64) = (0.0, u32::MAX as f64);
const S64: (f64, f64) = (i64::MIN as f64, 9_223_372_036_854_775_807.0);

fn wide(x: u64) -> f64 {
    f(x).into()
}

/// Converts as Rust does, which saturates too; NaN gives the top bit.
fn to_s64(value: f64) -> u64 {
    if value.is_nan() { 1 << 63 } else { value as i64 as u64 }
}

fn to_u64(value: f64) -> u64 {
    if value.is_nan() { 1 << 63 } else { value as u64 }
}

fn from_int(value: i128, round: Round) -> u64 {
    bits(Single::from_i128_r(value, round).value)
}

fn from_int64(value: i128, round: Round) -> u64 {
    bits(Double::from_i128_r(value, round).value)
}

fn narrow(x: u64, round: Round) -> u64 {
    let single: Single = t(x).convert_r(round, &mut false).value;
    bits(single)
}

fn half(x: u64, round: Round) -> u64 {
    let half: Half = s(x).convert_r(round, &mut false).value;
    bits(half)
}

fn from_half(x: u64) -> u64 {
    let single: Single = Half::from_bits(u128::from(x as u16)).convert(&mut false).value;
    bits(single)
}

fn integral(x: u64, round: Round) -> u64 {
    bits(s(x).round_to_integral(round).value)
}

fn clamp(x: i64, least: i64, most: i64, width: u32) -> u64 {
    x.clamp(least, most) as u64 & ((1 << width) - 1)
}

const KERNELS: &[(&str, Same, Expected)] = &[
    ("add_rn", F32, |x, y, _| add(x, y, RN)),
    ("add_rz", F32, |x, y, _| add(x, y, RZ)),
    ("add_rm", F32, |x, y, _| add(x, y, RM)),
    ("add_rp", F32, |x, y, _| add(x, y, RP)),
    ("add_ftz", F32, |x, y, _| flush(add(flush(x), flush(y), RN))),
    ("add_sat", F32, |x, y, _| sat(add(x, y, RN))),
    ("sub_rn", F32, |x, y, _| add(x, y ^ 0x8000_0000, RN)),
    ("mul_rn", F32, |x, y, _| mul(x, y, RN)),
    ("mul_rz", F32, |x, y, _| mul(x, y, RZ)),
    ("mul_rm", F32, |x, y, _| mul(x, y, RM)),
    ("mul_rp", F32, |x, y, _| mul(x, y, RP)),
    ("mul_ftz", F32, |x, y, _| flush(mul(flush(x), flush(y), RN))),
    ("mul_sat", F32, |x, y, _| sat(mul(x, y, RN))),
    ("fma_rn", F32, |x, y, z| fma(x, y, z, RN)),
    ("fma_rz", F32, |x, y, z| fma(x, y, z, RZ)),
    ("fma_rm", F32, |x, y, z| fma(x, y, z, RM)),
    ("fma_rp", F32, |x, y, z| fma(x, y, z, RP)),
    ("fma_ftz", F32, |x, y, z| flush(fma(flush(x), flush(y), flush(z), RN))),
    ("fma_sat", F32, |x, y, z| sat(fma(x, y, z, RN))),
    ("fma_neg", F32, |x, y, z| fma(x ^ 0x8000_0000, y, z ^ 0x8000_0000, RN)),
    ("fma_const", F32, |x, _, z| fma(x, 1.25f32.to_bits().into(), z, RN)),
    ("fma_imm32", F32, |x, _, z| fma(x, 0x4049_0fdb, z, RN)),
    ("div_rn", F32, |x, y, _| div(x, y, RN)),
    ("div_rz", F32, |x, y, _| div(x, y, RZ)),
    ("div_rm", F32, |x, y, _| div(x, y, RM)),
    ("div_rp", F32, |x, y, _| div(x, y, RP)),
    ("rcp_rn", F32, |x, _, _| div(0x3f80_0000, x, RN)),
    ("sqrt_rn", F32, |x, _, _| f(x).sqrt().to_bits().into()),
    ("sqrt_rz", F32, |x, _, _| sqrt_rz(x)),
    ("min_", F32, |x, y, _| pick32(x, y, true)),
    ("max_", F32, |x, y, _| pick32(x, y, false)),
    ("min_ftz", F32, |x, y, _| pick32(flush(x), flush(y), true)),
    ("abs_", F32, |x, _, _| x & 0x7fff_ffff),
    ("neg_", F32, |x, _, _| x ^ 0x8000_0000),
    ("dadd_rn", F64, |x, y, _| bits(t(x).add_r(t(y), RN).value)),
    ("dadd_rz", F64, |x, y, _| bits(t(x).add_r(t(y), RZ).value)),
    ("dadd_rm", F64, |x, y, _| bits(t(x).add_r(t(y), RM).value)),
    ("dadd_rp", F64, |x, y, _| bits(t(x).add_r(t(y), RP).value)),
    ("dmul_rn", F64, |x, y, _| bits(t(x).mul_r(t(y), RN).value)),
    ("dmul_rz", F64, |x, y, _| bits(t(x).mul_r(t(y), RZ).value)),
    ("dfma_rn", F64, |x, y, z| bits(t(x).mul_add_r(t(y), t(z), RN).value)),
    ("dfma_rp", F64, |x, y, z| bits(t(x).mul_add_r(t(y), t(z), RP).value)),
    ("ddiv_rn", F64, |x, y, _| (d(x) / d(y)).to_bits()),
    ("drcp_rn", F64, |x, _, _| (1.0 / d(x)).to_bits()),
    ("dsqrt_rn", F64, |x, _, _| d(x).sqrt().to_bits()),
    ("dmin", F64, |x, y, _| pick(d(x), d(y), true).to_bits()),
    ("dmax", F64, |x, y, _| pick(d(x), d(y), false).to_bits()),
    ("relations", INT, |x, y, _| relations(f(x), f(y))),
    ("drelations", INT, |x, y, _| relations(d(x), d(y))),
    ("isnan_", INT, |x, y, _| u64::from(f(x).is_nan()) | u64::from(d(y).is_nan()) << 1),
    ("slct", F32, |x, y, z| if f(z) >= 0.0 { x } else { y }),
    ("f32_s32_rn", LOW, |x, _, _| to_int(wide(x), f64::round_ties_even, S32.0, S32.1, 0)),
    ("f32_s32_rz", LOW, |x, _, _| to_int(wide(x), f64::trunc, S32.0, S32.1, 0)),
    ("f32_s32_rm", LOW, |x, _, _| to_int(wide(x), f64::floor, S32.0, S32.1, 0)),
    ("f32_s32_rp", LOW, |x, _, _| to_int(wide(x), f64::ceil, S32.0, S32.1, 0)),
    ("f32_u32_rz", LOW, |x, _, _| to_int(wide(x), f64::trunc, U32.0, U32.1, 0)),
    ("f32_u32_ftz", LOW, |x, _, _| to_int(wide(flush(x)), f64::ceil, U32.0, U32.1, 0)),
    ("f32_s64_rz", INT, |x, _, _| to_s64(wide(x))),
    ("f32_u64_rz", INT, |x, _, _| to_u64(wide(x))),
    ("f64_s32_rz", LOW, |x, _, _| to_int(d(x), f64::trunc, S32.0, S32.1, 1 << 31)),
    ("f64_u32_rn", LOW, |x, _, _| to_int(d(x), f64::round_ties_even, U32.0, U32.1, 1 << 31)),
    ("f64_s64_rm", INT, |x, _, _| to_s64(d(x).floor().clamp(S64.0, S64.1))),
    ("f64_u64_rz", INT, |x, _, _| to_u64(d(x))),
    ("f32_s16_rz", INT, |x, _, _| to_int(wide(x), f64::trunc, -32768.0, 32767.0, 0) & 0xffff),
    ("f32_u16_rz", INT, |x, _, _| to_int(wide(x), f64::trunc, 0.0, 65535.0, 0)),
    ("s32_f32_rn", F32, |x, _, _| from_int((x as i32).into(), RN)),
    ("s32_f32_rz", F32, |x, _, _| from_int((x as i32).into(), RZ)),
    ("u32_f32_rp", F32, |x, _, _| from_int((x as u32).into(), RP)),
    ("u32_f32_rm", F32, |x, _, _| from_int((x as u32).into(), RM)),
    ("s64_f32_rn", F32, |x, _, _| from_int((x as i64).into(), RN)),
    ("u64_f32_rz", F32, |x, _, _| from_int(x.into(), RZ)),
    ("s64_f64_rn", F64, |x, _, _| from_int64((x as i64).into(), RN)),
    ("u64_f64_rp", F64, |x, _, _| from_int64(x.into(), RP)),
    ("s32_f64", F64, |x, _, _| f64::from(x as i32).to_bits()),
    ("u32_f64", F64, |x, _, _| f64::from(x as u32).to_bits()),
    ("u8_f32", F32, |x, _, _| f32::from((x >> 8) as u8).to_bits().into()),
    ("s16_f32", F32, |x, _, _| f32::from((x >> 16) as i16).to_bits().into()),
    ("f64_f32_rn", F32, |x, _, _| narrow(x, RN)),
    ("f64_f32_rz", F32, |x, _, _| narrow(x, RZ)),
    ("f64_f32_rp", F32, |x, _, _| narrow(x, RP)),
    ("f32_f64", F64, |x, _, _| f64::from(f(x)).to_bits()),
    ("f32_f16_rn", F16, |x, _, _| half(x, RN)),
    ("f32_f16_rz", F16, |x, _, _| half(x, RZ)),
    ("f16_f32", F32, |x, _, _| from_half(x)),
    ("f16_hi_f32", F32, |x, _, _| from_half(x >> 16)),
    ("round_even", F32, |x, _, _| integral(x, RN)),
    ("floor_", F32, |x, _, _| integral(x, RM)),
    ("ceil_", F32, |x, _, _| integral(x, RP)),
    ("trunc_", F32, |x, _, _| integral(x, RZ)),
    ("dround_even", F64, |x, _, _| d(x).round_ties_even().to_bits()),
    ("dfloor", F64, |x, _, _| d(x).floor().to_bits()),
    ("saturate", F32, |x, _, _| sat(x)),
    ("s32_u8_sat", INT, |x, _, _| clamp((x as i32).into(), 0, 255, 8)),
    ("s32_s8_sat", INT, |x, _, _| clamp((x as i32).into(), -128, 127, 8)),
    ("u32_u16_sat", INT, |x, _, _| clamp((x as u32).into(), 0, 65535, 16)),
    ("s32_s16_sat", INT, |x, _, _| clamp((x as i32).into(), -32768, 32767, 16)),
    ("s32_u32_sat", LOW, |x, _, _| clamp((x as i32).into(), 0, u32::MAX.into(), 32)),
    ("u32_s32_sat", LOW, |x, _, _| clamp((x as u32).into(), 0, i32::MAX.into(), 32)),
    ("ex2_approx", CLOSE, |x, _, _| f(x).exp2().to_bits().into()),
    ("lg2_approx", CLOSE, |x, _, _| u64::from((wide(x).log2() as f32).to_bits())),
];

//! Tests `cvt` of the PTX ISA among all integer and float types, with each rounding and saturation.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::float::ROUNDINGS;
use super::integer::{INTS, Int};
use super::{Group, Width, registers};
use crate::float::{EDGES, F16, F32, F64, RM, RN, RP, RZ, operand};
use crate::{Same, integer};

#[test]
fn convert_integers() {
    let mut group = Group::default();
    for from in ints() {
        for to in ints() {
            let ([_, x, _, _], [r, ..]) =
                (registers(from.bits.max(16)), registers(to.bits.max(32)));
            // `.sat` is legal only where the target cannot hold every source value.
            let fits = to.least() <= from.least() && from.most() <= to.most();
            for saturate in [false, true].into_iter().take(if fits { 1 } else { 2 }) {
                let sat_name = if saturate { ".sat" } else { "" };
                let ptx = format!("cvt{sat_name}.{}.{} {r}, {x};", to.name, from.name);
                group.int(to.bits.max(32), ptx, move |x, _, _| {
                    let value = from.of(x);
                    // The target's own sign extends the value to the register.
                    to.of((if saturate { to.clamp(value) } else { value }) as u64) as u64
                });
            }
            // Bytes within a word are operand modifiers.
            if from.bits == 8 && to.bits == 32 {
                for at in [8, 16, 24] {
                    let ptx = format!("shr.u32 t, x, {at}; cvt.{}.{} r, t;", to.name, from.name);
                    group.int(32, ptx, move |x, _, _| from.of(x >> at) as u64);
                }
            }
        }
        for float in FLOATS {
            for (round_name, round) in ROUNDINGS {
                for saturate in [false, true] {
                    let ([_, x, _, _], [r, ..]) =
                        (registers(from.bits.max(16)), registers(float.bits));
                    let sat_name = if saturate { ".sat" } else { "" };
                    let ptx =
                        format!("cvt{round_name}{sat_name}.{}.{} {r}, {x};", float.name, from.name);
                    group.form(ptx, float.width, float.same, move |x, _, _| {
                        let value = (float.from_int)(from.of(x), round);
                        if saturate { (float.saturate)(value) } else { value }
                    });
                }
            }
        }
    }
    group.check("convert_integers", integer::operand, &integer::EDGES);
    group.check_text("convert_integers", integer::operand, &integer::EDGES);
}

#[test]
fn convert_floats() {
    let mut group = Group::default();
    for from in FLOATS {
        let [_, x, _, _] = registers(from.bits);
        // `.ftz` is for instructions that read or write an `f32`.
        for to in ints() {
            let [r, ..] = registers(to.bits.max(32));
            for (round_name, round) in INTEGRAL {
                for ftz in [false, true].into_iter().take(if from.bits == 32 { 2 } else { 1 }) {
                    for sat_name in ["", ".sat"] {
                        let ftz_name = if ftz { ".ftz" } else { "" };
                        let ptx = format!(
                            "cvt{round_name}{ftz_name}{sat_name}.{}.{} {r}, {x};",
                            to.name, from.name
                        );
                        group.int(to.bits.max(32), ptx, move |x, _, _| {
                            let x = if ftz { (from.flush)(x) } else { x };
                            to_int(from, to, x, round) as u64
                        });
                    }
                }
            }
        }
        for to in FLOATS {
            let [r, ..] = registers(to.bits);
            let roundings = match from.bits.cmp(&to.bits) {
                std::cmp::Ordering::Greater => ROUNDINGS.to_vec(),
                std::cmp::Ordering::Less => vec![("", RN)],
                std::cmp::Ordering::Equal => INTEGRAL.to_vec(),
            };
            let flushes = from.bits == 32 || to.bits == 32;
            for (round_name, round) in roundings {
                for ftz in [false, true].into_iter().take(if flushes { 2 } else { 1 }) {
                    for saturate in [false, true] {
                        let (ftz_name, sat_name) =
                            (if ftz { ".ftz" } else { "" }, if saturate { ".sat" } else { "" });
                        let ptx = format!(
                            "cvt{round_name}{ftz_name}{sat_name}.{}.{} {r}, {x};",
                            to.name, from.name
                        );
                        group.form(ptx, to.width, to.same, move |x, _, _| {
                            // The compiler drops `.ftz` if the result is a half: no half is as
                            // small as a subnormal `f32`, except under directed roundings.
                            let ftz = ftz && to.bits != 16;
                            let x = if ftz { (from.flush)(x) } else { x };
                            let value =
                                if from.bits == to.bits { (from.integral)(x, round) } else { x };
                            let value = (from.convert)(value, to.bits, round);
                            let value = if ftz { (to.flush)(value) } else { value };
                            if saturate { (to.saturate)(value) } else { value }
                        });
                    }
                }
            }
        }
    }
    group.check("convert_floats", operand, &EDGES);
    group.check_text("convert_floats", operand, &EDGES);
}

/// Returns all integer types.
fn ints() -> impl Iterator<Item = Int> {
    let bytes =
        [Int { name: "u8", bits: 8, signed: false }, Int { name: "s8", bits: 8, signed: true }];
    bytes.into_iter().chain(INTS)
}

const INTEGRAL: [(&str, Round); 4] = [(".rni", RN), (".rzi", RZ), (".rmi", RM), (".rpi", RP)];

/// A float type and its operations; values are its bits.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    bits: u32,
    width: Width,
    same: Same,
    from_int: fn(i128, Round) -> u64,
    integral: fn(u64, Round) -> u64,
    /// Converts to the format with the given number of bits.
    convert: fn(u64, u32, Round) -> u64,
    /// Rounds to an integer with at least the bits of any target; `None` for NaN.
    exact: fn(u64, Round) -> Option<i128>,
    /// Flushes denormals to zero if the format is `f32`; other formats do not flush.
    flush: fn(u64) -> u64,
    /// Clamps to [+0, 1]; NaN becomes +0.
    saturate: fn(u64) -> u64,
}

const FLOATS: [Format; 3] = [
    format::<Half>("f16", 16, Width::Bits16, F16, |x| x),
    format::<Single>("f32", 32, Width::Bits32, F32, crate::float::flush),
    format::<Double>("f64", 64, Width::Bits64, F64, |x| x),
];

const fn format<F: Apfloat>(
    name: &'static str,
    bits: u32,
    width: Width,
    same: Same,
    flush: fn(u64) -> u64,
) -> Format {
    Format {
        name,
        bits,
        width,
        same,
        from_int: |value, round| F::from_i128_r(value, round).value.to_bits() as u64,
        integral: |x, round| F::read(x).round_to_integral(round).value.to_bits() as u64,
        convert: |x, bits, round| F::read(x).change(bits, round),
        exact: |x, round| {
            let value = F::read(x);
            if value.is_nan() { None } else { Some(value.to_i128_r(127, round, &mut false).value) }
        },
        flush,
        saturate: |x| {
            let value = F::read(x);
            let one = F::from_u128(1).value;
            let clamped = if value > one {
                one
            } else if value > F::ZERO {
                value
            } else {
                F::ZERO
            };
            clamped.to_bits() as u64
        },
    }
}

trait Apfloat: Float {
    /// Reads a float from the low bits.
    fn read(bits: u64) -> Self {
        Self::from_bits(u128::from(bits) & (u128::MAX >> (128 - Self::BITS)))
    }

    fn change(self, bits: u32, round: Round) -> u64;
}

impl<F: Float + FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>> Apfloat for F {
    fn change(self, bits: u32, round: Round) -> u64 {
        let (half, single, double): (Half, Single, Double) = (
            self.convert_r(round, &mut false).value,
            self.convert_r(round, &mut false).value,
            self.convert_r(round, &mut false).value,
        );
        match bits {
            16 => half.to_bits() as u64,
            32 => single.to_bits() as u64,
            _ => double.to_bits() as u64,
        }
    }
}

/// Converts a float to an integer and clamps it to the target's range.
///
/// PTX converts NaN to 0, or to the top bit alone if the source is a double or the target has 64
/// bits. From a double to a short integer, the compiler converts to a word first, and clamps the
/// word.
fn to_int(from: Format, to: Int, x: u64, round: Round) -> i128 {
    let word = INTS[2 + usize::from(to.signed)];
    let top = |ty: Int| ty.of(1 << (ty.bits - 1));
    match (from.exact)(x, round) {
        Some(value) => to.clamp(value),
        None if to.bits == 64 => top(to),
        None if from.bits == 64 => to.clamp(top(word)),
        None => 0,
    }
}

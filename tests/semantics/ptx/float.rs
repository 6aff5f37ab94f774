//! Tests *Floating Point Instructions* of the PTX ISA. `rustc_apfloat` defines rounding;
//! approximate instructions stay within PTX's bounds.

use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::{Group, Width};
use crate::Same;
use crate::float::{
    CLOSE, EDGES, F32, F64, RM, RN, RP, RZ, bits, d, f, flush, operand, pick, pick32, s, sat, t,
};

#[test]
fn float() {
    let mut group = Group { gives_all_bits: false, ..Group::default() };
    single(&mut group);
    double(&mut group);
    roots(&mut group);
    approximate(&mut group);
    signs(&mut group);
    group.check("float", operand, &EDGES);
    group.check_text("float", operand, &EDGES);
}

/// The rounding modifiers and their meaning; the default is to nearest.
pub const ROUNDINGS: [(&str, Round); 4] = [(".rn", RN), (".rz", RZ), (".rm", RM), (".rp", RP)];

impl Group {
    fn single(&mut self, ptx: String, result: impl Fn(u64, u64, u64) -> u64 + 'static) {
        self.form(ptx, Width::Bits32, F32, result);
    }

    fn double(&mut self, ptx: String, result: impl Fn(u64, u64, u64) -> u64 + 'static) {
        self.form(ptx, Width::Bits64, F64, result);
    }
}

/// Returns `op` with flushed operands and result, and a saturated result, as the flags say.
fn with_modifiers(
    ftz: bool,
    saturate: bool,
    op: impl Fn(Single, Single, Single) -> Single + 'static,
) -> impl Fn(u64, u64, u64) -> u64 {
    modified(ftz.then_some(flush), saturate.then_some(sat), s, op)
}

/// Returns `op` on floats that `read` makes of bits. `flush` changes operands and result, and
/// `saturate` the result, where they are given.
pub fn modified<F: Float>(
    flush: Option<fn(u64) -> u64>,
    saturate: Option<fn(u64) -> u64>,
    read: fn(u64) -> F,
    op: impl Fn(F, F, F) -> F + 'static,
) -> impl Fn(u64, u64, u64) -> u64 {
    let changed = |change: Option<fn(u64) -> u64>, x| change.map_or(x, |change| change(x));
    move |x, y, z| {
        let [x, y, z] = [x, y, z].map(|x| read(changed(flush, x)));
        changed(saturate, changed(flush, bits(op(x, y, z))))
    }
}

/// Accepts zero for the least normal number: rounding may have produced it, and PTX does not say
/// whether it flushes before or after rounding.
const TINY: Same = |found, expected| {
    F32(found, expected) || (expected & 0x7fff_ffff == 0x80_0000 && found == expected & 0x8000_0000)
};

fn single(group: &mut Group) {
    for ftz in [false, true] {
        let ftz_name = if ftz { ".ftz" } else { "" };
        for (round_name, round) in [("", RN)].into_iter().chain(ROUNDINGS) {
            for saturate in [false, true] {
                let sat_name = if saturate { ".sat" } else { "" };
                let name = format!("{round_name}{ftz_name}{sat_name}.f32");
                group.single(
                    format!("add{name} r, x, y;"),
                    with_modifiers(ftz, saturate, move |x, y, _| x.add_r(y, round).value),
                );
                group.single(
                    format!("sub{name} r, x, y;"),
                    with_modifiers(ftz, saturate, move |x, y, _| x.sub_r(y, round).value),
                );
                group.single(
                    format!("mul{name} r, x, y;"),
                    with_modifiers(ftz, saturate, move |x, y, _| x.mul_r(y, round).value),
                );
                if round_name.is_empty() {
                    continue;
                }
                for op in ["fma", "mad"] {
                    group.single(
                        format!("{op}{name} r, x, y, z;"),
                        with_modifiers(ftz, saturate, move |x, y, z| {
                            x.mul_add_r(y, z, round).value
                        }),
                    );
                }
                group.single(
                    format!("neg.f32 t, x; neg.f32 u, z; fma{name} r, t, y, u;"),
                    with_modifiers(ftz, saturate, move |x, y, z| {
                        (-x).mul_add_r(y, -z, round).value
                    }),
                );
            }
            if !round_name.is_empty() {
                group.form(
                    format!("div{round_name}{ftz_name}.f32 r, x, y;"),
                    Width::Bits32,
                    if ftz { TINY } else { F32 },
                    with_modifiers(ftz, false, move |x, y, _| x.div_r(y, round).value),
                );
                group.single(
                    format!("rcp{round_name}{ftz_name}.f32 r, x;"),
                    with_modifiers(ftz, false, move |x, _, _| {
                        Single::from_u128(1).value.div_r(x, round).value
                    }),
                );
            }
        }
        // The immediates have 20 bits, and 32. A constant bank is no PTX operand.
        for imm in [1.5f32, -2.0, 0.1, 3.141_592_7e10] {
            let (text, value) = (format!("0f{:08X}", imm.to_bits()), s(imm.to_bits().into()));
            group.single(
                format!("add{ftz_name}.f32 r, x, {text};"),
                with_modifiers(ftz, false, move |x, _, _| (x + value).value),
            );
            group.single(
                format!("mul{ftz_name}.f32 r, x, {text};"),
                with_modifiers(ftz, false, move |x, _, _| (x * value).value),
            );
            group.single(
                format!("fma.rn{ftz_name}.f32 r, x, {text}, y;"),
                with_modifiers(ftz, false, move |x, y, _| x.mul_add(value, y).value),
            );
            group.single(
                format!("fma.rn{ftz_name}.f32 r, x, y, {text};"),
                with_modifiers(ftz, false, move |x, y, _| x.mul_add(y, value).value),
            );
        }
        let flushed = move |x| if ftz { flush(x) } else { x };
        group.single(format!("min{ftz_name}.f32 r, x, y;"), move |x, y, _| {
            pick32(flushed(x), flushed(y), true)
        });
        group.single(format!("max{ftz_name}.f32 r, x, y;"), move |x, y, _| {
            pick32(flushed(x), flushed(y), false)
        });
        // Absolute values and negations are operand modifiers, and powers of two may be.
        group.single(
            format!(
                "abs.f32 t, x; neg.f32 u, y; abs.f32 u, u; neg.f32 u, u; add{ftz_name}.f32 r, t, u;"
            ),
            with_modifiers(ftz, false, |x, y, _| (x.abs() - y.abs()).value),
        );
        group.single(
            format!("neg.f32 t, x; mul{ftz_name}.f32 r, t, y;"),
            with_modifiers(ftz, false, |x, y, _| (-x * y).value),
        );
    }
}

fn double(group: &mut Group) {
    for (name, round) in [("", RN)].into_iter().chain(ROUNDINGS) {
        group.double(format!("add{name}.f64 R, X, Y;"), move |x, y, _| {
            bits(t(x).add_r(t(y), round).value)
        });
        group.double(format!("sub{name}.f64 R, X, Y;"), move |x, y, _| {
            bits(t(x).sub_r(t(y), round).value)
        });
        group.double(format!("mul{name}.f64 R, X, Y;"), move |x, y, _| {
            bits(t(x).mul_r(t(y), round).value)
        });
        if name.is_empty() {
            continue;
        }
        for op in ["fma", "mad"] {
            group.double(format!("{op}{name}.f64 R, X, Y, Z;"), move |x, y, z| {
                bits(t(x).mul_add_r(t(y), t(z), round).value)
            });
        }
        group.double(
            format!("neg.f64 T, X; neg.f64 U, Z; fma{name}.f64 R, T, Y, U;"),
            move |x, y, z| bits((-t(x)).mul_add_r(t(y), -t(z), round).value),
        );
        group.double(format!("div{name}.f64 R, X, Y;"), move |x, y, _| {
            bits(t(x).div_r(t(y), round).value)
        });
        group.double(format!("rcp{name}.f64 R, X;"), move |x, _, _| {
            bits(t(1f64.to_bits()).div_r(t(x), round).value)
        });
    }
    for imm in [1.5f64, -2.0, 0.1] {
        let (text, value) = (format!("0d{:016X}", imm.to_bits()), t(imm.to_bits()));
        group.double(format!("add.f64 R, X, {text};"), move |x, _, _| bits((t(x) + value).value));
        group.double(format!("mul.f64 R, X, {text};"), move |x, _, _| bits((t(x) * value).value));
        group.double(format!("fma.rn.f64 R, X, {text}, Y;"), move |x, y, _| {
            bits(t(x).mul_add(value, t(y)).value)
        });
        group.double(format!("fma.rn.f64 R, X, Y, {text};"), move |x, y, _| {
            bits(t(x).mul_add(t(y), value).value)
        });
    }
    group.double("min.f64 R, X, Y;".into(), |x, y, _| pick(d(x), d(y), true).to_bits());
    group.double("max.f64 R, X, Y;".into(), |x, y, _| pick(d(x), d(y), false).to_bits());
    group.double("abs.f64 T, X; neg.f64 U, Y; add.f64 R, T, U;".into(), |x, y, _| {
        bits((t(x).abs() - t(y)).value)
    });
}

/// Returns the root rounded by `round`. `nearest` is the root rounded to nearest; `square` compares
/// its square with the operand.
fn directed(nearest: u64, square: std::cmp::Ordering, round: Round) -> u64 {
    match (round, square) {
        (Round::TowardZero | Round::TowardNegative, std::cmp::Ordering::Greater) => nearest - 1,
        (Round::TowardPositive, std::cmp::Ordering::Less) => nearest + 1,
        _ => nearest,
    }
}

fn root32(x: u64, round: Round) -> u64 {
    let (x, root) = (f(x), f(x).sqrt());
    if !root.is_finite() || root == 0.0 {
        return root.to_bits().into();
    }
    // The square of a number of 24 bits is exact.
    let square = f64::from(root) * f64::from(root);
    directed(root.to_bits().into(), square.total_cmp(&x.into()), round)
}

fn root64(x: u64, round: Round) -> u64 {
    let root = d(x).sqrt();
    if !root.is_finite() || root == 0.0 {
        return root.to_bits();
    }
    let quad = |x: u64| -> Quad { Double::from_bits(x.into()).convert(&mut false).value };
    let square = (quad(root.to_bits()) * quad(root.to_bits())).value;
    directed(root.to_bits(), square.partial_cmp(&quad(x)).expect("numbers"), round)
}

fn roots(group: &mut Group) {
    for (name, round) in ROUNDINGS {
        group.single(format!("sqrt{name}.f32 r, x;"), move |x, _, _| root32(x, round));
        group.single(format!("sqrt{name}.ftz.f32 r, x;"), move |x, _, _| root32(flush(x), round));
        group.double(format!("sqrt{name}.f64 R, X;"), move |x, _, _| root64(x, round));
    }
}

/// Marks results for which PTX promises nothing.
const ANY: u64 = 0xffff_ffff;

/// Accepts an error of two units in the last place, and one more for the rounding of the expected
/// result.
const ULPS: Same = |found, expected| {
    let (x, y) = (f64::from(f(found)), f64::from(f(expected)));
    let bound =
        (y.abs() * 3.0 * f64::from(f32::EPSILON) / 2.0).max(2.0 * f64::from(f32::from_bits(1)));
    expected == ANY
        || F32(found, expected)
        || ((x - y).abs() <= bound && x.is_sign_negative() == y.is_sign_negative() && x.is_finite())
        // The result is about to overflow.
        || (x - y).abs() <= bound
        || (f(found).is_infinite() && y.abs() >= f64::from(f32::MAX) * (1.0 - 1e-6) && (x > 0.0) == (y > 0.0))
};

/// Accepts high words of doubles within a relative error of 2^-20.
const HIGH: Same = |found, expected| {
    let (x, y) = (d(found), d(expected));
    F64(found, expected) || (x - y).abs() <= y.abs() * 2f64.powi(-20)
};

fn rounded(value: f64) -> u64 {
    (value as f32).to_bits().into()
}

fn flush64(x: u64) -> f64 {
    let x = d(x);
    if x.is_subnormal() { 0f64.copysign(x) } else { x }
}

fn approximate(group: &mut Group) {
    for ftz in [false, true] {
        let name = if ftz { ".ftz.f32" } else { ".f32" };
        let flushed = move |x: u64| if ftz { flush(x) } else { x & 0xffff_ffff };
        let wide = move |x: u64| f64::from(f(flushed(x)));
        let near = Width::Bits32;
        group.form(format!("div.approx{name} r, x, y;"), near, ULPS, move |x, y, _| {
            let divisor = wide(y).abs();
            let promised = divisor == 0.0
                || divisor.is_nan()
                || (2f64.powi(-126)..=2f64.powi(126)).contains(&divisor);
            if promised { flushed(rounded(wide(x) / wide(y))) } else { ANY }
        });
        group.form(format!("div.full{name} r, x, y;"), near, ULPS, move |x, y, _| {
            flushed(rounded(wide(x) / wide(y)))
        });
        group.form(format!("rcp.approx{name} r, x;"), near, ULPS, move |x, _, _| {
            flushed(rounded(1.0 / wide(x)))
        });
        group.form(format!("sqrt.approx{name} r, x;"), near, ULPS, move |x, _, _| {
            rounded(wide(x).sqrt())
        });
        group.form(format!("rsqrt.approx{name} r, x;"), near, ULPS, move |x, _, _| {
            rounded(1.0 / wide(x).sqrt())
        });
        group.form(format!("ex2.approx{name} r, x;"), near, ULPS, move |x, _, _| {
            flushed(rounded(wide(x).exp2()))
        });
        group.form(format!("lg2.approx{name} r, x;"), near, CLOSE, move |x, _, _| {
            rounded(wide(x).log2())
        });
        group.form(format!("sin.approx{name} r, x;"), near, CLOSE, move |x, _, _| {
            rounded(angle(wide(x)).sin())
        });
        group.form(format!("cos.approx{name} r, x;"), near, CLOSE, move |x, _, _| {
            rounded(angle(wide(x)).cos())
        });
    }
    let high = Width::Bits64;
    group.form("rcp.approx.ftz.f64 R, X;", high, HIGH, |x, _, _| {
        flush64((1.0 / flush64(x)).to_bits()).to_bits()
    });
    group.form("rsqrt.approx.ftz.f64 R, X;", high, HIGH, |x, _, _| {
        (1.0 / flush64(x).sqrt()).to_bits()
    });
    group.form("rsqrt.approx.f64 R, X;", high, HIGH, |x, _, _| (1.0 / d(x).sqrt()).to_bits());
}

/// Reduces an angle to the part beyond whole turns. The number of turns is an `f32`, rounded
/// towards 0.
fn angle(x: f64) -> f64 {
    let product = x * f64::from(0.159_154_94_f32);
    let near = product as f32;
    let turns = if f64::from(near).abs() > product.abs() {
        f32::from_bits(near.to_bits() - 1)
    } else {
        near
    };
    f64::from(turns).fract() * std::f64::consts::TAU
}

fn signs(group: &mut Group) {
    let top = 1u64 << 63;
    group.single("abs.f32 r, x;".into(), |x, _, _| x & 0x7fff_ffff);
    group.single("abs.ftz.f32 r, x;".into(), |x, _, _| flush(x) & 0x7fff_ffff);
    group.single("neg.f32 r, x;".into(), |x, _, _| x ^ 0x8000_0000);
    group.single("neg.ftz.f32 r, x;".into(), |x, _, _| flush(x) ^ 0x8000_0000);
    group.double("abs.f64 R, X;".into(), move |x, _, _| x & !top);
    group.double("neg.f64 R, X;".into(), move |x, _, _| x ^ top);
    group.int(32, "copysign.f32 r, x, y;", |x, y, _| x & 0x8000_0000 | y & 0x7fff_ffff);
    group.int(64, "copysign.f64 R, X, Y;", move |x, y, _| x & top | y & !top);
}

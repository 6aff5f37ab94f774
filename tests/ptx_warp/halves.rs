//! Arithmetic of halves, against exact arithmetic that is rounded once.

use rustc_apfloat::ieee::{BFloat, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::{Random, each};

const NAN: u32 = 0x7fff;

/// A format of 16 bits.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    F16,
    Bf16,
}

impl Format {
    fn name(self) -> &'static str {
        if self == Format::F16 { "f16" } else { "bf16" }
    }

    fn infinity(self) -> u32 {
        if self == Format::F16 { 0x7c00 } else { 0x7f80 }
    }

    fn is_nan(self, x: u32) -> bool {
        x & 0x7fff > self.infinity()
    }

    fn flushed(self, x: u32) -> u32 {
        let smallest = if self == Format::F16 { 0x400 } else { 0x80 };
        if x & 0x7fff < smallest { x & 0x8000 } else { x }
    }

    /// Returns a * b + c.
    fn fma(self, round: Round, [a, b, c]: [u32; 3]) -> u32 {
        fn of<F: Float>(round: Round, x: [u32; 3]) -> u32 {
            let [a, b, c] = x.map(|x| F::from_bits(x.into()));
            let result = a.mul_add_r(b, c, round).value;
            if result.is_nan() { NAN } else { result.to_bits() as u32 }
        }
        match self {
            Format::F16 => of::<Half>(round, [a, b, c]),
            Format::Bf16 => of::<BFloat>(round, [a, b, c]),
        }
    }

    fn binary(self, op: &str, a: u32, b: u32) -> u32 {
        fn of<F: Float>(op: &str, a: u32, b: u32) -> u32 {
            let [a, b] = [a, b].map(|x| F::from_bits(x.into()));
            let result = match op {
                "add" => a + b,
                "sub" => a - b,
                _ => a * b,
            }
            .value;
            if result.is_nan() { NAN } else { result.to_bits() as u32 }
        }
        match self {
            Format::F16 => of::<Half>(op, a, b),
            Format::Bf16 => of::<BFloat>(op, a, b),
        }
    }

    fn to_single(self, x: u32) -> f32 {
        let mut loses = false;
        let single: Single = match self {
            Format::F16 => Half::from_bits(x.into()).convert(&mut loses).value,
            Format::Bf16 => BFloat::from_bits(x.into()).convert(&mut loses).value,
        };
        f32::from_bits(single.to_bits() as u32)
    }

    /// Returns operands: numbers of all kinds, and numbers whose sums and products lie near the
    /// middle between two numbers.
    fn operands(self, count: usize) -> Vec<[u32; 3]> {
        let special = [
            0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x3f80, 0x7bff, 0x7f7f, 0x7c00, 0xfc00, 0x7f80,
            0xff80, 0x7e01, 0xffc1, 0x400, 0x3ff,
        ];
        let mut random = Random(7);
        let mut one = || match random.below(4) {
            0 => special[random.below(special.len() as u32) as usize],
            // A number near 1.
            1 => self.operand_near_one(&mut random),
            _ => random.word() & 0xffff,
        };
        (0..count).map(|_| [one(), one(), one()]).collect()
    }

    fn operand_near_one(self, random: &mut Random) -> u32 {
        let (one, place) = if self == Format::F16 { (0x3c00, 10) } else { (0x3f80, 7) };
        let exponent = one + ((random.below(24) as i32 - 12) << place);
        exponent as u32 | random.below(1 << place) | random.below(2) << 15
    }
}

/// Runs a scalar form on single values, and the form of pairs on two values at once.
fn check(
    target: &str,
    operation: &str,
    suffix: &str,
    format: Format,
    sources: usize,
    expected: impl Fn([u32; 3]) -> u32,
) {
    let sets = format.operands(480);
    let list = |prefix: &str| (1..=sources).map(|n| format!(", %{prefix}{n}")).collect::<String>();
    let name = format.name();
    let unpacked: String =
        (1..=sources).map(|n| format!("cvt.u16.u32 %h{n}, %i{};\n", n - 1)).collect();
    let body =
        format!("{unpacked}{operation}.{suffix}{name} %h0{};\ncvt.u32.u16 %o0, %h0;", list("h"));
    each(target, &body, &sets, |set, result| {
        assert_eq!(result, expected(set), "{operation}.{suffix}{name} of {set:x?}");
    });
    let moves: String = (1..=sources).map(|n| format!("mov.b32 %a{n}, %i{};\n", n - 1)).collect();
    let pair = format!("{moves}{operation}.{suffix}{name}x2 %o0{};", list("a"));
    let pairs: Vec<[u32; 3]> = sets
        .chunks_exact(2)
        .map(|two| std::array::from_fn(|n| two[0][n] | two[1][n] << 16))
        .collect();
    each(target, &pair, &pairs, |set, result| {
        let (low, high) = (expected(set.map(|x| x & 0xffff)), expected(set.map(|x| x >> 16)));
        assert_eq!(result, low | high << 16, "{operation}.{suffix}{name}x2 of {set:x?}");
    });
}

fn sat(x: u32) -> u32 {
    if Format::F16.is_nan(x) || x & 0x8000 != 0 { 0 } else { x.min(0x3c00) }
}

fn relu(x: u32) -> u32 {
    if x & 0x8000 != 0 { 0 } else { x }
}

#[test]
fn sums_and_products() {
    for op in ["add", "sub", "mul"] {
        let f16 = Format::F16;
        check("sm_90", op, "rn.", f16, 2, |[a, b, _]| f16.binary(op, a, b));
        check("sm_90", op, "", Format::Bf16, 2, |[a, b, _]| Format::Bf16.binary(op, a, b));
        let flushing = |a, b| f16.flushed(f16.binary(op, f16.flushed(a), f16.flushed(b)));
        check("sm_90", op, "ftz.", f16, 2, |[a, b, _]| flushing(a, b));
        check("sm_90", op, "rn.ftz.sat.", f16, 2, |[a, b, _]| sat(flushing(a, b)));
    }
}

#[test]
fn fused_products() {
    let near = Round::NearestTiesToEven;
    for format in [Format::F16, Format::Bf16] {
        check("sm_90", "fma", "rn.", format, 3, |x| format.fma(near, x));
        check("sm_90", "fma", "rn.relu.", format, 3, |x| relu(format.fma(near, x)));
    }
    let f16 = Format::F16;
    check("sm_90", "fma", "rn.sat.", f16, 3, |x| sat(f16.fma(near, x)));
    check("sm_90", "fma", "rn.ftz.", f16, 3, |x| {
        f16.flushed(f16.fma(near, x.map(|x| f16.flushed(x))))
    });
    for (word, round) in
        [("rz", Round::TowardZero), ("rm", Round::TowardNegative), ("rp", Round::TowardPositive)]
    {
        check("sm_90", "fma", &format!("{word}."), Format::Bf16, 3, |x| Format::Bf16.fma(round, x));
    }
}

/// A product lies in the middle between two numbers, and the summand is tiny.
#[test]
fn fused_products_are_rounded_once() {
    // 1.5 * (1 + 2^-7), plus or minus a far smaller number.
    let body = "cvt.u16.u32 %h1, %i0;\ncvt.u16.u32 %h2, %i1;\ncvt.u16.u32 %h3, %i2;\n\
                fma.rn.bf16 %h0, %h1, %h2, %h3;\ncvt.u32.u16 %o0, %h0;";
    let sets = [
        [0x3fc0, 0x3f81, 0],
        [0x3fc0, 0x3f81, 1],
        [0x3fc0, 0x3f81, 0x8001],
        [0x3fc0, 0x3f83, 0x8001],
    ];
    each("sm_90", body, &sets, |set, result| {
        assert_eq!(result, Format::Bf16.fma(Round::NearestTiesToEven, set), "{set:x?}");
    });
}

/// Returns the lesser number, or for `max` the greater number; -0 comes before +0.
fn least(format: Format, max: bool, a: u32, b: u32) -> u32 {
    let key =
        |x: u32| if x & 0x8000 != 0 { -(i32::try_from(x & 0x7fff).unwrap()) - 1 } else { x as i32 };
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        _ if (key(a) < key(b)) != max => a,
        _ => b,
    }
}

#[test]
fn extremes() {
    for format in [Format::F16, Format::Bf16] {
        for (op, max) in [("min", false), ("max", true)] {
            let one = |a, b| least(format, max, a, b);
            let nan = |a, b| if format.is_nan(a) || format.is_nan(b) { NAN } else { one(a, b) };
            check("sm_90", op, "", format, 2, |[a, b, _]| one(a, b));
            check("sm_90", op, "NaN.", format, 2, |[a, b, _]| nan(a, b));
            let signed = |a: u32, b: u32, f: &dyn Fn(u32, u32) -> u32| {
                let result = f(a & 0x7fff, b & 0x7fff);
                if format.is_nan(result) { NAN } else { result | (a ^ b) & 0x8000 }
            };
            check("sm_90", op, "xorsign.abs.", format, 2, |[a, b, _]| signed(a, b, &one));
            check("sm_90", op, "NaN.xorsign.abs.", format, 2, |[a, b, _]| signed(a, b, &nan));
        }
    }
    let f16 = Format::F16;
    check("sm_90", "max", "ftz.", f16, 2, |[a, b, _]| {
        least(f16, true, f16.flushed(a), f16.flushed(b))
    });
}

#[test]
fn signs() {
    for format in [Format::F16, Format::Bf16] {
        check("sm_90", "neg", "", format, 1, |[a, ..]| a ^ 0x8000);
        check("sm_90", "abs", "", format, 1, |[a, ..]| a & 0x7fff);
    }
    let flushed = |a| if Format::F16.is_nan(a) { NAN } else { Format::F16.flushed(a) };
    check("sm_90", "neg", "ftz.", Format::F16, 1, |[a, ..]| flushed(a) ^ 0x8000);
}

/// Functions stay within the bounds that NVIDIA gives: relative 2^-9.9 and 2^-7 of powers, absolute
/// 2^-10.987 and 2^-8 of tanh.
#[test]
fn functions() {
    let of =
        |format: Format, operation: &str, tolerance: f64, f: fn(f64) -> f64, relative: bool| {
            let body = format!(
                "cvt.u16.u32 %h1, %i0;\n{operation}.{} %h0, %h1;\ncvt.u32.u16 %o0, %h0;",
                format.name()
            );
            let mut random = Random(9);
            let sets: Vec<[u32; 1]> =
                (0..480).map(|_| [format.operand_near_one(&mut random)]).collect();
            each("sm_90", &body, &sets, |[x], result| {
                let (exact, found) =
                    (f(format.to_single(x).into()), f64::from(format.to_single(result)));
                let scale = if relative { exact.abs().max(2f64.powi(-14)) } else { 1.0 };
                let overflows = found.is_infinite() && exact > 65000.0;
                assert!(
                    overflows || (found - exact).abs() <= tolerance * scale,
                    "{operation} of {x:#x}: {found}, {exact}"
                );
            });
        };
    of(Format::F16, "ex2.approx", 2f64.powf(-9.9), f64::exp2, true);
    of(Format::Bf16, "ex2.approx.ftz", 2f64.powi(-7), f64::exp2, true);
    of(Format::F16, "tanh.approx", 2f64.powf(-10.987), f64::tanh, false);
    of(Format::Bf16, "tanh.approx", 2f64.powi(-8), f64::tanh, false);
}

#[test]
fn mixed_precision() {
    let mut random = Random(11);
    for format in [Format::F16, Format::Bf16] {
        let name = format.name();
        let sets: Vec<[u32; 3]> = (0..320)
            .map(|_| {
                let [a, b] = [0, 0].map(|_| format.operand_near_one(&mut random));
                [a, b, (random.word() as f32 / 3e8).to_bits() ^ random.below(2) << 31]
            })
            .collect();
        let halves = "cvt.u16.u32 %h1, %i0;\ncvt.u16.u32 %h2, %i1;\n";
        let value = |x| format.to_single(x);
        let c = f32::from_bits;
        each(
            "sm_100a",
            &format!("{halves}fma.rn.f32.{name} %o0, %h1, %h2, %i2;"),
            &sets,
            |[a, b, x], out| {
                assert_eq!(out, value(a).mul_add(value(b), c(x)).to_bits(), "{a:x} {b:x} {x:x}");
            },
        );
        each(
            "sm_100a",
            &format!("{halves}add.rn.f32.{name} %o0, %h1, %i2;"),
            &sets,
            |[a, _, x], out| {
                assert_eq!(out, (value(a) + c(x)).to_bits());
            },
        );
        each(
            "sm_100a",
            &format!("{halves}sub.f32.{name} %o0, %h1, %i2;"),
            &sets,
            |[a, _, x], out| {
                assert_eq!(out, (value(a) - c(x)).to_bits());
            },
        );
    }
}

#[test]
fn pairs_of_singles() {
    let mut random = Random(12);
    let mut one = || (random.word() as f32 / 7e7 - 30.0).to_bits();
    let sets: Vec<[u32; 6]> = (0..160).map(|_| std::array::from_fn(|_| one())).collect();
    let body = "mov.b64 %l0, {%i0, %i1};\nmov.b64 %l1, {%i2, %i3};\nmov.b64 %l2, {%i4, %i5};\n\
                fma.rn.f32x2 %l3, %l0, %l1, %l2;\nmov.b64 {%a0, %a1}, %l3;\nxor.b32 %o0, %a0, %a1;";
    each("sm_100a", body, &sets, |set, out| {
        let [a, b, c, d, e, f] = set.map(f32::from_bits);
        assert_eq!(out, a.mul_add(c, e).to_bits() ^ b.mul_add(d, f).to_bits());
    });
}

//! Conversions from and to floats of 8 bits and less, and to `bf16`.

use rustc_apfloat::ieee::{BFloat, Double};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::{Random, each};

/// A small format: its bits of exponent and fraction, its bias, and the bits of its greatest
/// number.
struct Format {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    bias: i32,
    most: u32,
    /// The bits to which a NaN converts.
    nan: u32,
    target: &'static str,
}

const FORMATS: [Format; 5] = [
    Format {
        name: "e4m3",
        exponent: 4,
        fraction: 3,
        bias: 7,
        most: 0x7e,
        nan: 0x7f,
        target: "sm_90",
    },
    Format {
        name: "e5m2",
        exponent: 5,
        fraction: 2,
        bias: 15,
        most: 0x7b,
        nan: 0x7f,
        target: "sm_90",
    },
    Format {
        name: "e3m2",
        exponent: 3,
        fraction: 2,
        bias: 3,
        most: 0x1f,
        nan: 0x1f,
        target: "sm_100a",
    },
    Format {
        name: "e2m3",
        exponent: 2,
        fraction: 3,
        bias: 1,
        most: 0x1f,
        nan: 0x1f,
        target: "sm_100a",
    },
    Format {
        name: "e2m1",
        exponent: 2,
        fraction: 1,
        bias: 1,
        most: 0x7,
        nan: 0x7,
        target: "sm_100a",
    },
];

impl Format {
    fn sign(&self) -> u32 {
        1 << (self.exponent + self.fraction)
    }

    fn step(&self) -> u32 {
        if self.sign() == 8 { 4 } else { 8 }
    }

    fn value(&self, bits: u32) -> f64 {
        let magnitude = bits & (self.sign() - 1);
        let value = if magnitude > self.most {
            if self.name == "e5m2" && magnitude == 0x7c { f64::INFINITY } else { f64::NAN }
        } else {
            let (exponent, fraction) =
                (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
            let implied = if exponent == 0 { 0.0 } else { 1.0 };
            let scaled = implied + f64::from(fraction) / f64::from(1 << self.fraction);
            scaled * 2f64.powi((exponent.max(1)) as i32 - self.bias)
        };
        if bits & self.sign() != 0 { -value } else { value }
    }

    /// Returns the bits of the nearest number. In the middle, the number whose last bit is 0 is
    /// nearest.
    fn nearest(&self, x: f64, relu: bool) -> u32 {
        if x.is_nan() {
            return self.nan;
        }
        if relu && x.is_sign_negative() {
            return 0;
        }
        let sign = if x.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = x.abs().min(self.value(self.most));
        let distance = |bits: u32| (self.value(bits) - magnitude).abs();
        let best = (0..=self.most).reduce(|a, b| {
            let closer = distance(b) < distance(a) || distance(b) == distance(a) && b & 1 == 0;
            if closer { b } else { a }
        });
        sign | best.unwrap()
    }

    /// Returns numbers of the format, the middles between them, the middles' neighbours, and
    /// others.
    fn singles(&self) -> Vec<f32> {
        let mut random = Random(3);
        let mut all = vec![0.0, f32::NAN, f32::INFINITY, 1e-40, 1e30, 65504.0];
        for bits in 0..=self.most {
            let (a, b) = (self.value(bits) as f32, self.value((bits + 1).min(self.most)) as f32);
            let middle = (a + b) / 2.0;
            all.extend([
                a,
                middle,
                middle.next_up(),
                middle.next_down(),
                a + (b - a) * (random.word() as f32 / 2f32.powi(32)),
            ]);
        }
        all.push(self.value(self.most) as f32 * 1.03);
        let negative: Vec<f32> = all.iter().map(|x| -x).collect();
        all.extend(negative);
        all
    }
}

fn half(x: f64) -> u32 {
    if x.is_nan() { 0x7fff } else { half::f16::from_f64(x).to_bits().into() }
}

#[test]
fn small_floats_become_halves() {
    for format in FORMATS {
        let Format { name, target, .. } = format;
        let pack =
            if format.step() == 4 { "cvt.u8.u32 %y0, %i0;" } else { "cvt.u16.u32 %h0, %i0;" };
        let register = if format.step() == 4 { "%y0" } else { "%h0" };
        let codes = 2 * format.sign();
        let sets: Vec<[u32; 1]> =
            (0..codes).map(|x| [x | ((x * 7 + 3) % codes) << format.step()]).collect();
        for relu in [false, true] {
            let word = if relu { ".relu" } else { "" };
            let body = format!("{pack}\ncvt.rn{word}.f16x2.{name}x2 %o0, {register};");
            each(target, &body, &sets, |[pair], out| {
                let [low, high] = [pair, pair >> format.step()].map(|bits| {
                    let value = format.value(bits & (codes - 1));
                    if relu && value.is_sign_negative() && !value.is_nan() {
                        0
                    } else {
                        half(value)
                    }
                });
                assert_eq!(out, low | high << 16, "{name}: {pair:#x}");
            });
        }
    }
}

#[test]
fn singles_become_small_floats() {
    for format in FORMATS {
        let Format { name, target, .. } = format;
        let singles = format.singles();
        let sets: Vec<[u32; 2]> = singles
            .iter()
            .zip(singles.iter().rev())
            .map(|(a, b)| [a.to_bits(), b.to_bits()])
            .collect();
        for relu in [false, true] {
            let word = if relu { ".relu" } else { "" };
            let (register, unpack) =
                if format.step() == 4 { ("%y0", "cvt.u32.u8") } else { ("%h0", "cvt.u32.u16") };
            let body = format!(
                "mov.b32 %f0, %i0;\nmov.b32 %f1, %i1;\ncvt.rn.satfinite{word}.{name}x2.f32 {register}, %f1, %f0;\n{unpack} %o0, {register};"
            );
            each(target, &body, &sets, |set, out| {
                let [low, high] = set.map(|bits| format.nearest(f32::from_bits(bits).into(), relu));
                assert_eq!(
                    out,
                    low | high << format.step(),
                    "{name} of {:?}",
                    set.map(f32::from_bits)
                );
            });
        }
    }
}

#[test]
fn halves_become_small_floats() {
    let mut random = Random(4);
    for format in &FORMATS[..2] {
        let sets: Vec<[u32; 1]> = (0..640).map(|_| [random.word() & 0xdfff_dfff]).collect();
        let body = format!(
            "mov.b32 %a0, %i0;\ncvt.rn.satfinite.{}x2.f16x2 %h0, %a0;\ncvt.u32.u16 %o0, %h0;",
            format.name
        );
        each(format.target, &body, &sets, |[pair], out| {
            let [low, high] = [pair & 0xffff, pair >> 16]
                .map(|bits| format.nearest(half::f16::from_bits(bits as u16).to_f64(), false));
            assert_eq!(out, low | high << 8, "{} of {pair:#x}", format.name);
        });
    }
}

#[test]
fn powers_of_two() {
    let up =
        |x: f32| (0..255).find(|&n| 2f64.powi(n - 127) >= f64::from(x.abs())).unwrap_or(255) as u32;
    let down = |x: f32| {
        (0..255).rev().find(|&n| 2f64.powi(n - 127) <= f64::from(x.abs())).unwrap_or(0) as u32
    };
    let mut random = Random(5);
    let sets: Vec<[u32; 2]> = (0..320)
        .map(|n| match n {
            0 => [0, 1],
            1 => [0x0040_0000, 0x0040_0001],
            2 => [0x7f00_0000, 0x7f7f_ffff],
            3 => [0x3f80_0000, 0x3f80_0001],
            _ => [0, 0].map(|_| (random.word() & 0x7fff_ffff) % 0x7f80_0000),
        })
        .collect();
    for (word, of) in [("rp", &up as &dyn Fn(f32) -> u32), ("rz", &down)] {
        let body = format!(
            "mov.b32 %f0, %i0;\nmov.b32 %f1, %i1;\ncvt.{word}.satfinite.ue8m0x2.f32 %h0, %f1, %f0;\ncvt.u32.u16 %o0, %h0;"
        );
        each("sm_100a", &body, &sets, |set, out| {
            let [low, high] = set.map(|bits| of(f32::from_bits(bits)).min(254));
            assert_eq!(out, low | high << 8, "{word} of {set:x?}");
        });
    }
    let sets: Vec<[u32; 1]> = (0..256).map(|x| [x | (255 - x) << 8]).collect();
    each(
        "sm_100a",
        "cvt.u16.u32 %h0, %i0;\ncvt.rn.bf16x2.ue8m0x2 %o0, %h0;",
        &sets,
        |[pair], out| {
            let [low, high] = [pair & 255, pair >> 8].map(|n| match n {
                255 => 0x7fff,
                n => (2f64.powi(n as i32 - 127) as f32).to_bits() >> 16,
            });
            assert_eq!(out, low | high << 16, "{pair:#x}");
        },
    );
}

const ROUNDINGS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

#[test]
fn doubles_become_bf16() {
    let mut random = Random(6);
    let sets: Vec<[u32; 2]> = (0..480)
        .map(|_| {
            // Numbers near the middle between two numbers, and arbitrary bits.
            let near = (random.below(300) as f64 / 256.0 + 1.0)
                * 2f64.powi(random.below(290) as i32 - 150);
            let bits = match random.below(3) {
                0 => near.to_bits(),
                1 => near.to_bits().wrapping_add(u64::from(random.below(3))).wrapping_sub(1),
                _ => u64::from(random.word()) << 32 | u64::from(random.word()),
            };
            [bits as u32, (bits >> 32) as u32]
        })
        .collect();
    for (word, round) in ROUNDINGS {
        let body = format!(
            "mov.b64 %l0, {{%i0, %i1}};\ncvt.{word}.bf16.f64 %h0, %l0;\ncvt.u32.u16 %o0, %h0;"
        );
        each("sm_90", &body, &sets, |[low, high], out| {
            let bits = u64::from(high) << 32 | u64::from(low);
            let exact: BFloat = Double::from_bits(bits.into()).convert_r(round, &mut false).value;
            let expected = if exact.is_nan() { 0x7fff } else { exact.to_bits() as u32 };
            assert_eq!(out, expected, "{word} of {:?}", f64::from_bits(bits));
        });
    }
}

#[test]
fn integers_become_bf16() {
    let mut random = Random(7);
    let sets: Vec<[u32; 2]> = (0..480)
        .map(|_| {
            let wide = u64::from(random.word()) << 32 | u64::from(random.word());
            // Few bits at the top and few bits at the bottom are set.
            let sparse = 0xff80_0000_0000_0000 & wide | wide & 3;
            let bits = if random.below(2) == 0 { wide } else { sparse } >> random.below(60);
            let bits = if random.below(2) == 0 { bits } else { bits.wrapping_neg() };
            [bits as u32, (bits >> 32) as u32]
        })
        .collect();
    for (word, round) in ROUNDINGS {
        for ty in ["u64", "s64", "u32", "s32", "s16"] {
            let source = match ty {
                "u64" | "s64" => "%l0",
                "s16" => "%h1",
                _ => "%i0",
            };
            let body = format!(
                "mov.b64 %l0, {{%i0, %i1}};\ncvt.u16.u32 %h1, %i0;\ncvt.{word}.bf16.{ty} %h0, {source};\ncvt.u32.u16 %o0, %h0;"
            );
            each("sm_90", &body, &sets, |[low, high], out| {
                let bits = u64::from(high) << 32 | u64::from(low);
                let value = match ty {
                    "u64" => bits.into(),
                    "s64" => i128::from(bits as i64),
                    "u32" => low.into(),
                    "s32" => (low as i32).into(),
                    _ => (low as i16).into(),
                };
                let expected = BFloat::from_i128_r(value, round).value.to_bits() as u32;
                assert_eq!(out, expected, "{word} of {value:#x} as {ty}");
            });
        }
    }
}

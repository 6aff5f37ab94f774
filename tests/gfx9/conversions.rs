//! Conversions.

use Ty::{D, H, S};
use rustc_apfloat::Round;

use super::floats::{DIRECTED, MODES};
use super::operands::{Random, Width, check, rows};
use super::reference::{self as r, Mode, Ty};

fn modes() -> impl Iterator<Item = Mode> {
    MODES.into_iter().chain(DIRECTED).map(Mode)
}

fn text(name: &str, dst: Width, src: Width) -> String {
    let pair = |n: usize, width| {
        if width == Width::Long { format!("v[{n}:{}]", n + 1) } else { format!("v{n}") }
    };
    format!("{name} {}, {}", pair(0, dst), pair(2, src))
}

fn one(name: &str, src: Width, dst: Width, rows: &[[u64; 3]], f: impl Fn(Mode, u64) -> u64) {
    for mode in modes() {
        check(
            &text(name, dst, src),
            mode.0,
            [src, Width::Word, Width::Word],
            dst,
            rows,
            |[a, ..]| f(mode, a),
        );
    }
}

fn integers() -> Vec<[u64; 3]> {
    let mut random = Random::new(3);
    let edges = [
        0,
        1,
        2,
        3,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x0100_0001,
        0x0100_0003,
        2049,
        2051,
        65519,
        65520,
        0xffff_ff80,
        0xffff_ff40,
    ];
    let mut rows: Vec<[u64; 3]> = edges.iter().map(|&x| [x, 0xffff_ffff - x, 0]).collect();
    rows.extend((0..64 * 20).map(|n| {
        [random.next() >> (32 + n % 30), random.next() >> (32 + n % 17), random.next() >> 32]
    }));
    rows
}

#[test]
fn to_integers() {
    for (name, ty, signed) in [
        ("v_cvt_i32_f32", S, true),
        ("v_cvt_u32_f32", S, false),
        ("v_cvt_i32_f64", D, true),
        ("v_cvt_u32_f64", D, false),
    ] {
        one(name, ty.into(), Width::Word, &rows([ty; 3], 1), |_, a| {
            r::to_int(ty, Round::TowardZero, signed, a).into()
        });
    }
    let clamped =
        |a: u64, least: f64, greatest: f64| r::number(H, a).trunc().clamp(least, greatest);
    one("v_cvt_i16_f16", Width::Half, Width::Half, &rows([H; 3], 1), |_, a| {
        clamped(a, -32768.0, 32767.0) as i16 as u16 as u64
    });
    one("v_cvt_u16_f16", Width::Half, Width::Half, &rows([H; 3], 1), |_, a| {
        clamped(a, 0.0, 65535.0) as u16 as u64
    });
    let floor = |a: u64, x: f64| match x.is_nan() {
        true if a >> 31 != 0 => 0x8000_0000,
        true => 0x7fff_ffff,
        false => x.floor() as i32 as u32 as u64,
    };
    one("v_cvt_flr_i32_f32", Width::Word, Width::Word, &rows([S; 3], 1), |_, a| {
        floor(a, r::number(S, a))
    });
    one("v_cvt_rpi_i32_f32", Width::Word, Width::Word, &rows([S; 3], 1), |_, a| {
        floor(a, (f32::from_bits(a as u32) + 0.5).into())
    });
}

#[test]
fn from_integers() {
    let rows = integers();
    let signed = |a: u64| i64::from(a as u32 as i32);
    for (ty, width) in [(S, "f32"), (D, "f64")] {
        one(&format!("v_cvt_{width}_i32"), Width::Word, ty.into(), &rows, |m, a| {
            r::from_int(ty, m.round(ty), signed(a))
        });
        one(&format!("v_cvt_{width}_u32"), Width::Word, ty.into(), &rows, |m, a| {
            r::from_int(ty, m.round(ty), a as i64)
        });
    }
    let halves: Vec<[u64; 3]> = rows.iter().map(|row| [row[0] & 0xffff, 0, 0]).collect();
    one("v_cvt_f16_i16", Width::Half, Width::Half, &halves, |m, a| {
        r::from_int(H, m.round(H), (a as i16).into())
    });
    one("v_cvt_f16_u16", Width::Half, Width::Half, &halves, |m, a| {
        r::from_int(H, m.round(H), a as i64)
    });
    for n in 0..4 {
        one(&format!("v_cvt_f32_ubyte{n}"), Width::Word, Width::Word, &rows, |_, a| {
            S.of((a >> (8 * n) & 0xff) as f64)
        });
    }
    one("v_cvt_off_f32_i4", Width::Word, Width::Word, &rows, |_, a| {
        S.of(f64::from(((a & 15) as i32 ^ 8) - 8) / 16.0)
    });
}

#[test]
fn between_floats() {
    let convert = |m: Mode, from: Ty, to: Ty, round: Round, a: u64| {
        m.result(to, r::convert(from, to, round, m.flush(from, a)))
    };
    for (name, from, to) in [("v_cvt_f16_f32", S, H), ("v_cvt_f32_f64", D, S)] {
        let mut rows = rows([from; 3], 1);
        let mut random = Random::new(11);
        // Adds numbers around the least and greatest numbers of the result.
        rows.extend((0..64 * 40).map(|n| {
            let exponent = if n % 2 == 0 {
                if from == D { 1023 - 150 } else { 127 - 26 }
            } else if from == D {
                1023 + 126
            } else {
                127 + 14
            };
            let random = random.next();
            let mantissa = from.least_normal().trailing_zeros();
            [
                random & (from.least_normal() - 1) << (n % 3 * 8) & (from.least_normal() - 1)
                    | (exponent + (random >> 57) % 28) << mantissa
                    | ((random >> 63) * from.sign()),
                0,
                0,
            ]
        }));
        one(name, from.into(), to.into(), &rows, |m, a| convert(m, from, to, m.round(to), a));
    }
    for (name, from, to) in [("v_cvt_f32_f16", H, S), ("v_cvt_f64_f32", S, D)] {
        one(name, from.into(), to.into(), &rows([from; 3], 1), |m, a| {
            convert(m, from, to, Round::NearestTiesToEven, a)
        });
    }
    for mode in modes() {
        check(
            "v_cvt_pkrtz_f16_f32 v0, v2, v4",
            mode.0,
            [Width::Word; 3],
            Width::Word,
            &rows([S; 3], 2),
            |[a, b, _]| {
                let [a, b] = [a, b].map(|x| convert(mode, S, H, Round::TowardZero, x));
                a | b << 16
            },
        );
    }
}

/// Returns a normalized number, rounded to nearest even in every mode.
fn normalized(m: Mode, ty: Ty, a: u64, signed: bool) -> u64 {
    let one = if signed { 32767.0 } else { 65535.0 };
    let x = r::number(ty, m.flush(ty, a)) * one;
    let x = if x.is_nan() {
        0.0
    } else {
        x.round_ties_even().clamp(if signed { -one } else { 0.0 }, one)
    };
    x as i32 as u16 as u64
}

#[test]
fn normalized_and_packed() {
    for (signed, sign) in [(true, "i"), (false, "u")] {
        one(
            &format!("v_cvt_norm_{sign}16_f16"),
            Width::Half,
            Width::Half,
            &rows([H; 3], 1),
            |m, a| normalized(m, H, a, signed),
        );
        for (ty, width) in [(H, "f16"), (S, "f32")] {
            let text = format!("v_cvt_pknorm_{sign}16_{width} v0, v2, v4");
            for m in modes() {
                check(&text, m.0, [ty.into(); 3], Width::Word, &rows([ty; 3], 2), |[a, b, _]| {
                    normalized(m, ty, a, signed) | normalized(m, ty, b, signed) << 16
                });
            }
        }
    }
    for m in modes() {
        let byte = |a: u64| {
            let x = r::number(S, r::raw_integral(S, m.round(S), a));
            if x.is_nan() { 0 } else { x.clamp(0.0, 255.0) as u64 }
        };
        let mut random = Random::new(5);
        let mut values: Vec<u64> = rows([S; 3], 1).iter().map(|row| row[0]).collect();
        values.extend((0..64 * 20).map(|_| S.of(f64::from(random.next() as i16) / 64.0)));
        let rows: Vec<[u64; 3]> =
            values.iter().map(|&a| [a, random.next() >> 32, random.next() >> 32]).collect();
        check(
            "v_cvt_pk_u8_f32 v0, v2, v4, v6",
            m.0,
            [Width::Word; 3],
            Width::Word,
            &rows,
            |[a, n, rest]| {
                let shift = 8 * (n & 3);
                rest & !(0xff << shift) | byte(a) << shift
            },
        );
        let rows: Vec<[u64; 3]> =
            rows.iter().enumerate().map(|(n, row)| [row[0], row[1], n as u64 % 64]).collect();
        check(
            "v_cvt_pkaccum_u8_f32 v0, v2, v4",
            m.0,
            [Width::Word; 3],
            Width::Word,
            &rows,
            |[a, n, lane]| {
                let shift = 8 * (n & 3);
                (0xec00_0000 + lane) & !(0xff << shift) | byte(a) << shift
            },
        );
    }
}

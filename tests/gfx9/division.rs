//! The steps of division, and the division sequences of LLVM.

use Ty::{D, H, S};
use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::floats::MODES;
use super::operands::{Random, Width, check, rows};
use super::reference::{self as r, Mode, Ty};
use super::support::{EXEC, LANES, Probe, State, VCC};

/// Returns numerators and denominators, many with a quotient near the least or greatest number.
fn quotients(ty: Ty) -> Vec<[u64; 2]> {
    let mut pairs: Vec<[u64; 2]> = rows([ty; 3], 2).iter().map(|row| [row[0], row[1]]).collect();
    let mut random = Random::new(21);
    let mantissa = ty.infinity().trailing_zeros();
    let (top, bias) = (ty.infinity() >> mantissa, (ty.infinity() >> mantissa) / 2);
    for n in 0..64 * 60 {
        let digits = [random.next(), random.next()].map(|x| x & (ty.least_normal() - 1));
        let signs = random.next();
        let ed = random.next() >> 20 & top;
        // The exponent of the quotient.
        let eq = match n % 3 {
            0 => (random.next() >> 40) % 60,
            1 => top - (random.next() >> 40) % top.min(60),
            _ => bias + (random.next() >> 40) % 4,
        };
        let en = (ed + eq).saturating_sub(bias);
        let exact =
            if n % 5 == 0 { [digits[0] >> (mantissa / 2) << (mantissa / 2), 0] } else { digits };
        if en < top && ed < top {
            let number =
                |e: u64, digits: u64, sign: u64| e << mantissa | digits | ((sign & 1) * ty.sign());
            pairs.push([number(en, exact[0], signs), number(ed, exact[1], signs >> 1)]);
        }
    }
    pairs
}

const SINGLE: [&str; 11] = [
    "v_div_scale_f32 v8, s[6:7], v4, v4, v2",
    "v_div_scale_f32 v10, vcc, v2, v4, v2",
    "v_rcp_f32 v12, v8",
    "v_fma_f32 v14, -v8, v12, 1.0",
    "v_fma_f32 v12, v14, v12, v12",
    "v_mul_f32 v16, v10, v12",
    "v_fma_f32 v18, -v8, v16, v10",
    "v_fma_f32 v16, v18, v12, v16",
    "v_fma_f32 v18, -v8, v16, v10",
    "v_div_fmas_f32 v18, v18, v12, v16",
    "v_div_fixup_f32 v0, v18, v4, v2",
];

const DOUBLE: [&str; 11] = [
    "v_div_scale_f64 v[8:9], s[6:7], v[4:5], v[4:5], v[2:3]",
    "v_rcp_f64 v[12:13], v[8:9]",
    "v_fma_f64 v[14:15], -v[8:9], v[12:13], 1.0",
    "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
    "v_fma_f64 v[14:15], -v[8:9], v[12:13], 1.0",
    "v_div_scale_f64 v[10:11], vcc, v[2:3], v[4:5], v[2:3]",
    "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
    "v_mul_f64 v[16:17], v[10:11], v[12:13]",
    "v_fma_f64 v[18:19], -v[8:9], v[16:17], v[10:11]",
    "v_div_fmas_f64 v[18:19], v[18:19], v[12:13], v[16:17]",
    "v_div_fixup_f64 v[0:1], v[18:19], v[4:5], v[2:3]",
];

/// Divisions are correctly rounded for all operands.
#[test]
fn divisions_are_exact() {
    for (ty, code) in [(S, SINGLE), (D, DOUBLE)] {
        let probe = Probe::new(&code, 0x3f0);
        for chunk in quotients(ty).chunks(LANES) {
            let mut before = State::new();
            for (lane, &[n, d]) in chunk.iter().enumerate() {
                if ty == D {
                    before.set_long(2, lane, n);
                    before.set_long(4, lane, d);
                } else {
                    (before.vectors[2][lane], before.vectors[4][lane]) = (n as u32, d as u32);
                }
            }
            for (engine, after) in probe.run(&before) {
                for (lane, &[n, d]) in chunk.iter().enumerate() {
                    let found =
                        if ty == D { after.long(0, lane) } else { after.vectors[0][lane].into() };
                    let exact = r::canonical(ty, r::raw_div(ty, Round::NearestTiesToEven, n, d));
                    let (scaled, flag) = (after.long(8, lane), after.pair(VCC) >> lane & 1);
                    assert!(
                        found == exact,
                        "{engine}: {n:x} / {d:x} is {exact:x}, found {found:x} ({scaled:x}, {flag})"
                    );
                }
            }
        }
    }
}

fn exponent(ty: Ty, x: u64) -> i64 {
    ((x & !ty.sign()) >> ty.infinity().trailing_zeros()) as i64
}

/// Returns the value and the flag of `v_div_scale`.
fn scale(m: Mode, ty: Ty, x: [u64; 3]) -> (u64, bool) {
    let nearest = Round::NearestTiesToEven;
    let [s, d, n] = x.map(|x| m.flush(ty, x));
    let (step, near, tiny) = if ty == D { (128, 768, 53) } else { (64, 96, 23) };
    let scaled = |by| r::raw_scaled(ty, nearest, s, by);
    let (ns, nd, nn) = (r::number(ty, s), r::number(ty, d), r::number(ty, n));
    let denormal = |x: u64| x & !ty.sign() != 0 && x & !ty.sign() < ty.least_normal();
    let small_quotient = denormal(r::raw_div(ty, nearest, n, d));
    let great_d = nd.is_finite()
        && nd.abs() > r::number(ty, if ty == D { 0x7fd0 << 48 } else { 0x7e80_0000 });
    let (value, flag) = if nd == 0.0 || nn == 0.0 {
        (ty.nan(), false)
    } else if exponent(ty, n) - exponent(ty, d) >= near {
        (if ns == nd { scaled(step) } else { s }, true)
    } else if denormal(d) {
        (scaled(step), false)
    } else if great_d && small_quotient {
        (if ns == nd { scaled(-step) } else { s }, true)
    } else if great_d {
        (scaled(-step), false)
    } else if small_quotient {
        (if ns == nn { scaled(step) } else { s }, true)
    } else if exponent(ty, n) <= tiny {
        (scaled(step), false)
    } else {
        (s, false)
    };
    (value, flag)
}

#[test]
fn scales() {
    for (ty, text) in [
        (S, "v_div_scale_f32 v0, vcc, v6, v4, v2"),
        (D, "v_div_scale_f64 v[0:1], vcc, v[6:7], v[4:5], v[2:3]"),
    ] {
        for mode in MODES {
            let (m, probe) = (Mode(mode), Probe::new(&[text], mode));
            for (number, chunk) in quotients(ty).chunks(LANES).enumerate() {
                let mut before = State::new();
                let exec = (u64::MAX >> (LANES - chunk.len())) & !(1 << (number % 64));
                before.set_pair(EXEC, exec);
                let mut expected = before.clone();
                let mut flags = 0;
                for (lane, &[n, d]) in chunk.iter().enumerate() {
                    let s = if (lane + number) % 2 == 0 { n } else { d };
                    for (register, bits) in [(2, n), (4, d), (6, s)] {
                        for state in [&mut before, &mut expected] {
                            if ty == D {
                                state.set_long(register, lane, bits);
                            } else {
                                state.vectors[register][lane] = bits as u32;
                            }
                        }
                    }
                    let (value, flag) = scale(m, ty, [s, d, n]);
                    if exec >> lane & 1 != 0 {
                        flags |= u64::from(flag) << lane;
                        if ty == D {
                            expected.set_long(0, lane, value)
                        } else {
                            expected.vectors[0][lane] = value as u32
                        }
                    }
                }
                expected.set_pair(VCC, flags);
                for (engine, mut found) in probe.run(&before) {
                    for (lane, pair) in chunk.iter().enumerate() {
                        // The bits of a NaN do not matter.
                        let (f, e) = (found.long(0, lane), expected.long(0, lane));
                        let nan = if ty == D {
                            r::is_nan(ty, f) && r::is_nan(ty, e)
                        } else {
                            r::is_nan(ty, f & 0xffff_ffff) && r::is_nan(ty, e & 0xffff_ffff)
                        };
                        if nan {
                            found.set_long(0, lane, e);
                        }
                        let (ff, ef) = (found.pair(VCC) >> lane & 1, flags >> lane & 1);
                        assert!(
                            (nan || f == e) && ff == ef,
                            "{engine}, {text}, {mode:x}, lane {lane}: {pair:x?}: {f:x} {ff} for {e:x} {ef}"
                        );
                    }
                    assert!(found == expected, "{engine}, {text}: another register changed");
                }
            }
        }
    }
}

/// Returns the exact fused result, scaled by a power of two and rounded once.
fn moved(ty: Ty, x: [u64; 3], by: i32) -> u64 {
    fn wide<F: FloatConvert<Quad> + Float>(x: u64) -> Quad {
        F::from_bits(x.into()).convert(&mut false).value
    }
    let [a, b, c] = x.map(|x| if ty == D { wide::<Double>(x) } else { wide::<Single>(x) });
    let exact = a.mul_add(b, c).value.scalbn(by);
    let bits = if ty == D {
        FloatConvert::<Double>::convert(exact, &mut false).value.to_bits()
    } else {
        FloatConvert::<Single>::convert(exact, &mut false).value.to_bits()
    };
    r::canonical(ty, bits as u64)
}

#[test]
fn fused_with_scale() {
    for (ty, text) in
        [(S, "v_div_fmas_f32 v0, v2, v4, v6"), (D, "v_div_fmas_f64 v[0:1], v[2:3], v[4:5], v[6:7]")]
    {
        // The first rows run without the flag.
        let probe = Probe::new(&[text], 0x3f0);
        let step = if ty == D { 128 } else { 64 };
        let mut random = Random::new(77);
        let mantissa = ty.infinity().trailing_zeros();
        let bias = (ty.infinity() >> mantissa) / 2;
        let plain = rows([ty; 3], 3);
        // The quotient and a correction of less than its last bit, as the iterations leave them.
        let corrections = (0..64 * 60).map(|n| {
            let digits =
                [random.next(), random.next(), random.next()].map(|x| x & (ty.least_normal() - 1));
            let least = if n % 2 == 0 { bias - u64::from(step as u32) - 20 } else { bias / 2 + 30 };
            let exponent = least + random.next() % 60;
            let exponent =
                if n % 4 == 3 { bias + 2 + random.next() % (bias - 4) } else { exponent };
            let quotient = exponent << mantissa | digits[0];
            let correction = (exponent - u64::from(mantissa) - 1 - random.next() % 4) << mantissa
                | digits[1]
                | ((random.next() >> 63) * ty.sign());
            let factor = bias << mantissa | if ty == D { 0 } else { digits[2] };
            [correction, factor, quotient]
        });
        let corrections: Vec<[u64; 3]> = corrections.collect();
        for (rows, flags) in [(&plain, 0), (&corrections, u64::MAX)] {
            for chunk in rows.chunks(LANES) {
                let mut before = State::new();
                before.set_pair(VCC, flags);
                for (lane, row) in chunk.iter().enumerate() {
                    for (n, &bits) in row.iter().enumerate() {
                        if ty == D {
                            before.set_long(2 + 2 * n, lane, bits)
                        } else {
                            before.vectors[2 + 2 * n][lane] = bits as u32
                        }
                    }
                }
                for (engine, after) in probe.run(&before) {
                    for (lane, &row) in chunk.iter().enumerate() {
                        let found = if ty == D {
                            after.long(0, lane)
                        } else {
                            after.vectors[0][lane].into()
                        };
                        let by = match (flags, r::number(ty, row[2]).abs() >= 2.0) {
                            (0, _) => 0,
                            (_, true) => step,
                            _ => -step,
                        };
                        let expected =
                            if flags == 0 { Mode(0x3f0).fma(ty, row) } else { moved(ty, row, by) };
                        assert!(
                            found == expected,
                            "{engine}, {text}, {flags:x}, {row:x?}: {found:x} for {expected:x}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn fixes() {
    let fixed = |m: Mode, ty: Ty, x: [u64; 3]| {
        let [q, d, n] = x.map(|x| m.flush(ty, x));
        let (nq, nd, nn) = (r::number(ty, q), r::number(ty, d), r::number(ty, n));
        let sign = (d ^ n) & ty.sign();
        let vanish = match ty {
            H => i64::MIN,
            S => -150,
            D => -1075,
        };
        if nd.is_nan()
            || nn.is_nan()
            || nd == 0.0 && nn == 0.0
            || nd.is_infinite() && nn.is_infinite()
        {
            ty.nan()
        } else if nd == 0.0 || nn.is_infinite() {
            sign | ty.infinity()
        } else if nd.is_infinite() || nn == 0.0 || exponent(ty, n) - exponent(ty, d) < vanish {
            sign
        } else if nq.is_nan() {
            sign | ty.infinity()
        } else if ty != H
            && m.round(ty) == Round::NearestTiesToEven
            && q & !ty.sign() <= ty.least_normal()
        {
            // Divides the numerator by the denominator again.
            m.flush(ty, r::raw_div(ty, Round::NearestTiesToEven, n, d))
        } else {
            sign | q & !ty.sign()
        }
    };
    let cases = [
        ("v_div_fixup_f32 v0, v2, v4, v6", S, Width::Word),
        ("v_div_fixup_f64 v[0:1], v[2:3], v[4:5], v[6:7]", D, Width::Long),
        ("v_div_fixup_f16 v0, v2, v4, v6", H, Width::HalfKept),
        ("v_div_fixup_legacy_f16 v0, v2, v4, v6", H, Width::Half),
    ];
    for (text, ty, dst) in cases {
        let mut rows = rows([ty; 3], 3);
        rows.extend(
            quotients(ty)
                .iter()
                .map(|&[n, d]| [r::raw_div(ty, Round::NearestTiesToEven, n, d), d, n]),
        );
        for mode in MODES {
            check(text, mode, [ty.into(); 3], dst, &rows, |row| fixed(Mode(mode), ty, row));
        }
    }
    // Rounded up or down, the negative quotient is -0 or the least number.
    let tiny = [0, (200 << 23) | 1 << 31, 10 << 23];
    for (mode, bits) in [(0x3f1, 1u64 << 31), (0x3f2, 1 << 31 | 1)] {
        check(
            "v_div_fixup_f32 v0, v2, v4, v6",
            mode,
            [Width::Word; 3],
            Width::Word,
            &[tiny],
            |_| bits,
        );
    }
}

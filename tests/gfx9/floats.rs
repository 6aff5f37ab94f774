//! Arithmetic on floats of all widths.

use Ty::{D, H, S};
use rustc_apfloat::Round;

use super::operands::{Width, check, rows};
use super::reference::{self as r, Mode, Ty};

/// The modes: usual; `f32` flushed, as kernels with fast math have it; all flushed; without IEEE
/// and clamping of NaNs.
pub const MODES: [u32; 4] = [0x3f0, 0x3c0, 0x300, 0x0f0];
/// The modes that round up, down and toward zero.
pub const DIRECTED: [u32; 3] = [0x3f5, 0x3fa, 0x3ff];

/// Returns register operands: v0, then v2, v4 and v6, or pairs from these registers on.
fn operands(types: &[Ty]) -> String {
    let register = |(n, ty): (usize, &Ty)| match ty {
        D => format!("v[{}:{}]", 2 * n, 2 * n + 1),
        _ => format!("v{}", 2 * n),
    };
    types.iter().enumerate().map(register).collect::<Vec<_>>().join(", ")
}

/// Returns the destination's width, which tells whether its other half stays.
fn destination(name: &str, ty: Ty) -> Width {
    let keeps =
        ["v_mad_f16", "v_fma_f16", "v_div_fixup_f16", "v_min3_f16", "v_max3_f16", "v_med3_f16"];
    if keeps.contains(&name) { Width::HalfKept } else { ty.into() }
}

fn run(name: &str, ty: Ty, arity: usize, modes: &[u32], reference: impl Fn(Mode, [u64; 3]) -> u64) {
    let text = format!("{name} {}", operands(&vec![ty; arity + 1]));
    let mut rows = rows([ty; 3], arity);
    if modes == DIRECTED {
        rows = rows.into_iter().step_by(5).collect();
    }
    for &mode in modes {
        check(&text, mode, [ty.into(); 3], destination(name, ty), &rows, |row| {
            reference(Mode(mode), row)
        });
    }
}

/// Runs an instruction in all modes.
fn all(name: &str, ty: Ty, arity: usize, reference: impl Fn(Mode, [u64; 3]) -> u64) {
    run(name, ty, arity, &MODES, &reference);
    run(name, ty, arity, &DIRECTED, reference);
}

#[test]
fn sums_and_products() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        all(&format!("v_add_{width}"), ty, 2, |m, [a, b, _]| m.add(ty, a, b));
        all(&format!("v_mul_{width}"), ty, 2, |m, [a, b, _]| m.mul(ty, a, b));
        if ty != D {
            all(&format!("v_sub_{width}"), ty, 2, |m, [a, b, _]| m.sub(ty, a, b));
            all(&format!("v_subrev_{width}"), ty, 2, |m, [a, b, _]| m.sub(ty, b, a));
        }
    }
    all("v_mul_legacy_f32", S, 2, |m, [a, b, _]| {
        let zero = |x| m.flush(S, x) & !S.sign() == 0;
        if zero(a) || zero(b) { 0 } else { m.mul(S, a, b) }
    });
}

#[test]
fn products_and_sums() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        all(&format!("v_fma_{width}"), ty, 3, |m, x| m.fma(ty, x));
        if ty != D {
            all(&format!("v_mad_{width}"), ty, 3, |m, x| m.mad(ty, x));
        }
    }
    run("v_fma_legacy_f16", H, 3, &MODES, |m, x| m.fma(H, x));
    run("v_mad_legacy_f16", H, 3, &MODES, |m, x| m.mad(H, x));
    run("v_mad_legacy_f32", S, 3, &MODES, |m, x| {
        let zero = |x| r::flush(S, x) & !S.sign() == 0;
        if zero(x[0]) || zero(x[1]) { Mode(m.0 & !0xf0).add(S, 0, x[2]) } else { m.mad(S, x) }
    });
}

/// The destination is the third operand.
#[test]
fn accumulation() {
    for mode in MODES {
        let m = Mode(mode);
        // `State::new` sets the destination's old value.
        let lane = |n: u64| 0xec00_0000 + n;
        for (name, ty) in [("v_mac_f32", S), ("v_fmac_f32", S), ("v_mac_f16", H)] {
            let text = format!("{name} {}", operands(&[ty; 3]));
            let rows: Vec<[u64; 3]> = rows([ty; 3], 3).into_iter().take(64 * 20).collect();
            let numbered: Vec<[u64; 3]> = rows
                .iter()
                .enumerate()
                .map(|(n, row)| [row[0], row[1], lane(n as u64 % 64)])
                .collect();
            check(
                &text,
                mode,
                [ty.into(), ty.into(), Width::Word],
                ty.into(),
                &numbered,
                |[a, b, c]| match name {
                    "v_mac_f32" => m.mad(S, [a, b, c]),
                    "v_fmac_f32" => m.fma(S, [a, b, c]),
                    _ => m.mad(H, [a, b, c & 0xffff]),
                },
            );
        }
        for (text, constant, first) in [
            ("v_madmk_f32 v0, v2, 0x40490fdb, v4", 0x4049_0fdb, true),
            ("v_madak_f32 v0, v2, v4, 0x40490fdb", 0x4049_0fdb, false),
        ] {
            let rows: Vec<[u64; 3]> = rows([S; 3], 2);
            check(text, mode, [Width::Word; 3], Width::Word, &rows, |[a, b, _]| {
                m.mad(S, if first { [a, constant, b] } else { [a, b, constant] })
            });
        }
        for (text, constant, first) in [
            ("v_madmk_f16 v0, v2, 0x4248, v4", 0x4248, true),
            ("v_madak_f16 v0, v2, v4, 0x4248", 0x4248, false),
        ] {
            let rows: Vec<[u64; 3]> = rows([H; 3], 2);
            check(text, mode, [Width::Half; 3], Width::Half, &rows, |[a, b, _]| {
                m.mad(H, if first { [a, constant, b] } else { [a, b, constant] })
            });
        }
    }
}

#[test]
fn least_and_greatest() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        all(&format!("v_min_{width}"), ty, 2, |m, [a, b, _]| m.min(ty, a, b));
        all(&format!("v_max_{width}"), ty, 2, |m, [a, b, _]| m.max(ty, a, b));
        if ty != D {
            run(&format!("v_min3_{width}"), ty, 3, &MODES, |m, x| m.min3(ty, x));
            run(&format!("v_max3_{width}"), ty, 3, &MODES, |m, x| m.max3(ty, x));
            run(&format!("v_med3_{width}"), ty, 3, &MODES, |m, x| m.med3(ty, x));
        }
    }
    // Compilers quiet a NaN with `v_max`.
    for mode in MODES {
        check(
            "v_max_f32 v0, v2, v2",
            mode,
            [Width::Word; 3],
            Width::Word,
            &rows([S; 3], 1),
            |[a, ..]| Mode(mode).max(S, a, a),
        );
    }
}

#[test]
fn integral_values() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        let rounds = [
            ("trunc", Round::TowardZero),
            ("ceil", Round::TowardPositive),
            ("floor", Round::TowardNegative),
            ("rndne", Round::NearestTiesToEven),
        ];
        for (name, round) in rounds {
            run(&format!("v_{name}_{width}"), ty, 1, &MODES, |m, [a, ..]| m.integral(ty, round, a));
        }
        all(&format!("v_fract_{width}"), ty, 1, |m, [a, ..]| m.fract(ty, a));
    }
}

#[test]
fn exponents() {
    for (ty, width, int) in [(H, "f16", "i16"), (S, "f32", "i32"), (D, "f64", "i32")] {
        run(&format!("v_frexp_mant_{width}"), ty, 1, &MODES, |m, [a, ..]| m.frexp(ty, a).0);
        let dst = if ty == D { "v0, v[2:3]" } else { "v0, v2" };
        for mode in MODES {
            let text = format!("v_frexp_exp_{int}_{width} {dst}");
            let width = if ty == H { Width::Half } else { Width::Word };
            check(&text, mode, [ty.into(); 3], width, &rows([ty; 3], 1), |[a, ..]| {
                let exponent = Mode(mode).frexp(ty, a).1;
                if ty == H { exponent as u16 as u64 } else { exponent as u32 as u64 }
            });
        }
        let exponents: Vec<i64> = vec![
            0,
            1,
            -1,
            5,
            -5,
            14,
            -14,
            24,
            -24,
            30,
            -60,
            126,
            -126,
            128,
            -149,
            -150,
            200,
            -250,
            277,
            1023,
            -1022,
            -1074,
            1500,
            2046,
            -2047,
            2100,
            -2100,
            2200,
            -2200,
            30000,
            -30000,
            i32::MAX.into(),
            i32::MIN.into(),
        ];
        let values = rows([ty; 3], 1);
        let rows: Vec<[u64; 3]> = values
            .iter()
            .step_by(11)
            .flat_map(|row| exponents.iter().map(|&n| [row[0], n as u32 as u64, 0]))
            .collect();
        let text = format!("v_ldexp_{width} {}", operands(&[ty, ty, S]));
        for mode in MODES.into_iter().chain(DIRECTED) {
            check(
                &text,
                mode,
                [ty.into(), Width::Word, Width::Word],
                ty.into(),
                &rows,
                |[a, n, _]| {
                    let n = if ty == H { n as i16 as i32 } else { n as i32 };
                    Mode(mode).ldexp(ty, a, n)
                },
            );
        }
    }
}

/// Checks that results of an instruction that hardware approximates are within `units` units in the
/// last place of the exact result.
fn close(name: &str, ty: Ty, units: f64, zero: f64, exact: impl Fn(f64) -> f64) {
    for mode in MODES {
        let m = Mode(mode);
        let text = format!("{name} {}", operands(&[ty, ty]));
        let rows = rows([ty; 3], 1);
        let found = std::cell::RefCell::new(Vec::new());
        // The engines must agree; any result within the bound is good.
        let probe = super::support::Probe::new(&[&text], mode);
        for chunk in rows.chunks(64) {
            let mut state = super::support::State::new();
            for (lane, row) in chunk.iter().enumerate() {
                if ty == D {
                    state.set_long(2, lane, row[0])
                } else {
                    state.vectors[2][lane] = row[0] as u32
                }
            }
            let after = probe.run(&state);
            assert_eq!(after[0].1, after[1].1, "{text}");
            for (lane, row) in chunk.iter().enumerate() {
                let bits = if ty == D {
                    after[0].1.long(0, lane)
                } else {
                    after[0].1.vectors[0][lane].into()
                };
                found.borrow_mut().push((row[0], bits));
            }
        }
        let flushes = m.flushes(ty) || ty == S && !name.contains("sin") && !name.contains("cos");
        let flush = |x| if flushes { r::flush(ty, x) } else { x };
        for (a, bits) in found.into_inner() {
            let exact = exact(r::number(ty, flush(a)));
            let wanted = flush(ty.of(exact));
            if exact.is_nan() {
                assert_eq!(bits, ty.nan(), "{text}, {a:x}");
                continue;
            }
            let (found, wanted_number) = (r::number(ty, bits), r::number(ty, wanted));
            if !wanted_number.is_finite() || wanted_number.abs() <= zero {
                assert!(
                    found == wanted_number || (found - wanted_number).abs() <= zero,
                    "{text}, {a:x}: {found:?} {wanted_number:?}"
                );
                continue;
            }
            let unit = r::number(ty, (wanted & !ty.sign()) + 1) - wanted_number.abs();
            assert!(
                (found - exact).abs() <= units * unit,
                "{text}, mode {mode:x}, {a:x}: {found:?}, exact {exact:?}"
            );
        }
    }
}

#[test]
fn approximations() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        let units = if ty == D { 1.0 } else { 0.51 };
        close(&format!("v_rcp_{width}"), ty, units, 0.0, |x| 1.0 / x);
        close(&format!("v_rsq_{width}"), ty, if ty == D { 1.5 } else { units }, 0.0, |x| {
            1.0 / x.sqrt()
        });
        close(&format!("v_sqrt_{width}"), ty, units, 0.0, f64::sqrt);
        if ty == D {
            continue;
        }
        close(&format!("v_log_{width}"), ty, units, 0.0, f64::log2);
        close(&format!("v_exp_{width}"), ty, units, 1e-38, f64::exp2);
        let turns = |x: f64, f: fn(f64) -> f64, far: f64| {
            if x.is_finite() && x.abs() > 256.0 {
                far
            } else {
                f((x - x.round()) * std::f64::consts::TAU)
            }
        };
        // Near the zeros of the functions, the reference is not exact.
        let units = if ty == H { 0.51 } else { 1e6 };
        close(&format!("v_sin_{width}"), ty, units, 1e-12, |x| turns(x, f64::sin, 0.0));
        close(&format!("v_cos_{width}"), ty, units, 1e-12, |x| turns(x, f64::cos, 1.0));
    }
    close("v_rcp_iflag_f32", S, 0.51, 0.0, |x| 1.0 / x);
    close("v_exp_legacy_f32", S, 0.51, 1e-38, f64::exp2);
    close("v_log_legacy_f32", S, 0.51, 0.0, f64::log2);
}

/// The results follow the definitions on vectors of which each axis is the longest.
#[test]
fn cubes() {
    for mode in MODES {
        let m = Mode(mode);
        let rows = rows([S; 3], 3);
        let axis = |[x, y, z]: [f64; 3]| {
            let [x, y, z] = [x, y, z].map(f64::abs);
            if z >= x && z >= y {
                2
            } else if y >= x {
                1
            } else {
                0
            }
        };
        let negated = |bits: u64| bits ^ S.sign();
        let flushed = |row: [u64; 3]| row.map(|x| m.flush(S, x));
        let run = |name: &str, f: &dyn Fn([u64; 3], usize, bool) -> u64| {
            let text = format!("{name} v0, v2, v4, v6");
            // Rows with a NaN are skipped: the results' bits are not checked.
            let rows: Vec<[u64; 3]> =
                rows.iter().copied().filter(|row| row.iter().all(|&x| !r::is_nan(S, x))).collect();
            check(&text, mode, [Width::Word; 3], Width::Word, &rows, |row| {
                let row = flushed(row);
                let numbers = row.map(|x| r::number(S, x));
                let axis = axis(numbers);
                f(row, axis, numbers[axis] < 0.0)
            });
        };
        run("v_cubeid_f32", &|_, axis, negative| S.of((2 * axis + usize::from(negative)) as f64));
        run("v_cubema_f32", &|row, axis, _| m.mul(S, row[axis], S.of(2.0)));
        run("v_cubesc_f32", &|[x, _, z], axis, negative| match (axis, negative) {
            (2, true) => negated(x),
            (2, false) | (1, _) => x,
            (_, true) => z,
            _ => negated(z),
        });
        run("v_cubetc_f32", &|[_, y, z], axis, negative| match (axis, negative) {
            (1, true) => negated(z),
            (1, false) => z,
            _ => negated(y),
        });
    }
}

/// Each segment holds the bits of 2 / pi at its place.
#[test]
fn two_over_pi() {
    // The first 256 bits after the point.
    let words: [u32; 8] = [
        0xa2f9_836e,
        0x4e44_1529,
        0xfc27_57d1,
        0xf534_ddc0,
        0xdb62_9599,
        0x3c43_9041,
        0xfe51_63ab,
        0xdebb_c561,
    ];
    let bit = |n: u32| words[n as usize / 32] >> (31 - n % 32) & 1;
    let segment =
        |first: u32| (first..first + 53).fold(0u64, |bits, n| bits << 1 | u64::from(bit(n)));
    let numbers =
        [1.0, -3.5, 2f64.powi(54), 2f64.powi(55), 2f64.powi(100), 2f64.powi(120), 0.0, 5e-324];
    let rows: Vec<[u64; 3]> = numbers
        .iter()
        .flat_map(|x| {
            (0..3).flat_map(move |n| [[x.to_bits(), n, 0], [x.to_bits(), n | 0xffff_ffe0, 0]])
        })
        .filter(|row| row[0] < 2f64.powi(100).to_bits() || row[1] & 31 < 2)
        .collect();
    let text = "v_trig_preop_f64 v[0:1], v[2:3], v4";
    check(text, 0x3f0, [Width::Long, Width::Word, Width::Word], Width::Long, &rows, |[x, n, _]| {
        let first = 53 * (n as u32 & 31) + ((x >> 52) as u32 & 0x7ff).saturating_sub(1077);
        (segment(first) as f64 * 2f64.powi(-53 - first as i32)).to_bits()
    });
    // For the greatest numbers, a segment that would be too small is scaled.
    let probe = super::support::Probe::new(&[text], 0x3f0);
    let mut state = super::support::State::new();
    state.set_long(2, 0, f64::MAX.to_bits());
    state.vectors[4][0] = 0;
    for (_, after) in probe.run(&state) {
        let found = f64::from_bits(after.long(0, 0));
        assert!(found > 0.0 && found <= 2f64.powi(128 - (2046 - 1077)), "{found:?}");
    }
}

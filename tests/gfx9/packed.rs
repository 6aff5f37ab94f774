//! VOP3P instructions.

use Ty::{H, S};
use rustc_apfloat::Round;

use super::floats::{DIRECTED, MODES};
use super::operands::{Random, Width, check, rows};
use super::reference::{self as r, Mode, Ty};
use super::support::{LANES, Probe, State};

fn words(arity: usize) -> Vec<[u64; 3]> {
    let halves = rows([H; 3], arity);
    let mut random = Random::new(31);
    let mut rows: Vec<[u64; 3]> = halves
        .iter()
        .zip(halves.iter().rev())
        .map(|(a, b)| [0, 1, 2].map(|n| a[n] | b[n] << 16))
        .collect();
    rows.extend((0..64 * 20).map(|_| [(); 3].map(|()| random.next() >> 32)));
    rows
}

/// Returns the halves that each operation reads, as the bits of the text choose them.
fn halves(x: u64, n: usize, op_sel: [usize; 3], op_sel_hi: [usize; 3]) -> [u64; 2] {
    [op_sel[n], op_sel_hi[n]].map(|high| x >> (16 * high) & 0xffff)
}

const FORMS: [(&str, [usize; 3], [usize; 3]); 2] =
    [("", [0; 3], [1; 3]), (" op_sel:[1,0,1] op_sel_hi:[0,0,1]", [1, 0, 1], [0, 0, 1])];

fn both(name: &str, arity: usize, modes: &[u32], f: impl Fn(Mode, [u64; 3]) -> u64) {
    let sources = ["v2", "v4", "v6"][..arity].join(", ");
    for (form, op_sel, op_sel_hi) in FORMS {
        // The text has one bit per operand.
        let form = if arity == 2 {
            form.replace(",1] op_sel_hi:[0,0,1]", "] op_sel_hi:[0,0]")
        } else {
            form.to_owned()
        };
        let text = format!("{name} v0, {sources}{form}");
        for &mode in modes {
            check(&text, mode, [Width::Word; 3], Width::Word, &words(arity), |row| {
                let parts = [0, 1, 2].map(|n| halves(row[n], n, op_sel, op_sel_hi));
                let result = |half: usize| {
                    f(Mode(mode), [parts[0][half], parts[1][half], parts[2][half]]) & 0xffff
                };
                result(0) | result(1) << 16
            });
        }
    }
}

#[test]
fn halves_of_floats() {
    let modes: Vec<u32> = MODES.into_iter().chain(DIRECTED).collect();
    both("v_pk_add_f16", 2, &modes, |m, [a, b, _]| m.add(H, a, b));
    both("v_pk_mul_f16", 2, &modes, |m, [a, b, _]| m.mul(H, a, b));
    both("v_pk_fma_f16", 3, &modes, |m, x| m.fma(H, x));
    both("v_pk_min_f16", 2, &MODES, |m, [a, b, _]| m.min(H, a, b));
    both("v_pk_max_f16", 2, &MODES, |m, [a, b, _]| m.max(H, a, b));
    // Signs of either half, clamping and constants.
    let m = Mode(0x3f0);
    let pair = |f: &dyn Fn(u64, u64) -> u64, a: u64, b: u64| {
        f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16
    };
    let rows = words(2);
    check(
        "v_pk_add_f16 v0, v2, v4 neg_lo:[1,0] neg_hi:[0,1]",
        m.0,
        [Width::Word; 3],
        Width::Word,
        &rows,
        |[a, b, _]| pair(&|a, b| m.add(H, a, b), a ^ 0x8000, b ^ 0x8000_0000),
    );
    check(
        "v_pk_mul_f16 v0, v2, v4 clamp",
        m.0,
        [Width::Word; 3],
        Width::Word,
        &rows,
        |[a, b, _]| {
            let clamped =
                |x: u64| if r::is_nan(H, x) || x & 0x8000 != 0 { 0 } else { x.min(0x3c00) };
            pair(&|a, b| clamped(m.mul(H, a, b)), a, b)
        },
    );
    check(
        "v_pk_add_f16 v0, v2, 1.0 op_sel_hi:[1,0]",
        m.0,
        [Width::Word; 3],
        Width::Word,
        &rows,
        |[a, ..]| pair(&|a, b| m.add(H, a, b), a, 0x3c00_3c00),
    );
    check("v_pk_add_f16 v0, v2, 1.0", m.0, [Width::Word; 3], Width::Word, &rows, |[a, ..]| {
        pair(&|a, b| m.add(H, a, b), a, 0x3c00)
    });
}

#[test]
fn halves_of_integers() {
    let s = |x: u64| i64::from(x as i16);
    type Exact = fn(i64, i64, i64) -> i64;
    let exact: [(&str, usize, bool, Exact); 13] = [
        ("v_pk_add_i16", 2, true, |a, b, _| a + b),
        ("v_pk_sub_i16", 2, true, |a, b, _| a - b),
        ("v_pk_mad_i16", 3, true, |a, b, c| a * b + c),
        ("v_pk_min_i16", 2, true, |a, b, _| a.min(b)),
        ("v_pk_max_i16", 2, true, |a, b, _| a.max(b)),
        ("v_pk_add_u16", 2, false, |a, b, _| a + b),
        ("v_pk_sub_u16", 2, false, |a, b, _| a - b),
        ("v_pk_mad_u16", 3, false, |a, b, c| a * b + c),
        ("v_pk_min_u16", 2, false, |a, b, _| a.min(b)),
        ("v_pk_max_u16", 2, false, |a, b, _| a.max(b)),
        ("v_pk_mul_lo_u16", 2, false, |a, b, _| a * b),
        ("v_pk_lshrrev_b16", 2, false, |a, b, _| b >> (a & 15)),
        ("v_pk_ashrrev_i16", 2, true, |a, b, _| b >> (a & 15)),
    ];
    for (name, arity, signed, f) in exact {
        let number = move |x: u64| if signed { s(x) } else { x as i64 };
        both(name, arity, &[0x3f0], move |_, [a, b, c]| f(number(a), number(b), number(c)) as u64);
        if !name.contains("add") && !name.contains("sub") && !name.contains("mad") {
            continue;
        }
        let text = format!("{name} v0, {} clamp", ["v2", "v4", "v6"][..arity].join(", "));
        check(&text, 0x3f0, [Width::Word; 3], Width::Word, &words(arity), |row| {
            let half = |n: u32| {
                let [a, b, c] = row.map(|x| number(x >> (16 * n) & 0xffff));
                let (least, greatest) = if signed { (-0x8000, 0x7fff) } else { (0, 0xffff) };
                f(a, b, c).clamp(least, greatest) as u64 & 0xffff
            };
            half(0) | half(1) << 16
        });
    }
    both("v_pk_lshlrev_b16", 2, &[0x3f0], |_, [a, b, _]| b << (a & 15));
}

#[test]
fn mixed() {
    // Returns the operand that the text's bits select: an `f32`, or the low or high half.
    let source = |m: Mode, x: u64, half: bool, high: bool| {
        if half {
            let x = m.flush(H, x >> (16 * u32::from(high)) & 0xffff);
            r::canonical(S, r::convert(H, S, Round::NearestTiesToEven, x))
        } else {
            x
        }
    };
    let mut rows = words(3);
    rows.extend(super::operands::rows([S; 3], 3));
    let forms: [(&str, [bool; 3], [bool; 3]); 3] = [
        ("", [false; 3], [false; 3]),
        (" op_sel_hi:[1,1,1]", [true; 3], [false; 3]),
        (" op_sel:[1,0,0] op_sel_hi:[1,0,1]", [true, false, true], [true, false, false]),
    ];
    for mode in MODES {
        let m = Mode(mode);
        for (form, half, high) in forms {
            let mad =
                |row: [u64; 3]| m.mad(S, [0, 1, 2].map(|n| source(m, row[n], half[n], high[n])));
            check(
                &format!("v_mad_mix_f32 v0, v2, v4, v6{form}"),
                mode,
                [Width::Word; 3],
                Width::Word,
                &rows,
                mad,
            );
            let rounded = |row| m.result(H, r::convert(S, H, m.round(H), mad(row)));
            let low = format!("v_mad_mixlo_f16 v0, v2, v4, v6{form}");
            check(&low, mode, [Width::Word; 3], Width::HalfKept, &rows, rounded);
            let numbered: Vec<[u64; 3]> = rows[..640].to_vec();
            let text = format!("v_mad_mixhi_f16 v0, v2, v4, v6{form}");
            let probe = super::support::Probe::new(&[&text], mode);
            for chunk in numbered.chunks(64) {
                let mut before = super::support::State::new();
                for (lane, row) in chunk.iter().enumerate() {
                    for n in 0..3 {
                        before.vectors[2 + 2 * n][lane] = row[n] as u32;
                    }
                }
                for (engine, after) in probe.run(&before) {
                    for (lane, &row) in chunk.iter().enumerate() {
                        let expected =
                            before.vectors[0][lane] & 0xffff | (rounded(row) as u32) << 16;
                        assert_eq!(after.vectors[0][lane], expected, "{engine}, {text}, {row:x?}");
                    }
                }
            }
        }
        check(
            "v_mad_mix_f32 v0, -v2, |v4|, -|v6|",
            mode,
            [Width::Word; 3],
            Width::Word,
            &rows,
            |[a, b, c]| m.mad(S, [a ^ S.sign(), b & !S.sign(), c | S.sign()]),
        );
    }
}

#[test]
fn dot_products() {
    let rows = words(3);
    let signed =
        |x: u64, width: u32, n: u32| (x as u32 as i32) << (32 - width - width * n) >> (32 - width);
    let unsigned = |x: u64, width: u32, n: u32| x >> (width * n) & ((1 << width) - 1);
    for (name, width) in [("v_dot2_i32_i16", 16), ("v_dot4_i32_i8", 8), ("v_dot8_i32_i4", 4)] {
        // Tensile of rocBLAS uses the last form.
        for (clamp, modifiers) in [(false, ""), (true, " clamp"), (false, " op_sel_hi:[1,1,0]")] {
            let text = format!("{name} v0, v2, v4, v6{modifiers}");
            check(&text, 0x3f0, [Width::Word; 3], Width::Word, &rows, |[a, b, c]| {
                let products = (0..32 / width)
                    .map(|n| i64::from(signed(a, width, n)) * i64::from(signed(b, width, n)));
                let sum = i64::from(c as i32) + products.sum::<i64>();
                let sum = if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                sum as u32 as u64
            });
        }
    }
    for (name, width) in [("v_dot2_u32_u16", 16), ("v_dot4_u32_u8", 8), ("v_dot8_u32_u4", 4)] {
        for clamp in [false, true] {
            let text = format!("{name} v0, v2, v4, v6{}", if clamp { " clamp" } else { "" });
            check(&text, 0x3f0, [Width::Word; 3], Width::Word, &rows, |[a, b, c]| {
                let sum = c
                    + (0..32 / width)
                        .map(|n| unsigned(a, width, n) * unsigned(b, width, n))
                        .sum::<u64>();
                if clamp { sum.min(u32::MAX.into()) } else { sum & 0xffff_ffff }
            });
        }
    }
    for mode in MODES {
        let m = Mode(mode);
        check(
            "v_dot2_f32_f16 v0, v2, v4, v6",
            mode,
            [Width::Word; 3],
            Width::Word,
            &rows,
            |[a, b, c]| {
                let wide = |x: u64, n: u32| {
                    let half = m.flush(H, x >> (16 * n) & 0xffff);
                    r::convert(H, S, Round::NearestTiesToEven, half)
                };
                let sum = m.fma(S, [wide(a, 0), wide(b, 0), c]);
                m.fma(S, [wide(a, 1), wide(b, 1), sum])
            },
        );
    }
}

/// gfx904 and gfx906 round once, and flush denormals as the mode says.
#[test]
fn mixed_and_fused() {
    const TEXT: &str = "v_mad_mix_f32 v0, v2, v4, v6";
    for mode in [0x3f0, 0x3c0] {
        let probe = Probe::of_gpu(&[TEXT], mode, true);
        let m = Mode(mode);
        let rows = super::operands::rows([S; 3], 3);
        for rows in rows.chunks(LANES) {
            let mut before = State::new();
            for (lane, row) in rows.iter().enumerate() {
                for (register, &x) in [2, 4, 6].into_iter().zip(row) {
                    before.vectors[register][lane] = x as u32;
                }
            }
            for (engine, after) in probe.run(&before) {
                for (lane, row) in rows.iter().enumerate() {
                    let expected = m.fma(S, *row) as u32;
                    assert_eq!(
                        after.vectors[0][lane], expected,
                        "{engine}, {mode:#x}: {TEXT} of {row:x?}"
                    );
                }
            }
        }
    }
}

//! VOPC comparisons, whose results are masks of lanes.

use Ty::{D, H, S};

use super::floats::MODES;
use super::operands::rows;
use super::reference::{self as r, Mode, Ty};
use super::support::{EXEC, LANES, Probe, State, VCC};

/// Runs a comparison with some lanes inactive.
fn check(
    name: &str,
    long: [bool; 2],
    mode: u32,
    rows: &[[u64; 3]],
    holds: impl Fn([u64; 3]) -> bool,
) {
    let register = |n: usize| {
        if long[n] { format!("v[{}:{}]", 2 + 2 * n, 3 + 2 * n) } else { format!("v{}", 2 + 2 * n) }
    };
    let sources = format!("{}, {}", register(0), register(1));
    let activates = name.starts_with("v_cmpx");
    // The usual mode runs all rows, other modes a part.
    let rows: Vec<[u64; 3]> =
        rows.iter().copied().step_by(if mode == 0x3f0 { 1 } else { 5 }).collect();
    let texts = [(format!("{name} vcc, {sources}"), VCC), (format!("{name} s[6:7], {sources}"), 6)];
    // One comparison of each type also runs in the other encoding.
    for (text, dst) in
        texts.into_iter().take(if name.contains("_lt_") || name.contains("class") { 2 } else { 1 })
    {
        let probe = Probe::new(&[&text], mode);
        for (number, chunk) in
            rows.chunks(LANES).enumerate().take(if dst == VCC { usize::MAX } else { 3 })
        {
            let mut before = State::new();
            for (lane, row) in chunk.iter().enumerate() {
                for (n, long) in long.into_iter().enumerate() {
                    if long {
                        before.set_long(2 + 2 * n, lane, row[n]);
                    } else {
                        before.vectors[2 + 2 * n][lane] = row[n] as u32
                            | if name.ends_with("16") && !name.contains("class") {
                                0x7777_0000
                            } else {
                                0
                            };
                    }
                }
            }
            let exec =
                (u64::MAX >> (LANES - chunk.len())) & !(0x8421_0842_1084_2108u64 << (number % 5));
            before.set_pair(EXEC, exec);
            let mut expected = before.clone();
            let lanes = chunk
                .iter()
                .enumerate()
                .fold(0, |mask, (lane, &row)| mask | u64::from(holds(row)) << lane)
                & exec;
            expected.set_pair(dst, lanes);
            if activates {
                expected.set_pair(EXEC, lanes);
            }
            for (engine, found) in probe.run(&before) {
                let (f, e) = (found.pair(dst), expected.pair(dst));
                let wrong = (f ^ e).trailing_zeros() as usize;
                assert!(
                    f == e,
                    "{engine}, {text}, mode {mode:x}: lane {wrong}, {:x?}: {f:x} for {e:x}",
                    chunk.get(wrong)
                );
                assert!(found == expected, "{engine}, {text}: another register changed");
            }
        }
    }
}

#[test]
fn floats() {
    type Relation = fn(f64, f64) -> bool;
    let relations: [(&str, Relation); 16] = [
        ("f", |_, _| false),
        ("lt", |a, b| a < b),
        ("eq", |a, b| a == b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("lg", |a, b| a < b || a > b),
        ("ge", |a, b| a >= b),
        ("o", |a, b| !a.is_nan() && !b.is_nan()),
        ("u", |a, b| a.is_nan() || b.is_nan()),
        ("nge", |a, b| !(a >= b)),
        ("nlg", |a, b| !(a < b || a > b)),
        ("ngt", |a, b| !(a > b)),
        ("nle", |a, b| !(a <= b)),
        ("neq", |a, b| a != b),
        ("nlt", |a, b| !(a < b)),
        ("tru", |_, _| true),
    ];
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        let rows = rows([ty; 3], 2);
        for (relation, holds) in relations {
            for prefix in ["v_cmp", "v_cmpx"] {
                for mode in if prefix == "v_cmp" { &MODES[..] } else { &MODES[..1] } {
                    let name = format!("{prefix}_{relation}_{width}");
                    let number = |x| r::number(ty, Mode(*mode).flush(ty, x));
                    check(&name, [ty == D; 2], *mode, &rows, |[a, b, _]| {
                        holds(number(a), number(b))
                    });
                }
            }
        }
    }
}

#[test]
fn integers() {
    type Relation = fn(i128, i128) -> bool;
    let relations: [(&str, Relation); 8] = [
        ("f", |_, _| false),
        ("lt", |a, b| a < b),
        ("eq", |a, b| a == b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ne", |a, b| a != b),
        ("ge", |a, b| a >= b),
        ("t", |_, _| true),
    ];
    for (ty, bits) in [(H, 16), (S, 32), (D, 64)] {
        let rows: Vec<[u64; 3]> = rows([ty; 3], 2).into_iter().step_by(7).collect();
        for (relation, holds) in relations {
            for signed in [true, false] {
                let number = |x: u64| {
                    let up = x << (64 - bits);
                    if signed {
                        i128::from(up as i64 >> (64 - bits))
                    } else {
                        i128::from(up >> (64 - bits))
                    }
                };
                for prefix in ["v_cmp", "v_cmpx"] {
                    let name =
                        format!("{prefix}_{relation}_{}{bits}", if signed { "i" } else { "u" });
                    check(&name, [ty == D; 2], 0x3f0, &rows, |[a, b, _]| {
                        holds(number(a), number(b))
                    });
                }
            }
        }
    }
}

#[test]
fn classes() {
    for (ty, width) in [(H, "f16"), (S, "f32"), (D, "f64")] {
        let values = rows([ty; 3], 1);
        let masks = (0..10).map(|bit| 1u64 << bit).chain([0, 0x3ff, 0x1f8, 0x204, 0xffff_fc00]);
        let rows: Vec<[u64; 3]> = masks
            .flat_map(|mask| values.iter().take(128).map(move |row| [row[0], mask, 0]))
            .collect();
        for prefix in ["v_cmp", "v_cmpx"] {
            // Classes see denormals as denormals in every mode.
            for mode in [0x3f0, 0x300] {
                let name = format!("{prefix}_class_{width}");
                check(&name, [ty == D, false], mode, &rows, |[a, mask, _]| {
                    r::class(ty, a) & mask as u32 != 0
                });
            }
        }
    }
}

//! Functions of floats against those of `f64`, with the errors that `docs/fidelity.md` states.

use half::f16;

use super::{Case, STRIDE, check};

/// The largest allowed error: in units in the last place, absolute, or relative.
#[derive(Clone, Copy)]
enum Bound {
    Units(f64),
    /// One of two bounds holds: for arguments near 1, whose logarithms are near 0.
    Either(f64, f64),
    Absolute(f64),
    Relative(f64),
}

fn unit(exact: f64) -> f64 {
    let near = (exact as f32).abs();
    f64::from(near.next_up()) - f64::from(near)
}

impl Bound {
    fn holds(self, found: f64, exact: f64) -> bool {
        if exact.is_nan() {
            return found.is_nan();
        }
        // The correctly rounded result is always right, also beyond the largest or below the least
        // float.
        if found == f64::from(exact as f32) {
            return true;
        }
        let error = (found - exact).abs();
        match self {
            Bound::Units(most) => error <= most * unit(exact),
            Bound::Either(units, most) => error <= units * unit(exact) || error <= most,
            Bound::Absolute(most) => error <= most,
            Bound::Relative(most) => error <= most * exact.abs(),
        }
    }
}

type Exact = fn(f64, f64) -> f64;

const FUNCTIONS: [(&str, Exact, Bound); 8] = [
    ("exp", |x, _| x.exp2(), Bound::Units(2.0)),
    ("log", |x, _| x.log2(), Bound::Either(2.0, 4.8e-7)),
    ("sin", |x, _| x.sin(), Bound::Absolute(4.0e-6)),
    ("cos", |x, _| x.cos(), Bound::Absolute(4.0e-6)),
    ("sqrt", |x, _| x.sqrt(), Bound::Units(0.5)),
    ("inv", |x, _| 1.0 / x, Bound::Units(0.5)),
    ("rsqrt", |x, _| 1.0 / x.sqrt(), Bound::Units(1.0)),
    ("pow", |x, y| (y * x.log2()).exp2(), Bound::Relative(2.0e-5)),
];

/// Returns arguments of a function, each with the exponent that `pow` takes.
fn arguments(name: &str) -> Vec<(f32, f32)> {
    let spread = |n: i32| (n as f32 * 0.618_034).fract();
    let of = |n: i32| match name {
        "exp" => (spread(n) * 280.0 - 150.0, 0.0),
        "sin" | "cos" => ((spread(n) - 0.5) * 628.0, 0.0),
        "pow" => ((spread(n) * 20.0 - 10.0).exp2(), spread(n * 3) * 8.0 - 4.0),
        _ => ((spread(n) * 240.0 - 120.0).exp2() * (1.0 + spread(n * 7)), 0.0),
    };
    let near_one = (0..16).map(|n| (1.0 + (n - 8) as f32 * 1.0e-4, 2.0));
    (1..113).map(of).chain(near_one).collect()
}

/// Runs an instruction of 16 lanes, without expected bytes, and passes each lane's result to `of`.
fn results(text: &str, bytes: usize, input: &[u8; 384], of: impl Fn(usize, &[u8])) {
    let case = Case { text: text.into(), expected: vec![None; STRIDE] };
    for found in check("dg2", 16, 0xffff, input, &[case]) {
        found[0].chunks(bytes).take(16).enumerate().for_each(|(n, bytes)| of(n, bytes));
    }
}

#[test]
fn functions_of_floats_keep_their_bounds() {
    for (name, exact, bound) in FUNCTIONS {
        for arguments in arguments(name).chunks(16) {
            let mut input = [0; 384];
            for (n, (x, y)) in arguments.iter().enumerate() {
                input[n * 4..][..4].copy_from_slice(&x.to_le_bytes());
                input[128 + n * 4..][..4].copy_from_slice(&y.to_le_bytes());
            }
            let second = if name == "pow" { " Bf(0,0)<1;1,0>" } else { "" };
            let text = format!("{name} (M1, 16) Df(0,0)<1> Af(0,0)<1;1,0>{second}");
            results(&text, 4, &input, |n, bytes| {
                let found = f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
                let (x, y) = arguments[n];
                let expected = exact(x.into(), y.into());
                assert!(
                    bound.holds(found, expected),
                    "{name} {x:e} {y:e}: {found:e}, not {expected:e}"
                );
            });
        }
    }
}

/// A function of halves returns the rounded result of the function, at most one unit off.
#[test]
fn functions_of_halves() {
    for (name, exact, _) in FUNCTIONS {
        let arguments: Vec<f16> = (1..=16)
            .map(|n| {
                f16::from_f32(if matches!(name, "exp" | "sin" | "cos") {
                    n as f32 * 0.7 - 5.0
                } else {
                    n as f32 * 0.9
                })
            })
            .collect();
        let mut input = [0; 384];
        for (n, x) in arguments.iter().enumerate() {
            input[n * 2..][..2].copy_from_slice(&x.to_le_bytes());
            input[128 + n * 2..][..2].copy_from_slice(&f16::from_f32(1.5).to_le_bytes());
        }
        let second = if name == "pow" { " Bhf(0,0)<1;1,0>" } else { "" };
        results(
            &format!("{name} (M1, 16) Dhf(0,0)<1> Ahf(0,0)<1;1,0>{second}"),
            2,
            &input,
            |n, bytes| {
                let found = f16::from_le_bytes(bytes.try_into().unwrap());
                let expected = f16::from_f64(exact(arguments[n].to_f64(), 1.5));
                let apart = found.to_bits().abs_diff(expected.to_bits());
                assert!(apart <= 1, "{name} {}: {found}, not {expected}", arguments[n]);
            },
        );
    }
}

/// Functions of zeros, infinities and negative numbers return the results that the facts state.
#[test]
fn special_values() {
    let inf = f32::INFINITY;
    // Two operands and the result.
    type Row = (f32, f32, f32);
    let cases: [(&str, &[Row]); 8] = [
        ("inv", &[(0.0, 0.0, inf), (-0.0, 0.0, -inf), (inf, 0.0, 0.0), (-inf, 0.0, -0.0)]),
        ("rsqrt", &[(0.0, 0.0, inf), (-0.0, 0.0, -inf), (-1.0, 0.0, f32::NAN), (inf, 0.0, 0.0)]),
        ("sqrt", &[(-0.0, 0.0, -0.0), (-1.0, 0.0, f32::NAN), (inf, 0.0, inf)]),
        ("log", &[(0.0, 0.0, -inf), (-0.0, 0.0, -inf), (-1.0, 0.0, f32::NAN), (inf, 0.0, inf)]),
        ("exp", &[(-inf, 0.0, 0.0), (inf, 0.0, inf), (0.0, 0.0, 1.0), (-0.0, 0.0, 1.0)]),
        ("sin", &[(inf, 0.0, f32::NAN), (0.0, 0.0, 0.0)]),
        ("cos", &[(-inf, 0.0, f32::NAN), (0.0, 0.0, 1.0)]),
        (
            "pow",
            &[
                (0.0, 0.0, 1.0),
                (-2.0, 0.0, 1.0),
                (-2.0, 0.5, f32::NAN),
                (0.0, 2.0, 0.0),
                (0.0, -2.0, inf),
            ],
        ),
    ];
    for (name, all) in cases {
        let mut input = [0; 384];
        for (n, (x, y, _)) in all.iter().enumerate() {
            input[n * 4..][..4].copy_from_slice(&x.to_le_bytes());
            input[128 + n * 4..][..4].copy_from_slice(&y.to_le_bytes());
        }
        let second = if name == "pow" { " Bf(0,0)<1;1,0>" } else { "" };
        results(
            &format!("{name} (M1, 16) Df(0,0)<1> Af(0,0)<1;1,0>{second}"),
            4,
            &input,
            |n, bytes| {
                let Some(&(x, y, expected)) = all.get(n) else { return };
                let found = f32::from_le_bytes(bytes.try_into().unwrap());
                let same =
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(same, "{name} {x} {y}: {found}, not {expected}");
            },
        );
    }
}

/// `invm` and `rsqtm` say whether their result is final: it is final if nothing is left to refine.
#[test]
fn first_steps_of_divisions_and_roots() {
    let values = [1.0_f32, 3.0, 0.0, -0.0, f32::INFINITY, f32::NAN, 1.0e-30, 7.5];
    let mut input = [0; 384];
    for (n, value) in values.iter().enumerate() {
        input[n * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }
    for (name, exact) in [("invm", (|x| 1.0 / x) as fn(f64) -> f64), ("rsqtm", |x| 1.0 / x.sqrt())]
    {
        let text = format!(
            "setp (M1_NM, 32) P1 0x0:ud\n{name} (M1, 16) Df(0,0)<1> P1 Af(0,0)<1;1,0>\n(P1) mov (M1, 16) Df(0,0)<1> 0x42f60000:f"
        );
        results(&text, 4, &input, |n, bytes| {
            let Some(&x) = values.get(n) else { return };
            let found = f32::from_le_bytes(bytes.try_into().unwrap());
            let exact = exact(x.into());
            let is_final = exact.is_nan() || exact.is_infinite() || exact == 0.0;
            match is_final {
                true => assert_eq!(found, 123.0, "{name} {x}"),
                false => assert!(
                    Bound::Units(1.0).holds(found.into(), exact),
                    "{name} {x}: {found}, not {exact}"
                ),
            }
        });
    }
}

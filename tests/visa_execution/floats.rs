//! Opcodes on floats of all types and of mixed types, in all modes of `%cr0`, against results that
//! are rounded once.

use super::exact::{BF, DF, Exact, F, Float, HF, Mode, fused, product, quotient, root, sum};
use super::{Case, DST, STRIDE, check};

const LANES: usize = 16;

/// Returns the bits of edge operands, and of numbers whose sums and products need rounding.
fn operands(ty: Float) -> [u64; LANES] {
    match ty.name {
        "hf" => [
            0, 0x8000, 0x3c00, 0xbe00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x83ff, 0x0400,
            0x3555, 0xb801, 0x5bc3, 0xd640, 0x2e66,
        ],
        "bf" => [
            0, 0x8000, 0x3f80, 0xbfc0, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0x807f, 0x0080,
            0x3eab, 0xbf01, 0x4378, 0xc2c8, 0x3dcd,
        ],
        "f" => [
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbfc0_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            1,
            0x807f_ffff,
            0x0080_0000,
            0x3eaa_aaab,
            0xbf00_0001,
            0x4378_1234,
            0xc2c8_0003,
            0x3dcc_cccd,
        ],
        _ => [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::from_bits(1),
            -f64::MIN_POSITIVE / 2.0,
            f64::MIN_POSITIVE,
            1.0 / 3.0,
            -0.500_000_000_001,
            248.071,
            -100.000_02,
            0.1,
        ]
        .map(f64::to_bits),
    }
}

/// Returns an operation's result; `None`: a zero of either sign.
type Of = fn([f64; 3]) -> Option<Exact>;

struct Row {
    text: &'static str,
    exact: Of,
    /// The operation rounds to nearest, whatever the mode is.
    nearest: bool,
    types: &'static [Float],
}

const ALL: &[Float] = &[HF, BF, F, DF];
const SINGLE_AND_DOUBLE: &[Float] = &[F, DF];
const FLAT: &[Float] = &[F];

const fn row(text: &'static str, exact: Of) -> Row {
    Row { text, exact, nearest: false, types: ALL }
}

const fn nearest(text: &'static str, exact: Of) -> Row {
    Row { nearest: true, ..row(text, exact) }
}

/// Returns the smaller or larger number; if one operand is a NaN, returns the other operand.
fn extreme(a: f64, b: f64, most: bool) -> Option<Exact> {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => is(b),
        (_, true) => is(a),
        _ if a == 0.0 && b == 0.0 => None,
        _ if (a < b) == most => is(b),
        _ => is(a),
    }
}

fn is(number: f64) -> Option<Exact> {
    Some(Exact::is(number))
}

const ROWS: [Row; 19] = [
    row("add D S0 S1", |[a, b, _]| Some(sum(a, b))),
    row("add D S0 (-)S1", |[a, b, _]| Some(sum(a, -b))),
    row("mul D (abs)S0 S1", |[a, b, _]| Some(product(a.abs(), b))),
    row("mad D S0 S1 S2", |[a, b, c]| Some(fused(a, b, c))),
    row("mad D S0 (-)S1 S2", |[a, b, c]| Some(fused(a, -b, c))),
    row("min D S0 S1", |[a, b, _]| extreme(a, b, false)),
    row("max D S0 S1", |[a, b, _]| extreme(a, b, true)),
    row("mov D (-)S0", |[a, ..]| is(-a)),
    row("sel D S0 S1", |[a, ..]| is(a)),
    nearest("div D S0 S1", |[a, b, _]| Some(quotient(a, b))),
    Row { types: SINGLE_AND_DOUBLE, ..nearest("divm D S0 S1", |[a, b, _]| Some(quotient(a, b))) },
    nearest("inv D S0", |[a, ..]| Some(quotient(1.0, a))),
    nearest("sqrt D S0", |[a, ..]| Some(root(a))),
    Row { types: SINGLE_AND_DOUBLE, ..nearest("sqrtm D S0", |[a, ..]| Some(root(a))) },
    Row { types: FLAT, ..nearest("rndd D S0", |[a, ..]| is(a.floor())) },
    Row { types: FLAT, ..nearest("rndu D S0", |[a, ..]| is(a.ceil())) },
    Row { types: FLAT, ..nearest("rnde D S0", |[a, ..]| is(a.round_ties_even())) },
    Row { types: FLAT, ..nearest("rndz D S0", |[a, ..]| is(a.trunc())) },
    Row {
        types: FLAT,
        ..nearest("frc D S0", |[a, ..]| {
            let fraction = a - a.floor();
            // A fraction below 1 stays below 1.
            is(if fraction as f32 == 1.0 { 1.0_f32.next_down().into() } else { fraction + 0.0 })
        })
    },
];

/// Returns the type in which an instruction computes, from the types of its sources.
fn computed(sources: &[Float]) -> Float {
    match sources {
        _ if sources.contains(&DF) => DF,
        _ if sources.contains(&F) || sources.contains(&BF) => F,
        _ => HF,
    }
}

struct Setting {
    mode: Mode,
    keeps_denormals: bool,
    saturate: bool,
}

impl Row {
    fn sources(&self) -> usize {
        self.text.matches('S').count()
    }

    /// Returns the bytes of a result. `None`: no document states the byte or the result.
    fn result(
        &self,
        sources: &[Float],
        operands: [f64; 3],
        to: Float,
        setting: &Setting,
    ) -> Option<Vec<Option<u8>>> {
        let own = computed(sources);
        let moves = matches!(self.text.split(' ').next(), Some("mov" | "sel"));
        let flush =
            |number: f64| if setting.keeps_denormals { number } else { own.flushed(number) };
        let operands = if moves { operands } else { operands.map(flush) };
        let Some(exact) = (self.exact)(operands) else {
            let mut bytes = vec![Some(0); to.size];
            bytes[to.size - 1] = None;
            return Some(bytes);
        };
        // A changed sign may belong to a NaN.
        if moves && exact.near.is_nan() {
            return None;
        }
        let mode = if self.nearest { Mode::Nearest } else { setting.mode };
        let mut result = own.rounded(exact, mode);
        if !moves {
            result = flush(result);
        }
        if setting.saturate {
            result = if result.is_nan() || result <= 0.0 { 0.0 } else { result.min(1.0) };
        }
        // No document states whether halves are computed as halves for a wider destination.
        if own == HF && to != HF && result != exact.near {
            return None;
        }
        let result = to.rounded(Exact::is(result), setting.mode);
        let bits = to.bits(result).to_le_bytes();
        Some(bits[..to.size].iter().map(|&byte| Some(byte)).collect())
    }

    fn case(
        &self,
        sources: &[Float],
        to: Float,
        operands: &[[u64; LANES]; 3],
        setting: &Setting,
    ) -> Case {
        let mut words = self.text.split(' ');
        let name = words.next().unwrap();
        // At first three bits keep denormals; the `xor` clears them.
        let state = (setting.mode as u32) << 4 | if setting.keeps_denormals { 0 } else { 0x4c0 };
        let toggle = format!("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {state:#x}:ud\n");
        let mut text = toggle.clone();
        text += &format!("{name}{} (M1, {LANES})", if setting.saturate { ".sat" } else { "" });
        for word in words {
            text += " ";
            text += &match word.split_once('S') {
                None => format!("D{}(0,0)<1>", to.name),
                Some((modifier, n)) => {
                    let n: usize = n.parse().unwrap();
                    format!("{modifier}{}{}(0,0)<1;1,0>", ["A", "B", "C"][n], sources[n].name)
                }
            };
        }
        text += "\n";
        text += &toggle;
        let mut expected = vec![Some(DST); STRIDE];
        for lane in 0..LANES {
            let numbers = std::array::from_fn(|n| {
                sources.get(n).map_or(0.0, |ty| ty.of_bits(operands[n][lane]))
            });
            let result =
                self.result(sources, numbers, to, setting).unwrap_or_else(|| vec![None; to.size]);
            expected[lane * to.size..][..to.size].copy_from_slice(&result);
        }
        Case { text, expected }
    }
}

/// Runs all rows that take the types, in one setting. Source `n` begins with operand `n * by`.
fn run(types: [Float; 3], destinations: &[Float], setting: &Setting, by: usize) {
    let operands: [[u64; LANES]; 3] = std::array::from_fn(|n| {
        let all = operands(types[n]);
        std::array::from_fn(|lane| all[(lane + n * by) % LANES])
    });
    let mut input = [0; 384];
    for (part, (ty, operands)) in input.chunks_exact_mut(128).zip(types.iter().zip(&operands)) {
        for (place, bits) in part.chunks_exact_mut(ty.size).zip(operands) {
            place.copy_from_slice(&bits.to_le_bytes()[..ty.size]);
        }
    }
    let mut cases = vec![];
    for row in &ROWS {
        let sources = &types[..row.sources()];
        if !sources.iter().all(|ty| row.types.contains(ty)) {
            continue;
        }
        cases.extend(destinations.iter().map(|&to| row.case(sources, to, &operands, setting)));
    }
    check("dg2", 16, 0xffff, &input, &cases);
}

const PLAIN: Setting = Setting { mode: Mode::Nearest, keeps_denormals: true, saturate: false };

#[test]
fn floats_of_all_types() {
    for by in 0..LANES {
        for ty in ALL {
            let same = if *ty == DF { &[DF][..] } else { &[HF, BF, F] };
            run([*ty; 3], same, &PLAIN, by);
        }
    }
    for by in [1, 5, 12] {
        for types in [[HF, F, F], [F, HF, BF], [BF, F, HF], [BF, BF, F], [F, BF, F], [HF, F, HF]] {
            run(types, &[HF, BF, F], &PLAIN, by);
        }
    }
}

/// [`super::rounding`] tests sums, products and conversions of doubles, where they are exact.
#[test]
fn modes_saturation_and_denormals() {
    for by in [0, 3, 7] {
        for ty in [HF, BF, F] {
            for mode in [Mode::Up, Mode::Down, Mode::Zero] {
                run([ty; 3], &[HF, BF, F], &Setting { mode, ..PLAIN }, by);
            }
        }
        for ty in ALL {
            let same = if *ty == DF { &[DF][..] } else { &[HF, BF, F] };
            run([*ty; 3], same, &Setting { saturate: true, ..PLAIN }, by);
            run([*ty; 3], &[*ty], &Setting { keeps_denormals: false, ..PLAIN }, by);
        }
    }
}

/// Comparisons of floats: a NaN equals nothing, and zeros are equal.
#[test]
fn relations_of_floats() {
    type Relation = (&'static str, fn(f64, f64) -> bool);
    let relations: [Relation; 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
    ];
    for (first, second) in [(HF, HF), (BF, BF), (F, F), (DF, DF), (HF, F), (F, BF)] {
        for by in 0..LANES {
            let (a, b) = (operands(first), operands(second));
            let mut input = [0; 384];
            for lane in 0..LANES {
                input[lane * first.size..][..first.size]
                    .copy_from_slice(&a[lane].to_le_bytes()[..first.size]);
                let bits = b[(lane + by) % LANES];
                input[128 + lane * second.size..][..second.size]
                    .copy_from_slice(&bits.to_le_bytes()[..second.size]);
            }
            let mut cases = vec![];
            for (name, holds) in relations {
                let bytes: Vec<u8> = (0..LANES)
                    .flat_map(|lane| {
                        let (a, b) =
                            (first.of_bits(a[lane]), second.of_bits(b[(lane + by) % LANES]));
                        if holds(a, b) { [0xff; 2] } else { [0; 2] }
                    })
                    .collect();
                let (of_a, of_b) = (first.name, second.name);
                let text = format!(
                    "cmp.{name} (M1, {LANES}) Duw(0,0)<1> A{of_a}(0,0)<1;1,0> B{of_b}(0,0)<1;1,0>"
                );
                cases.push(Case::new(text, &bytes));
            }
            check("dg2", 16, 0xffff, &input, &cases);
        }
    }
}

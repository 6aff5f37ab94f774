//! Opcodes on integers of all types, and of mixed types, against exact numbers.

use super::{Case, DST, STRIDE, TYPES, check};

const LANES: usize = 16;
/// The number of integer types, which are first in `TYPES`.
const INTEGERS: usize = 8;

/// A type: its name and bytes.
type Ty = (&'static str, usize);

fn is_signed(ty: Ty) -> bool {
    matches!(ty.0, "b" | "w" | "d" | "q")
}

fn range((name, size): Ty) -> (i128, i128) {
    let bits = size * 8;
    if is_signed((name, size)) {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// Returns the low bits of a number, as a number of the type.
fn low(number: i128, ty: Ty) -> i128 {
    let above = 128 - ty.1 * 8;
    if is_signed(ty) {
        number << above >> above
    } else {
        ((number as u128) << above >> above) as i128
    }
}

/// Returns the edge values of a type.
fn edges(ty: Ty) -> [i128; 8] {
    let (least, most) = range(ty);
    [least, most, 0, 1, if is_signed(ty) { -1 } else { most - 1 }, most / 2 + 1, 7, 100]
}

/// Returns each lane's operands. `by` of 0 to 3 makes all pairs of edges of the first two sources.
fn lanes(types: [Ty; 3], by: usize) -> [[i128; LANES]; 3] {
    let edge = |n: usize, at: usize| edges(types[n])[at % 8];
    [
        std::array::from_fn(|lane| edge(0, lane)),
        std::array::from_fn(|lane| edge(1, lane + 2 * by + lane / 8)),
        std::array::from_fn(|lane| edge(2, 3 * lane + by)),
    ]
}

/// Returns an operation's exact result from exact operands. An instruction keeps its low bits, or
/// saturates it. `None`: no document states the result.
type Exact = fn([i128; 3], [Ty; 3], Ty) -> Option<i128>;

struct Row {
    /// The instruction, with `D` for the destination and `S0`, `S1`, `S2` for sources.
    text: &'static str,
    exact: Exact,
    saturates: bool,
    takes: fn([Ty; 3], Ty) -> bool,
}

fn any(_: [Ty; 3], _: Ty) -> bool {
    true
}

fn to_dwords(types: [Ty; 3], dst: Ty) -> bool {
    dst.1 <= 4 && types.iter().all(|ty| ty.1 <= 4)
}

const fn row(text: &'static str, exact: Exact) -> Row {
    Row { text, exact, saturates: false, takes: any }
}

const fn saturating(text: &'static str, exact: Exact) -> Row {
    Row { saturates: true, ..row(text, exact) }
}

/// Returns the count of a shift: the low five bits, or six bits if the shift is 64 bits wide.
fn count(count: i128, wide: bool) -> u32 {
    (count & if wide { 63 } else { 31 }) as u32
}

fn all(holds: bool) -> Option<i128> {
    Some(if holds { -1 } else { 0 })
}

/// Returns a source's value after a modifier: a negated or absolute 64-bit value wraps.
fn modified(number: i128, ty: Ty) -> i128 {
    if ty.1 == 8 { low(number, ("q", 8)) } else { number }
}

fn words_of_one_size(types: [Ty; 3], dst: Ty) -> bool {
    types[0].1 >= 2 && dst.1 == types[0].1
}

const ROWS: [Row; 32] = [
    saturating("add D S0 S1", |[a, b, _], _, _| Some(a + b)),
    saturating("add D S0 (-)S1", |[a, b, _], types, _| Some(a + modified(-b, types[1]))),
    saturating("add D (abs)S0 S1", |[a, b, _], types, _| {
        Some(b + if is_signed(types[0]) { modified(a.abs(), types[0]) } else { a })
    }),
    Row { takes: to_dwords, ..saturating("avg D S0 S1", |[a, b, _], _, _| Some((a + b + 1) >> 1)) },
    Row { takes: to_dwords, ..saturating("add3 D S0 S1 S2", |[a, b, c], _, _| Some(a + b + c)) },
    row("mul D S0 S1", |[a, b, _], _, _| Some(a.wrapping_mul(b))),
    row("mad D S0 S1 S2", |[a, b, c], _, _| Some(a.wrapping_mul(b).wrapping_add(c))),
    Row {
        takes: |types, dst| dst.1 == 4 && to_dwords(types, dst),
        ..row("div D S0 S1", |[a, b, _], _, dst| match (b, is_signed(dst)) {
            (0, false) => Some(-1),
            (0, true) => Some(if a < 0 { range(dst).0 } else { range(dst).1 }),
            _ => Some(a / b),
        })
    },
    // No document states a remainder by 0.
    Row {
        takes: to_dwords,
        ..row("mod D S0 S1", |[a, b, _], _, _| if b == 0 { None } else { Some(a % b) })
    },
    saturating("min D S0 S1", |[a, b, _], _, _| Some(a.min(b))),
    saturating("max D S0 S1", |[a, b, _], _, _| Some(a.max(b))),
    row("cmp.eq D S0 S1", |[a, b, _], _, _| all(a == b)),
    row("cmp.ne D S0 S1", |[a, b, _], _, _| all(a != b)),
    row("cmp.lt D S0 S1", |[a, b, _], _, _| all(a < b)),
    row("cmp.le D S0 S1", |[a, b, _], _, _| all(a <= b)),
    row("cmp.gt D S0 S1", |[a, b, _], _, _| all(a > b)),
    row("cmp.ge D S0 S1", |[a, b, _], _, _| all(a >= b)),
    saturating("sel D S0 S1", |[a, ..], _, _| Some(a)),
    saturating("mov D (-)S0", |[a, ..], types, _| Some(modified(-a, types[0]))),
    saturating("mov D (-abs)S0", |[a, ..], types, _| Some(modified(-a.abs(), types[0]))),
    row("and D S0 S1", |[a, b, _], _, _| Some(a & b)),
    row("or D S0 (~)S1", |[a, b, _], _, _| Some(a | !b)),
    row("xor D S0 S1", |[a, b, _], _, _| Some(a ^ b)),
    row("not D S0", |[a, ..], _, _| Some(!a)),
    row("shl D S0 S1", |[a, b, _], types, dst| {
        Some(a.wrapping_shl(count(b, dst.1 == 8 || types[0].1 == 8)) & i128::from(u64::MAX))
    }),
    // Only numbers without a sign: zeros come in from above.
    Row {
        takes: |types, _| !is_signed(types[0]),
        ..row("shr D S0 S1", |[a, b, _], _, dst| Some(a >> count(b, dst.1 == 8)))
    },
    Row {
        takes: |types, _| is_signed(types[0]),
        ..row("asr D S0 S1", |[a, b, _], _, dst| Some(a >> count(b, dst.1 == 8)))
    },
    Row {
        takes: words_of_one_size,
        ..row("rol D S0 S1", |[a, b, _], types, _| Some(rotated(a, b, types[0].1)))
    },
    Row {
        takes: words_of_one_size,
        ..row("ror D S0 S1", |[a, b, _], types, _| Some(rotated(a, -b, types[0].1)))
    },
    Row {
        takes: |types, dst| !is_signed(types[0]) && to_dwords(types, dst),
        ..row("cbit D S0", |[a, ..], _, _| Some(a.count_ones().into()))
    },
    Row {
        takes: to_dwords,
        ..row("bfn.xca D S0 S1 S2", |[a, b, c], _, _| Some(table(0xca, a, b, c)))
    },
    Row {
        takes: |types, dst| dst.1 == 4 && types.iter().all(|ty| ty.1 == 4),
        ..row("mulh D S0 S1", |[a, b, _], _, _| Some((a * b) >> 32))
    },
];

fn rotated(value: i128, by: i128, size: usize) -> i128 {
    let bits = size as i128 * 8;
    let (value, by) = (value as u128 & (u128::MAX >> (128 - bits)), by.rem_euclid(bits));
    (value << by | value >> (bits - by)) as i128
}

fn table(table: u32, a: i128, b: i128, c: i128) -> i128 {
    (0..32)
        .map(|n| i128::from(table >> (a >> n & 1 | (b >> n & 1) << 1 | (c >> n & 1) << 2) & 1) << n)
        .sum()
}

fn bytes(numbers: &[i128], ty: Ty, into: &mut [u8]) {
    for (number, place) in numbers.iter().zip(into.chunks_exact_mut(ty.1)) {
        place.copy_from_slice(&number.to_le_bytes()[..ty.1]);
    }
}

fn case(row: &Row, dst: Ty, types: [Ty; 3], operands: [[i128; LANES]; 3], saturate: bool) -> Case {
    let mut words = row.text.split(' ');
    let name = words.next().unwrap();
    let mut text = format!("{name}{} (M1, {LANES})", if saturate { ".sat" } else { "" });
    for word in words {
        text += " ";
        text += &match word.split_once('S') {
            None => format!("D{}(0,0)<1>", dst.0),
            Some((modifier, n)) => {
                let n: usize = n.parse().unwrap();
                format!("{modifier}{}{}(0,0)<1;1,0>", ["A", "B", "C"][n], types[n].0)
            }
        };
    }
    let mut expected = vec![Some(DST); STRIDE];
    for lane in 0..LANES {
        let result = (row.exact)(operands.map(|source| source[lane]), types, dst);
        let (least, most) = range(dst);
        let result = result.map(|number| if saturate { number.clamp(least, most) } else { number });
        for k in 0..dst.1 {
            expected[lane * dst.1 + k] = result.map(|number| number.to_le_bytes()[k]);
        }
    }
    Case { text, expected }
}

/// The types of the second and third source and of the destination follow from the first type such
/// that each pair of types occurs together somewhere.
#[test]
fn integers_of_all_types() {
    let types = &TYPES[..INTEGERS];
    for (i, &first) in types.iter().enumerate() {
        for more in 0..INTEGERS {
            let all = [first, types[(i + more) % INTEGERS], types[(i + 3 * more) % INTEGERS]];
            for by in 0..4 {
                let operands = lanes(all, by);
                let mut input = [0; 384];
                for (part, (&ty, operands)) in
                    input.chunks_exact_mut(128).zip(all.iter().zip(&operands))
                {
                    bytes(operands, ty, part);
                }
                let mut cases = vec![];
                for (number, row) in ROWS.iter().enumerate() {
                    let mut turned =
                        types.iter().cycle().skip(i + 2 * more + by + number).take(INTEGERS);
                    let Some(&dst) = turned.find(|&&dst| (row.takes)(all, dst)) else { continue };
                    cases.push(case(row, dst, all, operands, false));
                    if row.saturates {
                        cases.push(case(row, dst, all, operands, true));
                    }
                }
                check("dg2", 16, 0xffff, &input, &cases);
            }
        }
    }
}

//! Tests *Scalar Video Instructions* and *SIMD Video Instructions* of the PTX ISA. The latter are
//! sequences on sm_50, except some of `vabsdiff4`.

use super::Group;
use crate::integer::{EDGES, operand};

#[test]
fn video() {
    let mut group = Group::default();
    scalar(&mut group);
    shifts(&mut group);
    multiply(&mut group);
    compare(&mut group);
    simd(&mut group);
    group.check("video", operand, &EDGES);
    group.check_text("video", operand, &EDGES);
}

/// An exact operation.
type Op = fn(i128, i128) -> i128;

const SIGNS: [bool; 2] = [false, true];

fn ty(signed: bool) -> &'static str {
    if signed { "s32" } else { "u32" }
}

/// A part of a source or destination.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    name: &'static str,
    lo: u32,
    bits: u32,
}

const fn part(name: &'static str, lo: u32, bits: u32) -> Part {
    Part { name, lo, bits }
}

const WORD: Part = part("", 0, 32);
const PARTS: [Part; 7] = [
    WORD,
    part(".b0", 0, 8),
    part(".h1", 16, 16),
    part(".b3", 24, 8),
    part(".h0", 0, 16),
    part(".b1", 8, 8),
    part(".b2", 16, 8),
];

impl Part {
    fn of(self, value: u64, signed: bool) -> i128 {
        extend(value >> self.lo, self.bits, signed)
    }
}

fn extend(value: u64, bits: u32, signed: bool) -> i128 {
    let value = value & (u64::MAX >> (64 - bits));
    if signed && value >> (bits - 1) != 0 { i128::from(value) - (1 << bits) } else { value.into() }
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    if signed {
        value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

/// The second step: how the instruction combines the operation's result with C.
#[derive(Clone, Copy)]
enum Second {
    None,
    Add,
    Min,
    Max,
    Merge(Part),
}

fn seconds() -> impl Iterator<Item = Second> {
    let merges = PARTS.into_iter().skip(1).map(Second::Merge);
    [Second::None, Second::Add, Second::Min, Second::Max].into_iter().chain(merges)
}

impl Second {
    /// Returns the text of instruction `name`, with its modifiers, on `a` and `b`.
    fn ptx(self, name: &str, a: &str, b: &str) -> String {
        match self {
            Second::None => format!("{name} r, {a}, {b};"),
            Second::Add => format!("{name}.add r, {a}, {b}, z;"),
            Second::Min => format!("{name}.min r, {a}, {b}, z;"),
            Second::Max => format!("{name}.max r, {a}, {b}, z;"),
            Second::Merge(part) => format!("{name} r{}, {a}, {b}, z;", part.name),
        }
    }

    /// Returns the 32-bit result after `optSaturate`, `optSecondaryOp` and `optMerge` of the PTX
    /// ISA. The sign of the intermediate result depends on the destination's type.
    fn apply(self, value: i128, c: u64, sat: bool, signed: bool) -> u64 {
        let bits = if let Second::Merge(part) = self { part.bits } else { 32 };
        let value = if sat { clamp(value, bits, signed) } else { value };
        let (value, third) = (extend(value as u64, 32, signed), extend(c, 32, signed));
        match self {
            Second::None => value as u64,
            Second::Add => (value + third) as u64,
            Second::Min => value.min(third) as u64,
            Second::Max => value.max(third) as u64,
            Second::Merge(part) => {
                let mask = (u64::MAX >> (64 - part.bits)) << part.lo;
                (value as u64) << part.lo & mask | c & !mask
            }
        }
    }
}

/// Goes through the pairs of parts in an order that gives neighbouring forms different pairs.
#[derive(Default)]
struct Parts(usize);

impl Parts {
    fn next(&mut self) -> (Part, Part) {
        self.0 += 1;
        let n = PARTS.len();
        (PARTS[self.0 % n], PARTS[(self.0 / n + 3 * self.0) % n])
    }
}

/// Adds `vadd`, `vsub`, `vabsdiff`, `vmin` and `vmax`.
fn scalar(group: &mut Group) {
    let ops: [(&str, Op); 5] = [
        ("vadd", |a, b| a + b),
        ("vsub", |a, b| a - b),
        ("vabsdiff", |a, b| (a - b).abs()),
        ("vmin", |a, b| a.min(b)),
        ("vmax", |a, b| a.max(b)),
    ];
    let mut parts = Parts::default();
    for (name, op) in ops {
        for (sd, sa, sb, sat) in four() {
            let name =
                format!("{name}.{}.{}.{}{}", ty(sd), ty(sa), ty(sb), if sat { ".sat" } else { "" });
            for second in seconds() {
                let (a, b) = parts.next();
                let ptx = second.ptx(&name, &format!("x{}", a.name), &format!("y{}", b.name));
                group.int(32, ptx, move |x, y, z| {
                    second.apply(op(a.of(x, sa), b.of(y, sb)), z, sat, sd)
                });
            }
        }
        // Immediates of an instruction have 16 bits.
        for (sa, imm) in
            [(true, -7i64), (false, 200), (true, 0x7fff), (false, 0x8001), (true, -0x8000)]
        {
            let (a, _) = parts.next();
            let signed = imm < 0;
            let ptx = format!("{name}.s32.{}.{} r, x{}, {imm};", ty(sa), ty(signed), a.name);
            group.int(32, ptx, move |x, _, z| {
                Second::None.apply(op(a.of(x, sa), extend(imm as u64, 32, signed)), z, false, true)
            });
        }
    }
}

/// Returns all combinations of four flags.
fn four() -> impl Iterator<Item = (bool, bool, bool, bool)> {
    (0..16).map(|n| (n & 1 != 0, n & 2 != 0, n & 4 != 0, n & 8 != 0))
}

/// Adds `vshl` and `vshr`.
fn shifts(group: &mut Group) {
    let mut parts = Parts::default();
    for left in SIGNS {
        for (sd, sa, sat, wrap) in four() {
            let name = format!(
                "{}.{}.{}.u32{}.{}",
                if left { "vshl" } else { "vshr" },
                ty(sd),
                ty(sa),
                if sat { ".sat" } else { "" },
                if wrap { "wrap" } else { "clamp" }
            );
            let shift = move |a: i128, count: i128| {
                let count = if wrap { count & 31 } else { count.min(32) };
                if left { a << count } else { a >> count }
            };
            for second in seconds() {
                let (a, b) = parts.next();
                let ptx = second.ptx(&name, &format!("x{}", a.name), &format!("y{}", b.name));
                group.int(32, ptx, move |x, y, z| {
                    second.apply(shift(a.of(x, sa), b.of(y, false)), z, sat, sd)
                });
            }
            for count in [3u64, 31, 32, 33] {
                let (a, _) = parts.next();
                let ptx = format!("{name} r, x{}, {count};", a.name);
                group.int(32, ptx, move |x, _, z| {
                    Second::None.apply(shift(a.of(x, sa), count.into()), z, sat, sd)
                });
            }
        }
    }
}

/// Adds `vmad`.
fn multiply(group: &mut Group) {
    let mut parts = Parts::default();
    for (sa, sb, sat, whole) in four() {
        for (minus_a, minus_b, minus_c, plus_one) in [
            ("", "", "", ""),
            ("-", "", "", ""),
            ("", "-", "", ""),
            ("", "", "-", ""),
            ("", "", "", ".po"),
        ] {
            for (scale, shift) in [("", 0), (".shr7", 7), (".shr15", 15)] {
                let (a, b) = if whole { (WORD, WORD) } else { parts.next() };
                let negated = minus_a != minus_b;
                let signed = sa || sb || negated;
                let final_sign = signed || minus_c == "-";
                let name = format!("vmad.{}.{}.{}{plus_one}", ty(final_sign), ty(sa), ty(sb));
                let sat_name = if sat { ".sat" } else { "" };
                let ptx = format!(
                    "{name}{sat_name}{scale} r, {minus_a}x{}, {minus_b}y{}, {minus_c}z;",
                    a.name, b.name
                );
                group.int(32, ptx, move |x, y, z| {
                    let product = a.of(x, sa) * b.of(y, sb);
                    let product = if negated { -product } else { product };
                    // C has the sign of the product.
                    let c = extend(z, 32, signed);
                    let c = if minus_c == "-" { -c } else { c };
                    let sum = (product + c + i128::from(plus_one == ".po")) >> shift;
                    (if sat { clamp(sum, 32, final_sign) } else { sum }) as u64
                });
            }
        }
    }
}

const COMPARISONS: [(&str, Op); 6] = [
    ("eq", |a, b| (a == b).into()),
    ("ne", |a, b| (a != b).into()),
    ("lt", |a, b| (a < b).into()),
    ("le", |a, b| (a <= b).into()),
    ("gt", |a, b| (a > b).into()),
    ("ge", |a, b| (a >= b).into()),
];

/// Adds `vset`, without immediates: ptxas 12.9 makes another instruction's word of them.
fn compare(group: &mut Group) {
    let mut parts = Parts::default();
    for (name, compare) in COMPARISONS {
        for (sa, sb) in [(false, false), (false, true), (true, false), (true, true)] {
            let name = format!("vset.{}.{}.{name}", ty(sa), ty(sb));
            for second in seconds() {
                let (a, b) = parts.next();
                let ptx = second.ptx(&name, &format!("x{}", a.name), &format!("y{}", b.name));
                group.int(32, ptx, move |x, y, z| {
                    second.apply(compare(a.of(x, sa), b.of(y, sb)), z, false, false)
                });
            }
        }
    }
}

/// Returns `count` elements of A, then B: element i is `lanes[i]`.
fn elements(a: u64, b: u64, lanes: &[u32], signed: bool) -> Vec<i128> {
    let bits = 32 / lanes.len() as u32;
    let both = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
    lanes.iter().map(|lane| extend(both >> (lane * bits), bits, signed)).collect()
}

/// Returns a selector's suffix: `.b3210`.
fn selector(lanes: &[u32]) -> String {
    let digits: String = lanes.iter().rev().map(u32::to_string).collect();
    format!(".{}{digits}", if lanes.len() == 4 { 'b' } else { 'h' })
}

/// Adds an instruction that works element by element, then adds up the elements or merges them into
/// C.
fn simd_forms(
    group: &mut Group,
    lanes: usize,
    name: &str,
    sat: Option<bool>,
    signs: [bool; 2],
    op: Op,
) {
    let bits = 32 / lanes as u32;
    let [sa, sb] = signs;
    let other: [&[u32]; 2] =
        if lanes == 4 { [&[1, 6, 0, 7], &[5, 2, 3, 3]] } else { [&[3, 0], &[1, 2]] };
    let (all_a, all_b): (Vec<u32>, Vec<u32>) =
        (0..2 * lanes as u32).partition(|&lane| lane < lanes as u32);
    let some: Vec<u32> = if lanes == 4 { vec![0, 2, 3] } else { vec![1] };
    // Covers the whole operand, all kinds of selection at once, and a sum.
    let kinds = [(false, false), (true, false), (false, true), (true, true)];
    for (chosen, sum) in kinds.into_iter().filter(|&(_, sum)| !(sum && sat.is_some())) {
        let (in_a, in_b, kept) = if chosen {
            (other[0].to_vec(), other[1].to_vec(), some.clone())
        } else {
            (all_a.clone(), all_b.clone(), all_a.clone())
        };
        let (mut mask, mut selects) = (String::new(), [String::new(), String::new()]);
        if chosen {
            mask = selector(&kept);
            if kept.len() != lanes {
                mask.replace_range(1..2, if lanes == 4 { "b" } else { "h" });
            }
            selects = [selector(&in_a), selector(&in_b)];
        }
        let add = if sum { ".add" } else { "" };
        let ptx = format!("{name}{add} r{mask}, x{}, y{}, z;", selects[0], selects[1]);
        group.int(32, ptx, move |x, y, z| {
            let (a, b) = (elements(x, y, &in_a, sa), elements(x, y, &in_b, sb));
            let mut result = z;
            for lane in kept.iter().copied() {
                let value = op(a[lane as usize], b[lane as usize]);
                let value = sat.map_or(value, |signed| clamp(value, bits, signed));
                result = if sum {
                    result.wrapping_add(value as u64)
                } else {
                    let mask = ((1 << bits) - 1) << (lane * bits);
                    (value as u64) << (lane * bits) & mask | result & !mask
                };
            }
            result
        });
    }
}

/// Adds instructions on two halves or four bytes at once.
fn simd(group: &mut Group) {
    fn average(a: i128, b: i128) -> i128 {
        (a + b + i128::from(a + b >= 0)) >> 1
    }
    let ops: [(&str, Op); 6] = [
        ("vadd", |a, b| a + b),
        ("vsub", |a, b| a - b),
        ("vavrg", average),
        ("vabsdiff", |a, b| (a - b).abs()),
        ("vmin", |a, b| a.min(b)),
        ("vmax", |a, b| a.max(b)),
    ];
    for lanes in [2, 4] {
        for (name, op) in ops {
            for (sd, sa, sb, sat) in four() {
                let sat_name = if sat { ".sat" } else { "" };
                let name = format!("{name}{lanes}.{}.{}.{}{sat_name}", ty(sd), ty(sa), ty(sb));
                simd_forms(group, lanes, &name, sat.then_some(sd), [sa, sb], op);
            }
        }
        for (name, op) in COMPARISONS {
            for (sa, sb) in [(false, false), (false, true), (true, false), (true, true)] {
                let name = format!("vset{lanes}.{}.{}.{name}", ty(sa), ty(sb));
                simd_forms(group, lanes, &name, None, [sa, sb], op);
            }
        }
    }
}

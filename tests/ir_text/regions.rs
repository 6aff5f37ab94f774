//! Byte regions of every shape that one or two registers of 32 bytes have, held against a model of bytes.
//!
//! The model is `documentation/visa` of Intel's graphics compiler: source lane n of `<V;W,H>` at element e is element
//! `e + (n / W) * V + (n % W) * H`; destination lane n of `<H>` is element `e + n * H`; later lanes are written later.

use std::fmt::Write;

use super::case::parse_file;
use super::{engines, run};

/// Bytes of two registers.
const BYTES: usize = 64;
const LANES: usize = 32;
/// Accesses in one function.
const BATCH: usize = 150;
/// Types with the bytes of an element.
const TYPES: [(&str, usize); 7] =
    [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("f16", 2), ("f32", 4), ("f64", 8)];
const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// A lane count with strides, as Intel's rules for regions allow them.
#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    vstride: usize,
    width: usize,
    hstride: usize,
}

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        let widths = SIZES.into_iter().flat_map(|count| [1, 2, 4, 8, 16].map(|width| (count, width)));
        let strides = widths.flat_map(|(count, width)| [0, 1, 2, 4].map(|hstride| (count, width, hstride)));
        let shapes = strides.flat_map(|(count, width, hstride)| {
            [0, 1, 2, 4, 8, 16, 32].map(|vstride| Shape { count, vstride, width, hstride })
        });
        shapes.filter(Shape::is_legal)
    }

    fn is_legal(&self) -> bool {
        let Shape { count, vstride, width, hstride } = *self;
        width <= count
            && (width != count || hstride == 0 || vstride == width * hstride)
            && (width != 1 || hstride == 0)
            && (count != 1 || width != 1 || vstride == 0)
            && (vstride != 0 || hstride != 0 || width == 1)
    }

    /// The byte of each lane's element from the first one's on.
    fn offsets(&self, size: usize) -> Vec<usize> {
        (0..self.count).map(|n| (n / self.width * self.vstride + n % self.width * self.hstride) * size).collect()
    }

    /// Where it may begin in the bytes.
    fn begins(&self, size: usize) -> impl Iterator<Item = usize> + use<> {
        let reach = self.offsets(size).into_iter().max().expect("a lane") + size;
        (0..(BYTES + 1).saturating_sub(reach)).step_by(size)
    }
}

fn pattern(i: usize) -> u8 {
    (i * 37 + 11) as u8
}

fn element(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn words(values: impl IntoIterator<Item = u64>) -> String {
    values.into_iter().map(|value| format!(" {value:#x}")).collect()
}

/// One access, as lines of a function and what it leaves.
struct Access {
    code: String,
    expected: String,
}

fn head(banks: &str) -> String {
    format!("function \"regions\" lanes {LANES} nan 0 0 0 {{\nbank m: mask x 2\n{banks}active m[0]\n\nb0:\n")
}

/// Runs functions of some accesses on all engines. `head` and `sets` are of each of them.
fn check(accesses: &[Access], head: &str, sets: &str) {
    for batch in accesses.chunks(BATCH) {
        let mut text = head.to_owned();
        batch.iter().for_each(|access| text += &access.code);
        text += "  exit\n}\ncase \"model\"\n";
        text += sets;
        batch.iter().for_each(|access| text += &access.expected);
        let tests = parse_file(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (engine, make) in engines() {
            let outcome = run::run_case(&tests[0].0, &tests[0].1[0], make);
            outcome.unwrap_or_else(|error| panic!("{engine}: {error}\n{text}"));
        }
    }
}

#[test]
fn reads() {
    let bytes: Vec<u8> = (0..BYTES).map(pattern).collect();
    for (ty, size) in TYPES {
        let mut accesses = Vec::new();
        for shape in Shape::all() {
            for begin in shape.begins(size) {
                // Floats are integers of their size, all but the shapes.
                if ty.starts_with('f') && begin != 0 {
                    continue;
                }
                let number = accesses.len() % BATCH;
                let Shape { count, vstride, width, hstride } = shape;
                let first = number * count % LANES;
                let lanes = format!("lanes {first}+{count}");
                let code = format!(
                    "  v{number} = region.read.{ty} x[0]+{begin}<{vstride};{width},{hstride}> {lanes}\n  \
                     rf.write r[{number}], v{number} nomask {lanes}\n"
                );
                let mut values = vec![0; LANES];
                for (lane, offset) in shape.offsets(size).into_iter().enumerate() {
                    values[first + lane] = element(&bytes[begin + offset..][..size]);
                }
                accesses.push(Access { code, expected: format!("  expect r[{number}]{}\n", words(values)) });
            }
        }
        let banks = format!("bank x: bytes {BYTES} x 1\nbank r: lane {ty} x {BATCH}\n");
        let sets = format!("  set x[0]{}\n", words(bytes.iter().map(|&byte| byte.into())));
        check(&accesses, &head(&banks), &sets);
    }
}

#[test]
fn writes() {
    const GUARD: u64 = 0xb65d_e3a7;
    let background = |i: usize| (i * 91 + 3) as u8;
    for (ty, size) in TYPES {
        let value = |lane: usize| element(&(0..size).map(|byte| pattern(lane * size + byte)).collect::<Vec<_>>());
        let mut accesses = Vec::new();
        for (count, hstride) in SIZES.into_iter().flat_map(|count| [0, 1, 2, 4].map(|hstride| (count, hstride))) {
            let shape = Shape { count, vstride: hstride, width: 1, hstride: 0 };
            for begin in shape.begins(size) {
                if ty.starts_with('f') && begin != 0 {
                    continue;
                }
                for guard in [None, Some(GUARD)] {
                    let number = accesses.len() % BATCH;
                    let first = number * count % LANES;
                    let guarded = if guard.is_some() { "guard v0" } else { "" };
                    let v = 4 + 2 * number;
                    let code = format!(
                        "  region.write x[0]+0<1;1,0>, v1 nomask\n  region.write x[0]+32<1;1,0>, v2 nomask\n  \
                         region.write x[0]+{begin}<{hstride};1,0>, v3 {guarded} nomask lanes {first}+{count}\n  \
                         v{v} = region.read.i8 x[0]+0<1;1,0>\n  v{} = region.read.i8 x[0]+32<8;8,1>\n  \
                         rf.write o[{}], v{v} nomask\n  rf.write o[{}], v{} nomask\n",
                        v + 1,
                        2 * number,
                        2 * number + 1,
                        v + 1,
                    );
                    let mut bytes: Vec<u8> = (0..BYTES).map(background).collect();
                    for (lane, offset) in (first..).zip(shape.offsets(size)) {
                        if guard.unwrap_or(u64::MAX) >> lane & 1 != 0 {
                            let value = &value(lane).to_le_bytes()[..size];
                            bytes[begin + offset..][..size].copy_from_slice(value);
                        }
                    }
                    let mut expected = String::new();
                    for half in 0..2 {
                        let bytes = bytes[half * LANES..][..LANES].iter().map(|&byte| byte.into());
                        writeln!(expected, "  expect o[{}]{}", 2 * number + half, words(bytes)).expect("a string");
                    }
                    accesses.push(Access { code, expected });
                }
            }
        }
        let banks = format!(
            "bank x: bytes {BYTES} x 1\nbank b: lane i8 x 2\nbank r: lane {ty} x 1\nbank o: lane i8 x {}\n",
            2 * BATCH
        );
        let head = head(&banks)
            + "  v0 = rf.read m[1]\n  v1 = rf.read b[0]\n  v2 = rf.read b[1]\n  v3 = rf.read r[0]\n";
        let byte = |i: usize| u64::from(background(i));
        let sets = format!(
            "  set m[1] {GUARD:#x}\n  set b[0]{}\n  set b[1]{}\n  set r[0]{}\n",
            words((0..LANES).map(byte)),
            words((LANES..BYTES).map(byte)),
            words((0..LANES).map(value)),
        );
        check(&accesses, &head, &sets);
    }
}

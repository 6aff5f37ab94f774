//! Tests byte regions of every shape that fits in one or two registers of 32 bytes, against a
//! model.
//!
//! The model follows `documentation/visa` of Intel's graphics compiler. Source lane n of `<V;W,H>`
//! at element e is element `e + (n / W) * V + (n % W) * H`. Destination lane n of `<H>` is element
//! `e + n * H`. Later lanes are written later.

use std::fmt::Write;

use super::case::parse_file;
use super::{engines, run};

/// The number of bytes of two registers.
const BYTES: usize = 64;
const LANES: usize = 32;
/// The number of accesses in one function.
const BATCH: usize = 150;
/// Types, each with the number of bytes of an element.
const TYPES: [(&str, usize); 7] =
    [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8), ("f16", 2), ("f32", 4), ("f64", 8)];
const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// A lane count with strides that Intel's rules for regions allow.
#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    vstride: usize,
    width: usize,
    hstride: usize,
}

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        let widths =
            SIZES.into_iter().flat_map(|count| [1, 2, 4, 8, 16].map(|width| (count, width)));
        let strides =
            widths.flat_map(|(count, width)| [0, 1, 2, 4].map(|hstride| (count, width, hstride)));
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

    /// Returns the byte offset of each lane's element from the first element.
    fn offsets(&self, size: usize) -> Vec<usize> {
        (0..self.count)
            .map(|n| (n / self.width * self.vstride + n % self.width * self.hstride) * size)
            .collect()
    }

    /// Returns the bytes at which the region may begin.
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

/// One access: the lines of the function, and the expectations of its result.
struct Access {
    code: String,
    expected: String,
}

fn head(banks: &str) -> String {
    format!(
        "function \"regions\" lanes {LANES} nan 0 0 0 {{\nbank m: mask x 2\n{banks}active m[0]\n\nb0:\n"
    )
}

/// Runs functions of up to `BATCH` accesses on all engines. Each function has the given head and
/// sets.
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
                // Float accesses are integer accesses of their size; only their shapes are tried,
                // at byte 0.
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
                accesses.push(Access {
                    code,
                    expected: format!("  expect r[{number}]{}\n", words(values)),
                });
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
        let value = |lane: usize| {
            element(&(0..size).map(|byte| pattern(lane * size + byte)).collect::<Vec<_>>())
        };
        let mut accesses = Vec::new();
        for (count, hstride) in
            SIZES.into_iter().flat_map(|count| [0, 1, 2, 4].map(|hstride| (count, hstride)))
        {
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
                        writeln!(expected, "  expect o[{}]{}", 2 * number + half, words(bytes))
                            .expect("a string");
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

/// A function that accesses no memory, so that no helper is needed.
const NATIVE: &str = r#"function "native" lanes 32 nan 0 0 0 {
bank x: bytes 128 x 2
bank q: lane i32 x 3
bank m: mask x 1
active m[0]

b0 pc 0x0 cost 1:
  v0 = lane.id
  v1 = const.i32 4
  v2 = const.i32 31
  region.write x[0]+0<1;1,0>, v0
  # Halves of words.
  v3 = region.read.i16 x[0]+0<2;1,0>
  v4 = zext.i32 v3
  v5 = icmp.ne v4, v0
  # The upper half of the lanes, in the lower.
  v6 = region.read.i32 x[0]+64<8;8,1> lanes 0+16
  v7 = const.i32 16
  v8 = add v0, v7 lanes 0+16
  v9 = icmp.ne v6, v8 lanes 0+16
  v10 = or v5, v9
  # The lanes in reverse, by an index each.
  v11 = sub v2, v0
  v12 = mul v11, v1
  v13 = region.read.i32 x[0][v12]+0<0;1,0>
  v14 = icmp.ne v13, v11
  v15 = or v10, v14
  region.write x[1][v12]+0<0;1,0>, v0 guard v5
  region.write x[1][v12]+0<0;1,0>, v0
  v16 = region.read.i32 x[1]+0<1;1,0>
  v17 = icmp.ne v16, v11
  v18 = or v15, v17
  # An index that all have.
  v19 = lane.read v0, v1
  v20 = region.read.i32 x[0][v19]+12<0;1,0> lanes 8+8
  v21 = icmp.ne v20, v1 lanes 8+8
  v22 = or v18, v21
  # Registers in a window, and by an index.
  rf.write q[1], v0 lanes 16+16
  v23 = const.i32 1
  v24 = rf.gather q[0; 3], v23 lanes 16+16
  v25 = icmp.ne v24, v0 lanes 16+16
  v26 = or v22, v25
  rf.scatter q[0; 3], v23, v2 lanes 0+4
  v27 = rf.read q[1] lanes 0+4
  v28 = icmp.ne v27, v2 lanes 0+4
  v29 = or v26, v28
  v30 = and v0, v23
  rf.scatter q[0; 3], v30, v0
  v31 = rf.gather q[0; 3], v30
  v32 = icmp.ne v31, v0
  v33 = or v29, v32
  v34 = lane.gather v0, v19
  v35 = icmp.ne v34, v1
  v36 = or v33, v35
  v37 = const.mask 0xffffffff
  v38 = lane.scatter v0, v11, v37
  v39 = icmp.ne v38, v11
  v40 = or v36, v39
  raise.misaligned guard v40
  exit
}
case "nothing differs"
"#;

#[test]
fn nothing_is_interpreted() {
    let tests = parse_file(NATIVE).expect("a function");
    for (engine, make) in engines() {
        let counts = run::run_case(&tests[0].0, &tests[0].1[0], make)
            .unwrap_or_else(|error| panic!("{engine}: {error}"));
        let native = if engine.starts_with("jit") { 0 } else { 1 };
        assert_eq!((counts.interp_instructions, counts.helper_calls), (native, 0), "{engine}");
    }
}

/// Proves that the JIT interprets at most two instructions of a case in `tests/ir/windows.ir` and
/// `regions.ir`.
///
/// The blocks around a function copy arrays byte by byte. The first scalar load and the first
/// scalar store that find a new page are interpreted.
#[test]
fn no_case_is_interpreted() {
    for file in ["windows", "regions"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/ir")
            .join(file)
            .with_extension("ir");
        let tests = parse_file(&std::fs::read_to_string(path).expect("a file")).expect("functions");
        for (function, case) in tests
            .iter()
            .flat_map(|(function, cases)| cases.iter().map(move |case| (function, case)))
        {
            for (engine, make) in
                engines().into_iter().filter(|(engine, _)| engine.starts_with("jit"))
            {
                let counts = run::run_case(function, case, make)
                    .unwrap_or_else(|error| panic!("{engine}: {error}"));
                let interpreted = counts.interp_instructions;
                assert!(
                    interpreted <= 2,
                    "{}, `{}`, {engine}: {interpreted}",
                    function.name,
                    case.name
                );
            }
        }
    }
}

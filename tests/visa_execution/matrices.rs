//! `dpas` of all precisions against the formula of the facts, `visa-semantics.md` 12.

use half::{bf16, f16};
use warploom_replay::Session;

use super::visa_launch::{ENGINES, Files};

/// Bytes of each of the three operands, and of the result.
const BYTES: usize = 512;
const DEPTH: usize = 8;

/// A precision: its name, bits, and a number from the bits.
type Precision = (&'static str, usize, fn(u32) -> f64);

fn signed(bits: u32, width: u32) -> f64 {
    f64::from((bits << (32 - width)) as i32 >> (32 - width))
}

const INTEGERS: [Precision; 6] = [
    ("u8", 8, |bits| f64::from(bits)),
    ("s8", 8, |bits| signed(bits, 8)),
    ("u4", 4, |bits| f64::from(bits)),
    ("s4", 4, |bits| signed(bits, 4)),
    ("u2", 2, |bits| f64::from(bits)),
    ("s2", 2, |bits| signed(bits, 2)),
];
const FLOATS: [Precision; 3] = [
    ("hf", 16, |bits| f16::from_bits(bits as u16).to_f64()),
    ("bf", 16, |bits| bf16::from_bits(bits as u16).to_f64()),
    // The lower 13 bits of the mantissa do not count.
    ("tf32", 32, |bits| f32::from_bits(bits & !0x1fff).into()),
];

/// Returns a field of `width` bits.
fn field(bytes: &[u8], bit: usize, width: usize) -> u32 {
    (0..width).map(|n| u32::from(bytes[(bit + n) / 8] >> ((bit + n) % 8) & 1) << n).sum()
}

struct Product {
    b: Precision,
    a: Precision,
    lanes: usize,
    rows: usize,
    platform: &'static str,
    /// The type of the addend and of the result.
    sum: &'static str,
    adds: bool,
}

impl Product {
    /// Returns the element in `row` and `column` of the product.
    fn element(&self, a: &[u8], b: &[u8], row: usize, column: usize) -> f64 {
        let (_, wide_a, of_a) = self.a;
        let (_, wide_b, of_b) = self.b;
        // The number of elements in a dword of the wider operand.
        let ops = (32 / wide_a.max(wide_b)).min(8);
        // The number of steps in a dword of B, if B's elements are the narrower ones.
        let steps = 32 / (ops * wide_b);
        let mut sum = 0.0;
        for step in 0..DEPTH {
            for k in 0..ops {
                let x = of_a(field(a, (row * DEPTH * ops + step * ops + k) * wide_a, wide_a));
                let word = (step / steps * self.lanes + column) * 32;
                sum += x * of_b(field(b, word + (step % steps * ops + k) * wide_b, wide_b));
            }
        }
        sum
    }

    fn text(&self) -> String {
        let grf = if self.platform == "pvc" { 64 } else { 32 };
        let mut text = String::from(".version 4.2\n.kernel \"k\"\n");
        for (name, ty, count) in [("IN", "uq", 1), ("OUT", "uq", 1)] {
            text += &format!(".decl {name} v_type=G type={ty} num_elts={count} align=qword\n");
        }
        for name in ["A", "B"] {
            text += &format!(".decl {name} v_type=G type=ud num_elts={} align=GRF\n", BYTES / 4);
        }
        for name in ["C", "D"] {
            let size = if self.sum == "hf" || self.sum == "bf" { 2 } else { 4 };
            text += &format!(
                ".decl {name} v_type=G type={} num_elts={} align=GRF\n",
                self.sum,
                BYTES / size
            );
        }
        text += &format!(
            ".input IN offset={grf} size=8\n.input OUT offset={} size=8\n.kernel_attr SimdSize={}\nmain:\n\
             or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n",
            grf + 8,
            self.lanes
        );
        for (n, name) in ["A", "B", "C"].iter().enumerate() {
            for part in [0, 256] {
                text += &format!(
                    "lsc_load.ugm (M1_NM, 1) {name}.{part}:d32x64t flat[IN+{:#x}]:a64\n",
                    n * BYTES + part
                );
            }
        }
        let base = if self.adds { "C.0" } else { "%null.0" };
        text += &format!(
            "dpas.{}.{}.8.{} (M1, {}) D.0 {base} B.0 A(0,0)\n",
            self.b.0, self.a.0, self.rows, self.lanes
        );
        for part in [0, 256] {
            text += &format!("lsc_store.ugm (M1_NM, 1) flat[OUT+{part:#x}]:a64 D.{part}:d32x64t\n");
        }
        text + "ret (M1, 1)\n"
    }

    fn check(&self, [a, b, c]: [&[u8]; 3], expected: &[u8]) {
        let mut files = Files::new(
            self.platform,
            self.lanes as u32,
            "arg_bypointer:0:8:0:stateless:global,arg_bypointer:8:8:1:stateless:global",
        );
        files.text(&self.text());
        files.buffer("in", &[a, b, c].concat(), "u32");
        files.buffer("out", &[0; BYTES], "u32");
        let launch = files.launch([1, 1, 1], [self.lanes as u32, 1, 1]);
        let out = launch.buffers.iter().position(|buffer| buffer.name == "out").unwrap();
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            let name = format!("{engine}, {}, {} x {}", self.platform, self.b.0, self.a.0);
            assert!(outcome.fault.is_none(), "{name}: {}", outcome.fault.unwrap());
            let found = session.buffer(out).unwrap();
            assert_eq!(&found[..expected.len()], expected, "{name}, {} rows", self.rows);
        }
    }
}

/// Returns bytes without a pattern.
fn bytes(seed: u32) -> Vec<u8> {
    (0..BYTES as u32).map(|n| ((n + seed).wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
}

/// The platforms, each with its number of lanes.
const TARGETS: [(&str, usize); 2] = [("dg2", 8), ("pvc", 16)];

#[test]
fn products_of_integers() {
    for (number, (platform, lanes)) in TARGETS.into_iter().enumerate() {
        for b in INTEGERS {
            for a in INTEGERS {
                let adds = (a.1 + b.1) % 8 != 0;
                let rows = if number == 0 { 8 } else { 3 };
                let product = Product { b, a, lanes, rows, platform, sum: "d", adds };
                let (of_a, of_b, of_c) = (bytes(1), bytes(500), bytes(77));
                let mut expected = vec![];
                for place in 0..rows * lanes {
                    let base = if adds { field(&of_c, place * 32, 32) } else { 0 };
                    let sum = product.element(&of_a, &of_b, place / lanes, place % lanes) as i64;
                    expected.extend((base as i32).wrapping_add(sum as i32).to_le_bytes());
                }
                product.check([&of_a, &of_b, &of_c], &expected);
            }
        }
    }
}

/// Returns small whole numbers, so that sums are exact in any order.
fn number(n: usize) -> f32 {
    (n * 5 % 17) as f32 - 8.0
}

/// Returns `BYTES` bytes of small whole numbers, in a type's form.
fn packed(ty: &str, from: usize) -> Vec<u8> {
    match ty {
        "hf" => {
            (0..BYTES / 2).flat_map(|n| f16::from_f32(number(n + from)).to_le_bytes()).collect()
        }
        "bf" => {
            (0..BYTES / 2).flat_map(|n| bf16::from_f32(number(n + from)).to_le_bytes()).collect()
        }
        // These bits do not count.
        "tf32" => (0..BYTES / 4)
            .flat_map(|n| (number(n + from).to_bits() | 0x1abc).to_le_bytes())
            .collect(),
        _ => (0..BYTES / 4).flat_map(|n| number(n + from).to_le_bytes()).collect(),
    }
}

#[test]
fn products_of_floats() {
    for (platform, lanes) in TARGETS {
        for precision in FLOATS {
            let (name, a, b) = (precision.0, precision, precision);
            // Sums are `f`, or have the type of the factors.
            for sum in ["f", name] {
                if sum == "tf32" {
                    continue;
                }
                let (of_a, of_b, of_c) = (packed(name, 0), packed(name, 3), packed(sum, 6));
                for adds in [false, true] {
                    let product = Product { b, a, lanes, rows: 8, platform, sum, adds };
                    let base = |place: usize| if adds { f64::from(number(place + 6)) } else { 0.0 };
                    let result = |place: usize| {
                        base(place) + product.element(&of_a, &of_b, place / lanes, place % lanes)
                    };
                    let expected: Vec<u8> = (0..8 * lanes)
                        .flat_map(|place| match sum {
                            "hf" => f16::from_f64(result(place)).to_le_bytes().to_vec(),
                            "bf" => bf16::from_f64(result(place)).to_le_bytes().to_vec(),
                            _ => (result(place) as f32).to_le_bytes().to_vec(),
                        })
                        .collect();
                    product.check([&of_a, &of_b, &of_c], &expected);
                }
            }
        }
    }
}

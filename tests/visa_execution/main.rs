//! vISA instructions on both engines: regions against a model of bytes, conversions and all other
//! opcodes against Rust.

#[path = "../support/visa_launch.rs"]
mod visa_launch;

mod control;
mod conversions;
mod exact;
mod floats;
mod functions;
mod groups;
mod integers;
mod kernels;
mod matrices;
mod opcodes;
mod regions;
mod rounding;
mod threads;

use std::fmt::Write;

use visa_launch::{ENGINES, Files};
use warploom_replay::Session;

/// The byte that destinations hold at first.
const DST: u8 = 0xa5;
/// The bytes of a result.
const STRIDE: usize = 128;

/// Instructions that leave their result in `D`, and the expected bytes of `D`. `None`: any byte is
/// right.
struct Case {
    text: String,
    expected: Vec<Option<u8>>,
}

impl Case {
    /// Expects `bytes` at the start of `D`, and the rest of `D` unchanged.
    fn new(text: String, bytes: &[u8]) -> Case {
        let mut expected = vec![Some(DST); STRIDE];
        for (at, &byte) in bytes.iter().enumerate() {
            expected[at] = Some(byte);
        }
        Case { text, expected }
    }
}

/// The types' names and sizes.
const TYPES: [(&str, usize); 12] = [
    ("ub", 1),
    ("b", 1),
    ("uw", 2),
    ("w", 2),
    ("ud", 4),
    ("d", 4),
    ("uq", 8),
    ("q", 8),
    ("hf", 2),
    ("bf", 2),
    ("f", 4),
    ("df", 8),
];

/// Declares a variable of so many bytes, and its aliases of all types: `Aud`, `Af`.
fn declare(text: &mut String, name: &str, bytes: usize) {
    let _ = writeln!(text, ".decl {name} v_type=G type=ud num_elts={} align=GRF", bytes / 4);
    for (ty, size) in TYPES {
        let _ = writeln!(
            text,
            ".decl {name}{ty} v_type=G type={ty} num_elts={} align=GRF alias=<{name}, 0>",
            bytes / size
        );
    }
}

/// Runs cases in a kernel of `simd` lanes, checks them, and returns each engine's result of each
/// case.
///
/// The lanes of `mask` are active. Variables `A`, `B` and `C` hold the three parts of `input`, of
/// 128 bytes each.
fn check(
    platform: &'static str,
    simd: u32,
    mask: u32,
    input: &[u8; 384],
    cases: &[Case],
) -> Vec<Vec<Vec<u8>>> {
    let mut text = String::from(
        ".version 4.2\n.kernel \"k\"\n.decl IN v_type=G type=uq num_elts=1 align=qword\n.decl OUT v_type=G type=uq num_elts=1 align=qword\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n.decl P3 v_type=P num_elts=32\n.decl P4 v_type=P num_elts=1\n\
         .decl X v_type=A num_elts=32\n.decl ROW v_type=G type=ud num_elts=32 align=GRF\n",
    );
    for name in ["A", "B", "C", "D", "E"] {
        declare(&mut text, name, STRIDE);
    }
    let register = if matches!(platform, "pvc" | "bmg") { 64 } else { 32 };
    let _ = write!(
        text,
        ".input IN offset={register} size=8\n.input OUT offset={} size=8\n.kernel_attr SimdSize={simd}\nmain:\n\
         or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud\n\
         setp (M1_NM, 32) P2 {:#x}:ud\n(P2) goto (M1, {simd}) end\n",
        register + 8,
        !mask,
    );
    for (name, at) in [("A", 0), ("B", 128), ("C", 256)] {
        let _ = writeln!(text, "lsc_load.ugm (M1_NM, 1) {name}:d32x32t flat[IN+{at:#x}]:a64");
    }
    for (number, case) in cases.iter().enumerate() {
        for name in ["D", "E"] {
            let _ = writeln!(text, "lsc_load.ugm (M1_NM, 1) {name}:d32x32t flat[IN+0x180]:a64");
        }
        let _ = writeln!(text, "{}", case.text);
        let _ = writeln!(
            text,
            "lsc_store.ugm (M1_NM, 1) flat[OUT+{:#x}]:a64 D:d32x32t",
            number * STRIDE
        );
    }
    text += "end:\nret (M1, 1)\n";
    let mut files = Files::new(
        platform,
        simd,
        "arg_bypointer:0:8:0:stateless:global,arg_bypointer:8:8:1:stateless:global",
    );
    files.text(&text);
    let mut bytes = input.to_vec();
    bytes.extend([DST; STRIDE]);
    files.buffer("in", &bytes, "u32");
    files.buffer("out", &vec![0; cases.len() * STRIDE], "u32");
    let launch = files.launch([1, 1, 1], [simd, 1, 1]);
    let out = launch.buffers.iter().position(|buffer| buffer.name == "out").unwrap();
    let mut all = vec![];
    for engine in ENGINES {
        let session = Session::new(&launch).unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        assert!(outcome.fault.is_none(), "{engine}: {}", outcome.fault.unwrap());
        assert!(outcome.uncompiled.is_empty(), "{:?}", outcome.uncompiled);
        let found = session.buffer(out).unwrap();
        for (case, found) in cases.iter().zip(found.chunks(STRIDE)) {
            for (at, (&found, &expected)) in found.iter().zip(&case.expected).enumerate() {
                let fits = expected.is_none_or(|expected| expected == found);
                assert!(
                    fits,
                    "{engine}, {platform}, {}: byte {at} is {found:#04x}, not {expected:02x?}",
                    case.text
                );
            }
        }
        all.push(found.chunks(STRIDE).map(<[u8]>::to_vec).collect());
    }
    all
}

/// Returns bytes that differ from each other within each part of 128 bytes.
fn pattern() -> [u8; 384] {
    std::array::from_fn(|n| {
        (n as u8).wrapping_mul(37).wrapping_add((n >> 7) as u8 * 91).wrapping_add(11)
    })
}

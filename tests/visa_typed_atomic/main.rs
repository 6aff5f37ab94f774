//! TYPED_ATOMIC against a model that was written from Intel's page alone: `model.py`.
//!
//! With the model, `cases.py` makes `cases.json.gz`: instructions with their operands, and the
//! results that the model gives.

#[path = "../support/visa_launch.rs"]
mod visa_launch;

mod compiled;
mod contended;

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use visa_launch::{ENGINES, Files, words_of};
use warploom_replay::Session;

#[derive(Deserialize)]
struct Cases {
    surfaces: Vec<Surface>,
    words: Vec<Vec<u32>>,
    kernels: Vec<Kernel>,
}

#[derive(Deserialize)]
struct Surface {
    dim: String,
    size: [u32; 3],
    format: String,
    texels: Vec<u32>,
}

#[derive(Deserialize)]
struct Kernel {
    surface: usize,
    mask: u32,
    rows: Vec<Row>,
    texels: Vec<u32>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    operands: [i32; 6],
    predicate: u32,
    dst: Vec<u32>,
}

/// The word that destinations hold at first.
const DST: u32 = 0xdead_beef;
/// The bytes of a row's result.
const STRIDE: u32 = 64;
/// The bytes of an operand in the pool.
const OPERAND: u32 = 128;

fn cases() -> Cases {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/visa_typed_atomic/cases.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

fn texel_bytes(surface: &Surface, texels: &[u32]) -> Vec<u8> {
    let bytes = if surface.format.starts_with("r16") { 2 } else { 4 };
    texels.iter().flat_map(|texel| texel.to_le_bytes()[..bytes].to_vec()).collect()
}

/// Returns all operands and, behind them, the initial destinations.
fn pool(cases: &Cases) -> Vec<u8> {
    let words = cases.words.iter().flatten().copied();
    words.chain([DST; 32]).flat_map(u32::to_le_bytes).collect()
}

/// Returns a kernel of 32 lanes that executes the rows.
///
/// The kernel's arguments are the pool, the results, and the surface, by a handle or in the
/// binding table.
fn text(kernel: &Kernel, register: u32, pool_end: u32, bindless: bool) -> String {
    let mut text = String::from(
        ".version 4.2\n.kernel \"k\"\n.decl POOL v_type=G type=uq num_elts=1 align=qword\n\
         .decl OUT v_type=G type=uq num_elts=1 align=qword\n.decl HANDLE v_type=G type=uq num_elts=1 align=qword\n\
         .decl LOW v_type=G type=ud num_elts=2 align=qword alias=<HANDLE, 0>\n.decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n\
         .decl T6 v_type=T num_elts=1\n",
    );
    for name in ["U", "V", "R", "L", "A", "B", "D"] {
        let _ = writeln!(text, ".decl {name} v_type=G type=ud num_elts=32 align=GRF");
    }
    for (name, at) in [("POOL", 0), ("OUT", 8), ("HANDLE", 16)] {
        let _ = writeln!(text, ".input {name} offset={} size=8", register + at);
    }
    text += ".kernel_attr SimdSize=32\nmain:\n";
    if bindless {
        text += "movs (M1_NM, 1) %bss(0) LOW(0,0)<0;1,0>\n";
    } else {
        text += "movs (M1_NM, 1) T6(0) 0x3:ud\n";
    }
    let _ = writeln!(text, "setp (M1_NM, 32) P2 {:#x}:ud\n(P2) goto (M1, 32) end", !kernel.mask);
    for (number, row) in (0..).zip(&kernel.rows) {
        for (name, &operand) in ["U", "V", "R", "L", "A", "B"].iter().zip(&row.operands) {
            if operand >= 0 {
                let at = operand as u32 * OPERAND;
                let _ =
                    writeln!(text, "lsc_load.ugm (M1_NM, 1) {name}:d32x32t flat[POOL+{at:#x}]:a64");
            }
        }
        let _ = writeln!(text, "lsc_load.ugm (M1_NM, 1) D:d32x32t flat[POOL+{pool_end:#x}]:a64");
        let _ = writeln!(text, "setp (M1_NM, 32) P1 {:#x}:ud", row.predicate);
        let _ = writeln!(
            text,
            "{}",
            if bindless { row.text.replace(" T6 ", " %bss ") } else { row.text.clone() }
        );
        let _ = writeln!(
            text,
            "lsc_store.ugm (M1_NM, 1) flat[OUT+{:#x}]:a64 D:d32x16t",
            number * STRIDE
        );
    }
    text + "end:\nret (M1, 1)\n"
}

const ARGUMENTS: [&str; 2] = [
    "arg_bypointer:0:8:0:stateless:global,arg_bypointer:8:8:1:stateless:global,arg_bypointer:16:8:2:bindless:image",
    "arg_bypointer:0:8:0:stateless:global,arg_bypointer:8:8:1:stateless:global,arg_bypointer:0:0:2:stateful:image,binding:2:3",
];

#[test]
fn rows_are_as_the_model_has_them() {
    let cases = cases();
    let pool = pool(&cases);
    let pool_end = pool.len() as u32 - OPERAND;
    let mut rows = 0;
    for (number, kernel) in cases.kernels.iter().enumerate() {
        let surface = &cases.surfaces[kernel.surface];
        let bindless = number % 2 == 0;
        let (platform, register) = if number % 3 == 0 { ("pvc", 64) } else { ("dg2", 32) };
        let mut files = Files::new(platform, 32, ARGUMENTS[usize::from(!bindless)]);
        files.text(&text(kernel, register, pool_end, bindless));
        files.buffer("pool", &pool, "u32");
        files.buffer("out", &vec![0; kernel.rows.len() * STRIDE as usize], "u32");
        files.surface(
            "s",
            &surface.dim,
            surface.size,
            &surface.format,
            &texel_bytes(surface, &surface.texels),
        );
        let launch = files.launch([1, 1, 1], [32, 1, 1]);
        let out = launch.buffers.iter().position(|buffer| buffer.name == "out").unwrap();
        for engine in ENGINES {
            let name = format!(
                "{engine}, kernel {number} ({platform}, {} {})",
                surface.dim, surface.format
            );
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            assert!(outcome.fault.is_none(), "{name}: {}", outcome.fault.unwrap());
            let found = words_of(&session.buffer(out).unwrap());
            for (row, found) in kernel.rows.iter().zip(found.chunks(STRIDE as usize / 4)) {
                assert_eq!(
                    found[..row.dst.len()],
                    row.dst,
                    "{name}: {} of {:?}",
                    row.text,
                    row.operands
                );
                assert!(
                    found[row.dst.len()..].iter().all(|&word| word == DST),
                    "{name}: {}",
                    row.text
                );
                rows += 1;
            }
            assert!(
                session.surface(0).unwrap() == texel_bytes(surface, &kernel.texels),
                "{name}: texels"
            );
        }
    }
    assert!(rows > 6_000, "{rows} rows");
}

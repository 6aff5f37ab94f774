//! However a kernel is spelled, its code is as good. The tests compile the kernels of `kernels.cu`
//! with indices of several types, with several forms of loops and by several compilers. All
//! spellings give equal results, and similar ratios of host to guest instructions.
//!
//! `WARPLOOM_SPELLINGS=1 cargo test --test spellings -- --nocapture` prints all numbers.

#![cfg(target_arch = "x86_64")]

mod models;

use std::fmt::Write;
use std::path::Path;

use models::{KERNELS, Kernel, M, N};
use warploom::{EngineKind, LaunchOptions};
use warploom_replay::{Launch, Manifest, Session};

/// The highest ratio of host to guest instructions of a spelling, as a multiple of the best ratio.
const MOST: f64 = 1.5;

/// The guest instructions after which a loop counts as endless.
const LIMIT: u64 = 1_000_000;

/// Spellings that may exceed [`MOST`], by the ends of files' names and by kernel; comments give
/// reasons.
const SLOWER: [(&str, &str, &str); 16] = [
    // After the loop over items left over by 4, lanes may leave at different times. So pointers are
    // not known to be evenly spaced in the next loop.
    (
        "sm_50.cubin",
        "stride",
        "int size long do_while moving moving_size unrolled reversed O1 cuda11",
    ),
    ("sm_70.ptx", "stride", "int size long do_while moving moving_size unrolled reversed cuda11"),
    ("sm_80.cubin", "stride", "int long do_while moving unrolled reversed O1 clang19"),
    // 64-bit pointers and counters pass between blocks in two registers: each lane computes its
    // carry.
    (
        "sm_50.cubin",
        "columns",
        "int size long do_while moving moving_size unrolled reversed O1 cuda11",
    ),
    ("sm_80.cubin", "columns", "int size long do_while moving moving_size unrolled reversed O1"),
    (
        "gfx900.hsaco",
        "columns",
        "int size long do_while moving moving_size unrolled reversed O1 O3 clang15 clang16",
    ),
    ("sm_50.cubin", "matmul", "size long moving_size unrolled"),
    ("sm_80.cubin", "matmul", "int long do_while reversed clang19"),
    (
        "gfx900.hsaco",
        "matmul",
        "int size long do_while moving moving_size reversed O1 O3 clang15 clang16",
    ),
    ("sm_50.cubin", "steps", "size long moving_size unrolled"),
    // Each lane computes its carry, as above.
    ("sm_70.ptx", "steps", "size moving_size"),
    // Each lane computes its carry, as above, in pairs of registers.
    (
        "gfx900.hsaco",
        "stride",
        "int size long do_while moving moving_size unrolled reversed O1 O3 clang15 clang16",
    ),
    // Bytes are gathered one by one; the unrolled loop has words of four bytes.
    (
        "gfx900.hsaco",
        "bytes",
        "int unsigned size long do_while moving moving_size reversed O1 O3 clang15 clang16",
    ),
    // `i - 1` wraps for lane 0.
    ("sm_80.cubin", "stencil", "unsigned"),
    // The compiler unrolls the loop by 4 in place of 16: the operations of a round weigh more.
    ("sm_80.cubin", "table", "unrolled O1"),
    // The loop is unrolled by 8, and parts of it have their own pointers.
    ("sm_70.ptx", "matmul", "clang19"),
];

/// The spellings that every guest has, by the names of their files.
const COMMON: [&str; 9] = [
    "int",
    "unsigned",
    "size",
    "long",
    "do_while",
    "moving",
    "moving_size",
    "unrolled",
    "reversed",
];

/// A guest, with its additional spellings.
struct Guest {
    suffix: &'static str,
    own: &'static [&'static str],
}

const MAXWELL: Guest = Guest { suffix: "sm_50.cubin", own: &["O1", "cuda11"] };
const TURING: Guest = Guest { suffix: "sm_80.cubin", own: &["O1", "clang19"] };
const PTX: Guest = Guest { suffix: "sm_70.ptx", own: &["cuda11", "clang19"] };
const GFX9: Guest = Guest { suffix: "gfx900.hsaco", own: &["O1", "O3", "clang15", "clang16"] };

/// The counts of one launch.
struct Executed {
    spelling: &'static str,
    host: u64,
    guest: u64,
    helpers: u64,
}

impl Executed {
    fn per_instruction(&self) -> f64 {
        self.host as f64 / self.guest as f64
    }
}

fn manifest(kernel: &Kernel, spelling: &str, folder: &Path, binary: &Path) -> String {
    let number = if ["size", "long", "moving_size"].contains(&spelling) { "u64" } else { "u32" };
    let mut parameters =
        ["buffer = \"x\"".into(), "buffer = \"y\"".into(), "buffer = \"out\"".into()].to_vec();
    parameters.extend([N, M].map(|value| format!("{number} = {value}")));
    if spelling == "reversed" {
        parameters.reverse();
    }
    for (name, bytes) in [("x", (kernel.x)()), ("y", (kernel.y)())] {
        std::fs::write(folder.join(format!("{name}.bin")), bytes).expect("a folder to write to");
    }
    let bytes = (kernel.out)().len();
    let mut text = format!(
        "kernel = {{ binary = \"{}\", entry = \"{}\" }}\nlaunch = {{ grid = {:?}, block = [128, 1, 1] }}\n",
        binary.display(),
        kernel.name,
        kernel.grid
    );
    for parameter in parameters {
        writeln!(text, "[[arg]]\n{parameter}").expect("a string takes all");
    }
    write!(text, "[buffer]\nx = {{ file = \"x.bin\" }}\ny = {{ file = \"y.bin\" }}\nout = {{ zeros = {bytes} }}\n")
        .expect("a string takes all");
    text
}

fn run(kernel: &Kernel, guest: &Guest, spelling: &'static str) -> Executed {
    let label = format!("{} {spelling}.{}", kernel.name, guest.suffix);
    let folder = tempfile::tempdir().expect("a folder");
    let binaries = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spellings/binaries");
    let binary = binaries.join(format!("{spelling}.{}", guest.suffix));
    let path = folder.path().join("m.toml");
    let manifest = Manifest::parse(&manifest(kernel, spelling, folder.path(), &binary), &path);
    let launch =
        Launch::resolve(manifest.unwrap_or_else(|error| panic!("{label}: {error}")), &path)
            .unwrap_or_else(|error| panic!("{label}: {error}"));
    let session = Session::new(&launch).unwrap_or_else(|error| panic!("{label}: {error}"));
    let options =
        LaunchOptions { instruction_limit: Some(LIMIT), ..session.options(EngineKind::Jit, 1) };
    let counted = session.host_instructions(&options);
    let (host, counts) = counted.unwrap_or_else(|error| panic!("{label}: {error}"));
    let out = launch
        .buffers
        .iter()
        .position(|buffer| buffer.name == "out")
        .expect("a buffer of the manifest");
    assert!(
        session.buffer(out).expect("the output") == (kernel.out)(),
        "{label}: another result than the source's"
    );
    assert_eq!(counts.interp_instructions, 0, "{label}: instructions are interpreted");
    Executed { spelling, host, guest: counts.instructions, helpers: counts.helper_calls }
}

fn check(guest: &Guest) {
    let print = std::env::var_os("WARPLOOM_SPELLINGS").is_some();
    let mut slow = String::new();
    for kernel in &KERNELS {
        let executed: Vec<Executed> =
            COMMON.iter().chain(guest.own).map(|spelling| run(kernel, guest, spelling)).collect();
        let best = executed.iter().map(Executed::per_instruction).fold(f64::INFINITY, f64::min);
        let least = executed.iter().map(|executed| executed.host).min().expect("a spelling");
        for one in &executed {
            let (ratio, whole) = (one.per_instruction() / best, one.host as f64 / least as f64);
            let Executed { spelling, host, guest: guests, helpers } = one;
            let line = format!(
                "{:8} {spelling:12} {guests:7} {host:8} {:6.2} {ratio:5.2} {whole:5.2} {helpers:4}",
                kernel.name,
                one.per_instruction()
            );
            if print {
                println!("{line}");
            }
            let known = SLOWER.iter().any(|&(suffix, name, spellings)| {
                suffix == guest.suffix
                    && name == kernel.name
                    && spellings.split(' ').any(|known| known == *spelling)
            });
            // A spelling with fewer guest instructions may do more work in each.
            if ratio.min(whole) > MOST && !known {
                writeln!(slow, "{line}").expect("a string takes all");
            }
        }
    }
    assert!(
        slow.is_empty(),
        "kernel, spelling, instructions of the guest and of the host, their ratio, how many times the best ratio, \
         how many times the fewest instructions, calls of helpers:\n{slow}"
    );
}

#[test]
fn maxwell() {
    check(&MAXWELL);
}

#[test]
fn turing() {
    check(&TURING);
}

#[test]
fn ptx() {
    check(&PTX);
}

#[test]
fn gfx9() {
    check(&GFX9);
}

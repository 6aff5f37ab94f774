//! What `warploom disasm` prints for whole files, line for line and column for column as nvdisasm does.
//!
//! `listings/*.sass` have encodings (`nvdisasm -hex`), `listings/plain/*.txt` none; both begin at the first code section.

use std::path::{Path, PathBuf};
use std::process::Command;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn disasm(arguments: &[&str], file: &Path) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_warploom")).arg("disasm").arg(file).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// The code sections of a listing; blanks at the ends of lines and empty lines are left out.
fn code_lines(text: &str) -> Vec<String> {
    let mut code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("//----") {
            code = line.contains(" .text.");
        }
        if code && !line.trim_end().is_empty() {
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

fn check(cubin: &str, fixture: &str, arguments: &[&str]) {
    let found = code_lines(&disasm(arguments, &project(cubin)));
    let path = project(&format!("tests/fixtures/maxwell/listings/{fixture}"));
    let expected = code_lines(&std::fs::read_to_string(path).unwrap());
    assert!(!expected.is_empty(), "{fixture} has no code");
    for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{fixture}, line {n} of its code");
    }
    assert_eq!(found.len(), expected.len(), "{fixture}: number of lines");
}

#[test]
fn corpus_listings_with_encodings() {
    for name in ["saxpy", "mandel", "matmul", "reduce", "local"] {
        let cubin = format!("tests/fixtures/maxwell/kernels/{name}.sm_50.cubin");
        check(&cubin, &format!("corpus-{name}.sass"), &["--hex"]);
    }
}

#[test]
fn corpus_listings_plain() {
    for name in ["calls", "atomics", "tex", "surf"] {
        let cubin = format!("tests/fixtures/maxwell/kernels/{name}.sm_50.cubin");
        check(&cubin, &format!("plain/corpus-{name}.txt"), &[]);
    }
}

#[test]
fn example_listings() {
    for name in [
        "saxpy",
        "mandelbrot",
        "matmul",
        "nbody",
        "reduce",
        "scan",
        "histogram",
        "stencil",
        "quicksort",
        "convolution",
        "bitonic",
        "fft",
        "hashtable",
        "half",
    ] {
        check(&format!("examples/{name}/{name}.sm_50.cubin"), &format!("example-{name}.sass"), &["--hex"]);
    }
    check("examples/julia/julia.sm_53.cubin", "example-julia.sass", &["--hex"]);
}

/// One kernel of several: labels keep their numbers.
#[test]
fn one_kernel() {
    let file = project("tests/fixtures/maxwell/kernels/local.sm_50.cubin");
    let all = code_lines(&disasm(&[], &file));
    let one = code_lines(&disasm(&["types"], &file));
    let start = all.iter().position(|line| line.contains("--- .text.types ")).unwrap();
    assert_eq!(one[..], all[start..start + one.len()]);
    assert!(one.iter().any(|line| line == ".L_x_6:"));
}

/// What a linker is to fill in has its name, and no label of this file: nvdisasm's lines of the same file.
#[test]
fn calls_of_other_files() {
    for file in ["linking.rdc", "linked"] {
        let file = project(&format!("tests/fixtures/maxwell/containers/{file}.sm_50.cubin"));
        let listing = code_lines(&disasm(&["linking"], &file));
        let calls: Vec<_> = listing.iter().filter(|line| line.contains("JCAL")).map(|line| line.trim()).collect();
        let expected = [
            "/*00b0*/                   JCAL `(external) ;",
            "/*00d0*/                   JCAL `(_Z5locali) ;",
            "/*0288*/                   JCAL `(vprintf) ;",
        ];
        assert_eq!(calls, expected);
    }
}

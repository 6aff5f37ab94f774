//! `warploom disasm` prints whole files line for line and column for column as nvdisasm does.
//!
//! `listings/*.sass` have encodings (`nvdisasm -hex`), `listings/plain/*.txt` have none; all begin
//! at the first code section.

use std::path::{Path, PathBuf};
use std::process::Command;

use warploom_maxwell::listing::{Section, Symbol, listing};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn disasm(arguments: &[&str], file: &Path) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_warploom"))
        .arg("disasm")
        .arg(file)
        .args(arguments)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Returns the code sections of a listing without empty lines and blanks at the ends of lines.
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
        check(
            &format!("examples/{name}/{name}.sm_50.cubin"),
            &format!("example-{name}.sass"),
            &["--hex"],
        );
    }
    check("examples/julia/julia.sm_53.cubin", "example-julia.sass", &["--hex"]);
}

/// In a listing of one kernel of several, labels keep their numbers.
#[test]
fn one_kernel() {
    let file = project("tests/fixtures/maxwell/kernels/local.sm_50.cubin");
    let all = code_lines(&disasm(&[], &file));
    let one = code_lines(&disasm(&["types"], &file));
    let start = all.iter().position(|line| line.contains("--- .text.types ")).unwrap();
    assert_eq!(one[..], all[start..start + one.len()]);
    assert!(one.iter().any(|line| line == ".L_x_6:"));
}

/// A target that a linker must fill in has its name and no label of this file, as in nvdisasm's
/// lines of the file.
#[test]
fn calls_of_other_files() {
    for file in ["linking.rdc", "linked"] {
        let file = project(&format!("tests/fixtures/maxwell/containers/{file}.sm_50.cubin"));
        let listing = code_lines(&disasm(&["linking"], &file));
        let calls: Vec<_> =
            listing.iter().filter(|line| line.contains("JCAL")).map(|line| line.trim()).collect();
        let expected = [
            "/*00b0*/                   JCAL `(external) ;",
            "/*00d0*/                   JCAL `(_Z5locali) ;",
            "/*0288*/                   JCAL `(vprintf) ;",
        ];
        assert_eq!(calls, expected);
    }
}

/// Renames the attribute that gives the targets of indirect branches and leaves
/// (EIATTR_INDIRECT_BRANCH_TARGETS, 0x34, which files of CUDA 10 and before do not have). Returns
/// whether the file has the attribute.
fn without_targets(file: &mut [u8]) -> bool {
    let word = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let (table, count) = (word(file, 0x28) as usize, usize::from(file[0x3c]));
    let mut any = false;
    for header in (0..count).map(|i| table + 64 * i) {
        if word(file, header + 4) as u32 != 0x7000_0000 {
            continue;
        }
        let (mut at, size) =
            (word(file, header + 0x18) as usize, word(file, header + 0x20) as usize);
        let end = at + size;
        while at < end {
            let bytes = usize::from(u16::from_le_bytes([file[at + 2], file[at + 3]]));
            if file[at + 1] == 0x34 {
                (file[at + 1], any) = (0x28, true);
            }
            at += 4 + if file[at] == 4 { bytes } else { 0 };
        }
    }
    any
}

/// If a file does not give the targets of leaves, the listing finds the targets that the compiler
/// gives.
#[test]
fn leaves_have_targets_in_old_files() {
    let mut compared = 0;
    for name in [
        "bitonic",
        "convolution",
        "fft",
        "half",
        "hashtable",
        "histogram",
        "quicksort",
        "reduce",
        "scan",
        "stencil",
    ] {
        let path = project(&format!("examples/{name}/{name}.sm_50.cubin"));
        let mut bytes = std::fs::read(&path).unwrap();
        assert!(without_targets(&mut bytes), "{name}");
        let old = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(old.path(), &bytes).unwrap();
        let notes = |file: &Path| -> Vec<String> {
            let lines = code_lines(&disasm(&[], file));
            let noted = lines.iter().filter(|line| line.contains("TARGET"));
            let plain = noted
                .map(|line| line.replace("BRANCH_TARGETS ", "TARGET= ").replace(" \"*)", "\"*)"));
            plain.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let (said, found) = (notes(&path), notes(old.path()));
        assert_eq!(found, said, "{name}");
        compared += found.len();
    }
    assert!(compared > 100, "{compared}");
}

/// Of two instructions issued together, nvdisasm prints the order if and only if the second writes
/// a register that the first reads or writes (7,600 pairs of kernels that CUDA 8 and 9 compiled),
/// and only in files in which it looks for the targets of leaves.
#[test]
fn slots_of_two_that_are_issued_together() {
    // Control words: the first of a pair waits for nothing and stays.
    let (first, other) = (1 << 4 | 7 << 5 | 7 << 8, 1 | 7 << 5 | 7 << 8);
    let control = |groups: [u64; 3]| groups[0] | groups[1] << 21 | groups[2] << 42;
    let controls = [[first, other, first], [other, first, other], [other; 3]].map(control);
    let texts = [
        "MOV R4, R6",
        "LDG.E R6, [R2]",
        "MOV R3, R7",
        "LDG.E R8, [R4]",
        "MOV R6, R0",
        "LDG.E.64 R6, [R2]",
        "SSY 0x58",
        "SYNC",
        "EXIT",
    ];
    let slots = |texts: &[&str]| {
        let words = texts.iter().zip([8, 16, 24, 40, 48, 56, 72, 80, 88]);
        let words: Vec<u64> = words
            .map(|(text, pc)| warploom_maxwell::assemble(text, pc).expect("an instruction"))
            .collect();
        let words = controls
            .iter()
            .zip(words.chunks(3))
            .flat_map(|(control, words)| std::iter::once(control).chain(words));
        let code: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let section = Section {
            name: ".text.k",
            code: &code,
            align: 32,
            registers: 9,
            barriers: 0,
            indirect: &[],
            external: &[],
        };
        let symbol = Symbol {
            name: "k",
            section: 0,
            offset: 0,
            size: code.len() as u64,
            visible: None,
            kernel: true,
        };
        let text = listing(&[section], &[symbol], false).remove(0);
        let lines = text.lines().filter_map(|line| line.split_once("*/"));
        lines.map(|(_, text)| text.trim().to_owned()).take(6).collect::<Vec<_>>()
    };
    let expected = [
        "{         MOV R4, R6   SLOT 0;",
        "LDG.E R6, [R2]   SLOT 1        }",
        "{         MOV R3, R7 ;",
        "LDG.E R8, [R4]         }",
        "{         MOV R6, R0   SLOT 0;",
        "LDG.E.64 R6, [R2]   SLOT 1        }",
    ];
    assert_eq!(slots(&texts), expected);
    let without = expected
        .map(|line| line.replace("   SLOT 0;", " ;").replace("   SLOT 1        }", "         }"));
    assert_eq!(slots(&texts[..6]), without);
}

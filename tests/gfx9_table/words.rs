//! Compares single instructions with LLVM's text.
//!
//! `llvm.tsv` has every second encoding of LLVM's own tests for gfx9: the bytes in hex as stored in
//! memory, and the text that llvm-mc 19 prints for them (`illegal` if it prints none). Where the
//! test's text differs, it follows: LLVM assembles it to these bytes.

use warploom_gfx9::{Instruction, assemble};

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/gfx9/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Returns the text of bytes that are one instruction, else `illegal`.
fn text(code: &[u8]) -> String {
    let whole = |instruction: &Instruction| instruction.bytes() as usize == code.len();
    Instruction::decode(code)
        .filter(whole)
        .map_or_else(|| "illegal".into(), |instruction| instruction.text(0))
}

/// Compares the texts of lines `hex TAB text`; exactly `exceptions` lines must differ.
fn compare(name: &str, exceptions: usize) {
    let lines = fixture(name);
    let (mut count, mut differ) = (0, Vec::new());
    for line in lines.lines() {
        let mut columns = line.split('\t');
        let (hex, expected) = (columns.next().unwrap(), columns.next().unwrap());
        let found = text(&bytes(hex));
        count += 1;
        if found != expected {
            differ.push(format!("{hex}: `{found}`, LLVM: `{expected}`"));
        }
    }
    println!("{name}: {} of {count} equal", count - differ.len());
    if let Ok(file) = std::env::var("GFX9_DIFF") {
        std::fs::write(file, differ.join("\n")).unwrap();
    }
    let shown = &differ[..differ.len().min(30)];
    assert_eq!(differ.len(), exceptions, "{name}, {count} lines:\n{}", shown.join("\n"));
}

#[test]
fn llvm_tests() {
    compare("llvm.tsv", 0);
}

/// Tests legal words with changed bits, and random words of every encoding. Instructions that only
/// gfx906 has are as llvm-mc prints them for gfx906.
///
/// Three lines differ: LLVM takes src_execz where it wants a VGPR (2), and prints a reserved
/// `dst_unused` of SDWA as UNUSED_PAD. In warploom, all three are illegal.
#[test]
fn random_words() {
    compare("random.tsv", 3);
}

/// The texts match llvm-objdump's listings of compiled kernels.
#[test]
fn listings() {
    let (mut count, mut differ) = (0, Vec::new());
    let folder = format!("{}/tests/fixtures/gfx9/corpus", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "s") {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            // The line's format: text // address: dwords <label>
            let Some((expected, comment)) = line.split_once("//") else { continue };
            let Some((_, dwords)) = comment.split_once(": ") else { continue };
            let dwords = dwords.split(' ').map_while(|dword| u32::from_str_radix(dword, 16).ok());
            let code: Vec<u8> = dwords.flat_map(u32::to_le_bytes).collect();
            count += 1;
            if text(&code) != expected.trim() {
                differ.push(format!("{}: {line}: `{}`", path.display(), text(&code)));
            }
        }
    }
    assert!(count > 1000, "{count} lines");
    assert!(differ.is_empty(), "{} of {count} lines:\n{}", differ.len(), differ.join("\n"));
}

/// Assembles texts to bytes. 45 texts give other bytes: two encodings have one text (`v_nop`,
/// 16-bit integers and the bits of inline floats), and `s_waitcnt` ignores bits.
#[test]
fn texts_assemble() {
    let lines = fixture("llvm.tsv");
    let (mut count, mut others, mut failed) = (0, Vec::new(), Vec::new());
    for line in lines.lines() {
        let mut columns = line.split('\t');
        let (hex, expected) = (columns.next().unwrap(), columns.next().unwrap());
        if expected == "illegal" {
            continue;
        }
        count += 1;
        match assemble(expected) {
            Ok(code) => {
                assert_eq!(text(&code), expected, "{hex}");
                if code != bytes(hex) {
                    others.push(format!("{hex} {code:02x?}: {expected}"));
                }
            }
            Err(error) => failed.push(format!("{hex}: {error}")),
        }
    }
    println!("{} of {count} texts give other bytes", others.len());
    assert!(
        failed.is_empty(),
        "{} texts:\n{}",
        failed.len(),
        failed[..failed.len().min(40)].join("\n")
    );
    assert_eq!(others.len(), 45, "other bytes:\n{}", others.join("\n"));
}

//! Single instructions against LLVM's text.
//!
//! `llvm.tsv`: the encodings of LLVM's own tests for gfx9, one in two: bytes in hex as stored in memory, the text that
//! llvm-mc 19 prints for them (`illegal` if it is none), and where it is another, the text of the test, which LLVM assembles
//! to the same bytes.

use warploom::isa::gfx9::Instruction;

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/gfx9/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// The text of what is one instruction.
fn text(code: &[u8]) -> String {
    let whole = |instruction: &Instruction| instruction.bytes() as usize == code.len();
    Instruction::decode(code).filter(whole).map_or_else(|| "illegal".into(), |instruction| instruction.text(0))
}

/// Compares the texts of lines `hex TAB text`; those that differ must be as many as `exceptions`.
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

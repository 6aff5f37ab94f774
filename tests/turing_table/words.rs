//! Single words against nvdisasm's text.
//!
//! A line of a fixture has a word, its address and nvdisasm's text. `compiled-*.txt`: one
//! instruction of each shape that ptxas 13.5 made of the PTX corpus, the examples and the tests;
//! sm_86, sm_89 and sm_90 have the shapes that models before them lack. `random-*.txt`: seven random
//! words (sm_90: up to four) of each operation and form, except words whose text has a value without
//! a name.

use warploom_sass::text::Context;
use warploom_turing::Instruction;

/// A word with its address and nvdisasm's text.
pub struct Line {
    pub word: u128,
    pub pc: u64,
    pub text: String,
}

pub fn lines(name: &str) -> Vec<Line> {
    let path = format!("{}/tests/fixtures/turing/words/{name}", env!("CARGO_MANIFEST_DIR"));
    let line = |line: &str| {
        let mut columns = line.splitn(3, ' ');
        let mut column = || columns.next().expect("a line has three columns");
        Line {
            word: u128::from_str_radix(column(), 16).unwrap(),
            pc: u64::from_str_radix(column(), 16).unwrap(),
            text: column().to_owned(),
        }
    };
    std::fs::read_to_string(path).unwrap().lines().map(line).collect()
}

/// Asserts that all but `different` texts are nvdisasm's.
fn compare(name: &str, model: u8, different: usize) {
    let mut shown = Vec::new();
    for line in lines(name) {
        let found = Instruction::decode(line.word, model).map_or_else(
            || "ILLEGAL".to_owned(),
            |instruction| {
                let reuse = instruction.control().reuse;
                instruction.text_in(&Context { pc: line.pc, reuse, label: None })
            },
        );
        if found != line.text {
            shown.push(format!("{:032x}: `{found}`, nvdisasm: `{}`", line.word, line.text));
        }
    }
    assert_eq!(shown.len(), different, "{name}:\n{}", shown.join("\n"));
}

#[test]
fn compiled_instructions() {
    for model in [75, 80, 86, 89, 90] {
        compare(&format!("compiled-sm_{model}.txt"), model, 0);
    }
}

/// Of sm_80 one word differs: in an LDGSTS, nvdisasm shows a descriptor that no compiler makes
/// visible. Of sm_89 nine words are not in the table: accesses of 256 bits, and F2FP.PACK_B. Of
/// sm_90 words differ in modifiers that no code of the corpora has, such as `.XORSIGN`.
#[test]
fn random_words() {
    compare("random-sm_80.txt", 80, 1);
    compare("random-sm_89.txt", 89, 9);
    compare("random-sm_90.txt", 90, 108);
}

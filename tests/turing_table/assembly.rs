//! The assembler gives a word for each text that the disassembler prints.

use warploom_turing::{Instruction, Turing};

use crate::words::lines;

#[test]
fn texts_give_words() {
    let mut failed = Vec::new();
    let fixtures =
        ["compiled-sm_75", "compiled-sm_80", "compiled-sm_86", "compiled-sm_89", "random-sm_80"];
    for name in fixtures {
        let model = name[name.len() - 2..].parse().unwrap();
        for line in lines(&format!("{name}.txt")) {
            let Some(instruction) = Instruction::decode(line.word, model) else { continue };
            let text = instruction.text(line.pc);
            match warploom_sass::assemble::<Turing>(&text, line.pc, model) {
                Ok(word) => {
                    let again = Instruction::decode(word, model).map(|i| i.text(line.pc));
                    assert_eq!(again.as_deref(), Some(&*text));
                }
                Err(error) => failed.push(format!("{name}: {error}")),
            }
        }
    }
    assert!(failed.is_empty(), "{} texts:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn wrong_texts_are_refused() {
    for text in [
        "",
        "IADD4 R0, R1, R2",
        "IADD3 R256, R1, R2, R3",
        "@P9 EXIT",
        "@UP0 EXIT",
        "LDG.E R0, [R2+",
    ] {
        let error = warploom_sass::assemble::<Turing>(text, 0, 80).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

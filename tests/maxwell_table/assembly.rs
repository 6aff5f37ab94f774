//! The text that the disassembler prints assembles to the words it came from.

use std::path::{Path, PathBuf};
use std::process::Command;

use warploom_container::{Section, SectionKind};
use warploom_maxwell::text::Context;
use warploom_maxwell::{Instruction, code, past_control, table};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns words of all encodings of the table, many of each.
fn random_words() -> impl Iterator<Item = Instruction> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    table::rows()
        .flat_map(move |row| {
            // Some words have few bits set, like words of programs: no modifiers, small numbers.
            let words: Vec<u64> = (0..96)
                .map(|n| if n % 3 == 0 { next() & next() & next() } else { next() })
                .collect();
            words.into_iter().map(move |word| table::word(row, word))
        })
        .filter_map(Instruction::decode)
}

/// A label may replace the target of every instruction with a target, whatever its modifiers and
/// guard.
#[test]
fn labels_of_all_forms() {
    let (mut targets, mut texts) = (0, 0);
    for instruction in random_words() {
        let text = instruction.text(8);
        texts += 1;
        assert!(
            !text.contains(" .L") && !text.contains(",.L"),
            "`{text}` has what looks like a label"
        );
        let Some(target) = instruction.raw_target(8) else { continue };
        // The label names the fourth instruction.
        let number = if (target as i64) < 0 {
            format!("-{:#x}", (target as i64).unsigned_abs())
        } else {
            format!("{target:#x}")
        };
        let Some((before, after)) = text.rsplit_once(&number) else {
            panic!("`{text}` without {number}")
        };
        for label in [".LE", "`(.LE)", "`(.L_x_0)"] {
            let name = label.trim_start_matches("`(").trim_end_matches(')');
            let source = format!(
                ".target sm_50\n.kernel k\n{before}{label}{after}\nNOP\nNOP\n{name}:\nNOP\n"
            );
            let module = warploom_container::modules(source.as_bytes());
            let module =
                module.unwrap_or_else(|error| panic!("`{text}` with a label: {error}")).remove(0);
            let word = code::word_at(&module.sections[0].data, 8)
                .and_then(|word| word.instruction)
                .expect("an instruction");
            assert_eq!(word.text(8), format!("{before}0x28{after}"));
        }
        targets += 1;
    }
    assert!(targets > 900 && texts > 40_000, "{targets} of {texts}");
}

/// Returns all cubins of fixtures and examples.
fn cubins() -> Vec<PathBuf> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "cubin") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    find(&Path::new(ROOT).join("tests/fixtures/maxwell"), &mut found);
    find(&Path::new(ROOT).join("examples"), &mut found);
    found.sort();
    found
}

/// Returns the words of a section and their texts. A jump to a control word counts as a jump behind
/// it.
fn words(section: &Section) -> Vec<(u64, String)> {
    let past = |target: u64| Some(past_control(target).to_string());
    let text = |word: &code::CodeWord| {
        let context = Context { pc: word.pc, reuse: 0, label: Some(&past) };
        word.instruction.map_or_else(String::new, |instruction| instruction.text_in(&context))
    };
    code::words(&section.data).map(|word| (word.word, text(&word))).collect()
}

/// The listing of each section, with labels, notes and braces, is a program with the same code.
#[test]
fn listings_are_programs() {
    let (mut compared, mut unseen) = (0, 0);
    for path in cubins() {
        let bytes = std::fs::read(&path).expect("the cubin");
        let module = warploom_container::modules(&bytes).expect("a cubin").remove(0);
        let sections = module.sections.iter().filter(|section| section.kind == SectionKind::Code);
        let output = Command::new(env!("CARGO_BIN_EXE_warploom"))
            .arg("disasm")
            .arg(&path)
            .output()
            .expect("the command");
        let text = String::from_utf8(output.stdout).expect("text");
        let listings = text.split("//--------------------- ").skip(1);
        for (section, listing) in sections.zip(listings) {
            let name = format!("{}: {}", path.display(), section.name);
            let source = format!(".target sm_50\n//{listing}");
            let program = warploom_container::modules(source.as_bytes())
                .unwrap_or_else(|error| panic!("{name}: {error}\n{source}"));
            let (expected, found) = (words(section), words(&program[0].sections[0]));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found.1, expected.1, "{name}, instruction {number}");
                compared += 1;
                unseen += usize::from(found.0 != expected.0 && !found.1.contains('`'));
            }
        }
    }
    assert!(compared > 20_000, "{compared}");
    // Bit 40 of F2F.F16.F16.PASS.SAT, which nvdisasm does not print.
    assert_eq!(unseen, 16);
}

//! Reads all vISA text of the corpora and prints it again.

mod support {
    pub mod visa;
}

use support::visa::{texts, without_trailing_blanks};
use warploom_visa::module::{Instruction, Module};
use warploom_visa::text;

fn read(name: &str, source: &[u8]) -> Module {
    text::read(source).unwrap_or_else(|errors| panic!("{name}:\n{errors}"))
}

#[test]
fn corpus_is_read() {
    let mut wrong = String::new();
    let texts = texts();
    assert!(texts.len() > 50, "{} texts", texts.len());
    for (name, source) in &texts {
        if let Err(errors) = text::read(source) {
            wrong += &format!("{name}:\n{errors}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the number of lines that differ from the text of Intel's compiler, and of all lines.
fn differences(name: &str, source: &[u8], shown: &mut Vec<String>) -> (usize, usize) {
    let printed = text::print(&read(name, source));
    let source = String::from_utf8_lossy(source);
    let (ours, theirs) = (without_trailing_blanks(&printed), without_trailing_blanks(&source));
    let different = ours.iter().zip(&theirs).filter(|(a, b)| a != b);
    let count = different.clone().count() + ours.len().abs_diff(theirs.len());
    shown
        .extend(different.take(3).map(|(a, b)| format!("{name}:\n  ours   `{a}`\n  theirs `{b}`")));
    (count, theirs.len())
}

#[test]
fn printed_text_is_that_of_the_compiler() {
    let (mut different, mut lines, mut shown) = (0, 0, vec![]);
    // The compiler did not print the text that was written by hand.
    for (name, source) in texts().iter().filter(|(name, _)| !name.ends_with("typed_atomic.visaasm"))
    {
        let (some, all) = differences(name, source, &mut shown);
        different += some;
        lines += all;
    }
    println!("{different} of {lines} lines differ");
    assert!(lines > 25_000, "{lines} lines");
    assert!(
        different * 1000 <= lines,
        "{different} of {lines} lines differ:\n{}",
        shown.join("\n")
    );
    // No line differs.
    assert_eq!(different, 0, "{}", shown.join("\n"));
}

/// Returns a module's content, without places in its text.
fn meaning(module: &Module) -> String {
    let mut module = module.clone();
    for routine in &mut module.routines {
        for one in &mut routine.code {
            *one = Instruction { at: 0, ..one.clone() };
        }
    }
    format!("{module:?}")
}

#[test]
fn printed_text_reads_back() {
    for (name, source) in texts() {
        let module = read(&name, &source);
        let printed = text::print(&module);
        let again = read(&format!("{name}, printed"), printed.as_bytes());
        assert!(meaning(&module) == meaning(&again), "{name}");
        assert_eq!(printed, text::print(&again), "{name}");
    }
}

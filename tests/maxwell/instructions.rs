//! Single Maxwell instructions and short sequences: state before, state after, on every engine.
//!
//! The files in `tests/maxwell/instructions`, one for each family, hold instructions (a word and its text a line) and
//! behind them, indented, cases: `state before => what changed`. See `support/state.rs`.

use std::fs;
use std::path::Path;

use crate::support::probe::{Probe, assemble};
use crate::support::state::State;
use warploom::isa::maxwell::Instruction;

/// Failures of one file.
fn run_file(path: &Path, failures: &mut Vec<String>) -> usize {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut words, mut listing, mut probe, mut cases) = (Vec::new(), String::new(), None, 0);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let place = || format!("{}:{}", path.file_name().unwrap_or_default().display(), number + 1);
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            if probe.take().is_some() {
                words.clear();
                listing.clear();
            }
            let (word, text) = line.split_once(' ').unwrap_or((line, ""));
            let word = u64::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{}: not a word", place()));
            match Instruction::decode(word) {
                Some(insn) if insn.text(0) == text.trim() || text.trim().is_empty() => {}
                Some(insn) => failures.push(format!("{}: the word is `{}`", place(), insn.text(0))),
                None => failures.push(format!("{}: the word is illegal", place())),
            }
            words.push(word);
            listing += &format!("    {}\n", text.trim());
            continue;
        }
        let probe = probe.get_or_insert_with(|| Probe::new(&assemble(&words)));
        let (before, after) = line.split_once("=>").unwrap_or_else(|| panic!("{}: no `=>`", place()));
        let [before, after] =
            [before, after].map(|text| State::parse(text).unwrap_or_else(|error| panic!("{}: {error}", place())));
        cases += 1;
        for (engine, left) in probe.run(&before, 32) {
            let differences = left.compare(&before, &after, 32);
            if !differences.is_empty() {
                let shown = differences.iter().take(6).cloned().collect::<Vec<_>>().join("\n    ");
                failures.push(format!("{} ({engine}):\n{listing}    {shown}", place()));
            }
        }
    }
    cases
}

#[test]
fn instructions_do_what_is_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maxwell/instructions");
    let only = std::env::var("WARPLOOM_TEST_FILE").ok();
    let (mut failures, mut cases) = (Vec::new(), 0);
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    for path in paths {
        if only.as_ref().is_none_or(|only| path.file_stem().is_some_and(|stem| stem == only.as_str())) {
            cases += run_file(&path, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{} failures in {cases} cases:\n{}", failures.len(), failures.join("\n"));
    assert!(cases > 0, "no case was run");
}

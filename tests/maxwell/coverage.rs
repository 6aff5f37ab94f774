//! Every instruction that was met in real code is executed by a test that knows its result from elsewhere: by a case of
//! `tests/maxwell/instructions`, or in a kernel of `tests/semantics` or `tests/kernels`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use warploom::container::{self, SectionKind};
use warploom::isa::maxwell::Instruction;
use warploom::isa::maxwell::code;

use crate::instructions;

/// What reads and writes textures and surfaces is not executed.
const NOT_EXECUTED: [&str; 7] = ["TEX", "TLD", "TXQ", "TXD", "TMML", "TXA", "SU"];

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell").join(path)
}

/// The cubins that `tests/semantics` and `tests/kernels` run.
fn cubins() -> Vec<PathBuf> {
    let folders = ["semantics", "semantics/ptx", "kernels", "behaviour"].into_iter().flat_map(|folder| {
        fs::read_dir(fixture(folder)).expect("the folder").map(|entry| entry.expect("entry").path())
    });
    let cubins = folders.filter(|path| path.extension().is_some_and(|extension| extension == "cubin"));
    let run = |path: &PathBuf| {
        !["surf.sm_50", "tex.sm_50"].iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name))
    };
    cubins.filter(run).chain([fixture("containers/linked.sm_50.cubin")]).collect()
}

#[test]
fn every_instruction_met_in_real_code_is_executed() {
    let mut executed = BTreeSet::new();
    for (path, groups) in instructions::files() {
        let groups = groups.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = groups.iter().filter(|group| !group.cases.is_empty()).flat_map(|group| &group.words);
        executed.extend(words.filter_map(|&word| Instruction::decode(word)).map(|instruction| instruction.mnemonic()));
    }
    for path in cubins() {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let modules = container::modules(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let sections = modules.iter().flat_map(|module| &module.sections);
        let code = sections.filter(|section| section.kind == SectionKind::Code).flat_map(|it| code::words(&it.data));
        executed.extend(code.filter_map(|word| word.instruction).map(|instruction| instruction.mnemonic()));
    }
    let met = fs::read_to_string(fixture("words/mnemonics.txt")).expect("the list");
    let forgotten: Vec<&str> = met
        .lines()
        .filter(|name| !NOT_EXECUTED.iter().any(|kind| name.starts_with(kind)) && !executed.contains(*name))
        .collect();
    assert!(forgotten.is_empty(), "no test executes {forgotten:?}");
}

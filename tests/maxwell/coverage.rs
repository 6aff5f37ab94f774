//! Every instruction met in real code runs in a test that knows its result from elsewhere: in a
//! case of `tests/maxwell/instructions` or `tests/maxwell_surfaces`, or in a kernel.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use warploom_container::SectionKind;
use warploom_maxwell::{Instruction, code};

use crate::instructions;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell").join(path)
}

/// Returns the cubins that tests run.
fn cubins() -> Vec<PathBuf> {
    let folders = ["semantics", "semantics/ptx", "kernels", "behaviour", "images"]
        .into_iter()
        .flat_map(|folder| {
            fs::read_dir(fixture(folder))
                .expect("the folder")
                .map(|entry| entry.expect("entry").path())
        });
    let cubins =
        folders.filter(|path| path.extension().is_some_and(|extension| extension == "cubin"));
    cubins.chain([fixture("containers/linked.sm_50.cubin")]).collect()
}

/// Returns the mnemonics of the instructions whose results the model of surfaces gives.
fn modelled() -> BTreeSet<String> {
    #[derive(serde::Deserialize)]
    struct Cases {
        cases: Vec<Case>,
    }
    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maxwell_surfaces/cases.json.gz");
    let file = flate2::read::GzDecoder::new(fs::File::open(path).expect("the cases"));
    let cases: Cases = serde_json::from_reader(std::io::BufReader::new(file)).expect("the cases");
    let mnemonic =
        |case: &Case| case.text.split(' ').find(|word| !word.starts_with('@')).map(str::to_owned);
    cases.cases.iter().filter_map(mnemonic).collect()
}

/// Removes the phase of a texture access, which is for the scheduler.
fn without_phase(mnemonic: &str) -> &str {
    let texture = mnemonic.starts_with('T');
    [".P", ".T"]
        .into_iter()
        .find_map(|phase| mnemonic.strip_suffix(phase).filter(|_| texture))
        .unwrap_or(mnemonic)
}

#[test]
fn every_instruction_met_in_real_code_is_executed() {
    let mut executed = modelled();
    for (path, groups) in instructions::files() {
        let groups = groups.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words =
            groups.iter().filter(|group| !group.cases.is_empty()).flat_map(|group| &group.words);
        executed.extend(
            words
                .filter_map(|&word| Instruction::decode(word))
                .map(|instruction| instruction.mnemonic()),
        );
    }
    for path in cubins() {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let modules = warploom_container::modules(&bytes)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let sections = modules.iter().flat_map(|module| &module.sections);
        let code = sections
            .filter(|section| section.kind == SectionKind::Code)
            .flat_map(|it| code::words(&it.data));
        let mnemonics =
            code.filter_map(|word| word.instruction).map(|instruction| instruction.mnemonic());
        executed.extend(mnemonics.map(|name| without_phase(&name).to_owned()));
    }
    let met = fs::read_to_string(fixture("words/mnemonics.txt")).expect("the list");
    let forgotten: Vec<&str> = met
        .lines()
        .filter(|name| !executed.contains(*name) && !executed.contains(without_phase(name)))
        .collect();
    assert!(forgotten.is_empty(), "no test executes {forgotten:?}");
}

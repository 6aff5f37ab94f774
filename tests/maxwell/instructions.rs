//! Single Maxwell instructions and short sequences: state before, state after, on every engine.
//!
//! The files in `tests/maxwell/instructions`, one for each family, hold instructions (a word and
//! its text on each line). Indented cases follow each group: `state before => what changed`. See
//! `support/state.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use warploom_maxwell::Instruction;

use crate::support::probe::{Probe, assemble};
use crate::support::state::State;

/// Instructions with their cases.
#[derive(Default)]
pub struct Group {
    pub words: Vec<u64>,
    listing: String,
    pub cases: Vec<Case>,
}

pub struct Case {
    /// File and line.
    place: String,
    before: State,
    after: State,
}

fn read_file(path: &Path) -> Result<Vec<Group>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut groups: Vec<Group> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let place = format!("{}:{}", path.file_name().unwrap_or_default().display(), number + 1);
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            if groups.last().is_none_or(|group| !group.cases.is_empty()) {
                groups.push(Group::default());
            }
            let (word, text) = line.split_once(' ').unwrap_or((line, ""));
            let word = u64::from_str_radix(word, 16)
                .map_err(|_| format!("{place}: `{word}` is no word"))?;
            let found = Instruction::decode(word).map(|insn| insn.text(0));
            if found.as_deref() != Some(text.trim()) {
                return Err(format!("{place}: the word is {found:?}"));
            }
            let group = groups.last_mut().expect("a group was begun");
            group.words.push(word);
            group.listing += &format!("    {}\n", text.trim());
        } else {
            let group =
                groups.last_mut().ok_or_else(|| format!("{place}: a case without instructions"))?;
            let (before, after) =
                line.split_once("=>").ok_or_else(|| format!("{place}: no `=>`"))?;
            let parse = |text| State::parse(text).map_err(|error| format!("{place}: {error}"));
            let (before, after) = (parse(before)?, parse(after)?);
            group.cases.push(Case { place, before, after });
        }
    }
    Ok(groups)
}

fn run_group(group: &Group, failures: &mut Vec<String>) {
    let named = group.cases.iter().flat_map(|case| case.before.places().chain(case.after.places()));
    let probe = Probe::new(&assemble(&group.words), named);
    for Case { place, before, after } in &group.cases {
        for (engine, left) in probe.run(before, 32) {
            let differences = left.compare(before, after, 32);
            if !differences.is_empty() {
                let shown = differences.iter().take(6).cloned().collect::<Vec<_>>().join("\n    ");
                failures.push(format!("{place} ({engine}):\n{}    {shown}", group.listing));
            }
        }
    }
}

/// Returns the groups of each file, in the order of the files.
pub fn files() -> impl Iterator<Item = (PathBuf, Result<Vec<Group>, String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maxwell/instructions");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("entry").path())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| {
        let groups = read_file(&path);
        (path, groups)
    })
}

#[test]
fn instructions_do_what_is_documented() {
    let only = std::env::var("WARPLOOM_TEST_FILE").ok();
    let (mut failures, mut cases) = (Vec::new(), 0);
    for (path, groups) in files() {
        if only
            .as_ref()
            .is_none_or(|only| path.file_stem().is_some_and(|stem| stem == only.as_str()))
        {
            match groups {
                Ok(groups) => {
                    groups.iter().for_each(|group| run_group(group, &mut failures));
                    cases += groups.iter().map(|group| group.cases.len()).sum::<usize>();
                }
                Err(error) => failures.push(error),
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures in {cases} cases:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(cases > 0, "no case was run");
}

//! The instruction table against what ptxas takes: `ptx/ptx-forms.txt.gz` (its header explains it) and the mnemonics
//! that real programs have.

use std::collections::BTreeMap;
use std::io::Read;

use warploom::isa::ptx::module::Target;
use warploom::isa::ptx::table;

fn forms() -> String {
    let packed = include_bytes!("ptx/ptx-forms.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    text
}

struct Line<'a> {
    accept: bool,
    /// None: no target has it.
    target: Option<Target>,
    version: (u8, u8),
    statement: &'a str,
}

fn target(name: &str) -> Target {
    let name = name.strip_prefix("sm_").unwrap();
    let digits = name.trim_end_matches('a');
    Target { sm: digits.parse().unwrap(), suffix: name[digits.len()..].chars().next() }
}

/// None: a line that says nothing about the text.
fn line(line: &str) -> Option<Line<'_>> {
    let mut columns = line.split('\t');
    let (verdict, place, statement) = (columns.next()?, columns.next()?, columns.next()?);
    let (place, version) = place.split_once('/')?;
    let (major, minor) = version.split_once('.')?;
    let target = match place {
        "codegen" | "wrongcode" => return None,
        "any" | "crash" => None,
        name => Some(target(name)),
    };
    Some(Line { accept: verdict == "accept", target, version: (major.parse().ok()?, minor.parse().ok()?), statement })
}

/// The mnemonic of a statement, without a guard.
fn mnemonic(statement: &str) -> &str {
    let statement = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').unwrap_or_default().1,
        None => statement,
    };
    let end = statement.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':')));
    &statement[..end.unwrap_or(statement.len())]
}

fn verdict(mnemonic: &str, target: Target, version: (u8, u8)) -> Result<(), String> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let form = table::resolve(&words)?;
    table::available(&form, target, version)
}

#[test]
fn mnemonics_of_programs_resolve() {
    let text = include_str!("ptx/ptx-mnemonics.txt");
    let wrong: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter_map(|mnemonic| table::resolve(&mnemonic.split('.').collect::<Vec<_>>()).err())
        .collect();
    assert!(wrong.is_empty(), "{} mnemonics: {wrong:#?}", wrong.len());
}

#[test]
fn statements_have_the_verdicts_of_ptxas() {
    let text = forms();
    let mut disagreements: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
    for of in text.lines().filter(|line| !line.starts_with('#')).filter_map(line) {
        let name = mnemonic(of.statement);
        if name.is_empty() {
            continue;
        }
        let targets = match of.target {
            Some(target) => vec![target],
            None => ["sm_90a", "sm_100a", "sm_120a"].map(target).to_vec(),
        };
        for target in targets {
            let verdict = verdict(name, target, of.version);
            if verdict.is_ok() != of.accept {
                let opcode = name.split('.').next().unwrap().to_owned();
                let text =
                    format!("sm_{}/{:?} {} {}", target.sm, of.version, of.statement, verdict.err().unwrap_or_default());
                disagreements.entry((opcode, of.accept)).or_default().push(text);
                break;
            }
        }
    }
    let shown = std::env::var("PTX_FORMS_SHOW").unwrap_or_default();
    for ((opcode, accept), all) in &disagreements {
        println!("{opcode}: {} {}", all.len(), if *accept { "refused" } else { "taken" });
        if shown == format!("{opcode}{}", if *accept { '+' } else { '-' }) {
            all.iter().for_each(|line| println!("    {line}"));
        }
    }
}

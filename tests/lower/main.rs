//! What small functions become: IR after analysis, and CLIF of code for speed, held against committed texts. There is a function for each
//! fast path and each class of operation; `tests/ir` runs them.
//!
//! `NAME.ir` is the function, `NAME.analysed` and `NAME.clif` are what it becomes. `WARPLOOM_BLESS=1 cargo test --test lower` writes those,
//! for the reviewer of a change to see.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warploom_analysis::LaunchClass;
use warploom_cranelift::{Target, dump};
use warploom_engine::{Effort, Program};
use warploom_ir::parse;

/// For which code is made: not the host, so that texts are the same everywhere.
const TARGET: &str = "x86_64-unknown-linux-gnu,x86-64-v3";
/// Functions, at least.
const LEAST: usize = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower")
}

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    for number in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                let [a, b] = [a, b].map(|line| line.unwrap_or("the end"));
                return Some(format!("line {number} is\n    {b}\nexpected\n    {a}"));
            }
        }
    }
    None
}

#[test]
fn functions_become_what_they_became() {
    let target = Target::named(TARGET).expect("a host");
    let bless = std::env::var_os("WARPLOOM_BLESS").is_some();
    let listed = std::fs::read_dir(folder()).expect("the folder");
    let mut functions: Vec<PathBuf> = listed.map(|entry| entry.expect("a file").path()).collect();
    functions.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    assert!(functions.len() >= LEAST, "{} functions", functions.len());
    let mut problems = Vec::new();
    for path in functions {
        let text = std::fs::read_to_string(&path).expect("a function");
        let function = Arc::new(
            parse::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        );
        let program =
            Program::new(&function, LaunchClass::Line, true, warploom_cranelift::backend())
                .expect("a program");
        let stages = [
            ("analysed", program.function().to_string()),
            ("clif", dump::clif(&program, Effort::Full, &target)),
        ];
        for (stage, found) in stages {
            let golden = path.with_extension(stage);
            if bless {
                std::fs::write(&golden, &found).expect("a golden file");
                continue;
            }
            let expected = std::fs::read_to_string(&golden)
                .unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
            if let Some(difference) = difference(&expected, &found) {
                problems.push(format!("{}: {difference}", golden.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}\nWARPLOOM_BLESS=1 writes them anew", problems.join("\n"));
}

//! Compares texts with committed files; `WARPLOOM_BLESS=1` rewrites the files.

use std::path::Path;

/// Compares a text with a file, and returns the first difference; or writes the file.
pub fn hold(path: &Path, found: &str) -> Option<String> {
    if std::env::var_os("WARPLOOM_BLESS").is_some() {
        std::fs::write(path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return None;
    }
    let expected =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    difference(&expected, found).map(|difference| format!("{}: {difference}", path.display()))
}

/// Returns the first line in which two texts differ.
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

/// Fails if there are differences.
#[track_caller]
pub fn no_differences(differences: &[String]) {
    let all = differences.join("\n");
    assert!(differences.is_empty(), "{all}\nWARPLOOM_BLESS=1 writes them anew");
}

//! What may not know what: engines and runtime no guest.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A guest that an engine knew would be one that has a way of its own through it.
#[test]
fn engines_and_runtime_name_no_virtual_instruction_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = vec![];
    let mut count = 0;
    for (folder, words) in [
        ("src/jit", &["visa", "ptx", "crate::isa"][..]),
        ("src/interp", &["visa", "ptx", "crate::isa"]),
        ("runtime/src", &["visa", "ptx", "warploom::"]),
    ] {
        let mut found = vec![];
        sources(&root.join(folder), &mut found);
        count += found.len();
        for path in found {
            let text = std::fs::read_to_string(&path).unwrap();
            for (line, number) in text.lines().zip(1..) {
                let lower = line.to_lowercase();
                if words.iter().any(|word| lower.contains(word)) {
                    wrong.push(format!("{}:{number}: {line}", path.display()));
                }
            }
        }
    }
    assert!(count > 100, "{count} files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

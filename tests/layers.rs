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

/// Code has enough orders in which lanes, chunks and warps may run. A new one takes the place of an old one.
#[test]
fn orders_of_execution_are_these() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/execution-orders.md")).unwrap();
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let known = [
        "Chunks",
        "Full warps (*groups*)",
        "Strips (*sweeps*)",
        "Loops in registers",
        "Scalarized loops",
        "Lanes one by one",
        "Gathers and scatters",
        "Going back: bailouts",
    ];
    assert_eq!(sections, known);
    // Those that are folders have their sections.
    for entry in std::fs::read_dir(root.join("src/jit/lower")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Families of operations.
        let is_family = ["arrays", "atomic", "rounding", "special"].contains(&&*name);
        let is_named = text.contains(&format!("`src/jit/lower/{name}/`"));
        assert!(!path.is_dir() || is_family || is_named, "{name} is neither an order nor a family of operations");
    }
}

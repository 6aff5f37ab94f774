//! Reads all PTX of the corpora.

use std::path::{Path, PathBuf};

use warploom::isa::ptx;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

/// Those of the repository, and those of the larger corpus where it is there.
fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    files(&root.join("tests/ptx/corpus"), &mut found);
    files(&root.join("shared/corpus/ptx"), &mut found);
    found.sort();
    found.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn corpus_is_read() {
    let mut wrong = String::new();
    for (path, text) in corpus() {
        if let Err(errors) = ptx::read(&text) {
            wrong += &format!("{}:\n{errors}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

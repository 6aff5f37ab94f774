//! Files of the vISA corpus.

use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Files with one of these extensions of the repository, and of the larger corpus where it is there.
pub fn corpus(extensions: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![];
    files(&root.join("tests/fixtures/visa"), &mut found);
    files(&root.join("shared/corpus/visa"), &mut found);
    found.sort();
    let wanted = |path: &PathBuf| {
        path.extension().is_some_and(|one| extensions.iter().any(|wanted| one == *wanted))
    };
    found
        .into_iter()
        .filter(wanted)
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// All texts: files, and sections of zebins.
#[allow(dead_code, reason = "not all tests use it")]
pub fn texts() -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.display().to_string();
    let mut all: Vec<_> =
        corpus(&["visaasm"]).into_iter().map(|(path, text)| (name(&path), text)).collect();
    for (path, bytes) in corpus(&["zebin"]) {
        let file = object::File::parse(&*bytes).unwrap();
        for section in file
            .sections()
            .filter(|section| section.name().is_ok_and(|name| name.starts_with(".visaasm")))
        {
            all.push((
                format!("{}, section {}", name(&path), section.index()),
                section.data().unwrap().to_vec(),
            ));
        }
    }
    all
}

/// Lines without blanks at their ends, and without the comments and blank lines at the end of the text.
#[allow(dead_code, reason = "not all tests use it")]
pub fn without_trailing_blanks(text: &str) -> Vec<String> {
    text.trim_end().lines().map(|line| line.trim_end().to_string()).collect()
}

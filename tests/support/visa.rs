//! Reads files of the vISA corpus.

#[path = "files.rs"]
mod files;

use std::path::{Path, PathBuf};

use files::files;
use object::{Object, ObjectSection};

/// Returns the files with these extensions, of the repository and, where it exists, of the larger
/// corpus.
pub fn corpus(extensions: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/fixtures/visa", "shared/corpus/visa"];
    let found = folders.iter().flat_map(|folder| files(&root.join(folder), extensions));
    found.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Returns all vISA texts: files, and sections of zebins.
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

/// Returns the lines without trailing blanks, and without the blank lines at the end of the text.
#[allow(dead_code, reason = "not all tests use it")]
pub fn without_trailing_blanks(text: &str) -> Vec<String> {
    text.trim_end().lines().map(|line| line.trim_end().to_string()).collect()
}

//! Lists files of corpora.

use std::path::{Path, PathBuf};

/// Returns the files below a folder with one of these extensions, in order; none if there is no
/// such folder.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_wanted = |extension| extensions.iter().any(|wanted| extension == *wanted);
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(is_wanted) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

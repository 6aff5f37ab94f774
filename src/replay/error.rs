//! What can be wrong with a manifest or a file that it names.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{}: cannot be {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },

    /// Not TOML, an unknown key, a value of the wrong type; the message has the line.
    #[error("{}: {message}", .path.display())]
    Toml { path: PathBuf, message: String },

    /// A value that its key cannot have. `key` as in `buffer.x.zeros` or `arg 3`.
    #[error("{}: {key}: {problem}", .path.display())]
    Value { path: PathBuf, key: String, problem: String },

    /// An array file.
    #[error("{}: {problem}", .path.display())]
    Array { path: PathBuf, problem: String },
}

impl Error {
    pub fn io(path: &Path, doing: &'static str, source: std::io::Error) -> Error {
        Error::Io { path: path.to_path_buf(), doing, source }
    }

    pub(super) fn value(path: &Path, key: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Value { path: path.to_path_buf(), key: key.into(), problem: problem.into() }
    }
}

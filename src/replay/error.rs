//! Errors in a manifest or in a file that it names.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("{}: cannot be {doing}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },

    /// The manifest is not TOML, or has an unknown key or a value of the wrong type. The message
    /// names the line.
    #[error("{}: {message}", .path.display())]
    Toml { path: PathBuf, message: String },

    /// The file is of another kind.
    #[error("{}: expected a manifest, but the file is {kind}", .path.display())]
    NotManifest { path: PathBuf, kind: String },

    /// A value that its key cannot have. `key` is, for example, `buffer.x.zeros` or `arg 3`.
    #[error("{}: {key}: {problem}", .path.display())]
    Value { path: PathBuf, key: String, problem: String },

    /// An error in an array file.
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

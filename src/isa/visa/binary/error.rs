//! The error of a binary file.

/// An error in a binary file, with an offset in bytes from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at offset {at:#x}: {what}")]
pub struct BinaryError {
    pub at: u32,
    /// The contents found, and the contents expected.
    pub what: String,
}

impl BinaryError {
    pub(super) fn new(at: usize, what: impl Into<String>) -> BinaryError {
        BinaryError { at: at.min(u32::MAX as usize) as u32, what: what.into() }
    }
}

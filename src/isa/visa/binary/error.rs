//! What is wrong with a binary file.

/// Offsets are bytes from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at offset {at:#x}: {what}")]
pub struct BinaryError {
    pub at: u32,
    /// What was found and what was expected.
    pub what: String,
}

impl BinaryError {
    pub(super) fn new(at: usize, what: impl Into<String>) -> BinaryError {
        BinaryError { at: at.min(u32::MAX as usize) as u32, what: what.into() }
    }
}

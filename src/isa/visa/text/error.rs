//! Errors in a text.

use std::fmt;

use warploom_guest::errors::{MAX_ERRORS, one_a_line};

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1 on.
    pub line: u32,
    /// The column in bytes, from 1 on.
    pub column: u32,
    /// The contents found, and the contents expected.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The first 20 errors of a text, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadErrors {
    pub errors: Vec<ReadError>,
}

impl ReadErrors {
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }
}

impl fmt::Display for ReadErrors {
    /// Writes one `line:column: message` a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_a_line(f, &self.errors)
    }
}

impl std::error::Error for ReadErrors {}

/// An error at a position of a line.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    /// The position in bytes from the line's start.
    pub at: usize,
    pub message: String,
}

impl Wrong {
    pub fn new(at: usize, message: impl Into<String>) -> Wrong {
        Wrong { at, message: message.into() }
    }
}

pub(super) type Result<T> = std::result::Result<T, Wrong>;

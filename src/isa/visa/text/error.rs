//! What is wrong with a text.

use std::fmt;

use warploom_guest::errors::{MAX_ERRORS, one_a_line};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// From 1 on.
    pub line: u32,
    /// In bytes, from 1 on.
    pub column: u32,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// All errors of a text, the first 20, in the order they were found.
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
    /// One `line:column: message` a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_a_line(f, &self.errors)
    }
}

impl std::error::Error for ReadErrors {}

/// What is wrong at a place of a line.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    /// Bytes from the line's start.
    pub at: usize,
    pub message: String,
}

impl Wrong {
    pub fn new(at: usize, message: impl Into<String>) -> Wrong {
        Wrong { at, message: message.into() }
    }
}

pub(super) type Result<T> = std::result::Result<T, Wrong>;

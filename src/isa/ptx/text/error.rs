//! Errors in a text.

use std::fmt;

use warploom_guest::errors::{MAX_ERRORS, line_column, one_a_line};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Byte offset in the text.
    pub at: u32,
    /// The line, from 1 on.
    pub line: u32,
    /// The column in bytes, from 1 on.
    pub column: u32,
    /// The message: found and expected text.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The first 20 errors of a text, in the order they were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadErrors {
    pub errors: Vec<ReadError>,
}

impl fmt::Display for ReadErrors {
    /// Writes one `line:column: message` a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_a_line(f, &self.errors)
    }
}

impl std::error::Error for ReadErrors {}

/// Errors found while a text is read: byte offsets and messages.
#[derive(Default)]
pub(super) struct Found {
    errors: Vec<(u32, String)>,
}

impl Found {
    pub fn push(&mut self, at: u32, message: String) {
        // One error for each place: errors that follow from it say nothing new.
        if !self.is_full() && self.errors.last().is_none_or(|&(last, _)| last != at) {
            self.errors.push((at, message));
        }
    }

    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub fn located(self, text: &[u8]) -> ReadErrors {
        let locate = |(at, message): (u32, String)| {
            let before = &text[..(at as usize).min(text.len())];
            let (line, column) = line_column(before);
            ReadError { at, line, column, message }
        };
        ReadErrors { errors: self.errors.into_iter().map(locate).collect() }
    }
}

//! Error reporting that readers of guests' texts share.

use std::fmt;

/// The most errors of one text.
pub const MAX_ERRORS: usize = 20;

/// Writes errors, one per line.
pub fn one_a_line(f: &mut fmt::Formatter<'_>, errors: &[impl fmt::Display]) -> fmt::Result {
    for (n, error) in errors.iter().enumerate() {
        if n > 0 {
            writeln!(f)?;
        }
        error.fmt(f)?;
    }
    Ok(())
}

/// Returns line and column of a place, counted from 1, given the text before it.
pub fn line_column(before: &[u8]) -> (u32, u32) {
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    (line as u32 + 1, column as u32 + 1)
}

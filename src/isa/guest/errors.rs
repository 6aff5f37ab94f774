//! What readers of guests' texts share about their errors.

use std::fmt;

/// Errors of one text, at most.
pub const MAX_ERRORS: usize = 20;

/// Shows errors, one a line.
pub fn one_a_line(f: &mut fmt::Formatter<'_>, errors: &[impl fmt::Display]) -> fmt::Result {
    for (n, error) in errors.iter().enumerate() {
        if n > 0 {
            writeln!(f)?;
        }
        error.fmt(f)?;
    }
    Ok(())
}

/// Line and column of a place, from 1 on, given what stands before it.
pub fn line_column(before: &[u8]) -> (u32, u32) {
    let line = before.iter().filter(|&&byte| byte == b'\n').count();
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    (line as u32 + 1, column as u32 + 1)
}

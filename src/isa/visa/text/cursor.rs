//! A position in a line.

use super::error::{Result, Wrong};

/// A line with the position up to which it was read. A copy is a position to return to.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub line: &'a str,
    pub at: usize,
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'?')
}

/// Returns whether a label may have a name.
///
/// The name must not be empty or begin with a digit, and has no blanks or marks.
pub(super) fn is_label(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
        && name.bytes().all(is_label_part)
}

fn is_label_part(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

impl<'a> Cursor<'a> {
    pub fn new(line: &'a str) -> Cursor<'a> {
        Cursor { line, at: 0 }
    }

    pub fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    pub fn blanks(&mut self) {
        self.at = self.line.len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
    }

    /// Returns the next byte that is not a blank, 0 at the end.
    pub fn next(&mut self) -> u8 {
        self.blanks();
        self.here()
    }

    /// Returns the byte here, 0 at the end.
    pub fn here(&self) -> u8 {
        self.line.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    pub fn is_at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.line.len()
    }

    pub fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong::new(self.at, message)
    }

    /// Returns an error that names the text found here and the text expected.
    pub fn expected(&self, what: &str) -> Wrong {
        let found: String =
            self.rest().chars().take_while(|c| !c.is_whitespace()).take(24).collect();
        match found.is_empty() {
            true => self.wrong(format!("found the line's end, expected {what}")),
            false => self.wrong(format!("found `{found}`, expected {what}")),
        }
    }

    /// Takes a text if it is next, with any blanks before it.
    pub fn takes(&mut self, text: &str) -> bool {
        let mut ahead = *self;
        ahead.blanks();
        let is_next = ahead.rest().starts_with(text);
        if is_next {
            self.at = ahead.at + text.len();
        }
        is_next
    }

    /// Takes a text if it is next, with no blank before it.
    pub fn joined(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    pub fn expect(&mut self, text: &str) -> Result<()> {
        match self.takes(text) {
            true => Ok(()),
            false => {
                self.blanks();
                Err(self.expected(&format!("`{text}`")))
            }
        }
    }

    /// Reads an identifier, which may begin with `%`.
    pub fn name(&mut self, what: &str) -> Result<&'a str> {
        self.blanks();
        let start = self.at;
        let bytes = self.rest().as_bytes();
        let sign = usize::from(bytes.first() == Some(&b'%'));
        let length =
            bytes[sign..].iter().position(|&byte| !is_word(byte)).unwrap_or(bytes.len() - sign);
        if length == 0 || bytes[sign].is_ascii_digit() {
            return Err(self.expected(what));
        }
        self.at += sign + length;
        Ok(&self.line[start..self.at])
    }

    /// Returns a text that can be a label's name, and the rest of the line after it.
    pub fn label_and_rest(&self) -> Option<(&'a str, &'a str)> {
        let rest = self.rest();
        let (name, rest) =
            rest.split_at(rest.bytes().position(|byte| !is_label_part(byte)).unwrap_or(rest.len()));
        is_label(name).then_some((name, rest))
    }

    /// Reads the name of a label or of a subroutine, which may be in quotes.
    pub fn label(&mut self, what: &str) -> Result<String> {
        self.blanks();
        let place = *self;
        if self.next() == b'"' {
            let name = self.quoted()?;
            return match is_label(&name) {
                true => Ok(name),
                false => Err(place.wrong(format!(
                    "the name `{name}`, expected letters, digits, `_`, `$`, `@`, `?` and `-`"
                ))),
            };
        }
        let (name, _) = self.label_and_rest().ok_or_else(|| self.expected(what))?;
        self.at += name.len();
        Ok(name.to_string())
    }

    /// Reads a string in quotes.
    pub fn quoted(&mut self) -> Result<String> {
        self.expect("\"")?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, 'x')) => {
                        let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                        let byte = u8::from_str_radix(&digits, 16)
                            .map_err(|_| self.wrong("an escape that is none"))?;
                        out.push(byte.into());
                    }
                    Some((_, c @ ('"' | '\\' | '\'' | '?'))) => out.push(c),
                    _ => return Err(self.wrong("an escape that is none")),
                },
                c => out.push(c),
            }
        }
        Err(self.wrong("a string without an end on its line"))
    }

    /// Reads a name or a string.
    pub fn name_or_quoted(&mut self, what: &str) -> Result<String> {
        match self.next() {
            b'"' => self.quoted(),
            _ => self.name(what).map(str::to_string),
        }
    }
}

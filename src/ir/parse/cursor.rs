//! A cursor over one line of text.

use super::super::names::Named;
use super::{ParseError, Problem};

/// The rest of a line, without comments and surrounding spaces.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a str,
    /// The number of the line, from 1.
    line: usize,
    /// The length of the line, from which columns are computed.
    length: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, line: usize) -> Self {
        let text = without_comment(text).trim_end();
        Cursor { rest: text.trim_start(), line, length: text.len() }
    }

    pub fn error(&self, problem: Problem) -> ParseError {
        ParseError { line: self.line, column: self.length - self.rest.len() + 1, problem }
    }

    pub fn expected(&self, what: &'static str) -> ParseError {
        self.error(Problem::Expected { what, found: self.rest.chars().take(24).collect() })
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn expect_end(&self) -> Result<(), ParseError> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    pub fn ends_with_colon(&self) -> bool {
        self.rest.ends_with(':')
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        taken
    }

    /// Takes `token` if it is next. A word must also end there.
    pub fn eat(&mut self, token: &str) -> bool {
        let is_word = token.ends_with(is_word_char);
        match self.rest.strip_prefix(token) {
            Some(rest) if !(is_word && rest.starts_with(is_word_char)) => {
                self.advance(token.len());
                true
            }
            _ => false,
        }
    }

    pub fn expect(&mut self, token: &'static str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(token)) }
    }

    /// Takes letters, digits, `_` and `.`.
    pub fn mnemonic(&mut self) -> &'a str {
        let length = self.rest.find(|c| !(is_word_char(c) || c == '.')).unwrap_or(self.rest.len());
        self.advance(length)
    }

    /// Takes letters, digits and `_`, at least one.
    pub fn word(&mut self, what: &'static str) -> Result<&'a str, ParseError> {
        let length = self.rest.find(|c| !is_word_char(c)).unwrap_or(self.rest.len());
        if length == 0 { Err(self.expected(what)) } else { Ok(self.advance(length)) }
    }

    /// Takes an unsigned number, decimal or `0x`.
    pub fn number<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, ParseError> {
        let mut ahead = *self;
        let word = ahead.word(what)?;
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        let number = number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| self.expected(what))?;
        *self = ahead;
        Ok(number)
    }

    /// Takes the name of a member of an enumeration.
    pub fn named<T: Named>(&mut self, what: &'static str) -> Result<T, ParseError> {
        let mut ahead = *self;
        let member = T::from_name(ahead.mnemonic()).ok_or_else(|| self.expected(what))?;
        *self = ahead;
        Ok(member)
    }

    /// Takes a string in quotes with the escapes that Rust's `Debug` writes.
    pub fn string(&mut self) -> Result<String, ParseError> {
        let error = self.expected("a string in quotes");
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        if chars.next().map(|(_, c)| c) != Some('"') {
            return Err(error);
        }
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.advance(at + 1);
                    return Ok(out);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('t') => out.push('\t'),
                    Some('0') => out.push('\0'),
                    Some('u') => {
                        let digits: String = chars
                            .by_ref()
                            .map(|(_, c)| c)
                            .skip(1)
                            .take_while(|c| *c != '}')
                            .take(7)
                            .collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        out.push(code.ok_or_else(|| error.clone())?);
                    }
                    Some(c) => out.push(c),
                    None => return Err(error),
                },
                c => out.push(c),
            }
        }
        Err(error)
    }
}

/// The text before the first `#` outside strings.
fn without_comment(text: &str) -> &str {
    let (mut in_string, mut escaped) = (false, false);
    let start = text.find(|c| {
        let starts = c == '#' && !in_string;
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        starts
    });
    start.map_or(text, |start| &text[..start])
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

//! Tokens. Facts, `ptx.md` 1.2.

use std::borrow::Cow;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    /// Not a token; the lexer's `problem` says why.
    Bad,
    /// An identifier; `%` and `$` count as its characters.
    Name,
    /// `.word`, with its parts joined by `::`.
    Word,
    /// An integer. It is unsigned if it does not fit `.s64`, or has a `U`.
    Integer {
        unsigned: bool,
    },
    /// `0f3f800000`
    Bits32,
    /// `0d3ff0000000000000`
    Bits64,
    /// A decimal float. Its value is the bits of an `f64`.
    Decimal,
    /// `"..."`
    Text,
    /// `_`
    Sink,
    Punct(u8),
    ShiftLeft,
    ShiftRight,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    AndAnd,
    OrOr,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: u32,
    pub end: u32,
    /// The value of a number.
    pub value: u64,
}

#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The reason why the last token was bad.
    pub problem: &'static str,
}

/// Returns the text with `?` for each byte past 127 in a comment.
pub(super) fn without_wide_comments(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return text.into();
    }
    let mut bytes = text.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = |found: Option<usize>| found.map_or(bytes.len(), |length| at + length);
        let (end, is_comment) = match rest {
            [b'/', b'/', ..] => (end(rest.iter().position(|&byte| byte == b'\n')), true),
            [b'/', b'*', ..] => (
                end(rest[2..].windows(2).position(|two| two == b"*/").map(|length| length + 4)),
                true,
            ),
            [b'"', ..] => (
                end(rest[1..].iter().position(|byte| b"\"\n".contains(byte)).map(|n| n + 2)),
                false,
            ),
            _ => (at + 1, false),
        };
        if is_comment {
            bytes[at..end].iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        }
        at = end;
    }
    bytes.into()
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, problem: "" }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Returns the next byte that is not white space.
    pub fn following(&self) -> u8 {
        let rest = &self.text.as_bytes()[self.at..];
        rest.iter().copied().find(|byte| !byte.is_ascii_whitespace()).unwrap_or(0)
    }

    pub fn go_to(&mut self, at: u32) {
        self.at = at as usize;
    }

    /// Skips to the next line.
    pub fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    pub fn next(&mut self) -> Token {
        if let Err(problem) = self.space() {
            return self.bad(self.at, problem);
        }
        let at = self.at;
        let Some(&byte) = self.text.as_bytes().get(at) else { return self.token(Kind::End, at, 0) };
        let next = self.byte(at + 1);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => self.name(at),
            b'%' | b'$' | b'_' if is_word(next) => self.name(at),
            b'_' => self.token(Kind::Sink, at + 1, 0),
            b'$' => self.bad(at + 1, "`$` alone is no name"),
            b'.' if next.is_ascii_digit() => self.dot_digit(at),
            b'.' if is_word(next) => self.word(at),
            b'.' => self.bad(at + 1, "a `.` with no word behind it"),
            b'0'..=b'9' => self.number(at),
            b'"' => self.quoted(at),
            _ => {
                let double = match (byte, next) {
                    (b'<', b'<') => Kind::ShiftLeft,
                    (b'>', b'>') => Kind::ShiftRight,
                    (b'<', b'=') => Kind::LessEqual,
                    (b'>', b'=') => Kind::GreaterEqual,
                    (b'=', b'=') => Kind::Equal,
                    (b'!', b'=') => Kind::NotEqual,
                    (b'&', b'&') => Kind::AndAnd,
                    (b'|', b'|') => Kind::OrOr,
                    _ if b",;:(){}[]<>@!%+-*/~&|^?=".contains(&byte) => {
                        return self.token(Kind::Punct(byte), at + 1, 0);
                    }
                    _ => return self.bad(at + 1, "a character that begins nothing"),
                };
                self.token(double, at + 2, 0)
            }
        }
    }

    fn token(&mut self, kind: Kind, end: usize, value: u64) -> Token {
        let at = self.at as u32;
        self.at = end;
        Token { kind, at, end: end as u32, value }
    }

    fn bad(&mut self, end: usize, problem: &'static str) -> Token {
        self.problem = problem;
        self.token(Kind::Bad, end, 0)
    }

    /// Skips white space, comments and line markers of the C preprocessor.
    fn space(&mut self) -> Result<(), &'static str> {
        loop {
            match self.byte(self.at) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.byte(self.at + 1) == b'/' => self.skip_line(),
                b'/' if self.byte(self.at + 1) == b'*' => {
                    let length = self.text[self.at + 2..].find("*/").ok_or_else(|| {
                        self.at = self.text.len();
                        "the text ends in a comment"
                    })?;
                    self.at += length + 4;
                }
                b'#' => {
                    let line = self.text[self.at + 1..].trim_start_matches([' ', '\t']);
                    if !line.starts_with("line") && !line.starts_with(|c: char| c.is_ascii_digit())
                    {
                        self.skip_line();
                        return Err("a line of the C preprocessor, which must have run before");
                    }
                    self.skip_line();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Returns the end of the run of word characters that begins at `at`.
    fn run(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len())
    }

    fn name(&mut self, at: usize) -> Token {
        let end = self.run(at + 1);
        self.token(Kind::Name, end, 0)
    }

    fn word(&mut self, at: usize) -> Token {
        let mut end = self.run(at + 1);
        while self.byte(end) == b':' && self.byte(end + 1) == b':' && is_word(self.byte(end + 2)) {
            end = self.run(end + 2);
        }
        self.token(Kind::Word, end, 0)
    }

    /// Reads `.5`, `.5e3`, or a word like `.2d`.
    fn dot_digit(&mut self, at: usize) -> Token {
        let end = self.exponent(self.digits(at + 1));
        match end {
            Some(end) if !is_word(self.byte(end)) => self.decimal(at, end),
            _ => self.word(at),
        }
    }

    fn digits(&self, at: usize) -> usize {
        let rest = &self.text.as_bytes()[at..];
        at + rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
    }

    /// Returns the end of an exponent that may begin at `at`, or `None` for an `e` without digits.
    fn exponent(&self, at: usize) -> Option<usize> {
        if !matches!(self.byte(at), b'e' | b'E') {
            return Some(at);
        }
        let first = at + 1 + usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
        let end = self.digits(first);
        (end > first).then_some(end)
    }

    fn decimal(&mut self, at: usize, end: usize) -> Token {
        match self.text[at..end].parse::<f64>() {
            Ok(value) => self.token(Kind::Decimal, end, value.to_bits()),
            Err(_) => self.bad(end, "no number"),
        }
    }

    fn number(&mut self, at: usize) -> Token {
        let run = self.run(at);
        if self.byte(at) == b'0' {
            let prefix = self.byte(at + 1);
            match prefix {
                b'x' | b'X' => return self.integer(at + 2, run, 16),
                b'b' | b'B' => return self.integer(at + 2, run, 2),
                b'f' | b'F' => return self.bits(at, run, 8, Kind::Bits32),
                b'd' | b'D' => return self.bits(at, run, 16, Kind::Bits64),
                _ => {}
            }
        }
        let digits = self.digits(at);
        if self.byte(digits) == b'.' || matches!(self.byte(digits), b'e' | b'E') {
            let fraction = if self.byte(digits) == b'.' { self.digits(digits + 1) } else { digits };
            return match self.exponent(fraction) {
                Some(end) if !is_word(self.byte(end)) => self.decimal(at, end),
                _ => {
                    let end = self.run(fraction);
                    self.bad(end, "no number")
                }
            };
        }
        match self.byte(at) == b'0' && digits > at + 1 {
            true => self.integer(at + 1, run, 8),
            false => self.integer(at, run, 10),
        }
    }

    /// Reads the digits between two places, with or without a `U`. More than 64 bits wrap.
    fn integer(&mut self, first: usize, end: usize, radix: u32) -> Token {
        let digits = &self.text.as_bytes()[first..end];
        let (digits, mut unsigned) = match digits {
            [digits @ .., b'U'] => (digits, true),
            _ => (digits, false),
        };
        if digits.is_empty() {
            return self.bad(end, "a number without digits");
        }
        let mut value = 0_u64;
        for &byte in digits {
            let Some(digit) = char::from(byte).to_digit(radix) else {
                let problem = match radix {
                    8 => "no octal number, which a leading 0 begins",
                    16 => "no hexadecimal number",
                    2 => "no binary number",
                    _ => "no number",
                };
                return self.bad(end, problem);
            };
            let (high, wrapped) = value.overflowing_mul(radix.into());
            let (sum, carry) = high.overflowing_add(digit.into());
            unsigned |= wrapped || carry;
            value = sum;
        }
        unsigned |= value > i64::MAX as u64;
        self.token(Kind::Integer { unsigned }, end, value)
    }

    /// Reads the bits of a float: exactly `count` hexadecimal digits.
    fn bits(&mut self, at: usize, end: usize, count: usize, kind: Kind) -> Token {
        let digits = &self.text[at + 2..end];
        match u64::from_str_radix(digits, 16) {
            Ok(value) if digits.len() == count => self.token(kind, end, value),
            _ => {
                let problem = match count {
                    8 => "no float: `0f` takes 8 hexadecimal digits",
                    _ => "no float: `0d` takes 16 hexadecimal digits",
                };
                self.bad(end, problem)
            }
        }
    }

    fn quoted(&mut self, at: usize) -> Token {
        let rest = &self.text.as_bytes()[at + 1..];
        match rest.iter().position(|&byte| matches!(byte, b'"' | b'\n')) {
            Some(length) if rest[length] == b'"' => self.token(Kind::Text, at + length + 2, 0),
            length => self
                .bad(at + 1 + length.unwrap_or(rest.len()), "a string without an end on its line"),
        }
    }
}

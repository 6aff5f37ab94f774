//! [`Reader`]: the position of reading, and operations that all parts of the reader use.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::error::Found;
use super::lexer::{Kind, Lexer, Token};
use super::names::Names;
use super::toplevel;
use crate::module::{FormId, Module};

/// A failure, whose error is in [`Reader::errors`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Fail;

pub(super) type Result<T> = std::result::Result<T, Fail>;

/// Limits that keep a short text from asking for too much.
pub(super) struct Budget {
    /// Names that `N<count>` may still declare, those of registers excepted.
    pub names: u64,
    /// Bytes that initial contents may still take.
    pub initial: u64,
}

pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub lexer: Lexer<'a>,
    /// The next token.
    pub token: Token,
    pub errors: Found,
    pub module: Module,
    pub names: Names<'a>,
    /// Names in declarations that failed, without the numbers at their ends.
    pub lost: FxHashSet<&'a str>,
    /// The function that is being read.
    pub code: Code<'a>,
    pub budget: Budget,
    /// Mnemonics as they stand in the text.
    pub forms: FxHashMap<&'a str, FormId>,
    /// Mnemonics without white space and comments between their words.
    pub joined: FxHashMap<String, FormId>,
    /// The place of a `.target` with `debug`.
    pub debug: Option<u32>,
    pub debug_sections: bool,
}

/// Returns a name without the register number at its end.
fn without_number(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

impl<'a> Reader<'a> {
    pub fn fail<T>(&mut self, at: u32, message: impl Into<String>) -> Result<T> {
        self.errors.push(at, message.into());
        Err(Fail)
    }

    pub fn advance(&mut self) -> Token {
        std::mem::replace(&mut self.token, self.lexer.next())
    }

    pub fn slice(&self, token: Token) -> &'a str {
        &self.text[token.at as usize..token.end as usize]
    }

    /// Returns the next token as it is written.
    pub fn here(&self) -> &'a str {
        self.slice(self.token)
    }

    /// Returns the next token without its dot if it is a word, and otherwise an empty string.
    pub fn word(&self) -> &'a str {
        match self.token.kind {
            Kind::Word => &self.here()[1..],
            _ => "",
        }
    }

    /// Fails at the next token.
    pub fn unexpected<T>(&mut self, expected: &str) -> Result<T> {
        let found = match self.token.kind {
            Kind::End => "the end of the text".to_string(),
            Kind::Bad => {
                let problem = self.lexer.problem;
                return self.fail(self.token.at, format!("found {problem}, expected {expected}"));
            }
            _ => {
                let text = self.here();
                match text.char_indices().nth(60) {
                    Some((end, _)) => format!("`{}...`", &text[..end]),
                    None => format!("`{text}`"),
                }
            }
        };
        self.fail(self.token.at, format!("found {found}, expected {expected}"))
    }

    pub fn is(&self, byte: u8) -> bool {
        self.token.kind == Kind::Punct(byte)
    }

    pub fn take(&mut self, byte: u8) -> bool {
        let is = self.is(byte);
        if is {
            self.advance();
        }
        is
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let is = self.token.kind == Kind::Word && self.word() == word;
        if is {
            self.advance();
        }
        is
    }

    pub fn expect(&mut self, byte: u8, expected: &str) -> Result<()> {
        match self.take(byte) {
            true => Ok(()),
            false => self.unexpected(expected),
        }
    }

    pub fn semicolon(&mut self) -> Result<()> {
        self.expect(b';', "`;`")
    }

    /// Reads an identifier, and returns it and its place.
    pub fn name(&mut self, expected: &str) -> Result<(&'a str, u32)> {
        match self.token.kind {
            Kind::Name => {
                let token = self.advance();
                Ok((self.slice(token), token.at))
            }
            _ => self.unexpected(expected),
        }
    }

    /// Reads one integer literal of at most `max`.
    pub fn literal(&mut self, expected: &str, max: u64) -> Result<u64> {
        match self.token.kind {
            Kind::Integer { .. } if self.token.value <= max => Ok(self.advance().value),
            Kind::Integer { .. } => self.fail(
                self.token.at,
                format!("found `{}`, expected {expected} of at most {max}", self.here()),
            ),
            _ => self.unexpected(expected),
        }
    }

    pub fn text_literal(&mut self) -> Result<&'a str> {
        match self.token.kind {
            Kind::Text => {
                let token = self.advance();
                let quoted = self.slice(token);
                Ok(&quoted[1..quoted.len() - 1])
            }
            _ => self.unexpected("a string"),
        }
    }

    /// Fails unless the module has at least this target and version.
    pub fn needs(&mut self, at: u32, what: &str, sm: u32, version: (u8, u8)) -> Result<()> {
        if self.module.target.sm < sm {
            let found = self.module.target.sm;
            return self.fail(at, format!("{what} needs sm_{sm}, the target is sm_{found}"));
        }
        if self.module.version < version {
            let (found, needed) = (self.module.version, version);
            let message = format!(
                "{what} needs version {}.{}, this is {}.{}",
                needed.0, needed.1, found.0, found.1
            );
            return self.fail(at, message);
        }
        Ok(())
    }

    /// Takes names from the budget.
    pub fn spend_names(&mut self, at: u32, count: u64) -> Result<()> {
        match self.budget.names.checked_sub(count) {
            Some(left) => {
                self.budget.names = left;
                Ok(())
            }
            None => {
                self.fail(at, format!("{count} names by one `<N>`, more than a module may have"))
            }
        }
    }

    /// Skips from the start of a statement past the next `;`, or to the `}` of the scope.
    ///
    /// Returns the number of `{` before the `;` that have no `}`: a `;` was missing, and these
    /// braces open scopes.
    pub fn recover_statement(&mut self, start: u32) -> u32 {
        self.go_back(start);
        let declares = self.token.kind == Kind::Word || self.lexer.following() == b':';
        let mut open = 0;
        loop {
            if declares {
                self.lose_name();
            }
            match self.token.kind {
                Kind::End => return open,
                Kind::Punct(b'}') if open == 0 => return 0,
                Kind::Punct(b';') => {
                    self.advance();
                    return open;
                }
                Kind::Punct(b'{') => open += 1,
                Kind::Punct(b'}') => open -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips the item that begins at `start`: past the next `;`, or past braces that come before
    /// it. From `failed`, where reading stopped, it also stops at the next item.
    pub fn recover_declaration(&mut self, start: u32, failed: u32) {
        self.go_back(start);
        let mut parentheses = 0_u32;
        loop {
            self.lose_name();
            match self.token.kind {
                Kind::End => return,
                Kind::Word if self.token.at >= failed && self.token.at > start => {
                    let word = self.word();
                    if toplevel::begins_item(word)
                        || (parentheses == 0 && toplevel::is_directive(word))
                    {
                        return;
                    }
                    self.advance();
                }
                Kind::Punct(b'(') => {
                    parentheses += 1;
                    self.advance();
                }
                Kind::Punct(b')') => {
                    parentheses = parentheses.saturating_sub(1);
                    self.advance();
                }
                Kind::Punct(b'{') => {
                    self.skip_braces();
                    // More variables may follow an initial content.
                    if self.take(b';') || !self.is(b',') {
                        return;
                    }
                }
                Kind::Punct(b';' | b'}') => {
                    self.advance();
                    return;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Remembers the name that stands here, in a declaration that failed.
    fn lose_name(&mut self) {
        if self.token.kind == Kind::Name {
            self.lost.insert(without_number(self.here()));
        }
    }

    /// Fails at an undeclared name. If a declaration that failed has the name, it adds no error.
    pub fn undeclared<T>(&mut self, name: &str, at: u32, message: String) -> Result<T> {
        match self.lost.contains(without_number(name)) {
            true => Err(Fail),
            false => self.fail(at, message),
        }
    }

    fn go_back(&mut self, at: u32) {
        self.lexer.go_to(at);
        self.advance();
    }

    /// Skips past the `}` that closes the `{` here.
    pub fn skip_braces(&mut self) {
        let mut depth = 0_u64;
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}

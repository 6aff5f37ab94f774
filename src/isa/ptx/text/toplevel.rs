//! The items of a module: directives, variables and functions.

use super::lexer::Kind;
use super::names::{Lookup, Named};
use super::reader::{Reader, Result};
use crate::module::{FunctionId, Linkage};
use crate::types::StateSpace;

pub(super) fn space(word: &str) -> Option<StateSpace> {
    Some(match word {
        "reg" => StateSpace::Reg,
        "const" => StateSpace::Const,
        "global" => StateSpace::Global,
        "local" => StateSpace::Local,
        "shared" => StateSpace::Shared,
        "param" => StateSpace::Param,
        "tex" => StateSpace::Tex,
        _ => return None,
    })
}

/// Whether a word begins an item of a module. A state space may also stand inside an item.
pub(super) fn is_directive(word: &str) -> bool {
    begins_item(word) || space(word).is_some()
}

/// Whether a word begins an item of a module and stands nowhere else.
pub(super) fn begins_item(word: &str) -> bool {
    matches!(
        word,
        "extern"
            | "visible"
            | "weak"
            | "common"
            | "func"
            | "entry"
            | "file"
            | "section"
            | "alias"
            | "target"
            | "version"
    )
}

impl Reader<'_> {
    /// Reads the whole text.
    pub fn module(&mut self) {
        self.advance();
        if self.head().is_err() {
            return;
        }
        while self.token.kind != Kind::End && !self.errors.is_full() {
            let start = self.token.at;
            if self.item().is_err() {
                self.recover_declaration(start, self.token.at);
            }
        }
        if self.errors.is_empty() {
            self.finish();
        }
    }

    fn finish(&mut self) {
        for function in &self.module.functions {
            let Some(alias) = function.alias else { continue };
            let of = self.module.function(alias);
            if of.body.is_none() {
                let message = format!(
                    "`{}` is an alias of `{}`, which is not defined here",
                    function.name, of.name
                );
                self.errors.push(function.at, message);
            }
        }
        if let Some(at) = self.debug.filter(|_| !self.debug_sections) {
            self.errors.push(at, "the option `debug` in a text without debug sections".into());
        }
    }

    fn item(&mut self) -> Result<()> {
        if self.is(b'@') {
            return self.old_debug_line();
        }
        let linkage = match self.word() {
            "extern" => Linkage::Extern,
            "visible" => Linkage::Visible,
            "weak" => Linkage::Weak,
            "common" => Linkage::Common,
            _ => return self.unlinked_item(),
        };
        let at = self.advance().at;
        self.linked_item(linkage, at)
    }

    fn linked_item(&mut self, linkage: Linkage, at: u32) -> Result<()> {
        match self.word() {
            word @ ("func" | "entry") => {
                if linkage == Linkage::Common {
                    return self.fail(at, "`.common` is for variables");
                }
                self.advance();
                self.function(linkage, word == "entry")
            }
            word => match space(word) {
                Some(space) => {
                    self.advance();
                    self.module_variables(linkage, space)
                }
                None => self.unexpected("a state space, `.func` or `.entry`"),
            },
        }
    }

    fn unlinked_item(&mut self) -> Result<()> {
        match self.word() {
            "target" => {
                self.advance();
                self.target()
            }
            "file" => self.file(),
            "section" => self.section(),
            "pragma" => self.pragma(),
            "alias" => self.alias(),
            "version" => self.unexpected("one `.version` in a module"),
            "address_size" => self.unexpected("`.address_size` behind `.target`"),
            word if space(word).is_some() || matches!(word, "func" | "entry") => {
                let at = self.token.at;
                self.linked_item(Linkage::Local, at)
            }
            _ => self.unexpected("a directive"),
        }
    }

    /// Skips `@@DWARF` of versions below 2.0.
    pub fn old_debug_line(&mut self) -> Result<()> {
        let at = self.advance().at;
        if !self.is(b'@') || self.module.version >= (2, 0) {
            return self.fail(at, "found `@`, expected a directive");
        }
        self.lexer.skip_line();
        self.debug_sections = true;
        self.advance();
        Ok(())
    }

    /// Reads `.file n "name"[, time, size]`.
    fn file(&mut self) -> Result<()> {
        self.advance();
        let number = self.literal("the number of a file", u32::MAX.into())?;
        let name = self.text_literal()?.to_string();
        if self.take(b',') {
            self.literal("the time of a file", u64::MAX)?;
            self.expect(b',', "`,` and the size of a file")?;
            self.literal("the size of a file", u64::MAX)?;
        }
        self.module.files.push((number as u32, name));
        Ok(())
    }

    /// Skips a section of debug information.
    fn section(&mut self) -> Result<()> {
        self.advance();
        if self.token.kind != Kind::Word {
            return self.unexpected("the name of a section");
        }
        self.advance();
        if !self.is(b'{') {
            return self.unexpected("`{`");
        }
        let at = self.token.at;
        self.advance();
        loop {
            match self.token.kind {
                Kind::Punct(b'}') => break,
                Kind::End => return self.fail(at, "a section without `}`"),
                Kind::Bad | Kind::Punct(b'{' | b';') => {
                    return self.unexpected("data of a debug section");
                }
                Kind::Name if self.lexer.following() == b':' => {
                    self.needs(self.token.at, "a label of a debug section", 0, (7, 0))?;
                    self.advance();
                }
                Kind::Name if self.lexer.following() == b'-' => {
                    self.needs(self.token.at, "a difference of labels", 0, (7, 5))?;
                    self.advance();
                }
                _ => {
                    self.advance();
                }
            }
        }
        self.advance();
        self.debug_sections = true;
        Ok(())
    }

    /// Skips `.pragma "a", "b";`.
    pub fn pragma(&mut self) -> Result<()> {
        let at = self.advance().at;
        self.needs(at, "`.pragma`", 0, (2, 0))?;
        self.text_literal()?;
        while self.take(b',') {
            self.text_literal()?;
        }
        self.semicolon()
    }

    /// Reads `.alias a, b;`.
    fn alias(&mut self) -> Result<()> {
        let start = self.advance().at;
        self.needs(start, "`.alias`", 30, (6, 3))?;
        let (alias, alias_at) = self.declared_function()?;
        self.expect(b',', "`,`")?;
        let (of, of_at) = self.declared_function()?;
        let [a, b] = [alias, of].map(|id| self.module.function(id));
        let wrong = if a.kernel || b.kernel {
            Some((of_at, "found a kernel, expected a device function"))
        } else if a.body.is_some() || a.alias.is_some() || alias == of {
            Some((alias_at, "found a function that is defined, expected one that is declared only"))
        } else if b.linkage == Linkage::Weak || b.alias.is_some() {
            Some((
                of_at,
                "found a function that may be replaced, expected one that is defined here and not weak",
            ))
        } else if self.module.signature(alias) != self.module.signature(of) {
            Some((of_at, "found a function with other parameters, expected one like the alias"))
        } else {
            None
        };
        if let Some((at, message)) = wrong {
            return self.fail(at, message);
        }
        self.module.functions[alias.0 as usize].alias = Some(of);
        self.semicolon()
    }

    /// Reads the name of a declared function.
    pub fn declared_function(&mut self) -> Result<(FunctionId, u32)> {
        let (name, at) = self.name("a function")?;
        match self.names.lookup(name) {
            Some(Lookup::Name(Named::Function(id))) => Ok((id, at)),
            Some(_) => self.fail(at, format!("found `{name}`, expected a function")),
            None => {
                let message = format!("found `{name}`, which is not declared, expected a function");
                self.undeclared(name, at, message)
            }
        }
    }
}

//! The text of PTX: [`read`] makes a checked module of it, [`print()`] writes one.
//!
//! The reader passes over the text once. It resolves names, evaluates constant expressions, and
//! checks declarations, scopes and the structure of statements. [`super::table`] has the modifiers
//! and operands of each instruction.
//!
//! Source: facts, `ptx.md` 1, 3, 4.

mod call;
mod code;
mod constant;
mod declare;
mod error;
mod function;
mod head;
mod initial;
mod lexer;
mod module_register;
mod names;
mod operand;
mod print;
mod print_code;
mod reader;
mod selector;
mod special;
mod statement;
mod toplevel;

#[cfg(test)]
mod tests;

use code::Code;
use error::Found;
pub use error::{ReadError, ReadErrors};
use lexer::{Kind, Lexer, Token};
use names::Names;
pub use print::print;
pub(crate) use print_code::operand_symbols;
use reader::{Budget, Reader};
use rustc_hash::{FxHashMap, FxHashSet};

use super::module::{Module, Target};
use super::parts::Part;

/// The limit of variables, labels of a list and similar names that `N<count>` declares in one
/// module.
const MAX_NAMES: u64 = 1 << 16;
/// Bytes of initial contents that a module may have in addition to a share for each byte of text.
const MAX_INITIAL: u64 = 1 << 24;

/// Reads and checks a module: 7-bit text, except in comments, possibly followed by bytes 0.
///
/// # Errors
///
/// The first 20 errors, with their places in the text.
pub fn read(text: &[u8]) -> Result<Module, ReadErrors> {
    let all = text;
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = &text[..end];
    let mut errors = Found::default();
    if text.len() >= u32::MAX as usize {
        errors.push(0, format!("{} bytes of text, more than a module may have", text.len()));
        return Err(errors.located(all));
    }
    let ascii = lexer::without_wide_comments(text);
    let text = match std::str::from_utf8(&ascii) {
        Ok(text) if text.is_ascii() => text,
        _ => {
            let at = ascii.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
            let message = format!(
                "found the byte {:#04x}, expected 7-bit text outside of comments",
                ascii[at]
            );
            errors.push(at as u32, message);
            return Err(errors.located(all));
        }
    };
    let module = Module {
        text: text.into(),
        parts: Part::whole(),
        version: (0, 0),
        target: Target { sm: 0, suffix: None },
        address_size: 32,
        has_address_size: false,
        independent_textures: false,
        variables: vec![],
        functions: vec![],
        forms: vec![],
        files: vec![],
    };
    let mut reader = Reader {
        text,
        lexer: Lexer::new(text),
        token: Token { kind: Kind::End, at: 0, end: 0, value: 0 },
        errors,
        module,
        names: Names::default(),
        lost: FxHashSet::default(),
        code: Code::default(),
        budget: Budget { names: MAX_NAMES, initial: MAX_INITIAL + 16 * text.len() as u64 },
        forms: FxHashMap::default(),
        joined: FxHashMap::default(),
        debug: None,
        debug_sections: false,
    };
    reader.module();
    match reader.errors.is_empty() {
        true => Ok(reader.module),
        false => Err(reader.errors.located(all)),
    }
}

//! The instruction table: one line for each form.

use smallvec::SmallVec;

use super::lift::Lift;
use super::types::Ty;
use super::word::Word;
use crate::isa::fidelity::Fidelity;

/// A line of the table.
#[derive(Debug)]
pub struct Row {
    /// With the words that must come first: `mad.lo`, `cvta.to`.
    pub opcode: &'static str,
    /// None: not executed; it traps.
    pub lift: Option<Lift>,
    pub fidelity: Fidelity,
}

/// A mnemonic with all its modifiers, as the table knows it.
#[derive(Clone, Debug)]
pub struct Form {
    pub row: &'static Row,
    /// All modifiers but types, those that belong to the opcode included, in the order of the line.
    pub words: SmallVec<[Word; 6]>,
    /// In the order they are written.
    pub types: SmallVec<[Ty; 4]>,
}

impl Form {
    pub fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    /// The first of these words that it has.
    pub fn one_of(&self, words: &[Word]) -> Option<Word> {
        words.iter().copied().find(|&word| self.has(word))
    }

    /// The `n`th type; the last one if there are fewer.
    pub fn ty(&self, n: usize) -> Ty {
        self.types.get(n).or(self.types.last()).copied().unwrap_or(Ty::B32)
    }

    /// Elements of a vector access: 1, 2, 4 or 8.
    pub fn vector(&self) -> usize {
        match self.one_of(&[Word::V2, Word::V4, Word::V8]) {
            Some(Word::V2) => 2,
            Some(Word::V4) => 4,
            Some(Word::V8) => 8,
            _ => 1,
        }
    }
}

// STAND-IN until the table is there.
pub fn resolve(words: &[&str]) -> Result<Form, String> {
    use std::collections::HashMap;
    use std::sync::{Mutex, OnceLock};
    static ROWS: OnceLock<Mutex<HashMap<String, &'static Row>>> = OnceLock::new();
    let types: SmallVec<[Ty; 4]> = words[1..].iter().filter_map(|word| Ty::from_name(word)).collect();
    let others: Vec<&str> = words.iter().copied().filter(|word| Ty::from_name(word).is_none()).collect();
    let opcode = others.join(".");
    let mut rows = ROWS.get_or_init(Default::default).lock().unwrap();
    let row = *rows
        .entry(opcode.clone())
        .or_insert_with(|| Box::leak(Box::new(Row { opcode: opcode.leak(), lift: None, fidelity: Fidelity::Exact })));
    let words = others[1..].iter().filter_map(|word| Word::from_text(word)).collect();
    Ok(Form { row, words, types })
}

pub fn available(_: &Form, _: super::module::Target, _: (u8, u8)) -> Result<(), String> {
    Ok(())
}

pub fn check_operands(
    _: &Form,
    _: &[super::module::Operand],
    _: &super::module::Module,
    _: &super::module::Body,
) -> Result<(), (usize, String)> {
    Ok(())
}

//! The instruction table: one line for each form, family by family.
//!
//! [`resolve`] finds the form of a mnemonic, [`available`] checks that a target and version have
//! it, and [`check_operands`] checks operands against it. Source of all lines: facts, `ptx.md` 9
//! and `ptx-forms.txt`.

mod legacy;
mod lines;
mod minimum;
mod operands;
mod pattern;
pub mod random;
mod sets;
pub mod signature;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use minimum::Minimum;
pub use operands::check_operands;
use pattern::{Modifier, Pattern};
use rustc_hash::FxHashMap;
use signature::{Kind, Rule, Signature};
use smallvec::SmallVec;
use warploom_guest::fidelity::Fidelity;

use super::lift::Lift;
use super::module::Target;
use super::types::{StateSpace, Ty};
use super::word::Word;

/// A line of the table.
#[derive(Debug)]
pub struct Row {
    /// The opcode, with the words that must come first: `mad.lo`, `cvta.to`.
    pub opcode: &'static str,
    /// `None` if the row is not executed: it traps.
    pub lift: Option<Lift>,
    pub fidelity: Fidelity,
    /// The targets and versions that have it.
    minimum: Minimum,
    /// Words of the opcode, without its name.
    prefix: Vec<Word>,
    /// All other modifiers.
    pattern: Pattern,
    operands: Signature,
}

/// A mnemonic with all its modifiers, as the table knows it.
#[derive(Clone, Debug)]
pub struct Form {
    pub row: &'static Row,
    /// All modifiers except types, in the order of the line. Words that belong to the opcode are
    /// included.
    pub words: SmallVec<[Word; 6]>,
    /// Types in the order they are written.
    pub types: SmallVec<[Ty; 4]>,
    /// The mnemonic of the text, if an old target or version gives it the meaning of this form.
    pub written: Option<String>,
}

impl Form {
    pub fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    /// Returns the first of these words that the form has.
    pub fn one_of(&self, words: &[Word]) -> Option<Word> {
        words.iter().copied().find(|&word| self.has(word))
    }

    /// Whether the first operand is a result.
    pub(crate) fn first_is_destination(&self) -> bool {
        match self.operands() {
            Signature::List(specs) => specs.first().is_some_and(|spec| {
                matches!(
                    spec.kind,
                    Kind::Destination | Kind::PredicateDestination | Kind::TensorRegisters
                )
            }),
            Signature::Rule(rule) => *rule != Rule::Copy,
        }
    }

    /// Returns the operands that the form takes.
    pub fn operands(&self) -> &Signature {
        &self.row.operands
    }

    /// Returns the state space that the words name; `None` is generic.
    pub fn space(&self) -> Option<StateSpace> {
        self.words.iter().find_map(|word| {
            Some(match word {
                Word::Global => StateSpace::Global,
                Word::Shared | Word::SharedCta | Word::SharedCluster => StateSpace::Shared,
                Word::Local => StateSpace::Local,
                Word::Const => StateSpace::Const,
                Word::Param | Word::ParamEntry | Word::ParamFunc => StateSpace::Param,
                _ => return None,
            })
        })
    }

    /// Returns the `n`th type, or the last type if there are fewer.
    pub fn ty(&self, n: usize) -> Ty {
        self.types.get(n).or(self.types.last()).copied().unwrap_or(Ty::B32)
    }

    /// Returns the elements of a vector access: 1, 2, 4 or 8.
    pub fn vector(&self) -> usize {
        match self.one_of(&[Word::V2, Word::V4, Word::V8]) {
            Some(Word::V2) => 2,
            Some(Word::V4) => 4,
            Some(Word::V8) => 8,
            _ => 1,
        }
    }
}

/// The rows of each opcode name, in the order of the table.
static TABLE: LazyLock<FxHashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut table: FxHashMap<&'static str, Vec<Row>> = FxHashMap::default();
    for line in lines::all() {
        line.rows(&mut |name, row| table.entry(name).or_default().push(row));
    }
    table
});

/// The limit of a mnemonic's modifiers: no pattern takes more.
const MOST_WORDS: usize = 24;

/// Finds the form of a mnemonic: the opcode name and modifiers as written, without dots. The error
/// says what is wrong with it.
pub fn resolve(words: &[&str]) -> Result<Form, String> {
    let (name, modifiers) = words.split_first().ok_or("an instruction without a name")?;
    let table: &'static FxHashMap<&'static str, Vec<Row>> = &TABLE;
    let rows = table.get(*name).ok_or_else(|| format!("unknown instruction `{name}`"))?;
    if modifiers.len() > MOST_WORDS {
        return Err(format!("`{name}` with {} modifiers", modifiers.len()));
    }
    let mut plain: SmallVec<[Word; 8]> = SmallVec::new();
    let mut types: SmallVec<[Ty; 4]> = SmallVec::new();
    // The number of modifiers before the first type of the mnemonic.
    let mut leading = usize::MAX;
    for text in modifiers {
        match Modifier::from_text(text) {
            Some(Modifier::Word(word)) => plain.push(word),
            Some(Modifier::Type(ty)) => {
                leading = leading.min(plain.len());
                types.push(ty);
            }
            None => return Err(format!("`{name}` does not take `.{text}`")),
        }
    }
    for row in rows {
        if row.prefix.len() > leading || !plain.starts_with(&row.prefix) {
            continue;
        }
        if let Some(rest) = row.pattern.matches(&plain[row.prefix.len()..], &types) {
            let words = row.prefix.iter().copied().chain(rest).collect();
            return Ok(Form { row, words, types, written: None });
        }
    }
    Err(why_not(name, rows, modifiers, types.is_empty()))
}

/// Returns the error of a mnemonic that no row of its opcode takes.
fn why_not(name: &str, rows: &[Row], modifiers: &[&str], typeless: bool) -> String {
    for text in modifiers {
        let Some(modifier) = Modifier::from_text(text) else { continue };
        let mentions = |row: &Row| {
            row.pattern.mentions(modifier)
                || matches!(modifier, Modifier::Word(word) if row.prefix.contains(&word))
        };
        if !rows.iter().any(mentions) {
            return format!("`{name}` does not take `.{text}`");
        }
    }
    if typeless && rows.iter().all(|row| row.pattern.needs_type()) {
        return format!("`{name}` needs a type");
    }
    if modifiers.is_empty() {
        return format!("`{name}` needs modifiers");
    }
    format!("`{name}` does not combine `.{}`", modifiers.join("."))
}

/// Checks that a target and a PTX version have the form. The error says what the form needs.
pub fn available(form: &Form, target: Target, version: (u8, u8)) -> Result<(), String> {
    let form_has = form.row.minimum.check(target, version);
    form_has
        .and_then(|()| minimum::check_modifiers(form, target, version))
        .map_err(|needs| format!("`{}` {needs}", form.row.opcode))
}

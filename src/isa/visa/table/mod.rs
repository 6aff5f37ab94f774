//! The table of all opcodes: one line for each opcode and sub-opcode, family by family.
//!
//! A line has the name, the number, the fields of the binary form (see [`Field`]), the items of the
//! text (see [`Item`]) and the exactness of execution. Decoder, encoder, parser and printer know
//! only the opcodes of this table. Source: facts, `visa.md` 2 and 3, and the compiler's sources
//! that it names.

mod field;
mod item;
mod lines;

use std::sync::LazyLock;

pub use field::Field;
pub use item::{Item, Suffix};
pub use lines::Line;
use rustc_hash::FxHashMap;
use warploom_guest::fidelity::Fidelity;

use super::lift::Lift;

/// A line of the table.
#[derive(Debug)]
pub struct Row {
    /// The mnemonic without the words that represent operands: `lsc_load`, `cmp`.
    pub name: &'static str,
    pub code: u8,
    /// The sub-opcode.
    pub sub: Option<u8>,
    pub fidelity: Fidelity,
    /// The lift function. None if the instruction is not executed, or ends a block.
    pub lift: Option<Lift>,
    /// The fields of the binary form behind the opcode.
    pub fields: Vec<Field>,
    /// The items of the text behind predicate and name.
    pub items: Vec<Item>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        (self.code, self.sub) == (other.code, other.sub)
    }
}

impl Row {
    pub fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    /// Returns the fields that are operands, in order.
    pub fn operands(&self) -> impl Iterator<Item = Field> {
        self.fields.iter().copied().filter(|field| field.is_operand())
    }

    /// Returns whether the predicate is an operand: it selects a source or is written, and masks no
    /// lanes.
    pub fn predicate_is_operand(&self) -> bool {
        matches!(self.name, "sel" | "add3.o")
    }

    /// Returns whether the project executes the instruction.
    pub fn executed(&self) -> bool {
        self.fidelity != Fidelity::Unimplemented
    }
}

/// All rows, by opcode and sub-opcode.
static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| lines::all().map(Line::row).collect());

static BY_NAME: LazyLock<FxHashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut names: FxHashMap<&'static str, Vec<&'static Row>> = FxHashMap::default();
    for row in rows() {
        names.entry(row.name).or_default().push(row);
    }
    names
});

static BY_CODE: LazyLock<Vec<Vec<&'static Row>>> = LazyLock::new(|| {
    let mut codes = vec![vec![]; 256];
    for row in rows() {
        codes[usize::from(row.code)].push(row);
    }
    codes
});

/// Returns all rows.
pub fn rows() -> &'static [Row] {
    &TABLE
}

/// Returns the rows of an opcode. All have equal fields up to the sub-opcode.
pub fn with_code(code: u8) -> &'static [&'static Row] {
    &BY_CODE[usize::from(code)]
}

/// Returns the row of an opcode and sub-opcode.
pub fn find(code: u8, sub: Option<u8>) -> Option<&'static Row> {
    with_code(code).iter().copied().find(|row| row.sub == sub)
}

/// Returns the rows of the longest name that the mnemonic begins with, and the rest of the
/// mnemonic.
///
/// For example, the name is `add3.o` and the rest `.sat`.
pub fn with_name(mnemonic: &str) -> Option<(&'static [&'static Row], &str)> {
    let dots = mnemonic.match_indices('.').map(|(at, _)| at).chain([mnemonic.len()]);
    let mut ends: Vec<usize> = dots.take(2).collect();
    if mnemonic.starts_with("fence_") {
        // The words of a fence are joined by `_`.
        ends.insert(0, "fence".len());
    }
    ends.into_iter()
        .rev()
        .find_map(|end| Some((&**BY_NAME.get(&mnemonic[..end])?, &mnemonic[end..])))
}

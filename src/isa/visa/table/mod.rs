//! The table of all opcodes: one line for each opcode and sub-opcode, family by family.
//!
//! A line has the name, the number, the fields of the binary form (see [`Field`]), how the text is written (see [`Item`]) and
//! how exact its execution is. Decoder, encoder, parser and printer know no opcode but those here. Source: facts, `visa.md` 2
//! and 3, and the compiler's sources that it names.

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
    /// The mnemonic without the words that operands make: `lsc_load`, `cmp`.
    pub name: &'static str,
    pub code: u8,
    /// The sub-opcode.
    pub sub: Option<u8>,
    pub fidelity: Fidelity,
    /// None: it is not executed, or ends a block.
    pub lift: Option<Lift>,
    /// The binary form behind the opcode.
    pub fields: Vec<Field>,
    /// The text behind predicate and name.
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

    /// Fields that are operands, in order.
    pub fn operands(&self) -> impl Iterator<Item = Field> {
        self.fields.iter().copied().filter(|field| field.is_operand())
    }

    /// Whether its predicate is not what lanes are masked by: it chooses, or is written.
    pub fn predicate_is_operand(&self) -> bool {
        matches!(self.name, "sel" | "add3.o")
    }

    /// Whether warploom runs it.
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

/// All opcodes.
pub fn rows() -> &'static [Row] {
    &TABLE
}

/// The rows of an opcode. All have the same fields up to the sub-opcode.
pub fn with_code(code: u8) -> &'static [&'static Row] {
    &BY_CODE[usize::from(code)]
}

/// The row of an opcode and sub-opcode.
pub fn find(code: u8, sub: Option<u8>) -> Option<&'static Row> {
    with_code(code).iter().copied().find(|row| row.sub == sub)
}

/// The rows of the longest name that the mnemonic begins with, and what follows it: `add3.o` and `.sat`.
pub fn with_name(mnemonic: &str) -> Option<(&'static [&'static Row], &str)> {
    let dots = mnemonic.match_indices('.').map(|(at, _)| at).chain([mnemonic.len()]);
    let mut ends: Vec<usize> = dots.take(2).collect();
    if mnemonic.starts_with("fence_") {
        // Its words are joined in another way.
        ends.insert(0, "fence".len());
    }
    ends.into_iter()
        .rev()
        .find_map(|end| Some((&**BY_NAME.get(&mnemonic[..end])?, &mnemonic[end..])))
}

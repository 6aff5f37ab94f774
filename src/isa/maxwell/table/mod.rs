//! The instruction table: one file per family, one line per encoding, in the notation of
//! [`warploom_sass::notation`].
//!
//! All other information about an encoding is derived: decoder, accessors, disassembler, encoder
//! and random words. The families below are complete; [`Opcode`] is gathered from them.

use std::sync::LazyLock;

use warploom_sass::Table;

use super::Maxwell;

pub type Row = warploom_sass::Row<Maxwell>;

/// Defines a family: `static ROWS` and a macro with the family's name that passes its opcodes on.
macro_rules! family {
    (($d:tt) $family:ident { $(
        $(#[$doc:meta])* $opcode:ident $fidelity:tt { $(
            $format:literal { $($encoding:literal)+ }
        )+ }
    )* }) => {
        pub static ROWS: &[$crate::table::Row] =
            &[$($($(row!([$opcode $fidelity $format] $encoding),)+)+)*];

        hand_on! { ($d) $family $([$(#[$doc])* $opcode])* }
    };
}

#[macro_use]
mod atomic;
#[macro_use]
mod barrier;
#[macro_use]
mod control;
#[macro_use]
mod convert;
#[macro_use]
mod float;
#[macro_use]
mod graphics;
#[macro_use]
mod half;
#[macro_use]
mod integer;
#[macro_use]
mod logic;
#[macro_use]
mod memory;
#[macro_use]
mod moves;
#[macro_use]
mod surface;
#[macro_use]
mod texture;
#[macro_use]
mod video;

gather! { families atomic barrier control convert float graphics half integer logic memory moves surface texture video }

/// The rows of all families, ordered for the search.
pub static TABLE: LazyLock<Table<Maxwell>> =
    LazyLock::new(|| Table::new(FAMILIES.iter().copied().flatten(), 54, 10));

/// Returns a word of a row, with the other bits from `random`; see [`Row::word`].
pub fn word(row: &Row, random: u64) -> u64 {
    row.word(random.into()) as u64
}

/// Iterates over all rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.rows()
}

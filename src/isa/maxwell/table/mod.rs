//! The instruction table: one file per family, one line per encoding, in the notation of
//! [`super::notation`].
//!
//! All other information about an encoding is derived: decoder, accessors, disassembler, encoder
//! and random words. The families below are complete; [`Opcode`] is gathered from them.

use std::sync::LazyLock;

use super::row::Row;

/// Defines a family: `static ROWS` and a macro with the family's name that passes its opcodes on.
macro_rules! family {
    (($d:tt) $family:ident { $(
        $(#[$doc:meta])* $opcode:ident $fidelity:tt { $(
            $format:literal { $($encoding:literal)+ }
        )+ }
    )* }) => {
        pub static ROWS: &[$crate::row::Row] = &[$($($(
            {
                const PATTERN: (u64, u64) = $crate::notation::pattern($encoding);
                $crate::row::Row {
                    opcode: $crate::table::Opcode::$opcode,
                    fidelity: fidelity!($fidelity),
                    lift: lift!($fidelity),
                    mask: PATTERN.0,
                    bits: PATTERN.1,
                    exclusions: &const {
                        $crate::notation::exclusions::<{ $crate::notation::exclusion_count($encoding) }>($encoding)
                    },
                    format: $format,
                    pieces: &const {
                        $crate::notation::pieces::<{ $crate::notation::piece_count($format) }>($format, $encoding)
                    },
                }
            },
        )+)+)*];

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

/// Iterates over all rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}

/// The number of top bits of a word that choose a bucket.
const BUCKET_BITS: u32 = 10;

/// The candidate rows for each value of the top bits, the most specific row first.
static BUCKETS: LazyLock<Vec<Vec<&'static Row>>> = LazyLock::new(|| {
    let mut sorted: Vec<_> = rows().collect();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.mask.count_ones()));
    let shift = 64 - BUCKET_BITS;
    let mut buckets = vec![Vec::new(); 1 << BUCKET_BITS];
    for row in sorted {
        let (fixed, free) = ((row.bits & row.mask) >> shift, !row.mask >> shift);
        // Enumerates all values of the free bits, from all ones down to 0.
        let mut chosen = free;
        loop {
            buckets[(fixed | chosen) as usize].push(row);
            if chosen == 0 {
                break;
            }
            chosen = (chosen - 1) & free;
        }
    }
    buckets
});

/// Returns the row that matches a word.
pub fn lookup(word: u64) -> Option<&'static Row> {
    BUCKETS[(word >> (64 - BUCKET_BITS)) as usize].iter().copied().find(|row| row.matches(word))
}

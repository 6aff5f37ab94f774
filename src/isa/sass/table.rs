//! Search for the row of a word.

use super::row::Row;
use super::{Guest, Instruction};

/// The rows of a guest, ordered for the search.
pub struct Table<G: Guest> {
    /// The lowest bit that chooses a bucket.
    low: u32,
    /// The candidate rows for each value of the bits that choose, the most specific row first.
    buckets: Vec<Vec<&'static Row<G>>>,
    rows: Vec<&'static Row<G>>,
}

impl<G: Guest> Table<G> {
    /// Makes a table that looks at `bits` bits from bit `low` on first. Of rows with the same mask,
    /// the first comes first.
    pub fn new(rows: impl Iterator<Item = &'static Row<G>>, low: u32, bits: u32) -> Self {
        let rows: Vec<_> = rows.collect();
        let mut sorted = rows.clone();
        sorted.sort_by_key(|row| std::cmp::Reverse((row.mask | row.one_of).count_ones()));
        let mut buckets = vec![Vec::new(); 1 << bits];
        let ones = (1u128 << bits) - 1;
        for row in sorted {
            let (fixed, free) = ((row.bits & row.mask) >> low & ones, !row.mask >> low & ones);
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
        Table { low, buckets, rows }
    }

    pub fn rows(&self) -> impl Iterator<Item = &'static Row<G>> {
        self.rows.iter().copied()
    }

    /// Decodes a word as `model` does. None: the word is illegal.
    pub fn decode(&self, word: u128, model: u8) -> Option<Instruction<G>> {
        let bucket = (word >> self.low) as usize & (self.buckets.len() - 1);
        let row = self.buckets[bucket]
            .iter()
            .find(|row| row.models.contain(model) && row.matches(word))?;
        Some(Instruction { word, row, model })
    }
}

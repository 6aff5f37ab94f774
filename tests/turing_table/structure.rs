//! The table against itself.

use warploom_sass::Guest;
use warploom_turing::table::Row;
use warploom_turing::{Instruction, Opcode, Turing};

/// A seeded stream, splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn word(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

fn describe(row: &Row) -> String {
    format!("`{}` {:032x}/{:032x}", row.format, row.bits, row.mask)
}

/// Returns the bits that distinguish a row.
fn fixed(row: &Row) -> u128 {
    row.mask | row.one_of
}

/// If two rows of one model match one word, one row must fix all bits that the other fixes and
/// more, or exclude the word, or both must read the word alike, or a third row fixes all bits of
/// both.
#[test]
fn overlaps_are_ordered_by_specificity() {
    let all: Vec<_> = Turing::table().rows().collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            let apart = (a.bits ^ b.bits) & a.mask & b.mask != 0;
            let models = a.models.first.max(b.models.first) <= a.models.last.min(b.models.last);
            if apart || !models || a.format == b.format {
                continue;
            }
            let (x, y) = (fixed(a), fixed(b));
            let ordered = x != y && (x & y == x || x & y == y);
            let both = a.bits | b.bits;
            let excluded = |row: &Row| {
                row.exclusions
                    .iter()
                    .any(|&(mask, bits)| mask & (x | y) == mask && both & mask == bits)
            };
            let third = all.iter().any(|c| c.mask & !(x | y) == 0 && fixed(c) == x | y);
            assert!(
                ordered || excluded(a) || excluded(b) || third,
                "{} and {}",
                describe(a),
                describe(b)
            );
        }
    }
}

/// Every row explains some word, and no field or operand lies outside it.
#[test]
fn every_row_can_be_met() {
    let mut random = Random(1);
    for row in Turing::table().rows() {
        let met = (0..4000).any(|_| {
            let mut random = random.word();
            if row.one_of != 0 {
                let lowest = row.one_of.trailing_zeros();
                random = random & !row.one_of | 1 << (lowest + 3);
            }
            Instruction::decode(row.word(random), row.models.first.clamp(75, row.models.last))
                .or_else(|| Instruction::decode(row.word(random), row.models.last.min(90)))
                .is_some_and(|instruction| std::ptr::eq(instruction.row, row))
        });
        assert!(met, "no word is {}", describe(row));
    }
}

#[test]
fn every_opcode_has_a_row() {
    for opcode in Opcode::ALL {
        assert!(Turing::table().rows().any(|row| row.opcode == *opcode), "{opcode:?} has no row");
    }
}

/// Decoding and printing accept any word.
#[test]
fn any_word_has_a_text() {
    let mut random = Random(2);
    for _ in 0..200_000 {
        let word = random.word();
        for model in [75, 80, 86, 89, 90] {
            if let Some(instruction) = Instruction::decode(word, model) {
                assert!(!instruction.text(0).is_empty());
            }
        }
    }
}

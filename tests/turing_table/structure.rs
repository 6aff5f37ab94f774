//! The table against itself.

use warploom_guest::fidelity::Fidelity;
use warploom_sass::Guest;
use warploom_turing::table::Row;
use warploom_turing::{Instruction, Opcode, Turing};

use crate::random::Random;

impl Random {
    fn word(&mut self) -> u128 {
        u128::from(self.bits()) << 64 | u128::from(self.bits())
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

#[test]
fn the_fidelity_report_is_whole() {
    let text = include_str!("../../docs/fidelity.md");
    let section = text.split("\n# ").find(|section| section.starts_with("NVIDIA Turing"));
    let section = section.expect("a section on Turing");
    let mut counts = [0; 3];
    for &opcode in Opcode::ALL {
        let row = Turing::table().rows().find(|row| row.opcode == opcode).expect("a row");
        // Code for sm_90 is text only.
        if row.models.first >= 90 {
            continue;
        }
        let name = row.format.trim_start_matches(['*', '^']).split(['{', ' ', '.']).next();
        let name = name.expect("a first word");
        match row.fidelity {
            Fidelity::Exact => counts[0] += 1,
            Fidelity::Approximate(_) => counts[1] += 1,
            Fidelity::Unimplemented => {
                counts[2] += 1;
                let named = section.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
                assert!(named, "{name} is not among the instructions that are not executed");
            }
        }
    }
    let [exact, approximate, unimplemented] = counts;
    let sentence =
        format!("{exact} are exact, {approximate} approximate, {unimplemented} unimplemented");
    assert!(section.contains(&sentence), "not there: {sentence}");
}

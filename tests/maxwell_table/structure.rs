//! The table against itself.

use warploom_maxwell::table::{rows, word};
use warploom_maxwell::{Fidelity, Instruction, Opcode, Row};

use crate::random::Random;

fn describe(row: &Row) -> String {
    format!("`{}` {:016x}/{:016x}", row.format, row.bits, row.mask)
}

/// If two rows match one word, one row must fix all bits that the other fixes and more, or exclude
/// the word, or a third row must fix exactly the bits that both rows fix.
#[test]
fn overlaps_are_ordered_by_specificity() {
    let all: Vec<_> = rows().collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            let disjoint = (a.bits ^ b.bits) & a.mask & b.mask != 0;
            let ordered =
                a.mask != b.mask && (a.mask & b.mask == a.mask || a.mask & b.mask == b.mask);
            let both = a.bits | b.bits;
            let fixed = a.mask | b.mask;
            let excluded = |row: &Row| {
                row.exclusions
                    .iter()
                    .any(|&(mask, bits)| mask & fixed == mask && both & mask == bits)
            };
            if disjoint || ordered || excluded(a) || excluded(b) {
                continue;
            }
            let third = all.iter().any(|c| c.mask == fixed && c.bits == both);
            assert!(third, "{} and {}", describe(a), describe(b));
        }
    }
}

/// Every row explains some word, and no field or operand lies outside it.
#[test]
fn every_row_can_be_met() {
    let mut random = Random(1);
    for row in rows() {
        let met = (0..1000).any(|_| {
            Instruction::decode(word(row, random.bits()))
                .is_some_and(|instruction| std::ptr::eq(instruction.row, row))
        });
        assert!(met, "no word is {}", describe(row));
    }
}

#[test]
fn implemented_rows_have_a_lift_function() {
    for row in rows() {
        assert_eq!(
            row.lift.is_some(),
            row.fidelity != Fidelity::Unimplemented,
            "{}",
            describe(row)
        );
    }
}

#[test]
fn every_opcode_has_a_row() {
    for opcode in Opcode::ALL {
        assert!(rows().any(|row| row.opcode == *opcode), "{opcode:?}");
    }
}

/// Decoding and every accessor accept any word.
#[test]
fn any_word_decodes_or_is_illegal() {
    let mut random = Random(2);
    let mut legal = 0;
    for i in 0..200_000 {
        let word = if i % 2 == 0 {
            random.bits()
        } else {
            1 << (random.bits() % 64) | random.bits() & random.bits()
        };
        let Some(instruction) = Instruction::decode(word) else { continue };
        legal += 1;
        assert!(instruction.row.matches(word.into()));
        assert!(!instruction.text(random.bits()).is_empty());
    }
    assert!(legal > 1000);
}

/// word -> text -> word -> text.
#[test]
fn text_assembles_to_the_same_instruction() {
    let mut random = Random(3);
    let mut failed = Vec::new();
    for row in rows() {
        for _ in 0..20 {
            let word = word(row, random.bits());
            let Some(instruction) = Instruction::decode(word) else { continue };
            let text = instruction.text(8);
            match warploom_maxwell::assemble(&text, 8) {
                Ok(word) => assert_eq!(Instruction::decode(word).unwrap().text(8), text),
                Err(error) => failed.push(format!("{word:016x} `{text}`: {error}")),
            }
        }
    }
    assert!(failed.is_empty(), "{} texts:\n{}", failed.len(), failed.join("\n"));
}

/// `docs/fidelity.md` names every instruction that is not implemented, and gives the numbers of
/// exact, approximate and unimplemented instructions.
#[test]
fn the_fidelity_report_is_whole() {
    let text = include_str!("../../docs/fidelity.md");
    let mut counts = [0; 3];
    for &opcode in Opcode::ALL {
        let row = rows().find(|row| row.opcode == opcode).expect("a row");
        let mnemonic =
            row.format.trim_start_matches('*').split(['{', ' ']).next().expect("a first word");
        match row.fidelity {
            Fidelity::Exact => counts[0] += 1,
            Fidelity::Approximate(_) => counts[1] += 1,
            Fidelity::Unimplemented => {
                counts[2] += 1;
                let named = text.lines().any(|line| {
                    let mut cells = line.split('|');
                    cells.nth(1).is_some_and(|names| {
                        names.split([',', ';', ' ']).any(|name| {
                            mnemonic
                                .strip_prefix(name)
                                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                        })
                    })
                });
                assert!(named, "{mnemonic} is not among the instructions that are not implemented");
            }
        }
    }
    let [exact, approximate, unimplemented] = counts;
    let sentence =
        format!("{exact} are exact, {approximate} approximate, {unimplemented} unimplemented");
    assert!(text.contains(&sentence), "not there: {sentence}");
}

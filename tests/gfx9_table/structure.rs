//! Checks the table against itself.

use std::collections::HashMap;

use warploom_gfx9::table::rows;
use warploom_gfx9::{Fidelity, Instruction, Opcode, assemble};

use crate::random::Random;

#[test]
fn no_opcode_number_is_two_rows() {
    let mut seen = HashMap::new();
    for row in rows() {
        for form in row.forms() {
            if let Some(other) = seen.insert(form, row.mnemonic) {
                panic!("{form:?} is {other} and {}", row.mnemonic);
            }
        }
    }
}

#[test]
fn every_opcode_has_one_row() {
    for opcode in Opcode::ALL {
        assert_eq!(rows().filter(|row| row.opcode == *opcode).count(), 1, "{opcode:?}");
    }
}

#[test]
fn implemented_rows_have_a_lift_function() {
    for row in rows() {
        assert_eq!(row.lift.is_some(), row.fidelity != Fidelity::Unimplemented, "{}", row.mnemonic);
    }
}

/// Every form of every row explains some word.
#[test]
fn every_form_can_be_met() {
    let mut random = Random(1);
    for row in rows() {
        let mut met: HashMap<_, bool> =
            row.forms().map(|(encoding, format, _)| ((encoding, format), false)).collect();
        for _ in 0..4000 {
            if let Some(instruction) = row.random([random.bits(), random.bits() & random.bits()]) {
                met.insert((instruction.encoding(), instruction.format()), true);
            }
        }
        assert!(met.values().all(|met| *met), "no word is {}: {met:?}", row.mnemonic);
    }
}

/// Decoding and every accessor accept any bytes.
#[test]
fn any_bytes_decode_or_are_illegal() {
    let mut random = Random(2);
    let mut legal = 0;
    for i in 0..400_000 {
        let word = if i % 2 == 0 {
            random.bits()
        } else {
            random.bits() & random.bits() & random.bits() | 1 << 31
        };
        let bytes = word.to_le_bytes();
        let Some(instruction) = Instruction::decode(&bytes[..4 + random.bits() as usize % 5])
        else {
            continue;
        };
        legal += 1;
        assert!(!instruction.text(random.bits()).is_empty());
        for n in 0..=instruction.source_count() {
            instruction.src(n);
        }
        let _ = (
            instruction.dst(),
            instruction.sdst(),
            instruction.sdwa(),
            instruction.dpp(),
            instruction.op_sel(),
        );
        let _ = (
            instruction.smem(),
            instruction.ds().offset(),
            instruction.flat(),
            instruction.buffer(),
        );
        let _ = (
            instruction.image(),
            instruction.export(),
            instruction.interp(),
            instruction.branch_target(word),
        );
    }
    assert!(legal > 10_000, "{legal}");
}

/// Tests word -> text -> word -> text. The bytes may differ in ignored bits, and where a literal is
/// an inline constant.
#[test]
fn text_assembles_to_the_same_instruction() {
    let mut random = Random(3);
    let mut failed = Vec::new();
    for row in rows() {
        for _ in 0..40 {
            let Some(instruction) = row.random([random.bits(), random.bits()]) else { continue };
            let text = instruction.text(0);
            match assemble(&text) {
                Ok(code) => assert_eq!(Instruction::decode(&code).unwrap().text(0), text),
                Err(error) => failed.push(format!("{:016x}: {error}", instruction.word())),
            }
        }
    }
    failed.sort();
    failed.dedup();
    assert!(
        failed.is_empty(),
        "{} texts:\n{}",
        failed.len(),
        failed[..failed.len().min(40)].join("\n")
    );
}

/// `docs/fidelity.md` names every unimplemented instruction, and says how many instructions are
/// exact, approximate and unimplemented.
#[test]
fn the_fidelity_report_is_whole() {
    let text = include_str!("../../docs/fidelity.md");
    let section = text
        .split("## Unimplemented instructions of GFX9")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next());
    let cells = section.expect("the section").lines().filter_map(|line| line.split('|').nth(1));
    let names: Vec<&str> = cells.flat_map(|cell| cell.split(", ")).map(str::trim).collect();
    let named = |mnemonic: &str| {
        names.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => mnemonic.starts_with(prefix),
            None => mnemonic == *name,
        })
    };
    let mut counts = [0; 3];
    for row in rows() {
        match row.fidelity {
            Fidelity::Exact => counts[0] += 1,
            Fidelity::Approximate(_) => counts[1] += 1,
            Fidelity::Unimplemented => {
                counts[2] += 1;
                assert!(
                    named(row.mnemonic),
                    "{} is not among what is not implemented",
                    row.mnemonic
                );
            }
        }
    }
    let [exact, approximate, unimplemented] = counts;
    let sentence =
        format!("{exact} are exact, {approximate} approximate, {unimplemented} unimplemented");
    assert!(text.contains(&sentence), "not there: {sentence}");
}

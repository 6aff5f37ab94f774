//! Random instructions that sample, load, store and change images.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_maxwell::field::Field;
use warploom_maxwell::row::Location;
use warploom_maxwell::{Instruction, Opcode, Role, Row, table};

use super::words::{ROWS, set};

static IMAGES: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| ROWS.iter().copied().filter(|row| is_image(row.opcode)).collect());

fn is_image(opcode: Opcode) -> bool {
    opcode.is_surface_access() || opcode.is_texture_access()
}

/// Returns the texts of a few instructions with any modifiers. Operands are R0 to R15. Handles are
/// in R0 to R15, or are `count` words of constant bank 0 from `first` on.
pub fn image_accesses(u: &mut Unstructured<'_>, first: u64, count: u64) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for _ in 0..u.int_in_range(1..=12)? {
        let row = *u.choose(&IMAGES)?;
        let mut word: u64 = u.arbitrary()?;
        // The guard.
        set(&mut word, 16, 4, 7);
        for slot in row.operands() {
            match slot.location {
                Location::Register { lo } => set(&mut word, lo, 8, u.int_in_range(0..=3)? * 4),
                Location::Short { lo, width, .. } if slot.role == Role::C => {
                    set(&mut word, lo, width, first / 4 + u.int_in_range(0..=count - 1)?);
                }
                _ => {}
            }
        }
        for slot in row.fields().filter(|slot| slot.field == Field::handle) {
            set(&mut word, slot.lo, slot.bits, first / 4 + u.int_in_range(0..=count - 1)?);
        }
        let decoded = Instruction::decode(table::word(row, word))
            .filter(|decoded| is_image(decoded.row.opcode));
        lines.extend(decoded.map(|instruction| instruction.text(8)));
    }
    Ok(lines)
}

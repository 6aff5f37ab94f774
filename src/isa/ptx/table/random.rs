//! Mnemonics drawn from the table, for random programs and dictionaries.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::pattern::Modifier;
use super::{Form, Row, TABLE, resolve};
use crate::types::Ty;
use crate::word::Word;

/// The rows of each opcode that is executed, in a fixed order.
static EXECUTED: LazyLock<Vec<(&'static str, Vec<&'static Row>)>> = LazyLock::new(|| {
    let mut rows: Vec<&'static Row> =
        TABLE.values().flatten().filter(|row| row.lift.is_some()).collect();
    // The sort is stable: rows of one opcode keep their order.
    rows.sort_by_key(|row| row.opcode);
    let opcodes: BTreeSet<&str> = rows.iter().map(|row| row.opcode).collect();
    let of = |opcode| (opcode, rows.iter().copied().filter(|row| row.opcode == opcode).collect());
    opcodes.into_iter().map(of).collect()
});

/// Returns the opcodes that are executed, with the words that belong to them: `mad.lo`.
pub fn executed() -> impl Iterator<Item = &'static str> {
    EXECUTED.iter().map(|(opcode, _)| *opcode)
}

/// Returns the names of opcodes and all modifiers, as they stand in texts: `mad`, `.lo`.
pub fn vocabulary() -> BTreeSet<String> {
    let names = TABLE.keys().map(|name| (*name).to_owned());
    let words = Word::ALL.iter().map(|word| format!(".{}", word.text()));
    names.chain(words).chain(Ty::ALL.iter().map(|ty| format!(".{}", ty.name()))).collect()
}

/// Draws a full mnemonic of an opcode that is executed, and returns it with its form. `below` draws
/// numbers below its argument, which is not 0.
///
/// Returns `None` if the table has no such opcode, or if an earlier line takes the drawn mnemonic
/// and is not executed.
pub fn draw<E>(
    opcode: &str,
    below: &mut dyn FnMut(usize) -> Result<usize, E>,
) -> Result<Option<(String, Form)>, E> {
    let Ok(at) = EXECUTED.binary_search_by_key(&opcode, |(opcode, _)| opcode) else {
        return Ok(None);
    };
    let rows = &EXECUTED[at].1;
    let row = rows[below(rows.len())?];
    let modifiers = row.pattern.draw(below)?;
    let texts = modifiers.iter().map(|modifier| match modifier {
        Modifier::Word(word) => word.text(),
        Modifier::Type(ty) => ty.name(),
    });
    let mnemonic = std::iter::once(row.opcode).chain(texts).collect::<Vec<_>>().join(".");
    let form = resolve(&mnemonic.split('.').collect::<Vec<_>>())
        .ok()
        .filter(|form| form.row.lift.is_some());
    Ok(form.map(|form| (mnemonic, form)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_a_form_of_its_opcode() {
        let mut state = 1_u64;
        let mut below = |end: usize| -> Result<usize, ()> {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            Ok((state >> 33) as usize % end)
        };
        let mut seen = BTreeSet::new();
        for opcode in executed() {
            for _ in 0..50 {
                let drawn = draw(opcode, &mut below).unwrap();
                let (mnemonic, form) = drawn.unwrap_or_else(|| panic!("nothing of {opcode}"));
                assert_eq!(form.row.opcode, opcode, "{mnemonic}");
                seen.insert(mnemonic);
            }
        }
        assert!(seen.len() > 2000, "{}", seen.len());
        assert!(
            vocabulary().contains("mad")
                && vocabulary().contains(".lo")
                && vocabulary().contains(".u32")
        );
    }
}

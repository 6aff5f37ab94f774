//! The code of a function: instructions with their addresses.

use warploom_sass::Control;

use super::instruction::{BUNDLE_BYTES, Instruction, WORD_BYTES};

/// An instruction word with its address. `instruction` is none if the word is illegal.
#[derive(Clone, Copy, Debug)]
pub struct CodeWord {
    /// Bytes from the start of the code.
    pub pc: u64,
    pub word: u64,
    pub control: Control,
    pub instruction: Option<Instruction>,
}

/// Returns the word at `pc`. None: `pc` is unaligned, past the end or the address of a control
/// word.
pub fn word_at(code: &[u8], pc: u64) -> Option<CodeWord> {
    if !pc.is_multiple_of(WORD_BYTES) || pc.is_multiple_of(BUNDLE_BYTES) {
        return None;
    }
    let word = read(code, pc)?;
    let bundle = pc - pc % BUNDLE_BYTES;
    let slot = ((pc - bundle) / WORD_BYTES - 1) as usize;
    let control = Control::from_bits((read(code, bundle)? >> (slot * 21)) as u32);
    Some(CodeWord { pc, word, control, instruction: Instruction::decode(word) })
}

/// Returns the control word at the start of a bundle.
pub(crate) fn control_at(code: &[u8], bundle: u64) -> Option<u64> {
    bundle.is_multiple_of(BUNDLE_BYTES).then(|| read(code, bundle)).flatten()
}

/// Iterates over all instruction words in order of address. Trailing bytes that do not make a word
/// are left out.
pub fn words(code: &[u8]) -> impl Iterator<Item = CodeWord> {
    (0..code.len() as u64).step_by(WORD_BYTES as usize).filter_map(|pc| word_at(code, pc))
}

fn read(code: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = code.get(at..at.checked_add(WORD_BYTES as usize)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

//! A decoded instruction with typed access to its modifiers.

use std::ops::Deref;

use warploom_sass::Guest;

use super::Maxwell;
use super::field::{CcTest, Field};
use super::table::Opcode;

/// Bytes of an instruction word.
pub const WORD_BYTES: u64 = 8;
/// Bytes of a bundle: a control word and three instructions.
pub const BUNDLE_BYTES: u64 = 32;

/// Maps the address of a control word to the instruction behind it: for targets, entries and
/// symbols alike.
pub const fn past_control(pc: u64) -> u64 {
    if pc.is_multiple_of(BUNDLE_BYTES) { pc.wrapping_add(WORD_BYTES) } else { pc }
}

/// An instruction word together with the table line that explains it.
#[derive(Clone, Copy, Debug)]
pub struct Instruction(warploom_sass::Instruction<Maxwell>);

impl Deref for Instruction {
    type Target = warploom_sass::Instruction<Maxwell>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Opcode {
    /// Whether the instruction loads, stores or changes texels of a surface.
    pub const fn is_surface_access(self) -> bool {
        matches!(
            self,
            Opcode::Suld | Opcode::Sust | Opcode::Sured | Opcode::Suatom | Opcode::SuatomCas
        )
    }

    /// Whether the instruction samples a texture, or queries one.
    pub const fn is_texture_access(self) -> bool {
        use Opcode::{Tex, Texs, Tld, Tld4, Tld4s, Tlds, Tmml, Txd, Txq};
        matches!(self, Tex | Texs | Tld | Tlds | Tld4 | Tld4s | Txd | Txq | Tmml)
    }
}

/// The table has the forms of all models from sm_50 to sm_53.
const MODEL: u8 = 53;

impl Instruction {
    /// Decodes a word. None: the word is illegal.
    pub fn decode(word: u64) -> Option<Instruction> {
        Maxwell::table().decode(word.into(), MODEL).map(Instruction)
    }

    /// Returns the word.
    pub fn word(&self) -> u64 {
        self.0.word as u64
    }

    /// Returns the test of the CC register on which the instruction depends besides its guard; true
    /// if it has none.
    pub fn cc_test(&self) -> CcTest {
        self.field(Field::cc_condition).map_or(CcTest::T, CcTest::from_bits)
    }

    /// Returns the branch target of the instruction at `pc` (bytes from the start of its function).
    pub fn target(&self, pc: u64) -> Option<u64> {
        self.raw_target(pc).map(past_control)
    }
}

//! A decoded instruction with typed access to its modifiers.

use std::ops::Deref;

use warploom_sass::{Control, Guest};

use super::Turing;
use super::table::Opcode;

impl Opcode {
    /// Whether the instruction accesses or queries a surface or a texture.
    pub const fn uses_images(self) -> bool {
        use Opcode::{
            Footprint, Suatom, SuatomCas, Suld, Suquery, Sured, Sust, Tex, Tld, Tld4, Tmml, Txd,
            Txq,
        };
        matches!(
            self,
            Suld | Sust
                | Suatom
                | SuatomCas
                | Sured
                | Suquery
                | Tex
                | Tld
                | Tld4
                | Txd
                | Txq
                | Tmml
                | Footprint
        )
    }
}

/// An instruction word together with the table line that explains it.
#[derive(Clone, Copy, Debug)]
pub struct Instruction(warploom_sass::Instruction<Turing>);

impl Instruction {
    /// Decodes a word as the GPU `sm_<model>` does. None: the word is illegal.
    pub fn decode(word: u128, model: u8) -> Option<Instruction> {
        Turing::table().decode(word, model).map(Instruction)
    }

    /// Returns the scheduling, which is in bits 105 to 125.
    pub fn control(&self) -> Control {
        Control::from_bits((self.word >> 105) as u32)
    }
}

impl Deref for Instruction {
    type Target = warploom_sass::Instruction<Turing>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

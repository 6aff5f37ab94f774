//! A decoded instruction with typed access to its modifiers.

use std::ops::Deref;

use warploom_sass::Guest;

use super::Turing;

/// An instruction word together with the table line that explains it.
#[derive(Clone, Copy, Debug)]
pub struct Instruction(warploom_sass::Instruction<Turing>);

impl Instruction {
    /// Decodes a word as the GPU `sm_<model>` does. None: the word is illegal.
    pub fn decode(word: u128, model: u8) -> Option<Instruction> {
        Turing::table().decode(word, model).map(Instruction)
    }
}

impl Deref for Instruction {
    type Target = warploom_sass::Instruction<Turing>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

//! The kit of the guests that run NVIDIA's machine code: the notation of their instruction tables
//! ([`notation`]), and all that follows from a table: decoder, typed access, text, assembler.
//!
//! A guest defines its vocabulary of modifiers with [`vocabulary!`], its rows, and [`Guest`].

use std::fmt::Debug;

pub mod assemble;
pub mod control;
pub mod field;
pub mod instruction;
pub mod lift;
pub mod notation;
mod read;
pub mod row;
pub mod table;
pub mod text;

pub use assemble::{AssembleError, assemble};
pub use control::Control;
pub use field::{FieldInfo, Style};
pub use instruction::{Address, Instruction, Part, Pred, Reg, Source, Uniform, Value};
pub use row::{Location, Role, Row};
pub use table::Table;

/// An instruction set.
pub trait Guest: Sized + 'static {
    type Opcode: Copy + Eq + Debug + 'static;
    /// The names of modifiers.
    type Field: Copy + Eq + Debug + 'static;
    /// The function that makes IR of an instruction.
    type Lift: Copy + 'static;

    /// The lowest of the four bits that are the guard.
    const GUARD: u8;
    /// Bytes of an instruction word.
    const WORD_BYTES: u64;
    /// From this model on, branch targets of more than 32 bits have eight more low bits, from this
    /// bit on.
    const LOW_TARGET: Option<(u8, u8)>;
    /// Whether the parts of a source follow the bars of its absolute value.
    const PART_BEHIND_BARS: bool;
    /// From this model on, the text always shows the descriptor of memory.
    const SHOWS_DESCRIPTORS: u8;
    /// Whether the text tells signalling NaNs of F16 and F32 from quiet ones.
    const SHOWS_SIGNALLING: bool;
    /// Whether the text shows RZ as the base of a constant at offset 0.
    const SHOWS_ZERO_BASE: bool;

    /// Returns the lowest of the eight low bits that a target of `width` bits has on a model.
    fn low_target(model: u8, width: u8) -> Option<u8> {
        Self::LOW_TARGET.filter(|&(first, _)| first <= model && width > 32).map(|(_, lo)| lo)
    }
    fn table() -> &'static Table<Self>;
    fn info(field: Self::Field) -> &'static FieldInfo;
    /// Returns the name of a special register of a model.
    fn special_register(number: u8, model: u8) -> Option<&'static str>;
    /// Whether the sources A, B and C of a word have slots 0, 1 and 2 of the operand reuse cache.
    fn has_reuse_slots(word: u128) -> bool;
}

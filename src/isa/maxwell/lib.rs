//! NVIDIA Maxwell SASS (sm_50, with the additions of sm_52 and sm_53): instruction table, decoder,
//! disassembler, lifter.
//!
//! Code is a sequence of 32-byte bundles: one control word (see [`control`]), then three 64-bit
//! instructions. [`table`] defines the encodings; [`notation`] explains its notation.

#[macro_use]
extern crate warploom_guest;

pub mod arrays;
pub mod code;
pub mod control;
pub mod disasm;
pub mod driver;
pub mod encode;
pub mod field;
pub mod header;
pub mod instruction;
pub mod lift;
pub mod listing;
pub mod notation;
pub mod row;
pub mod sampler;
pub mod special;
pub mod table;

pub use encode::{AssembleError, assemble};
pub use instruction::{
    Address, BUNDLE_BYTES, Instruction, Part, Pred, Reg, Source, Value, WORD_BYTES, past_control,
};
pub use row::{Fidelity, Role, Row};
pub use table::Opcode;

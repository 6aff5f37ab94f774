//! AMD GFX9 "Vega" (gfx900, gfx906): instruction table, decoder, disassembler, assembler, lifter.
//!
//! Code is a sequence of little-endian dwords; an instruction has one or two. [`table`] defines the
//! instructions. [`notation`] explains the text of a table line. [`layout`] defines where the
//! encodings hold the operands.

#[macro_use]
extern crate warploom_guest;

pub mod check;
mod chip;
pub mod disasm;
pub mod encode;
pub mod instruction;
pub mod layout;
mod legal;
pub mod lift;
pub mod memory;
pub mod notation;
pub mod operand;
pub mod row;
pub mod table;
pub(crate) mod trailer;

pub use chip::{decode, has};
pub use encode::{AssembleError, Encoder, assemble, assemble_for};
pub use instruction::{Dpp, DppControl, DstUnused, Instruction, Sdwa};
pub use memory::{Buffer, Ds, Export, Flat, Image, Interp, Segment, Smem};
pub use operand::{Operand, Sel, Source};
pub use row::{Encoding, Format, OperandType, Role, Row};
pub use table::Opcode;
pub use warploom_guest::fidelity::Fidelity;

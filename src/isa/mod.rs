//! One folder per instruction set: table, decoder, disassembler and lifter. Nothing here runs code.

pub mod divergence;
pub mod fidelity;
pub mod gfx9;
pub mod maxwell;

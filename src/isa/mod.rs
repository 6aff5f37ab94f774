//! One folder per instruction set: table, decoder, disassembler and lifter. Nothing here runs code.

#[macro_use]
mod table;
mod bits;
mod brain;
mod video;
mod words;

mod discover;
pub mod divergence;
mod errors;
pub mod fidelity;
pub mod gfx9;
pub mod if_conversion;
pub mod images;
pub mod maxwell;
pub mod ptx;
pub mod visa;

use crate::ir::BuildError;
use crate::ir::parse::ParseError;

/// Why a kernel has no IR. What cannot be lifted within it becomes a trap instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LiftError {
    #[error("kernel `{kernel}` starts at {entry:#x}, which is no instruction of its {len} bytes of code")]
    NoEntry { kernel: String, entry: u64, len: usize },
    #[error("kernel `{kernel}`: a thread of {lanes} lanes; there are 1, 8, 16 or 32")]
    Width { kernel: String, lanes: u32 },
    #[error("kernel `{kernel}`, pc {pc:#x}, `{text}`: {problem}")]
    NotGiven { kernel: String, pc: u64, text: String, problem: String },
    #[error("kernel `{kernel}`: lanes may wait at too many places")]
    Places { kernel: String },
    #[error("kernel `{kernel}`: {error}")]
    Build { kernel: String, error: BuildError },
    #[error("kernel `{kernel}`: {error}")]
    Text { kernel: String, error: ParseError },
}

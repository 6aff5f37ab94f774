//! Parts of the lifters of NVIDIA's machine code: operands as values, destinations, and flags.

pub mod context;
mod flag_file;
mod flags;
pub mod float;
mod int;
pub mod memory;
pub mod service;
pub mod surface;
pub mod texture;

pub use context::{Banks, Cx, KnownImages, PT, Touched, Usage, whole};
pub use flag_file::{FlagBanks, FlagFile};
pub use flags::{Flag, Flags};
pub use int::Int;

/// The instruction, or a combination of its modifiers, has no lift function: it traps if it is
/// executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

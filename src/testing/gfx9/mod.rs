//! Random GFX9 code: `words` makes code from the instruction table, `kernel` makes whole kernels.

mod images;
mod kernel;
mod words;

pub use kernel::loops::GUEST;
pub use kernel::{fragment, kernel, primitives};
pub use words::{gfx9_code, gfx9_registers, lifted_instruction};

//! Random vISA: `forms` has the types that opcodes take, `statement` writes instructions of them with `operand`s of regions, `memory` and `images` have
//! messages, `variables` what all of it works on; `kernel` makes whole kernels with control flow around it.

mod forms;
mod images;
mod kernel;
mod memory;
mod operand;
mod statement;
mod variables;

pub use kernel::{kernel, straight};

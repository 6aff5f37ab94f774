//! Random vISA: `forms` has the types that opcodes take, `statement` writes instructions of them with `operand`s of regions, `memory` and `images` have
//! messages, `variables` what all of it works on; `kernel` makes whole kernels of it, with control flow around it (`flow`), and `launch` what they are given.

mod flow;
mod forms;
mod images;
mod kernel;
mod launch;
mod loops;
mod memory;
mod operand;
mod statement;
mod variables;

pub use kernel::{kernel, straight};
pub use loops::GUEST;

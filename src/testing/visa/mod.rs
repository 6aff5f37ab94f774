//! Random vISA. `forms` has the types that opcodes take, and `statement` writes instructions of
//! these types with an `operand` of regions. `memory` and `images` have messages. `variables` has
//! the variables of all code. `kernel` makes whole kernels with control flow (`flow`), and `launch`
//! has their input.

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

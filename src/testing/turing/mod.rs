//! Random code of Turing, Ampere and Ada: `words` makes code from the instruction table, `kernel`
//! makes whole kernels.

mod kernel;
mod words;

pub use kernel::kernel;
pub use kernel::loops::GUEST;
pub use words::{lifted, turing_code, turing_registers};

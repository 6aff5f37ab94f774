//! Random programs and their differential tests. The fuzz targets and the tests share both.
//!
//! - `function` makes IR with the shapes that the JIT treats specially; [`crate::ir`] makes every
//!   operation.
//! - `maxwell`, `turing`, `gfx9`, `ptx` and `visa` make guest code, from the instruction tables and as whole
//!   kernels.
//! - `compare` runs a function on every engine and returns the first difference; `instrument` makes
//!   its registers visible.
//! - `bare` compares elementwise kernels as they are: only memory, faults and counts are visible.
//! - `code` lifts guest code and compares it in the way of `compare`.
//! - `case` is a whole launch, which runs as in `warploom run`.
//! - `loops` has loops of single instructions.
//! - `attack` aims at the edges of guest memory, which `guarded` watches.
//! - `check` runs any of these programs and reduces a program that fails (`program`).
//!
//! Choices are drawn from an [`arbitrary::Unstructured`], so a fuzzer's bytes and a seeded stream
//! serve alike.

pub mod attack;
pub mod bare;
pub mod case;
pub mod check;
pub mod code;
pub mod compare;
mod format;
mod function;
pub mod gfx9;
mod guarded;
pub mod instrument;
pub mod ir;
pub mod loops;
pub mod maxwell;
pub mod program;
pub mod ptx;
pub mod turing;
pub mod visa;

pub use attack::Attack;
pub use case::Case;
pub use check::check;
pub use code::Code;
pub use compare::compare;
pub use function::{Elementwise, chain, elementwise, function, rewritable, waiting};
pub use gfx9::{gfx9_code, gfx9_registers};
pub use maxwell::{maxwell_code, maxwell_registers, products};
pub use turing::{turing_code, turing_registers};

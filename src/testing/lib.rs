//! Random programs and the differential tests they are made for: the fuzz targets and the tests share both.
//!
//! `function` makes IR with the shapes that the JIT treats specially ([`crate::ir`] makes every operation);
//! `maxwell`, `gfx9`, `ptx` and `visa` make guest code, out of the instruction tables and as whole kernels. Choices are drawn from an
//! [`arbitrary::Unstructured`], so a fuzzer's bytes and a seeded stream serve alike. `compare` runs a function on every engine
//! and tells the first difference; `instrument` makes its registers visible. `bare` does so with elementwise kernels as they
//! are, of which only memory, faults and counts are seen. `code` is guest code, lifted and run that way; `case` a whole
//! launch, run as `warploom run` does; `loops` has loops of single instructions. `attack` aims at the
//! edges of guest memory, which `guarded` watches. `check` runs any of these and makes what fails smaller (`program`).

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
pub mod visa;

pub use attack::Attack;
pub use case::Case;
pub use check::check;
pub use code::Code;
pub use compare::compare;
pub use function::{Elementwise, chain, elementwise, function, rewritable, waiting};
pub use gfx9::{gfx9_code, gfx9_registers};
pub use maxwell::{maxwell_code, maxwell_registers, products};

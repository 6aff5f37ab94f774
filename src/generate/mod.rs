//! Random programs and the differential test they are made for: the fuzz targets and the tests share both.
//!
//! `function` makes IR with the shapes that the JIT treats specially ([`crate::ir::generate`] makes every operation),
//! `maxwell` makes guest code from the instruction table, `products` guest code that analysis fuses. Choices are drawn from an [`arbitrary::Unstructured`], so a
//! fuzzer's bytes and a seeded stream serve alike. `compare` runs a function on every engine and tells the first
//! difference; `instrument` makes its registers visible. `bare` does so with elementwise kernels as they are, of which
//! only memory, faults and counts are seen.

pub mod bare;
pub mod compare;
mod function;
pub mod instrument;
mod maxwell;
mod products;

pub use compare::compare;
pub use function::{Elementwise, elementwise, function};
pub use maxwell::{maxwell_code, maxwell_registers};
pub use products::products;

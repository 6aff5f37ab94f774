//! Random Maxwell code: `words` out of the instruction table, `kernel` whole kernels, `products` the shapes that analysis fuses.

mod images;
mod kernel;
mod products;
mod words;

pub use images::image_accesses;
pub(super) use kernel::indirect_jump;
pub use kernel::kernel;
pub use products::products;
pub use words::{bundles, lifted_word, maxwell_code, maxwell_registers};

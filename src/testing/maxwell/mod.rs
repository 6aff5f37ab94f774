//! Random Maxwell code: `words` makes code from the instruction table, `kernel` makes whole
//! kernels, `products` makes the shapes that analysis fuses.

mod images;
mod kernel;
mod products;
mod words;

pub use images::image_accesses;
pub use kernel::loops::GUEST;
pub(super) use kernel::{BLOCKS, SURFACES, TEXTURES, indirect_jump, launch, surface, texture};
pub use kernel::{fragment, kernel, primitives};
pub use products::products;
pub use words::{bundles, lifted_word, maxwell_code, maxwell_registers};

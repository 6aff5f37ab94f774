//! Random PTX: `statement` out of the instruction table, with operands as the table has them, in `registers` and at `address`es that
//! are safe; `rules` and `images` have the operands that no list says; `kernel` makes whole kernels with control flow around it.

mod address;
mod images;
mod kernel;
mod registers;
mod rules;
mod statement;

pub use kernel::{kernel, straight};

//! Instruction selection: from IR to machine instructions with virtual registers.
//!
//! `region` sets up the function of a region, `order` walks a block, piece by piece between
//! ordering points, and `loops` has loops of one block whose registers stay in machine registers.
//! `values` has the forms of values, and `build` writes single instructions. Operations on lanes
//! are in `int`, `float` and `convert`, operations of the warp in `scalar`, masks in `masks`,
//! accesses in `memory`, ends of blocks in `control`. `support` lists the supported operations.

mod bits;
mod build;
mod control;
mod convert;
mod float;
mod int;
mod loops;
mod masks;
mod memory;
mod order;
mod region;
mod scalar;
mod support;
mod values;

pub use region::select;
pub use support::unsupported;

/// The lanes of a piece.
pub const PIECE: usize = 16;

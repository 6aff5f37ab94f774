//! PTX -> IR.

mod call_graph;
mod calls;
mod cells;
mod chain;
mod context;
pub mod driver;
mod emit;
mod frames;
mod graph;
pub mod image;
mod inline;
mod known;
mod liveness;
mod meeting;
mod place;
mod plan;
mod service;
mod small;
mod special;
mod staging;
mod uses;

// The instructions, family by family.
pub mod atomic;
pub mod barrier;
pub mod bits;
pub mod cluster;
pub mod compare;
pub mod control;
pub mod convert;
pub mod copy;
pub mod fence;
pub mod float;
pub mod half;
pub mod integer;
pub mod matrix;
pub mod mbarrier;
pub mod memory;
pub mod moves;
pub mod surface;
pub mod texture;
pub mod video;
pub mod warp;

pub use context::{Cx, Insn};
pub use emit::{Kernel, LocalMemory, Needs, lift_kernel};
pub use place::VariableAddresses;
use warploom_ir::NanPolicy;

/// Lifts one instruction by emitting its operations. `emit` handles instructions that end a block.
pub type Lift = fn(&mut Cx<'_>, &Insn<'_>) -> Lifted;

/// The form, or a combination of its operands, has no lift function. It traps if it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// The result of a lift function.
pub type Lifted = Result<(), Unsupported>;

pub const WARP_LANES: u8 = 32;

/// Source: facts, `ptx.md` 2.1.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8_0000_0000_0000 };

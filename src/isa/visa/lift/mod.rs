//! Lifts vISA to IR.
//!
//! A hardware thread is a warp of `SimdSize` lanes. `halves` merges instructions of half a warp.
//! `graph` cuts the code into blocks, `waiting` finds the blocks that lanes may wait for, and
//! `chain` the blocks that run in a row. `emit` emits the IR twice. The first time all variables
//! are byte arrays, and `survey` notes their accesses. From these, `storage` selects the bytes that
//! become lane registers or scalars. Lift functions, family by family, see operands as values
//! ([`Cx`]).

mod calls;
mod chain;
mod context;
mod elements;
mod emit;
mod entry;
mod frames;
mod graph;
mod halves;
mod known;
mod long;
mod mask;
mod mode;
mod numbers;
mod operand;
mod pieces;
mod pointees;
mod storage;
mod survey;
mod variables;
mod waiting;
mod write;

// The lift functions, family by family.
pub mod arithmetic;
pub mod control;
pub mod dots;
pub mod logic;
pub mod math;
pub mod matrix;
pub mod memory;
pub mod moves;
pub mod surface;

pub use context::Cx;
pub use emit::{has_frames, lift_kernel};
pub use known::{LocalIds, Payload, bank};
pub use mode::Mode;
pub use variables::Kernel;
use warploom_ir::NanPolicy;

use super::instruction::Instruction;

/// A function that lifts an instruction, by emitting its operations. `emit` lifts ends of blocks.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;

/// An instruction, or a combination of its operands, has no lift function. It traps when executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// The result of a lift function.
pub type Lifted = Result<(), Unsupported>;

/// NaN results are quiet, without a sign and a payload.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7e00, f32: 0x7fc0_0000, f64: 0x7ff8_0000_0000_0000 };

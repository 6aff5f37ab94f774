//! vISA -> IR.
//!
//! A hardware thread is a warp of `SimdSize` lanes. `halves` puts instructions of halves of them together, `graph` cuts the
//! code into blocks and finds where lanes may wait, `chain` which of them are executed in a row, `emit` makes IR of it: twice.
//! The first time all variables are arrays of bytes, and `survey` notes how each is accessed; from that `storage` finds which of
//! their bytes are registers of lanes or scalars. Lift functions, family by family, see operands as values ([`Cx`]).

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

// The instructions, family by family.
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

/// Lifts one instruction: emits its operations. What ends a block is `emit`'s.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;

/// The form, or a combination of its operands, has no lift function: it traps if it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// Result of a lift function.
pub type Lifted = Result<(), Unsupported>;

/// Quiet NaNs without a sign and a payload.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7e00, f32: 0x7fc0_0000, f64: 0x7ff8_0000_0000_0000 };

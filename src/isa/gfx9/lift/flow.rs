//! Where control goes after an instruction.

use warploom_ir::TrapKind;

use super::mode::Mode;
use crate::Operand;

/// A uniform condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Scc,
    Vcc,
    Exec,
}

/// What follows an instruction. It names no values: the block's end reads the registers that it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Jump(u64),
    /// To the target if the condition is not 0 (`nonzero`), or if it is.
    Branch {
        on: Condition,
        nonzero: bool,
        target: u64,
    },
    /// To the address in a pair of scalar registers.
    Indirect(Operand),
    /// `link` gets the address of the next instruction.
    Call {
        link: Operand,
        target: u64,
    },
    /// The same, to the address in a pair of scalar registers.
    IndirectCall {
        link: Operand,
        to: Operand,
    },
    /// What follows is in another mode.
    SetMode(Mode),
    Barrier,
    Exit,
    Trap(TrapKind),
}

/// The instruction's modifiers or operands are ones that nothing is written for. Nothing has been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

pub type Lifted = Result<Flow, Unsupported>;

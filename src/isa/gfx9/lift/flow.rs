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

/// The continuation after an instruction.
///
/// A flow names no values: the block's end reads the registers that it needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Jump(u64),
    /// A branch to the target if the condition is not 0 (`nonzero`), or if it is 0 (not `nonzero`).
    Branch {
        on: Condition,
        nonzero: bool,
        target: u64,
    },
    /// A jump to the address in a pair of scalar registers.
    Indirect(Operand),
    /// A call. `link` gets the address of the next instruction.
    Call {
        link: Operand,
        target: u64,
    },
    /// A call to the address in a pair of scalar registers. `link` gets the next instruction's
    /// address.
    IndirectCall {
        link: Operand,
        to: Operand,
    },
    /// A switch to another mode for the following instructions.
    SetMode(Mode),
    Barrier,
    Exit,
    Trap(TrapKind),
}

/// The error for modifiers or operands that no lift function covers. Nothing has been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

pub type Lifted = Result<Flow, Unsupported>;

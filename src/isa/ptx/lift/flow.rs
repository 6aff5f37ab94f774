//! What an instruction does to the flow of control.

use crate::ir::{TrapKind, Value};
use crate::isa::ptx::module::LabelId;

/// What comes after an instruction, for the lanes that its guard allows; the others go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Branch(LabelId),
    /// To the target with this number (`i32`) of a `.branchtargets`.
    Table {
        index: Value,
        table: u32,
    },
    Call,
    Return,
    Exit,
    Trap(TrapKind),
}

/// The form, or a combination of its operands, has no lift function: it traps if it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// Result of a lift function.
pub type Lifted = Result<Flow, Unsupported>;

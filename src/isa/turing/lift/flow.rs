//! The effect of an instruction on the flow of control.

use warploom_ir::{Barrier, TrapKind, Value};
pub use warploom_sass::lift::Unsupported;

/// The continuation after an instruction, for the lanes that its guard allows; the remaining lanes
/// go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Branch(u64),
    /// Calls the function at an address. Its return address is the next instruction's.
    Call(u64),
    /// Calls the function whose address is this varying `i64`.
    CallIndirect(Value),
    /// Jumps to this varying `i64` address.
    Indirect(Value),
    /// Returns to this varying `i64` address.
    Return(Value),
    Exit,
    Barrier(Barrier),
    /// Waits until the named lanes, a varying or uniform `i32`, are there.
    Meet(Value),
    /// At the end of a region: waits until the named lanes, a varying or uniform `i32`, are there.
    /// In most code the order of places ensures it.
    Converge(u8, Value),
    Trap(TrapKind),
}

/// The result of a lift function.
pub type Lifted = Result<Flow, Unsupported>;

//! What an instruction does to the flow of control.

use warploom_ir::{Barrier, Service, TrapKind, Value};

/// Kinds of entries of the divergence stack that lanes leave to. (A divergent branch pushes a fourth kind, which
/// nothing leaves to: the lanes that took the other side.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Pushed by SSY, left to by SYNC.
    Sync,
    /// PBK and BRK.
    Break,
    /// PCNT and CONT.
    Continue,
    /// CAL, JCAL, PRET and RET.
    Return,
}

impl Wait {
    pub const ALL: [Wait; 4] = [Wait::Sync, Wait::Break, Wait::Continue, Wait::Return];
}

/// How lanes leave the active mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// To wait at the nearest entry of that kind.
    To(Wait),
    /// For good: EXIT, and KIL of a compute kernel.
    Exit,
}

/// What the active lanes become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// All that the warp was launched with, also those that wait or have exited: SAM.
    All,
    /// Those that they were before: RAM.
    Restored,
}

/// What comes after an instruction, for the lanes that its guard and CC test allow; the others go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Branch(u64),
    /// Pushes the active lanes with a pc and goes on.
    Push(Wait, u64),
    /// Pushes the active lanes with the next pc and jumps.
    Call(u64),
    /// To this varying `i64` pc.
    Indirect(Value),
    Leave(Leave),
    /// Goes on with other lanes.
    Activate(Active),
    /// Pixels have become helpers; lanes of quads that have no pixel left are done.
    Kill,
    Barrier(Barrier),
    Service(Service),
    Trap(TrapKind),
}

/// The instruction, or a combination of its modifiers, has no lift function: it traps if it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported;

/// Result of a lift function.
pub type Lifted = Result<Flow, Unsupported>;

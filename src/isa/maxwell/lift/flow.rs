//! The effect of an instruction on the flow of control.

use warploom_ir::{Barrier, Service, TrapKind, Value};

/// Kinds of entries of the divergence stack that lanes leave to. A divergent branch pushes a fifth
/// kind, to which nothing leaves: the lanes of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Pushed by SSY, left to by SYNC.
    Sync,
    /// Pushed by PBK, left to by BRK.
    Break,
    /// Pushed by PCNT, left to by CONT.
    Continue,
    /// Pushed by CAL, JCAL and PRET, left to by RET.
    Return,
}

impl Wait {
    pub const ALL: [Wait; 4] = [Wait::Sync, Wait::Break, Wait::Continue, Wait::Return];
}

/// How lanes leave the active mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// To wait at the nearest entry of this kind.
    To(Wait),
    /// For good: EXIT, and KIL of a compute kernel.
    Exit,
}

/// The lanes that an instruction makes active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// SAM: all lanes of the launched warp, even lanes that wait or have exited.
    All,
    /// RAM: the previously active lanes.
    Restored,
}

/// The continuation after an instruction, for the lanes that its guard and CC test allow; the
/// remaining lanes go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flow {
    Next,
    Branch(u64),
    /// Pushes the active lanes with a pc and goes on.
    Push(Wait, u64),
    /// Pushes the active lanes with the next pc and jumps.
    Call(u64),
    /// Jumps to this varying `i64` pc.
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

pub use warploom_sass::lift::Unsupported;

/// The result of a lift function.
pub type Lifted = Result<Flow, Unsupported>;

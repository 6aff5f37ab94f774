//! Faults are values.

/// What went wrong. The names follow the documents of the instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FaultKind {
    /// Not a multiple of the access's alignment.
    MisalignedAddress = 1,
    /// No such memory: unmapped, past the shared or local memory, or not permitted.
    AddressOutOfRange,
    /// An atomic that must address global memory addressed another space, and the like.
    InvalidAddressSpace,
    IllegalInstruction,
    /// The instruction is known and not implemented.
    Unimplemented,
    /// The guest executed a trap instruction.
    Trap,
    /// Divergence or call stack full.
    StackOverflow,
    /// The instruction budget or the wall-clock limit is used up.
    BudgetExceeded,
    TimeExceeded,
    /// No warp of the block (or of the cooperative launch) can go on.
    StuckBarrier,
    /// The guest found a condition of its own not to hold.
    Assertion,
    /// Memory was given back that the guest's heap had not given out.
    InvalidFree,
    /// A surface access with a coordinate outside the surface, where the instruction traps on that.
    SurfaceOutOfRange,
    /// A surface or texture that is not there, or that the instruction cannot access.
    InvalidSurface,
    /// Lanes of a warp wait for each other, and none can go on.
    Deadlock,
}

impl FaultKind {
    pub const ALL: [FaultKind; 15] = [
        FaultKind::MisalignedAddress,
        FaultKind::AddressOutOfRange,
        FaultKind::InvalidAddressSpace,
        FaultKind::IllegalInstruction,
        FaultKind::Unimplemented,
        FaultKind::Trap,
        FaultKind::StackOverflow,
        FaultKind::BudgetExceeded,
        FaultKind::TimeExceeded,
        FaultKind::StuckBarrier,
        FaultKind::Assertion,
        FaultKind::InvalidFree,
        FaultKind::SurfaceOutOfRange,
        FaultKind::InvalidSurface,
        FaultKind::Deadlock,
    ];

    /// The kind with this number in [`FaultRecord::kind`].
    pub fn from_number(number: u32) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|&kind| kind as u32 == number)
    }

    /// As messages and reports name it.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::MisalignedAddress => "misaligned address",
            FaultKind::AddressOutOfRange => "address out of range",
            FaultKind::InvalidAddressSpace => "invalid address space",
            FaultKind::IllegalInstruction => "illegal instruction",
            FaultKind::Unimplemented => "unimplemented instruction",
            FaultKind::Trap => "trap",
            FaultKind::StackOverflow => "stack overflow",
            FaultKind::BudgetExceeded => "instruction budget exceeded",
            FaultKind::TimeExceeded => "time limit exceeded",
            FaultKind::StuckBarrier => "stuck barrier",
            FaultKind::Assertion => "failed assertion",
            FaultKind::InvalidFree => "invalid free",
            FaultKind::SurfaceOutOfRange => "surface access out of range",
            FaultKind::InvalidSurface => "invalid surface",
            FaultKind::Deadlock => "deadlock",
        }
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The record that an engine leaves in the warp context. `repr(C)`: JIT code may write it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRecord {
    /// [`FaultKind`] as a number, 0 for none.
    pub kind: u32,
    pub lane: u32,
    pub pc: u64,
    /// Guest address, 0 where there is none.
    pub address: u64,
}

//! Faults are values.

/// The kinds of faults. Their names follow the documents of the instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FaultKind {
    /// The address is not a multiple of the access's alignment.
    MisalignedAddress = 1,
    /// The address is unmapped, past the shared or local memory, or does not permit the access.
    AddressOutOfRange,
    /// The access addressed a wrong space: for example, an atomic must address global memory.
    InvalidAddressSpace,
    IllegalInstruction,
    /// The instruction is known and not implemented.
    Unimplemented,
    /// The guest executed a trap instruction.
    Trap,
    /// The divergence stack or the call stack is full.
    StackOverflow,
    /// The instruction budget (`TimeExceeded`: the wall-clock limit) is used up.
    BudgetExceeded,
    TimeExceeded,
    /// No warp of the block can go on.
    StuckBarrier,
    /// An assertion of the guest failed.
    Assertion,
    /// The guest freed memory that its heap had not allocated.
    InvalidFree,
    /// A surface access had a coordinate outside the surface, and its instruction traps on that.
    SurfaceOutOfRange,
    /// The surface or texture does not exist, or the instruction cannot access it.
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

    /// Returns the name that messages and reports use.
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

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

//! The scheduling of an instruction. It does not change the effect of code whose scheduling is
//! correct.

/// Scheduling of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// Cycles to wait before the next instruction. Maxwell: 0 with `stay` set: issued together with
    /// the next instruction.
    pub stall: u8,
    /// Bit 4. Set: the scheduler stays with this warp.
    pub stay: bool,
    /// Scoreboard that the result releases; 7: none.
    pub write_barrier: u8,
    /// Scoreboard that is released when the operands are read; 7: none.
    pub read_barrier: u8,
    /// Scoreboards to wait for, one bit each.
    pub wait_mask: u8,
    /// Operand slots (A, B, C and a fourth from bit 0) whose register stays in the reuse cache.
    pub reuse: u8,
}

impl Control {
    /// Decodes the 21 low bits.
    pub const fn from_bits(bits: u32) -> Control {
        Control {
            stall: (bits & 0xf) as u8,
            stay: bits >> 4 & 1 != 0,
            write_barrier: (bits >> 5 & 7) as u8,
            read_barrier: (bits >> 8 & 7) as u8,
            wait_mask: (bits >> 11 & 0x3f) as u8,
            reuse: (bits >> 17 & 0xf) as u8,
        }
    }
}

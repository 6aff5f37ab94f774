//! The scheduling of an instruction: bits 105 to 125 of its word. It does not change the effect of
//! code whose scheduling is correct.

/// Scheduling of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// Cycles to wait before the next instruction.
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
    pub const fn of(word: u128) -> Control {
        let bits = (word >> 105) as u32;
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

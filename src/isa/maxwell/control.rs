//! The control word of a bundle: scheduling hints for its three instructions. They do not change
//! the effect of code.

/// Scheduling of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// Cycles to wait before the next instruction. 0 with `stay` set: issued together with the next
    /// instruction.
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
    /// Decodes the control of the instruction in slot 0, 1 or 2 of a bundle.
    pub const fn of(word: u64, slot: usize) -> Control {
        let bits = word >> (slot * 21);
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

//! Guest memory, warps, blocks, atomics and faults. Knows no instruction set and no IR.

pub mod fault;
pub mod warp;
pub mod memory {
    pub struct Memory;
}

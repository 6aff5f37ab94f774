//! Guest memory, warps, blocks, atomics and faults. Knows no instruction set and no IR.
//!
//! [`memory`] is the sparse page table and what lanes do with it, [`window`] the generic address space, [`atomics`]
//! the atomic operations on host memory, [`warp`] and [`fault`] what an engine and the scheduler tell each other, and
//! [`launch`] runs a grid.

pub mod atomics;
mod context;
pub mod fault;
pub mod launch;
pub mod mbarrier;
pub mod memory;
pub mod warp;
pub mod window;
mod zeroed;

/// How often a test does something; less often under Miri, which is some thousand times as slow.
#[cfg(test)]
const fn rounds(native: u64) -> u64 {
    if cfg!(miri) { native.div_ceil(200) } else { native }
}

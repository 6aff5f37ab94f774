//! Guest memory, warps, blocks, atomics and faults. This crate knows no instruction set and no IR.
//!
//! [`memory`] is the sparse page table and the accesses of lanes to it, [`window`] the generic
//! address space, and [`atomics`] the atomic operations on host memory. [`warp`] and [`fault`] are
//! the interface between an engine and the scheduler. [`launch`] runs a grid.

pub mod atomics;
mod context;
pub mod fault;
pub mod launch;
pub mod mbarrier;
pub mod memory;
pub mod observe;
pub mod warp;
pub mod window;
mod zeroed;

/// Returns how often a test repeats a step: `native` times, or fewer under Miri, which is some
/// thousand times slower.
#[cfg(test)]
const fn rounds(native: u64) -> u64 {
    if cfg!(miri) { native.div_ceil(200) } else { native }
}

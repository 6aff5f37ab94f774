//! Kernels of growing size.

use super::{Case, Check, Size, arithmetic};

/// Numbers of blocks that [`compute`] is launched with.
pub const BLOCKS: [usize; 6] = [1, 4, 16, 64, 256, 1024];

pub fn compute(blocks: usize) -> Case {
    arithmetic::compute(Size::Full, blocks)
}

/// Kernels of straight-line code, each about ten times as long as the one before. `tests/kernels`
/// has their results.
pub fn unrolled() -> [Case; 3] {
    ["unroll100", "unroll1k", "unroll10k"].map(|name| {
        let n = 4_096;
        Case::new(name, "lane", n)
            .fixture(name, name)
            .without_opencl()
            .lanes(n, 256)
            .reads("in", vec![7u32; n + 64])
            .buffer("out", vec![0u32; n * 48], Check::None)
            .i32(n)
            .plain("none", Box::new(|_| ()))
    })
}

//! Kernels whose lanes work together: shared memory, barriers, atomics.

use std::sync::atomic::AtomicU32;

use half::slice::HalfFloatSliceExt;

use super::Content::*;
use super::draw::Draw;
use super::{Case, Check, Content, Images, Size, on, plain};

pub fn cases(size: Size) -> Vec<Case> {
    vec![
        matmul(size),
        matmul_half(size),
        reduction(size),
        histogram(size, "histogram_global"),
        histogram(size, "histogram_shared"),
        bitonic(size),
        atomic_max(),
        counters(size),
    ]
}

/// Multiplies square matrices, in tiles of 16 x 16.
fn matmul(size: Size) -> Case {
    let side = size.of(256, 48);
    let mut draw = Draw::new(7);
    let [a, b] = [(); 2].map(|()| draw.vec(side * side, |draw| draw.f32(1.0)));
    Case::new("matmul", "multiply-add", side * side * side)
        .example("matmul", "matmul")
        .visa("dg2", "matmul")
        .grid([side / 16; 2], [16; 2])
        .reads("a", a)
        .reads("b", b)
        .gives("c", vec![0f32; side * side])
        .i32(side)
        .i32(side)
        .i32(side)
        .plain("plain", on!([F32(a), F32(b), F32(c)] => plain::matmul(a, b, c, side)))
}

/// Multiplies square matrices of halves by `mma`, as Triton does. Results are exact in any order of
/// the sums.
fn matmul_half(size: Size) -> Case {
    let side = size.of(512, 64);
    let mut draw = Draw::new(11);
    let [a, b] = [(); 2].map(|()| {
        draw.vec(side * side, |draw| half::f16::from_f32((draw.below(128) as f32 - 64.0) / 64.0))
    });
    let mut case = Case::new("matmul_half", "multiply-add", side * side * side)
        .target("ptx", "examples/ptx/triton_matmul/matmul.sm_80.ptx", "matmul", Images::Arrays)
        .without_opencl()
        .grid([side / 32; 2], [128, 1])
        .reads("a", a)
        .reads("b", b)
        .gives("c", vec![0f32; side * side])
        .i32(side)
        .i32(side)
        .i32(side)
        .null()
        .null()
        .plain(
            "plain",
            on!([F16(a), F16(b), F32(c)] => {
                let [a, b] = [a, b].map(|halves| halves.to_f32_vec());
                plain::matmul_by_columns(&a, &b, c, side)
            }),
        );
    case.shared_bytes = 8192;
    case
}

/// Computes sums of blocks, in another order than the plain loop's, and the maximum of all numbers.
fn reduction(size: Size) -> Case {
    let (n, blocks, block) = (size.of(1 << 20, 1 << 16), 64, 256);
    Case::new("reduction", "element", n)
        .example("reduce", "reduce")
        .visa("dg2", "reduce")
        .lanes(blocks * block, block)
        .reads("x", Draw::new(8).vec(n, |draw| draw.f32(1000.0)))
        .buffer("partial", vec![0f32; blocks], Check::Within { rtol: 1e-4, atol: 2.0 })
        .gives("maximum", vec![i32::MIN])
        .i32(n)
        .plain("plain", on!([F32(x), F32(partial), I32(maximum)] => plain::reduce(x, partial, &mut maximum[0], block)))
}

fn histogram(size: Size, name: &'static str) -> Case {
    let (n, blocks) = (size.of(1 << 20, 1 << 16), 16);
    // Bytes are around 128 with a deviation of 30, like the example's data. The time of the plain
    // loop depends on how often a bin follows itself.
    let byte = |draw: &mut Draw| {
        (128 + (0..6).map(|_| draw.below(74) as i32 - 37).sum::<i32>() * 4 / 7) as u8
    };
    Case::new(name, "byte", n)
        .example("histogram", name)
        .visa("dg2", name)
        .lanes(blocks * 256, 256)
        .reads("data", Draw::new(1).vec(n, byte))
        .gives("bins", vec![0u32; 256])
        .i32(n)
        .plain("plain", on!([U8(data), U32(bins)] => plain::histogram(data, bins)))
}

/// Sorts rows of 1,024 numbers, one row per block. The plain loop sorts by the standard library.
fn bitonic(size: Size) -> Case {
    let (rows, n) = (size.of(32, 2), 1_024);
    let mut case = Case::new("bitonic", "number", rows * n)
        .example("bitonic", "bitonic")
        .visa("dg2", "bitonic")
        .lanes(rows * n / 2, n / 2)
        .gives("rows", Draw::new(9).vec(rows * n, |draw| draw.u32() as i32))
        .i32(n)
        .plain(
            "plain",
            on!([I32(rows)] => rows.chunks_exact_mut(n).for_each(<[i32]>::sort_unstable)),
        );
    case.reset = true;
    case
}

fn atomic_max() -> Case {
    let n = 131_072;
    Case::new("atomic_max", "number", n)
        .fixture("atomic_max", "atomic_max")
        .visa("dg2", "atomic_max_u64")
        .lanes(n, 256)
        .reads("x", Draw::new(10).vec(n, Draw::u64))
        .gives("greatest", vec![0u64; 4_096])
        .i32(n)
        .plain("plain", on!([U64(x), U64(greatest)] => plain::atomic_max(x, greatest)))
}

/// Adds to 64 of 4,096 counters in every thread, and uses the old values, which depend on the
/// order. The counters are in a buffer or on a surface.
fn counters(size: Size) -> Case {
    let (blocks, block, rounds) = (size.of(64, 4), 256, 64);
    let n = blocks * block;
    let loops = |threads| -> super::Plain {
        let atomics: Vec<_> = (0..plain::COUNTERS).map(|_| AtomicU32::new(0)).collect();
        on!([U32(counters), U32(olds)] => plain::add(&atomics, counters, olds, rounds as u32, threads))
    };
    Case::new("counters", "addition", n * rounds)
        .target("atom", "benches/fixtures/surface.sm_50.cubin", "add_global", Images::Arrays)
        .target(
            "suatom",
            "benches/fixtures/surface.sm_50.cubin",
            "add_surface",
            Images::Surfaces("pitch"),
        )
        .without_opencl()
        .lanes(n, block)
        .gives("counters", vec![0u32; plain::COUNTERS])
        .image(&[plain::COUNTERS], "r32_uint")
        .buffer("olds", vec![0u32; n], Check::None)
        .i32(rounds)
        .plain("plain", loops(1))
        .plain("plain_2", loops(2))
}

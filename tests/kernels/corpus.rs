//! The corpus's kernels over many launch shapes.

use crate::draw::Draw;
use crate::reference::{self, Shape, View};
use crate::support::{BLOCKS, Case};

/// Words after each output that no lane may touch.
const SLACK: usize = 8;

#[test]
fn saxpy() {
    for (block, n) in
        BLOCKS.into_iter().zip([97, 500, 1000, 1024, 1025, 2000, 2001, 3000, 3001, 3999, 4097])
    {
        check_saxpy(Case::kernel("saxpy", "saxpy"), block, n);
    }
}

/// Checks a kernel named saxpy.
pub fn check_saxpy(kernel: Case, block: usize, n: usize) {
    let mut draw = Draw::new(block as u64);
    let x = draw.vec(n, |d| d.f32(10.0));
    let y = draw.vec(n + SLACK, |d| d.f32(10.0));
    let mut expected = reference::saxpy(-1.7, &x, &y[..n]);
    expected.extend(&y[n..]);
    kernel
        .shape(Shape::covering(n, block))
        .value(n as i32)
        .value(-1.7f32)
        .input(&x)
        .inout(&y, &expected)
        .check();
}

#[test]
fn matmul() {
    for (m, n, k) in [(1, 1, 1), (16, 16, 16), (17, 15, 33), (40, 70, 5), (33, 47, 64)] {
        check_matmul(Case::kernel("matmul", "matmul"), m, n, k);
    }
}

/// Checks a kernel named matmul.
pub fn check_matmul(kernel: Case, m: usize, n: usize, k: usize) {
    let mut draw = Draw::new((m * n * k) as u64);
    let a = draw.vec(m * k, |d| d.f32(2.0));
    let b = draw.vec(k * n, |d| d.f32(2.0));
    kernel
        .grid([n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1])
        .block([16, 16, 1])
        .input(&a)
        .input(&b)
        .output(&reference::matmul(&a, &b, m, n, k))
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
        .check();
}

/// Sums over whole warps only: the shuffles read all 32 lanes. The values are small integers, so
/// the sum does not depend on the order of the blocks' atomics.
#[test]
fn reduce() {
    for (block, grid) in [(32, 1), (32, 7), (64, 5), (96, 3), (256, 3), (992, 1), (1024, 2)] {
        let x = Draw::new(block as u64).vec(4999, |d| d.below(2001) as f32 - 1000.0);
        let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
        Case::kernel("reduce", "reduce")
            .shape(Shape { grid, block })
            .input(&x)
            .inout(&[0.0f32, 5.0], &[sum as f32, 5.0])
            .value(x.len() as i32)
            .check();
    }
}

/// Partial warps have four lanes or more and their values name lanes that exist: a shuffle from a
/// lane that does not exist is undefined.
#[test]
fn votes() {
    for (block, n) in [
        (4, 100),
        (7, 100),
        (31, 250),
        (32, 320),
        (64, 333),
        (100, 777),
        (255, 1000),
        (256, 1001),
        (1000, 1999),
        (1024, 2048),
    ] {
        let shape = Shape::covering(n, block);
        let mut draw = Draw::new(block as u64);
        let mut x = draw.vec(n, |d| d.below(12) as i32);
        for (i, v) in x.iter_mut().enumerate() {
            let thread = i % block;
            // The number of lanes that exist in the shuffle's group of eight.
            let group = thread / 8 * 8;
            let exist = (block - group).min(8) as i32;
            *v = *v / exist.max(1) * 8 + *v % exist.max(1);
            if draw.below(50) == 0 {
                *v -= 1024;
            }
        }
        Case::kernel("reduce", "votes")
            .shape(shape)
            .input(&x)
            .output(&reference::votes(&x, shape))
            .value(n as i32)
            .check();
    }
}

#[test]
fn mandel() {
    let view = View { w: 61, h: 43, x0: -2.3, y0: -1.2, dx: 0.05, dy: 0.055 };
    let expected = reference::mandel(view, 100);
    for block in [
        [1, 1, 1],
        [7, 3, 1],
        [31, 1, 1],
        [1, 32, 1],
        [16, 16, 1],
        [33, 3, 1],
        [32, 32, 1],
        [61, 1, 1],
        [10, 100, 1],
    ] {
        Case::kernel("mandel", "mandel")
            .grid([61u32.div_ceil(block[0]), 43u32.div_ceil(block[1]), 1])
            .block(block)
            .output(&expected)
            .value(view.w as i32)
            .value(view.h as i32)
            .value(view.x0)
            .value(view.y0)
            .value(view.dx)
            .value(view.dy)
            .value(100i32)
            .check();
    }
}

#[test]
fn local() {
    for (block, n) in BLOCKS.into_iter().zip([0, 1, 5, 64, 65, 100, 200, 33, 17, 64, 63]) {
        let x = Draw::new(block as u64).vec(n.max(64), |d| d.u32() as i32);
        let expected = vec![reference::local(&x, n); block];
        Case::kernel("local", "local")
            .shape(Shape { grid: 1, block })
            .output(&expected)
            .input(&x)
            .value(n as i32)
            .check();
    }
}

/// `ctab` is a `__constant__` that the module leaves zero; `gptr` points at `gvar`, which is 42.
#[test]
fn consts() {
    let table = Draw::new(9).vec(64, |d| d.u32() as i32);
    for block in BLOCKS {
        let integers = |table: &[i32]| {
            (0..block).map(|i| table[i & 63].wrapping_add(84)).collect::<Vec<i32>>()
        };
        let floats: Vec<f32> = (0..block).map(|i| [1.0, 2.0, 3.0, 4.0][i & 3]).collect();
        let case = || Case::kernel("local", "consts").shape(Shape { grid: 1, block });
        case().output(&integers(&[0; 64])).output(&floats).check();
        case().symbol("ctab", &table).output(&integers(&table)).output(&floats).check();
    }
}

/// Loads and stores of every width. At most 100 lanes: beyond, the lanes' ranges in `fo` overlap.
#[test]
fn types() {
    for block in [1, 7, 31, 32, 33, 64, 100] {
        let mut draw = Draw::new(block as u64);
        let bytes = draw.vec(block, |d| d.u32() as i8);
        let halves = draw.vec(block, |d| d.u32() as u16);
        let pairs = draw.vec(2 * block, |d| d.u32() as i32);
        let quads = draw.vec(4 * block, |d| d.u32() as i32);
        let floats = draw.vec(block + 4, |d| d.below(1000) as f32);
        let two: Vec<i32> = (0..block)
            .flat_map(|i| [quads[4 * i].wrapping_add(pairs[2 * i]), quads[4 * i + 1]])
            .collect();
        let four: Vec<i32> = (0..block)
            .flat_map(|i| [quads[4 * i + 3], pairs[2 * i + 1], quads[4 * i + 2], 1])
            .collect();
        let mut sums = vec![0.0f32; 400];
        for i in 0..block {
            sums[i] = floats[i..i + 5].iter().sum();
            (sums[100 + i], sums[200 + i], sums[300 + i]) = (1.0, 1.0, 2.0);
        }
        Case::kernel("local", "types")
            .shape(Shape { grid: 1, block })
            .input(&bytes)
            .input(&halves)
            .input(&pairs)
            .input(&quads)
            .any(8 * block)
            .output(&bytes.iter().map(|&c| c.wrapping_add(1)).collect::<Vec<i8>>())
            .output(&halves)
            .output(&two)
            .output(&four)
            .input(&floats)
            .output(&sums)
            .check();
    }
}

#[test]
fn switch() {
    for block in BLOCKS {
        let x = Draw::new(block as u64).vec(block + 13, |d| d.below(13) as i32);
        Case::kernel("local", "sw")
            .shape(Shape { grid: 1, block })
            .output(&reference::switch(&x, block))
            .input(&x)
            .check();
    }
}

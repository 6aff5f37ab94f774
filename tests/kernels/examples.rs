//! The examples' kernels over many launch shapes. That their manifests give the expected files is tested in `manifests.rs`.

use crate::corpus::{check_matmul, check_saxpy};
use crate::draw::Draw;
use crate::reference::{self, Gravity, Shape, View};
use crate::support::{BLOCKS, Case};

/// Elements for a block size: never a multiple of it, and enough for several blocks of the small ones.
fn elements(block: usize) -> usize {
    block * 3 + 40 + usize::from(block == 1)
}

#[test]
fn saxpy() {
    for block in BLOCKS {
        check_saxpy(Case::example("saxpy", "saxpy"), block, elements(block));
    }
}

#[test]
fn matmul() {
    for (m, n, k) in [(1, 1, 1), (15, 17, 16), (20, 50, 3), (33, 33, 70)] {
        check_matmul(Case::example("matmul", "matmul"), m, n, k);
    }
}

#[test]
fn reduce() {
    for block in BLOCKS {
        let shape = Shape { grid: 3, block };
        let x = Draw::new(block as u64).vec(4 * block + 77, |d| d.f32(1e6));
        let (partial, maximum) = reference::reduce(&x, shape);
        Case::example("reduce", "reduce")
            .shape(shape)
            .input(&x)
            .output(&partial)
            .inout(&[i32::MIN], &[maximum])
            .value(x.len() as i32)
            .check();
    }
}

#[test]
fn histogram() {
    for block in BLOCKS {
        for entry in ["histogram_shared", "histogram_global"] {
            let data = Draw::new(block as u64).vec(elements(block) + 1000, |d| (d.below(16) * d.below(16)) as u8);
            let before: Vec<u32> = (0..256).collect();
            let after: Vec<u32> = before.iter().zip(reference::histogram(&data)).map(|(&a, b)| a + b).collect();
            Case::example("histogram", entry)
                .shape(Shape { grid: 3, block })
                .input(&data)
                .inout(&before, &after)
                .value(data.len() as i32)
                .check();
        }
    }
}

#[test]
fn mandelbrot() {
    let view = View { w: 53, h: 39, x0: -2.1, y0: -1.1, dx: 0.055, dy: 0.06 };
    let expected = reference::mandelbrot(view, 90);
    for block in [
        [1, 1, 1],
        [7, 1, 1],
        [31, 2, 1],
        [32, 1, 1],
        [33, 1, 1],
        [8, 8, 1],
        [5, 20, 1],
        [51, 5, 1],
        [16, 16, 1],
        [100, 10, 1],
        [32, 32, 1],
    ] {
        Case::example("mandelbrot", "mandelbrot")
            .grid([(view.w as u32).div_ceil(block[0]), (view.h as u32).div_ceil(block[1]), 1])
            .block(block)
            .output(&expected)
            .value(view.w as i32)
            .value(view.h as i32)
            .value(view.x0)
            .value(view.y0)
            .value(view.dx)
            .value(view.dy)
            .value(90i32)
            .check();
    }
}

/// The reciprocal square root is the nearest float here and in warploom (`docs/fidelity.md`), so even this is exact.
#[test]
fn nbody() {
    let gravity = Gravity { dt: 0.01, softening2: 0.01, w: 40, h: 30, pixels_per_unit: 15.0 };
    for block in BLOCKS {
        let n = 150;
        let mut draw = Draw::new(block as u64);
        let positions = draw.vec(n, |d| [d.f32(1.0), d.f32(1.0), d.f32(0.3), d.f32(1.0).abs()]);
        let velocities = draw.vec(n, |d| [d.f32(1.0), d.f32(1.0), d.f32(1.0), 0.0]);
        let after = reference::nbody(&positions, &velocities, gravity);
        Case::example("nbody", "nbody")
            .shape(Shape::covering(n, block))
            .shared_bytes(16 * block as u32)
            .input(positions.as_flattened())
            .input(velocities.as_flattened())
            .output(after.positions.as_flattened())
            .output(after.velocities.as_flattened())
            .output(&after.image)
            .value(n as i32)
            .value(gravity.dt)
            .value(gravity.softening2)
            .value(gravity.w as i32)
            .value(gravity.h as i32)
            .value(gravity.pixels_per_unit)
            .check();
    }
}

#[test]
fn scan_blocks() {
    for block in BLOCKS {
        let n = elements(block);
        let shape = Shape::covering(n, block);
        let data = Draw::new(block as u64).vec(n, Draw::u32);
        let sums: Vec<u32> =
            data.chunks(block).map(|part| part.iter().fold(0, |sum: u32, &v| sum.wrapping_add(v))).collect();
        Case::example("scan", "scan_blocks")
            .shape(shape)
            .input(&data)
            .output(&reference::scan_blocks(&data, block))
            .output(&sums)
            .value(n as i32)
            .check();
    }
}

#[test]
fn scan_chained() {
    for block in BLOCKS {
        let n = elements(block);
        let shape = Shape::covering(n, block);
        let data = Draw::new(block as u64).vec(n, Draw::u32);
        let total = reference::scan_blocks(&data, n);
        let ends: Vec<u32> = (1..=shape.grid).map(|part| total[(part * block).min(n) - 1]).collect();
        Case::example("scan", "scan_chained")
            .shape(shape)
            .input(&data)
            .output(&total)
            .inout(&[0u32], &[shape.grid as u32])
            .output(&vec![1u32; shape.grid])
            .output(&ends)
            .value(n as i32)
            .spins()
            .check();
    }
}

#[test]
fn fma_chains() {
    for block in BLOCKS {
        let n = elements(block);
        let x = Draw::new(block as u64).vec(n, |d| d.f32(1.0));
        for rounds in [0, 1, 16] {
            Case::bench("fma", "fma_chains")
                .shape(Shape::covering(n, block))
                .input(&x)
                .output(&reference::fma_chains(&x, rounds))
                .value(n as i32)
                .value(rounds as i32)
                .check();
        }
    }
}

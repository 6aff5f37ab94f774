//! The examples' kernels over many launch shapes. `manifests.rs` tests that their manifests give
//! the expected files.

use crate::corpus::{check_matmul, check_saxpy};
use crate::draw::Draw;
use crate::reference::{self, Gravity, HashTable, Picture, Shape, View};
use crate::support::{BLOCKS, Case, Scalar};

/// Returns the number of elements for a block size: never a multiple of the size, and enough for
/// several blocks if the size is small.
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
            let data = Draw::new(block as u64)
                .vec(elements(block) + 1000, |d| (d.below(16) * d.below(16)) as u8);
            let before: Vec<u32> = (0..256).collect();
            let after: Vec<u32> =
                before.iter().zip(reference::histogram(&data)).map(|(&a, b)| a + b).collect();
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

/// Even this result is exact: both this reference and warploom round the reciprocal square root to
/// the nearest float (`docs/fidelity.md`).
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
        let sums: Vec<u32> = data
            .chunks(block)
            .map(|part| part.iter().fold(0, |sum: u32, &v| sum.wrapping_add(v)))
            .collect();
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
        let ends: Vec<u32> =
            (1..=shape.grid).map(|part| total[(part * block).min(n) - 1]).collect();
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
fn stencil() {
    for block in BLOCKS {
        let (grid, steps) = (3, 3 + block % 2);
        let (w, h) = (if block < 64 { 13 } else { 71 }, 19);
        let mut draw = Draw::new(block as u64);
        let mut pictures = vec![Picture { w, h, cells: draw.vec(w * h, Draw::f64) }];
        for step in 0..steps {
            pictures.push(pictures[step].smooth(5.0, 0.25));
        }
        let last_even = steps - steps % 2;
        let last_odd = steps - 1 + steps % 2;
        Case::example("stencil", "stencil")
            .shape(Shape { grid, block })
            .cooperative()
            .spins()
            .inout(&pictures[0].cells, &pictures[last_even].cells)
            .output(&pictures[last_odd].cells)
            .output(&pictures[steps].grey())
            .output(&[(grid * steps) as u32])
            .value(w as i32)
            .value(h as i32)
            .value(steps as i32)
            .value(5.0f64)
            .value(0.25f64)
            .check();
    }
}

#[test]
fn quicksort() {
    for block in BLOCKS {
        let segments = elements(block);
        let mut draw = Draw::new(block as u64);
        let mut starts = vec![0];
        for segment in 0..segments {
            starts.push(starts[segment] + draw.below(20) as i32);
        }
        let data = draw.vec(starts[segments] as usize, |d| d.below(1000) as f32 - 500.0);
        Case::example("quicksort", "quicksort_segments")
            .shape(Shape::covering(segments, block))
            .inout(&data, &reference::sort_segments(&data, &starts))
            .input(&starts)
            .value(segments as i32)
            .check();
    }
}

/// One lane sorts both segments: a segment in order, and a segment from which each call splits off
/// as little as possible.
#[test]
fn quicksort_depth() {
    let mut data: Vec<f32> = (0..100).map(|i| i as f32).collect();
    // Each pivot is the greatest of its segment.
    let mut worst: Vec<f32> = vec![];
    for i in 0..100 {
        worst.push(i as f32);
        let middle = (worst.len() - 1) / 2;
        worst.swap(i, middle);
    }
    data.extend(worst);
    let starts = [0, 100, 200];
    Case::example("quicksort", "quicksort_segments")
        .block([2, 1, 1])
        .stack_bytes(24 * 102)
        .inout(&data, &reference::sort_segments(&data, &starts))
        .input(&starts)
        .value(2i32)
        .check();
}

#[test]
fn convolution() {
    for block in BLOCKS {
        for radius in [0, 1, 31] {
            let n = elements(block);
            let mut draw = Draw::new(block as u64);
            let taps = draw.vec(2 * radius + 1, |d| d.f32(1.0));
            let x = draw.vec(n, |d| d.f32(100.0));
            Case::example("convolution", "convolution")
                .shape(Shape::covering(n, block))
                .shared_bytes(4 * (block + 2 * radius) as u32)
                .symbol("taps", &taps)
                .input(&x)
                .output(&reference::convolution(&taps, &x))
                .value(n as i32)
                .value(radius as i32)
                .check();
        }
    }
}

#[test]
fn bitonic() {
    for block in BLOCKS {
        for n in [1, 2, 77, 513, 1024] {
            let grid = 2;
            let rows = Draw::new(block as u64).vec(grid * n, |d| d.u32() as i32 >> d.below(32));
            let mut sorted = rows.clone();
            sorted.chunks_mut(n).for_each(<[i32]>::sort);
            Case::example("bitonic", "bitonic")
                .shape(Shape { grid, block })
                .inout(&rows, &sorted)
                .value(n as i32)
                .check();
        }
    }
}

#[test]
fn fft() {
    let roots = reference::roots(1024);
    for block in BLOCKS {
        let signal = Draw::new(block as u64).vec(2 * 1024, |d| [d.f32(1.0), d.f32(1.0)]);
        let spectrum: Vec<_> =
            signal.chunks(1024).flat_map(|row| reference::fft(row, &roots)).collect();
        Case::example("fft", "fft")
            .shape(Shape { grid: 2, block })
            .input(signal.as_flattened())
            .output(spectrum.as_flattened())
            .input(roots.as_flattened())
            .check();
    }
}

#[test]
fn hashtable() {
    for block in BLOCKS {
        let n = elements(block);
        let mut draw = Draw::new(block as u64);
        // Some keys repeat and many collide: the keys take four tenths to eight tenths of the
        // slots.
        let keys = draw.vec(n, |d| 1 + u64::from(d.below(2 * n as u32)) * 0x1_2345_6789);
        let table = HashTable::new(&keys, (n + 1).next_power_of_two());
        let mask = table.0.len() as u32 - 1;
        Case::example("hashtable", "hashtable_insert")
            .shape(Shape::covering(n, block))
            .input(&keys)
            .output(&table.0)
            .value(n as i32)
            .value(mask)
            .check();
        let wanted = draw.vec(n, |d| 1 + u64::from(d.below(2 * n as u32)) * 0x1_2345_6789);
        let slots: Vec<i32> = wanted.iter().map(|&key| table.find(key)).collect();
        Case::example("hashtable", "hashtable_find")
            .shape(Shape::covering(n, block))
            .input(&wanted)
            .input(&table.0)
            .output(&slots)
            .value(n as i32)
            .value(mask)
            .check();
    }
}

/// Halves of all kinds but NaNs, subnormal halves among them, and infinite results.
#[test]
fn half() {
    for block in BLOCKS {
        let n = elements(block);
        let mut draw = Draw::new(block as u64);
        let pictures: [Vec<u16>; 2] =
            std::array::from_fn(|_| draw.vec(n, |d| d.below(0x7c00) as u16));
        let mask = draw.vec(n, |d| d.below(0x3c01) as u16);
        for gain in [1.0f32, 7.5, 1e-5] {
            let (light, grey) = reference::blend(&pictures[0], &pictures[1], &mask, gain);
            Case::example("half", "blend")
                .shape(Shape::covering(n, block))
                .input(&pictures[0])
                .input(&pictures[1])
                .input(&mask)
                .output(&light)
                .output(&grey)
                .value(n as i32)
                .value(gain)
                .check();
        }
    }
}

/// Checks a kernel of the benches that processes each element `rounds` times.
fn check_rounds<T: Scalar>(
    file: &str,
    entry: &'static str,
    draw: fn(&mut Draw) -> T,
    expected: fn(&[T], usize) -> Vec<T>,
) {
    for block in BLOCKS {
        let n = elements(block);
        let x = Draw::new(block as u64).vec(n, draw);
        for rounds in [0, 1, 16] {
            Case::bench(file, entry)
                .shape(Shape::covering(n, block))
                .input(&x)
                .output(&expected(&x, rounds))
                .value(n as i32)
                .value(rounds as i32)
                .check();
        }
    }
}

#[test]
fn fma_chains() {
    check_rounds("fma", "fma_chains", |d| d.f32(1.0), reference::fma_chains);
}

#[test]
fn dfma_chains() {
    check_rounds("dfma", "dfma_chains", Draw::f64, reference::dfma_chains);
}

#[test]
fn mix() {
    check_rounds("mix", "mix", Draw::u64, reference::mix);
}

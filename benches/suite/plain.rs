//! The work of the kernels as plain Rust loops, compiled for the host's instruction set.
//!
//! `multiversion` compiles each function for every microarchitecture level of the host (x86-64-v4,
//! v3, v2, ...) and selects a version by the CPU that it runs on. So `cargo bench` needs no flags;
//! `docs/benchmarking.md` compares this with target-cpu=native. The loops are in the usual style:
//! no intrinsics, no reordered sums. `mul_add` is one instruction on every CPU with v3. On other
//! CPUs it is a call, which says nothing about the host.

use std::sync::atomic::{AtomicU32, Ordering};

use multiversion::multiversion;

#[multiversion(targets = "simd")]
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = a.mul_add(*x, *y);
    }
}

#[multiversion(targets = "simd")]
pub fn histogram(data: &[u8], bins: &mut [u32]) {
    let bins: &mut [u32; 256] = bins.try_into().expect("a bin for each byte");
    for &byte in data {
        bins[usize::from(byte)] += 1;
    }
}

macro_rules! fma_chains {
    ($scalar:ident, $vector:ident, $float:ty) => {
        /// Computes four chains per element, one element after the other, as a scalar loop does.
        #[multiversion(targets = "simd")]
        pub fn $scalar(x: &[$float], y: &mut [$float], rounds: usize) {
            for (&v, y) in x.iter().zip(y) {
                let (mut a, mut b, mut c, mut d) = (v, v + 1.0, v + 2.0, v + 3.0);
                for _ in 0..4 * rounds {
                    a = a.mul_add(0.75, v);
                    b = b.mul_add(0.625, v);
                    c = c.mul_add(0.5, v);
                    d = d.mul_add(0.375, v);
                }
                *y = (a + b) + (c + d);
            }
        }

        /// Computes four chains per element, with sixteen elements side by side, which the compiler
        /// turns into the widest vectors of the host.
        #[multiversion(targets = "simd")]
        pub fn $vector(x: &[$float], y: &mut [$float], rounds: usize) {
            const N: usize = 16;
            for (x, y) in x.as_chunks::<N>().0.iter().zip(y.as_chunks_mut::<N>().0) {
                let (mut a, mut b, mut c, mut d) =
                    (*x, x.map(|v| v + 1.0), x.map(|v| v + 2.0), x.map(|v| v + 3.0));
                for _ in 0..4 * rounds {
                    for k in 0..N {
                        a[k] = a[k].mul_add(0.75, x[k]);
                        b[k] = b[k].mul_add(0.625, x[k]);
                        c[k] = c[k].mul_add(0.5, x[k]);
                        d[k] = d[k].mul_add(0.375, x[k]);
                    }
                }
                for k in 0..N {
                    y[k] = (a[k] + b[k]) + (c[k] + d[k]);
                }
            }
        }
    };
}
fma_chains!(fma_chains, fma_chains_vector, f32);
fma_chains!(dfma_chains, dfma_chains_vector, f64);

/// A step of Splitmix64.
#[inline(always)]
fn step(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Hashes one element after the other.
#[multiversion(targets = "simd")]
pub fn mix(x: &[u64], y: &mut [u64], rounds: usize) {
    for (&v, y) in x.iter().zip(y) {
        *y = (0..rounds).fold(v, |z, _| step(z));
    }
}

/// Hashes sixteen elements side by side.
#[multiversion(targets = "simd")]
pub fn mix_vector(x: &[u64], y: &mut [u64], rounds: usize) {
    const N: usize = 16;
    for (x, y) in x.as_chunks::<N>().0.iter().zip(y.as_chunks_mut::<N>().0) {
        let mut z = *x;
        for _ in 0..rounds {
            for z in &mut z {
                *z = step(*z);
            }
        }
        *y = z;
    }
}

/// Takes each item through the whole table. Each step also reads a row that depends on the item's
/// group.
#[multiversion(targets = "simd")]
pub fn table(rows: &[[u32; 4]], out: &mut [u32], group: u32) {
    let own = [
        0x9e37_79b9u32,
        0x85eb_ca6b,
        0xc2b2_ae35,
        0x27d4_eb2f,
        0x1656_67b1,
        0xd3a2_646c,
        0xfd70_46c5,
        0xb55a_4f09,
    ];
    let count = rows.len() as u32;
    for (item, out) in out.iter_mut().enumerate() {
        let group = item as u32 / group;
        let mut x = (item as u32).wrapping_mul(own[group as usize & 7]);
        for (k, row) in rows.iter().enumerate() {
            x = (x ^ row[0]).wrapping_mul(row[1] | 1).wrapping_add(row[2]);
            x ^= x >> (row[3] & 15);
            x = x.wrapping_add(rows[((k as u32 + group) % count) as usize][0]);
        }
        *out = x;
    }
}

/// Computes an image from a corner on, with steps of `pixel`.
#[multiversion(targets = "simd")]
pub fn mandelbrot(out: &mut [u16], w: usize, corner: [f32; 2], pixel: [f32; 2], limit: i32) {
    for (py, row) in out.chunks_exact_mut(w).enumerate() {
        for (px, out) in row.iter_mut().enumerate() {
            let cx = (px as f32).mul_add(pixel[0], corner[0]);
            let cy = (py as f32).mul_add(pixel[1], corner[1]);
            let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
            while n < limit {
                let yy = y * y;
                if x.mul_add(x, yy) > 4.0 {
                    break;
                }
                let xy = x * y;
                x = x.mul_add(x, cx - yy);
                y = 2.0f32.mul_add(xy, cy);
                n += 1;
            }
            *out = n as u16;
        }
    }
}

/// Computes one step. Positions are x, y, z, mass.
#[multiversion(targets = "simd")]
pub fn nbody(
    positions: &[[f32; 4]],
    velocities: &[[f32; 4]],
    positions_out: &mut [[f32; 4]],
    velocities_out: &mut [[f32; 4]],
    dt: f32,
    softening2: f32,
) {
    for i in 0..positions.len() {
        let (p, v) = (positions[i], velocities[i]);
        let (mut ax, mut ay, mut az) = (0.0f32, 0.0f32, 0.0f32);
        for q in positions {
            let (x, y, z) = (q[0] - p[0], q[1] - p[1], q[2] - p[2]);
            let inverse = 1.0 / x.mul_add(x, y.mul_add(y, z.mul_add(z, softening2))).sqrt();
            let pull = q[3] * inverse * inverse * inverse;
            ax = x.mul_add(pull, ax);
            ay = y.mul_add(pull, ay);
            az = z.mul_add(pull, az);
        }
        let v = [ax.mul_add(dt, v[0]), ay.mul_add(dt, v[1]), az.mul_add(dt, v[2]), v[3]];
        velocities_out[i] = v;
        positions_out[i] =
            [v[0].mul_add(dt, p[0]), v[1].mul_add(dt, p[1]), v[2].mul_add(dt, p[2]), p[3]];
    }
}

/// Multiplies row by row: the innermost loop goes along rows of `b` and `c`.
#[multiversion(targets = "simd")]
pub fn matmul(a: &[f32], b: &[f32], c: &mut [f32], side: usize) {
    for (a, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
        c.fill(0.0);
        for (&a, b) in a.iter().zip(b.chunks_exact(side)) {
            for (c, &b) in c.iter_mut().zip(b) {
                *c = a.mul_add(b, *c);
            }
        }
    }
}

/// Multiplies rows by columns, one product after the other, as a loop in C does.
pub fn matmul_by_columns(a: &[f32], b: &[f32], c: &mut [f32], side: usize) {
    for (a, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
        for (column, c) in c.iter_mut().enumerate() {
            *c = a
                .iter()
                .zip(b[column..].iter().step_by(side))
                .fold(0.0, |sum, (&a, &b)| sum + a * b);
        }
    }
}

/// Sums numbers in order, for each element of `partial` every `partial.len()`th piece of `block`
/// numbers. Also computes the maximum of all numbers, rounded.
#[multiversion(targets = "simd")]
pub fn reduce(x: &[f32], partial: &mut [f32], maximum: &mut i32, block: usize) {
    partial.fill(0.0);
    let blocks = partial.len();
    for (k, piece) in x.chunks(block).enumerate() {
        let mut sum = partial[k % blocks];
        for &v in piece {
            sum += v;
            *maximum = (*maximum).max(v.round_ties_even() as i32);
        }
        partial[k % blocks] = sum;
    }
}

#[multiversion(targets = "simd")]
pub fn gather(x: &[f32], from: &[u32], y: &mut [f32]) {
    for (&from, y) in from.iter().zip(y) {
        *y = x[from as usize];
    }
}

#[multiversion(targets = "simd")]
pub fn spmv(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
    for (row, y) in starts.windows(2).zip(y) {
        let row = row[0] as usize..row[1] as usize;
        *y = columns[row.clone()]
            .iter()
            .zip(&values[row])
            .fold(0.0, |sum, (&at, v)| v.mul_add(x[at as usize], sum));
    }
}

/// Computes a step of a plate with rows of `w` cells. The rim stays unchanged.
#[multiversion(targets = "simd")]
pub fn heat(now: &[f64], next: &mut [f64], w: usize, rate: f64) {
    next.copy_from_slice(now);
    let rows = now.windows(3 * w).step_by(w).zip(next.chunks_exact_mut(w).skip(1));
    for (around, next) in rows {
        let (above, rest) = around.split_at(w);
        let (row, below) = rest.split_at(w);
        for x in 1..w - 1 {
            let c = row[x];
            let flow = (-4.0f64).mul_add(c, (row[x - 1] + row[x + 1]) + (above[x] + below[x]));
            next[x] = rate.mul_add(flow, c);
        }
    }
}

#[multiversion(targets = "simd")]
pub fn atomic_max(x: &[u64], greatest: &mut [u64]) {
    let greatest: &mut [u64; 4096] = greatest.try_into().expect("4,096 classes");
    for &x in x {
        let greatest = &mut greatest[x as usize % 4096];
        *greatest = x.max(*greatest);
    }
}

/// Sharpens: twice a pixel less the mean of its neighbourhood, weighted 1 2 1 in both directions.
/// Past the edges the nearest pixel counts.
#[multiversion(targets = "simd")]
pub fn sharpen(from: &[[u8; 4]], to: &mut [[u8; 4]], w: usize) {
    let h = from.len() / w;
    for y in 0..h {
        let rows = [y.saturating_sub(1), y, (y + 1).min(h - 1)].map(|y| &from[y * w..][..w]);
        for (x, to) in to[y * w..][..w].iter_mut().enumerate() {
            let columns = [x.saturating_sub(1), x, (x + 1).min(w - 1)];
            let mut sum = [0i32; 4];
            for (row, vertical) in rows.into_iter().zip([1, 2, 1]) {
                for (x, horizontal) in columns.into_iter().zip([1, 2, 1]) {
                    for (sum, &component) in sum.iter_mut().zip(&row[x]) {
                        *sum += vertical * horizontal * i32::from(component);
                    }
                }
            }
            *to = rows[1][x];
            for (to, sum) in to[..3].iter_mut().zip(sum) {
                *to = ((32 * i32::from(*to) - sum + 8) >> 4).clamp(0, 255) as u8;
            }
        }
    }
}

#[multiversion(targets = "simd")]
pub fn brightness(picture: &[[u8; 4]], bins: &mut [u32]) {
    let bins: &mut [u32; 256] = bins.try_into().expect("256 bins");
    for &[r, g, b, _] in picture {
        bins[((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as usize] +=
            1;
    }
}

/// Counters that [`add`] adds to.
pub const COUNTERS: usize = 4096;

/// Adds one to `rounds` counters for every item, by locked instructions. `olds` gets the sums of
/// the old values. Each of `threads` threads handles its part of the items.
pub fn add(
    atomics: &[AtomicU32],
    counters: &mut [u32],
    olds: &mut [u32],
    rounds: u32,
    threads: usize,
) {
    for (atomic, counter) in atomics.iter().zip(&*counters) {
        atomic.store(*counter, Ordering::Relaxed);
    }
    let part = olds.len() / threads;
    let mut parts = olds
        .chunks_mut(part)
        .enumerate()
        .map(|(k, olds)| move || add_part(atomics, olds, k * part, rounds));
    std::thread::scope(|scope| {
        let own = parts.next();
        parts.for_each(|part| {
            scope.spawn(part);
        });
        if let Some(mut own) = own {
            own();
        }
    });
    for (atomic, counter) in atomics.iter().zip(counters) {
        *counter = atomic.load(Ordering::Relaxed);
    }
}

fn add_part(atomics: &[AtomicU32], olds: &mut [u32], first: usize, rounds: u32) {
    for (item, old) in (first as u32..).zip(olds) {
        let (mut at, mut sum) = (item, 0u32);
        for _ in 0..rounds {
            at = at.wrapping_mul(2_654_435_761).wrapping_add(12_345);
            sum = sum.wrapping_add(atomics[(at >> 20) as usize].fetch_add(1, Ordering::Relaxed));
        }
        *old = sum;
    }
}

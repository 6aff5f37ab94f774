//! The same work as plain loops of Rust, compiled for the host's instruction set.
//!
//! `multiversion` compiles each function for every microarchitecture level of the host (x86-64-v4, v3, v2, ...) and picks by
//! the CPU it runs on, so that `cargo bench` needs no flags; `docs/benchmarking.md` compares this with target-cpu=native.
//! The loops are as one would write them: no intrinsics, no reordered sums.
//! `mul_add` is one instruction on every CPU that has v3 (else a call, which says nothing about the host).

use std::sync::atomic::{AtomicU32, Ordering};

use multiversion::multiversion;

#[multiversion(targets = "simd")]
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = a.mul_add(*x, *y);
    }
}

#[multiversion(targets = "simd")]
pub fn histogram(data: &[u8], bins: &mut [u32; 256]) {
    for &byte in data {
        bins[usize::from(byte)] += 1;
    }
}

macro_rules! fma_chains {
    ($scalar:ident, $vector:ident, $float:ty) => {
        /// Four chains an element, one element after the other: what a scalar loop does with this kernel.
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

        /// The same, with sixteen elements side by side, which the compiler turns into the widest vectors of the host.
        #[multiversion(targets = "simd")]
        pub fn $vector(x: &[$float], y: &mut [$float], rounds: usize) {
            const N: usize = 16;
            for (x, y) in x.as_chunks::<N>().0.iter().zip(y.as_chunks_mut::<N>().0) {
                let (mut a, mut b, mut c, mut d) = (*x, x.map(|v| v + 1.0), x.map(|v| v + 2.0), x.map(|v| v + 3.0));
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

/// One element after the other.
#[multiversion(targets = "simd")]
pub fn mix(x: &[u64], y: &mut [u64], rounds: usize) {
    for (&v, y) in x.iter().zip(y) {
        *y = (0..rounds).fold(v, |z, _| step(z));
    }
}

/// Sixteen elements side by side.
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

/// Each item goes through the whole table; items of a group read it at other places too.
#[multiversion(targets = "simd")]
pub fn table(rows: &[[u32; 4]], out: &mut [u32], group: u32) {
    let own =
        [0x9e37_79b9u32, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xd3a2_646c, 0xfd70_46c5, 0xb55a_4f09];
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

/// The whole set of the example: 0.005 and 0.0046875 to a pixel, from (-2.25, -1).
#[multiversion(targets = "simd")]
pub fn mandelbrot(out: &mut [u16], w: usize, limit: i32) {
    for (py, row) in out.chunks_exact_mut(w).enumerate() {
        for (px, out) in row.iter_mut().enumerate() {
            let (cx, cy) = ((px as f32).mul_add(0.005, -2.25), (py as f32).mul_add(0.0046875, -1.0));
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

/// One step; positions are x, y, z, mass.
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
        positions_out[i] = [v[0].mul_add(dt, p[0]), v[1].mul_add(dt, p[1]), v[2].mul_add(dt, p[2]), p[3]];
    }
}

/// Counters that [`add`] adds to.
pub const COUNTERS: usize = 4096;

/// Every item, from `first` on, adds one to `rounds` counters by locked instructions; `olds` gets the sums of what it found.
pub fn add(counters: &[AtomicU32], olds: &mut [u32], first: u32, rounds: u32) {
    for (item, old) in (first..).zip(olds) {
        let (mut at, mut sum) = (item, 0u32);
        for _ in 0..rounds {
            at = at.wrapping_mul(2_654_435_761).wrapping_add(12_345);
            sum = sum.wrapping_add(counters[(at >> 20) as usize].fetch_add(1, Ordering::Relaxed));
        }
        *old = sum;
    }
}

/// The same on two threads, half of the items each.
pub fn add_by_two(counters: &[AtomicU32], olds: &mut [u32], rounds: u32) {
    let half = olds.len() / 2;
    let (low, high) = olds.split_at_mut(half);
    std::thread::scope(|scope| {
        scope.spawn(move || add(counters, high, half as u32, rounds));
        add(counters, low, 0, rounds);
    });
}

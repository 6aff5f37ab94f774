//! The kernels' results, as plain loops. The loops follow the CUDA sources and use nothing of
//! warploom. Float operations keep the sources' order, and `mul_add` stands where the machine code
//! has a fused multiply-add.

use std::collections::BTreeSet;

use half::f16;

use crate::draw::Draw;

/// The number of lanes of a warp.
pub const WARP: usize = 32;

/// A launch shape of one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub grid: usize,
    pub block: usize,
}

impl Shape {
    /// Returns the least grid that covers `n` lanes.
    pub fn covering(n: usize, block: usize) -> Shape {
        Shape { grid: n.div_ceil(block), block }
    }

    pub fn lanes(self) -> usize {
        self.grid * self.block
    }

    /// Returns the elements that a lane of a grid-stride loop takes, in order.
    pub fn strided(self, block: usize, thread: usize, n: usize) -> impl Iterator<Item = usize> {
        (block * self.block + thread..n).step_by(self.lanes())
    }

    /// Returns the first thread and the number of lanes of each warp of a block.
    pub fn warps(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.block).step_by(WARP).map(move |first| (first, WARP.min(self.block - first)))
    }
}

pub fn saxpy(a: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(&x, &y)| a.mul_add(x, y)).collect()
}

/// Returns row-major `a` (m x k) times `b` (k x n).
pub fn matmul(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let cell = |row: usize, column: usize| {
        (0..k).fold(0.0f32, |sum, i| a[row * k + i].mul_add(b[i * n + column], sum))
    };
    (0..m * n).map(|at| cell(at / n, at % n)).collect()
}

/// Returns the example's reduction: the float sum over the blocks, and the maximum of the rounded
/// values.
pub fn reduce(x: &[f32], shape: Shape) -> (Vec<f32>, i32) {
    let partial = (0..shape.grid).map(|block| {
        let mut lanes: Vec<f32> = (0..shape.block)
            .map(|t| shape.strided(block, t, x.len()).fold(0.0, |sum, i| sum + x[i]))
            .collect();
        let warps = shape.warps().map(|(first, count)| {
            let lanes = &mut lanes[first..first + count];
            for step in [16, 8, 4, 2, 1] {
                // Ascending: the loop reads lane l + step before it changes, as in a shuffle of the
                // whole warp.
                for l in 0..count.saturating_sub(step) {
                    lanes[l] += lanes[l + step];
                }
            }
            lanes[0]
        });
        warps.reduce(|sum, warp| sum + warp).expect("a block has a warp")
    });
    (partial.collect(), x.iter().map(|v| v.round_ties_even() as i32).max().unwrap_or(i32::MIN))
}

pub fn histogram(data: &[u8]) -> Vec<u32> {
    let mut bins = vec![0; 256];
    data.iter().for_each(|&byte| bins[usize::from(byte)] += 1);
    bins
}

/// The part of the plane that an image shows.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub w: usize,
    pub h: usize,
    pub x0: f32,
    pub y0: f32,
    pub dx: f32,
    pub dy: f32,
}

impl View {
    fn points(self) -> impl Iterator<Item = (f32, f32)> {
        (0..self.w * self.h).map(move |at| {
            let (px, py) = ((at % self.w) as f32, (at / self.w) as f32);
            (px.mul_add(self.dx, self.x0), py.mul_add(self.dy, self.y0))
        })
    }
}

/// Returns the example's iteration counts.
pub fn mandelbrot(view: View, limit: i32) -> Vec<u16> {
    view.points()
        .map(|(cx, cy)| {
            let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
            while n < limit {
                let yy = y * y;
                if x.mul_add(x, yy) > 4.0 {
                    break;
                }
                (x, y) = (x.mul_add(x, cx - yy), 2.0f32.mul_add(x * y, cy));
                n += 1;
            }
            n as u16
        })
        .collect()
}

/// Returns the counts of the corpus's variant, whose count jumps by two now and then.
pub fn mandel(view: View, limit: i32) -> Vec<u32> {
    view.points()
        .map(|(cx, cy)| {
            let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
            while n < limit {
                let (xx, yy) = (x * x, y * y);
                if xx + yy > 4.0 {
                    break;
                }
                y = (x + x).mul_add(y, cy);
                x = (xx - yy) + cx;
                n += if n & 15 == 7 && x < -1.9 { 2 } else { 1 };
            }
            n as u32
        })
        .collect()
}

/// Returns inclusive prefix sums of each run of `block` elements.
pub fn scan_blocks(data: &[u32], block: usize) -> Vec<u32> {
    let sums = |part: &[u32]| {
        let mut sum = 0u32;
        part.iter()
            .map(move |&v| {
                sum = sum.wrapping_add(v);
                sum
            })
            .collect::<Vec<_>>()
    };
    data.chunks(block).flat_map(sums).collect()
}

/// The result of a step of the n-body example: positions, velocities and the image.
pub struct Bodies {
    pub positions: Vec<[f32; 4]>,
    pub velocities: Vec<[f32; 4]>,
    pub image: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    pub dt: f32,
    pub softening2: f32,
    pub w: usize,
    pub h: usize,
    pub pixels_per_unit: f32,
}

pub fn nbody(positions: &[[f32; 4]], velocities: &[[f32; 4]], g: Gravity) -> Bodies {
    let mut after = Bodies { positions: vec![], velocities: vec![], image: vec![0; g.w * g.h] };
    for (p, v) in positions.iter().zip(velocities) {
        let mut pull = [0.0f32; 3];
        for q in positions {
            let d = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
            let square = d[0].mul_add(d[0], d[1].mul_add(d[1], d[2].mul_add(d[2], g.softening2)));
            let inverse = (1.0 / f64::from(square).sqrt()) as f32;
            let force = q[3] * inverse * inverse * inverse;
            pull = std::array::from_fn(|k| d[k].mul_add(force, pull[k]));
        }
        let velocity: [f32; 3] = std::array::from_fn(|k| pull[k].mul_add(g.dt, v[k]));
        let position: [f32; 3] = std::array::from_fn(|k| velocity[k].mul_add(g.dt, p[k]));
        let px = position[0].mul_add(g.pixels_per_unit, 0.5 * g.w as f32).floor();
        let py = position[1].mul_add(g.pixels_per_unit, 0.5 * g.h as f32).floor();
        if px >= 0.0 && px < g.w as f32 && py >= 0.0 && py < g.h as f32 {
            after.image[py as usize * g.w + px as usize] += 1;
        }
        after.positions.push([position[0], position[1], position[2], p[3]]);
        after.velocities.push([velocity[0], velocity[1], velocity[2], v[3]]);
    }
    after
}

/// A picture of doubles that the stencil example smooths.
#[derive(Clone, Debug)]
pub struct Picture {
    pub w: usize,
    pub h: usize,
    pub cells: Vec<f64>,
}

impl Picture {
    /// Returns the picture after one step of the stencil example.
    pub fn smooth(&self, sharpness: f64, rate: f64) -> Picture {
        let flow = |from: f64, to: f64| {
            let s = (from - to) * sharpness;
            (from - to) / s.mul_add(s, 1.0)
        };
        let cell = |i: usize| {
            let (x, y, c) = (i % self.w, i / self.w, self.cells[i]);
            let neighbour =
                |exists: bool, at: usize| flow(if exists { self.cells[at] } else { c }, c);
            let sides = neighbour(x > 0, i.wrapping_sub(1)) + neighbour(x + 1 < self.w, i + 1);
            let ends =
                neighbour(y > 0, i.wrapping_sub(self.w)) + neighbour(y + 1 < self.h, i + self.w);
            rate.mul_add(sides + ends, c)
        };
        Picture { cells: (0..self.cells.len()).map(cell).collect(), ..*self }
    }

    pub fn grey(&self) -> Vec<u8> {
        self.cells.iter().map(|c| (c * 255.0).round_ties_even() as u8).collect()
    }
}

/// Sorts each segment from one start to the next.
pub fn sort_segments(data: &[f32], starts: &[i32]) -> Vec<f32> {
    let mut data = data.to_vec();
    for ends in starts.windows(2) {
        data[ends[0] as usize..ends[1] as usize].sort_by(f32::total_cmp);
    }
    data
}

/// Returns the convolution of `x` with `taps`. The number of taps is odd; the middle tap is for the
/// element itself.
pub fn convolution(taps: &[f32], x: &[f32]) -> Vec<f32> {
    let radius = taps.len() / 2;
    let at = |i: usize| i.checked_sub(radius).and_then(|i| x.get(i)).copied().unwrap_or(0.0);
    (0..x.len())
        .map(|i| taps.iter().enumerate().fold(0.0f32, |sum, (k, tap)| tap.mul_add(at(i + k), sum)))
        .collect()
}

/// Returns exp(-2 pi i k / n) for k below n / 2.
pub fn roots(n: usize) -> Vec<[f32; 2]> {
    let angle = |k| -std::f64::consts::TAU * k as f64 / n as f64;
    (0..n / 2).map(|k| [angle(k).cos() as f32, angle(k).sin() as f32]).collect()
}

/// Returns the Fourier transform of `x`, whose length is a power of two and twice the number of
/// roots. It transforms the even and the odd elements and combines the transforms.
pub fn fft(x: &[[f32; 2]], roots: &[[f32; 2]]) -> Vec<[f32; 2]> {
    if x.len() == 1 {
        return x.to_vec();
    }
    let every_other = |first: usize| x.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
    let other_roots: Vec<_> = roots.iter().step_by(2).copied().collect();
    let (even, odd) = (fft(&every_other(0), &other_roots), fft(&every_other(1), &other_roots));
    let turned = odd
        .iter()
        .zip(roots)
        .map(|(b, w)| [b[0].mul_add(w[0], -(b[1] * w[1])), b[0].mul_add(w[1], b[1] * w[0])]);
    let (low, high): (Vec<_>, Vec<_>) = even
        .iter()
        .zip(turned)
        .map(|(a, t)| ([a[0] + t[0], a[1] + t[1]], [a[0] - t[0], a[1] - t[1]]))
        .unzip();
    [low, high].concat()
}

/// A set of keys in the layout of the hash table example.
pub struct HashTable(pub Vec<u64>);

impl HashTable {
    /// Builds a table of `slots` slots, a power of two. Keys enter in descending order, so that no
    /// key moves again.
    pub fn new(keys: &[u64], slots: usize) -> HashTable {
        let mut table = HashTable(vec![0; slots]);
        for key in keys.iter().copied().collect::<BTreeSet<u64>>().into_iter().rev() {
            let slot = table.probe(key).find(|&slot| table.0[slot] == 0).expect("a free slot");
            table.0[slot] = key;
        }
        table
    }

    fn probe(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let last = self.0.len() - 1;
        let h = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        let first = (h ^ h >> 33) as usize;
        (0..=last).map(move |k| first.wrapping_add(k) & last)
    }

    /// Returns the slot of a key, or -1.
    pub fn find(&self, key: u64) -> i32 {
        let slot = self
            .probe(key)
            .find(|&slot| self.0[slot] == key || self.0[slot] == 0)
            .expect("a free slot");
        if self.0[slot] == key { slot as i32 } else { -1 }
    }
}

/// Returns the halves of the blend example's result, and the bytes that a screen shows.
pub fn blend(a: &[u16], b: &[u16], mask: &[u16], gain: f32) -> (Vec<u16>, Vec<u8>) {
    let float = |half: u16| f16::from_bits(half).to_f32();
    (0..a.len())
        .map(|i| {
            let light = float(mask[i]).mul_add(float(b[i]) - float(a[i]), float(a[i])) * gain;
            (
                f16::from_f32(light).to_bits(),
                (255.0 - 255.0 / (1.0 + light)).round_ties_even() as u8,
            )
        })
        .unzip()
}

macro_rules! fma_chains {
    ($name:ident, $float:ty) => {
        /// Returns the results of a multiply-add kernel of the benches.
        pub fn $name(x: &[$float], rounds: usize) -> Vec<$float> {
            let factors: [$float; 4] = [0.75, 0.625, 0.5, 0.375];
            x.iter()
                .map(|&v| {
                    let mut chains = [v, v + 1.0, v + 2.0, v + 3.0];
                    for _ in 0..4 * rounds {
                        chains = std::array::from_fn(|k| chains[k].mul_add(factors[k], v));
                    }
                    (chains[0] + chains[1]) + (chains[2] + chains[3])
                })
                .collect()
        }
    };
}
fma_chains!(fma_chains, f32);
fma_chains!(dfma_chains, f64);

/// Returns the results of the integer kernel of the benches, whose generator is that of `draw`.
pub fn mix(x: &[u64], rounds: usize) -> Vec<u64> {
    x.iter().map(|&x| (0..rounds).fold(x, |z, _| Draw::new(z).u64())).collect()
}

/// Returns the corpus's mix of warp and block votes, shuffles and bit operations: one result for
/// each lane of the grid.
///
/// Lanes past the end of `x` have the value 0. The result is defined only if every lane that a
/// shuffle reads exists.
pub fn votes(x: &[i32], shape: Shape) -> Vec<u32> {
    let mut out = vec![];
    for block in 0..shape.grid {
        let values: Vec<i32> = (0..shape.block)
            .map(|t| x.get(block * shape.block + t).copied().unwrap_or(0))
            .collect();
        let count = values.iter().filter(|&&v| v > 2).count() as u32;
        let or = u32::from(values.iter().any(|&v| v != 0));
        let and = u32::from(values.iter().all(|&v| v != 0));
        for (first, lanes) in shape.warps() {
            let warp = &values[first..first + lanes];
            let ballot = (0..lanes).filter(|&l| warp[l] > 3).fold(0u32, |mask, l| mask | 1 << l);
            let any = u32::from(warp.contains(&7));
            let all = u32::from(warp.iter().all(|&v| v >= 0));
            let active = if lanes == WARP { u32::MAX } else { (1 << lanes) - 1 };
            for (lane, &v) in warp.iter().enumerate() {
                let below = (1u32 << lane) - 1;
                let up = warp[lane.saturating_sub(1)];
                let indexed = warp[(lane & 24) | (v as usize & 7)];
                let find_first = if ballot == 0 { 0 } else { ballot.trailing_zeros() + 1 };
                // Bytes 0, 1, 2 of the ballot, then byte 0 of the value.
                let permuted = ballot & 0x00ff_ffff | (v as u32 & 0xff) << 24;
                // The high word of (value : ballot) << 5.
                let funnel = (v as u32) << 5 | ballot >> 27;
                let terms = [
                    ballot,
                    any * 3,
                    all * 5,
                    (ballot & below).count_ones(),
                    ballot.leading_zeros(),
                    find_first,
                    ballot.reverse_bits(),
                    up as u32,
                    indexed as u32,
                    warp[3] as u32,
                    count,
                    or,
                    and,
                    permuted,
                    funnel,
                    lane as u32,
                    active,
                ];
                out.push(terms.into_iter().fold(0u32, u32::wrapping_add));
            }
        }
    }
    out
}

/// Returns the result of the corpus's local-memory kernel, which is equal in all lanes.
pub fn local(x: &[i32], n: usize) -> i32 {
    let mut a: Vec<i32> = (0..64).map(|i| x[i].wrapping_mul(i as i32)).collect();
    for (i, &v) in x[..n].iter().enumerate() {
        a.swap(v as usize & 63, i & 63);
    }
    (0..64).fold(0i32, |sum, i| sum.wrapping_add(a[(i * n) & 63]))
}

/// Returns the results of the corpus's switch.
pub fn switch(x: &[i32], threads: usize) -> Vec<i32> {
    let lane = |t: usize| {
        let i = t as i32;
        match x[t] {
            0 => i * 3,
            1 => i / 3,
            2 => i ^ 77,
            3 => x[t + 1],
            4 => !i,
            5 => i << 4,
            6 => x[x[t + 3] as usize],
            7 => 7777,
            8 => i % 5,
            _ => -1,
        }
    };
    (0..threads).map(lane).collect()
}

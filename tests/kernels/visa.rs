//! Compiled kernels of all platforms against Rust. The groups have odd sizes, which leave lanes of
//! the last thread without work.

use crate::draw::Draw;
use crate::support::Case;

const PLATFORMS: [&str; 4] = ["tgllp", "dg2", "pvc", "bmg"];
/// The number of elements behind the results, which must stay unchanged.
const REST: usize = 16;

fn words(count: usize, seed: u64) -> Vec<u32> {
    Draw::new(seed).vec(count, Draw::u32)
}

/// Returns a case for a kernel of the corpus that also has a manifest.
fn kernel(name: &str, platform: &str, entry: &'static str) -> Case {
    Case::visa(&format!("kernels/{name}.{platform}.zebin"), entry)
}

/// Numbers of groups and of items of each group, for kernels of one dimension.
const SHAPES: [(u32, u32); 5] = [(1, 1), (3, 37), (2, 33), (5, 7), (1, 100)];

#[test]
fn histograms() {
    for platform in PLATFORMS {
        for (grid, block) in SHAPES {
            let items = (grid * block) as usize;
            for n in [items, items.saturating_sub(3)] {
                let (key, val) = (words(items, 1), words(items, 2));
                let (mut counts, mut low, mut high) =
                    (vec![5_i32; 16], vec![100_i32; 16], vec![-100_i32; 16]);
                let before = (counts.clone(), low.clone(), high.clone());
                for (&key, &val) in key.iter().zip(&val).take(n) {
                    let (bin, val) = (key as usize & 15, val as i32);
                    counts[bin] += val & 7;
                    low[bin] = low[bin].min(val);
                    high[bin] = high[bin].max(val);
                }
                kernel("bins", platform, "bins")
                    .grid([grid, 1, 1])
                    .block([block, 1, 1])
                    .inout(&before.0, &counts)
                    .inout(&before.1, &low)
                    .inout(&before.2, &high)
                    .input(&key)
                    .input(&val)
                    .value(n as i32)
                    .check();
            }
        }
    }
}

#[test]
fn life() {
    for platform in PLATFORMS {
        for (width, height, block) in
            [(1, 1, [16, 4]), (17, 5, [7, 3]), (50, 9, [33, 1]), (29, 31, [5, 13])]
        {
            let before: Vec<u8> =
                words(width * height, 7).iter().map(|word| (word >> 9 & 1) as u8).collect();
            let at = |x: usize, y: usize| before[y % height * width + x % width];
            let mut after = vec![0xee_u8; width * height + REST];
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let around = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)];
                let count: u8 =
                    around.iter().map(|&(i, j)| at(x + width - 1 + i, y + height - 1 + j)).sum();
                after[y * width + x] = (count == 3 || count == 2 && at(x, y) == 1).into();
            }
            let groups = [width.div_ceil(block[0]) as u32, height.div_ceil(block[1]) as u32, 1];
            kernel("life", platform, "life")
                .grid(groups)
                .block([block[0] as u32, block[1] as u32, 1])
                .inout(&vec![0xee_u8; width * height + REST], &after)
                .input(&before)
                .value(width as i32)
                .value(height as i32)
                .check();
        }
    }
}

#[test]
fn fixed_point() {
    for platform in PLATFORMS {
        for (grid, block) in SHAPES {
            let items = (grid * block) as usize;
            let pairs =
                |seed: u64| -> Vec<i64> { Draw::new(seed).vec(items, |draw| draw.u64() as i64) };
            let (a, b) = (pairs(3), pairs(4));
            let mut after = vec![-1_i64; items + REST];
            for n in 0..items {
                let (mut x, mut y, mut r) = (a[n], b[n], 1_i64 << 32);
                for k in 0..6 {
                    x = ((i128::from(x) * i128::from(y)) >> 32) as i64;
                    r = r.wrapping_add(x >> k);
                    x = x.wrapping_abs();
                    y ^= (y as u64 >> 9) as i64;
                }
                after[n] = r;
            }
            kernel("fixmul", platform, "fixmul")
                .grid([grid, 1, 1])
                .block([block, 1, 1])
                .inout(&vec![-1_i64; items + REST], &after)
                .input(&a)
                .input(&b)
                .check();
        }
    }
}

#[test]
fn recursion() {
    fn follow(next: &[i32], w: &[i32], i: i32, depth: i32) -> i32 {
        if i < 0 || depth > 20 {
            return depth;
        }
        let rest = follow(next, w, next[i as usize], depth + 1);
        rest.wrapping_mul(3).wrapping_add(w[i as usize])
    }
    for platform in PLATFORMS {
        for (grid, block) in SHAPES {
            let items = (grid * block) as usize;
            let next: Vec<i32> = words(items, 5)
                .iter()
                .map(|word| (word % (items as u32 + items as u32 / 4 + 1)) as i32)
                .collect();
            let next: Vec<i32> =
                next.into_iter().map(|n| if n < items as i32 { n } else { -1 }).collect();
            let w: Vec<i32> = words(items, 6).iter().map(|&word| word as i32).collect();
            let mut after = vec![-7_i32; items + REST];
            for (n, place) in (0..items as i32).zip(&mut after) {
                *place = follow(&next, &w, n, 0);
            }
            kernel("lists", platform, "lists")
                .grid([grid, 1, 1])
                .block([block, 1, 1])
                .inout(&vec![-7_i32; items + REST], &after)
                .input(&next)
                .input(&w)
                .check();
        }
    }
}

#[test]
fn hashes() {
    const K: [u32; 8] = [
        0x428a_2f98,
        0x7137_4491,
        0xb5c0_fbcf,
        0xe9b5_dba5,
        0x3956_c25b,
        0x59f1_11f1,
        0x923f_82a4,
        0xab1c_5ed5,
    ];
    const START: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    for platform in PLATFORMS {
        for (grid, block) in SHAPES {
            let items = (grid * block) as usize;
            let given = words(items * 8, 8);
            let mut after = vec![9_u32; (items + REST) * 8];
            for (given, out) in given.chunks(8).zip(after.chunks_mut(8)) {
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = START;
                for k in 0..24 {
                    let spread = e.rotate_left(26) ^ e.rotate_left(21) ^ e.rotate_left(7);
                    let chosen = (e & f) ^ (!e & g);
                    let t1 = [h, spread, chosen, K[k % 8], given[k % 8]]
                        .into_iter()
                        .fold(0, u32::wrapping_add);
                    let spread = a.rotate_left(30) ^ a.rotate_left(19) ^ a.rotate_left(10);
                    let t2 = spread.wrapping_add((a & b) ^ (a & c) ^ (b & c));
                    (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
                    (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
                }
                out.copy_from_slice(&[a, b, c, d, e, f, g, h]);
            }
            after[items * 8..].fill(9);
            kernel("sha", platform, "sha")
                .grid([grid, 1, 1])
                .block([block, 1, 1])
                .inout(&vec![9_u32; (items + REST) * 8], &after)
                .input(&given)
                .check();
        }
    }
}

/// Kernels on tiles of whole groups, of images of odd sizes; and blocks that each sort 64 words.
#[test]
fn groups_of_a_fixed_size() {
    for platform in PLATFORMS {
        for (width, height, grid) in [(16_usize, 8_usize, [1, 1]), (80, 24, [5, 3])] {
            let given: Vec<f32> = words(width * height, 9)
                .iter()
                .map(|word| (word >> 20) as f32 * 0.25 - 300.0)
                .collect();
            let weights: Vec<f32> = (0..9).map(|n| n as f32 * 0.3 - 1.1).collect();
            let mut after = vec![0.5_f32; width * height + REST];
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let near =
                    |n: usize, at: usize, size: usize| (at + n).saturating_sub(1).min(size - 1);
                let sum = (0..9).fold(0.0_f32, |sum, n| {
                    weights[n]
                        .mul_add(given[near(n / 3, y, height) * width + near(n % 3, x, width)], sum)
                });
                after[y * width + x] = sum;
            }
            kernel("conv3", platform, "conv3")
                .grid([grid[0], grid[1], 1])
                .block([16, 8, 1])
                .inout(&vec![0.5_f32; width * height + REST], &after)
                .input(&given)
                .input(&weights)
                .value(width as i32)
                .value(height as i32)
                .check();
        }
        for groups in [1, 5] {
            let before = words(64 * groups, 10);
            let mut after = before.clone();
            after.chunks_mut(64).for_each(|block| block.sort_by_key(|word| word & 0xff));
            kernel("radix", platform, "radix")
                .grid([groups as u32, 1, 1])
                .block([64, 1, 1])
                .inout(&before, &after)
                .check();
        }
    }
}

/// Kernels without manifests.
mod others {
    use super::{REST, SHAPES, words};
    use crate::support::Case;

    /// Each platform with the lanes of a thread of `reduce`.
    const PLATFORMS: [(&str, usize); 4] = [("tgllp", 16), ("dg2", 16), ("pvc", 32), ("bmg", 32)];

    fn floats(count: usize, seed: u64) -> Vec<f32> {
        words(count, seed).iter().map(|word| (word >> 8) as f32 / 65536.0 - 100.0).collect()
    }

    #[test]
    fn saxpy() {
        for (platform, _) in PLATFORMS {
            for (grid, block) in SHAPES {
                let n = (grid * block) as usize;
                let (x, y) = (floats(n, 1), floats(n + REST, 2));
                let mut after = y.clone();
                after
                    .iter_mut()
                    .zip(&x)
                    .take(n - n / 9)
                    .for_each(|(y, x)| *y = (-1.7_f32).mul_add(*x, *y));
                Case::visa(&format!("{platform}/k01_saxpy.zebin"), "saxpy")
                    .grid([grid, 1, 1])
                    .block([block, 1, 1])
                    .input(&x)
                    .inout(&y, &after)
                    .value(-1.7_f32)
                    .value((n - n / 9) as u32)
                    .check();
            }
        }
    }

    #[test]
    fn matmul() {
        for (platform, _) in PLATFORMS {
            for n in [16_usize, 48] {
                let (a, b) = (floats(n * n, 3), floats(n * n, 4));
                let cell = |row: usize, column: usize| {
                    (0..n).fold(0.0_f32, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum))
                };
                let after: Vec<f32> = (0..n * n).map(|at| cell(at / n, at % n)).collect();
                let tiles = n as u32 / 16;
                Case::visa(&format!("{platform}/k02_matmul_slm.zebin"), "matmul")
                    .grid([tiles, tiles, 1])
                    .block([16, 16, 1])
                    .input(&a)
                    .input(&b)
                    .inout(&vec![0.0_f32; n * n], &after)
                    .value(n as i32)
                    .check();
            }
        }
    }

    /// The values are whole numbers, whose sums are exact. Some groups have values above 100, whose
    /// threads also write values that lanes exchange.
    #[test]
    fn reduce() {
        for (platform, lanes) in PLATFORMS {
            for (groups, block) in [(3, 37_usize), (1, 1), (2, 100), (3, 64)] {
                let n = groups * block - block / 3;
                let tells = block % lanes == 0;
                let of = |item: usize| match item {
                    _ if item >= n => 0.0,
                    _ if tells && item % 48 == 5 => 101.0,
                    _ => (item * 7 % 23) as f32,
                };
                let given: Vec<f32> = (0..n).map(of).collect();
                let mut after = vec![-1.0_f32; groups + groups * block + REST];
                let before = after.clone();
                for group in 0..groups {
                    let items: Vec<f32> = (0..block).map(|item| of(group * block + item)).collect();
                    after[group] = items.iter().sum();
                    for (thread, items) in items.chunks(lanes).enumerate() {
                        if items.iter().all(|&item| item <= 100.0) {
                            continue;
                        }
                        let mut sum = 0.0;
                        for (lane, &item) in items.iter().enumerate() {
                            sum += item;
                            after[groups + group * block + thread * lanes + lane] =
                                items[(lane + 1) & 7] + sum;
                        }
                    }
                }
                Case::visa(&format!("{platform}/k03_reduce_subgroup.zebin"), "reduce")
                    .grid([groups as u32, 1, 1])
                    .block([block as u32, 1, 1])
                    .input(&given)
                    .inout(&before, &after)
                    .value(n as u32)
                    .check();
            }
        }
    }

    #[test]
    fn stack_calls() {
        fn fib(n: i32) -> i32 {
            if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
        }
        for (platform, _) in PLATFORMS {
            for (grid, block) in SHAPES {
                let n = (grid * block) as usize;
                let mut after = vec![-1_i32; n + REST];
                after
                    .iter_mut()
                    .enumerate()
                    .take(n)
                    .for_each(|(i, place)| *place = fib(i as i32 & 7));
                Case::visa(&format!("{platform}/k10_stackcall.zebin"), "stackcall")
                    .grid([grid, 1, 1])
                    .block([block, 1, 1])
                    .inout(&vec![-1_i32; n + REST], &after)
                    .check();
            }
        }
    }
}

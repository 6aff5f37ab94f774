//! The corpus of GFX9: every kernel over odd grids and workgroups of 1 to 1,024 lanes.

use crate::draw::Draw;
use crate::reference::Shape;
use crate::support::Case;

const BLOCKS: [usize; 6] = [1, 63, 64, 65, 256, 1024];
/// Words after each output that no lane may touch.
const SLACK: usize = 8;

#[test]
fn saxpy() {
    for (block, n) in BLOCKS.into_iter().zip([7usize, 1000, 64, 651, 4097, 3000]) {
        let mut draw = Draw::new(block as u64);
        let x = draw.vec(n, |d| d.f32(10.0));
        let y = draw.vec(n + SLACK, |d| d.f32(10.0));
        let mut expected: Vec<f32> =
            x.iter().zip(&y).map(|(&x, &y)| (-1.7f32).mul_add(x, y)).collect();
        expected.extend(&y[n..]);
        let kernel = Case::gfx9("k01_saxpy", "saxpy").shape(Shape::covering(n, block));
        kernel.inout(&y, &expected).input(&x).value(-1.7f32).value(n as u32).check();
    }
}

#[test]
fn matmul() {
    for n in [16usize, 48, 80] {
        let mut draw = Draw::new(n as u64);
        let a = draw.vec(n * n, |d| d.f32(2.0));
        let b = draw.vec(n * n, |d| d.f32(2.0));
        let cell = |row: usize, column: usize| {
            (0..n).fold(0f32, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum))
        };
        let c: Vec<f32> = (0..n * n).map(|at| cell(at / n, at % n)).collect();
        let tiles = (n / 16) as u32;
        let kernel = Case::gfx9("k02_matmul", "matmul").grid([tiles, tiles, 1]).block([16, 16, 1]);
        kernel.input(&a).input(&b).output(&c).value(n as i32).check();
    }
}

/// Sums in a tree that halves the workgroup: the tree ignores lanes past the power of two.
fn tree(mut lanes: Vec<u32>) -> u32 {
    let mut d = lanes.len() / 2;
    while d > 0 {
        for l in 0..d {
            lanes[l] = lanes[l].wrapping_add(lanes[l + d]);
        }
        d /= 2;
    }
    lanes[0]
}

#[test]
fn reduce() {
    for (block, grid, n) in
        [(1, 5, 9), (63, 3, 1000), (64, 1, 64), (65, 4, 777), (256, 7, 5000), (1024, 3, 9999)]
    {
        let input = Draw::new(block as u64).vec(n, |d| d.below(1 << 30));
        let group = |group: usize| {
            let lane = |l: usize| {
                (group * block + l..n)
                    .step_by(block * grid)
                    .fold(0, |sum: u32, i| sum.wrapping_add(input[i]))
            };
            tree((0..block).map(lane).collect())
        };
        let out: Vec<u32> = (0..grid).map(group).collect();
        let kernel = Case::gfx9("k03_reduce", "reduce").shape(Shape { grid, block });
        kernel.input(&input).output(&out).value(n as u32).local(4 * block).check();
    }
}

#[test]
fn histograms() {
    for entry in ["hist_global", "hist_local"] {
        for (block, grid, n) in [
            (1, 3, 50),
            (63, 2, 999),
            (64, 1, 64),
            (65, 3, 2000),
            (256, 5, 10_007),
            (1024, 2, 5000),
        ] {
            let input = Draw::new(block as u64).vec(n, |d| d.below(256) as u8);
            let mut counts = vec![0u32; 256];
            input.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
            let kernel = Case::gfx9("k04_hist", entry).shape(Shape { grid, block });
            kernel.input(&input).output(&counts).value(n as u32).check();
        }
    }
}

#[test]
fn mandel() {
    let (x0, y0, dx, dy) = (-2.1f32, -1.2f32, 0.053f32, 0.067f32);
    for (block, w, h) in [
        ([1, 1, 1], 5, 3),
        ([63, 1, 1], 61, 7),
        ([8, 8, 1], 61, 35),
        ([64, 1, 1], 61, 35),
        ([65, 3, 1], 61, 35),
    ] {
        let point = |x: i32, y: i32| {
            let (cx, cy) = ((x as f32).mul_add(dx, x0), (y as f32).mul_add(dy, y0));
            let (mut zx, mut zy, mut i) = (0f32, 0f32, 0);
            while i < 50 && zx.mul_add(zx, zy * zy) < 4.0 {
                let t = zx.mul_add(zx, -(zy * zy)) + cx;
                zy = (zx + zx).mul_add(zy, cy);
                zx = t;
                i += 1;
            }
            i
        };
        let out: Vec<i32> =
            (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| point(x, y)).collect();
        let grid = [(w as u32).div_ceil(block[0]), (h as u32).div_ceil(block[1]), 1];
        let kernel = Case::gfx9("k05_mandel", "mandel").grid(grid).block(block).output(&out);
        kernel.value(w).value(h).value(x0).value(y0).value(dx).value(dy).value(50i32).check();
    }
}

#[test]
fn scratch() {
    for (block, grid) in [(1usize, 3usize), (63, 2), (64, 1), (65, 2), (256, 1)] {
        let n = 997;
        let input = Draw::new(block as u64).vec(n, |d| d.below(5000));
        let out: Vec<u32> = (0..block * grid)
            .map(|g| {
                let mut sorted: Vec<u32> = (0..64).map(|i| input[(g * 64 + i) % n]).collect();
                sorted.sort_unstable();
                sorted[input[g] as usize & 63].wrapping_add(sorted[(g * 7) & 63])
            })
            .collect();
        let kernel = Case::gfx9("k09_scratch", "scratch").shape(Shape { grid, block });
        kernel.input(&input).output(&out).value(n as u32).check();
    }
}

#[test]
fn calls() {
    for (block, grid) in [(1u32, 3u32), (63, 2), (64, 1), (65, 2), (256, 3)] {
        let a = |g: u32, i: u32| g.wrapping_mul(i & 15);
        let out: Vec<u32> = (0..block * grid)
            .map(|g| a(g, g).wrapping_mul(3).wrapping_add(a(g, g.wrapping_add(1))))
            .collect();
        Case::gfx9("k09_scratch", "callee")
            .shape(Shape { grid: grid as usize, block: block as usize })
            .output(&out)
            .check();
    }
}

/// Flat addresses reach LDS, scratch and global memory.
#[test]
fn generic_pointers() {
    for (sel, block) in [(0i32, 64usize), (1, 64), (2, 64), (2, 32), (1, 2)] {
        let mut l: Vec<u32> = (0..block as u32).collect();
        let mut expected: Vec<u32> = vec![0; block];
        expected.extend(vec![0; 64 - block]);
        expected.extend((0..block as u32).map(|g| g * 11));
        let before = expected.clone();
        for (g, word) in l.iter_mut().enumerate() {
            match sel {
                0 => *word += 5,
                1 => {}
                _ => expected[64 + g] += 5,
            }
        }
        for g in 0..block {
            let mut p = [1, 2, 3, sel as u32];
            if sel == 1 {
                p[g & 3] += 5;
            }
            expected[g] = l[g ^ 1] + p[sel as usize & 3];
        }
        let kernel = Case::gfx9("k09_scratch", "generic_ptr").shape(Shape { grid: 1, block });
        kernel.inout(&before, &expected).value(sel).check();
    }
}

#[test]
fn constant_table() {
    const TABLE: [u32; 16] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
    for (block, grid) in [(1usize, 19usize), (63, 3), (64, 18), (65, 3), (256, 2)] {
        let out: Vec<u32> =
            (0..block * grid).map(|g| TABLE[g & 15] + TABLE[(g / block) & 15]).collect();
        Case::gfx9("k09_scratch", "consttab").shape(Shape { grid, block }).output(&out).check();
    }
}

#[test]
fn switches() {
    for (k, block) in
        [(0u32, 1usize), (1, 63), (2, 64), (3, 65), (4, 256), (5, 64), (6, 64), (99, 7)]
    {
        let value = |g: u32| match k {
            0 => g.wrapping_mul(3),
            1 => g ^ 77,
            2 => g / 9,
            3 => g.count_ones(),
            4 => g << 3,
            5 => g + 1,
            _ => 0,
        };
        let out: Vec<u32> = (0..3 * block as u32).map(value).collect();
        Case::gfx9("k09_scratch", "swtch")
            .shape(Shape { grid: 3, block })
            .output(&out)
            .value(k)
            .check();
    }
}

/// Exchanges between the lanes of whole waves.
#[test]
fn waves() {
    for (block, grid) in [(64usize, 1usize), (64, 3), (256, 2)] {
        let input = Draw::new(grid as u64).vec(block * grid, |d| d.below(40));
        let mut out = vec![0u32; 1024 * 2];
        for (wave, lanes) in input.chunks(64).enumerate() {
            let below = (0..64).fold(0u64, |mask, l| mask | u64::from(lanes[l] < 17) << l);
            for l in 0..64usize {
                let g = wave * 64 + l;
                let a = lanes[(g * 5) & 63];
                let b = if l % 16 == 0 { 0 } else { lanes[l - 1] };
                // Rows 1 and 3 get lane 15 of the row before. Rows 0 and 2 keep the register's
                // value: the upper half of an address, which is where guest memory begins.
                let c = if l / 16 % 2 == 1 { lanes[l / 16 * 16 - 1] } else { 2 };
                // Within 32 lanes: the lane with its lowest bit flipped.
                let d = lanes[l ^ 1];
                let p = lanes[63 - l];
                let sum = [a, b, c, d, lanes[0], lanes[3], below as u32, l as u32, p, 64];
                out[g] = sum.iter().fold(0, |sum: u32, &v| sum.wrapping_add(v));
            }
        }
        out.truncate(block * grid);
        let kernel = Case::gfx9("k12_subgroup", "wave").shape(Shape { grid, block });
        // Clocks follow.
        kernel.output_and_more(&out, 8192).input(&input).check();
    }
}

#[test]
fn subgroups() {
    for (block, grid) in [(64usize, 1usize), (256, 3), (1024, 2)] {
        let input = Draw::new(block as u64).vec(block * grid, |d| d.below(100) as i32);
        let mut out = vec![];
        for group in input.chunks(block) {
            let most = *group.iter().max().expect("lanes");
            for wave in group.chunks(64) {
                let (sum, all) = (wave.iter().sum::<i32>(), i32::from(wave.iter().all(|&x| x > 3)));
                let mut scan = 0;
                for (l, &x) in wave.iter().enumerate() {
                    scan += x;
                    out.push(sum + scan * 3 + wave[5] + all + l as i32 + most);
                }
            }
        }
        let kernel = Case::gfx9("k12_subgroup", "sg").shape(Shape { grid, block });
        kernel.output(&out).input(&input).check();
    }
}

/// Scalar loads, stores and atomics in all address forms.
#[test]
fn scalar_memory() {
    let c: Vec<u32> = (0..32).map(|i| 1000 + i).collect();
    for k in [0u32, 3, 9] {
        let off = (k & 15) as usize;
        let (r0, r1, r2, r3) = (c[off], c[off + 4], c[off], c[3]);
        let before: Vec<u32> = (0..64).map(|i| i * 3).collect();
        let mut o = before.clone();
        // s_store_dword at 0x40, s_store_dwordx2 at 0x48.
        o[16] = r0;
        (o[18], o[19]) = (r1, 0);
        // s_atomic_add at 0x80: the old value comes back.
        let a = o[32];
        o[32] += r2;
        // s_atomic_umax_x2 at 0x88.
        let old = u64::from(o[35]) << 32 | u64::from(o[34]);
        let new = old.max(r3.into());
        (o[34], o[35]) = (new as u32, (new >> 32) as u32);
        // s_atomic_cmpswap at 0x90: swaps in 7 if there is r0.
        let swapped = o[36];
        if o[36] == r0 {
            o[36] = 7;
        }
        // s_atomic_inc at 0x98.
        o[38] = if o[38] >= r0 { 0 } else { o[38] + 1 };
        (o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7]) =
            (r0, r1, r2, r3, a, old as u32, swapped, 1);
        Case::gfx9("k15_smem", "smem_forms").inout(&before, &o).input(&c).value(k).check();
    }
}

#[test]
fn scalar_buffers() {
    // 16 records of 4 bytes, then fewer records, so that stores are out of range.
    for records in [16u32, 9, 3] {
        let before: Vec<u32> = (0..20).map(|i| 500 + i).collect();
        let mut src = before.clone();
        let within = |word: usize| word < records as usize;
        let load = |src: &[u32], word: usize| if within(word) { src[word] } else { 0 };
        let (r0, r1) = (load(&src, 1), load(&src, 3));
        // A load out of range gives 0.
        let r2 = 0u64;
        if within(8) {
            src[8] = r0;
        }
        if within(9) {
            src[9] |= r0;
        }
        let mut r2_after = 0;
        if within(11) {
            r2_after = u64::from(src[11]) << 32 | u64::from(src[10]);
            (src[10], src[11]) = (r2 as u32, (r2 >> 32) as u32);
        }
        // The compiler takes the last instruction's operand for an input: that operand reads the
        // returned value.
        let o = [r0, r1, r2_after as u32, (r2_after >> 32) as u32];
        Case::gfx9("k15_smem", "sbuf_forms").output(&o).inout(&before, &src).value(records).check();
    }
}

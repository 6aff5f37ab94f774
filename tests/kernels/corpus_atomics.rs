//! The corpus's atomics and calls.
//!
//! In `atomics`, a lane uses its own cells (or its partner's, in shared memory). All blocks use
//! equal cells, so with several blocks the results would depend on the order of blocks.

use half::f16;

use crate::draw::Draw;
use crate::reference::Shape;
use crate::support::{BLOCKS, Case};

fn one(block: usize) -> Shape {
    Shape { grid: 1, block }
}

/// Models an atomic on a cell: stores `new` of the old value and returns the old value.
fn swap<T: Copy>(cell: &mut T, new: impl FnOnce(T) -> T) -> T {
    let old = *cell;
    *cell = new(old);
    old
}

fn increment(limit: u32) -> impl Fn(u32) -> u32 {
    move |m| if m >= limit { 0 } else { m + 1 }
}

fn decrement(limit: u32) -> impl Fn(u32) -> u32 {
    move |m| if m == 0 || m > limit { limit } else { m - 1 }
}

/// Runs the 32-bit sequence on a signed and an unsigned cell, with or without a subtraction.
/// Returns the sum of the old values.
fn words(p: &mut i32, q: &mut u32, i: i32, v: u32, subtract: bool) -> i32 {
    let mut r = 0_i32;
    let mut add = |old: i32| r = r.wrapping_add(old);
    add(swap(p, |m| m.wrapping_add(i)));
    if subtract {
        add(swap(p, |m| m.wrapping_sub(i)));
    }
    add(swap(p, |m| m.min(i)));
    add(swap(p, |m| m.max(i)));
    add(swap(q, |m| m.min(v)) as i32);
    add(swap(q, |m| m.max(v)) as i32);
    add(swap(q, increment(v)) as i32);
    add(swap(q, decrement(v)) as i32);
    add(swap(p, |m| m & i));
    add(swap(p, |m| m | i));
    add(swap(p, |m| m ^ i));
    add(swap(p, |_| i));
    add(swap(p, |m| if m == i { v as i32 } else { m }));
    r
}

#[test]
fn atom32() {
    for block in BLOCKS {
        let mut draw = Draw::new(block as u64);
        let (p, q) = (draw.vec(block, |d| d.u32() as i32), draw.vec(block, |d| d.below(200)));
        let f = draw.vec(block, |d| d.below(1000) as f32);
        let v = draw.below(150);
        let (mut p2, mut q2, mut o) = (p.clone(), q.clone(), vec![]);
        for i in 0..block {
            let mut r = words(&mut p2[i], &mut q2[i], i as i32, v, true);
            r = r.wrapping_add(f[i] as i32);
            o.push(r.wrapping_add((f[i] + 1.5) as i32));
        }
        let f2 = vec![2.0_f32; block];
        Case::kernel("atomics", "atom32")
            .shape(one(block))
            .inout(&p, &p2)
            .inout(&q, &q2)
            .inout(&f, &f2)
            .output(&o)
            .value(v)
            .check();
    }
}

/// Like `atom32`, but the kernel ignores the old values and only adds to the floats.
#[test]
fn red32() {
    for block in BLOCKS {
        let mut draw = Draw::new(block as u64);
        let (p, q) = (draw.vec(block, |d| d.u32() as i32), draw.vec(block, |d| d.below(200)));
        let f = draw.vec(block, |d| d.below(1000) as f32);
        let v = draw.below(150);
        let (mut p2, mut q2) = (p.clone(), q.clone());
        for i in 0..block {
            words(&mut p2[i], &mut q2[i], i as i32, v, true);
        }
        let f2: Vec<f32> = f.iter().map(|x| x + 1.5).collect();
        Case::kernel("atomics", "red32")
            .shape(one(block))
            .inout(&p, &p2)
            .inout(&q, &q2)
            .inout(&f, &f2)
            .value(v)
            .check();
    }
}

/// Runs the common beginning of the 64-bit kernels and returns the sum of the old values.
fn wides(p: &mut u64, q: &mut i64, v: u64) -> u64 {
    let mut r = 0_u64;
    let mut add = |old: u64| r = r.wrapping_add(old);
    add(swap(p, |m| m.wrapping_add(v)));
    add(swap(p, |m| m.min(v)));
    add(swap(p, |m| m.max(v)));
    add(swap(q, |m| m.min(v as i64)) as u64);
    add(swap(q, |m| m.max(v as i64)) as u64);
    add(swap(p, |m| m & v));
    add(swap(p, |m| m | v));
    add(swap(p, |m| m ^ v));
    r
}

#[test]
fn atom64_and_red64() {
    for block in BLOCKS {
        let mut draw = Draw::new(block as u64);
        let mut wide = |_: &mut Draw| u64::from(draw.u32()) << 32 | u64::from(draw.u32());
        let mut other = Draw::new(1);
        let p = other.vec(block, &mut wide);
        let q: Vec<i64> = other.vec(block, |d| wide(d) as i64);
        let v = wide(&mut other);
        let (mut p2, mut q2, mut o) = (p.clone(), q.clone(), vec![]);
        for (p, q) in p2.iter_mut().zip(&mut q2) {
            o.push(wides(p, q, v));
        }
        Case::kernel("atomics", "red64")
            .shape(one(block))
            .inout(&p, &p2)
            .inout(&q, &q2)
            .value(v)
            .check();
        for (p, o) in p2.iter_mut().zip(&mut o) {
            *o = o.wrapping_add(swap(p, |_| v));
            *o = o.wrapping_add(swap(p, |m| if m == v { v.wrapping_add(1) } else { m }));
        }
        Case::kernel("atomics", "atom64")
            .shape(one(block))
            .inout(&p, &p2)
            .inout(&q, &q2)
            .output(&o)
            .value(v)
            .check();
    }
}

/// Atomics in shared memory on a partner's cells, and an atomic on a generic pointer; the arrays
/// have 64 elements.
#[test]
fn satom() {
    for block in [1, 7, 31, 32, 33, 63, 64] {
        for v in [6_u32, 7, 40] {
            let (mut s, mut t, mut d, mut f) = ([0_i32; 64], [0_u32; 64], [0_u64; 64], [0_f32; 64]);
            let mut sums = vec![];
            for i in 0..block {
                let (p, q, wide) = (&mut s[i ^ 1], &mut t[i ^ 3], &mut d[i ^ 2]);
                let r = words(p, q, i as i32, v, false);
                let v = u64::from(v);
                let mut w = swap(wide, |m| m.wrapping_add(v));
                w = w.wrapping_add(swap(wide, |m| if m == v { w } else { m }));
                w = w.wrapping_add(swap(wide, |_| w.wrapping_add(1)));
                w = w.wrapping_add(swap(wide, |m| m.min(w.wrapping_add(3))));
                w = w.wrapping_add(swap(wide, |m| m.max(w ^ 3)));
                w = w.wrapping_add(swap(wide, |m| m & w));
                w = w.wrapping_add(swap(wide, |m| m | w));
                w = w.wrapping_add(swap(wide, |m| m ^ w));
                sums.push((r, w, swap(&mut f[i ^ 5], |m| m + 2.0)));
            }
            let generic: Vec<i32> = (0..block as i32).map(|i| i * 10 - 5).collect();
            let (mut gen_after, mut o) = (generic.clone(), vec![]);
            for i in 0..block {
                let cell = if v & 1 != 0 { &mut gen_after[i] } else { &mut s[i] };
                let r = sums[i].0.wrapping_add(swap(cell, |m| m.wrapping_add(3)));
                o.push(r.wrapping_add(s[i]).wrapping_add(t[i] as i32));
            }
            let o2: Vec<u64> = (0..block).map(|i| sums[i].1.wrapping_add(d[i])).collect();
            let fo: Vec<f32> = sums.iter().map(|sums| sums.2).collect();
            // If the generic pointer is shared memory, every block gives equal results.
            let grid = if v & 1 == 0 { 3 } else { 1 };
            Case::kernel("atomics", "satom")
                .shape(Shape { grid, block })
                .output(&o)
                .output(&o2)
                .value(v)
                .output(&fo)
                .inout(&generic, &gen_after)
                .check();
        }
    }
}

/// Additions of doubles and of pairs of halves, which sm_50 code performs with loops of CAS.
#[test]
fn fatom() {
    for block in BLOCKS {
        let mut draw = Draw::new(block as u64);
        let d = draw.vec(block, |d| f64::from(d.u32()) * 0.37);
        let halves = draw.vec(2 * block, |d| f16::from_f32(d.f32(100.0)).to_bits());
        let h = draw.vec(block, |d| f16::from_f32(d.f32(60_000.0)).to_bits());
        let added = |(n, &bits): (usize, &u16)| {
            f16::from_f32(f16::from_bits(bits).to_f32() + if n % 2 == 0 { 1.0 } else { 2.0 })
                .to_bits()
        };
        Case::kernel("atomics", "fatom")
            .shape(one(block))
            .inout(&d, &d.iter().map(|x| x + 2.0).collect::<Vec<f64>>())
            .inout(&halves, &halves.iter().enumerate().map(added).collect::<Vec<u16>>())
            .input(&h)
            .output(&h.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect::<Vec<f32>>())
            .output(&d)
            .check();
    }
}

#[test]
fn fences() {
    for block in BLOCKS {
        let (p, q) = ([9_i32, 8, 7, 6, 5, 4], [30_i32, 31, 32, 33]);
        Case::kernel("atomics", "fences")
            .shape(Shape { grid: 3, block })
            .inout(&p, &[1, 2, 33, 6, 5, 4])
            .inout(&q, &[4, 31, 32, 33])
            .check();
    }
}

/// Recursion and function pointers; each lane has its own depth and callee.
#[test]
fn calls() {
    for block in BLOCKS {
        let x: Vec<i32> = Draw::new(block as u64).vec(block + 1, |d| d.below(13) as i32);
        let factorial = |n: i32| (1..=n).product::<i32>();
        let fibonacci = |n: i32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
        let sums: Vec<i32> = (0..block).map(|i| factorial(x[i]) + fibonacci(x[i + 1])).collect();
        let lane =
            |i: usize| if x[i] & 1 == 0 { i as f32 * 2.0 + 1.0 } else { i as f32 * i as f32 };
        Case::kernel("calls", "calls")
            .shape(Shape { grid: 3, block })
            .stack_bytes(4096)
            .output(&sums)
            .output(&(0..block).map(lane).collect::<Vec<f32>>())
            .input(&x)
            .check();
    }
}

#[test]
fn virtual_calls() {
    for block in BLOCKS {
        for n in [4, 5] {
            let lane = |i: i32| if n & 1 != 0 { i + 1 } else { i * n };
            Case::kernel("calls", "virt")
                .shape(Shape { grid: 3, block })
                .output(&(0..block as i32).map(lane).collect::<Vec<i32>>())
                .value(n)
                .check();
        }
    }
}

//! Tests against products of whole matrices. The places of elements are as in NVIDIA's tables,
//! written out by hand.

use super::*;
use crate::NanPolicy;

const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };

type Registers = Vec<[u64; LANES]>;

fn run(text: &str, registers: &[Registers]) -> Results {
    let product = Product::from_text(text).unwrap();
    assert_eq!(product.to_string(), text);
    let rows = registers.concat();
    assert_eq!(rows.len(), product.operands().count(), "{text}");
    evaluate(&product, NAN, &rows)
}

/// Puts `bits` into element `e` of a register of a lane.
fn put(registers: &mut Registers, lane: usize, register: usize, e: usize, width: usize, bits: u64) {
    registers[register][lane] |= bits << (e * width);
}

/// Small integers, whose products and sums are exact in any float of 11 digits.
fn matrix(
    random: &mut fastrand::Rng,
    rows: usize,
    cols: usize,
    from: i32,
    count: u32,
) -> Vec<Vec<i32>> {
    (0..rows).map(|_| (0..cols).map(|_| from + random.u32(..count) as i32).collect()).collect()
}

fn product_of(a: &[Vec<i32>], b: &[Vec<i32>], c: &[Vec<i32>]) -> Vec<Vec<i32>> {
    let cell = |row: usize, col: usize| {
        c[row][col] + a[row].iter().zip(b).map(|(&a, b)| a * b[col]).sum::<i32>()
    };
    (0..a.len()).map(|row| (0..8).map(|col| cell(row, col)).collect()).collect()
}

fn f16(x: i32) -> u64 {
    half::f16::from_f32(x as f32).to_bits().into()
}

fn f32_bits(x: i32) -> u64 {
    (x as f32).to_bits().into()
}

/// The fragment of A of m16n8k16 of 16 bits: a0, a1 | a2, a3 | a4, a5 | a6, a7 in four registers.
fn halves_a(a: &[Vec<i32>], of: impl Fn(i32) -> u64) -> Registers {
    let mut registers = vec![[0; LANES]; 4];
    for lane in 0..LANES {
        let (group, thread) = (lane >> 2, lane & 3);
        for i in 0..8 {
            let row = if matches!(i, 0 | 1 | 4 | 5) { group } else { group + 8 };
            let col = thread * 2 + (i & 1) + if i < 4 { 0 } else { 8 };
            put(&mut registers, lane, i / 2, i % 2, 16, of(a[row][col]));
        }
    }
    registers
}

fn halves_b(b: &[Vec<i32>], of: impl Fn(i32) -> u64) -> Registers {
    let mut registers = vec![[0; LANES]; 2];
    for lane in 0..LANES {
        for i in 0..4 {
            let row = (lane & 3) * 2 + (i & 1) + if i < 2 { 0 } else { 8 };
            put(&mut registers, lane, i / 2, i % 2, 16, of(b[row][lane >> 2]));
        }
    }
    registers
}

fn words_c(c: &[Vec<i32>], of: impl Fn(i32) -> u64) -> Registers {
    let mut registers = vec![[0; LANES]; 4];
    for lane in 0..LANES {
        for i in 0..4 {
            let row = (lane >> 2) + if i < 2 { 0 } else { 8 };
            registers[i][lane] = of(c[row][(lane & 3) * 2 + (i & 1)]);
        }
    }
    registers
}

fn halves_c(c: &[Vec<i32>]) -> Registers {
    let words = words_c(c, f16);
    (0..2)
        .map(|r| std::array::from_fn(|lane| words[2 * r][lane] | words[2 * r + 1][lane] << 16))
        .collect()
}

#[test]
fn halves_of_sixteen() {
    let mut random = fastrand::Rng::with_seed(1);
    let (a, b) = (matrix(&mut random, 16, 16, -8, 16), matrix(&mut random, 16, 8, -8, 16));
    let c = matrix(&mut random, 16, 8, -100, 200);
    let d = product_of(&a, &b, &c);
    let bf16 = |x: i32| f32_bits(x) >> 16;
    for (name, of) in [("f16", &f16 as &dyn Fn(i32) -> u64), ("bf16", &bf16)] {
        let registers = [halves_a(&a, of), halves_b(&b, of), words_c(&c, f32_bits)];
        let results = run(&format!("m16n8k16.f32.{name}.{name}.f32"), &registers);
        assert_eq!(results[..4], words_c(&d, f32_bits), "{name}");
    }
    let registers = [halves_a(&a, f16), halves_b(&b, f16), halves_c(&c)];
    assert_eq!(run("m16n8k16.f16.f16.f16.f16", &registers)[..2], halves_c(&d));
}

#[test]
fn bytes_of_thirty_two() {
    let mut random = fastrand::Rng::with_seed(2);
    let (a, b) = (matrix(&mut random, 16, 32, -128, 256), matrix(&mut random, 32, 8, 0, 256));
    let mut c = matrix(&mut random, 16, 8, -1000, 2000);
    c[3][5] = i32::MAX - 3;
    let (mut fragment_a, mut fragment_b) = (vec![[0; LANES]; 4], vec![[0; LANES]; 2]);
    for lane in 0..LANES {
        let (group, thread) = (lane >> 2, lane & 3);
        for i in 0..16 {
            let row = if i < 4 || (8..12).contains(&i) { group } else { group + 8 };
            let col = thread * 4 + (i & 3) + if i < 8 { 0 } else { 16 };
            put(&mut fragment_a, lane, i / 4, i % 4, 8, a[row][col] as u8 as u64);
        }
        for i in 0..8 {
            let row = thread * 4 + (i & 3) + if i < 4 { 0 } else { 16 };
            put(&mut fragment_b, lane, i / 4, i % 4, 8, b[row][group] as u8 as u64);
        }
    }
    let exact = |row: usize, col: usize| {
        i64::from(c[row][col])
            + (0..32).map(|k| i64::from(a[row][k]) * i64::from(b[k][col])).sum::<i64>()
    };
    let whole = |f: &dyn Fn(i64) -> i32| -> Vec<Vec<i32>> {
        (0..16).map(|row| (0..8).map(|col| f(exact(row, col))).collect()).collect()
    };
    let registers = [fragment_a, fragment_b, words_c(&c, |x| x as u32 as u64)];
    let expected = whole(&|x| x as i32);
    assert_eq!(
        run("m16n8k32.s32.s8.u8.s32", &registers)[..4],
        words_c(&expected, |x| x as u32 as u64)
    );
    let expected = whole(&|x| x.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    assert_eq!(
        run("m16n8k32.s32.s8.u8.s32.sat", &registers)[..4],
        words_c(&expected, |x| x as u32 as u64)
    );
}

#[test]
fn bits_of_two_hundred_fifty_six() {
    let mut random = fastrand::Rng::with_seed(3);
    let (a, b) = (matrix(&mut random, 16, 256, 0, 2), matrix(&mut random, 256, 8, 0, 2));
    let c = matrix(&mut random, 16, 8, -5, 10);
    let (mut fragment_a, mut fragment_b) = (vec![[0; LANES]; 4], vec![[0; LANES]; 2]);
    for lane in 0..LANES {
        let (group, thread) = (lane >> 2, lane & 3);
        for i in 0..128 {
            let row = if i < 32 || (64..96).contains(&i) { group } else { group + 8 };
            let col = thread * 32 + (i & 31) + if i < 64 { 0 } else { 128 };
            put(&mut fragment_a, lane, i / 32, i % 32, 1, a[row][col] as u64);
        }
        for i in 0..64 {
            let row = thread * 32 + (i & 31) + if i < 32 { 0 } else { 128 };
            put(&mut fragment_b, lane, i / 32, i % 32, 1, b[row][group] as u64);
        }
    }
    let count = |f: &dyn Fn(i32, i32) -> i32| -> Vec<Vec<i32>> {
        let cell = |row: usize, col: usize| {
            c[row][col] + (0..256).map(|k| f(a[row][k], b[k][col])).sum::<i32>()
        };
        (0..16).map(|row| (0..8).map(|col| cell(row, col)).collect()).collect()
    };
    let word = |x: i32| u64::from(x as u32);
    let registers = [fragment_a, fragment_b, words_c(&c, word)];
    assert_eq!(
        run("m16n8k256.s32.b1.b1.s32", &registers)[..4],
        words_c(&count(&|a, b| a & b), word)
    );
    assert_eq!(
        run("m16n8k256.s32.b1.b1.s32.xor", &registers)[..4],
        words_c(&count(&|a, b| a ^ b), word)
    );
}

#[test]
fn doubles_of_eight() {
    let mut random = fastrand::Rng::with_seed(4);
    let (a, b) = (matrix(&mut random, 8, 4, -9, 18), matrix(&mut random, 4, 8, -9, 18));
    let c = matrix(&mut random, 8, 8, -9, 18);
    let d = product_of(&a, &b, &c);
    let of = |x: i32| f64::from(x).to_bits();
    let register = |f: &dyn Fn(usize, usize) -> i32| -> [u64; LANES] {
        std::array::from_fn(|lane| of(f(lane >> 2, lane & 3)))
    };
    let sums =
        |c: &[Vec<i32>]| vec![register(&|g, t| c[g][2 * t]), register(&|g, t| c[g][2 * t + 1])];
    let registers = [vec![register(&|g, t| a[g][t])], vec![register(&|g, t| b[t][g])], sums(&c)];
    assert_eq!(run("m8n8k4.f64.f64.f64.f64", &registers)[..2], sums(&d));
}

/// Positions 0 and 2 of each group are stored everywhere, as in a public program for sm_80.
#[test]
fn sparse_halves_of_thirty_two() {
    let mut random = fastrand::Rng::with_seed(5);
    let (stored, b) = (matrix(&mut random, 16, 16, -8, 16), matrix(&mut random, 32, 8, -8, 16));
    let c = matrix(&mut random, 16, 8, -100, 200);
    let mut a = vec![vec![0; 32]; 16];
    for row in 0..16 {
        for k in 0..16 {
            a[row][2 * k] = stored[row][k];
        }
    }
    let (upper, lower) = (halves_b(&b[..16], f16), halves_b(&b[16..], f16));
    let fragment_b = vec![upper[0], upper[1], lower[0], lower[1]];
    let registers =
        [halves_a(&stored, f16), fragment_b, words_c(&c, f32_bits), vec![[0x8888_8888; LANES]]];
    let d = product_of(&a, &b, &c);
    assert_eq!(run("m16n8k32.f32.f16.f16.f32.sparse0", &registers)[..4], words_c(&d, f32_bits));
}

#[test]
fn four_products_at_once() {
    let mut random = fastrand::Rng::with_seed(6);
    let factors: Vec<_> = (0..4)
        .map(|_| (matrix(&mut random, 8, 4, -8, 16), matrix(&mut random, 4, 8, -8, 16)))
        .collect();
    let c: Vec<_> = (0..4).map(|_| matrix(&mut random, 8, 8, -8, 16)).collect();
    // A is stored by rows, B by columns: each lane has a row of A and a column of B.
    let (mut fragment_a, mut fragment_b) = (vec![[0; LANES]; 2], vec![[0; LANES]; 2]);
    let (mut sums, mut expected) = (vec![[0; LANES]; 4], vec![[0; LANES]; 4]);
    for lane in 0..LANES {
        let (q, line) = (lane % 16 / 4, lane % 4 + if lane < 16 { 0 } else { 4 });
        let d = product_of(&factors[q].0, &factors[q].1, &c[q]);
        for i in 0..4 {
            put(&mut fragment_a, lane, i / 2, i % 2, 16, f16(factors[q].0[line][i]));
            put(&mut fragment_b, lane, i / 2, i % 2, 16, f16(factors[q].1[i][line]));
        }
        for i in 0..8 {
            put(&mut sums, lane, i / 2, i % 2, 16, f16(c[q][line][i]));
            put(&mut expected, lane, i / 2, i % 2, 16, f16(d[line][i]));
        }
    }
    let registers = [fragment_a, fragment_b, sums];
    assert_eq!(run("m8n8k4.f16.f16.f16.f16.row.col", &registers)[..4], expected);
}

#[test]
fn small_floats_are_those_of_their_tables() {
    // Sums of one product with 1: A has one element, in its first row and column.
    let value = |factor: &str, bits: u64| {
        let mut a = vec![[0; LANES]; 2];
        a[0][0] = bits;
        let one = if factor == "e4m3" { 0x38 } else { 0x3c };
        let mut b = vec![[0; LANES]; 1];
        b[0][0] = one;
        let c = vec![[0; LANES]; 4];
        f32::from_bits(run(&format!("m16n8k16.f32.{factor}.{factor}.f32"), &[a, b, c])[0][0] as u32)
    };
    for (bits, expected) in
        [(0x01, 0.001953125), (0x08, 0.015625), (0x7e, 448.0), (0xb8, -1.0), (0x38, 1.0)]
    {
        assert_eq!(value("e4m3", bits), expected, "{bits:#x}");
    }
    for (bits, expected) in
        [(0x01, 2f32.powi(-16)), (0x7b, 57344.0), (0x7c, f32::INFINITY), (0xbc, -1.0)]
    {
        assert_eq!(value("e5m2", bits), expected, "{bits:#x}");
    }
    assert!(value("e4m3", 0x7f).is_nan() && value("e5m2", 0x7d).is_nan());
}

/// A half is rounded once, from the exact sum.
#[test]
fn half_sums_are_rounded_once() {
    let mut a = vec![[0; LANES]; 2];
    // 2048 * 1 + 1 * 1 + 2^-14 * 2^-10: just above the midpoint of 2048 and 2050.
    a[0][0] = 0x6800 | 0x3c00 << 16;
    a[0][1] = 0x0400;
    let mut b = vec![[0; LANES]; 1];
    b[0][0] = 0x3c00 | 0x3c00 << 16;
    b[0][1] = 0x1400;
    let c = vec![[0; LANES]; 2];
    assert_eq!(run("m16n8k8.f16.f16.f16.f16", &[a, b, c])[0][0] & 0xffff, 0x6801);
}

#[test]
fn what_is_no_product_has_no_text() {
    for text in [
        "m16n8k16.f32.f16.bf16.s32",
        "m16n8k16.f64.f64.f64.f64.sat",
        "m8n8k16.f32.f16.f16.f32",
        "m16n8k4",
    ] {
        assert_eq!(Product::from_text(text), None, "{text}");
    }
    assert_eq!(Product::from_text("m16n8k32.f32.f16.f16.f32.sparse2"), None);
    assert!(Product::from_text("m16n8k32.f32.f16.f16.f32.sparse1").is_some());
}

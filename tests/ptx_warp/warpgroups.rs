//! Products of warpgroups of all types, with A in registers or in shared memory. Rows have 32
//! bytes, in core matrices of 8 x 16 bytes.

use std::fmt::Write;

use crate::matrices::{Matrix, bits_of, bytes, list, matrix, product, range, transposed};
use crate::{Kernel, Random};

const COLUMNS: usize = 16;
/// The bytes of a row of A, or of a column of B.
const ROW: usize = 32;
const B: usize = 4096;

/// Puts rows of 32 bytes where a descriptor finds them that has a leading distance of 128 bytes and
/// a stride of 256.
fn put(tile: &mut [u8], rows: &[u8]) {
    for (row, elements) in rows.chunks(ROW).enumerate() {
        for (half, sixteen) in elements.chunks(16).enumerate() {
            let at = row / 8 * 256 + half * 128 + row % 8 * 16;
            tile[at..at + 16].copy_from_slice(sixteen);
        }
    }
}

/// Returns an instruction's immediates: none for integers, the signs of other factors, and the
/// order of 16-bit factors in shared memory.
fn immediates(a: &str, in_registers: bool) -> &'static str {
    match (a, in_registers) {
        ("s8" | "u8" | "b1", _) => "",
        ("f16" | "bf16", false) => ", 1, 1, 0, 0",
        ("f16" | "bf16", true) => ", 1, 1, 0",
        _ => ", 1, 1",
    }
}

fn case([d, a, b]: [&str; 3], saturates: bool, in_registers: bool, keeps: bool) {
    let depth = 8 * ROW / bits_of(a);
    let mut random = Random(depth as u64 + u64::from(in_registers));
    let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
    let (x, y) = (
        matrix(&mut random, 16, depth, low_a, high_a),
        matrix(&mut random, depth, COLUMNS, low_b, high_b),
    );
    let mut c = matrix(&mut random, 16, COLUMNS, -50, 50);
    if saturates {
        c.iter_mut()
            .flatten()
            .for_each(|c| *c += if *c < 0 { i32::MIN + 50 } else { i32::MAX - 50 });
    }
    let none: Matrix = vec![vec![0; COLUMNS]; 16];
    // This holds for bits, too: a product of bits is set if both bits are set.
    let sums = product(&x, &y, &none);
    let sum = |sum: i32, c: i32| match (keeps, saturates) {
        (false, _) => sum,
        (true, true) => sum.saturating_add(c),
        (true, false) => sum.wrapping_add(c),
    };
    let cells =
        |(sums, c): (&Vec<i32>, &Vec<i32>)| sums.iter().zip(c).map(|(&s, &c)| sum(s, c)).collect();
    let exact: Matrix = sums.iter().zip(&c).map(cells).collect();

    let rows = bytes(a, &x, depth);
    let mut tile = vec![0; 2 * B];
    put(&mut tile, &rows);
    put(&mut tile[B..], &bytes(b, &transposed(&y), depth));
    let (of_a, of_c) = (tile.len(), tile.len() + rows.len());
    let input = [tile, rows, bytes(d, &c, COLUMNS)].concat();

    let mut body = String::from(
        "mul.wide.u32 %l0, %lane, 4;\nadd.s64 %l0, %l0, %in;\nmov.u32 %b0, tile;\nmad.lo.u32 %b1, %lane, 4, %b0;\n",
    );
    for n in 0..B / 64 {
        writeln!(
            body,
            "ld.global.b32 %a0, [%l0+{}];\nst.shared.b32 [%b1+{}], %a0;",
            128 * n,
            128 * n
        )
        .unwrap();
    }
    // The lane reads rows g and g + 8, each 4 bytes from 4 t and from 4 t + 16 on.
    let row_of_c = COLUMNS * bits_of(d) / 8;
    let pair = 2 * bits_of(d) / 8;
    writeln!(
        body,
        "bar.sync 0;\nshr.u32 %b2, %lane, 2;\nand.b32 %b3, %lane, 3;\n\
         mul.lo.u32 %b4, %b2, {ROW};\nmad.lo.u32 %b4, %b3, 4, %b4;\ncvt.u64.u32 %l2, %b4;\nadd.s64 %l2, %l2, %in;\n\
         mul.lo.u32 %b4, %b2, {row_of_c};\nmad.lo.u32 %b4, %b3, {pair}, %b4;\ncvt.u64.u32 %l3, %b4;\n\
         add.s64 %l4, %l3, %out;\nadd.s64 %l3, %l3, %in;"
    )
    .unwrap();
    for r in 0..4 {
        writeln!(body, "ld.global.b32 %a{r}, [%l2+{}];", of_a + (r & 1) * 8 * ROW + (r >> 1) * 16)
            .unwrap();
    }
    // A word of C and D holds two halves or one element.
    let words = if d == "f16" { COLUMNS / 4 } else { COLUMNS / 2 };
    let at = |word: usize| match d {
        "f16" => (word & 1) * 8 * row_of_c + word / 2 * 4 * pair,
        _ => (word & 2) * 4 * row_of_c + word / 4 * 4 * pair + (word & 1) * 4,
    };
    let sums = if d == "f32" { "f" } else { "c" };
    for word in 0..words {
        writeln!(body, "ld.global.b32 %{sums}{word}, [%l3+{}];", of_c + at(word)).unwrap();
    }
    let left = if in_registers { format!("{{{}}}", list("a", 4)) } else { "%l6".into() };
    let suffix = if a == "b1" { ".and.popc" } else { "" };
    let saturation = if saturates { ".satfinite" } else { "" };
    let descriptor = |start: usize| (start / 16) as u64 | (128 / 16) << 16 | (256 / 16) << 32;
    writeln!(
        body,
        "cvt.u64.u32 %l5, %b0;\nshr.u64 %l5, %l5, 4;\nadd.s64 %l6, %l5, {};\nadd.s64 %l7, %l5, {};\nsetp.eq.u32 %p0, 0, {};\n\
         wgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n{COLUMNS}k{depth}{saturation}.{d}.{a}.{b}{suffix} {{{}}}, {left}, %l7, %p0{};\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
        descriptor(0),
        descriptor(B),
        u8::from(!keeps),
        list(sums, words),
        immediates(a, in_registers),
    )
    .unwrap();
    for word in 0..words {
        writeln!(body, "st.global.b32 [%l4+{}], %{sums}{word};", at(word)).unwrap();
    }
    let expected = bytes(d, &exact, COLUMNS);
    let found = Kernel { target: "sm_90a", inputs: 0, outputs: 0, body: &body }
        .run_bytes(&input, expected.len());
    assert_eq!(found, expected, "{body}");
}

#[test]
fn products_of_all_types() {
    let types = [
        ["f32", "f16", "f16"],
        ["f16", "f16", "f16"],
        ["f32", "bf16", "bf16"],
        ["f32", "tf32", "tf32"],
        ["f32", "e4m3", "e5m2"],
        ["f16", "e5m2", "e4m3"],
        ["s32", "s8", "s8"],
        ["s32", "s8", "u8"],
        ["s32", "u8", "u8"],
        ["s32", "b1", "b1"],
    ];
    for types in types {
        for (in_registers, keeps) in [(false, true), (true, true), (true, false)] {
            case(types, false, in_registers, keeps);
        }
    }
}

#[test]
fn sums_that_saturate() {
    for in_registers in [false, true] {
        case(["s32", "s8", "u8"], true, in_registers, true);
    }
}

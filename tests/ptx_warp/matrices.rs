//! Matrix instructions of a warp, against products of integers that all types can hold.

use std::fmt::Write;

use crate::{Kernel, LANES, Random};

/// A matrix of integers, row by row.
pub type Matrix = Vec<Vec<i32>>;

pub fn matrix(random: &mut Random, rows: usize, cols: usize, least: i32, most: i32) -> Matrix {
    let count = (most - least + 1) as u32;
    (0..rows).map(|_| (0..cols).map(|_| least + random.below(count) as i32).collect()).collect()
}

pub fn product(a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    let cell = |row: usize, col: usize| {
        c[row][col] + a[row].iter().zip(b).map(|(&x, b)| x * b[col]).sum::<i32>()
    };
    (0..a.len()).map(|row| (0..c[0].len()).map(|col| cell(row, col)).collect()).collect()
}

pub fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|col| a.iter().map(|row| row[col]).collect()).collect()
}

pub fn bits_of(ty: &str) -> usize {
    match ty {
        "f64" => 64,
        "f32" | "s32" | "tf32" => 32,
        "f16" | "bf16" => 16,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "s4" | "u4" => 4,
        _ => 1,
    }
}

/// Returns the range of integers for the elements of a factor, so that sums are exact.
pub fn range(ty: &str) -> (i32, i32) {
    match ty {
        "s8" => (-128, 127),
        "u8" => (0, 255),
        "s4" => (-8, 7),
        "u4" => (0, 15),
        "b1" => (0, 1),
        "e5m2" => (-4, 4),
        _ => (-8, 8),
    }
}

/// Returns the bits of a small integer.
fn encode(ty: &str, x: i32) -> u64 {
    let single = (x as f32).to_bits();
    // A small float has the exponent with another bias, and a shorter fraction.
    let small = |fraction: u32, bias: u32| {
        let magnitude = single & 0x7fff_ffff;
        let sign = u64::from(single >> 31) << 7;
        if magnitude == 0 {
            sign
        } else {
            sign | u64::from((magnitude >> (23 - fraction)) - ((127 - bias) << fraction))
        }
    };
    match ty {
        "f64" => f64::from(x).to_bits(),
        "f32" | "tf32" => single.into(),
        "f16" => half::f16::from_f32(x as f32).to_bits().into(),
        "bf16" => u64::from(single >> 16),
        "e4m3" => small(3, 7),
        "e5m2" => small(2, 15),
        _ => x as u32 as u64 & (u64::MAX >> (64 - bits_of(ty))),
    }
}

/// Returns the bytes of a matrix, row by row, with rows of `stride` elements.
pub fn bytes(ty: &str, matrix: &Matrix, stride: usize) -> Vec<u8> {
    let bits = bits_of(ty);
    let mut bytes = vec![0; (matrix.len() * stride * bits).div_ceil(8)];
    for (row, elements) in matrix.iter().enumerate() {
        for (col, &x) in elements.iter().enumerate() {
            let (at, value) = ((row * stride + col) * bits, encode(ty, x));
            for bit in (0..bits).filter(|bit| value >> bit & 1 == 1) {
                bytes[(at + bit) / 8] |= 1 << ((at + bit) % 8);
            }
        }
    }
    bytes
}

/// Joins the parts, each from a multiple of 256 bytes on, so that all are aligned. Returns the
/// places.
fn padded(parts: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let (mut all, mut places) = (Vec::new(), Vec::new());
    for part in parts {
        all.resize(all.len().next_multiple_of(256), 0);
        places.push(all.len());
        all.extend(part);
    }
    (all, places)
}

pub fn list(prefix: &str, count: usize) -> String {
    (0..count).map(|n| format!("%{prefix}{n}")).collect::<Vec<_>>().join(", ")
}

/// Runs one `mma`, with A by rows and B by columns. A register has 4 bytes along the depth, and the
/// registers of four lanes have 16 bytes.
fn mma(target: &str, [m, k]: [usize; 2], [d, a, b, c]: [&str; 4], words: &str) {
    let mut random = Random((m * k) as u64);
    let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
    let (x, y) =
        (matrix(&mut random, m, k, low_a, high_a), matrix(&mut random, k, 8, low_b, high_b));
    let z = matrix(&mut random, m, 8, -50, 50);
    let exact = if a == "b1" {
        let xor = words.contains("xor");
        let count = |row: usize, col: usize| {
            z[row][col]
                + (0..k)
                    .map(|i| if xor { x[row][i] ^ y[i][col] } else { x[row][i] & y[i][col] })
                    .sum::<i32>()
        };
        (0..m).map(|row| (0..8).map(|col| count(row, col)).collect()).collect()
    } else {
        product(&x, &y, &z)
    };
    let (input, places) = padded(&[bytes(a, &x, k), bytes(b, &transposed(&y), k), bytes(c, &z, 8)]);
    let (row_bytes, rows) = (k * bits_of(a) / 8, m / 8);
    let (wide, unit) = (bits_of(a) == 64, if bits_of(a) == 64 { 8 } else { 4 });
    let (load, reg) = if wide { ("ld.global.b64", "l") } else { ("ld.global.b32", "a") };
    let mut body = format!(
        "shr.u32 %b0, %lane, 2;\nand.b32 %b1, %lane, 3;\nmul.lo.u32 %b2, %b0, {row_bytes};\n\
         mad.lo.u32 %b2, %b1, {unit}, %b2;\ncvt.u64.u32 %l60, %b2;\nadd.s64 %l60, %l60, %in;\n"
    );
    let steps = row_bytes / (4 * unit);
    let (count_a, count_b) = (rows * steps, steps);
    for r in 0..count_a {
        let at = places[0] + (r % rows) * 8 * row_bytes + (r / rows) * 4 * unit;
        writeln!(body, "{load} %{reg}{r}, [%l60+{at}];").unwrap();
    }
    for r in 0..count_b {
        writeln!(body, "{load} %{reg}{}, [%l60+{}];", 20 + r, places[1] + 4 * unit * r).unwrap();
    }
    // The addresses of each lane's two columns of C and D.
    let pair = |ty: &str| 2 * bits_of(ty) / 8;
    for (ty, l) in [(c, 61), (d, 62)] {
        let base = if l == 61 { "%in" } else { "%out" };
        writeln!(
            body,
            "mul.lo.u32 %b3, %lane, {};\ncvt.u64.u32 %l{l}, %b3;\nadd.s64 %l{l}, %l{l}, {base};",
            pair(ty)
        )
        .unwrap();
    }
    let registers = |ty: &str| if ty == "f16" { rows } else { 2 * rows };
    let (sum, base) = if wide { ("l", 30) } else { ("c", 0) };
    let each = |ty: &str, mut with: Box<dyn FnMut(usize, usize) + '_>| {
        let size = if wide { 8 } else { 4 };
        for i in 0..registers(ty) {
            let within = if ty == "f16" { 0 } else { i % 2 * size };
            let row = if ty == "f16" { i } else { i / 2 };
            // The lanes of eight rows follow each other.
            with(i, row * 32 * pair(ty) + within);
        }
    };
    each(
        c,
        Box::new(|i, at| {
            writeln!(body, "{load} %{sum}{}, [%l61+{}];", base + i, places[2] + at).unwrap()
        }),
    );
    let names = |prefix: &str, from: usize, count: usize| {
        (from..from + count).map(|n| format!("%{prefix}{n}")).collect::<Vec<_>>().join(", ")
    };
    let (result, first) = if wide { ("l", 40) } else { ("d", 0) };
    writeln!(
        body,
        "mma.sync.aligned.m{m}n8k{k}.row.col{words}.{d}.{a}.{b}.{c} {{{}}}, {{{}}}, {{{}}}, {{{}}};",
        names(result, first, registers(d)),
        names(reg, 0, count_a),
        names(reg, 20, count_b),
        names(sum, base, registers(c)),
    )
    .unwrap();
    let store = if wide { "st.global.b64" } else { "st.global.b32" };
    each(
        d,
        Box::new(|i, at| writeln!(body, "{store} [%l62+{at}], %{result}{};", first + i).unwrap()),
    );
    let body = if a == "b1" {
        body.replace(words, "")
            .replace(&format!(".{d}.{a}.{b}.{c}"), &format!(".{d}.{a}.{b}.{c}{words}"))
    } else {
        body
    };
    let expected = bytes(d, &exact, 8);
    let found =
        Kernel { target, inputs: 0, outputs: 0, body: &body }.run_bytes(&input, expected.len());
    assert_eq!(found, expected, "{body}");
}

#[test]
fn products_of_all_shapes() {
    let f16 = ["f16"; 4];
    let to_single = |ty| ["f32", ty, ty, "f32"];
    mma("sm_90", [16, 8], f16, "");
    mma("sm_90", [16, 16], f16, "");
    for (k, ty) in [(8, "f16"), (16, "f16"), (8, "bf16"), (16, "bf16"), (4, "tf32"), (8, "tf32")] {
        mma("sm_90", [16, k], to_single(ty), "");
    }
    for k in [16, 32] {
        for (a, b) in [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")] {
            mma("sm_90", [16, k], ["f32", a, b, "f32"], "");
            mma("sm_90", [16, k], ["f16", a, b, "f16"], "");
        }
    }
    for words in ["", ".satfinite"] {
        for (a, b) in [("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")] {
            for shape in [[8, 16], [16, 16], [16, 32]] {
                mma("sm_90", shape, ["s32", a, b, "s32"], words);
            }
        }
        for (a, b) in [("s4", "s4"), ("u4", "s4"), ("s4", "u4"), ("u4", "u4")] {
            for shape in [[8, 32], [16, 32], [16, 64]] {
                mma("sm_90", shape, ["s32", a, b, "s32"], words);
            }
        }
    }
    for words in [".xor.popc", ".and.popc"] {
        for shape in [[8, 128], [16, 128], [16, 256]] {
            mma("sm_90", shape, ["s32", "b1", "b1", "s32"], words);
        }
    }
    for shape in [[8, 4], [16, 4], [16, 8], [16, 16]] {
        mma("sm_90", shape, ["f64"; 4], "");
    }
}

/// Runs one `wmma` product. Its rows (columns) in memory are longer than the matrices' rows.
fn wmma(
    target: &str,
    [m, n, k]: [usize; 3],
    [d, a, b, c]: [&str; 4],
    orders: [&str; 4],
    counts: [usize; 4],
    mma: &str,
) {
    let mut random = Random((m * k + n) as u64);
    let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
    let (x, y) =
        (matrix(&mut random, m, k, low_a, high_a), matrix(&mut random, k, n, low_b, high_b));
    let z = matrix(&mut random, m, n, -50, 50);
    let exact = product(&x, &y, &z);
    let stored = |ty: &str, matrix: &Matrix, order: &str| {
        let matrix = if order == "row" { matrix.clone() } else { transposed(matrix) };
        let stride = (matrix[0].len() + 1).next_multiple_of(128 / bits_of(ty));
        (bytes(ty, &matrix, stride), stride)
    };
    let [(bytes_a, stride_a), (bytes_b, stride_b), (bytes_c, stride_c)] =
        [stored(a, &x, orders[0]), stored(b, &y, orders[1]), stored(c, &z, orders[2])];
    let (input, places) = padded(&[bytes_a, bytes_b, bytes_c]);
    let (expected, stride_d) = stored(d, &exact, orders[3]);
    let wide = a == "f64";
    let [ra, rb, rc, rd] = if wide {
        [&["l0"][..], &["l1"], &["l2"], &["l4"]]
    } else {
        [&["a"][..], &["b"], &["c"], &["d"]]
    };
    let names = |of: &[&str], count: usize, float: bool| {
        let prefix = of[0];
        match (wide, float) {
            (true, _) => {
                let from: usize = prefix[1..].parse().unwrap();
                (from..from + count).map(|n| format!("%l{n}")).collect::<Vec<_>>().join(", ")
            }
            _ => list(prefix, count),
        }
    };
    let shape = format!("m{m}n{n}k{k}");
    let mut body = String::new();
    for (name, place, registers, count, order, ty, stride) in [
        ("a", places[0], ra, counts[0], orders[0], a, stride_a),
        ("b", places[1], rb, counts[1], orders[1], b, stride_b),
        ("c", places[2], rc, counts[2], orders[2], c, stride_c),
    ] {
        writeln!(body, "add.s64 %l50, %in, {place};\nmov.u32 %o20, {stride};").unwrap();
        writeln!(
            body,
            "wmma.load.{name}.sync.aligned.{order}.{shape}.global.{ty} {{{}}}, [%l50], %o20;",
            names(registers, count, true)
        )
        .unwrap();
    }
    let [left, right] = [orders[0], orders[1]];
    let types = if a == "f16" { format!("{d}.{c}") } else { format!("{d}.{a}.{b}.{c}") };
    writeln!(
        body,
        "wmma.mma{mma}.sync.aligned.{left}.{right}.{shape}.{types} {{{}}}, {{{}}}, {{{}}}, {{{}}};",
        names(rd, counts[3], true),
        names(ra, counts[0], true),
        names(rb, counts[1], true),
        names(rc, counts[2], true)
    )
    .unwrap();
    writeln!(
        body,
        "wmma.store.d.sync.aligned.{}.{shape}.global.{d} [%out], {{{}}}, {stride_d};",
        orders[3],
        names(rd, counts[3], true)
    )
    .unwrap();
    let found =
        Kernel { target, inputs: 0, outputs: 0, body: &body }.run_bytes(&input, expected.len());
    assert_eq!(found, expected, "{body}");
}

const ORDERS: [[&str; 4]; 4] = [
    ["row", "row", "row", "row"],
    ["row", "col", "col", "row"],
    ["col", "row", "row", "col"],
    ["col", "col", "col", "col"],
];

#[test]
fn matrices_of_wmma() {
    for orders in ORDERS {
        for (shape, tall) in [([16, 16, 16], 0), ([32, 8, 16], 1), ([8, 32, 16], 2)] {
            for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
                let count = |ty| if ty == "f16" { 4 } else { 8 };
                wmma("sm_90", shape, [d, "f16", "f16", c], orders, [8, 8, count(c), count(d)], "");
            }
            let [a, b] = [[4, 4], [8, 2], [2, 8]][tall];
            wmma("sm_90", shape, ["f32", "bf16", "bf16", "f32"], orders, [a, b, 8, 8], "");
            for ty in ["s8", "u8"] {
                wmma("sm_90", shape, ["s32", ty, ty, "s32"], orders, [a / 2, b / 2, 8, 8], "");
            }
        }
        wmma("sm_90", [16, 16, 8], ["f32", "tf32", "tf32", "f32"], orders, [4, 4, 8, 8], "");
        wmma("sm_90", [8, 8, 4], ["f64"; 4], orders, [1, 1, 2, 2], "");
    }
    for ty in ["s4", "u4"] {
        wmma("sm_90", [8, 8, 32], ["s32", ty, ty, "s32"], ORDERS[1], [1, 1, 2, 2], "");
    }
    // The product of two bits is set if both bits are set.
    wmma("sm_90", [8, 8, 128], ["s32", "b1", "b1", "s32"], ORDERS[1], [1, 1, 2, 2], ".and.popc");
}

fn halves(words: &[u32]) -> Vec<u16> {
    words.iter().flat_map(|&word| [word as u16, (word >> 16) as u16]).collect()
}

/// Returns element (row, col) of the matrix that lanes hold in a register.
fn element(out: &[Vec<u32>], register: usize, row: usize, col: usize) -> u16 {
    (out[4 * row + col / 2][register] >> (16 * (col % 2))) as u16
}

#[test]
fn moves_of_matrices() {
    let mut random = Random(1);
    for (count, name) in [(1, "x1"), (2, "x2"), (4, "x4")] {
        for trans in [false, true] {
            let word = if trans { ".trans" } else { "" };
            // Each lane stores one row of 8 halves in shared memory, the last row first.
            let store = "sub.u32 %b0, 31, %lane;\nmul.lo.u32 %b0, %b0, 16;\nmov.u32 %b1, tile;\nadd.u32 %b0, %b0, %b1;\n\
                         st.shared.v4.b32 [%b0], {%i0, %i1, %i2, %i3};\nbar.warp.sync -1;\n";
            let body = format!(
                "{store}ldmatrix.sync.aligned.m8n8.{name}{word}.shared.b16 {{{}}}, [%b0];",
                list("o", count)
            );
            let input: Vec<Vec<u32>> =
                (0..LANES).map(|_| (0..4).map(|_| random.word()).collect()).collect();
            let out =
                Kernel { target: "sm_90", inputs: 4, outputs: count, body: &body }.run(&input);
            for matrix in 0..count {
                for row in 0..8 {
                    let elements = halves(&input[8 * matrix + row]);
                    for (col, &expected) in elements.iter().enumerate() {
                        let found = if trans {
                            element(&out, matrix, col, row)
                        } else {
                            element(&out, matrix, row, col)
                        };
                        assert_eq!(found, expected, "{body}, matrix {matrix}, {row}, {col}");
                    }
                }
            }
            // The matrices go to registers and back to shared memory.
            let back = format!(
                "{body}\nbar.warp.sync -1;\n\
                 stmatrix.sync.aligned.m8n8.{name}{word}.shared.b16 [%b0], {{{}}};\nbar.warp.sync -1;\n\
                 ld.shared.v4.b32 {{%o0, %o1, %o2, %o3}}, [%b0];",
                list("o", count)
            );
            let out = Kernel { target: "sm_90", inputs: 4, outputs: 4, body: &back }.run(&input);
            assert_eq!(out, input, "{back}");
        }
    }
    let input: Vec<Vec<u32>> = (0..LANES).map(|_| vec![random.word()]).collect();
    let body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;";
    let out = Kernel { target: "sm_90", inputs: 1, outputs: 1, body }.run(&input);
    for (row, col) in (0..64).map(|n| (n / 8, n % 8)) {
        assert_eq!(element(&out, 0, col, row), element(&input, 0, row, col), "{row}, {col}");
    }
}

/// A product takes the usual way: matrices in shared memory, fragments by `ldmatrix`.
#[test]
fn product_by_way_of_shared_memory() {
    let mut random = Random(2);
    let (a, b) = (matrix(&mut random, 16, 16, -8, 8), matrix(&mut random, 16, 8, -8, 8));
    let zero = vec![vec![0; 8]; 16];
    let input = [bytes("f16", &a, 16), bytes("f16", &b, 8)].concat();
    let mut body = String::from(
        "mov.u32 %b0, tile;\nmad.lo.u32 %b1, %lane, 4, %b0;\nmul.wide.u32 %l0, %lane, 4;\nadd.s64 %l0, %l0, %in;\n",
    );
    for n in 0..input.len() / 128 {
        writeln!(
            body,
            "ld.global.b32 %a0, [%l0+{}];\nst.shared.b32 [%b1+{}], %a0;",
            128 * n,
            128 * n
        )
        .unwrap();
    }
    body += "bar.sync 0;\nand.b32 %b2, %lane, 15;\nshr.u32 %b3, %lane, 4;\nmad.lo.u32 %b4, %b2, 32, %b0;\n\
             mad.lo.u32 %b4, %b3, 16, %b4;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%b4];\n\
             mad.lo.u32 %b5, %b2, 16, %b0;\nldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%a4, %a5}, [%b5+512];\n\
             mov.b32 %f0, 0f00000000;\n\
             mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%f0, %f0, %f0, %f0};\n\
             mul.wide.u32 %l1, %lane, 8;\nadd.s64 %l1, %l1, %out;\nst.global.v2.f32 [%l1], {%f1, %f2};\nst.global.v2.f32 [%l1+256], {%f3, %f4};";
    let expected = bytes("f32", &product(&a, &b, &zero), 8);
    let found = Kernel { target: "sm_80", inputs: 0, outputs: 0, body: &body }
        .run_bytes(&input, expected.len());
    assert_eq!(found, expected);
}

/// A stores two of each four elements: the first and third, the second and fourth, or the first
/// two.
#[test]
fn sparse_products() {
    for (k, metadata, chosen) in
        [(32, 0x8888_8888_u32, [0, 2]), (32, 0xdddd_dddd, [1, 3]), (16, 0x4444_4444, [0, 1])]
    {
        let mut random = Random(u64::from(metadata));
        let (stored, b) = (matrix(&mut random, 16, k / 2, -8, 8), matrix(&mut random, k, 8, -8, 8));
        let mut a = vec![vec![0; k]; 16];
        for (whole, stored) in a.iter_mut().zip(&stored) {
            for (n, &x) in stored.iter().enumerate() {
                whole[4 * (n / 2) + chosen[n % 2]] = x;
            }
        }
        let exact = product(&a, &b, &vec![vec![0; 8]; 16]);
        let (input, places) =
            padded(&[bytes("f16", &stored, k / 2), bytes("f16", &transposed(&b), k)]);
        let mut body = format!(
            "shr.u32 %b0, %lane, 2;\nand.b32 %b1, %lane, 3;\nmul.lo.u32 %b2, %b0, {k};\nmad.lo.u32 %b2, %b1, 4, %b2;\n\
             cvt.u64.u32 %l0, %b2;\nadd.s64 %l0, %l0, %in;\nmul.lo.u32 %b2, %b0, {};\nmad.lo.u32 %b2, %b1, 4, %b2;\n\
             cvt.u64.u32 %l1, %b2;\nadd.s64 %l1, %l1, %in;\n",
            2 * k
        );
        let count = k / 8;
        for r in 0..count {
            writeln!(
                body,
                "ld.global.b32 %a{r}, [%l0+{}];",
                places[0] + (r % 2) * 8 * k + (r / 2) * 16
            )
            .unwrap();
            writeln!(body, "ld.global.b32 %c{r}, [%l1+{}];", places[1] + 16 * r).unwrap();
        }
        writeln!(
            body,
            "mov.b32 %f0, 0f00000000;\nmov.b32 %b9, {metadata};\n\
             mma.sp.sync.aligned.m16n8k{k}.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {{{}}}, {{{}}}, {{%f0, %f0, %f0, %f0}}, %b9, 0x0;\n\
             mul.wide.u32 %l1, %lane, 8;\nadd.s64 %l1, %l1, %out;\nst.global.v2.f32 [%l1], {{%f1, %f2}};\nst.global.v2.f32 [%l1+256], {{%f3, %f4}};",
            list("a", count),
            list("c", count)
        )
        .unwrap();
        let expected = bytes("f32", &exact, 8);
        let found = Kernel { target: "sm_80", inputs: 0, outputs: 0, body: &body }
            .run_bytes(&input, expected.len());
        assert_eq!(found, expected, "{body}");
    }
}

/// A factor of 16-bit elements in shared memory, 16 deep. The swizzle mode gives the row length.
struct Stored {
    mode: u64,
    by_mn: bool,
    leading: usize,
    stride: usize,
}

impl Stored {
    fn new(mode: u64, by_mn: bool) -> Stored {
        let row = Stored::row(mode);
        let (leading, stride) = match (mode, by_mn) {
            (0, false) => (128, 256),
            (0, true) => (1024, 128),
            _ => (16 * row, 8 * row),
        };
        Stored { mode, by_mn, leading, stride }
    }

    fn row(mode: u64) -> usize {
        [16, 128, 64, 32][mode as usize]
    }

    /// Returns the byte of element `k` of row (column) `mn`.
    fn place(&self, start: usize, mn: usize, k: usize) -> usize {
        let row = Stored::row(self.mode);
        let linear = match (self.mode, self.by_mn) {
            (0, false) => mn / 8 * self.stride + k / 8 * self.leading + mn % 8 * 16 + k % 8 * 2,
            (0, true) => mn / 8 * self.stride + k / 8 * self.leading + k % 8 * 16 + mn % 8 * 2,
            (_, false) => mn / 8 * self.stride + mn % 8 * row + 2 * k,
            (_, true) => {
                2 * mn / row * self.leading + k / 8 * self.stride + k % 8 * row + 2 * mn % row
            }
        };
        let at = start + linear;
        // The number of the row of 128 bytes is XORed into the number of 16 bytes within a row.
        at ^ ((at / 128 % (row / 16)) * 16)
    }

    fn descriptor(&self, start: usize) -> u64 {
        let unit = |bytes: usize| bytes as u64 / 16;
        unit(start) | unit(self.leading) << 16 | unit(self.stride) << 32 | self.mode << 62
    }
}

/// Tests the first warp of a warpgroup: 16 of 64 rows.
#[test]
fn products_of_warpgroups() {
    const COLUMNS: usize = 32;
    const B: usize = 4096;
    for (mode, by_mn) in (0..4).flat_map(|mode| [(mode, false), (mode, true)]) {
        let (of_a, of_b) = (Stored::new(mode, by_mn), Stored::new((mode + 1) % 4, !by_mn));
        let mut random = Random(mode + 8 * u64::from(by_mn));
        let (a, b) = (matrix(&mut random, 16, 16, -8, 8), matrix(&mut random, 16, COLUMNS, -8, 8));
        let c = matrix(&mut random, 16, COLUMNS, -50, 50);
        let mut tile = vec![0_u8; 2 * B];
        let mut put = |at: usize, x: i32| {
            tile[at..at + 2].copy_from_slice(&(encode("f16", x) as u16).to_le_bytes())
        };
        for (k, column) in (0..16).flat_map(|k| (0..COLUMNS).map(move |column| (k, column))) {
            put(of_b.place(B, column, k), b[k][column]);
            if column < 16 {
                put(of_a.place(0, column, k), a[column][k]);
            }
        }
        let input = [tile, bytes("f32", &c, COLUMNS)].concat();
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
        // The addresses of row g, columns 2 t of C and D.
        body += "shr.u32 %b2, %lane, 2;\nand.b32 %b3, %lane, 3;\nmul.lo.u32 %b2, %b2, 128;\nmad.lo.u32 %b2, %b3, 8, %b2;\n\
                 cvt.u64.u32 %l2, %b2;\nadd.s64 %l3, %l2, %in;\nadd.s64 %l4, %l2, %out;\nbar.sync 0;\n";
        let each = |body: &mut String, write: &dyn Fn(usize, usize) -> String| {
            for i in 0..COLUMNS / 2 {
                *body += &write(i, (i & 2) * 512 + i / 4 * 32 + (i & 1) * 4);
            }
        };
        each(&mut body, &|i, at| format!("ld.global.f32 %f{i}, [%l3+{}];\n", 2 * B + at));
        let [descriptor_a, descriptor_b] = [of_a.descriptor(0), of_b.descriptor(B)];
        writeln!(
            body,
            "cvt.u64.u32 %l5, %b0;\nshr.u64 %l5, %l5, 4;\nadd.s64 %l6, %l5, {};\nadd.s64 %l7, %l5, {};\nsetp.eq.u32 %p0, 0, 0;\n\
             wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n{COLUMNS}k16.f32.f16.f16 {{{}}}, %l6, %l7, %p0, 1, -1, {}, {};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
            descriptor_a as i64,
            descriptor_b as i64,
            list("f", COLUMNS / 2),
            u8::from(by_mn),
            u8::from(!by_mn)
        )
        .unwrap();
        each(&mut body, &|i, at| format!("st.global.f32 [%l4+{at}], %f{i};\n"));
        let negated = a.iter().map(|row| row.iter().map(|x| -x).collect()).collect();
        let expected = bytes("f32", &product(&negated, &b, &c), COLUMNS);
        let found = Kernel { target: "sm_90a", inputs: 0, outputs: 0, body: &body }
            .run_bytes(&input, expected.len());
        assert_eq!(found, expected, "mode {mode}, {by_mn}\n{body}");
    }
}

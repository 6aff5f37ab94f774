//! The execution of products, for both engines.

use super::super::eval;
use super::super::function::NanPolicy;
use super::super::op::FloatAttrs;
use super::super::types::Type;
use super::{COLS, Class, Factor, LANES, Product, Storage, Sum, place_a, place_b, place_c, quad};

/// Lanes of a register. Those that a narrower warp lacks are 0.
type Row<'a> = &'a [u64];

/// Registers of the result: at most 8.
pub type Results = [[u64; LANES]; 8];

/// A factor's elements. A row of bits is one of words.
struct Matrix<T> {
    cols: usize,
    elements: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    fn new(rows: usize, cols: usize) -> Matrix<T> {
        Matrix { cols, elements: vec![T::default(); rows * cols] }
    }

    fn set(&mut self, row: usize, col: usize, value: T) {
        self.elements[row * self.cols + col] = value;
    }

    fn row(&self, row: usize) -> &[T] {
        &self.elements[row * self.cols..][..self.cols]
    }
}

fn lane_of(register: Row<'_>, lane: usize) -> u64 {
    register.get(lane).copied().unwrap_or(0)
}

/// Runs a valid product. `args` are the registers of A, B, C, and the metadata, each of all lanes.
pub fn evaluate(product: &Product, nan: NanPolicy, args: &[Row<'_>]) -> Results {
    let [a, b, c, _] = product.registers().map(usize::from);
    let (a, rest) = args.split_at(a.min(args.len()));
    let (b, rest) = rest.split_at(b.min(rest.len()));
    let (c, metadata) = rest.split_at(c.min(rest.len()));
    if let Storage::Quad(orders) = product.storage {
        return quads(product, orders, nan, [a, b, c]);
    }
    let columns = metadata.first().and_then(|metadata| stored_columns(product, metadata));
    let run = Run { product, nan, factors: [a, b], c, columns };
    match product.a.class() {
        Class::Float => run.floats(),
        Class::Double => run.doubles(),
        Class::Int => run.ints(),
        Class::Bit => run.bits(),
    }
}

struct Run<'a> {
    product: &'a Product,
    nan: NanPolicy,
    factors: [&'a [Row<'a>]; 2],
    c: &'a [Row<'a>],
    /// The column in the whole of A of each stored element, row by row.
    columns: Option<Matrix<usize>>,
}

impl Run<'_> {
    /// Elements of a register; the words of bits are one.
    fn per_register(&self) -> u16 {
        if self.product.a == Factor::B1 { 1 } else { self.product.a.per_register() }
    }

    /// The stored elements of A.
    fn a<T: Copy + Default>(&self, decode: impl Fn(Factor, u64, u16) -> T) -> Matrix<T> {
        let (n, Product { rows, a: factor, .. }) = (self.per_register(), *self.product);
        let depth = 4 * usize::from(n) * self.factors[0].len() / usize::from(rows / 8);
        let mut a = Matrix::new(rows.into(), depth);
        for (r, register) in (0..).zip(self.factors[0]) {
            for e in 0..n {
                let place = place_a(rows, n, r, e);
                for lane in 0..LANES {
                    a.set(place.row.of_lane(lane), place.col.of_lane(lane), decode(factor, lane_of(register, lane), e));
                }
            }
        }
        a
    }

    fn b<T: Copy + Default>(&self, decode: impl Fn(Factor, u64, u16) -> T) -> Matrix<T> {
        let n = self.per_register();
        let mut b = Matrix::new(4 * usize::from(n) * self.factors[1].len(), COLS);
        for (r, register) in (0..).zip(self.factors[1]) {
            for e in 0..n {
                let place = place_b(n, r, e);
                for lane in 0..LANES {
                    let value = decode(self.product.b, lane_of(register, lane), e);
                    b.set(place.row.of_lane(lane), place.col.of_lane(lane), value);
                }
            }
        }
        b
    }

    /// Elements of C.
    fn sums<T: Copy + Default>(&self, decode: impl Fn(Sum, u64, u8) -> T) -> Matrix<T> {
        let n = self.product.c.per_register();
        let mut c = Matrix::new(self.product.rows.into(), COLS);
        for (r, register) in (0..).zip(self.c) {
            for e in 0..n {
                let place = place_c(r * u16::from(n) + u16::from(e));
                for lane in 0..LANES {
                    let value = decode(self.product.c, lane_of(register, lane), e);
                    c.set(place.row.of_lane(lane), place.col.of_lane(lane), value);
                }
            }
        }
        c
    }

    /// The registers of D.
    fn finish<T: Copy + Default>(&self, d: &Matrix<T>, encode: impl Fn(T) -> u64) -> Results {
        let mut results = [[0; LANES]; 8];
        let n = u16::from(self.product.d.per_register());
        let count = 2 * u16::from(self.product.rows / 8);
        for i in 0..count {
            let place = place_c(i);
            for (lane, result) in results[usize::from(i / n)].iter_mut().enumerate() {
                let value = d.row(place.row.of_lane(lane))[place.col.of_lane(lane)];
                *result |= encode(value) << (16 * (i % n));
            }
        }
        results
    }

    /// Adds the products to `sums`, row by row, in ascending order along the depth.
    fn multiply<T: Copy + Default, S>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        sums: &mut Matrix<S>,
        add: impl Fn(&mut [S; COLS], T, &[T; COLS]),
    ) {
        for (row, sums) in sums.elements.as_chunks_mut::<COLS>().0.iter_mut().enumerate() {
            let b = b.elements.as_chunks::<COLS>().0;
            let columns = self.columns.as_ref().map(|columns| columns.row(row));
            for (k, &a) in a.row(row).iter().enumerate() {
                add(sums, a, &b[columns.map_or(k, |columns| columns[k])]);
            }
        }
    }

    fn floats(&self) -> Results {
        let decode = |factor, word, e| f64::from(float(factor, word as u32, e));
        let (a, b) = (self.a(decode), self.b(decode));
        let mut sums = self.sums(decode_sum);
        self.multiply(&a, &b, &mut sums, add_floats);
        self.finish(&sums, |sum| encode_sum(self.product.d, self.nan, sum))
    }

    fn doubles(&self) -> Results {
        let attrs = FloatAttrs { round: self.product.round, ..FloatAttrs::IEEE };
        let (a, b) = (self.a(|_, word, _| word), self.b(|_, word, _| word));
        let mut sums = self.sums(|_, word, _| word);
        self.multiply(&a, &b, &mut sums, |sums, a, b| {
            let c = *sums;
            eval::fma(Type::F64, attrs, self.nan, &[a; COLS], b, &c, sums);
        });
        self.finish(&sums, |sum| sum)
    }

    fn ints(&self) -> Results {
        let decode = |factor, word, e| int(factor, word as u32, e);
        let (a, b) = (self.a(decode), self.b(decode));
        // No sum of products of at most 128 elements overflows.
        let mut products = Matrix::<i32>::new(self.product.rows.into(), COLS);
        self.multiply(&a, &b, &mut products, |sums, a, b| {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = sum.wrapping_add(a.wrapping_mul(b));
            }
        });
        self.add_ints(products)
    }

    fn bits(&self) -> Results {
        let word = |_, word, _| word as u32;
        let (a, b) = (self.a(word), self.b(word));
        let mut counts = Matrix::<i32>::new(self.product.rows.into(), COLS);
        let xor = self.product.xor;
        self.multiply(&a, &b, &mut counts, |sums, a, b| {
            for (sum, &b) in sums.iter_mut().zip(b) {
                let bits = if xor { a ^ b } else { a & b };
                *sum += bits.count_ones() as i32;
            }
        });
        self.add_ints(counts)
    }

    fn add_ints(&self, mut products: Matrix<i32>) -> Results {
        let c = self.sums(|_, word, _| word as u32 as i32);
        for (sum, &c) in products.elements.iter_mut().zip(&c.elements) {
            *sum = if self.product.saturate { c.saturating_add(*sum) } else { c.wrapping_add(*sum) };
        }
        self.finish(&products, |sum| u64::from(sum as u32))
    }
}

fn add_floats(sums: &mut [f64; COLS], a: f64, b: &[f64; COLS]) {
    for (sum, &b) in sums.iter_mut().zip(b) {
        // The product is exact: factors have at most 11 digits, and exponents that are far from those of `f64`.
        *sum += a * b;
    }
}

/// Element `e` of a register of floats.
fn float(factor: Factor, word: u32, e: u16) -> f32 {
    let bits = word >> (u32::from(e) * factor.bits());
    match factor {
        Factor::Tf32 => f32::from_bits(word & 0xffff_e000),
        Factor::Bf16 => f32::from_bits(bits << 16),
        // It is the upper half of an `f16`.
        Factor::E5m2 => half(bits << 8),
        Factor::E4m3 => {
            let magnitude = bits & 0x7f;
            let value = if magnitude == 0x7f { f32::NAN } else { f32::from_bits(magnitude << 20) * 2f32.powi(120) };
            with_sign(value, bits & 0x80 != 0)
        }
        _ => half(bits),
    }
}

/// The `f16` of the low bits. A number with the exponent and mantissa shifted to their places in an `f32` is one that is smaller by the
/// difference of the biases.
fn half(bits: u32) -> f32 {
    const INFINITY: u32 = 0x7c00;
    let magnitude = bits & 0x7fff;
    let value = if magnitude >= INFINITY {
        f32::from_bits(0x7f80_0000 | magnitude << 13)
    } else {
        f32::from_bits(magnitude << 13) * 2f32.powi(112)
    };
    with_sign(value, bits & 0x8000 != 0)
}

fn with_sign(value: f32, negative: bool) -> f32 {
    if negative { -value } else { value }
}

fn int(factor: Factor, word: u32, e: u16) -> i32 {
    let bits = factor.bits();
    let unused = 32 - bits;
    let top = word << (unused - u32::from(e) * bits);
    if matches!(factor, Factor::S8 | Factor::S4) { top as i32 >> unused } else { (top >> unused) as i32 }
}

fn decode_sum(sum: Sum, word: u64, e: u8) -> f64 {
    let word = word as u32;
    match sum {
        Sum::F16 => half(word >> (16 * e)).into(),
        _ => f32::from_bits(word).into(),
    }
}

fn encode_sum(sum: Sum, nan: NanPolicy, value: f64) -> u64 {
    match sum {
        Sum::F16 if value.is_nan() => nan.f16.into(),
        Sum::F16 => half::f16::from_f32(odd_single(value)).to_bits().into(),
        _ if value.is_nan() => nan.f32.into(),
        _ => (value as f32).to_bits().into(),
    }
}

/// A number as an `f32` rounded to odd: rounding it again, to fewer digits, is as rounding once.
fn odd_single(value: f64) -> f32 {
    let near = value as f32;
    let (wide, bits) = (f64::from(near), near.to_bits());
    if wide == value || bits & 1 == 1 {
        near
    } else if wide.abs() > value.abs() {
        f32::from_bits(bits - 1)
    } else {
        f32::from_bits(bits + 1)
    }
}

/// Which column of A each stored element of a row is of.
fn stored_columns(product: &Product, metadata: Row<'_>) -> Option<Matrix<usize>> {
    let Storage::Sparse(selector) = product.storage else { return None };
    let words = product.metadata_words();
    // As many lanes of four as hold the metadata of one row, or two.
    let lane_of_word = |word: u16| if words == 4 { word } else { u16::from(selector) * words + word };
    let mut columns = Matrix::new(product.rows.into(), product.stored_depth().into());
    for row in 0..usize::from(product.rows) {
        let mut stored = 0;
        for group in 0..product.depth / product.group() {
            let lane = 4 * (row % 8) + usize::from(lane_of_word(group / 4));
            let nibble = lane_of(metadata, lane) >> (16 * (row / 8)) >> (4 * (group % 4));
            let first = usize::from(group * product.group());
            let (low, high) = ((nibble & 3) as usize, (nibble >> 2 & 3) as usize);
            let (chosen, count): ([usize; 4], _) = match product.a.bits() {
                // 0100 is the first element, 1110 the second.
                32 => ([usize::from(low != 0), 0, 0, 0], 1),
                4 => ([2 * low, 2 * low + 1, 2 * high, 2 * high + 1], 4),
                _ => ([low, high, 0, 0], 2),
            };
            for column in &chosen[..count] {
                columns.set(row, stored, first + column);
                stored += 1;
            }
        }
    }
    Some(columns)
}

/// Four products of 8 x 4 by 4 x 8.
fn quads(
    product: &Product,
    [a_order, b_order]: [super::Order; 2],
    nan: NanPolicy,
    [a, b, c]: [&[Row<'_>]; 3],
) -> Results {
    const DEPTH: usize = 4;
    let element = |registers: &[Row<'_>], lane, i: usize| {
        let register = registers.get(i / 2).map_or(0, |register| lane_of(register, lane));
        f64::from(float(product.a, register as u32, (i % 2) as u16))
    };
    let mut factor_a = [[[0.0; DEPTH]; 8]; 4];
    let mut factor_b = [[[0.0; COLS]; DEPTH]; 4];
    let mut sums = [[[0.0; COLS]; 8]; 4];
    for lane in 0..LANES {
        for i in 0..DEPTH {
            let [q, row, k] = quad::place_a(a_order, lane, i);
            factor_a[q][row][k] = element(a, lane, i);
            let [q, k, col] = quad::place_b(b_order, lane, i);
            factor_b[q][k][col] = element(b, lane, i);
        }
        for i in 0..COLS {
            let [q, row, col] = quad::place_c(product.c, lane, i);
            let n = usize::from(product.c.per_register());
            let register = c.get(i / n).map_or(0, |register| lane_of(register, lane));
            sums[q][row][col] = decode_sum(product.c, register, (i % n) as u8);
        }
    }
    for q in 0..4 {
        for (row, sums) in sums[q].iter_mut().enumerate() {
            for k in 0..DEPTH {
                add_floats(sums, factor_a[q][row][k], &factor_b[q][k]);
            }
        }
    }
    let mut results = [[0; LANES]; 8];
    let n = usize::from(product.d.per_register());
    for i in 0..COLS {
        for (lane, result) in results[i / n].iter_mut().enumerate() {
            let [q, row, col] = quad::place_c(product.d, lane, i);
            *result |= encode_sum(product.d, nan, sums[q][row][col]) << (16 * (i % n));
        }
    }
    results
}

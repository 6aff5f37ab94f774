//! The execution of products, for both engines.

use half::slice::HalfFloatSliceExt;

use super::super::eval;
use super::super::function::NanPolicy;
use super::super::op::FloatAttrs;
use super::super::types::Type;
use super::{COLS, Class, Factor, LANES, Product, Storage, Sum, place_a, place_b, place_c, quad};

/// A register, or an element of each lane's register, in all lanes.
pub type Row<T> = [T; LANES];

/// The registers of the result: at most 8.
pub type Results = [Row<u64>; 8];

/// The most rows of A.
const ROWS: usize = 16;

/// The elements of C and D.
type Sums<T> = [[T; COLS]; ROWS];

/// Runs a valid product. `args` are the registers of A, B, C, and the metadata. Their lanes have 64
/// bits, or 32 bits if no register has more. Lanes that a narrower warp lacks are 0.
pub fn evaluate<L: Copy + Into<u64>>(
    product: &Product,
    nan: NanPolicy,
    args: &[Row<L>],
) -> Results {
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

struct Run<'a, L> {
    product: &'a Product,
    nan: NanPolicy,
    factors: [&'a [Row<L>]; 2],
    c: &'a [Row<L>],
    /// For each stored element of a row, its column in the whole of A.
    columns: Option<[Vec<u16>; ROWS]>,
}

impl<L: Copy + Into<u64>> Run<'_, L> {
    /// Adds the products to `sums` in ascending order along the depth. The depth is cut into slices
    /// of `D` columns of A, which one register of each half of A holds. `decode` makes element `e`
    /// of a register's lanes.
    fn multiply<T: Copy + Default, S, const D: usize>(
        &self,
        sums: &mut Sums<S>,
        decode: impl Fn(Factor, &Row<L>, u16) -> Row<T>,
        add: impl Fn(&mut [S; COLS], T, &[T; COLS]),
    ) {
        let (n, rows) = (D as u16 / 4, self.product.rows);
        let registers = if self.columns.is_some() { 2 } else { 1 };
        let [a, b] = self.factors;
        for (slice, (a, b)) in a.chunks((rows / 8).into()).zip(b.chunks(registers)).enumerate() {
            let mut left = [[T::default(); D]; ROWS];
            let mut right = [[[T::default(); COLS]; D]; 2];
            for (r, register) in (0..).zip(a) {
                for e in 0..n {
                    let (place, values) =
                        (place_a(rows, n, r, e), decode(self.product.a, register, e));
                    for (lane, &value) in values.iter().enumerate() {
                        left[place.row.of_lane(lane)][place.col.of_lane(lane)] = value;
                    }
                }
            }
            let right = right.as_flattened_mut();
            for (r, register) in (0..).zip(b) {
                for e in 0..n {
                    let (place, values) = (place_b(n, r, e), decode(self.product.b, register, e));
                    for (lane, &value) in values.iter().enumerate() {
                        right[place.row.of_lane(lane)][place.col.of_lane(lane)] = value;
                    }
                }
            }
            let left = &left[..rows.into()];
            match &self.columns {
                None => {
                    for (sums, left) in sums.iter_mut().zip(left) {
                        left.iter().zip(&*right).for_each(|(&a, b)| add(sums, a, b));
                    }
                }
                Some(columns) => {
                    for ((sums, left), columns) in sums.iter_mut().zip(left).zip(columns) {
                        for (&a, &column) in left.iter().zip(&columns[slice * D..]) {
                            add(sums, a, &right[usize::from(column) - slice * 2 * D]);
                        }
                    }
                }
            }
        }
    }

    /// The elements of C.
    fn sums<T: Copy + Default>(&self, decode: impl Fn(Sum, &Row<L>, u16) -> Row<T>) -> Sums<T> {
        let n = self.product.c.per_register().into();
        let mut c = [[T::default(); COLS]; ROWS];
        for (r, register) in (0..).zip(self.c) {
            for e in 0..n {
                let (place, values) = (place_c(r * n + e), decode(self.product.c, register, e));
                for (lane, &value) in values.iter().enumerate() {
                    c[place.row.of_lane(lane)][place.col.of_lane(lane)] = value;
                }
            }
        }
        c
    }

    /// The registers of D.
    fn finish<T: Copy + Default>(
        &self,
        d: &Sums<T>,
        encode: impl Fn(&Row<T>) -> Row<u64>,
    ) -> Results {
        let mut results = [[0; LANES]; 8];
        let n = u16::from(self.product.d.per_register());
        for i in 0..2 * u16::from(self.product.rows / 8) {
            let place = place_c(i);
            let values =
                std::array::from_fn(|lane| d[place.row.of_lane(lane)][place.col.of_lane(lane)]);
            for (result, bits) in results[usize::from(i / n)].iter_mut().zip(encode(&values)) {
                *result |= bits << (16 * (i % n));
            }
        }
        results
    }

    fn floats(&self) -> Results {
        let mut sums = self.sums(decode_sums);
        match self.product.a.per_register() {
            1 => self.multiply::<_, _, 4>(&mut sums, floats, add_floats),
            2 => self.multiply::<_, _, 8>(&mut sums, floats, add_floats),
            _ => self.multiply::<_, _, 16>(&mut sums, floats, add_floats),
        }
        self.finish(&sums, |sums| encode_sums(self.product.d, self.nan, sums))
    }

    fn doubles(&self) -> Results {
        let attrs = FloatAttrs { round: self.product.round, ..FloatAttrs::IEEE };
        let mut sums = self.sums(|_, row, _| row.map(Into::into));
        self.multiply::<_, _, 4>(
            &mut sums,
            |_, row, _| row.map(Into::into),
            |sums, a, b| {
                let c = *sums;
                eval::fma(Type::F64, attrs, self.nan, &[a; COLS], b, &c, sums);
            },
        );
        self.finish(&sums, |sums| *sums)
    }

    fn ints(&self) -> Results {
        // A sum of products of at most 128 elements does not overflow.
        let add = |sums: &mut [i32; COLS], a: i16, b: &[i16; COLS]| {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = sum.wrapping_add(i32::from(a) * i32::from(b));
            }
        };
        let mut products = [[0; COLS]; ROWS];
        match self.product.a.per_register() {
            4 => self.multiply::<_, _, 16>(&mut products, ints, add),
            _ => self.multiply::<_, _, 32>(&mut products, ints, add),
        }
        self.add_ints(products)
    }

    fn bits(&self) -> Results {
        let xor = self.product.xor;
        let mut counts = [[0; COLS]; ROWS];
        // Each word is an element.
        let words = |_, row: &Row<L>, _| row.map(low);
        self.multiply::<_, _, 4>(&mut counts, words, |sums, a, b| {
            for (sum, &b) in sums.iter_mut().zip(b) {
                let bits = if xor { a ^ b } else { a & b };
                *sum += bits.count_ones() as i32;
            }
        });
        self.add_ints(counts)
    }

    fn add_ints(&self, mut products: Sums<i32>) -> Results {
        let c = self.sums(|_, row, _| row.map(|word| low(word) as i32));
        for (sum, &c) in products.as_flattened_mut().iter_mut().zip(c.as_flattened()) {
            *sum =
                if self.product.saturate { c.saturating_add(*sum) } else { c.wrapping_add(*sum) };
        }
        self.finish(&products, |sums| sums.map(|sum| u64::from(sum as u32)))
    }
}

fn add_floats(sums: &mut [f64; COLS], a: f64, b: &[f64; COLS]) {
    for (sum, &b) in sums.iter_mut().zip(b) {
        // The product is exact: factors have at most 11 digits, and exponents far from the limits
        // of `f64`.
        *sum += a * b;
    }
}

fn low(bits: impl Into<u64>) -> u32 {
    bits.into() as u32
}

/// Element `e` of a register of floats.
fn floats<L: Copy + Into<u64>>(factor: Factor, row: &Row<L>, e: u16) -> Row<f64> {
    let shift = u32::from(e) * factor.bits();
    let each = |decode: fn(u32) -> f32| row.map(|word| f64::from(decode(low(word) >> shift)));
    match factor {
        Factor::Tf32 => each(|word| f32::from_bits(word & 0xffff_e000)),
        Factor::Bf16 => each(|word| f32::from_bits(word << 16)),
        // An E5M2 number is the upper half of an `f16`.
        Factor::E5m2 => each(|word| half(word << 8)),
        Factor::E4m3 => each(e4m3),
        _ => each(half),
    }
}

fn e4m3(bits: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let value =
        if magnitude == 0x7f { f32::NAN } else { f32::from_bits(magnitude << 20) * 2f32.powi(120) };
    with_sign(value, bits & 0x80 != 0)
}

/// The `f16` of the low bits. Exponent and mantissa are shifted to their places in an `f32`; the
/// result is too small by the difference of the biases, which a multiplication corrects.
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

/// Element `e` of a register of integers.
fn ints<L: Copy + Into<u64>>(factor: Factor, row: &Row<L>, e: u16) -> Row<i16> {
    let bits = factor.bits();
    let (unused, left) = (32 - bits, 32 - bits - u32::from(e) * bits);
    if matches!(factor, Factor::S8 | Factor::S4) {
        row.map(|word| (low(word) << left) as i32 >> unused).map(|int| int as i16)
    } else {
        row.map(|word| low(word) << left >> unused).map(|int| int as i16)
    }
}

/// Element `e` of a register of C.
fn decode_sums<L: Copy + Into<u64>>(sum: Sum, row: &Row<L>, e: u16) -> Row<f64> {
    match sum {
        Sum::F16 => row.map(|word| half(low(word) >> (16 * e)).into()),
        _ => row.map(|word| f32::from_bits(low(word)).into()),
    }
}

fn encode_sums(sum: Sum, nan: NanPolicy, row: &Row<f64>) -> Row<u64> {
    match sum {
        Sum::F16 => {
            let mut halves = [half::f16::ZERO; LANES];
            halves.convert_from_f32_slice(&row.map(odd_single));
            std::array::from_fn(|i| {
                if row[i].is_nan() { nan.f16 } else { halves[i].to_bits() }.into()
            })
        }
        _ => {
            row.map(|value| if value.is_nan() { nan.f32 } else { (value as f32).to_bits() }.into())
        }
    }
}

/// Rounds a number to odd as an `f32`: rounding it again, to fewer digits, equals rounding once.
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

/// For each stored element of a row, its column of A.
fn stored_columns<L: Copy + Into<u64>>(
    product: &Product,
    metadata: &Row<L>,
) -> Option<[Vec<u16>; ROWS]> {
    let Storage::Sparse(selector) = product.storage else { return None };
    let words = product.metadata_words();
    // `words` of each four lanes hold the metadata of one row, or of two rows.
    let lane_of_word =
        |word: u16| if words == 4 { word } else { u16::from(selector) * words + word };
    let columns = |row: usize| {
        let mut columns = Vec::with_capacity(product.stored_depth().into());
        for group in 0..product.depth / product.group() {
            let lane = 4 * (row % 8) + usize::from(lane_of_word(group / 4));
            let nibble = low(metadata[lane]) >> (16 * (row / 8)) >> (4 * (group % 4));
            let first = group * product.group();
            let (low, high) = ((nibble & 3) as u16, (nibble >> 2 & 3) as u16);
            let (chosen, count): ([u16; 4], _) = match product.a.bits() {
                // 0100 is the first element, 1110 the second.
                32 => ([u16::from(low != 0), 0, 0, 0], 1),
                4 => ([2 * low, 2 * low + 1, 2 * high, 2 * high + 1], 4),
                _ => ([low, high, 0, 0], 2),
            };
            columns.extend(chosen[..count].iter().map(|column| first + column));
        }
        columns
    };
    Some(std::array::from_fn(columns))
}

/// Four products of 8 x 4 by 4 x 8.
fn quads<L: Copy + Into<u64>>(
    product: &Product,
    [a_order, b_order]: [super::Order; 2],
    nan: NanPolicy,
    [a, b, c]: [&[Row<L>]; 3],
) -> Results {
    const DEPTH: usize = 4;
    let [n, d_n] = [product.c, product.d].map(|sum| usize::from(sum.per_register()));
    let element =
        |registers: &[Row<L>], i: usize| floats(product.a, &registers[i / 2], (i % 2) as u16);
    let mut factor_a = [[[0.0; DEPTH]; 8]; 4];
    let mut factor_b = [[[0.0; COLS]; DEPTH]; 4];
    let mut sums = [[[0.0; COLS]; 8]; 4];
    for i in 0..DEPTH {
        let (a, b) = (element(a, i), element(b, i));
        for lane in 0..LANES {
            let [q, row, k] = quad::place_a(a_order, lane, i);
            factor_a[q][row][k] = a[lane];
            let [q, k, col] = quad::place_b(b_order, lane, i);
            factor_b[q][k][col] = b[lane];
        }
    }
    for i in 0..COLS {
        let c = decode_sums(product.c, &c[i / n], (i % n) as u16);
        for (lane, &c) in c.iter().enumerate() {
            let [q, row, col] = quad::place_c(product.c, lane, i);
            sums[q][row][col] = c;
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
    for i in 0..COLS {
        let values = std::array::from_fn(|lane| {
            let [q, row, col] = quad::place_c(product.d, lane, i);
            sums[q][row][col]
        });
        for (result, bits) in results[i / d_n].iter_mut().zip(encode_sums(product.d, nan, &values))
        {
            *result |= bits << (16 * (i % d_n));
        }
    }
    results
}

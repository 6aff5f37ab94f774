//! Places of matrix elements in the registers of `wmma`, which follow the products that it is made
//! of.
//!
//! A shape of 16 columns is two products side by side; a shape of 32 rows is two products below
//! each other. A shape of 32 columns is computed transposed, as two products of 16 of its columns.

use warploom_ir::matrix::{ElementPosition, Factor, Linear, Sum, place_a, place_b, place_c};

/// A matrix of `wmma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    A(Factor),
    B(Factor),
    /// C and D.
    C(Sum),
}

impl Matrix {
    /// Returns the bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Matrix::A(factor) | Matrix::B(factor) => factor.bits(),
            Matrix::C(Sum::F16) => 16,
            Matrix::C(Sum::F64) => 64,
            Matrix::C(_) => 32,
        }
    }
}

/// The products that a shape is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    One,
    /// The second product has the next 8 columns.
    Beside,
    /// The second product has the next 16 rows.
    Below,
    /// Transposed; the second product has the next 16 columns.
    Transposed,
}

impl Tiling {
    pub fn of([m, n, _]: [u16; 3]) -> Option<Tiling> {
        Some(match (m, n) {
            (8, 8) => Tiling::One,
            (16, 16) => Tiling::Beside,
            (32, 8) => Tiling::Below,
            (8, 32) => Tiling::Transposed,
            _ => return None,
        })
    }

    pub fn count(self) -> usize {
        if self == Tiling::One { 1 } else { 2 }
    }

    /// Returns the rows of a product.
    pub fn rows(self) -> u8 {
        if self == Tiling::One { 8 } else { 16 }
    }
}

fn transposed(place: ElementPosition) -> ElementPosition {
    ElementPosition { row: place.col, col: place.row }
}

fn moved(place: ElementPosition, rows: u16, cols: u16) -> ElementPosition {
    let by = |linear: Linear, add| Linear { add: linear.add + add, ..linear };
    ElementPosition { row: by(place.row, rows), col: by(place.col, cols) }
}

/// Returns the places of the elements of each register. Registers of C of the second product follow
/// those of the first, as do registers of a factor whose elements differ between the products.
pub fn registers(tiling: Tiling, depth: u16, matrix: Matrix) -> Vec<Vec<ElementPosition>> {
    let rows = tiling.rows();
    let tall = |factor: Factor| {
        let n = factor.per_register();
        let count = u16::from(rows / 8) * depth / (4 * n);
        list(count, n, move |r, e| place_a(rows, n, r, e))
    };
    let wide = |factor: Factor| {
        let n = factor.per_register();
        list(depth / (4 * n), n, move |r, e| place_b(n, r, e))
    };
    let sums = |sum: Sum| {
        let n = u16::from(sum.per_register());
        list(u16::from(rows / 8) * 2 / n, n, move |r, e| place_c(r * n + e))
    };
    match (tiling, matrix) {
        (Tiling::One | Tiling::Beside, Matrix::A(factor)) => tall(factor),
        (Tiling::One | Tiling::Below, Matrix::B(factor)) => wide(factor),
        (Tiling::One, Matrix::C(sum)) => sums(sum),
        (Tiling::Beside, Matrix::B(factor)) => twice(&wide(factor), |place| moved(place, 0, 8)),
        (Tiling::Beside, Matrix::C(sum)) => twice(&sums(sum), |place| moved(place, 0, 8)),
        (Tiling::Below, Matrix::A(factor)) => twice(&tall(factor), |place| moved(place, 16, 0)),
        (Tiling::Below, Matrix::C(sum)) => twice(&sums(sum), |place| moved(place, 16, 0)),
        (Tiling::Transposed, Matrix::A(factor)) => all(&wide(factor), transposed),
        (Tiling::Transposed, Matrix::B(factor)) => {
            twice(&all(&tall(factor), transposed), |place| moved(place, 0, 16))
        }
        (Tiling::Transposed, Matrix::C(sum)) => {
            twice(&all(&sums(sum), transposed), |place| moved(place, 0, 16))
        }
    }
}

fn list(
    count: u16,
    elements: u16,
    place: impl Fn(u16, u16) -> ElementPosition,
) -> Vec<Vec<ElementPosition>> {
    (0..count).map(|r| (0..elements).map(|e| place(r, e)).collect()).collect()
}

fn all(
    registers: &[Vec<ElementPosition>],
    change: impl Fn(ElementPosition) -> ElementPosition,
) -> Vec<Vec<ElementPosition>> {
    registers.iter().map(|places| places.iter().map(|&place| change(place)).collect()).collect()
}

/// Returns the registers of the first product, followed by those of the second.
fn twice(
    registers: &[Vec<ElementPosition>],
    other: impl Fn(ElementPosition) -> ElementPosition,
) -> Vec<Vec<ElementPosition>> {
    let mut both = registers.to_vec();
    both.extend(all(registers, other));
    both
}

//! Products of matrices whose elements are spread over a warp: [`Op::Product`](super::Op::Product).
//!
//! A warp of 32 lanes holds three matrices in registers: the factors A (`rows` x `depth`) and B
//! (`depth` x 8), and C (`rows` x 8), to which the product is added. Lane 4 g + t holds the
//! elements at the [`ElementPosition`]s that `place_a`, `place_b` and `place_c` give. The elements
//! of one register count from its low bits. Source: facts, `ptx.md` 2.12.

mod eval;
mod quad;
#[cfg(test)]
mod tests;
mod text;

pub use eval::{Results, Row, evaluate};

use super::op::Round;
use super::types::Type;

/// The lanes that hold the matrices.
pub const LANES: usize = 32;
/// The columns of B and C.
pub const COLS: usize = 8;

/// The type of a factor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    F16,
    Bf16,
    /// The upper 19 bits of an `f32`.
    Tf32,
    E4m3,
    E5m2,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
}

/// Classes of factors: only factors of one class can be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Float,
    Double,
    Int,
    Bit,
}

impl Factor {
    pub const fn bits(self) -> u32 {
        match self {
            Factor::F64 => 64,
            Factor::Tf32 => 32,
            Factor::F16 | Factor::Bf16 => 16,
            Factor::E4m3 | Factor::E5m2 | Factor::S8 | Factor::U8 => 8,
            Factor::S4 | Factor::U4 => 4,
            Factor::B1 => 1,
        }
    }

    /// The number of elements in a register.
    pub const fn per_register(self) -> u16 {
        if self.bits() == 64 { 1 } else { (32 / self.bits()) as u16 }
    }

    /// The type of a register.
    pub const fn register(self) -> Type {
        if self.bits() == 64 { Type::I64 } else { Type::I32 }
    }

    fn class(self) -> Class {
        match self {
            Factor::F16 | Factor::Bf16 | Factor::Tf32 | Factor::E4m3 | Factor::E5m2 => Class::Float,
            Factor::F64 => Class::Double,
            Factor::S8 | Factor::U8 | Factor::S4 | Factor::U4 => Class::Int,
            Factor::B1 => Class::Bit,
        }
    }
}

/// The type of the elements of C and of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sum {
    F16,
    F32,
    S32,
    F64,
}

impl Sum {
    /// The number of elements in a register.
    pub const fn per_register(self) -> u8 {
        if matches!(self, Sum::F16) { 2 } else { 1 }
    }

    pub const fn register(self) -> Type {
        if matches!(self, Sum::F64) { Type::I64 } else { Type::I32 }
    }
}

/// The order of a matrix in four products at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    Row,
    Col,
}

/// The storage of the factors' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    Dense,
    /// Half of each group of elements in a row of A is stored. The last operand, the metadata, says
    /// which half. The number tells which lanes of four hold the metadata, if not all four do.
    Sparse(u8),
    /// Four products of 8 x 4 and 4 x 8 elements of 16 bits at once, each in lanes 4 q + 0..4 and
    /// 16 + 4 q + 0..4; the orders of A and B.
    Quad([Order; 2]),
}

/// A product: `d = a * b + c`.
///
/// A product of integers is exact and wraps, or is clamped with `saturate`. A product of `f64` is a
/// chain of fused multiply-adds in ascending order along the depth, beginning with C, each rounded
/// by `round`. For other floats, products are exact. They are added to C in `f64` in ascending
/// order along the depth, and the sum is rounded once to the type of D. A product of bits counts
/// the bits set in `a & b`, or with `xor` in `a ^ b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// The rows of A and C: 8 or 16.
    pub rows: u8,
    pub depth: u16,
    pub a: Factor,
    pub b: Factor,
    pub c: Sum,
    pub d: Sum,
    pub storage: Storage,
    pub saturate: bool,
    pub xor: bool,
    pub round: Round,
}

/// A linear function of the lane 4 g + t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    pub g: u16,
    pub t: u16,
    pub add: u16,
}

impl Linear {
    pub const fn of_lane(self, lane: usize) -> usize {
        let (g, t) = (lane / 4, lane % 4);
        self.g as usize * g + self.t as usize * t + self.add as usize
    }
}

/// The position of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementPosition {
    pub row: Linear,
    pub col: Linear,
}

/// The position of element `e` of register `r` of A, which has `rows` rows; a register has `n`
/// elements.
pub const fn place_a(rows: u8, n: u16, r: u16, e: u16) -> ElementPosition {
    let (row, k) = if rows == 16 { (8 * (r & 1), r >> 1) } else { (0, r) };
    ElementPosition {
        row: Linear { g: 1, t: 0, add: row },
        col: Linear { g: 0, t: n, add: e + 4 * n * k },
    }
}

/// The position of element `e` of register `r` of B.
pub const fn place_b(n: u16, r: u16, e: u16) -> ElementPosition {
    ElementPosition {
        row: Linear { g: 0, t: n, add: e + 4 * n * r },
        col: Linear { g: 1, t: 0, add: 0 },
    }
}

/// The position of element `i` of C and D, counted over all registers.
pub const fn place_c(i: u16) -> ElementPosition {
    ElementPosition {
        row: Linear { g: 1, t: 0, add: 8 * (i >> 1) },
        col: Linear { g: 0, t: 2, add: i & 1 },
    }
}

impl Product {
    /// A dense product, wrapping and rounded to nearest.
    pub const fn dense(rows: u8, depth: u16, [a, b]: [Factor; 2], [c, d]: [Sum; 2]) -> Product {
        let storage = Storage::Dense;
        Product {
            rows,
            depth,
            a,
            b,
            c,
            d,
            storage,
            saturate: false,
            xor: false,
            round: Round::Nearest,
        }
    }

    /// Returns whether this product exists.
    pub fn is_valid(&self) -> bool {
        let class = self.a.class();
        let sums = match class {
            Class::Float => {
                matches!((self.c, self.d), (Sum::F16 | Sum::F32, Sum::F32) | (Sum::F16, Sum::F16))
            }
            Class::Double => (self.c, self.d) == (Sum::F64, Sum::F64),
            Class::Int | Class::Bit => (self.c, self.d) == (Sum::S32, Sum::S32),
        };
        let factors = self.b.class() == class && self.b.bits() == self.a.bits();
        let attributes = (!self.saturate || class == Class::Int)
            && (!self.xor || class == Class::Bit)
            && (self.round == Round::Nearest || class == Class::Double);
        let quarter = 4 * self.a.per_register();
        let shape = match self.storage {
            Storage::Quad(_) => {
                let halves =
                    [Factor::F16, Factor::Bf16].iter().any(|half| [self.a, self.b] == [*half; 2]);
                halves && (self.rows, self.depth) == (8, 4)
            }
            _ if !self.depth.is_multiple_of(quarter) => false,
            Storage::Dense if self.rows == 8 => {
                self.depth == quarter && !matches!((self.c, self.d), (Sum::F16, _) | (_, Sum::F16))
            }
            Storage::Dense => self.rows == 16 && matches!(self.depth / quarter, 1 | 2 | 4),
            Storage::Sparse(selector) => {
                let words = self.metadata_words();
                self.rows == 16
                    && matches!(class, Class::Float | Class::Int)
                    && matches!(self.depth / quarter, 2 | 4)
                    && u16::from(selector) * words < 4
            }
        };
        sums && factors && attributes && shape
    }

    /// The number of 16-bit halves that tell which elements of a row are stored. Four bits select
    /// two of four 16- or 8-bit elements, one of two 32-bit elements, or four of eight 4-bit
    /// elements.
    fn metadata_words(&self) -> u16 {
        self.depth / self.group() / 4
    }

    /// The number of columns that four bits of metadata describe.
    fn group(&self) -> u16 {
        match self.a.bits() {
            32 => 2,
            4 => 8,
            _ => 4,
        }
    }

    /// The number of stored columns of A.
    fn stored_depth(&self) -> u16 {
        if matches!(self.storage, Storage::Sparse(_)) { self.depth / 2 } else { self.depth }
    }

    /// The numbers of registers of A, B, C and D.
    pub fn registers(&self) -> [u16; 4] {
        let quarter = 4 * self.a.per_register();
        let [a, b, sums] = match self.storage {
            Storage::Quad(_) => [2, 2, 8],
            _ => {
                let rows = u16::from(self.rows / 8);
                [rows * self.stored_depth() / quarter, self.depth / quarter, 2 * rows]
            }
        };
        let [c, d] = [self.c, self.d].map(|sum| sums / u16::from(sum.per_register()));
        [a, b, c, d]
    }

    /// The types of the operands: the registers of A, B and C, and the metadata of a sparse A.
    pub fn operands(&self) -> impl Iterator<Item = Type> + use<> {
        let [a, b, c, _] = self.registers();
        let repeat = |ty, count: u16| std::iter::repeat_n(ty, count.into());
        let metadata = repeat(Type::I32, matches!(self.storage, Storage::Sparse(_)).into());
        let factors = repeat(self.a.register(), a).chain(repeat(self.b.register(), b));
        factors.chain(repeat(self.c.register(), c)).chain(metadata)
    }
}

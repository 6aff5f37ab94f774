//! The register file: state that lives between operations and between blocks, declared by each
//! function.

use cranelift_entity::EntityRef;

use super::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankId(pub u16);

impl EntityRef for BankId {
    fn new(index: usize) -> Self {
        BankId(index.try_into().expect("a function has fewer banks"))
    }

    fn index(self) -> usize {
        self.0.into()
    }
}

impl BankId {
    /// Register `index` of this bank.
    pub const fn reg(self, index: u32) -> Reg {
        Reg { bank: self, index }
    }
}

/// A named array of registers of one kind, for example Maxwell's `r[255]` or `p[7]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    pub name: String,
    pub kind: CellKind,
    pub count: u32,
}

/// The contents of one register of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// One cell per lane. Rows are `lanes` rounded up to 8, times [`Type::cell_bytes`], and start
    /// 64-byte aligned.
    Lane(Type),
    /// One cell per warp, 8 bytes.
    Uniform(Type),
    /// One bit per lane: a [`Type::Mask`]. 8 bytes.
    Mask,
    /// A byte array of this many bytes, addressed by [`Region`]s (vISA variables). It starts
    /// 64-byte aligned.
    Bytes(u32),
}

/// One register: a bank and an index into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg {
    pub bank: BankId,
    pub index: u32,
}

/// The part of a uniform or mask cell that is read or written. `Lo` and `Hi` are the `i32` halves
/// of a 64-bit cell. A mask has halves only in functions of 64 lanes, where every bit of the halves
/// belongs to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Whole,
    Lo,
    Hi,
}

/// A byte region of a [`CellKind::Bytes`] register, as Intel's `<vstride;width,hstride>`: element
/// `i` (counted from the first lane of the window) lies at `offset + ((i / width) * vstride + (i %
/// width) * hstride) * size` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The byte offset of element 0.
    pub offset: u32,
    /// The distance between rows, in elements.
    pub vstride: u16,
    /// The number of elements in a row, at least 1.
    pub width: u16,
    /// The distance between elements of a row, in elements.
    pub hstride: u16,
}

impl Region {
    /// Consecutive elements from `offset`.
    pub const fn packed(offset: u32) -> Self {
        Region { offset, vstride: 1, width: 1, hstride: 0 }
    }

    /// The byte offset of element `i` of `size` bytes. On overflow, it lies past the end of every
    /// byte array.
    pub fn element(self, i: u32, size: u32) -> u32 {
        self.offset.saturating_add(self.distance(i, size))
    }

    /// The bytes from element 0 to element `i`, the number of a lane.
    pub fn distance(self, i: u32, size: u32) -> u32 {
        let width = u32::from(self.width.max(1));
        let elements =
            (i / width) * u32::from(self.vstride) + (i % width) * u32::from(self.hstride);
        elements.saturating_mul(size)
    }
}

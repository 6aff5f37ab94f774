//! The layout of a function's registers in the register file of a warp.

use std::ops::Range;

use super::function::Function;
use super::register::{BankId, CellKind, Reg};
use super::types::Type;

/// The alignment of lane rows, byte arrays and spill slots, and of the register file itself.
pub const ROW_ALIGN: u32 = 64;
/// Lane rows have room for a multiple of this number of lanes, so that the JIT's last chunk needs
/// no tail.
pub(crate) const LANE_ROUNDING: u32 = 8;
/// The most bytes of one warp's register file. Maxwell's 255 registers of 32 lanes take 32 KiB.
pub const MAX_BYTES: u32 = 1 << 24;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("register file of `{function}`: bank `{bank}` reaches past {MAX_BYTES} bytes")]
pub struct LayoutError {
    function: String,
    bank: String,
}

/// The byte offsets of registers in the register file. Registers of a bank follow each other at
/// [`RegLayout::stride`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegLayout {
    lanes: u8,
    banks: Vec<BankLayout>,
    bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BankLayout {
    offset: u32,
    stride: u32,
}

/// The bytes of a row with one cell per lane: `lanes` rounded up to 8, times the cell, rounded up
/// to a multiple of 64.
pub const fn row_bytes(lanes: u8, ty: Type) -> u32 {
    ((lanes as u32).next_multiple_of(LANE_ROUNDING) * ty.cell_bytes()).next_multiple_of(ROW_ALIGN)
}

impl RegLayout {
    /// Lays out banks in the order of their declaration.
    pub fn new(function: &Function) -> Result<Self, LayoutError> {
        let mut layout = RegLayout { lanes: function.lanes, banks: Vec::new(), bytes: 0 };
        for bank in &function.banks {
            let (align, stride) = match bank.kind {
                CellKind::Lane(ty) => (ROW_ALIGN, u64::from(row_bytes(function.lanes, ty))),
                CellKind::Uniform(_) | CellKind::Mask => (8, 8),
                CellKind::Bytes(bytes) => {
                    (ROW_ALIGN, u64::from(bytes).next_multiple_of(ROW_ALIGN.into()))
                }
            };
            let offset = layout.bytes.next_multiple_of(align);
            // At most 2^32 registers of 2^32 bytes: 64 bits do not overflow before the addition.
            let end = (stride * u64::from(bank.count)).saturating_add(offset.into());
            if end > MAX_BYTES.into() {
                return Err(LayoutError {
                    function: function.name.clone(),
                    bank: bank.name.clone(),
                });
            }
            layout.banks.push(BankLayout { offset, stride: stride as u32 });
            layout.bytes = end as u32;
        }
        layout.bytes = layout.bytes.next_multiple_of(ROW_ALIGN);
        Ok(layout)
    }

    /// The offset of a register.
    pub fn offset(&self, reg: Reg) -> u32 {
        let bank = self.banks[reg.bank.0 as usize];
        bank.offset + reg.index * bank.stride
    }

    /// The bytes from one register of a bank to the next.
    pub fn stride(&self, bank: BankId) -> u32 {
        self.banks[bank.0 as usize].stride
    }

    /// The ranges of the registers' cells, in the registers' order, with neighbours merged. Padding
    /// that fills an array up to a multiple of 16 bytes counts as cells.
    pub fn ranges(&self, function: &Function, regs: &[Reg]) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for &reg in regs {
            let start = self.offset(reg);
            let bytes = match function.bank(reg.bank).kind {
                CellKind::Lane(ty) => row_bytes(self.lanes, ty),
                CellKind::Bytes(bytes) => bytes.next_multiple_of(16),
                CellKind::Uniform(_) | CellKind::Mask => 8,
            };
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = start + bytes,
                _ => ranges.push(start..start + bytes),
            }
        }
        ranges
    }

    /// The lanes of a warp.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The bytes of the register file with all spill slots: a multiple of 64.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Appends a spill slot of `bytes` bytes, and returns its offset, a multiple of 64. `None` if
    /// the file gets too large.
    pub fn append(&mut self, bytes: u32) -> Option<u32> {
        let offset = self.bytes;
        let end = offset.checked_add(bytes)?.checked_next_multiple_of(ROW_ALIGN)?;
        if end > MAX_BYTES {
            return None;
        }
        self.bytes = end;
        Some(offset)
    }

    /// Appends a spill slot for a value of this type: a lane row, or 8 bytes for a uniform value.
    pub fn append_value(&mut self, ty: super::types::ValueType) -> Option<u32> {
        if ty.is_uniform() { self.append(8) } else { self.append(row_bytes(self.lanes, ty.ty)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builder::FunctionBuilder;
    use super::super::function::NanPolicy;
    use super::*;

    const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };

    fn function(lanes: u8, banks: &[(CellKind, u32)]) -> Function {
        let mut f = FunctionBuilder::new("f", lanes, NAN);
        for &(kind, count) in banks {
            f.bank("b", kind, count);
        }
        f.set_active(BankId(0).reg(0));
        let b = f.new_block(0);
        f.at(b).exit();
        f.finish().unwrap()
    }

    #[test]
    fn rows_are_aligned_and_do_not_overlap() {
        let f = function(
            9,
            &[
                (CellKind::Mask, 3),
                (CellKind::Lane(Type::I32), 2),
                (CellKind::Uniform(Type::I16), 1),
                (CellKind::Lane(Type::F64), 1),
                (CellKind::Bytes(65), 2),
            ],
        );
        let mut layout = RegLayout::new(&f).unwrap();
        let at = |bank, index| layout.offset(BankId(bank).reg(index));
        assert_eq!([at(0, 0), at(0, 2)], [0, 16]);
        // 9 lanes: room for 16, so 64 bytes of i32 and 128 bytes of f64.
        assert_eq!(
            [at(1, 0), at(1, 1), at(2, 0), at(3, 0), at(4, 0), at(4, 1)],
            [64, 128, 192, 256, 384, 512]
        );
        assert_eq!(layout.bytes(), 640);
        assert_eq!(layout.append(1), Some(640));
        assert_eq!(layout.append(64), Some(704));
        assert_eq!(layout.bytes(), 768);
        assert_eq!(layout.append(u32::MAX), None);
    }

    #[test]
    fn too_large_a_file_is_an_error() {
        let f = function(64, &[(CellKind::Mask, 1), (CellKind::Bytes(u32::MAX), u32::MAX)]);
        assert!(RegLayout::new(&f).unwrap_err().to_string().contains("bank `b`"));
    }
}

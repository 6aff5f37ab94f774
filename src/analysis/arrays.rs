//! Contents of byte arrays that a block has written and that are the same in every launch.
//!
//! Compilers for hardware without an instruction for lane numbers put lane numbers together from
//! immediates, eight at a time.

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Reg, Region, Type, Value, ValueType, Window};

use super::editor::Editor;

/// The known bytes of arrays, by register and offset.
#[derive(Default)]
pub struct Arrays {
    known: FxHashMap<Reg, FxHashMap<u32, u8>>,
}

/// Elements of a direct region.
#[derive(Clone, Copy)]
pub struct Elements {
    pub reg: Reg,
    pub region: Region,
    pub ty: Type,
    pub window: Window,
    /// The number of bytes of the array. Bytes behind them read 0.
    pub length: u32,
}

impl Elements {
    /// Returns each lane of the window with the offset of its element.
    fn places(self) -> impl Iterator<Item = (usize, u32)> {
        (0..)
            .zip(self.window.lanes())
            .map(move |(i, lane)| (lane, self.region.element(i, self.ty.bytes())))
    }
}

impl Arrays {
    /// Notes a write of elements.
    ///
    /// Lanes of `mask` are written, or unknown lanes if `mask` is `None`. The values are unknown if
    /// `values` is `None`.
    pub fn write(&mut self, of: Elements, mask: Option<u64>, values: Option<&[u64]>) {
        let known = self.known.entry(of.reg).or_default();
        for (lane, at) in of.places() {
            for byte in 0..of.ty.bytes() {
                let Some(at) = at.checked_add(byte).filter(|&at| at < of.length) else { continue };
                match (mask.map(|mask| mask >> lane & 1 != 0), values) {
                    (Some(false), _) => {}
                    (Some(true), Some(values)) => {
                        known.insert(at, (values[lane] >> (8 * byte)) as u8);
                    }
                    _ => drop(known.remove(&at)),
                }
            }
        }
    }

    /// Forgets the contents of an array that may have been overwritten.
    pub fn forget(&mut self, reg: Reg) {
        self.known.remove(&reg);
    }

    /// Returns the elements of the window's lanes, if all are known.
    fn read(&self, of: Elements) -> Option<Vec<u64>> {
        let known = self.known.get(&of.reg)?;
        let element = |at: u32| {
            (0..of.ty.bytes()).rev().try_fold(0, |value, byte| {
                let at = at.saturating_add(byte);
                let byte = if at < of.length { *known.get(&at)? } else { 0 };
                Some(value << 8 | u64::from(byte))
            })
        };
        of.places().map(|(_, at)| element(at)).collect()
    }
}

impl Editor {
    /// Returns the contents of a region, if they are known and evenly spaced over the lanes.
    pub(super) fn known_elements(
        &mut self,
        arrays: &Arrays,
        of: Elements,
        uniform: bool,
    ) -> Option<Value> {
        let row = arrays.read(of)?;
        let (all, bits) = (self.window(), of.ty.bit_mask());
        if uniform {
            return Some(self.iconst(of.ty, row[0]));
        }
        let (&[first, ..], true) = (&row[..], of.ty.bits() <= 32 && !of.ty.is_float()) else {
            return None;
        };
        let step = row.get(1).map_or(0, |second| second.wrapping_sub(first) & bits);
        let of_lane = |lane: u64| first.wrapping_add(lane.wrapping_mul(step)) & bits;
        if (0..).zip(&row).any(|(lane, &value)| of_lane(lane) != value) {
            return None;
        }
        let start = first.wrapping_sub(u64::from(of.window.first).wrapping_mul(step));
        let mut value = self.iconst(Type::I32, start);
        if step != 0 {
            let lane = self.pure(Op::LaneId, all, &[ValueType::varying(Type::I32)])[0];
            let by = self.iconst(Type::I32, step);
            let moved = if step == 1 { lane } else { self.binary(BinaryOp::Mul, lane, by, all) };
            value = self.binary(BinaryOp::Add, moved, value, all);
        }
        if of.ty != Type::I32 {
            value = self.convert(ConvertOp::Trunc, of.ty, value, all);
        }
        let varying = ValueType::varying(of.ty);
        if of.window == all {
            return Some(self.shaped(value, varying, all));
        }
        let (lanes, zero) = (self.lanes_of(of.window.mask()), self.iconst(of.ty, 0));
        Some(self.select(lanes, value, zero, all))
    }
}

/// Returns the arrays that blocks read.
pub fn read_in<'a>(blocks: impl Iterator<Item = &'a [Inst]>) -> FxHashSet<Reg> {
    let reads = blocks.flatten().filter_map(|inst| match inst.op {
        Op::RegionRead { reg, .. } => Some(reg),
        _ => None,
    });
    reads.collect()
}

/// Whether an operation writes to an array that is not in `read`.
pub fn is_unread(op: &Op, read: &FxHashSet<Reg>) -> bool {
    matches!(op, Op::RegionWrite { reg, .. } if !read.contains(reg))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Reg = Reg { bank: warploom_ir::BankId(0), index: 0 };

    fn words(offset: u32, first: u8, count: u8) -> Elements {
        Elements {
            reg: BYTES,
            region: Region::packed(offset),
            ty: Type::I16,
            window: Window { first, count },
            length: 32,
        }
    }

    #[test]
    fn what_is_written_is_known_until_something_else_is() {
        let mut arrays = Arrays::default();
        let row: Vec<u64> = (0..16).map(|lane| lane + 0x1f0).collect();
        arrays.write(words(0, 0, 8), Some(0xff), Some(&row));
        assert_eq!(arrays.read(words(0, 0, 8)), Some(row[..8].to_vec()));
        // Elements of other lanes, in the middle of two, and behind what was written.
        assert_eq!(arrays.read(words(2, 8, 7)), Some(row[1..8].to_vec()));
        assert_eq!(arrays.read(words(1, 0, 2)), Some(vec![0xf101, 0xf201]));
        assert_eq!(arrays.read(words(2, 0, 8)), None);
        arrays.write(words(16, 0, 8), Some(0xff), Some(&row));
        assert_eq!(
            arrays.read(words(0, 0, 16)).map(|all| all[8..].to_vec()),
            Some(row[..8].to_vec())
        );
        // Behind the array's end there are zeros.
        assert_eq!(arrays.read(words(28, 0, 4)), Some(vec![0x1f6, 0x1f7, 0, 0]));
        // Some lanes, maybe some, and anything.
        arrays.write(words(0, 0, 8), Some(2), Some(&[9; 16]));
        assert_eq!(arrays.read(words(0, 0, 3)), Some(vec![0x1f0, 9, 0x1f2]));
        arrays.write(words(4, 0, 1), None, Some(&row));
        assert_eq!(arrays.read(words(0, 0, 3)), None);
        arrays.forget(BYTES);
        assert_eq!(arrays.read(words(8, 0, 1)), None);
    }
}

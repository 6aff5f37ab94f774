//! Byte regions. Regions are steps of their own, as their elements may belong to any lanes:
//! operands come from rows in memory, and results go to rows in memory.
//!
//! If a region is known at compile time, a vector of elements is one or two vectors of the array
//! with reordered bytes. A write merges its bytes into the old ones. An index that all lanes share
//! is checked once; otherwise each element is checked. Every check is against the array, so no
//! index reaches another part of the register file.

mod direct;
mod indirect;
mod picks;

use cranelift_codegen::ir::{ConstantData, InstBuilder, Value as Clif, types};
use picks::{Array, Elements, Order};
use warploom_ir::{BinaryOp, CellKind, Inst, Op, Reg, Region, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::vector;
use crate::CHUNK;
use crate::forms::clif_type;

/// The depth to which the definition of a mask is searched for constants.
const MASKS_LOOKED_AT: u32 = 4;

/// The lanes that a write affects.
#[derive(Clone, Copy)]
struct Written {
    mask: Clif,
    /// Lanes that may be in the mask.
    possible: u64,
    /// Whether the mask is exactly `possible`.
    certain: bool,
}

/// The index of an indirect region's element 0, for a window that begins with the first lane.
#[derive(Clone, Copy)]
struct Index {
    value: Value,
    /// Bytes to add to `value`, modulo 2^32.
    offset: i32,
}

impl Index {
    fn of(value: Value, region: Region) -> Index {
        Index { value, offset: region.offset as i32 }
    }
}

/// The values that a write stores.
#[derive(Clone, Copy)]
enum Source {
    Uniform(Clif),
    /// Lanes in a row of the register file, at this offset.
    Row(u32),
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers a read or write of a region, for the whole warp at once.
    pub(super) fn region_inst(&mut self, inst: &Inst) {
        match inst.op {
            Op::RegionRead { reg, index, region, ty, uniform: true } => {
                let elements = Elements { region, ty, window: inst.window };
                let v = match index {
                    None => self.read_first(self.array(reg), &elements),
                    Some(index) => {
                        self.read_first_at(self.array(reg), Index::of(index, region), &elements)
                    }
                };
                self.set_scalar(inst.results[0], v);
            }
            Op::RegionRead { reg, index, region, ty, .. } => {
                let elements = Elements { region, ty, window: inst.window };
                let (array, into) =
                    (self.array(reg), self.facts.planned.slots.row(inst.results[0]));
                match index {
                    None => self.read_region(array, self.registers, &elements, array.length, into),
                    Some(index) => {
                        self.read_at(array, Index::of(index, region), &elements.at_index(), into)
                    }
                }
            }
            Op::RegionWrite { reg, index, region, value, guard, .. } => {
                let elements = Elements { region, ty: self.facts.ty(value), window: inst.window };
                let array = self.array(reg);
                let written =
                    self.written(guard.expect("analysis makes masks explicit"), &elements);
                let source = match self.facts.block.ty(value).is_uniform() {
                    true => Source::Uniform(self.scalar(value)),
                    false => Source::Row(self.facts.planned.slots.row(value)),
                };
                match index {
                    None => self.write_region(array, self.registers, &elements, written, source),
                    Some(index) => {
                        self.write_at(
                            array,
                            Index::of(index, region),
                            &elements.at_index(),
                            written,
                            source,
                        );
                    }
                }
            }
            _ => unreachable!("no region"),
        }
    }

    fn array(&self, reg: Reg) -> Array {
        let CellKind::Bytes(length) = self.facts.function.bank(reg.bank).kind else {
            unreachable!("a byte array")
        };
        Array {
            offset: self.facts.layout.offset(reg),
            length,
            padded: self.facts.layout.stride(reg.bank),
        }
    }

    fn written(&mut self, guard: Value, elements: &Elements) -> Written {
        let possible = self.possible_lanes(guard, MASKS_LOOKED_AT) & elements.window.mask();
        let certain = self.facts.constant(guard).is_some();
        let mask = match certain {
            true => self.b.ins().iconst(types::I64, possible as i64),
            false => self.scalar(guard),
        };
        Written { mask, possible, certain }
    }

    /// Returns the lanes that may be in a mask, as far as constants in its definition tell.
    fn possible_lanes(&self, mask: Value, depth: u32) -> u64 {
        match *self.facts.def_op(mask) {
            Op::Const { bits, .. } => bits,
            Op::Binary { op: BinaryOp::And, a, b } if depth > 0 => {
                self.possible_lanes(a, depth - 1) & self.possible_lanes(b, depth - 1)
            }
            _ => self.facts.warp_mask(),
        }
    }

    fn chunks(&self) -> usize {
        u32::from(self.facts.function.lanes).div_ceil(CHUNK) as usize
    }

    /// Returns an integer that is not 0 if a lane is in the mask.
    fn is_written(&mut self, written: Written, lane: usize) -> Clif {
        self.b.ins().band_imm_s(written.mask, 1i64 << lane)
    }

    /// Returns the bits of one lane of the source, as an integer of its cell.
    fn source_lane(&mut self, source: Source, ty: Type, lane: usize) -> Clif {
        let cell = ty.cell_bytes();
        let int = if cell == 8 { types::I64 } else { types::I32 };
        match source {
            Source::Uniform(v) => vector::cast(self.b, int, v),
            Source::Row(row) => {
                let at = row + lane as u32 * cell;
                self.b.ins().load(int, flags(), self.registers, at as i32)
            }
        }
    }

    /// Returns the bytes in another order. Bytes without a source are 0.
    fn ordered(&mut self, bytes: Clif, order: &Order) -> Clif {
        if (0..).zip(order).all(|(at, &from)| from == Some(at)) {
            return bytes;
        }
        let zero = self.byte_constant([0; 16]);
        let mask = order.map(|from| from.unwrap_or(16));
        let mask = self.b.func.dfg.immediates.push(ConstantData::from(&mask[..]));
        self.b.ins().shuffle(bytes, zero, mask)
    }

    fn byte_constant(&mut self, bytes: [u8; 16]) -> Clif {
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(types::I8X16, constant)
    }

    fn load_bytes_at(&mut self, base: Clif, at: u32) -> Clif {
        self.b.ins().load(types::I8X16, flags(), base, at as i32)
    }

    /// Returns an integer of a cell as a scalar of a type.
    fn as_scalar(&mut self, ty: Type, bits: Clif) -> Clif {
        vector::cast(self.b, clif_type(ty, false), bits)
    }
}

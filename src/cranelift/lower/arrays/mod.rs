//! Byte regions. They are steps of their own, as their elements may be any lanes': operands come from rows in memory, and results go
//! there.
//!
//! Where all is known when code is made, a vector of elements is one or two vectors of the array, whose bytes are put in order;
//! what is written goes among the bytes that are there. An index that all lanes have alike is checked once; of others each element is.
//! Every check is of the array, so that nothing else of the register file is touched, whatever an index is.

mod direct;
mod indirect;
mod picks;

use cranelift_codegen::ir::{ConstantData, InstBuilder, Value as Clif, types};
use picks::{Array, Elements, Order};
use warploom_analysis::CHUNK;
use warploom_ir::{BinaryOp, CellKind, Inst, Op, Reg, Region, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;
use super::vector;
use crate::forms::clif_type;

/// How deep the definition of a mask is looked into for constants.
const MASKS_LOOKED_AT: u32 = 4;

/// The lanes that a write is done in.
#[derive(Clone, Copy)]
struct Written {
    mask: Clif,
    /// Lanes that may be in it.
    possible: u64,
    /// Whether these are it.
    certain: bool,
}

/// Where element 0 of an indirect region is, if it is the first lane's.
#[derive(Clone, Copy)]
struct Index {
    value: Value,
    /// Bytes from there, modulo 2^32.
    offset: i32,
}

impl Index {
    fn of(value: Value, region: Region) -> Index {
        Index { value, offset: region.offset as i32 }
    }
}

/// What is written.
#[derive(Clone, Copy)]
enum Source {
    Uniform(Clif),
    /// Lanes in a row of the register file.
    Row(u32),
}

impl BlockLowerer<'_, '_, '_> {
    /// A region is read or written by the whole warp at once.
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

    /// The lanes that constants leave to a mask.
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

    /// Whether a lane is in a mask: not 0.
    fn is_written(&mut self, written: Written, lane: usize) -> Clif {
        self.b.ins().band_imm_s(written.mask, 1i64 << lane)
    }

    /// The bits of one lane of what is written, as an integer of its cell.
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

    /// Bytes in another order, those that are none 0.
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

    /// An integer of a cell as a scalar of a type.
    fn as_scalar(&mut self, ty: Type, bits: Clif) -> Clif {
        vector::cast(self.b, clif_type(ty, false), bits)
    }
}

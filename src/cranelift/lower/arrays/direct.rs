//! Regions whose bytes and base are known at compile time. The base is an array, or an array from
//! an index on.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_ir::Type;
use warploom_ir::layout::row_bytes;

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::vector;
use super::picks::{Array, Elements, Picks, VECTOR, overlap, put, stretches, taken};
use super::{Source, Written};
use crate::forms::{clif_type, parts};

/// The number of lanes of a chunk.
const LANES: usize = crate::CHUNK as usize;

impl BlockLowerer<'_, '_, '_> {
    /// Reads the elements into a row. Only the first `length` bytes of the array at `base` count.
    pub(super) fn read_region(
        &mut self,
        array: Array,
        base: Clif,
        elements: &Elements,
        length: u32,
        into: u32,
    ) {
        for chunk in 0..self.chunks() {
            for part in 0..parts(elements.ty) {
                let picks = elements.picks(chunk, part, length);
                let v = self.read_vector(array, base, elements.ty, &picks);
                let at = into + (chunk * parts(elements.ty) + part) as u32 * VECTOR;
                self.b.ins().store(flags(), v, self.registers, at as i32);
            }
        }
    }

    /// Copies lanes of a row into another row. The source lanes are known at compile time.
    pub(in super::super) fn exchange(&mut self, ty: Type, sources: &[u8], from: u32, into: u32) {
        let cell = ty.cell_bytes();
        let row = Array {
            offset: from,
            length: cell * sources.len() as u32,
            padded: row_bytes(self.facts.function.lanes, ty),
        };
        for vector in 0..self.chunks() * parts(ty) {
            let picks: Picks = std::array::from_fn(|byte| {
                let lane = (vector as u32 * VECTOR + byte as u32) / cell;
                sources
                    .get(lane as usize)
                    .map(|&source| u32::from(source) * cell + byte as u32 % cell)
            });
            let v = self.read_vector(row, self.registers, ty, &picks);
            self.b.ins().store(flags(), v, self.registers, (into + vector as u32 * VECTOR) as i32);
        }
    }

    fn read_vector(&mut self, array: Array, base: Clif, ty: Type, picks: &Picks) -> Clif {
        if picks.iter().all(Option::is_none) {
            return super::super::int::constant(self.b, Type::I32, 0, true);
        }
        let Some(begins) = stretches(picks, array.padded) else {
            return self.read_lanes(array, base, ty, picks);
        };
        let read = begins.into_iter().map(|begin| {
            let bytes = self.load_bytes_at(base, array.offset + begin);
            self.ordered(bytes, &taken(picks, begin))
        });
        // Where both stretches have a byte, they agree on it.
        read.collect::<Vec<_>>()
            .into_iter()
            .reduce(|x, y| self.b.ins().bor(x, y))
            .expect("there are bytes")
    }

    /// Reads a vector of elements lane by lane.
    fn read_lanes(&mut self, array: Array, base: Clif, ty: Type, picks: &Picks) -> Clif {
        let cell = ty.cell_bytes() as usize;
        let int = if cell == 8 { types::I64 } else { types::I32 };
        let mut v = super::super::int::constant(
            self.b,
            if cell == 8 { Type::I64 } else { Type::I32 },
            0,
            true,
        );
        for (lane, bytes) in picks.chunks(cell).enumerate() {
            if bytes[0].is_some() {
                let bits = self.read_bytes(base, array.offset, ty, bytes);
                debug_assert_eq!(self.b.func.dfg.value_type(bits), int);
                v = self.b.ins().insertlane(v, bits, lane as u8);
            }
        }
        v
    }

    /// Reads consecutive bytes as an integer of a cell: as many bytes of the element as the array
    /// has.
    fn read_bytes(&mut self, base: Clif, offset: u32, ty: Type, bytes: &[Option<u32>]) -> Clif {
        let at = |i: usize| bytes[i].map(|at| (offset + at) as i32);
        let int = if ty.cell_bytes() == 8 { types::I64 } else { types::I32 };
        let begin = at(0).expect("the first byte is there");
        let size = ty.bytes() as usize;
        if bytes[size - 1].is_some() {
            return match size {
                1 => self.b.ins().uload8(int, flags(), base, begin),
                2 => self.b.ins().uload16(int, flags(), base, begin),
                _ => self.b.ins().load(int, flags(), base, begin),
            };
        }
        let mut bits = self.b.ins().uload8(int, flags(), base, begin);
        for i in 1..size {
            let Some(at) = at(i) else { break };
            let byte = self.b.ins().uload8(int, flags(), base, at);
            let byte = self.b.ins().ishl_imm_u(byte, 8 * i as i64);
            bits = self.b.ins().bor(bits, byte);
        }
        bits
    }

    /// Reads element 0 of a direct region as a scalar.
    pub(super) fn read_first(&mut self, array: Array, elements: &Elements) -> Clif {
        let first = self.first_element(elements);
        let picks = first.picks(0, 0, array.length);
        let bits = match picks[0] {
            Some(_) => self.read_bytes(self.registers, array.offset, elements.ty, &picks[..8]),
            None => self
                .b
                .ins()
                .iconst(if elements.ty.bits() == 64 { types::I64 } else { types::I32 }, 0),
        };
        self.as_scalar(elements.ty, bits)
    }

    /// Returns the elements with a window that contains lane 0 only.
    pub(super) fn first_element(&self, elements: &Elements) -> Elements {
        Elements { window: warploom_ir::Window { first: 0, count: 1 }, ..*elements }
    }

    /// Writes the elements of the lanes of a mask.
    pub(super) fn write_region(
        &mut self,
        array: Array,
        base: Clif,
        elements: &Elements,
        written: Written,
        source: Source,
    ) {
        let ty = elements.ty;
        for chunk in 0..self.chunks() {
            let possible = written.possible >> (chunk * LANES) & 0xff;
            if possible == 0 {
                continue;
            }
            let conditions =
                if written.certain { None } else { Some(self.conditions(written, chunk, ty)) };
            let per_part = LANES / parts(ty);
            for part in 0..parts(ty) {
                let lanes = possible >> (part * per_part) & ((1 << per_part) - 1);
                let first = chunk * LANES + part * per_part;
                let mut picks = elements.picks(chunk, part, array.length);
                for (byte, at) in picks.iter_mut().enumerate() {
                    *at = at.filter(|_| lanes >> (byte as u32 / ty.cell_bytes()) & 1 != 0);
                }
                let begins = stretches(&picks, array.padded)
                    .filter(|_| lanes.count_ones() > 1 && !overlap(&picks));
                match begins {
                    Some(begins) => {
                        let v = self.source_part(source, ty, chunk * parts(ty) + part);
                        let condition = conditions.as_ref().map(|conditions| conditions[part]);
                        begins.iter().for_each(|&begin| {
                            self.write_stretch((base, array.offset), &picks, begin, v, condition);
                        });
                    }
                    None => {
                        self.write_lanes((base, array.offset), ty, &picks, first, written, source)
                    }
                }
            }
        }
    }

    /// Returns masks of ones and zeros for each vector of a chunk, as wide as the type's cells.
    fn conditions(&mut self, written: Written, chunk: usize, ty: Type) -> Vec<Clif> {
        let bits = match chunk {
            0 => written.mask,
            _ => self.b.ins().ushr_imm_u(written.mask, (chunk * LANES) as i64),
        };
        let bits = self.b.ins().band_imm_u(bits, 0xff);
        let words = vector::mask_words(self.b, bits);
        if ty.bits() == 64 {
            vector::interleave(self.b, &words, &words).to_vec()
        } else {
            words.to_vec()
        }
    }

    /// Returns one vector of the source, as bytes.
    fn source_part(&mut self, source: Source, ty: Type, number: usize) -> Clif {
        match source {
            Source::Uniform(v) => {
                let splat = self.b.ins().splat(clif_type(ty, true), v);
                vector::cast(self.b, types::I8X16, splat)
            }
            Source::Row(row) => self.load_bytes_at(self.registers, row + number as u32 * VECTOR),
        }
    }

    /// Merges the bytes of a vector that belong to a stretch into the stretch's old bytes.
    fn write_stretch(
        &mut self,
        (base, offset): (Clif, u32),
        picks: &Picks,
        begin: u32,
        v: Clif,
        condition: Option<Clif>,
    ) {
        let order = put(picks, begin);
        let new = self.ordered(v, &order);
        let condition = match condition {
            Some(condition) => {
                let bytes = vector::cast(self.b, types::I8X16, condition);
                Some(self.ordered(bytes, &order))
            }
            None if order.iter().all(Option::is_some) => None,
            None => {
                Some(self.byte_constant(order.map(|from| if from.is_some() { 0xff } else { 0 })))
            }
        };
        let new = match condition {
            None => new,
            Some(condition) => {
                let old = self.load_bytes_at(base, offset + begin);
                self.b.ins().bitselect(condition, new, old)
            }
        };
        self.b.ins().store(flags(), new, base, (offset + begin) as i32);
    }

    /// Writes the lanes of a vector one by one, the highest lane last.
    fn write_lanes(
        &mut self,
        (base, offset): (Clif, u32),
        ty: Type,
        picks: &Picks,
        first: usize,
        written: Written,
        source: Source,
    ) {
        let size = ty.bytes() as usize;
        for (lane, bytes) in picks.chunks(ty.cell_bytes() as usize).enumerate() {
            let Some(begin) = bytes[0] else { continue };
            let bits = self.source_lane(source, ty, first + lane);
            let condition = (!written.certain).then(|| self.is_written(written, first + lane));
            if bytes[size - 1].is_some() {
                self.write_bits((base, (offset + begin) as i32), size, bits, condition);
                continue;
            }
            for (i, at) in bytes.iter().enumerate() {
                let Some(at) = at else { break };
                let byte = self.b.ins().ushr_imm_u(bits, 8 * i as i64);
                self.write_bits((base, (offset + at) as i32), 1, byte, condition);
            }
        }
    }

    /// Writes the low bytes of an integer if the condition is not 0.
    pub(super) fn write_bits(
        &mut self,
        (base, at): (Clif, i32),
        size: usize,
        bits: Clif,
        condition: Option<Clif>,
    ) {
        let int = self.b.func.dfg.value_type(bits);
        let new = match condition {
            None => bits,
            Some(condition) => {
                let old = self.read_bits((base, at), size, int);
                self.b.ins().select(condition, bits, old)
            }
        };
        match size {
            1 => self.b.ins().istore8(flags(), new, base, at),
            2 => self.b.ins().istore16(flags(), new, base, at),
            _ => self.b.ins().store(flags(), new, base, at),
        };
    }

    /// Reads an integer of `size` bytes.
    pub(super) fn read_bits(
        &mut self,
        (base, at): (Clif, i32),
        size: usize,
        int: types::Type,
    ) -> Clif {
        match size {
            1 => self.b.ins().uload8(int, flags(), base, at),
            2 => self.b.ins().uload16(int, flags(), base, at),
            _ => self.b.ins().load(int, flags(), base, at),
        }
    }
}

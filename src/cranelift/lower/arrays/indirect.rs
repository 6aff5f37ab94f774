//! Regions at an index that is known only at run time. An element counts only if it lies wholly in
//! the array.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block as ClifBlock, BlockArg, InstBuilder, Type as ClifType, Value as Clif, types,
};
use warploom_ir::Type;

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::int::plus;
use super::picks::{Array, Elements, VECTOR};
use super::{Index, Source, Written};

/// Returns the integer type that has the bits of a type's cell.
fn cell(ty: Type) -> ClifType {
    if ty.cell_bytes() == 8 { types::I64 } else { types::I32 }
}

impl BlockLowerer<'_, '_, '_> {
    /// Reads element 0 as a scalar.
    pub(super) fn read_first_at(
        &mut self,
        array: Array,
        index: Index,
        elements: &Elements,
    ) -> Clif {
        let (at, int) = (self.uniform_index(index), cell(elements.ty));
        let bits = match self.element_place(array, at, elements.size()) {
            Some((place, inside)) => {
                let v = self.read_bits((place, array.offset as i32), elements.size() as usize, int);
                let zero = self.b.ins().iconst(int, 0);
                self.b.ins().select(inside, v, zero)
            }
            None => self.b.ins().iconst(int, 0),
        };
        self.as_scalar(elements.ty, bits)
    }

    /// Reads elements at an index into a row.
    pub(super) fn read_at(&mut self, array: Array, index: Index, elements: &Elements, into: u32) {
        let done = self.alike(array, index, elements, |lowerer, base, length| {
            lowerer.read_region(Array { padded: length, ..array }, base, elements, length, into);
        });
        if elements.window.mask() != self.facts.warp_mask() {
            self.clear_row(into, elements.ty);
        }
        let size = elements.size();
        self.each_element(index, elements, |lowerer, lane, at| {
            let int = cell(elements.ty);
            let zero = lowerer.b.ins().iconst(int, 0);
            let v = match lowerer.element_place(array, at, size) {
                Some((place, inside)) => {
                    let v = lowerer.read_bits((place, array.offset as i32), size as usize, int);
                    lowerer.b.ins().select(inside, v, zero)
                }
                None => zero,
            };
            let cell = lowerer.slot_lane(into, elements.ty, lane);
            lowerer.b.ins().store(flags(), v, cell, 0);
        });
        self.finish(done);
    }

    /// Writes the elements of the lanes of a mask at an index.
    pub(super) fn write_at(
        &mut self,
        array: Array,
        index: Index,
        elements: &Elements,
        written: Written,
        source: Source,
    ) {
        let done = self.alike(array, index, elements, |lowerer, base, length| {
            lowerer.write_region(
                Array { length, padded: length, ..array },
                base,
                elements,
                written,
                source,
            );
        });
        let size = elements.size();
        self.each_element(index, elements, |lowerer, lane, at| {
            let Some((place, inside)) = lowerer.element_place(array, at, size) else { return };
            let int = cell(elements.ty);
            let bits = match source {
                Source::Uniform(v) => super::vector::cast(lowerer.b, int, v),
                Source::Row(row) => {
                    let cell = lowerer.slot_lane(row, elements.ty, lane);
                    lowerer.b.ins().load(int, flags(), cell, 0)
                }
            };
            let bit = lowerer.bit_of_lane(written.mask, lane);
            let both = lowerer.b.ins().band(bit, inside);
            lowerer.write_bits((place, array.offset as i32), size as usize, bits, Some(both));
        });
        self.finish(done);
    }

    /// Returns the address of an element and whether the element lies wholly in the array; the
    /// array's offset is not yet added. The address of an element outside is the address of offset
    /// 0. Returns `None` if no element fits into the array.
    fn element_place(&mut self, array: Array, at: Clif, size: u32) -> Option<(Clif, Clif)> {
        let last = array.length.checked_sub(size)?;
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, at, i64::from(last));
        let wide = self.b.ins().uextend(types::I64, at);
        let zero = self.b.ins().iconst(types::I64, 0);
        let safe = self.b.ins().select(inside, wide, zero);
        Some((self.b.ins().iadd(self.registers, safe), inside))
    }

    /// Emits `body` for the case that all lanes have the same index and all elements lie in the
    /// array.
    ///
    /// `body` gets the base of the register file moved on by the index, and a number of bytes that
    /// are all in the array from there. Returns the block that follows `body`; the caller then
    /// emits code for other indices. Returns `None` if there is no code for this case.
    fn alike(
        &mut self,
        array: Array,
        index: Index,
        elements: &Elements,
        body: impl FnOnce(&mut Self, Clif, u32),
    ) -> Option<ClifBlock> {
        // Vectors that are read or written must lie wholly in the array, too.
        let length = elements.end()?.max(VECTOR);
        let last = array
            .length
            .checked_sub(length)
            .filter(|_| self.facts.block.ty(index.value).is_uniform())?;
        let index = self.uniform_index(index);
        let (inside, other, done) =
            (self.b.create_block(), self.cold_block(), self.b.create_block());
        let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, index, i64::from(last));
        self.b.ins().brif(fits, inside, &[], other, &[]);
        self.b.switch_to_block(inside);
        let wide = self.b.ins().uextend(types::I64, index);
        let base = self.b.ins().iadd(self.registers, wide);
        body(self, base, length);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(other);
        Some(done)
    }

    fn finish(&mut self, done: Option<ClifBlock>) {
        if let Some(done) = done {
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(done);
        }
    }

    fn clear_row(&mut self, row: u32, ty: Type) {
        let zero = super::super::int::constant(self.b, Type::I32, 0, true);
        let vectors = self.chunks() * crate::forms::parts(ty);
        for number in 0..vectors as u32 {
            self.b.ins().store(flags(), zero, self.registers, (row + number * VECTOR) as i32);
        }
    }

    /// Emits `body` for each lane of the window, in ascending order.
    ///
    /// `body` gets the lane's number, an `i64`, and the begin of its element, an `i32`. If elements
    /// are evenly spaced, `body` is lowered once, as a loop.
    fn each_element(
        &mut self,
        index: Index,
        elements: &Elements,
        mut body: impl FnMut(&mut Self, Clif, Clif),
    ) {
        let Some(step) = elements.step() else {
            for lane in elements.window.lanes() {
                let number = self.b.ins().iconst(types::I64, lane as i64);
                let offset = elements.of_lane(lane).expect("a lane of the window");
                let at = self.lane_index(index, number);
                let at = plus(self.b, at, i64::from(offset as i32));
                body(self, number, at);
            }
            return;
        };
        let (head, exit) = (self.b.create_block(), self.b.create_block());
        let lane = self.b.append_block_param(head, types::I64);
        let at = self.b.append_block_param(head, types::I32);
        let first = self.b.ins().iconst(types::I64, i64::from(elements.window.first));
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.ins().jump(head, &[BlockArg::Value(first), BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        let from = self.lane_index(index, lane);
        let from = self.b.ins().iadd(from, at);
        body(self, lane, from);
        let next = self.b.ins().iadd_imm_s(lane, 1);
        let after = self.b.ins().iadd_imm_s(at, i64::from(step as i32));
        let more = self.b.ins().icmp_imm_u(
            IntCC::UnsignedLessThan,
            next,
            elements.window.lanes().end as i64,
        );
        self.b.ins().brif(more, head, &[BlockArg::Value(next), BlockArg::Value(after)], exit, &[]);
        self.b.switch_to_block(exit);
    }

    fn uniform_index(&mut self, index: Index) -> Clif {
        let v = self.scalar(index.value);
        plus(self.b, v, i64::from(index.offset))
    }

    fn lane_index(&mut self, index: Index, lane: Clif) -> Clif {
        if self.facts.block.ty(index.value).is_uniform() {
            return self.uniform_index(index);
        }
        let cell = self.slot_lane(self.facts.planned.slots.row(index.value), Type::I32, lane);
        let v = self.b.ins().load(types::I32, flags(), cell, 0);
        plus(self.b, v, i64::from(index.offset))
    }
}

//! Lane registers that are read and written by index.
//!
//! These accesses are steps of their own: another operation may read a lane's write in any
//! register.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type as ClifType, Value as Clif, types};
use warploom_ir::{BankId, CellKind, Inst, Op, Type, Value};

use super::block::BlockLowerer;
use super::chunk::flags;

/// The registers that an index chooses from.
#[derive(Clone, Copy)]
struct Range {
    ty: Type,
    /// The offset of the first register in the register file, and the bytes from one register to
    /// the next.
    first: u32,
    stride: u32,
    count: u32,
}

impl Range {
    /// Returns the integer type that holds the bits of a cell.
    fn cell(&self) -> ClifType {
        if self.ty.cell_bytes() == 8 { types::I64 } else { types::I32 }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Lowers `rf.gather` and `rf.scatter` of lane registers.
    pub(super) fn indexed_lanes(&mut self, inst: &Inst) {
        match inst.op {
            Op::RfGather { bank, first, count, index } => {
                let range = self.indexed_range(bank, first, count);
                let into = self.facts.planned.slots.row(inst.results[0]);
                self.each_lane(|lowerer, lane| {
                    let (cell, inside) = lowerer.indexed_cell(range, index, lane);
                    let v = lowerer.b.ins().load(range.cell(), flags(), cell, 0);
                    let zero = lowerer.b.ins().iconst(range.cell(), 0);
                    let v = lowerer.b.ins().select(inside, v, zero);
                    let to = lowerer.slot_lane(into, range.ty, lane);
                    lowerer.b.ins().store(flags(), v, to, 0);
                });
            }
            Op::RfScatter { bank, first, count, index, value, guard, .. } => {
                let range = self.indexed_range(bank, first, count);
                let mask = self.scalar(guard.expect("analysis makes masks explicit"));
                let uniform = self.facts.block.ty(value).is_uniform().then(|| self.scalar(value));
                let uniform = uniform.map(|v| super::vector::cast(self.b, range.cell(), v));
                self.each_lane(|lowerer, lane| {
                    let (cell, inside) = lowerer.indexed_cell(range, index, lane);
                    let new = uniform.unwrap_or_else(|| {
                        let from = lowerer.slot_lane(
                            lowerer.facts.planned.slots.row(value),
                            range.ty,
                            lane,
                        );
                        lowerer.b.ins().load(range.cell(), flags(), from, 0)
                    });
                    let written = lowerer.bit_of_lane(mask, lane);
                    let written = lowerer.b.ins().band(written, inside);
                    let old = lowerer.b.ins().load(range.cell(), flags(), cell, 0);
                    let v = lowerer.b.ins().select(written, new, old);
                    lowerer.b.ins().store(flags(), v, cell, 0);
                });
            }
            _ => unreachable!("no indexed registers"),
        }
    }

    /// Gives lanes of a value to other lanes. A lane that no lane names becomes 0.
    pub(super) fn give_lanes(&mut self, a: Value, index: Value, lanes: Value, into: u32) {
        let ty = self.facts.ty(a);
        let cell = if ty.cell_bytes() == 8 { types::I64 } else { types::I32 };
        let zero = self.b.ins().iconst(cell, 0);
        self.each_lane(|lowerer, lane| {
            let to = lowerer.slot_lane(into, ty, lane);
            lowerer.b.ins().store(flags(), zero, to, 0);
        });
        let mask = self.scalar(lanes);
        self.each_lane(|lowerer, lane| {
            let target = lowerer.lane_of(index, lane);
            let target = lowerer.wrapped_lane(target);
            let to = lowerer.slot_lane(into, ty, target);
            let from = lowerer.slot_lane(lowerer.facts.planned.slots.row(a), ty, lane);
            let new = lowerer.b.ins().load(cell, flags(), from, 0);
            let old = lowerer.b.ins().load(cell, flags(), to, 0);
            let given = lowerer.bit_of_lane(mask, lane);
            let v = lowerer.b.ins().select(given, new, old);
            lowerer.b.ins().store(flags(), v, to, 0);
        });
    }

    fn indexed_range(&self, bank: BankId, first: u32, count: u32) -> Range {
        let CellKind::Lane(ty) = self.facts.function.bank(bank).kind else {
            unreachable!("lane registers")
        };
        Range {
            ty,
            first: self.facts.layout.offset(bank.reg(first)),
            stride: self.facts.layout.stride(bank),
            count,
        }
    }

    /// Returns a lane's cell of the register that its index names, and whether the register exists.
    /// If it does not, the cell is the first register's.
    fn indexed_cell(&mut self, range: Range, index: Value, lane: Clif) -> (Clif, Clif) {
        let index = self.lane_of(index, lane);
        let inside =
            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, i64::from(range.count));
        let wide = self.b.ins().uextend(types::I64, index);
        let zero = self.b.ins().iconst(types::I64, 0);
        let safe = self.b.ins().select(inside, wide, zero);
        let row = self.b.ins().imul_imm_s(safe, i64::from(range.stride));
        let cell = self.slot_lane(range.first, range.ty, lane);
        (self.b.ins().iadd(cell, row), inside)
    }

    /// Returns one lane of a word, `i32`.
    fn lane_of(&mut self, v: Value, lane: Clif) -> Clif {
        if self.facts.block.ty(v).is_uniform() {
            return self.scalar(v);
        }
        let cell = self.slot_lane(self.facts.planned.slots.row(v), Type::I32, lane);
        self.b.ins().load(types::I32, flags(), cell, 0)
    }

    /// Returns whether a lane is in a mask.
    pub(super) fn bit_of_lane(&mut self, mask: Clif, lane: Clif) -> Clif {
        let bit = self.b.ins().ushr(mask, lane);
        let bit = self.b.ins().ireduce(types::I8, bit);
        self.b.ins().band_imm_u(bit, 1)
    }

    /// Runs `body` for each lane of the warp in ascending order. `body` gets the lane's number, an
    /// `i64`.
    fn each_lane(&mut self, body: impl FnOnce(&mut Self, Clif)) {
        let (head, exit) = (self.b.create_block(), self.b.create_block());
        let lane = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        body(self, lane);
        let next = self.b.ins().iadd_imm_s(lane, 1);
        let more = self.b.ins().icmp_imm_u(
            IntCC::UnsignedLessThan,
            next,
            i64::from(self.facts.function.lanes),
        );
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], exit, &[]);
        self.b.switch_to_block(exit);
    }
}

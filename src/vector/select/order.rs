//! The order in which the operations of a block are executed.
//!
//! Operations on lanes wait until something needs all pieces of their results. Then they run piece
//! by piece, so that temporary values take few registers. Operations of the whole warp keep the
//! block's order.

use warploom_ir::{BinaryOp, ConvertOp, Inst, Op, Type, UnaryOp, Value};

use super::region::Selector;

impl Selector<'_> {
    pub(super) fn block(&mut self) {
        self.enter();
        if self.self_loop() {
            return;
        }
        self.count_block();
        self.operations(|_| true);
        self.terminate();
    }

    /// Emits the operations of the block that `wanted` selects.
    pub fn operations(&mut self, wanted: impl Fn(usize) -> bool) {
        let mut waiting = Vec::new();
        for (index, inst) in self.facts.block.insts.iter().enumerate() {
            if !wanted(index) {
                continue;
            }
            if self.is_of_lanes(inst) {
                waiting.push(index);
                continue;
            }
            if inst.op.access().is_some() || self.needs_lanes(inst) {
                self.pieces_of(&mut waiting);
            }
            self.warp_inst(index);
        }
        self.pieces_of(&mut waiting);
    }

    fn pieces_of(&mut self, waiting: &mut Vec<usize>) {
        for piece in self.group.clone() {
            waiting.iter().for_each(|&index| self.lane_inst(index, piece));
        }
        waiting.clear();
    }

    /// Returns whether an operation runs piece by piece.
    pub fn is_of_lanes(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::RfWrite { reg, .. } => self.function().is_lane(reg),
            _ if inst.op.access().is_some() => false,
            _ => inst
                .results
                .first()
                .is_some_and(|&v| !self.value_type(v).is_uniform() || self.facts.lane_masks[v]),
        }
    }

    /// Returns whether an operation of the whole warp has operands that are made piece by piece.
    fn needs_lanes(&self, inst: &Inst) -> bool {
        inst.op.operands().iter().any(|&v| self.is_made_of_lanes(v))
    }

    fn is_made_of_lanes(&self, v: Value) -> bool {
        !self.value_type(v).is_uniform() || self.facts.lane_masks[v]
    }

    fn lane_inst(&mut self, index: usize, piece: usize) {
        let inst = &self.facts.block.insts[index];
        let result = inst.results.first().copied();
        if let Some(mask) = result.filter(|&v| self.ty(v) == Type::Mask) {
            let lanes = match inst.op {
                Op::ICmp { cc, a, b } => self.compare_ints(cc, a, b, piece),
                Op::FCmp { cc, a, b, flush } => self.compare_floats(cc, a, b, flush, piece),
                Op::Binary { op, a, b } => self.mask_binary_lanes(op, a, b, piece),
                Op::Unary { op: UnaryOp::Not, a } => self.mask_not_lanes(a, piece),
                // The loop carries this mask.
                Op::RfRead { .. } => return,
                _ => unreachable!("no other operation makes a mask of lanes"),
            };
            self.forms.of(mask).masks[piece] = Some(lanes);
            return;
        }
        let lanes = match inst.op {
            Op::RfWrite { reg, value, guard, .. } => {
                return self.write_row(reg, value, guard, piece);
            }
            Op::Splat { .. } | Op::Convert { op: ConvertOp::Bitcast, .. } => return,
            Op::RfRead { reg, .. } => match self.forms.of(inst.results[0]).lanes[piece] {
                Some(carried) => carried,
                None => self.read_row(reg, piece),
            },
            Op::LaneId => self.lane_ids(piece),
            Op::Special(_) => self.thread_index(index, piece),
            Op::Unary { op, a } => self.unary_lanes(op, a, piece),
            Op::Binary { op, a, b } => self.binary_lanes(op, a, b, piece),
            Op::AddCarry { a, b, carry } => {
                let (sum, carry) = self.add_carry_lanes(inst.results[1], a, b, carry, piece);
                self.forms.of(inst.results[1]).masks[piece] = carry;
                sum
            }
            Op::Select { mask, a, b } => self.select_lanes(inst.results[0], mask, a, b, piece),
            Op::Convert { op, to, a } => self.convert_lanes(op, to, a, piece),
            Op::Concat { lo, hi } => self.concat_lanes(lo, hi, piece),
            Op::FUnary { op, attrs, a } => self.float_unary(inst.results[0], op, attrs, a, piece),
            Op::FBinary { op, attrs, a, b } => {
                self.float_binary(inst.results[0], op, attrs, a, b, piece)
            }
            Op::Fma { attrs, a, b, c } => self.fma(inst.results[0], attrs, [a, b, c], piece),
            Op::FConvert { to, attrs, a } => {
                self.convert_float(inst.results[0], to, attrs, a, piece)
            }
            Op::IntToFloat { signed, a, .. } => self.int_to_float(signed, a, piece),
            Op::FloatToInt { signed, round, flush, nan, a, .. } => {
                self.float_to_int(signed, round, flush, nan, a, piece)
            }
            ref op => unreachable!("{op:?} is not supported"),
        };
        self.set_lanes(inst.results[0], piece, lanes);
    }

    /// Emits an operation of the whole warp.
    fn warp_inst(&mut self, index: usize) {
        let inst = &self.facts.block.insts[index];
        match inst.op {
            Op::Load { access, extend, .. } if self.value_type(access.address).is_uniform() => {
                let loaded = self.load_constant(&access, extend);
                self.set_scalar(inst.results[0], loaded);
            }
            Op::Load { .. } => self.load(index),
            Op::Store { .. } => self.store_lanes(index),
            Op::Const { .. } | Op::Splat { .. } | Op::Convert { op: ConvertOp::Bitcast, .. } => {}
            Op::RfRead { reg, .. } => self.read_cell(inst.results[0], reg),
            Op::RfWrite { reg, value, .. } => self.write_cell(reg, value),
            Op::RfGather { bank, first, count, index } => {
                let gathered = self.gather_cell(bank.reg(first), count, index);
                self.set_scalar(inst.results[0], gathered);
            }
            Op::RfScatter { bank, first, count, index, value, .. } => {
                self.scatter_cell(bank.reg(first), count, index, value);
            }
            Op::Fence => {}
            Op::FUnary { .. }
            | Op::FBinary { .. }
            | Op::Fma { .. }
            | Op::FConvert { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. } => self.same_of_floats(index),
            Op::Binary { op: op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), a, b }
                if self.ty(a) == Type::Mask =>
            {
                let mask = self.mask_binary_number(op, a, b);
                self.set_scalar(inst.results[0], mask);
            }
            Op::Unary { op: UnaryOp::Not, a } if self.ty(a) == Type::Mask => {
                let mask = self.mask_not_number(a);
                self.set_scalar(inst.results[0], mask);
            }
            ref op => self.scalar_op(op, &inst.results),
        }
    }

    /// Emits uniform float arithmetic in all lanes of a vector.
    fn same_of_floats(&mut self, index: usize) {
        let result = self.facts.block.insts[index].results[0];
        self.lane_inst(index, self.group.start);
        let made = self.forms.of(result).lanes[self.group.start].take().expect("just made");
        self.forms.of(result).same = Some(made[0]);
    }
}

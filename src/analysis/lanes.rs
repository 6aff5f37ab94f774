//! Finds lanes of values that are the same in every launch: the source lanes of a shuffle with
//! constant operands, or of DPP.

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use warploom_ir::eval::{self, Output};
use warploom_ir::{
    BinaryOp, Block, ConvertOp, Defs, Function, Inst, IntCc, NanPolicy, Op, Type, Value, ValueType,
    Window,
};

use super::editor::Editor;
use super::visits::visit;

/// The most operations that are visited.
const MAX_OPS: usize = 64;

/// Returns the lanes of a value, if they follow from lane numbers and constants alone.
pub fn fixed_lanes(function: &Function, block: &Block, defs: &Defs, v: Value) -> Option<Vec<u64>> {
    Fixed::of(function.lanes, Some(function.nan), (&block.insts, &block.values), defs).lanes(v)
}

struct Fixed<'a> {
    /// The number of lanes of a warp.
    count: u8,
    /// `None`: operations on floats have no known lanes.
    nan: Option<NanPolicy>,
    insts: &'a [Inst],
    values: &'a [ValueType],
    defs: &'a Defs,
    /// The lanes of visited values. A value that all lanes share, as a mask is, is repeated for
    /// each lane.
    found: FxHashMap<Value, Option<Vec<u64>>>,
}

impl<'a> Fixed<'a> {
    fn of(
        count: u8,
        nan: Option<NanPolicy>,
        (insts, values): (&'a [Inst], &'a [ValueType]),
        defs: &'a Defs,
    ) -> Fixed<'a> {
        Fixed { count, nan, insts, values, defs, found: FxHashMap::default() }
    }

    fn lanes(mut self, v: Value) -> Option<Vec<u64>> {
        self.find(v)?;
        self.found.remove(&v).flatten()
    }

    fn ty(&self, v: Value) -> ValueType {
        self.values[v.index()]
    }

    fn find(&mut self, v: Value) -> Option<()> {
        visit();
        if let Some(found) = self.found.get(&v) {
            return found.is_some().then_some(());
        }
        if self.found.len() == MAX_OPS {
            return None;
        }
        self.found.insert(v, None);
        let row = self.evaluate(v)?;
        self.found.insert(v, Some(row));
        Some(())
    }

    fn evaluate(&mut self, v: Value) -> Option<Vec<u64>> {
        let lanes = usize::from(self.count);
        let inst = &self.insts[self.defs[v].0];
        if usize::from(inst.window.count) != lanes || inst.results.len() != 1 {
            return None;
        }
        let operands = inst.op.operands();
        if inst.op == Op::LaneId {
            return Some((0..lanes as u64).collect());
        }
        for &operand in &operands {
            self.find(operand)?;
        }
        let rows: Vec<&[u64]> =
            operands.iter().map(|v| self.found[v].as_deref()).collect::<Option<_>>()?;
        let ty = self.ty(*operands.first().unwrap_or(&v)).ty;
        let floats = ty.is_float() || self.ty(v).ty.is_float();
        let nan = self.nan.or((!floats).then_some(NanPolicy { f16: 0, f32: 0, f64: 0 }))?;
        let mut row = vec![0; lanes];
        match eval::lanewise(&inst.op, ty, nan, (self.count, 0), &rows, &mut row)? {
            Output::Row => Some(row),
            Output::Mask(mask) => Some(vec![mask; lanes]),
            Output::RowAndMask(_) => None,
        }
    }
}

/// The most distances between the lanes of an exchange and their source lanes for which shifts move
/// a mask along.
const MOST_DISTANCES: usize = 4;

impl Editor {
    /// Returns the lanes of a value, if they are the same in every launch and computed without
    /// floats.
    pub(super) fn fixed_lanes(&self, v: Value) -> Option<Vec<u64>> {
        Fixed::of(self.lanes, None, (&self.insts, &self.values), &self.defs).lanes(v)
    }

    /// Returns `bit & 1 != 0` as a mask, if the bit is that of a mask of 64 lanes at a place that
    /// is the same in every launch.
    ///
    /// On GFX9, this condition says whether the lane that another lane reads from is active. Shifts
    /// move the mask's bits to the lanes that ask for them.
    pub(super) fn mask_at_lanes(&mut self, bit: Value, window: Window) -> Option<Value> {
        let (bits, index) = self.bit_of_mask(bit)?;
        let read = self.fixed_lanes(index)?;
        let mut distances: Vec<(i64, u64)> = Vec::new();
        for (lane, from) in (0..).zip(read).filter(|&(lane, _)| window.mask() >> lane & 1 != 0) {
            let distance = (from & 63) as i64 - lane;
            match distances.iter_mut().find(|(known, _)| *known == distance) {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => distances.push((distance, 1 << lane)),
            }
        }
        if distances.len() > MOST_DISTANCES {
            return None;
        }
        let mut all = self.lanes_of(0);
        for (distance, lanes) in distances {
            let op = if distance < 0 { BinaryOp::Shl } else { BinaryOp::ShrU };
            let count = self.iconst(Type::I64, distance.unsigned_abs());
            let moved = if distance == 0 { bits } else { self.binary(op, bits, count, window) };
            let moved = self.convert(ConvertOp::ToMask, Type::Mask, moved, window);
            let lanes = self.lanes_of(lanes);
            let moved = self.and_mask(moved, lanes);
            all = self.or_mask(all, moved);
        }
        Some(all)
    }

    /// Returns the bits of a mask and the place of the bit that a shift has brought down, as GFX9's
    /// lifter does to see whether a lane is active.
    fn bit_of_mask(&self, bit: Value) -> Option<(Value, Value)> {
        let (half, place) = self.matches_binary(bit, BinaryOp::ShrU)?;
        let Op::Select { mask: upper, a: high, b: low } = *self.def(half) else { return None };
        let (index, bits) = self.matches_binary(place, BinaryOp::And)?;
        let Op::Convert { op: ConvertOp::Trunc, to: Type::I32, a: whole } = *self.def(low) else {
            return None;
        };
        let Op::Convert { op: ConvertOp::HighHalf, a: of_high, .. } = *self.def(high) else {
            return None;
        };
        let is_one = whole == of_high
            && self.ty(whole) == ValueType::uniform(Type::I64)
            && self.constant(bits) == Some(31);
        (is_one && self.is_in_upper_half(upper, index)).then_some((whole, index))
    }

    /// Whether a mask has the lanes where bit 5 of `index` is set. The mask may be a constant, if
    /// these lanes are the same in every launch.
    fn is_in_upper_half(&self, mask: Value, index: Value) -> bool {
        match *self.def(mask) {
            Op::ICmp { cc: IntCc::Ne, a: above, b: zero } => {
                let Some((same, bits)) = self.matches_binary(above, BinaryOp::And) else {
                    return false;
                };
                same == index && self.constant(bits) == Some(32) && self.constant(zero) == Some(0)
            }
            Op::Const { bits, .. } => self.fixed_lanes(index).is_some_and(|lanes| {
                lanes.iter().zip(0..).all(|(from, lane)| from >> 5 & 1 == bits >> lane & 1)
            }),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(body: &str) -> Option<Vec<u64>> {
        let text = format!(
            "function \"f\" lanes 8 nan 0x7fff 0x7fffffff 0xfff8000000000000 {{\nbank active: mask x 1\nbank r: lane i32 x 1\nactive active[0]\n\nb0 pc 0x0:\n{body}  rf.write r[0], v9\n  exit\n}}\n"
        );
        let function: Function = warploom_ir::parse::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let block = &function.blocks[0];
        fixed_lanes(&function, block, &block.defs(), Value(9))
    }

    #[test]
    fn of_a_shuffle() {
        let down = lanes(
            "  v0 = lane.id\n  v1 = const.i32 0x3\n  v2 = add v0, v1\n  v3 = const.i32 0x7\n  v4 = icmp.le.s v2, v3\n  \
             v5 = const.i32 0x0\n  v6 = or v2, v5\n  v7 = or v0, v5\n  v8 = splat v5\n  v9 = select v4, v6, v7\n",
        );
        assert_eq!(down, Some(vec![3, 4, 5, 6, 7, 5, 6, 7]));
        let loaded = lanes(
            "  v0 = lane.id\n  v1 = rf.read r[0]\n  v2 = add v0, v1\n  v3 = const.i32 0x0\n  v4 = or v2, v3\n  v5 = or v2, v3\n  \
             v6 = or v2, v3\n  v7 = or v2, v3\n  v8 = or v2, v3\n  v9 = or v4, v3\n",
        );
        assert_eq!(loaded, None);
    }
}

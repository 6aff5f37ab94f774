//! Lanes of values that are the same in every launch: the lanes that a shuffle with constant operands names, or DPP.

use rustc_hash::FxHashMap;

use crate::ir::eval::{self, Output};
use crate::ir::{Block, Defs, Function, Op, Value};

/// How many operations are looked at.
const MAX_OPS: usize = 64;

/// The lanes of a value, if they follow from lane numbers and constants alone.
pub fn fixed_lanes(function: &Function, block: &Block, defs: &Defs, v: Value) -> Option<Vec<u64>> {
    let mut fixed = Fixed { function, block, defs, found: FxHashMap::default() };
    fixed.find(v)?;
    fixed.found.remove(&v).flatten()
}

struct Fixed<'a> {
    function: &'a Function,
    block: &'a Block,
    defs: &'a Defs,
    /// Of values that have been looked at. One that is the same in all lanes, as a mask is, stands in each.
    found: FxHashMap<Value, Option<Vec<u64>>>,
}

impl Fixed<'_> {
    fn find(&mut self, v: Value) -> Option<()> {
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
        let lanes = usize::from(self.function.lanes);
        let inst = &self.block.insts[self.defs[v].0];
        if usize::from(inst.window.count) != lanes || inst.results.len() != 1 {
            return None;
        }
        let operands = inst.op.operands();
        match inst.op {
            Op::LaneId => return Some((0..lanes as u64).collect()),
            // Bits past the warp are other ones in a compare of uniform values.
            Op::ICmp { .. } | Op::FCmp { .. } if operands.iter().all(|&v| self.block.ty(v).is_uniform()) => {
                return None;
            }
            _ => {}
        }
        for &operand in &operands {
            self.find(operand)?;
        }
        let rows: Vec<&[u64]> = operands.iter().map(|v| self.found[v].as_deref()).collect::<Option<_>>()?;
        let ty = operands.first().map_or(self.block.ty(v).ty, |&first| self.block.ty(first).ty);
        let mut row = vec![0; lanes];
        match eval::lanewise(&inst.op, ty, self.function.nan, 0, &rows, &mut row)? {
            Output::Row => Some(row),
            Output::Mask(mask) => Some(vec![mask; lanes]),
            Output::RowAndMask(_) => None,
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
        let function: Function = crate::ir::parse::parse(&text).unwrap_or_else(|e| panic!("{e}"));
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

//! Float values whose bits can be told apart.

use cranelift_entity::SecondaryMap;
use warploom_engine::plan::shows_bits;
use warploom_ir::{Block, Op, Reg, Value, table};

/// Returns the float values whose bits can be told apart: all but operands of arithmetic, which
/// treats all NaNs alike, also behind selects and copies.
pub fn bits_used(block: &Block) -> SecondaryMap<Value, bool> {
    bits_used_but(block, |_| false)
}

/// Returns the values of [`bits_used`], without values that are only written to `raw` registers.
pub fn bits_used_but(block: &Block, raw: impl Fn(Reg) -> bool) -> SecondaryMap<Value, bool> {
    let mut used = table(block.values.len(), false);
    block.term.for_each_operand(|v| used[v] = true);
    for inst in block.insts.iter().rev() {
        let hidden = matches!(inst.op, Op::RfWrite { reg, .. } if raw(reg));
        if !hidden && shows_bits(block, inst, &used) {
            inst.op.for_each_operand(|v| used[v] = true);
        }
    }
    used
}

//! Float values whose bits can be told apart.

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, ConvertOp, Op, Reg, Value, table};

/// All float values but operands of arithmetic, which treats all NaNs alike, also where they are chosen or renamed
/// before.
pub fn bits_used(block: &Block) -> SecondaryMap<Value, bool> {
    bits_used_but(block, |_| false)
}

/// The same where nothing looks at the bits of what is written to some registers.
pub fn bits_used_but(block: &Block, raw: impl Fn(Reg) -> bool) -> SecondaryMap<Value, bool> {
    let mut used = table(block.values.len(), false);
    block.term.for_each_operand(|v| used[v] = true);
    for inst in block.insts.iter().rev() {
        let shows = match inst.op {
            Op::RfWrite { reg, .. } if raw(reg) => false,
            Op::FUnary { .. }
            | Op::FBinary { .. }
            | Op::Fma { .. }
            | Op::FCmp { .. }
            | Op::FConvert { .. }
            | Op::FloatToInt { .. } => false,
            Op::Unary { a, .. } if !block.ty(a).ty.is_float() => true,
            Op::Unary { .. }
            | Op::Select { .. }
            | Op::UniformSelect { .. }
            | Op::Splat { .. }
            | Op::Convert { op: ConvertOp::Bitcast, .. } => used[inst.results[0]],
            _ => true,
        };
        if shows {
            inst.op.for_each_operand(|v| used[v] = true);
        }
    }
    used
}

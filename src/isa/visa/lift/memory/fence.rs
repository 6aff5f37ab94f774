//! Fences. Facts, `visa-semantics.md` 7: memory is coherent here, and caches are not there.

use super::super::{Cx, Lifted};
use crate::instruction::Instruction;

/// The bit of a `fence` that only prevents the compiler from moving operations across it.
const SOFTWARE: u32 = 0x80;

pub fn fence(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if cx.number(i, 0)? & SOFTWARE == 0 {
        cx.b.fence();
    }
    Ok(())
}

pub fn lsc_fence(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    cx.b.fence();
    Ok(())
}

//! Atomics and reductions in memory.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn atom(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn red(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

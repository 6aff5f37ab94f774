//! Barriers of blocks and clusters.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn bar(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn cluster(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

//! Clusters of one block.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn mapa(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn getctarank(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

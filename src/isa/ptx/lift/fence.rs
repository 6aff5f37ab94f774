//! Fences.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn fence(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

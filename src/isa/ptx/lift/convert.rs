//! Conversions.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn cvt(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn cvt_pack(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

//! What lanes of a warp tell each other.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn shfl(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn vote(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn match_lanes(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn activemask(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn redux(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn elect(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn warp_sync(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

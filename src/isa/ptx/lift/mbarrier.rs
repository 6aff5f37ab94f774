//! Barriers in shared memory.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn init(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn inval(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn arrive(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn arrive_drop(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn test_wait(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn expect_tx(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn complete_tx(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn pending_count(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

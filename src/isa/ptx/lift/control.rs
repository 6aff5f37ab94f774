//! Control flow.

use super::context::{Cx, Insn};
use super::flow::{Lifted, Unsupported};

pub fn bra(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn brx(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn call(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn ret(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn exit(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn trap(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn brkpt(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn nanosleep(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn pmevent(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn alloca(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn stacksave(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn stackrestore(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

pub fn nothing(_: &mut Cx<'_>, _: &Insn<'_>) -> Lifted {
    Err(Unsupported)
}

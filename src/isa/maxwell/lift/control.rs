//! Control flow: what the instructions say; [`super::ends`] and [`super::stack`] do it.
//!
//! Source: facts, `maxwell-semantics.md` 6.

use crate::ir::TrapKind;
use crate::isa::maxwell::Instruction;

use super::context::Cx;
use super::flow::{Flow, Leave, Lifted, Unsupported, Wait};

/// NOP, and what only schedules, waits for scoreboards or hints to caches.
pub fn nop(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Next)
}

fn target(cx: &Cx<'_>, i: &Instruction) -> Result<u64, Unsupported> {
    i.target(cx.pc).ok_or(Unsupported)
}

pub fn bra(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Branch(target(cx, i)?))
}

pub fn ssy(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Push(Wait::Sync, target(cx, i)?))
}

pub fn pbk(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Push(Wait::Break, target(cx, i)?))
}

pub fn pcnt(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Push(Wait::Continue, target(cx, i)?))
}

pub fn pret(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Push(Wait::Return, target(cx, i)?))
}

pub fn cal(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Call(target(cx, i)?))
}

pub fn sync(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::To(Wait::Sync)))
}

pub fn brk(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::To(Wait::Break)))
}

pub fn cont(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::To(Wait::Continue)))
}

pub fn ret(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::To(Wait::Return)))
}

/// EXIT, and KIL: a lane that is discarded has no further effect either.
pub fn exit(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::Exit))
}

pub fn bpt_trap(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Trap(TrapKind::Guest))
}

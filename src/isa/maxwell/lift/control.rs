//! Control flow: the effects that instructions ask for; `ends` and `stack` implement them.
//!
//! Source: facts, `maxwell-semantics.md` 6.

use warploom_guest::divergence::Mask;
use warploom_ir::{TrapKind, Type};

use super::context::Cx;
use super::flow::{Active, Flow, Leave, Lifted, Unsupported, Wait};
use crate::field::BreakpointKind;
use crate::{Instruction, Role, WORD_BYTES};

/// Lifts NOP and instructions that only schedule, wait for scoreboards or hint to caches.
pub fn nop(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Next)
}

/// Returns the branch target.
///
/// # Errors
/// The target is in constant memory, which is not supported.
fn target(cx: &Cx<'_>, i: &Instruction) -> Result<u64, Unsupported> {
    i.target(cx.pc).ok_or(Unsupported)
}

/// Lifts BRA and JMP.
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

/// Lifts CAL and JCAL.
pub fn cal(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Call(target(cx, i)?))
}

/// Lifts BRX: to Ra + offset + the next address.
pub fn brx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    indirect(cx, i, (i.code_offset() as u64).wrapping_add(cx.pc).wrapping_add(WORD_BYTES))
}

/// Lifts JMX: to the absolute address Ra + offset.
pub fn jmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    indirect(cx, i, i.code_offset() as u64)
}

fn indirect(cx: &mut Cx<'_>, i: &Instruction, offset: u64) -> Lifted {
    let register = cx.word(i.source(Role::A).ok_or(Unsupported)?);
    let (register, offset) =
        (cx.b.zero_extend(Type::I64, register), cx.constant(Type::I64, offset));
    let address = cx.b.add(register, offset);
    Ok(Flow::Indirect(cx.b.splat(address)))
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

/// Lifts EXIT.
pub fn exit(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Leave(Leave::Exit))
}

/// Lifts SAM: lanes that wait take part in the code that follows, so that quads are whole for the
/// derivatives of a texture access.
pub fn sam(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    activate(cx, Active::All)
}

/// Lifts RAM.
pub fn ram(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    activate(cx, Active::Restored)
}

fn activate(cx: &mut Cx<'_>, active: Active) -> Lifted {
    // An activation of only some lanes has no meaning.
    if cx.guard() == Mask::Always { Ok(Flow::Activate(active)) } else { Err(Unsupported) }
}

/// Lifts BPT.TRAP; other kinds are for debuggers.
pub fn bpt(_: &mut Cx<'_>, i: &Instruction) -> Lifted {
    match i.breakpoint_kind() {
        BreakpointKind::Trap => Ok(Flow::Trap(TrapKind::Guest)),
        _ => Err(Unsupported),
    }
}

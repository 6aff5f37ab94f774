//! The exactness of one form of an instruction; the table states it for all forms together.

use warploom_guest::header::Header;

use super::program::executes;
use crate::special::SpecialRegister as Sr;
use crate::{Fidelity, Instruction, Opcode, Role, Value, driver};

/// Returns the class of an instruction with its modifiers and operands. Some forms of an executed
/// instruction may not be executed. Some operands of an exact instruction have values that we
/// decided (`docs/fidelity.md`).
pub fn fidelity(insn: &Instruction, pc: u64, header: Option<&Header>) -> Fidelity {
    if !executes(insn, pc, header) {
        return Fidelity::Unimplemented;
    }
    let decided = match insn.opcode() {
        Opcode::S2r | Opcode::Cs2r => decided_register(Sr(insn.special_register() as u8)),
        _ => reads_unknown_word(insn).then_some("this word of the driver's is 0 here"),
    };
    match (insn.fidelity(), decided) {
        (Fidelity::Exact, Some(what)) => Fidelity::Approximate(what),
        (fidelity, _) => fidelity,
    }
}

/// Returns our decision about a special register, if hardware has another number there.
fn decided_register(register: Sr) -> Option<&'static str> {
    match register {
        Sr::CLOCK | Sr::CLOCKLO | Sr::CLOCKHI | Sr::GLOBALTIMERLO | Sr::GLOBALTIMERHI => {
            Some("clocks count guest instructions")
        }
        Sr::VIRTID | Sr::VIRTCFG => Some("there is one multiprocessor"),
        Sr::SWINLO | Sr::SWINSZ | Sr::LWINLO | Sr::LWINSZ => {
            Some("where windows are is our choice")
        }
        Sr::LMEMHIOFF | Sr::LMEMLOSZ => Some("local memory is one piece from 0"),
        Sr::Y_DIRECTION => Some("y runs downwards"),
        Sr::WSCALEFACTOR_XY | Sr::WSCALEFACTOR_Z => Some("nothing is scaled"),
        Sr::AFFINITY => Some("0"),
        Sr::INVOCATION_INFO => Some("input vertices are numbered from 0"),
        _ => None,
    }
}

/// Whether an operand is a word of bank 0 that a driver may fill in, and that is 0 here.
fn reads_unknown_word(insn: &Instruction) -> bool {
    let sources = [Role::A, Role::B, Role::C].into_iter().filter_map(|role| insn.source(role));
    let mut words = sources.filter_map(|source| match source.value {
        Value::Const { bank: 0, offset } => Some(offset),
        _ => None,
    });
    let load = insn.address().filter(|address| insn.bank() == Some(0) && address.base.is_zero());
    let is_unknown =
        |offset: i32| u32::try_from(offset).is_ok_and(|offset| !driver::has_word(offset));
    words.any(is_unknown) || load.is_some_and(|address| is_unknown(address.offset))
}

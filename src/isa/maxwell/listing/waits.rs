//! The targets of leaves and indirect calls. Lanes that SYNC, BRK and CONT suspend, and lanes that
//! an indirect call sends elsewhere, go on at the target of the entry that was pushed on the way
//! there.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::code::word_at;
use crate::field::CcTest;
use crate::instruction::{WORD_BYTES, past_control};
use crate::table::Opcode;

/// A stack of pushed entries, as a list from the innermost entry outward.
struct Entry {
    /// The instruction that leaves to this entry.
    left_by: Opcode,
    target: u64,
    outer: Stack,
}

type Stack = Option<Rc<Entry>>;

/// Targets by the address of the instruction.
pub(super) type Targets = HashMap<u64, u64>;

/// Returns the targets of all leaves and indirect calls that these addresses can reach. Where paths
/// meet, the path found first counts: compiled code has equal entries on all paths. None: the
/// target of a jump is unknown.
pub(super) fn targets(code: &[u8], starts: impl Iterator<Item = u64>) -> Option<Targets> {
    let (mut seen, mut found) = (HashSet::new(), HashMap::new());
    let mut work: Vec<(u64, Stack)> = starts.map(|start| (past_control(start), None)).collect();
    while let Some((pc, stack)) = work.pop() {
        let Some(instruction) = word_at(code, pc).and_then(|word| word.instruction) else {
            continue;
        };
        if !seen.insert(pc) {
            continue;
        }
        let next = past_control(pc.wrapping_add(WORD_BYTES));
        let opcode = instruction.opcode();
        let always = instruction.guard().is_true() && instruction.cc_test() == CcTest::T;
        let target = instruction.target(pc);
        let mut goes_on = true;
        let mut behind = stack.clone();
        match (opcode, target) {
            (Opcode::Ssy | Opcode::Pbk | Opcode::Pcnt | Opcode::Pret, Some(target)) => {
                let left_by = match opcode {
                    Opcode::Ssy => Opcode::Sync,
                    Opcode::Pbk => Opcode::Brk,
                    Opcode::Pcnt => Opcode::Cont,
                    _ => Opcode::Ret,
                };
                // Lanes that come to the target have popped the entry.
                work.push((target, stack.clone()));
                behind = Some(Rc::new(Entry { left_by, target, outer: stack }));
            }
            (Opcode::Sync | Opcode::Brk | Opcode::Cont, _) => {
                let mut entries =
                    std::iter::successors(stack.as_deref(), |entry| entry.outer.as_deref());
                if let Some(entry) = entries.find(|entry| entry.left_by == opcode) {
                    found.insert(pc, entry.target);
                }
                goes_on = !always;
            }
            (Opcode::Bra | Opcode::Jmp, Some(target)) => {
                work.push((target, stack));
                goes_on = !always;
            }
            (Opcode::Brx | Opcode::Jmx, _) => {
                let call = stack.as_deref().filter(|entry| entry.left_by == Opcode::Ret)?;
                found.insert(pc, call.target);
                goes_on = !always;
            }
            (Opcode::Exit | Opcode::Ret | Opcode::Kil, _) => goes_on = !always,
            _ => {}
        }
        if goes_on {
            work.push((next, behind));
        }
    }
    Some(found)
}

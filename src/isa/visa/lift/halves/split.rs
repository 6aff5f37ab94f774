//! Splits roots into parts.
//!
//! If a message of several components accesses a root, each component gets a part of its own. In
//! the whole message the halves of a component follow each other, so the parts of both operands
//! alternate.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::super::variables::RootId;
use super::accesses::raw_operands;
use super::{Joining, Unit};
use crate::instruction::{Instruction, Operand, Raw};
use crate::module::{InputOf, VariableId};
use crate::predefined::FIRST_VARIABLE;

/// For each split root, the bytes of its parts.
pub type Splits = FxHashMap<RootId, u32>;

/// An operand that is within a part.
pub struct Within {
    pub insn: usize,
    pub operand: usize,
    pub unit: Unit,
    /// Bytes behind the part's start.
    pub at: u32,
}

impl Joining<'_> {
    /// Returns the roots that may be split, except the roots in `but`.
    pub(super) fn splits(&self, but: &BTreeSet<RootId>) -> Splits {
        let mut splits = Splits::default();
        let mut whole = but.clone();
        for insn in self.code() {
            for (root, pitch) in self.components(insn).into_iter().chain(self.copies(insn)) {
                let part = splits.entry(root).or_insert(pitch);
                if *part != pitch
                    || root.0 < FIRST_VARIABLE && self.roots.get(root).routine.is_none()
                {
                    whole.insert(root);
                }
            }
        }
        let inputs = self.module.routines[self.number].inputs.iter();
        whole.extend(inputs.filter_map(|input| match input.of {
            InputOf::Variable(id) => Some(self.roots.variable(0, id).0),
            _ => None,
        }));
        for insn in self.code() {
            for (n, operand) in insn.operands.iter().enumerate() {
                for id in variables(operand) {
                    let (root, _) = self.roots.variable(0, id);
                    if let Some(&part) = splits.get(&root)
                        && !self.keeps_to_parts(insn, n, part)
                    {
                        whole.insert(root);
                    }
                }
            }
        }
        splits.retain(|root, _| !whole.contains(root));
        splits
    }

    /// Returns the roots that hold several components of a message, with the bytes per component.
    ///
    /// Roots whose components are not whole registers are left out.
    pub(super) fn components(&self, insn: &Instruction) -> Vec<(RootId, u32)> {
        let (Some(exec), Some(raws)) = (insn.exec, raw_operands(insn)) else { return vec![] };
        let registers = self.register_bytes;
        let several = raws.iter().filter(|raw| raw.components > 1);
        let of = several.filter_map(|raw| match insn.operands.get(raw.operand) {
            Some(Operand::Raw(at)) if *at != Raw::NULL => {
                let pitch = raw.pitch(exec, registers);
                let full = pitch == u32::from(exec.size) * raw.step;
                Some((self.roots.variable(0, at.variable).0, if full { pitch } else { 0 }))
            }
            _ => None,
        });
        of.filter(|&(_, pitch)| pitch > 0).collect()
    }

    /// Returns a root that may have components, with the bytes of a component.
    ///
    /// Its variable has more elements than half of the lanes, and an instruction writes a row of
    /// them.
    fn copies(&self, insn: &Instruction) -> Option<(RootId, u32)> {
        let (Some(exec), Some(Operand::General(general))) = (insn.exec, insn.operands.first())
        else {
            return None;
        };
        let (one, size) = (self.general(general)?, self.ty(general.variable).size());
        let half = self.module.routines[self.number].simd_size() / 2;
        let part = half * size;
        let fits = one.step == size
            && u32::from(exec.size) == half
            && part.is_multiple_of(self.register_bytes);
        (fits && self.roots.get(one.root).bytes > part).then_some((one.root, part))
    }

    /// Returns whether an operand is within a part, or consists of whole parts as components.
    fn keeps_to_parts(&self, insn: &Instruction, n: usize, part: u32) -> bool {
        let Some(exec) = insn.exec else { return false };
        match &insn.operands[n] {
            Operand::Lifetime { .. } => true,
            Operand::General(general) => self.general(general).is_some_and(|one| {
                let size = self.ty(general.variable).size();
                let end = one.at % part + (u32::from(exec.size) - 1) * one.step + size;
                end <= part && (one.at % part).is_multiple_of(size)
            }),
            Operand::Raw(raw) => {
                let raws = raw_operands(insn).unwrap_or_default();
                let (Some(of), Some(one)) =
                    (raws.iter().find(|one| one.operand == n), self.raw(*raw, 0))
                else {
                    return false;
                };
                let (pitch, bytes) =
                    (of.pitch(exec, self.register_bytes), u32::from(exec.size) * of.step);
                match of.components {
                    1 => one.at % part + bytes <= part,
                    _ => pitch == part && one.at.is_multiple_of(part),
                }
            }
            _ => false,
        }
    }

    /// Returns the part, or the whole root, that has a byte of a root, and the byte's offset in it.
    pub(super) fn unit(&self, root: RootId, at: u32) -> (Unit, u32) {
        match self.splits.get(&root) {
            Some(part) => (Unit { root, start: at / part * part }, at % part),
            None => (Unit { root, start: 0 }, at),
        }
    }

    /// Returns split roots of messages with several components that were not merged.
    pub(super) fn torn(&self, pairs: &[(usize, usize)]) -> BTreeSet<RootId> {
        let joined: BTreeSet<usize> =
            pairs.iter().flat_map(|&(first, second)| [first, second]).collect();
        let left = self.code().iter().enumerate().filter(|(number, _)| !joined.contains(number));
        let roots = left.flat_map(|(_, insn)| self.components(insn)).map(|(root, _)| root);
        roots.filter(|root| self.splits.contains_key(root)).collect()
    }

    /// Returns the operands that name parts.
    pub(super) fn within_parts(&self) -> Vec<Within> {
        let mut all = vec![];
        for (number, insn) in self.code().iter().enumerate() {
            for (operand, of) in insn.operands.iter().enumerate() {
                let elements = match of {
                    Operand::General(general) => self.general(general),
                    Operand::Raw(raw) if *raw != Raw::NULL => self.raw(*raw, 0),
                    _ => None,
                };
                if let Some(one) = elements
                    && self.splits.contains_key(&one.root)
                {
                    let (unit, at) = self.unit(one.root, one.at);
                    all.push(Within { insn: number, operand, unit, at });
                }
            }
        }
        all
    }
}

/// Returns the variables that an operand names.
fn variables(operand: &Operand) -> Vec<VariableId> {
    match operand {
        Operand::General(general) => vec![general.variable],
        Operand::Raw(raw) if *raw != Raw::NULL => vec![raw.variable],
        Operand::Raws(raws) => {
            raws.iter().filter(|raw| **raw != Raw::NULL).map(|raw| raw.variable).collect()
        }
        Operand::AddressOf { of, .. } => vec![*of],
        _ => vec![],
    }
}

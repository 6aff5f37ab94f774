//! `%cr0`: rounding and denormals. Lifting follows its value through the code, and lifts each block
//! for each mode in which control reaches it.

use warploom_ir::{FloatAttrs, Round, Type};

use super::Unsupported;
use crate::instruction::{Instruction, Modifier, Operand};
use crate::module::VariableId;
use crate::table::Field;

/// The variable `%cr0`.
pub const CR0: VariableId = VariableId(14);

/// The bits of `%cr0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode(pub u32);

/// The bits that keep denormals.
const KEEP_F64: u32 = 1 << 6;
const KEEP_F32: u32 = 1 << 7;
const KEEP_F16: u32 = 1 << 10;

impl Mode {
    /// Returns the rounding of results.
    pub fn round(self) -> Round {
        match self.0 >> 4 & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }

    /// Returns whether denormals of a type are flushed to zero.
    pub fn flushes(self, ty: Type) -> bool {
        let keep = match ty {
            Type::F64 => KEEP_F64,
            Type::F16 => KEEP_F16,
            _ => KEEP_F32,
        };
        self.0 & keep == 0
    }

    /// Returns the attributes of arithmetic on a type.
    pub fn attrs(self, ty: Type, saturate: bool) -> FloatAttrs {
        FloatAttrs { round: self.round(), flush: self.flushes(ty), saturate }
    }

    /// Returns whether an instruction writes `%cr0`. It then has no other effect.
    pub fn is_written(insn: &Instruction) -> bool {
        insn.row.has(Field::Destination) && insn.operands.first().is_some_and(names)
    }

    /// Returns the mode after an instruction; an error if the mode is unknown at lift time.
    pub fn after(self, insn: &Instruction) -> Result<Mode, Unsupported> {
        if !Mode::is_written(insn) {
            return Ok(self);
        }
        if insn.predicate.is_some() || insn.exec.is_none_or(|exec| exec.size != 1 || !exec.no_mask)
        {
            return Err(Unsupported);
        }
        let source = |n: usize| match insn.operands.get(n) {
            Some(Operand::Immediate { bits, .. }) => Ok(*bits as u32),
            Some(operand) if names(operand) => Ok(self.0),
            _ => Err(Unsupported),
        };
        Ok(Mode(match insn.row.name {
            "mov" => source(1)?,
            "or" => source(1)? | source(2)?,
            "and" => source(1)? & source(2)?,
            "xor" => source(1)? ^ source(2)?,
            _ => return Err(Unsupported),
        }))
    }
}

/// Returns whether an operand is `%cr0` without a modifier.
fn names(operand: &Operand) -> bool {
    matches!(operand, Operand::General(general)
        if general.variable == CR0 && general.row == 0 && general.column == 0 && general.modifier == Modifier::None)
}

//! `%cr0`: rounding and denormals. It is followed while code is found, so that every block is lifted for the modes it is reached in.

use warploom_ir::{FloatAttrs, Round, Type};

use super::Unsupported;
use crate::instruction::{Instruction, Modifier, Operand};
use crate::module::VariableId;
use crate::table::Field;

/// `%cr0`
pub const CR0: VariableId = VariableId(14);

/// The bits of `%cr0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode(pub u32);

/// Bits that keep denormals.
const KEEP_F64: u32 = 1 << 6;
const KEEP_F32: u32 = 1 << 7;
const KEEP_F16: u32 = 1 << 10;

impl Mode {
    /// How results are rounded.
    pub fn round(self) -> Round {
        match self.0 >> 4 & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }

    /// Whether denormals of this type are zeros.
    pub fn flushes(self, ty: Type) -> bool {
        let keep = match ty {
            Type::F64 => KEEP_F64,
            Type::F16 => KEEP_F16,
            _ => KEEP_F32,
        };
        self.0 & keep == 0
    }

    /// Of arithmetic on this type.
    pub fn attrs(self, ty: Type, saturate: bool) -> FloatAttrs {
        FloatAttrs { round: self.round(), flush: self.flushes(ty), saturate }
    }

    /// Whether an instruction writes it. It has no other effect then.
    pub fn is_written(insn: &Instruction) -> bool {
        insn.row.has(Field::Destination) && insn.operands.first().is_some_and(names)
    }

    /// What an instruction makes of it; an error if that is not known when code is made.
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

/// Whether an operand is `%cr0`, unchanged.
fn names(operand: &Operand) -> bool {
    matches!(operand, Operand::General(general)
        if general.variable == CR0 && general.row == 0 && general.column == 0 && general.modifier == Modifier::None)
}

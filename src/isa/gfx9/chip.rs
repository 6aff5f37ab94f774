//! The instructions of the table that each GPU of the generation has.
//!
//! Source: LLVM's disassembler (19) for each GPU.

use warploom_guest::chip::Chip;

use super::instruction::Instruction;
use super::row::{Modifiers, Row};
use super::table::Opcode;

/// Returns whether a chip has an instruction of the table.
pub fn has(chip: Chip, row: &Row) -> bool {
    use Opcode::{
        VDot2F32F16, VDot2I32I16, VDot2U32U16, VDot4I32I8, VDot4U32U8, VDot8I32I4, VDot8U32U4,
    };
    match row.opcode {
        Opcode::VFmacF32 | Opcode::VXnorB32 => matches!(chip, Chip::Any | Chip::Gfx906),
        VDot2F32F16 | VDot2I32I16 | VDot2U32U16 | VDot4I32I8 | VDot4U32U8 | VDot8I32I4
        | VDot8U32U4 => {
            matches!(chip, Chip::Any | Chip::Gfx906)
        }
        _ => chip != Chip::Generic || !row.has(Modifiers::MIX),
    }
}

/// Decodes the instruction at the start of `code`; none if it is cut off or illegal on the chip.
pub fn decode(chip: Chip, code: &[u8]) -> Option<Instruction> {
    Instruction::decode(code).filter(|instruction| has(chip, instruction.row()))
}

//! Which operands and modifiers are executed, whatever the instruction. Others are faults: nothing reads as 0 in silence.
//!
//! What only some instructions lack is refused by their lift functions.

use super::Unsupported;
use crate::instruction::source_number;
use crate::row::{Format, Modifiers, Role, Slot, SourceModifiers};
use crate::{Encoding, Instruction, Operand};

/// SGPRs that any wave has; flat_scratch comes behind them.
const SGPRS: u16 = 102;
/// The trap handler's registers. Only it may write them, and what it leaves there for waves is the driver's affair.
const TRAP_HANDLER: std::ops::Range<u8> = 108..124;
/// Reserved on GFX9.
const NULL: u8 = 125;

/// Whether all operands and modifiers of an instruction are ones that are executed.
pub(super) fn check(i: &Instruction) -> Result<(), Unsupported> {
    let slots = i.row().operands.iter();
    let supported = slots
        .filter_map(|slot| Some((slot, i.read(slot)?)))
        .all(|(slot, operand)| reads(i, slot, operand));
    let offset = if i.encoding() == Encoding::Smem { i.smem().soffset } else { None };
    let scalar = |operand| match operand {
        Operand::Scalar(number) => number == NULL || TRAP_HANDLER.contains(&number),
        _ => false,
    };
    if supported && !offset.is_some_and(scalar) && modifiers(i) { Ok(()) } else { Err(Unsupported) }
}

fn reads(i: &Instruction, slot: &Slot, operand: Operand) -> bool {
    let dwords = i.dwords(slot);
    match operand {
        Operand::Scalar(number) if TRAP_HANDLER.contains(&number) => false,
        // Scalar memory has a rule for data that are no SGPRs: nothing is executed.
        Operand::Scalar(_) if slot.role == Role::Sdata => true,
        Operand::Scalar(NULL) => false,
        // LLVM knows tuples up to s103, of which the last two are flat_scratch.
        Operand::Scalar(number) => dwords <= 2 || u16::from(number) + u16::from(dwords) <= SGPRS,
        // LLVM: their low halves are broken ("all zeroes?").
        Operand::SharedBase
        | Operand::SharedLimit
        | Operand::PrivateBase
        | Operand::PrivateLimit => dwords == 2,
        Operand::LdsDirect => takes_lds_direct(i, slot.role),
        // Of pixel shaders.
        Operand::PopsExitingWaveId => false,
        _ => true,
    }
}

/// Source 0 of instructions of the vector unit, but for SDWA and those whose operands are exchanged (LLVM,
/// `validateLdsDirect`).
fn takes_lds_direct(i: &Instruction, role: Role) -> bool {
    let exchanged = i.row().mnemonic.contains("rev_") && i.row().mnemonic != "v_bfrev_b32";
    i.format() != Format::Vintrp
        && matches!(role, Role::Src0 | Role::Vsrc0)
        && matches!(
            i.encoding(),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3 | Encoding::Vop3p
        )
        && !exchanged
}

/// Whether the modifiers are ones that the instruction takes. LLVM does not print all that it does not.
fn modifiers(i: &Instruction) -> bool {
    let row = i.row();
    let float = i.dst_type().is_float();
    match i.encoding() {
        // The bits of modifiers are those of the second destination.
        Encoding::Vop3 if row.slot(Role::Vdst).is_some() && row.slot(Role::Sdst).is_some() => true,
        Encoding::Vop3 => {
            let halves = if !row.has(Modifiers::OP_SEL) {
                i.bits(11, 4) == 0
            } else {
                // The half that is written is one of a result of 16 bits.
                i.op_sel() & 8 == 0 || i.dst_type().is_half()
            };
            let signs =
                row.operands.iter().all(|slot| match (source_number(slot.role), slot.modifiers) {
                    (Some(0..=2), SourceModifiers::Float) | (None | Some(3..), _) => true,
                    (Some(n), SourceModifiers::Sext) => !i.bit(8 + n),
                    (Some(n), SourceModifiers::None) => !i.bit(8 + n) && !i.bit(61 + n),
                });
            halves && signs
        }
        Encoding::Sdwa => !i.clamp() || float || row.has(Modifiers::CLAMP),
        _ => true,
    }
}

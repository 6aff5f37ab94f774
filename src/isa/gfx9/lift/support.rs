//! The operands and modifiers that are executed in every instruction.
//!
//! Other operands and modifiers fault: nothing reads as 0 in silence. Lift functions refuse
//! operands and modifiers that only some instructions lack.

use super::Unsupported;
use crate::instruction::source_number;
use crate::row::{Format, Modifiers, Role, Slot, SourceModifiers};
use crate::{Encoding, Instruction, Operand};

/// The number of SGPRs that any wave has; flat_scratch follows them.
const SGPRS: u16 = 102;
/// The trap handler's registers. Only the trap handler may write them, and the driver decides about
/// their contents for waves.
const TRAP_HANDLER: std::ops::Range<u8> = 108..124;
/// A number that is reserved on GFX9.
const NULL: u8 = 125;

/// Checks that all operands and modifiers of an instruction are executed.
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
        // Scalar memory has its own rule for data that are no SGPRs: nothing is executed.
        Operand::Scalar(_) if slot.role == Role::Sdata => true,
        Operand::Scalar(NULL) => false,
        // LLVM knows tuples up to s103. The last two registers are flat_scratch.
        Operand::Scalar(number) => dwords <= 2 || u16::from(number) + u16::from(dwords) <= SGPRS,
        // LLVM: the low halves of these operands are broken ("all zeroes?").
        Operand::SharedBase
        | Operand::SharedLimit
        | Operand::PrivateBase
        | Operand::PrivateLimit => dwords == 2,
        Operand::LdsDirect => takes_lds_direct(i, slot.role),
        // This operand is for pixel shaders.
        Operand::PopsExitingWaveId => false,
        _ => true,
    }
}

/// Returns whether `src_lds_direct` is allowed in this role.
///
/// It is allowed as source 0 of vector instructions, except SDWA and instructions whose operands
/// are exchanged (LLVM, `validateLdsDirect`).
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

/// Returns whether the instruction takes its modifiers.
///
/// LLVM does not print all modifiers that the instruction does not take.
fn modifiers(i: &Instruction) -> bool {
    let row = i.row();
    let float = i.dst_type().is_float();
    match i.encoding() {
        // The second destination has the bits of modifiers.
        Encoding::Vop3 if row.slot(Role::Vdst).is_some() && row.slot(Role::Sdst).is_some() => true,
        Encoding::Vop3 => {
            let halves = if !row.has(Modifiers::OP_SEL) {
                i.bits(11, 4) == 0
            } else {
                // Only a 16-bit result may choose the half that is written.
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

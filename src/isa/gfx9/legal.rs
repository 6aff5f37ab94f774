//! Legality of instruction words, by LLVM's rules.
//!
//! Operands must exist, and most unused bits must be 0.

use super::instruction::Instruction;
use super::layout::{Location, location};
use super::operand::Operand;
use super::row::{Encoding, Modifiers, OperandType, Role, Row, Slot, SourceModifiers};

/// Returns whether the bits beside the opcode number are legal.
pub(super) fn is_legal(instruction: &Instruction) -> bool {
    let row = instruction.row();
    instruction.word() & reserved(instruction.encoding(), row) == 0
        && row
            .operands
            .iter()
            .all(|slot| instruction.read(slot).is_some_and(|operand| fits(slot, operand)))
        && special(instruction)
}

/// Returns whether a slot allows an operand.
fn fits(slot: &Slot, operand: Operand) -> bool {
    let vector = matches!(operand, Operand::Vector(_));
    match slot.role {
        _ if slot.ty == OperandType::Mask => matches!(operand, Operand::Scalar(_)),
        Role::Vsrc0 => vector || operand == Operand::LdsDirect,
        Role::Vsrc2 => vector,
        Role::Sreg0 => matches!(operand, Operand::Scalar(_)),
        Role::Ssrc0 | Role::Ssrc1 => !vector && operand != Operand::LdsDirect,
        _ => true,
    }
}

const fn ones(lo: u8, bits: u8) -> u64 {
    ((1 << bits) - 1) << lo
}

/// Returns the mask of the bits that must be 0.
pub(super) fn reserved(encoding: Encoding, row: &Row) -> u64 {
    let lacks = |modifier, mask| if row.has(modifier) { 0 } else { mask };
    let has = |role| row.slot(role).is_some();
    let unless = |role, mask| if has(role) { 0 } else { mask };
    match encoding {
        Encoding::Vop3 => vop3(row),
        Encoding::Vop3p => unless(Role::Src2, ones(50, 9) | 1 << 13 | 1 << 10 | 1 << 63),
        Encoding::Sdwa => sdwa(row),
        Encoding::Dpp => dpp(row),
        Encoding::Vop1 => unless_any(row, &[Role::Vdst, Role::Sdst], ones(17, 8)),
        Encoding::Sopp if row.operands.is_empty() => ones(0, 16),
        Encoding::Ds => {
            unless(Role::Vdst, ones(56, 8))
                | unless(Role::Addr, ones(32, 8))
                | unless(Role::Data0, ones(40, 8))
                | unless(Role::Data1, ones(48, 8))
                | unless_any(row, &[Role::Vdst, Role::Data0], 1 << 25)
                | (if row.has(Modifiers::GDS) || row.has(Modifiers::GDS_ONLY) {
                    0
                } else {
                    1 << 16
                })
                | (if [Modifiers::OFFSET, Modifiers::OFFSETS, Modifiers::SWIZZLE]
                    .iter()
                    .any(|m| row.has(*m))
                {
                    0
                } else {
                    ones(0, 16)
                })
        }
        Encoding::Flat => lacks(Modifiers::LDS, 1 << 13) | unless(Role::Saddr, ones(48, 7)),
        Encoding::Mubuf if !has(Role::Srsrc) => ones(12, 4) | 1 << 16 | 1 << 55,
        Encoding::Mubuf => {
            lacks(Modifiers::TFE, 1 << 55)
                | (if row.has(Modifiers::LDS_ONLY) { 0 } else { lacks(Modifiers::LDS, 1 << 16) })
        }
        Encoding::Mtbuf => 1 << 55,
        Encoding::Mimg => unless(Role::Ssamp, ones(53, 5)) | lacks(Modifiers::D16, 1 << 63),
        Encoding::Smem if !has(Role::Sbase) => 1 << 17,
        _ => 0,
    }
}

fn unless_any(row: &Row, roles: &[Role], mask: u64) -> u64 {
    if roles.iter().any(|role| row.slot(*role).is_some()) { 0 } else { mask }
}

/// Returns the modifiers of the three sources of VOP3; none for a source that the row lacks.
fn sources(row: &Row) -> [Option<SourceModifiers>; 3] {
    std::array::from_fn(|n| {
        let lo = 32 + 9 * n as u8;
        let at = |slot: &&Slot| location(Encoding::Vop3, row, slot.role) == Location::Source { lo };
        row.operands.iter().find(at).map(|slot| slot.modifiers)
    })
}

fn vop3(row: &Row) -> u64 {
    let mut mask = 0;
    let two = row.slot(Role::Vdst).is_some() && row.slot(Role::Sdst).is_some();
    let op_sel = row.has(Modifiers::OP_SEL);
    let interp = row.slot(Role::Attribute).is_some();
    for (n, modifiers) in sources(row).into_iter().enumerate() {
        let n = n as u8;
        let (number, neg, abs) =
            (ones(32 + 9 * n, 9), 1 << (61 + n), if two { 0 } else { 1 << (8 + n) });
        mask |= match modifiers {
            // The attribute and the parameter.
            None if interp && n == 0 => {
                neg | abs | if row.has(Modifiers::HIGH) { 0 } else { 1 << 40 }
            }
            None if n == 1 && row.slot(Role::Parameter).is_some() => neg | abs,
            None => number | neg | abs | if op_sel { 1 << (11 + n) } else { 0 },
            // Integers of instructions with `op_sel` ignore the modifier bits.
            Some(SourceModifiers::None) if op_sel => 0,
            Some(SourceModifiers::None) => neg | abs,
            Some(_) => 0,
        };
    }
    if !row.has(Modifiers::CLAMP) {
        mask |= 1 << 15;
    }
    if !row.has(Modifiers::OMOD) {
        mask |= ones(59, 2);
    }
    if unless_any(row, &[Role::Vdst, Role::Sdst], 1) != 0 {
        mask |= ones(0, 8);
    }
    mask
}

fn sdwa(row: &Row) -> u64 {
    let mut mask = 0;
    for (role, lo) in [(Role::Src0, 48), (Role::Src1, 56)] {
        mask |= match row.slot(role).map(|slot| slot.modifiers) {
            None => ones(lo, 6) | 1 << (lo + 7),
            Some(SourceModifiers::Float) => 1 << (lo + 3),
            Some(_) => ones(lo + 4, 2),
        };
    }
    if row.slot(Role::Vdst).is_some() && !float_result(row) {
        mask |= ones(46, 2);
    }
    mask
}

/// Returns whether SDWA can multiply the result.
fn float_result(row: &Row) -> bool {
    row.slot(Role::Vdst).is_some_and(|slot| slot.ty.is_float())
}

fn dpp(row: &Row) -> u64 {
    let mut mask = 0;
    for (role, lo, number) in [(Role::Src0, 52, ones(32, 8)), (Role::Src1, 54, 0)] {
        mask |= match row.slot(role).map(|slot| slot.modifiers) {
            None => ones(lo, 2) | number,
            Some(SourceModifiers::None) => ones(lo, 2),
            Some(_) => 0,
        };
    }
    if row.slot(Role::Vdst).is_none() {
        mask |= ones(17, 8);
    }
    mask
}

/// Returns whether an instruction obeys the rules that no mask of bits expresses.
fn special(instruction: &Instruction) -> bool {
    let row = instruction.row();
    match instruction.encoding() {
        Encoding::Ds => !row.has(Modifiers::GDS_ONLY) || instruction.bit(16),
        Encoding::Mubuf => {
            let lds = instruction.bit(16);
            (lds || !row.has(Modifiers::LDS_ONLY)) && !(lds && instruction.bit(55))
        }
        // LLVM rejects NV in loads to LDS; elsewhere it ignores NV.
        Encoding::Flat => !(instruction.bit(13) && instruction.bit(55)),
        // LLVM requires registers for all four texels, even if `d16` needs fewer.
        Encoding::Mimg => {
            row.slot(Role::Vdata).is_none_or(|slot| slot.ty != OperandType::B128)
                || instruction.bits(40, 8) <= 252
        }
        Encoding::Dpp => instruction.dpp().is_some(),
        Encoding::Sdwa => {
            let vop = row.slot(Role::Vdst).is_some();
            (!vop || instruction.bits(40, 3) < 7 && instruction.bits(43, 2) < 3)
                && instruction.bits(48, 3) < 7
                && instruction.bits(56, 3) < 7
        }
        Encoding::Smem => {
            let data = instruction.operand(Role::Sdata);
            let imm_only = row.slot(Role::Offset).is_none();
            !matches!(data, Operand::Scalar(124 | 126 | 127))
                && (imm_only || instruction.smem().imm || instruction.smem().soffset.is_some())
        }
        _ => true,
    }
}

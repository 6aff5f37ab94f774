//! The registers that an instruction reads and writes, according to its table line.

use crate::disasm::special;
use crate::operand::VCC;
use crate::{Encoding, Instruction, Operand, Role};

/// A scalar register's number, or [`VECTORS`] plus a vector register's number.
pub type Register = u16;
const VECTORS: Register = 256;

#[derive(Clone, Debug, Default)]
pub struct Registers {
    pub read: Vec<Register>,
    pub written: Vec<Register>,
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    Load,
    Store,
    /// An atomic; `returns`: whether it returns the old value.
    Atomic {
        returns: bool,
    },
}

impl Transfer {
    /// Returns the transfer of a memory instruction, by its name.
    pub fn of(insn: &Instruction) -> Transfer {
        let name = insn.mnemonic();
        if name.contains("atomic") {
            let returns = match insn.encoding() {
                Encoding::Mubuf => insn.buffer().glc,
                Encoding::Mimg => insn.image().glc,
                Encoding::Smem => insn.smem().glc,
                _ => insn.operand(Role::Vdst) != Operand::None,
            };
            Transfer::Atomic { returns }
        } else if name.contains("store") {
            Transfer::Store
        } else {
            Transfer::Load
        }
    }
}

impl Registers {
    /// Returns the registers of an instruction.
    ///
    /// They include only the first register of an image's address.
    pub fn of(insn: &Instruction) -> Registers {
        let mut registers = Registers::default();
        for slot in insn.row().operands {
            let Some(operand) = insn.read(slot) else { continue };
            let range = range(operand, insn.dwords(slot));
            let (reads, writes) = match slot.role {
                Role::Vdst | Role::Sdst => (false, true),
                Role::Sdata | Role::Vdata => match Transfer::of(insn) {
                    Transfer::Load => (false, true),
                    Transfer::Store => (true, false),
                    // Flat memory has a separate destination.
                    Transfer::Atomic { returns } => {
                        (true, returns && insn.encoding() != Encoding::Flat)
                    }
                },
                _ => (true, false),
            };
            if reads {
                registers.read.extend(range.clone());
            }
            if writes {
                registers.written.extend(range);
            }
        }
        match insn.encoding() {
            Encoding::Smem if insn.row().slot(Role::Offset).is_some() => {
                registers.read.extend(insn.smem().soffset.into_iter().flat_map(|o| range(o, 1)))
            }
            Encoding::Exp => {
                registers.read.extend(
                    insn.export().sources.into_iter().flatten().map(|n| VECTORS + u16::from(n)),
                );
            }
            Encoding::Sopp if insn.mnemonic().contains("vcc") => {
                registers.read.extend(range(Operand::Scalar(VCC), 2));
            }
            _ => {}
        }
        registers
    }
}

fn range(operand: Operand, dwords: u8) -> std::ops::Range<Register> {
    let first = match operand {
        Operand::Scalar(number) => number.into(),
        Operand::Vector(number) => VECTORS + u16::from(number),
        Operand::Vccz => VCC.into(),
        _ => return 0..0,
    };
    first..first + Register::from(if operand == Operand::Vccz { 2 } else { dwords })
}

/// Returns the name of a register.
pub fn name(register: Register) -> String {
    match register.checked_sub(VECTORS) {
        Some(number) => format!("v{number}"),
        None => special::scalar(register as u8, 1),
    }
}

//! The text of an instruction, as llvm-objdump prints it.

pub(super) mod constant;
pub(super) mod special;

use super::instruction::{DppControl, Instruction};
use super::operand::{Operand, Source};
use super::row::{Encoding, Modifiers, Role, Row, Slot};
use super::trailer::{Trailer, trailers};

impl Instruction {
    /// Returns the mnemonic with the suffix of the encoding.
    pub fn mnemonic(&self) -> String {
        mnemonic(self.row(), self.encoding())
    }

    /// Returns the text of the instruction.
    ///
    /// Its address `_pc` does not matter: llvm-objdump prints branches relative.
    pub fn text(&self, _pc: u64) -> String {
        let mut text = self.mnemonic();
        let mut separator = " ";
        for operand in self.row().operands.iter().filter_map(|slot| self.operand_text(slot)) {
            text.push_str(separator);
            text.push_str(&operand);
            separator = ", ";
        }
        for trailer in trailers(self.encoding(), self.format(), self.row()) {
            let word = self.trailer_text(trailer);
            if !word.is_empty() {
                text.push(' ');
                text.push_str(&word);
            }
        }
        text
    }

    fn operand_text(&self, slot: &Slot) -> Option<String> {
        let immediate = self.simm16();
        Some(match slot.role {
            Role::Vcc => return None,
            Role::K if self.encoding() == Encoding::Sopk => {
                self.source_text(&self.read_source(slot), slot)
            }
            Role::K => format!("{:#x}", self.word() >> 32),
            Role::OptionalSimm16 if immediate == 0 => return None,
            Role::OptionalSimm16 | Role::Label => (immediate as u16).to_string(),
            Role::Simm16 if self.encoding() == Encoding::Sopk => format!("{immediate:#x}"),
            Role::Simm16 => constant::word(u32::from(immediate as u16)),
            Role::Hwreg => special::hwreg(immediate as u16),
            Role::Waitcnt => special::waitcnt(immediate as u16),
            Role::Message => special::message(immediate as u16),
            Role::GprIdx => special::gpr_idx(self.bits(8, 8) as u16),
            Role::GprIdxMode => special::gpr_idx(immediate as u16),
            Role::Parameter => special::parameter(self.interp().parameter),
            Role::Attribute => {
                let interp = self.interp();
                format!(
                    "attr{}.{}",
                    interp.attribute,
                    ["x", "y", "z", "w"][usize::from(interp.channel & 3)]
                )
            }
            Role::Probe => constant::word(self.smem().probe.into()),
            Role::Offset => self.smem_offset(),
            Role::Export => {
                format!("{} {}", special::target(self.export().target), self.export_sources())
            }
            Role::Saddr if self.flat().saddr.is_none() => "off".into(),
            Role::Vaddr if self.dwords(slot) == 0 => "off".into(),
            _ => {
                let source = self.read_source(slot);
                if source.operand == Operand::None {
                    return None;
                }
                self.source_text(&source, slot)
            }
        })
    }

    fn source_text(&self, source: &Source, slot: &Slot) -> String {
        let mut text = self.plain(source.operand, slot);
        // VOP3P prints its negations behind the operands.
        let packed = self.encoding() == Encoding::Vop3p && !self.row().has(Modifiers::MIX);
        let constant = !source.operand.is_register()
            && matches!(source.operand, Operand::Int(_) | Operand::Float(_) | Operand::Literal(_));
        if source.abs {
            text = format!("|{text}|");
        }
        if source.sext {
            text = format!("sext({text})");
        }
        if source.neg && !packed {
            text =
                if constant && !source.abs { format!("neg({text})") } else { format!("-{text}") };
        }
        text
    }

    fn plain(&self, operand: Operand, slot: &Slot) -> String {
        let name: &str = match operand {
            Operand::Scalar(number) => return special::scalar(number, self.dwords(slot)),
            Operand::Vector(number) => {
                return special::registers('v', number.into(), self.dwords(slot));
            }
            Operand::Int(value) => return value.to_string(),
            Operand::Float(number) => return constant::inline_float(number, slot),
            Operand::Literal(value) => return constant::literal(value, slot),
            Operand::None => "off",
            Operand::SharedBase => "src_shared_base",
            Operand::SharedLimit => "src_shared_limit",
            Operand::PrivateBase => "src_private_base",
            Operand::PrivateLimit => "src_private_limit",
            Operand::PopsExitingWaveId => "src_pops_exiting_wave_id",
            Operand::Vccz => "src_vccz",
            Operand::Execz => "src_execz",
            Operand::Scc => "src_scc",
            Operand::LdsDirect => "src_lds_direct",
        };
        name.into()
    }

    fn smem_offset(&self) -> String {
        let smem = self.smem();
        let constant = special::signed_hex(smem.offset);
        match smem.soffset {
            Some(Operand::Scalar(register)) => {
                let register = special::scalar(register, 1);
                if smem.imm { format!("{register} offset:{constant}") } else { register }
            }
            _ => constant,
        }
    }

    fn export_sources(&self) -> String {
        let names = self
            .export()
            .sources
            .map(|source| source.map_or("off".into(), |register| format!("v{register}")));
        names.join(", ")
    }

    /// Returns the text of a trailer; empty if its bits have their usual value.
    fn trailer_text(&self, trailer: Trailer) -> String {
        match trailer {
            Trailer::Flag { name, bit } => if self.bit(bit) { name } else { "" }.into(),
            Trailer::Decimal { name, lo, bits, signed } => {
                match (self.bits(lo, bits), self.signed(lo, bits)) {
                    (0, _) => String::new(),
                    (_, value) if signed => format!("{name}:{value}"),
                    (value, _) => format!("{name}:{value}"),
                }
            }
            Trailer::Hex { name, lo, bits, always } => match self.bits(lo, bits) {
                0 if !always => String::new(),
                value => format!("{name}:{value:#x}"),
            },
            Trailer::Word { name, lo, bits, words } => {
                format!(
                    "{name}:{}",
                    words.get(self.bits(lo, bits) as usize).copied().unwrap_or_default()
                )
            }
            Trailer::Bare { lo, bits, words } => {
                words.get(self.bits(lo, bits) as usize).copied().unwrap_or_default().into()
            }
            Trailer::Bits { name, bits, count, usual } => {
                let values: Vec<_> =
                    bits.iter().take(count.into()).map(|bit| self.bit(*bit)).collect();
                if values.iter().all(|value| *value == usual) {
                    return String::new();
                }
                let digits: Vec<_> =
                    values.iter().map(|value| if *value { "1" } else { "0" }).collect();
                format!("{name}:[{}]", digits.join(","))
            }
            Trailer::DppControl => {
                self.dpp().map_or_else(String::new, |dpp| control_text(dpp.control))
            }
            Trailer::Swizzle => special::swizzle(self.bits(0, 16) as u16),
            Trailer::BufferFormat => {
                special::buffer_format(self.bits(19, 4) as u8, self.bits(23, 3) as u8)
            }
        }
    }
}

/// Returns the mnemonic of a row with the suffix of an encoding.
pub(super) fn mnemonic(row: &Row, encoding: Encoding) -> String {
    let has = |wanted| row.forms().any(|(encoding, ..)| encoding == wanted);
    let suffix = match encoding {
        _ if row.operands.is_empty() => "",
        Encoding::Sdwa => "_sdwa",
        Encoding::Dpp => "_dpp",
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vintrp
            if has(Encoding::Vop3) =>
        {
            "_e32"
        }
        Encoding::Vop3 if row.forms().count() > 1 => "_e64",
        _ => "",
    };
    format!("{}{suffix}", row.mnemonic)
}

pub(super) fn control_text(control: DppControl) -> String {
    match control {
        DppControl::QuadPerm([a, b, c, d]) => format!("quad_perm:[{a},{b},{c},{d}]"),
        DppControl::RowShl(lanes) => format!("row_shl:{lanes}"),
        DppControl::RowShr(lanes) => format!("row_shr:{lanes}"),
        DppControl::RowRor(lanes) => format!("row_ror:{lanes}"),
        DppControl::WaveShl => "wave_shl:1".into(),
        DppControl::WaveRol => "wave_rol:1".into(),
        DppControl::WaveShr => "wave_shr:1".into(),
        DppControl::WaveRor => "wave_ror:1".into(),
        DppControl::RowMirror => "row_mirror".into(),
        DppControl::RowHalfMirror => "row_half_mirror".into(),
        DppControl::RowBcast15 => "row_bcast:15".into(),
        DppControl::RowBcast31 => "row_bcast:31".into(),
    }
}

//! A decoded instruction and typed access to its parts.
//!
//! The memory formats are in [`super::memory`].

use warploom_guest::fidelity::Fidelity;

use super::layout::{Form, Location, location};
use super::legal;
use super::operand::{LITERAL, Operand, Sel, Source, VCC};
use super::row::{Encoding, Format, Modifiers, OperandType, Role, Row, Slot, SourceModifiers};
use super::table::{self, Opcode};

/// An instruction together with the table line that explains it.
///
/// One lift function serves all encodings of an instruction: roles follow the text, not the bits,
/// and a field that an encoding lacks has its neutral value.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    row: &'static Row,
    encoding: Encoding,
    format: Format,
    /// The second dword is 0 if there is none.
    word: u64,
    bytes: u32,
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Instruction) -> bool {
        std::ptr::eq(self.row, other.row)
            && (self.encoding, self.word, self.bytes) == (other.encoding, other.word, other.bytes)
    }
}

impl Eq for Instruction {}

/// How SDWA writes the result; [`Source::sel`] has the parts of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// The part of the destination that the instruction writes.
    pub dst_sel: Sel,
    pub dst_unused: DstUnused,
}

/// The content of the rest of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DstUnused {
    /// The rest is 0.
    Pad,
    /// Bits above the part are copies of its sign, bits below it are 0.
    Sext,
    Preserve,
}

/// The fields of DPP, which reads source 0 from another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dpp {
    /// The bits of `control`.
    pub raw: u16,
    pub control: DppControl,
    /// One bit per row of 16 lanes: whether its lanes write.
    pub row_mask: u8,
    /// One bit per bank of 4 lanes in each row: whether its lanes write.
    pub bank_mask: u8,
    /// A lane whose source lies outside reads 0. If this bit is clear, the lane writes nothing.
    pub bound_ctrl: bool,
}

/// The lane from which source 0 comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DppControl {
    /// Lane i of four reads the lane with the number in element i.
    QuadPerm([u8; 4]),
    /// A lane reads the lane this many above it, in its row of 16.
    RowShl(u8),
    RowShr(u8),
    RowRor(u8),
    /// A lane reads the next lane above it, in the whole wave.
    WaveShl,
    WaveRol,
    WaveShr,
    WaveRor,
    RowMirror,
    RowHalfMirror,
    /// Lane 15 of each row goes to the next row.
    RowBcast15,
    /// Lane 31 goes to the upper half of the wave.
    RowBcast31,
}

impl DppControl {
    /// Decodes the bits of a control; none if they mean nothing.
    pub(super) fn of(raw: u16) -> Option<DppControl> {
        let lanes = (raw & 15) as u8;
        Some(match raw {
            0..=0xff => DppControl::QuadPerm(std::array::from_fn(|i| (raw >> (2 * i) & 3) as u8)),
            0x101..=0x10f => DppControl::RowShl(lanes),
            0x111..=0x11f => DppControl::RowShr(lanes),
            0x121..=0x12f => DppControl::RowRor(lanes),
            0x130 => DppControl::WaveShl,
            0x134 => DppControl::WaveRol,
            0x138 => DppControl::WaveShr,
            0x13c => DppControl::WaveRor,
            0x140 => DppControl::RowMirror,
            0x141 => DppControl::RowHalfMirror,
            0x142 => DppControl::RowBcast15,
            0x143 => DppControl::RowBcast31,
            _ => return None,
        })
    }
}

impl Instruction {
    /// Decodes the instruction at the start of `code`; none if it is illegal or cut off.
    pub fn decode(code: &[u8]) -> Option<Instruction> {
        let dword =
            |i: usize| Some(u32::from_le_bytes(*code.get(4 * i..4 * i + 4)?.first_chunk()?));
        let first = dword(0)?;
        let form = Form::of(first)?;
        let row = table::lookup(form.encoding, form.format, form.op(first))?;
        let mut instruction = Instruction {
            row,
            encoding: form.encoding,
            format: form.format,
            word: first.into(),
            bytes: 4,
        };
        if form.encoding.bytes() == 8 || instruction.has_literal() {
            instruction.word |= u64::from(dword(1)?) << 32;
            instruction.bytes = 8;
        }
        legal::is_legal(&instruction).then_some(instruction)
    }

    pub fn opcode(&self) -> Opcode {
        self.row.opcode
    }

    pub fn row(&self) -> &'static Row {
        self.row
    }

    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the name space of the opcode number in this encoding.
    ///
    /// It distinguishes flat, global and scratch memory.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the bytes of the instruction with its literal: 4 or 8.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the dwords of the instruction, the first dword in the low half.
    pub fn word(&self) -> u64 {
        self.word
    }

    pub fn fidelity(&self) -> Fidelity {
        self.row.fidelity
    }

    /// Returns `bits` bits from bit `lo` on.
    pub(super) const fn bits(&self, lo: u8, bits: u8) -> u64 {
        (self.word >> lo) & ((1 << bits) - 1)
    }

    pub(super) const fn bit(&self, bit: u8) -> bool {
        self.bits(bit, 1) != 0
    }

    /// Returns whether a dword with a constant follows an instruction of one dword.
    fn has_literal(&self) -> bool {
        self.row.operands.iter().any(|slot| match location(self.encoding, self.row, slot.role) {
            Location::Literal => true,
            Location::ScalarSource { lo } => self.bits(lo, 8) == LITERAL,
            Location::Source { lo } => self.bits(lo, 9) == LITERAL,
            _ => false,
        })
    }

    fn literal(&self) -> Operand {
        Operand::Literal((self.word >> 32) as u32)
    }

    /// Returns the operand of a slot; none if the bits mean nothing.
    ///
    /// `Some(Operand::None)` means that the slot has no register here.
    pub(super) fn read(&self, slot: &Slot) -> Option<Operand> {
        let dwords = self.dwords(slot);
        if dwords == 0 {
            return Some(Operand::None);
        }
        let short = self.encoding.bytes() == 4;
        let scalar = |number| match number {
            LITERAL if short => Some(self.literal()),
            _ => Operand::scalar_source(number, dwords),
        };
        match location(self.encoding, self.row, slot.role) {
            Location::None => Some(Operand::None),
            Location::Scalar { lo, bits, shift } => {
                Operand::scalar_register(self.bits(lo, bits) << shift, dwords)
            }
            Location::ScalarSource { lo } => {
                scalar(self.bits(lo, 8)).filter(|operand| *operand != Operand::LdsDirect)
            }
            Location::Vector { lo } => Operand::vector(self.bits(lo, 8), dwords),
            Location::Source { lo } => match self.bits(lo, 9) {
                number @ 256.. => Operand::vector(number - 256, dwords),
                number => scalar(number),
            },
            Location::SdwaSource { lo, scalar } if self.bit(scalar) => {
                Operand::scalar_source(self.bits(lo, 8), dwords)
            }
            Location::SdwaSource { lo, .. } => Operand::vector(self.bits(lo, 8), dwords),
            Location::SdwaMask if self.bit(47) => {
                Operand::scalar_register(self.bits(40, 7), dwords)
            }
            Location::SdwaMask | Location::Vcc => Some(Operand::Scalar(VCC)),
            Location::Literal => Some(self.literal()),
        }
    }

    pub(super) fn operand(&self, role: Role) -> Operand {
        self.row.slot(role).and_then(|slot| self.read(&slot)).unwrap_or(Operand::None)
    }

    /// Returns the first destination: `vdst`, or `sdst` if there is no `vdst`.
    ///
    /// For VOPC it is the mask; in the short encoding the mask is VCC.
    pub fn dst(&self) -> Operand {
        match self.operand(Role::Vdst) {
            Operand::None => self.operand(Role::Sdst),
            vdst => vdst,
        }
    }

    /// Returns the type of the first destination.
    pub fn dst_type(&self) -> OperandType {
        let slot = self.row.slot(Role::Vdst).or_else(|| self.row.slot(Role::Sdst));
        slot.map_or(OperandType::Varies, |slot| slot.ty)
    }

    /// Returns the second destination, a mask: the carry out, or the flag of a division step.
    ///
    /// It is VCC in the short encodings.
    pub fn sdst(&self) -> Operand {
        if self.row.slot(Role::Vdst).is_some() { self.operand(Role::Sdst) } else { Operand::None }
    }

    fn source_slots(&self) -> impl Iterator<Item = &'static Slot> {
        self.row.operands.iter().filter(|slot| source_number(slot.role).is_some())
    }

    /// Returns the number of sources.
    pub fn source_count(&self) -> usize {
        self.source_slots().count()
    }

    /// Returns source `n` in the order of the text, or [`Source::NONE`] if there are fewer sources.
    ///
    /// If the instruction reads VCC, VCC is the last source.
    pub fn src(&self, n: usize) -> Source {
        self.source_slots().nth(n).map_or(Source::NONE, |slot| self.read_source(slot))
    }

    /// Returns the source of a slot with its modifiers.
    pub(super) fn read_source(&self, slot: &Slot) -> Source {
        let mut source = Source {
            operand: self.read(slot).unwrap_or(Operand::None),
            ty: slot.ty,
            ..Source::NONE
        };
        let Some(n @ 0..=2) = source_number(slot.role) else { return source };
        let float = slot.modifiers == SourceModifiers::Float;
        match self.encoding {
            Encoding::Vop3 => {
                let neg = self.bit(61 + n);
                source.neg = float && neg;
                source.sext = slot.modifiers == SourceModifiers::Sext && neg;
                source.abs = float
                    && self
                        .row
                        .slot(Role::Sdst)
                        .is_none_or(|_| self.row.slot(Role::Vdst).is_none());
                source.abs &= self.bit(8 + n);
                source.op_sel = self.row.has(Modifiers::OP_SEL) && self.bit(11 + n);
            }
            Encoding::Vop3p => {
                let neg_hi = self.bit(8 + n);
                let mix = self.row.has(Modifiers::MIX);
                source.neg = self.bit(61 + n);
                source.op_sel = self.bit(11 + n);
                source.op_sel_hi = self.bit(if n == 2 { 14 } else { 59 + n });
                source.abs = mix && neg_hi;
                source.neg_hi = !mix && neg_hi;
            }
            Encoding::Sdwa if n < 2 => {
                let lo = 48 + 8 * n;
                source.sel = Sel::ALL.get(self.bits(lo, 3) as usize).copied().unwrap_or(Sel::Dword);
                source.sext = !float && self.bit(lo + 3);
                source.neg = float && self.bit(lo + 4);
                source.abs = float && self.bit(lo + 5);
            }
            Encoding::Dpp if n < 2 => {
                let neg = self.bit(52 + 2 * n);
                source.neg = float && neg;
                source.sext = slot.modifiers == SourceModifiers::Sext && neg;
                source.abs = float && self.bit(53 + 2 * n);
            }
            _ => {}
        }
        source
    }

    /// Returns whether the result is clamped: a float to [0, 1], an integer to its range.
    pub fn clamp(&self) -> bool {
        match self.encoding {
            Encoding::Vop3 | Encoding::Vop3p => self.bit(15),
            Encoding::Sdwa => self.row.slot(Role::Vdst).is_some() && self.bit(45),
            _ => false,
        }
    }

    /// Returns the code of the result's factor: 0 is 1, 1 is 2, 2 is 4, 3 is 1/2.
    pub fn omod(&self) -> u8 {
        match self.encoding {
            Encoding::Vop3 => self.bits(59, 2) as u8,
            Encoding::Sdwa if self.row.slot(Role::Vdst).is_some() => self.bits(46, 2) as u8,
            _ => 0,
        }
    }

    /// Returns the halves that VOP3 selects.
    ///
    /// Each source whose high half is read has a bit; bit 3 means that the high half is written.
    pub fn op_sel(&self) -> u8 {
        match self.encoding {
            Encoding::Vop3 if self.row.has(Modifiers::OP_SEL) => self.bits(11, 4) as u8,
            _ => 0,
        }
    }

    pub fn sdwa(&self) -> Option<Sdwa> {
        (self.encoding == Encoding::Sdwa).then(|| {
            if self.row.slot(Role::Vdst).is_none() {
                return Sdwa { dst_sel: Sel::Dword, dst_unused: DstUnused::Pad };
            }
            let dst_unused = match self.bits(43, 2) {
                0 => DstUnused::Pad,
                1 => DstUnused::Sext,
                _ => DstUnused::Preserve,
            };
            Sdwa {
                dst_sel: Sel::ALL.get(self.bits(40, 3) as usize).copied().unwrap_or(Sel::Dword),
                dst_unused,
            }
        })
    }

    pub fn dpp(&self) -> Option<Dpp> {
        if self.encoding != Encoding::Dpp {
            return None;
        }
        let raw = self.bits(40, 9) as u16;
        Some(Dpp {
            raw,
            control: DppControl::of(raw)?,
            row_mask: self.bits(60, 4) as u8,
            bank_mask: self.bits(56, 4) as u8,
            bound_ctrl: self.bit(51),
        })
    }

    /// Returns the constant of SOPK and SOPP.
    pub fn simm16(&self) -> i16 {
        self.bits(0, 16) as i16
    }

    /// Returns the set of operands that `s_set_gpr_idx_on` indexes.
    pub fn gpr_idx(&self) -> u8 {
        self.bits(8, 4) as u8
    }

    /// Returns the target of a branch at `pc`.
    pub fn branch_target(&self, pc: u64) -> u64 {
        pc.wrapping_add(4).wrapping_add((i64::from(self.simm16()) * 4) as u64)
    }
}

/// Returns the source number of a role: 0 to 2, or 3 for a source without modifiers.
pub(super) fn source_number(role: Role) -> Option<u8> {
    match role {
        Role::Src0 | Role::Ssrc0 | Role::Sreg0 => Some(0),
        Role::Src1 | Role::Ssrc1 => Some(1),
        Role::Src2 | Role::Vsrc2 => Some(2),
        // If interpolation has modifiers, its source 0 is the attribute.
        Role::Vsrc0 => Some(1),
        Role::Vcc | Role::K => Some(3),
        _ => None,
    }
}

//! A line of the instruction table as data; [`super::notation`] explains the text of a line.

use warploom_guest::fidelity::Fidelity;

use super::lift::Lift;
use super::table::Opcode;

/// The name space of an opcode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    /// VOP3 (0x100 + number), SDWA and DPP come with it.
    Vop2,
    /// VOP3 (0x140 + number), SDWA and DPP come with it.
    Vop1,
    /// VOP3 (with an equal number) and SDWA come with it.
    Vopc,
    Vop3,
    Vop3p,
    Vintrp,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    Exp,
}

impl Format {
    /// Returns the format's own encoding.
    pub const fn encoding(self) -> Encoding {
        match self {
            Format::Sop2 => Encoding::Sop2,
            Format::Sopk => Encoding::Sopk,
            Format::Sop1 => Encoding::Sop1,
            Format::Sopc => Encoding::Sopc,
            Format::Sopp => Encoding::Sopp,
            Format::Smem => Encoding::Smem,
            Format::Vop2 => Encoding::Vop2,
            Format::Vop1 => Encoding::Vop1,
            Format::Vopc => Encoding::Vopc,
            Format::Vop3 => Encoding::Vop3,
            Format::Vop3p => Encoding::Vop3p,
            Format::Vintrp => Encoding::Vintrp,
            Format::Ds => Encoding::Ds,
            Format::Flat | Format::Global | Format::Scratch => Encoding::Flat,
            Format::Mubuf => Encoding::Mubuf,
            Format::Mtbuf => Encoding::Mtbuf,
            Format::Mimg => Encoding::Mimg,
            Format::Exp => Encoding::Exp,
        }
    }
}

/// The layout of an instruction's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vop3,
    Vop3p,
    Sdwa,
    Dpp,
    Vintrp,
    Ds,
    /// Flat, global and scratch memory.
    Flat,
    Mubuf,
    Mtbuf,
    Mimg,
    Exp,
}

impl Encoding {
    /// Returns whether the vector unit executes instructions of this encoding.
    pub const fn is_vector(self) -> bool {
        matches!(
            self,
            Self::Vop2
                | Self::Vop1
                | Self::Vopc
                | Self::Vop3
                | Self::Vop3p
                | Self::Sdwa
                | Self::Dpp
                | Self::Vintrp
        )
    }
}

/// The purpose of an operand; a line names it in small letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Destination in VGPRs.
    Vdst,
    /// Destination in SGPRs; beside a `vdst` the second destination, VCC in short encodings.
    Sdst,
    Src0,
    Src1,
    Src2,
    /// A source that is a VGPR.
    Vsrc0,
    Vsrc2,
    /// A source that is not a VGPR.
    Ssrc0,
    Ssrc1,
    /// A source that is a scalar register.
    Sreg0,
    /// VCC, read, not printed.
    Vcc,
    /// The dword behind the instruction.
    K,
    Simm16,
    /// A `simm16` that is not printed if it is 0.
    OptionalSimm16,
    /// Branch target: signed offset in dwords from the next instruction.
    Label,
    Hwreg,
    Waitcnt,
    Message,
    GprIdx,
    GprIdxMode,
    /// P10, P20 or P0 of an attribute.
    Parameter,
    Attribute,
    Sdata,
    /// The bits of `sdata` as a number.
    Probe,
    Sbase,
    Offset,
    Addr,
    Data0,
    Data1,
    Vaddr,
    Vdata,
    Saddr,
    Srsrc,
    Soffset,
    Ssamp,
    /// Target and four sources of an export.
    Export,
}

/// The type of an operand's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandType {
    B16,
    I16,
    U16,
    F16,
    B32,
    I32,
    U32,
    F32,
    B64,
    I64,
    U64,
    F64,
    V2B16,
    V2I16,
    V2U16,
    V2F16,
    /// A bit for each lane.
    Mask,
    B96,
    B128,
    B256,
    B512,
    /// The fields decide the type, not the line.
    Varies,
}

impl OperandType {
    /// Returns the number of registers; 1 for a varying type.
    pub const fn dwords(self) -> u8 {
        match self {
            Self::B64 | Self::I64 | Self::U64 | Self::F64 | Self::Mask => 2,
            Self::B96 => 3,
            Self::B128 => 4,
            Self::B256 => 8,
            Self::B512 => 16,
            _ => 1,
        }
    }

    /// Returns the 64 bits for which a literal stands in an operand of this type.
    ///
    /// The literal is the upper half of an F64. It is sign-extended to an I64 and zero-extended to
    /// any other type.
    pub const fn literal(self, bits: u32) -> u64 {
        match self {
            Self::F64 => (bits as u64) << 32,
            Self::I64 => bits as i32 as i64 as u64,
            _ => bits as u64,
        }
    }

    /// Returns whether the type is one number of 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::B16 | Self::I16 | Self::U16 | Self::F16)
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// The source modifiers that VOP3 has for an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceModifiers {
    None,
    /// Negation and absolute value.
    Float,
    /// The negation bit means sign extension.
    Sext,
}

/// An operand of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub role: Role,
    pub ty: OperandType,
    pub modifiers: SourceModifiers,
}

/// The set of an instruction's features beside its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers(pub(super) u32);

impl Modifiers {
    pub const CLAMP: Modifiers = Modifiers(1 << 0);
    pub const OMOD: Modifiers = Modifiers(1 << 1);
    /// VOP3 chooses halves of 16-bit operands.
    pub const OP_SEL: Modifiers = Modifiers(1 << 2);
    pub const GLC: Modifiers = Modifiers(1 << 3);
    /// One 16-bit offset.
    pub const OFFSET: Modifiers = Modifiers(1 << 4);
    /// Two 8-bit offsets.
    pub const OFFSETS: Modifiers = Modifiers(1 << 5);
    /// The offset is a pattern of `ds_swizzle_b32`.
    pub const SWIZZLE: Modifiers = Modifiers(1 << 6);
    pub const GDS: Modifiers = Modifiers(1 << 7);
    /// GDS must be set.
    pub const GDS_ONLY: Modifiers = Modifiers(1 << 8);
    pub const LDS: Modifiers = Modifiers(1 << 9);
    /// LDS must be set.
    pub const LDS_ONLY: Modifiers = Modifiers(1 << 10);
    pub const TFE: Modifiers = Modifiers(1 << 11);
    pub const D16: Modifiers = Modifiers(1 << 12);
    /// VOP3P of mixed precision: `op_sel_hi` makes a source an F16, `neg_hi` is the absolute value.
    pub const MIX: Modifiers = Modifiers(1 << 13);
    /// Interpolation of the high half.
    pub const HIGH: Modifiers = Modifiers(1 << 14);

    pub(super) const NAMES: [(&'static str, Modifiers); 15] = [
        ("clamp", Self::CLAMP),
        ("omod", Self::OMOD),
        ("op_sel", Self::OP_SEL),
        ("glc", Self::GLC),
        ("offset", Self::OFFSET),
        ("offsets", Self::OFFSETS),
        ("swizzle", Self::SWIZZLE),
        ("gds", Self::GDS),
        ("gds_only", Self::GDS_ONLY),
        ("lds", Self::LDS),
        ("lds_only", Self::LDS_ONLY),
        ("tfe", Self::TFE),
        ("d16", Self::D16),
        ("mix", Self::MIX),
        ("high", Self::HIGH),
    ];

    pub const fn has(self, other: Modifiers) -> bool {
        self.0 & other.0 != 0
    }
}

/// A set of the encodings that come with an opcode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Without {
    pub e64: bool,
    pub sdwa: bool,
    pub dpp: bool,
}

/// An opcode number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeNumber {
    pub format: Format,
    pub op: u16,
    /// The encodings of the format that this instruction lacks.
    pub without: Without,
}

/// One instruction.
#[derive(Debug)]
pub struct Row {
    pub opcode: Opcode,
    pub fidelity: Fidelity,
    /// Lifts the instruction to IR; none if the instruction is not implemented.
    pub lift: Option<Lift>,
    pub mnemonic: &'static str,
    pub operands: &'static [Slot],
    pub modifiers: Modifiers,
    pub places: &'static [OpcodeNumber],
}

impl Row {
    pub const fn has(&self, modifier: Modifiers) -> bool {
        self.modifiers.has(modifier)
    }

    /// Returns the operand of a role.
    pub fn slot(&self, role: Role) -> Option<Slot> {
        self.operands.iter().copied().find(|slot| slot.role == role)
    }

    /// Returns whether an operand is too wide for SDWA and DPP.
    fn wide(&self) -> bool {
        self.operands.iter().any(|slot| slot.ty != OperandType::Mask && slot.ty.dwords() > 1)
    }

    /// Returns the encodings of the instruction, each with its name space and opcode number.
    pub fn forms(&self) -> impl Iterator<Item = (Encoding, Format, u16)> {
        let narrow = !self.wide();
        self.places.iter().flat_map(move |place| {
            let OpcodeNumber { format, op, without } = *place;
            let e64 = match format {
                Format::Vop2 => Some(0x100),
                Format::Vop1 => Some(0x140),
                Format::Vopc => Some(0),
                _ => None,
            };
            let short = e64.is_some() && narrow;
            [
                Some((format.encoding(), format, op)),
                e64.filter(|_| !without.e64).map(|base| (Encoding::Vop3, Format::Vop3, base + op)),
                (short && !without.sdwa).then_some((Encoding::Sdwa, format, op)),
                (short && !without.dpp && format != Format::Vopc).then_some((
                    Encoding::Dpp,
                    format,
                    op,
                )),
            ]
            .into_iter()
            .flatten()
        })
    }
}

//! The places of opcode numbers and operands in encodings (Vega ISA guide, "Microcode Formats").

use super::row::{Encoding, Format, Role, Row};

/// The bits of the first dword that identify an encoding, and its place of the opcode number.
#[derive(Debug)]
pub struct Form {
    pub encoding: Encoding,
    /// The name space of the opcode numbers.
    pub format: Format,
    pub mask: u32,
    pub bits: u32,
    op_lo: u8,
    op_bits: u8,
}

const fn form(
    encoding: Encoding,
    format: Format,
    mask: u32,
    bits: u32,
    op_lo: u8,
    op_bits: u8,
) -> Form {
    Form { encoding, format, mask, bits, op_lo, op_bits }
}

/// All forms; the first form that matches a dword is the dword's form.
pub static FORMS: &[Form] = &[
    form(Encoding::Sop1, Format::Sop1, 0xff80_0000, 0xbe80_0000, 8, 8),
    form(Encoding::Sopc, Format::Sopc, 0xff80_0000, 0xbf00_0000, 16, 7),
    form(Encoding::Sopp, Format::Sopp, 0xff80_0000, 0xbf80_0000, 16, 7),
    form(Encoding::Sopk, Format::Sopk, 0xf000_0000, 0xb000_0000, 23, 5),
    form(Encoding::Sop2, Format::Sop2, 0xc000_0000, 0x8000_0000, 23, 7),
    form(Encoding::Smem, Format::Smem, 0xfc00_0000, 0xc000_0000, 18, 8),
    form(Encoding::Exp, Format::Exp, 0xfc00_0000, 0xc400_0000, 0, 0),
    form(Encoding::Vop3p, Format::Vop3p, 0xff80_0000, 0xd380_0000, 16, 7),
    form(Encoding::Vop3, Format::Vop3, 0xfc00_0000, 0xd000_0000, 16, 10),
    form(Encoding::Vintrp, Format::Vintrp, 0xfc00_0000, 0xd400_0000, 16, 2),
    form(Encoding::Ds, Format::Ds, 0xfc00_0000, 0xd800_0000, 17, 8),
    form(Encoding::Flat, Format::Flat, 0xfc00_c000, 0xdc00_0000, 18, 7),
    form(Encoding::Flat, Format::Scratch, 0xfc00_c000, 0xdc00_4000, 18, 7),
    form(Encoding::Flat, Format::Global, 0xfc00_c000, 0xdc00_8000, 18, 7),
    form(Encoding::Mubuf, Format::Mubuf, 0xfc00_0000, 0xe000_0000, 18, 7),
    form(Encoding::Mtbuf, Format::Mtbuf, 0xfc00_0000, 0xe800_0000, 15, 4),
    form(Encoding::Mimg, Format::Mimg, 0xfc00_0001, 0xf000_0000, 18, 7),
    form(Encoding::Sdwa, Format::Vop1, 0xfe00_01ff, 0x7e00_00f9, 9, 8),
    form(Encoding::Dpp, Format::Vop1, 0xfe00_01ff, 0x7e00_00fa, 9, 8),
    form(Encoding::Vop1, Format::Vop1, 0xfe00_0000, 0x7e00_0000, 9, 8),
    form(Encoding::Sdwa, Format::Vopc, 0xfe00_01ff, 0x7c00_00f9, 17, 8),
    form(Encoding::Vopc, Format::Vopc, 0xfe00_0000, 0x7c00_0000, 17, 8),
    form(Encoding::Sdwa, Format::Vop2, 0x8000_01ff, 0x0000_00f9, 25, 6),
    form(Encoding::Dpp, Format::Vop2, 0x8000_01ff, 0x0000_00fa, 25, 6),
    form(Encoding::Vop2, Format::Vop2, 0x8000_0000, 0x0000_0000, 25, 6),
];

impl Form {
    /// Returns the form of an instruction whose first dword is `dword`.
    pub fn of(dword: u32) -> Option<&'static Form> {
        FORMS.iter().find(|form| dword & form.mask == form.bits)
    }

    /// Returns the form of an encoding and a format.
    pub fn find(encoding: Encoding, format: Format) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.encoding == encoding && form.format == format)
    }

    const fn op_mask(&self) -> u32 {
        ((1 << self.op_bits) - 1) << self.op_lo
    }

    pub const fn op(&self, dword: u32) -> u16 {
        ((dword & self.op_mask()) >> self.op_lo) as u16
    }

    /// Returns the mask of the fixed bits of the first dword, and their values.
    pub const fn fixed(&self, op: u16) -> (u32, u32) {
        (self.mask | self.op_mask(), self.bits | (op as u32) << self.op_lo)
    }
}

impl Encoding {
    /// Returns the number of bytes without a literal.
    pub const fn bytes(self) -> u32 {
        match self {
            Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sop1
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Vop2
            | Encoding::Vop1
            | Encoding::Vopc
            | Encoding::Vintrp => 4,
            _ => 8,
        }
    }
}

/// The place of an operand's bits; `lo` is the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// No bits, or bits that do not name a register.
    None,
    /// An SGPR number, to be multiplied by 2^`shift`.
    Scalar { lo: u8, bits: u8, shift: u8 },
    /// A scalar register or a constant, 8 bits.
    ScalarSource { lo: u8 },
    /// A VGPR number, 8 bits.
    Vector { lo: u8 },
    /// A scalar register, a constant or a VGPR, 9 bits.
    Source { lo: u8 },
    /// 8 bits: a VGPR or, if bit `scalar` is set, a scalar register or a constant.
    SdwaSource { lo: u8, scalar: u8 },
    /// VOPC in SDWA: an SGPR pair in 7 bits from bit 40, if bit 47 is set, else VCC.
    SdwaMask,
    /// VCC, without bits.
    Vcc,
    /// The dword behind the instruction.
    Literal,
}

const fn sgpr(lo: u8, bits: u8, shift: u8) -> Location {
    Location::Scalar { lo, bits, shift }
}

/// Returns the place of a role's operand in an encoding of a row.
pub fn location(encoding: Encoding, row: &Row, role: Role) -> Location {
    use Location::{ScalarSource, SdwaSource, Source, Vcc, Vector};
    match (encoding, role) {
        (_, Role::Vcc) => Vcc,
        (_, Role::K) => Location::Literal,

        (Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk, Role::Sdst) => sgpr(16, 7, 0),
        (Encoding::Sopk, Role::Src0) => sgpr(16, 7, 0),
        (Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc, Role::Src0 | Role::Sreg0) => {
            ScalarSource { lo: 0 }
        }
        (Encoding::Sop2 | Encoding::Sopc, Role::Src1) => ScalarSource { lo: 8 },

        (Encoding::Vop1, Role::Sdst) => sgpr(17, 8, 0),
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Sdwa | Encoding::Dpp, Role::Vdst) => {
            Vector { lo: 17 }
        }
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, Role::Src0 | Role::Vsrc0) => {
            Source { lo: 0 }
        }
        (Encoding::Vop2 | Encoding::Vopc | Encoding::Dpp, Role::Src1) => Vector { lo: 9 },
        (Encoding::Sdwa, Role::Sdst) if row.slot(Role::Vdst).is_none() => Location::SdwaMask,
        (
            Encoding::Vop2 | Encoding::Vopc | Encoding::Sdwa | Encoding::Dpp,
            Role::Sdst | Role::Src2,
        ) => Vcc,
        (Encoding::Dpp, Role::Src0) => Vector { lo: 32 },
        (Encoding::Sdwa, Role::Src0) => SdwaSource { lo: 32, scalar: 55 },
        (Encoding::Sdwa, Role::Src1) => SdwaSource { lo: 9, scalar: 63 },

        (Encoding::Vop3 | Encoding::Vop3p, Role::Vdst) => Vector { lo: 0 },
        (Encoding::Vop3, Role::Sdst) if row.slot(Role::Vdst).is_some() => sgpr(8, 7, 0),
        (Encoding::Vop3, Role::Sdst) => sgpr(0, 8, 0),
        // Interpolation has the attribute in place of the first source.
        (Encoding::Vop3, Role::Vsrc0) if row.slot(Role::Attribute).is_some() => Source { lo: 41 },
        (Encoding::Vop3 | Encoding::Vop3p, Role::Src0 | Role::Vsrc0 | Role::Ssrc0) => {
            Source { lo: 32 }
        }
        (Encoding::Vop3 | Encoding::Vop3p, Role::Src1 | Role::Ssrc1) => Source { lo: 41 },
        (Encoding::Vop3 | Encoding::Vop3p, Role::Src2 | Role::Vsrc2) => Source { lo: 50 },

        (Encoding::Vintrp, Role::Vdst) => Vector { lo: 18 },
        (Encoding::Vintrp, Role::Vsrc0) => Vector { lo: 0 },

        (Encoding::Smem, Role::Sdata) => sgpr(6, 7, 0),
        (Encoding::Smem, Role::Sbase) => sgpr(0, 6, 1),

        (Encoding::Ds, Role::Addr)
        | (Encoding::Flat | Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg, Role::Vaddr) => {
            Vector { lo: 32 }
        }
        (Encoding::Ds, Role::Data0)
        | (Encoding::Flat | Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg, Role::Vdata) => {
            Vector { lo: 40 }
        }
        (Encoding::Ds, Role::Data1) => Vector { lo: 48 },
        (Encoding::Ds | Encoding::Flat, Role::Vdst) => Vector { lo: 56 },
        (Encoding::Flat, Role::Saddr) => sgpr(48, 7, 0),
        (_, Role::Srsrc) => sgpr(48, 5, 2),
        (_, Role::Ssamp) => sgpr(53, 5, 2),
        (Encoding::Mubuf | Encoding::Mtbuf, Role::Soffset) => ScalarSource { lo: 56 },
        _ => Location::None,
    }
}

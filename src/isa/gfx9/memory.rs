//! Typed access to the formats of memory, images, interpolation and exports.

use super::instruction::Instruction;
use super::operand::Operand;
use super::row::{Encoding, Format, Modifiers, OperandType, Role, Slot};

/// Scalar memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smem {
    pub data: Operand,
    /// Address in two registers, or a buffer descriptor in four.
    pub base: Operand,
    /// The offset is a constant.
    pub imm: bool,
    /// A separate register holds an offset.
    pub soe: bool,
    /// The constant offset in bytes, or 0. It has 21 bits, signed.
    ///
    /// Buffers have 20 bits, but LLVM reads the sign there too.
    pub offset: i32,
    /// The register with the offset.
    pub soffset: Option<Operand>,
    /// The number of `s_atc_probe`.
    pub probe: u8,
    pub glc: bool,
    pub nv: bool,
}

/// LDS and GDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ds {
    pub addr: Operand,
    pub data0: Operand,
    pub data1: Operand,
    pub dst: Operand,
    pub offset0: u8,
    pub offset1: u8,
    pub gds: bool,
}

impl Ds {
    /// Returns both offsets as one number of bytes.
    pub fn offset(&self) -> u16 {
        u16::from_le_bytes([self.offset0, self.offset1])
    }
}

/// The memory that a flat instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    Flat,
    Scratch,
    Global,
}

/// Flat, global and scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flat {
    pub segment: Segment,
    /// The address register; none for scratch memory at `saddr`.
    pub addr: Operand,
    pub saddr: Option<Operand>,
    pub data: Operand,
    /// None for stores, loads to LDS, and atomics that return nothing.
    pub dst: Operand,
    /// The offset in bytes: 13 bits, signed except for flat memory.
    ///
    /// Flat memory has 13 bits in LLVM, but 12 bits in hardware.
    pub offset: i32,
    pub glc: bool,
    pub slc: bool,
    /// The data goes to LDS.
    pub lds: bool,
    pub nv: bool,
}

/// MUBUF and MTBUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The source of stores and atomics, the destination of loads and of atomics with `glc`.
    ///
    /// None if the data goes to LDS.
    pub vdata: Operand,
    /// The index (if `idxen`), then the offset (if `offen`); none without either.
    pub vaddr: Operand,
    pub srsrc: Operand,
    pub soffset: Operand,
    pub offset: u16,
    pub offen: bool,
    pub idxen: bool,
    pub glc: bool,
    pub slc: bool,
    pub lds: bool,
    pub tfe: bool,
    /// MTBUF: data format and number format.
    pub dfmt: u8,
    pub nfmt: u8,
}

/// Images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    pub vdata: Operand,
    /// The number of registers of `vdata`.
    pub data_dwords: u8,
    /// The first register of the address. The number of registers depends on the image.
    pub vaddr: Operand,
    pub srsrc: Operand,
    pub ssamp: Operand,
    pub dmask: u8,
    pub unorm: bool,
    pub glc: bool,
    pub slc: bool,
    /// Addresses are 16-bit (in instructions without a sampler: a descriptor of 128 bits).
    pub a16: bool,
    pub tfe: bool,
    pub lwe: bool,
    pub da: bool,
    pub d16: bool,
}

/// An export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    pub target: u8,
    /// The source registers, none for a component without export.
    ///
    /// In a compressed export, two registers hold four halves.
    pub sources: [Option<u8>; 4],
    pub compressed: bool,
    pub done: bool,
    pub valid_mask: bool,
}

/// The inputs of an interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interp {
    pub attribute: u8,
    /// 0 to 3: x to w.
    pub channel: u8,
    /// `v_interp_mov_f32`: 0 P10, 1 P20, 2 P0.
    pub parameter: u16,
    /// Whether the interpolation uses the high half.
    pub high: bool,
}

/// The number in `saddr` of a flat instruction without that register.
const NO_SADDR: u64 = 127;

impl Instruction {
    /// Returns `bits` bits from bit `lo` on, sign-extended.
    pub(super) const fn signed(&self, lo: u8, bits: u8) -> i32 {
        ((self.bits(lo, bits) << (64 - bits)) as i64 >> (64 - bits)) as i32
    }

    fn has_saddr(&self) -> bool {
        self.format() != Format::Flat && self.bits(48, 7) != NO_SADDR
    }

    /// Returns the number of registers of an operand; 0 if the operand has none here.
    ///
    /// The number often depends on other fields.
    pub fn dwords(&self, slot: &Slot) -> u8 {
        let fixed = slot.ty.dwords();
        match (self.encoding(), slot.role) {
            (Encoding::Flat, Role::Vdst) => {
                let atomic = self.row().slot(Role::Vdata).is_some();
                let returns = if atomic { self.bit(16) } else { !self.bit(13) };
                fixed * u8::from(returns)
            }
            (Encoding::Flat, Role::Saddr) => fixed * u8::from(self.has_saddr()),
            (Encoding::Flat, Role::Vaddr) if self.has_saddr() => {
                u8::from(self.format() == Format::Global)
            }
            (Encoding::Mubuf | Encoding::Mtbuf, Role::Vaddr) => self.bits(12, 2).count_ones() as u8,
            (Encoding::Mubuf, Role::Vdata) if self.bit(16) => 0,
            (Encoding::Mubuf, Role::Vdata) => fixed + u8::from(self.bit(55)),
            (Encoding::Mimg, Role::Vdata) => self.image_dwords(slot.ty),
            _ => fixed,
        }
    }

    /// Returns the number of data registers of an image instruction.
    ///
    /// Each component takes a register; with `d16` two components share a register. `tfe` adds a
    /// register. If LLVM knows no instruction with this number, the number is as LLVM prints it.
    fn image_dwords(&self, ty: OperandType) -> u8 {
        let components = self.bits(8, 4).count_ones() as u8;
        let (components, known, usual): (_, &[u8], _) = match ty {
            // Atomics, compare-and-exchange, gathers, the rest.
            OperandType::B32 => (components.max(1), &[1, 2], 1),
            OperandType::B64 => (components.max(1), &[2, 4], 2),
            OperandType::B128 => (4, &[2, 4, 5], 4),
            _ => (components.max(1), &[1, 2, 3, 4, 5], 1),
        };
        let packed = self.row().has(Modifiers::D16) && self.bit(63);
        let dwords =
            if packed { components.div_ceil(2) } else { components } + u8::from(self.bit(16));
        if known.contains(&dwords) { dwords } else { usual }
    }

    /// Returns the fields of a scalar memory instruction.
    pub fn smem(&self) -> Smem {
        let (imm, soe) = (self.bit(17), self.bit(14));
        let register = |lo| Operand::scalar_register(self.bits(lo, 7), 1);
        Smem {
            data: self.operand(Role::Sdata),
            base: self.operand(Role::Sbase),
            imm,
            soe,
            offset: if imm { self.signed(32, 21) } else { 0 },
            soffset: if soe {
                register(57)
            } else if imm {
                None
            } else {
                register(32)
            },
            probe: self.bits(6, 7) as u8,
            glc: self.bit(16),
            nv: self.bit(15),
        }
    }

    /// Returns the fields of an LDS or GDS instruction.
    pub fn ds(&self) -> Ds {
        Ds {
            addr: self.operand(Role::Addr),
            data0: self.operand(Role::Data0),
            data1: self.operand(Role::Data1),
            dst: self.operand(Role::Vdst),
            offset0: self.bits(0, 8) as u8,
            offset1: self.bits(8, 8) as u8,
            gds: self.bit(16),
        }
    }

    /// Returns the fields of a flat, global or scratch memory instruction.
    pub fn flat(&self) -> Flat {
        let segment = match self.format() {
            Format::Scratch => Segment::Scratch,
            Format::Global => Segment::Global,
            _ => Segment::Flat,
        };
        Flat {
            segment,
            addr: self.operand(Role::Vaddr),
            saddr: Some(self.operand(Role::Saddr)).filter(|saddr| *saddr != Operand::None),
            data: self.operand(Role::Vdata),
            dst: self.operand(Role::Vdst),
            offset: if segment == Segment::Flat {
                self.bits(0, 13) as i32
            } else {
                self.signed(0, 13)
            },
            glc: self.bit(16),
            slc: self.bit(17),
            lds: self.bit(13),
            nv: self.bit(55),
        }
    }

    /// Returns the fields of a buffer instruction.
    pub fn buffer(&self) -> Buffer {
        let typed = self.encoding() == Encoding::Mtbuf;
        Buffer {
            vdata: self.operand(Role::Vdata),
            vaddr: self.operand(Role::Vaddr),
            srsrc: self.operand(Role::Srsrc),
            soffset: self.operand(Role::Soffset),
            offset: self.bits(0, 12) as u16,
            offen: self.bit(12),
            idxen: self.bit(13),
            glc: self.bit(14),
            slc: self.bit(if typed { 54 } else { 17 }),
            lds: !typed && self.bit(16),
            tfe: self.bit(55),
            dfmt: if typed { self.bits(19, 4) as u8 } else { 0 },
            nfmt: if typed { self.bits(23, 3) as u8 } else { 0 },
        }
    }

    /// Returns the fields of an image instruction.
    pub fn image(&self) -> Image {
        Image {
            vdata: self.operand(Role::Vdata),
            data_dwords: self.row().slot(Role::Vdata).map_or(0, |slot| self.dwords(&slot)),
            vaddr: self.operand(Role::Vaddr),
            srsrc: self.operand(Role::Srsrc),
            ssamp: self.operand(Role::Ssamp),
            dmask: self.bits(8, 4) as u8,
            unorm: self.bit(12),
            glc: self.bit(13),
            slc: self.bit(25),
            a16: self.bit(15),
            tfe: self.bit(16),
            lwe: self.bit(17),
            da: self.bit(14),
            d16: self.bit(63),
        }
    }

    /// Returns the fields of an export.
    pub fn export(&self) -> Export {
        let compressed = self.bit(10);
        Export {
            target: self.bits(4, 6) as u8,
            sources: std::array::from_fn(|i| {
                let i = i as u8;
                let from = if compressed { i / 2 } else { i };
                self.bit(i).then(|| self.bits(32 + 8 * from, 8) as u8)
            }),
            compressed,
            done: self.bit(11),
            valid_mask: self.bit(12),
        }
    }

    /// Returns the fields of an interpolation.
    pub fn interp(&self) -> Interp {
        let short = self.encoding() == Encoding::Vintrp;
        let (attribute, channel) = if short { (10, 8) } else { (32, 38) };
        Interp {
            attribute: self.bits(attribute, 6) as u8,
            channel: self.bits(channel, 2) as u8,
            parameter: if short { self.bits(0, 8) } else { self.bits(41, 9) } as u16,
            high: !short && self.bit(40),
        }
    }
}

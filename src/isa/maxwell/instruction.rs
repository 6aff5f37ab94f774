//! A decoded instruction and typed access to its parts.

use super::field::Field;
use super::row::{
    Fidelity, FieldSlot, ImmKind, Location, OperandSlot, PartKind, PartSlot, Role, Row,
};
use super::table::Opcode;

/// Bytes of an instruction word.
pub const WORD_BYTES: u64 = 8;
/// Bytes of a bundle: a control word and three instructions.
pub const BUNDLE_BYTES: u64 = 32;

/// Maps the address of a control word to the instruction behind it: for targets, entries and
/// symbols alike.
pub const fn past_control(pc: u64) -> u64 {
    if pc.is_multiple_of(BUNDLE_BYTES) { pc.wrapping_add(WORD_BYTES) } else { pc }
}

/// An instruction word together with the table line that explains it.
///
/// One lift function serves all encodings of an instruction: [`b`](Self::b) is a register, a
/// constant or an immediate, and a modifier that an encoding lacks has its first value. Roles
/// follow the text, not the bits: in `FFMA R0, R1, R2, c[0x0][0x8]` the constant is C.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub word: u64,
    pub row: &'static Row,
}

/// A general register: 0 to 254, or [`Reg::ZERO`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

impl Reg {
    /// RZ: reads give 0, writes are dropped.
    pub const ZERO: Reg = Reg(255);

    pub const fn is_zero(self) -> bool {
        self.0 == 255
    }

    /// Returns the `n`th register after this one, as in pairs and vectors; RZ stays RZ. Past R254
    /// it is RZ.
    pub const fn plus(self, n: u8) -> Reg {
        if self.is_zero() { self } else { Reg(self.0.saturating_add(n)) }
    }
}

/// A predicate as a source: number 0 to 6, or 7 for PT, which is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pred {
    pub index: u8,
    pub not: bool,
}

impl Pred {
    pub const TRUE: Pred = Pred { index: 7, not: false };

    pub fn is_true(self) -> bool {
        self == Pred::TRUE
    }

    /// Whether the predicate is `!PT`.
    pub fn is_false(self) -> bool {
        self.index == 7 && self.not
    }
}

/// The value that a source operand reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Reg(Reg),
    /// `c[bank][offset]`, offset in bytes, a multiple of 4. Negative offsets are out of range.
    Const {
        bank: u8,
        offset: i32,
    },
    /// An integer sign-extended to 64 bits, or the bits of an F16, F32, F64 or of two F16.
    Imm(u64),
}

/// The part of a source that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Whole,
    /// The register is one F32, where other operands are two F16.
    Float,
    /// Half 0 (low) or 1 of an operand that is read by halves.
    Half(u8),
    /// An integer that begins at byte 0 (low) to 3.
    Byte(u8),
}

impl Part {
    /// Returns the part's lowest bit in the operand, and its width. For an integer that begins at a
    /// byte, these are the bits of that byte.
    pub const fn range(self) -> (u32, u32) {
        match self {
            Part::Whole | Part::Float => (0, 32),
            Part::Half(half) => (half as u32 * 16, 16),
            Part::Byte(byte) => (byte as u32 * 8, 8),
        }
    }
}

/// A source operand. Modifiers apply in this order: part, absolute value, then negation or
/// complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    pub value: Value,
    pub part: Part,
    pub abs: bool,
    pub neg: bool,
    /// Bitwise complement.
    pub inv: bool,
}

impl Source {
    pub const ZERO: Source = Source {
        value: Value::Reg(Reg::ZERO),
        part: Part::Whole,
        abs: false,
        neg: false,
        inv: false,
    };

    /// Returns the register, if the value is a register.
    pub fn reg(self) -> Option<Reg> {
        match self.value {
            Value::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    pub fn imm(self) -> Option<u64> {
        match self.value {
            Value::Imm(imm) => Some(imm),
            _ => None,
        }
    }
}

/// A memory operand: address register (RZ: none) plus offset in bytes.
///
/// Without a register the offset is the address, unsigned in the width of its field (a 32-bit
/// offset is its bits), except in constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Reg,
    pub offset: i32,
}

impl Opcode {
    /// Whether the instruction loads, stores or changes texels of a surface.
    pub const fn is_surface_access(self) -> bool {
        matches!(
            self,
            Opcode::Suld | Opcode::Sust | Opcode::Sured | Opcode::Suatom | Opcode::SuatomCas
        )
    }

    /// Whether the instruction samples a texture, or queries one.
    pub const fn is_texture_access(self) -> bool {
        use Opcode::{Tex, Texs, Tld, Tld4, Tld4s, Tlds, Tmml, Txd, Txq};
        matches!(self, Tex | Texs | Tld | Tlds | Tld4 | Tld4s | Txd | Txq | Tmml)
    }
}

impl Instruction {
    /// Decodes a word. None: the word is illegal.
    pub fn decode(word: u64) -> Option<Instruction> {
        super::table::lookup(word).map(|row| Instruction { word, row })
    }

    pub fn opcode(&self) -> Opcode {
        self.row.opcode
    }

    pub fn fidelity(&self) -> Fidelity {
        self.row.fidelity
    }

    /// Returns `bits` bits of the word from bit `lo` on.
    pub const fn bits(&self, lo: u8, bits: u8) -> u64 {
        (self.word >> lo) & (u64::MAX >> (64 - bits as u32))
    }

    const fn signed(&self, lo: u8, bits: u8) -> i64 {
        let unused = 64 - bits as u32;
        ((self.bits(lo, bits) << unused) as i64) >> unused
    }

    const fn flag(&self, bit: Option<u8>) -> bool {
        match bit {
            Some(bit) => self.bits(bit, 1) != 0,
            None => false,
        }
    }

    /// Returns the predicate of the whole instruction, `@P0` or `@!P0`; PT if it has none.
    pub fn guard(&self) -> Pred {
        if !self.row.guarded() {
            return Pred::TRUE;
        }
        Pred { index: self.bits(16, 3) as u8, not: self.bits(19, 1) != 0 }
    }

    /// Returns the bits of a modifier, if this encoding has it.
    pub fn field(&self, field: Field) -> Option<u64> {
        self.row.fields().find(|slot| slot.field == field).map(|slot| self.read_field(&slot))
    }

    /// Returns the bits of a modifier sign-extended, if this encoding has it.
    pub(super) fn signed_field(&self, field: Field) -> Option<i64> {
        self.row
            .fields()
            .find(|slot| slot.field == field)
            .map(|slot| self.signed(slot.lo, slot.bits))
    }

    pub(super) fn read_field(&self, slot: &FieldSlot) -> u64 {
        let high = if slot.hi_bits == 0 { 0 } else { self.bits(slot.hi, slot.hi_bits) };
        self.bits(slot.lo, slot.bits) | high << slot.bits
    }

    fn slot(&self, role: Role) -> Option<OperandSlot> {
        self.row.operands().find(|slot| slot.role == role)
    }

    /// Returns the source operand of a role, if this encoding has one.
    pub fn source(&self, role: Role) -> Option<Source> {
        self.slot(role).map(|slot| self.read_source(&slot))
    }

    pub(super) fn read_source(&self, slot: &OperandSlot) -> Source {
        let attributes = &slot.attributes;
        Source {
            value: self.read_value(slot.location),
            part: attributes.part.map_or(Part::Whole, |part| self.read_part(part)),
            abs: self.flag(attributes.abs),
            neg: self.flag(attributes.neg),
            inv: self.flag(attributes.inv),
        }
    }

    fn read_part(&self, slot: PartSlot) -> Part {
        let bits = self.bits(slot.lo, slot.kind.bits()) as u8;
        match (slot.kind, bits) {
            (PartKind::Half, _) => Part::Half(bits),
            (PartKind::Byte | PartKind::Sized, _) | (PartKind::Video, 0..4) => Part::Byte(bits),
            (PartKind::WholeOrHalf, 1 | 2) => Part::Half(bits - 1),
            (PartKind::Video, 4 | 5) => Part::Half(bits - 4),
            (PartKind::Halves, 2 | 3) => Part::Half(bits - 2),
            (PartKind::Halves, 1) => Part::Float,
            (PartKind::WholeOrHalf | PartKind::Video | PartKind::Halves, _) => Part::Whole,
        }
    }

    fn read_value(&self, location: Location) -> Value {
        match location {
            Location::Register { lo } => Value::Reg(Reg(self.bits(lo, 8) as u8)),
            Location::RegisterAfter { lo, plus } => {
                Value::Reg(Reg(self.bits(lo, 8) as u8).plus(plus))
            }
            Location::Zero => Value::Reg(Reg::ZERO),
            Location::Predicate { lo } => Value::Imm(self.bits(lo, 3)),
            Location::InvertedPredicate { lo } => Value::Imm(7 - self.bits(lo, 3)),
            Location::Constant => Value::Const {
                bank: self.bits(34, 5) as u8,
                offset: self.signed(20, 14) as i32 * 4,
            },
            Location::ConstantWide => {
                Value::Const { bank: self.bits(36, 5) as u8, offset: self.signed(20, 16) as i32 }
            }
            Location::Imm20(kind) => {
                let bits = self.bits(20, 19) | self.bits(56, 1) << 19;
                Value::Imm(match kind {
                    ImmKind::Int | ImmKind::Bits => (((bits << 44) as i64) >> 44) as u64,
                    ImmKind::F32 => bits << 12,
                    ImmKind::F64 => bits << 44,
                    ImmKind::Halves => (bits & 0x3ff) << 6 | (bits >> 10) << 22,
                })
            }
            Location::Imm32(kind) => Value::Imm(match kind {
                ImmKind::Int | ImmKind::Bits => self.signed(20, 32) as u64,
                ImmKind::F32 | ImmKind::F64 | ImmKind::Halves => self.bits(20, 32),
            }),
            Location::Short { lo, width, signed: false } => Value::Imm(self.bits(lo, width)),
            Location::Short { lo, width, signed: true } => {
                Value::Imm(self.signed(lo, width) as u64)
            }
            Location::ImmF16 => Value::Imm(self.bits(20, 16)),
            Location::Memory { .. }
            | Location::ConstMemory { .. }
            | Location::Target
            | Location::AbsoluteTarget => Value::Imm(0),
        }
    }

    pub(super) fn read_predicate(&self, slot: &OperandSlot) -> Pred {
        let index = match slot.location {
            Location::Predicate { lo } => self.bits(lo, 3) as u8,
            Location::InvertedPredicate { lo } => 7 - self.bits(lo, 3) as u8,
            _ => 7,
        };
        Pred { index, not: self.flag(slot.attributes.not) }
    }

    pub(super) fn read_address(&self, slot: &OperandSlot) -> Address {
        match slot.location {
            Location::Memory { base, width: 0, .. } => {
                Address { base: Reg(self.bits(base, 8) as u8), offset: 0 }
            }
            Location::Memory { base, offset, width, scale } => {
                let base = Reg(self.bits(base, 8) as u8);
                let offset = if scale == 0 || base.is_zero() {
                    self.bits(offset, width).wrapping_mul(scale.max(1).into())
                } else {
                    (self.signed(offset, width) as u64).wrapping_mul(scale.into())
                };
                Address { base, offset: offset as i32 }
            }
            Location::ConstMemory { offset, width, .. } => Address {
                base: Reg(self.bits(8, 8) as u8),
                offset: self.signed(offset, width) as i32,
            },
            _ => Address { base: Reg::ZERO, offset: 0 },
        }
    }

    fn read_register(&self, role: Role) -> Reg {
        self.source(role).and_then(Source::reg).unwrap_or(Reg::ZERO)
    }

    fn predicate(&self, role: Role) -> Pred {
        self.slot(role).map_or(Pred::TRUE, |slot| self.read_predicate(&slot))
    }

    /// Returns the destination register; RZ if there is none.
    pub fn d(&self) -> Reg {
        self.read_register(Role::D)
    }

    /// Returns the first source; RZ if there is none.
    pub fn a(&self) -> Source {
        self.source(Role::A).unwrap_or(Source::ZERO)
    }

    /// Returns the second source, which is the only source of moves and conversions (MUFU's is A);
    /// RZ if there is none.
    pub fn b(&self) -> Source {
        self.source(Role::B).unwrap_or(Source::ZERO)
    }

    /// Returns the third source; RZ if there is none.
    pub fn c(&self) -> Source {
        self.source(Role::C).unwrap_or(Source::ZERO)
    }

    /// Returns the second destination of a short texture instruction; RZ if there is none.
    pub fn e(&self) -> Reg {
        self.read_register(Role::E)
    }

    /// Returns the number of the first destination predicate; 7 if there is none.
    pub fn pd(&self) -> u8 {
        self.predicate(Role::Pd).index
    }

    /// Returns the number of the second destination predicate; 7 if there is none.
    pub fn pe(&self) -> u8 {
        self.predicate(Role::Pe).index
    }

    /// Returns the first source predicate of predicate logic.
    pub fn pa(&self) -> Pred {
        self.predicate(Role::Pa)
    }

    /// Returns the second source predicate of predicate logic.
    pub fn pb(&self) -> Pred {
        self.predicate(Role::Pb)
    }

    /// Returns the source predicate that is combined with the result, or selects it.
    pub fn ps(&self) -> Pred {
        self.predicate(Role::Ps)
    }

    /// Returns the memory operand, if there is one.
    pub fn address(&self) -> Option<Address> {
        self.slot(Role::M).map(|slot| self.read_address(&slot))
    }

    /// Returns the bank of a memory operand in constant memory.
    pub fn bank(&self) -> Option<u8> {
        match self.slot(Role::M)?.location {
            Location::ConstMemory { bank, .. } => Some(self.bits(bank, 5) as u8),
            _ => None,
        }
    }

    /// Returns the branch target of the instruction at `pc` (bytes from the start of its function).
    pub fn target(&self, pc: u64) -> Option<u64> {
        self.raw_target(pc).map(past_control)
    }

    /// Returns the branch target without skipping a control word.
    pub fn raw_target(&self, pc: u64) -> Option<u64> {
        match self.slot(Role::T)?.location {
            Location::Target => {
                Some(pc.wrapping_add(WORD_BYTES).wrapping_add(self.signed(20, 24) as u64))
            }
            Location::AbsoluteTarget => Some(self.bits(20, 32)),
            _ => None,
        }
    }
}

//! A decoded instruction and access to its parts.

use std::fmt;

use super::Guest;
use super::row::{
    FieldSlot, ImmKind, Location, Memory, OperandSlot, PartKind, PartSlot, Role, Row,
};

/// An instruction word together with the table line that explains it.
///
/// One lift function serves all encodings of an instruction: [`b`](Self::b) is a register, a
/// constant or an immediate, and a modifier that an encoding lacks has its first value. Roles
/// follow the text, not the bits: in `FFMA R0, R1, R2, c[0x0][0x8]` the constant is C.
pub struct Instruction<G: Guest> {
    pub word: u128,
    pub row: &'static Row<G>,
    /// The number of the GPU's model, as 75 in `sm_75`.
    pub model: u8,
}

impl<G: Guest> Clone for Instruction<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Guest> Copy for Instruction<G> {}

impl<G: Guest> fmt::Debug for Instruction<G> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#x} {}", self.word, self.text(0))
    }
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

/// A uniform register: 0 to 62, or [`Uniform::ZERO`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uniform(pub u8);

impl Uniform {
    /// URZ: reads give 0, writes are dropped.
    pub const ZERO: Uniform = Uniform(63);

    pub const fn is_zero(self) -> bool {
        self.0 == 63
    }
}

/// A predicate as a source: number 0 to 6, or 7 for PT, which is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pred {
    pub index: u8,
    pub not: bool,
    /// UP0 to UP6, one for the warp.
    pub uniform: bool,
}

impl Pred {
    pub const TRUE: Pred = Pred { index: 7, not: false, uniform: false };

    pub fn is_true(self) -> bool {
        self.index == 7 && !self.not
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
    Uniform(Uniform),
    /// `c[bank][offset]`, offset in bytes, a multiple of 4. Negative offsets are out of range.
    Const {
        bank: u8,
        offset: i32,
    },
    /// `cx[descriptor][offset]`: the bank is that of the descriptor in a uniform register.
    Described {
        descriptor: Uniform,
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
    /// The highest bit.
    Sign,
}

impl Part {
    /// Returns the part's lowest bit in the operand, and its width. For an integer that begins at a
    /// byte, these are the bits of that byte.
    pub const fn range(self) -> (u32, u32) {
        match self {
            Part::Whole | Part::Float => (0, 32),
            Part::Half(half) => (half as u32 * 16, 16),
            Part::Byte(byte) => (byte as u32 * 8, 8),
            Part::Sign => (31, 1),
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

/// A memory operand: address register (RZ: none), times a factor, plus a uniform register, plus an
/// offset in bytes.
///
/// Without a register the offset is the address, unsigned in the width of its field (a 32-bit
/// offset is its bits), except in constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub base: Reg,
    /// The address register is shifted left by this count.
    pub shift: u8,
    pub uniform: Option<Uniform>,
    /// The address register has 64 bits, if there is a choice.
    pub wide: Option<bool>,
    /// Descriptor of the memory, if the text shows it.
    pub descriptor: Option<Uniform>,
    pub offset: i32,
}

impl Address {
    /// `[RZ]`.
    const ZERO: Address = Address {
        base: Reg::ZERO,
        shift: 0,
        uniform: None,
        wide: None,
        descriptor: None,
        offset: 0,
    };
}

impl<G: Guest> Instruction<G> {
    pub fn opcode(&self) -> G::Opcode {
        self.row.opcode
    }

    pub fn fidelity(&self) -> warploom_guest::fidelity::Fidelity {
        self.row.fidelity
    }

    /// Returns `bits` bits, at most 64, of the word from bit `lo` on.
    pub const fn bits(&self, lo: u8, bits: u8) -> u64 {
        (self.word >> lo) as u64 & (u64::MAX >> (64 - bits as u32))
    }

    pub(super) const fn signed(&self, lo: u8, bits: u8) -> i64 {
        let unused = 64 - bits as u32;
        ((self.bits(lo, bits) << unused) as i64) >> unused
    }

    pub(super) const fn flag(&self, bit: Option<u8>) -> bool {
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
        Pred {
            index: self.bits(G::GUARD, 3) as u8,
            not: self.bits(G::GUARD + 3, 1) != 0,
            uniform: self.row.uniform_guard(),
        }
    }

    /// Returns the bits of a modifier, if this encoding has it.
    pub fn field(&self, field: G::Field) -> Option<u64> {
        self.field_slot(field).map(|slot| self.read_field(&slot))
    }

    /// Returns the bits of a modifier sign-extended, if this encoding has it.
    pub fn signed_field(&self, field: G::Field) -> Option<i64> {
        let slot = self.field_slot(field)?;
        let unused = 64 - u32::from(slot.bits + slot.hi_bits);
        Some((self.read_field(&slot) << unused) as i64 >> unused)
    }

    fn field_slot(&self, field: G::Field) -> Option<FieldSlot<G::Field>> {
        self.row.fields().find(|slot| slot.field == field)
    }

    pub(super) fn read_field(&self, slot: &FieldSlot<G::Field>) -> u64 {
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
        if slot.kind == PartKind::Sign {
            return Part::Sign;
        }
        let bits = self.bits(slot.lo, slot.kind.bits()) as u8;
        match (slot.kind, bits) {
            (PartKind::Half, _) | (PartKind::HalfOfTwo | PartKind::AddendHalf, 0 | 1) => {
                Part::Half(bits)
            }
            (PartKind::Byte | PartKind::Sized, _) | (PartKind::Video, 0..4) => Part::Byte(bits),
            (PartKind::WholeOrHalf, 1 | 2) => Part::Half(bits - 1),
            (PartKind::Video, 4 | 5) => Part::Half(bits - 4),
            (PartKind::Halves, 2 | 3) => Part::Half(bits - 2),
            (PartKind::Halves, 1) => Part::Float,
            (_, _) => Part::Whole,
        }
    }

    fn reg(&self, lo: u8) -> Reg {
        Reg(self.bits(lo, 8) as u8)
    }

    fn uniform(&self, lo: u8) -> Uniform {
        Uniform(self.bits(lo, 6) as u8)
    }

    fn read_value(&self, location: Location) -> Value {
        match location {
            Location::Register { lo } => Value::Reg(self.reg(lo)),
            Location::RegisterAfter { lo, plus } => Value::Reg(self.reg(lo).plus(plus)),
            Location::Zero => Value::Reg(Reg::ZERO),
            Location::Uniform { lo } => Value::Uniform(self.uniform(lo)),
            Location::Predicate { lo, inverted, .. } => {
                Value::Imm(self.predicate_number(lo, inverted))
            }
            Location::Barrier { lo } => Value::Imm(self.bits(lo, 4)),
            Location::Constant { offset, width, scale, bank, descriptor } => {
                let scale = i32::from(scale);
                match descriptor {
                    Some(lo) => Value::Described {
                        descriptor: self.uniform(lo),
                        offset: self.bits(offset, width) as i32 * scale,
                    },
                    None => Value::Const {
                        bank: self.bits(bank, 5) as u8,
                        offset: self.signed(offset, width) as i32 * scale,
                    },
                }
            }
            Location::Imm20(kind) => {
                let bits = self.bits(20, 19) | self.bits(56, 1) << 19;
                Value::Imm(match kind {
                    ImmKind::Int | ImmKind::Bits => (((bits << 44) as i64) >> 44) as u64,
                    ImmKind::F32 => bits << 12,
                    ImmKind::F64 => bits << 44,
                    ImmKind::Halves | ImmKind::Brains => (bits & 0x3ff) << 6 | (bits >> 10) << 22,
                })
            }
            Location::Imm32 { lo, kind } => Value::Imm(match kind {
                ImmKind::Int | ImmKind::Bits => self.signed(lo, 32) as u64,
                ImmKind::F32 | ImmKind::Halves | ImmKind::Brains => self.bits(lo, 32),
                ImmKind::F64 => self.bits(lo, 32) << 32,
            }),
            Location::Short { lo, width, signed: false } => Value::Imm(self.bits(lo, width)),
            Location::Short { lo, width, signed: true } => {
                Value::Imm(self.signed(lo, width) as u64)
            }
            Location::ImmF16 { lo } => Value::Imm(self.bits(lo, 16)),
            Location::Memory(_)
            | Location::ConstMemory { .. }
            | Location::Target { .. }
            | Location::AbsoluteTarget { .. } => Value::Imm(0),
        }
    }

    fn predicate_number(&self, lo: u8, inverted: bool) -> u64 {
        let bits = self.bits(lo, 3);
        if inverted { 7 - bits } else { bits }
    }

    pub(super) fn read_predicate(&self, slot: &OperandSlot) -> Pred {
        let not = self.flag(slot.attributes.not);
        match slot.location {
            Location::Predicate { lo, uniform, inverted } => {
                Pred { index: self.predicate_number(lo, inverted) as u8, not, uniform }
            }
            _ => Pred { not, ..Pred::TRUE },
        }
    }

    pub(super) fn read_address(&self, slot: &OperandSlot) -> Address {
        match slot.location {
            Location::Memory(Memory {
                base,
                offset,
                width,
                scale,
                uniform,
                factor,
                wide,
                descriptor,
                shown,
                attribute,
            }) => {
                let base = base.map_or(Reg::ZERO, |lo| self.reg(lo));
                let uniform = uniform.map(|lo| self.uniform(lo));
                let offset = if width == 0 {
                    0
                } else if scale == 0
                    || attribute && scale > 1
                    || base.is_zero() && uniform.is_none()
                {
                    self.bits(offset, width).wrapping_mul(scale.max(1).into())
                } else {
                    (self.signed(offset, width) as u64).wrapping_mul(scale.into())
                };
                let shift = factor.map_or(0, |lo| [0, 2, 3, 4][self.bits(lo, 2) as usize]);
                let wide = wide.map(|bit| self.bits(bit, 1) != 0);
                let descriptor = descriptor
                    .filter(|_| self.model >= G::SHOWS_DESCRIPTORS || self.flag(shown))
                    .map(|lo| self.uniform(lo));
                Address { base, shift, uniform, wide, descriptor, offset: offset as i32 }
            }
            Location::ConstMemory { base, offset, width, uniform_base, .. } => Address {
                base: if uniform_base { Reg::ZERO } else { self.reg(base) },
                uniform: uniform_base.then(|| self.uniform(base)),
                offset: self.signed(offset, width) as i32,
                ..Address::ZERO
            },
            _ => Address::ZERO,
        }
    }

    fn read_register(&self, role: Role) -> Reg {
        self.source(role).and_then(Source::reg).unwrap_or(Reg::ZERO)
    }

    /// Returns the predicate of a role, PT if this encoding has none.
    pub fn predicate(&self, role: Role) -> Pred {
        self.slot(role).map_or(Pred::TRUE, |slot| self.read_predicate(&slot))
    }

    /// Returns the memory operand of a role, if this encoding has one.
    pub fn address_in(&self, role: Role) -> Option<Address> {
        self.slot(role).map(|slot| self.read_address(&slot))
    }

    /// Returns the destination register; RZ if there is none.
    pub fn d(&self) -> Reg {
        self.read_register(Role::D)
    }

    /// Returns the second destination register; RZ if there is none.
    pub fn e(&self) -> Reg {
        self.read_register(Role::E)
    }

    /// Returns the first source; RZ if there is none.
    pub fn a(&self) -> Source {
        self.source(Role::A).unwrap_or(Source::ZERO)
    }

    /// Returns the second source, which is the only source of moves and conversions; RZ if there is
    /// none.
    pub fn b(&self) -> Source {
        self.source(Role::B).unwrap_or(Source::ZERO)
    }

    /// Returns the third source; RZ if there is none.
    pub fn c(&self) -> Source {
        self.source(Role::C).unwrap_or(Source::ZERO)
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
            Location::ConstMemory { bank, descriptor: None, .. } => Some(self.bits(bank, 5) as u8),
            _ => None,
        }
    }

    /// Returns the uniform register with the descriptor of a memory operand in constant memory.
    pub fn descriptor(&self) -> Option<Uniform> {
        match self.slot(Role::M)?.location {
            Location::ConstMemory { descriptor, .. } => descriptor.map(|lo| self.uniform(lo)),
            _ => None,
        }
    }

    /// Returns the branch target of the instruction at `pc` (bytes from the start of its function),
    /// as the text states it.
    pub fn raw_target(&self, pc: u64) -> Option<u64> {
        match self.slot(Role::T)?.location {
            Location::Target { lo, width, scale } => {
                let distance =
                    self.with_low_bits(self.signed(lo, width), width).wrapping_mul(scale.into());
                Some(pc.wrapping_add(G::WORD_BYTES).wrapping_add(distance as u64))
            }
            Location::AbsoluteTarget { lo, width, scale, signed } => {
                let value =
                    if signed { self.signed(lo, width) } else { self.bits(lo, width) as i64 };
                Some((self.with_low_bits(value, width) as u64).wrapping_mul(scale.into()))
            }
            _ => None,
        }
    }

    /// Returns a target with its low bits, if the model has them.
    fn with_low_bits(&self, high: i64, width: u8) -> i64 {
        match G::low_target(self.model, width) {
            Some(lo) => high << 8 | self.bits(lo, 8) as i64,
            None => high,
        }
    }
}

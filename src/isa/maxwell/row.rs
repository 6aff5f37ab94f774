//! A line of the instruction table as data; [`super::notation`] explains how it is written.

pub use warploom_guest::fidelity::Fidelity;

use super::field::Field;
use super::lift::Lift;
use super::table::Opcode;

/// The purpose of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Destination register.
    D,
    /// First, second, third source.
    A,
    B,
    C,
    /// First and second destination predicate.
    Pd,
    Pe,
    /// First and second source predicate of predicate logic.
    Pa,
    Pb,
    /// Source predicate that is combined with the result or selects it.
    Ps,
    /// Second destination register of a short texture instruction.
    E,
    /// Memory operand.
    M,
    /// Branch target.
    T,
}

impl Role {
    pub(super) const NAMES: [(&'static str, Role); 12] = [
        ("d", Role::D),
        ("e", Role::E),
        ("a", Role::A),
        ("b", Role::B),
        ("c", Role::C),
        ("pd", Role::Pd),
        ("pe", Role::Pe),
        ("pa", Role::Pa),
        ("pb", Role::Pb),
        ("ps", Role::Ps),
        ("m", Role::M),
        ("t", Role::T),
    ];

    /// Returns the operand's location if a line states no other.
    pub(super) const fn usual(self) -> Option<Location> {
        match self {
            Role::D => Some(Location::Register { lo: 0 }),
            Role::A => Some(Location::Register { lo: 8 }),
            Role::C => Some(Location::Register { lo: 39 }),
            Role::Pd => Some(Location::Predicate { lo: 3 }),
            Role::Pe => Some(Location::Predicate { lo: 0 }),
            Role::Ps => Some(Location::Predicate { lo: 39 }),
            Role::T => Some(Location::Target),
            Role::E => Some(Location::Register { lo: 28 }),
            Role::B | Role::Pa | Role::Pb | Role::M => None,
        }
    }
}

/// The location of an operand's bits. `lo` is the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Register number, 8 bits.
    Register { lo: u8 },
    /// Predicate number, 3 bits.
    Predicate { lo: u8 },
    /// Complement of a predicate number, 3 bits.
    InvertedPredicate { lo: u8 },
    /// The register `plus` after the register in 8 bits.
    RegisterAfter { lo: u8, plus: u8 },
    /// RZ.
    Zero,
    /// Signed word offset in bits 20 to 33, bank in bits 34 to 38.
    Constant,
    /// Signed byte offset in bits 20 to 35, bank in bits 36 to 40.
    ConstantWide,
    /// 19 bits from bit 20 and bit 56 above them.
    Imm20(ImmKind),
    /// 32 bits from bit 20.
    Imm32(ImmKind),
    /// An integer.
    Short { lo: u8, width: u8, signed: bool },
    /// An F16 in bits 20 to 35.
    ImmF16,
    /// Address register (8 bits) and signed offset in units of `scale` bytes. A `scale` of 0 means
    /// an unsigned offset in bytes. Without an offset `width` is 0.
    Memory { base: u8, offset: u8, width: u8, scale: u8 },
    /// Bank (5 bits), address register in bits 8 to 15, signed offset in bytes.
    ConstMemory { bank: u8, offset: u8, width: u8 },
    /// Signed byte offset from the next word: 24 bits from bit 20.
    Target,
    /// Address: 32 bits from bit 20.
    AbsoluteTarget,
}

/// The interpretation of an immediate's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImmKind {
    /// Sign-extended.
    Int,
    /// Sign-extended, printed unsigned.
    Bits,
    /// F32, of which a short immediate holds the top 20 bits.
    F32,
    /// F64, of which a short immediate holds the top 20 bits.
    F64,
    /// Two F16, the low one in the low bits. A short immediate holds the top 10 bits of each.
    Halves,
}

/// Bits that modify an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    pub neg: Option<u8>,
    pub abs: Option<u8>,
    pub inv: Option<u8>,
    /// Negates a predicate.
    pub not: Option<u8>,
    pub part: Option<PartSlot>,
    /// Not printed if PT, RZ or 0.
    pub optional: bool,
    /// Slot of the operand reuse cache, if not the role's usual slot.
    pub reuse_slot: Option<u8>,
}

/// The bits that choose the part of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSlot {
    pub kind: PartKind,
    pub lo: u8,
}

/// How the bits that choose a part are read and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// 1 bit: low or high half.
    Half,
    /// 2 bits: a byte.
    Byte,
    /// 2 bits: the byte where an integer begins. The integer's type is in bits 10 and 11.
    Sized,
    /// 2 bits: whole, low half, high half.
    WholeOrHalf,
    /// 2 bits: both halves, an F32, the low half, the high half.
    Halves,
    /// 3 bits: a byte, a half or the whole.
    Video,
}

impl PartKind {
    /// Width of the selector in bits.
    pub const fn bits(self) -> u8 {
        match self {
            PartKind::Half => 1,
            PartKind::Byte | PartKind::Sized | PartKind::WholeOrHalf | PartKind::Halves => 2,
            PartKind::Video => 3,
        }
    }
}

impl Attributes {
    pub(super) const NONE: Attributes = Attributes {
        neg: None,
        abs: None,
        inv: None,
        not: None,
        part: None,
        optional: false,
        reuse_slot: None,
    };
}

/// An operand of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandSlot {
    pub role: Role,
    pub location: Location,
    pub attributes: Attributes,
}

/// A modifier of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlot {
    pub field: Field,
    /// The low bits of the value: `bits` from bit `lo`.
    pub lo: u8,
    pub bits: u8,
    /// The high bits of the value: `hi_bits`, often 0, from bit `hi`.
    pub hi: u8,
    pub hi_bits: u8,
    /// Read, not printed.
    pub silent: bool,
}

/// A part of the text of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A range of bytes of the format.
    Text {
        start: u16,
        end: u16,
    },
    Field(FieldSlot),
    Operand(OperandSlot),
    /// The phase of a texture instruction.
    Phase,
}

/// One encoding of an instruction.
#[derive(Debug)]
pub struct Row {
    pub opcode: Opcode,
    pub fidelity: Fidelity,
    /// Lifts the instruction to IR; none if it is not implemented.
    pub lift: Option<Lift>,
    /// The bits that distinguish this encoding, and their values.
    pub mask: u64,
    pub bits: u64,
    /// Masks and values of words that this encoding excludes.
    pub exclusions: &'static [(u64, u64)],
    pub format: &'static str,
    pub pieces: &'static [Piece],
}

impl Row {
    /// Whether bits 16 to 19 are a guard.
    pub const fn guarded(&self) -> bool {
        self.format.as_bytes()[0] != b'*'
    }

    pub const fn matches(&self, word: u64) -> bool {
        if word & self.mask != self.bits {
            return false;
        }
        let mut i = 0;
        while i < self.exclusions.len() {
            if word & self.exclusions[i].0 == self.exclusions[i].1 {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns a word of this encoding, with the other bits from `random`. The word may be
    /// excluded, or belong to a more specific row.
    pub const fn word(&self, random: u64) -> u64 {
        self.bits | random & !self.mask
    }

    pub fn fields(&self) -> impl Iterator<Item = FieldSlot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(slot) => Some(*slot),
            _ => None,
        })
    }

    pub fn operands(&self) -> impl Iterator<Item = OperandSlot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Operand(slot) => Some(*slot),
            _ => None,
        })
    }
}

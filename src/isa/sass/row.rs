//! A line of an instruction table as data; [`super::notation`] explains how it is written.

use warploom_guest::fidelity::Fidelity;

use super::Guest;

/// The purpose of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Destination register.
    D,
    /// Second destination register.
    E,
    /// First, second, third source.
    A,
    B,
    C,
    /// First and second destination predicate.
    Pd,
    Pe,
    /// First, second and third source predicate of predicate logic.
    Pa,
    Pb,
    Pc,
    /// Source predicate that is combined with the result or selects it.
    Ps,
    /// Second carry of a sum.
    Pt,
    /// Memory operand.
    M,
    /// Second memory operand.
    G,
    /// Branch target.
    T,
    /// Handle of a texture or surface.
    H,
}

impl Role {
    pub const NAMES: [(&'static str, Role); 16] = [
        ("d", Role::D),
        ("e", Role::E),
        ("a", Role::A),
        ("b", Role::B),
        ("c", Role::C),
        ("pd", Role::Pd),
        ("pe", Role::Pe),
        ("pa", Role::Pa),
        ("pb", Role::Pb),
        ("pc", Role::Pc),
        ("ps", Role::Ps),
        ("pt", Role::Pt),
        ("m", Role::M),
        ("g", Role::G),
        ("t", Role::T),
        ("h", Role::H),
    ];
}

/// The location of an operand's bits. `lo` is the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Register number, 8 bits.
    Register { lo: u8 },
    /// The register `plus` after the register in 8 bits.
    RegisterAfter { lo: u8, plus: u8 },
    /// RZ.
    Zero,
    /// Number of a uniform register, 6 bits.
    Uniform { lo: u8 },
    /// Number of a predicate or of a uniform predicate, 3 bits, or its complement.
    Predicate { lo: u8, uniform: bool, inverted: bool },
    /// Number of a convergence barrier, 4 bits.
    Barrier { lo: u8 },
    /// Bank (5 bits) and signed offset in units of `scale` bytes. With `descriptor` set, the bank
    /// is that of the descriptor in a uniform register (6 bits), and the offset is unsigned.
    Constant { offset: u8, width: u8, scale: u8, bank: u8, descriptor: Option<u8> },
    /// 19 bits from bit 20 and bit 56 above them.
    Imm20(ImmKind),
    /// 32 bits from bit `lo`.
    Imm32 { lo: u8, kind: ImmKind },
    /// An integer.
    Short { lo: u8, width: u8, signed: bool },
    /// An F16 in 16 bits.
    ImmF16 { lo: u8 },
    /// Registers plus an offset.
    Memory(Memory),
    /// Bank (5 bits, or that of the descriptor in a uniform register), address register (8 bits, or
    /// 6 bits of a uniform one), signed offset in bytes.
    ConstMemory {
        bank: u8,
        base: u8,
        offset: u8,
        width: u8,
        descriptor: Option<u8>,
        uniform_base: bool,
    },
    /// Signed byte offset from the next instruction.
    Target { lo: u8, width: u8, scale: u8 },
    /// Address in units of `scale` bytes.
    AbsoluteTarget { lo: u8, width: u8, scale: u8, signed: bool },
}

impl Location {
    /// The number of a predicate in 3 bits.
    pub const fn predicate(lo: u8) -> Location {
        Location::Predicate { lo, uniform: false, inverted: false }
    }
}

/// The location of an address: the sum of a register, a uniform register and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Address register (8 bits); none: RZ.
    pub base: Option<u8>,
    /// Signed offset in units of `scale` bytes. A `scale` of 0 means an unsigned offset in bytes.
    /// Without an offset `width` is 0.
    pub offset: u8,
    pub width: u8,
    pub scale: u8,
    /// Uniform register (6 bits).
    pub uniform: Option<u8>,
    /// 2 bits that scale the address register by 1, 4, 8 or 16.
    pub factor: Option<u8>,
    /// The bit that makes the address register 64 bits wide beside a uniform register.
    pub wide: Option<u8>,
    /// Uniform register (6 bits) with a descriptor of the memory. It takes no part in the address.
    pub descriptor: Option<u8>,
    /// The bit by which the text shows the descriptor.
    pub shown: Option<u8>,
    /// The address is in attribute memory.
    pub attribute: bool,
}

impl Memory {
    /// Memory at an address register, which is still open.
    pub const AT_REGISTER: Memory = Memory {
        base: None,
        offset: 0,
        width: 0,
        scale: 1,
        uniform: None,
        factor: None,
        wide: None,
        descriptor: None,
        shown: None,
        attribute: false,
    };
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
    /// F64, of which an immediate holds the top bits.
    F64,
    /// Two F16, the low one in the low bits. A short immediate holds the top 10 bits of each.
    Halves,
    /// Two BF16, the low one in the low bits.
    Brains,
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
    /// Slot of the operand reuse cache, if not the slot of the role.
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
    /// No bits: the sign bit.
    Sign,
    /// 2 bits: low or high half.
    HalfOfTwo,
    /// 2 bits: low or high half of an addend.
    AddendHalf,
}

impl PartKind {
    /// Returns the text of each value of the selector.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            PartKind::Half => &["", ".H1"],
            PartKind::Byte | PartKind::Sized => &["", ".B1", ".B2", ".B3"],
            PartKind::WholeOrHalf => &["", ".H0", ".H1", ".???3"],
            PartKind::Halves => &["", ".F32", ".H0_H0", ".H1_H1"],
            PartKind::Video => &["", ".B1", ".B2", ".B3", "", ".H1", "", ""],
            PartKind::Sign => &[".SIGN"],
            PartKind::HalfOfTwo => &["", ".H1", ".INVALID2", ".INVALID3"],
            PartKind::AddendHalf => &["", ".H1", ".???2", ".???3"],
        }
    }

    /// The text of each value of [`PartKind::Sized`] in an integer of 16 bits.
    pub(super) const SIZED_HALVES: [&str; 4] = ["", ".INVALIDSIZE1", ".H1", ".INVALIDSIZE3"];

    /// Width of the selector in bits.
    pub const fn bits(self) -> u8 {
        match self {
            PartKind::Sign => 0,
            PartKind::Half => 1,
            PartKind::Byte
            | PartKind::Sized
            | PartKind::WholeOrHalf
            | PartKind::Halves
            | PartKind::HalfOfTwo
            | PartKind::AddendHalf => 2,
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

impl OperandSlot {
    /// Whether the part follows the bars of the absolute value, where the guest has such parts. It
    /// does in a register, except in conversions.
    pub(super) fn part_behind_bars(&self) -> bool {
        let converted = self.attributes.part.is_some_and(|part| part.kind == PartKind::HalfOfTwo);
        !converted && matches!(self.location, Location::Register { .. })
    }
}

/// A modifier of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSlot<F> {
    pub field: F,
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
pub enum Piece<F> {
    /// A range of bytes of the format.
    Text {
        start: u16,
        end: u16,
    },
    Field(FieldSlot<F>),
    Operand(OperandSlot),
    /// The phase of a texture instruction.
    Phase,
}

/// Models of GPUs by the number in their name, as 75 in `sm_75`: from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Models {
    pub first: u8,
    pub last: u8,
}

impl Models {
    pub const ALL: Models = Models { first: 0, last: u8::MAX };

    pub const fn contain(self, model: u8) -> bool {
        self.first <= model && model <= self.last
    }
}

/// One encoding of an instruction.
#[derive(Debug)]
pub struct Row<G: Guest> {
    pub opcode: G::Opcode,
    pub fidelity: Fidelity,
    /// Lifts the instruction to IR; none if it is not implemented.
    pub lift: Option<G::Lift>,
    /// The models that have the encoding.
    pub models: Models,
    /// The bits that distinguish this encoding, and their values.
    pub mask: u128,
    pub bits: u128,
    /// Masks and values of words that this encoding excludes.
    pub exclusions: &'static [(u128, u128)],
    /// Of these bits, if there are any, exactly one is set.
    pub one_of: u128,
    pub format: &'static str,
    pub pieces: &'static [Piece<G::Field>],
}

impl<G: Guest> Row<G> {
    /// Whether the instruction has a guard.
    pub const fn guarded(&self) -> bool {
        self.format.as_bytes()[0] != b'*'
    }

    /// Whether the guard is a uniform predicate.
    pub const fn uniform_guard(&self) -> bool {
        self.format.as_bytes()[0] == b'^'
    }

    pub const fn matches(&self, word: u128) -> bool {
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
        self.one_of == 0 || (word & self.one_of).is_power_of_two()
    }

    /// Returns a word of this encoding, with the other bits from `random`. The word may be
    /// excluded, or belong to a more specific row.
    pub const fn word(&self, random: u128) -> u128 {
        self.bits | random & !self.mask
    }

    pub fn fields(&self) -> impl Iterator<Item = FieldSlot<G::Field>> {
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

/// Expands to a row of the guest's table. The brackets hold what the encodings of a format have in
/// common; the parts make up the encoding. The guest's crate has `LANGUAGE` and a module `table`.
#[macro_export]
#[expect(clippy::crate_in_macro_def, reason = "the language and the opcodes are the guest's")]
macro_rules! row {
    ([$opcode:ident $fidelity:tt $format:expr] $($part:literal)+) => {{
        const FORMAT: &str = $format;
        const ENCODING: &str = concat!($($part),+);
        const PATTERN: (u128, u128) = crate::LANGUAGE.pattern(ENCODING);
        crate::table::Row {
            opcode: crate::table::Opcode::$opcode,
            fidelity: fidelity!($fidelity),
            lift: lift!($fidelity),
            models: $crate::notation::models(ENCODING),
            mask: PATTERN.0,
            bits: PATTERN.1,
            exclusions: &const {
                crate::LANGUAGE
                    .exclusions::<{ crate::LANGUAGE.exclusion_count(ENCODING) }>(ENCODING)
            },
            one_of: $crate::notation::one_of(ENCODING),
            format: FORMAT,
            pieces: &const {
                crate::LANGUAGE
                    .pieces::<{ $crate::notation::piece_count(FORMAT) }>(FORMAT, ENCODING)
            },
        }
    }};
}

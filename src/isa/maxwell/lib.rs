//! NVIDIA Maxwell SASS (sm_50, with the additions of sm_52 and sm_53): instruction table, decoder,
//! disassembler, lifter.
//!
//! Code is a sequence of 32-byte bundles: one control word, then three 64-bit instructions. A
//! control word has three times 21 bits (see [`warploom_sass::control`]). [`table`] defines the
//! encodings; [`warploom_sass::notation`] explains their notation.

#[macro_use]
extern crate warploom_guest;
#[macro_use]
extern crate warploom_sass;

use warploom_sass::notation::{Language, words};
use warploom_sass::row::{ImmKind, Location};
use warploom_sass::{FieldInfo, Guest, Table};

pub mod arrays;
pub mod code;
pub mod driver;
pub mod field;
pub mod header;
pub mod instruction;
pub mod lift;
pub mod listing;
pub mod sampler;
pub mod special;
pub mod table;

pub use instruction::{BUNDLE_BYTES, Instruction, WORD_BYTES, past_control};
pub use table::{Opcode, Row};
pub use warploom_guest::fidelity::Fidelity;
pub use warploom_sass::row;
pub use warploom_sass::text;
pub use warploom_sass::{Address, AssembleError, Part, Pred, Reg, Role, Source, Value};

/// The instruction set, for the kit of tables.
#[derive(Clone, Copy, Debug)]
pub struct Maxwell;

impl Guest for Maxwell {
    type Opcode = Opcode;
    type Field = field::Field;
    type Lift = lift::Lift;

    const GUARD: u8 = 16;
    const WORD_BYTES: u64 = WORD_BYTES;
    const SHOWS_DESCRIPTORS: u8 = u8::MAX;
    const LOW_TARGET: Option<(u8, u8)> = None;
    const PART_BEHIND_BARS: bool = false;
    const SHOWS_SIGNALLING: bool = false;
    const SHOWS_ZERO_BASE: bool = false;

    fn table() -> &'static Table<Self> {
        &table::TABLE
    }

    fn info(field: field::Field) -> &'static FieldInfo {
        field.info()
    }

    fn special_register(number: u8, _: u8) -> Option<&'static str> {
        special::SpecialRegister(number).name()
    }

    fn has_reuse_slots(word: u128) -> bool {
        // Only arithmetic units have the cache; in other instructions the bits mean something else
        // or nothing.
        word >> 63 == 0
    }
}

/// Returns the word whose text at `pc` is `text`. Branch targets are numbers.
///
/// # Errors
/// No word has this text.
pub fn assemble(text: &str, pc: u64) -> Result<u64, AssembleError> {
    warploom_sass::assemble::<Maxwell>(text, pc, 53).map(|word| word as u64)
}

const fn short(kind: ImmKind) -> Location {
    Location::Imm20(kind)
}

const fn long(kind: ImmKind) -> Location {
    Location::Imm32 { lo: 20, kind }
}

/// The language of the table's lines:
///
/// | | |
/// |---|---|
/// | `c` | a constant: signed word offset in bits 20 to 33, bank in bits 34 to 38 |
/// | `w` | a constant: signed byte offset in bits 20 to 35, bank in bits 36 to 40 |
/// | `i`, `f`, `d` | a 20-bit immediate (bits 20 to 38 and 56): integer, top of F32, top of F64 |
/// | `b` | a 20-bit immediate integer as `i`, printed as 20 unsigned bits |
/// | `h` | an F16 in bits 20 to 35 |
/// | `x` | two F16, top 10 bits of each: low in bits 20 to 29, high in bits 30 to 38 and 56 |
/// | `i32`, `b32` | a 32-bit immediate in bits 20 to 51: integer, integer printed unsigned |
/// | `f32`, `x32` | a 32-bit immediate in bits 20 to 51: F32, two F16 |
/// | `k` | constant memory: bank in 5 bits from bit 36, signed offset in 16 bits from bit 20 |
/// | `t` | a branch target: 24 bits from bit 20, signed, relative to the next word |
/// | `t32` | a branch target: 32 bits from bit 20, absolute |
pub(crate) const LANGUAGE: Language<field::Field> = Language {
    words: words(field::Field::LIST),
    usual: &[
        (Role::D, Location::Register { lo: 0 }),
        (Role::A, Location::Register { lo: 8 }),
        (Role::C, Location::Register { lo: 39 }),
        (Role::Pd, Location::predicate(3)),
        (Role::Pe, Location::predicate(0)),
        (Role::Ps, Location::predicate(39)),
        (Role::T, Location::Target { lo: 20, width: 24, scale: 1 }),
        (Role::E, Location::Register { lo: 28 }),
    ],
    locations: &[
        ("c", Location::Constant { offset: 20, width: 14, scale: 4, bank: 34, descriptor: None }),
        ("w", Location::Constant { offset: 20, width: 16, scale: 1, bank: 36, descriptor: None }),
        ("i", short(ImmKind::Int)),
        ("b", short(ImmKind::Bits)),
        ("f", short(ImmKind::F32)),
        ("d", short(ImmKind::F64)),
        ("x", short(ImmKind::Halves)),
        ("h", Location::ImmF16 { lo: 20 }),
        ("i32", long(ImmKind::Int)),
        ("b32", long(ImmKind::Bits)),
        ("f32", long(ImmKind::F32)),
        ("x32", long(ImmKind::Halves)),
        (
            "k",
            Location::ConstMemory {
                bank: 36,
                base: 8,
                offset: 20,
                width: 16,
                descriptor: None,
                uniform_base: false,
            },
        ),
        ("t32", Location::AbsoluteTarget { lo: 20, width: 32, scale: 1, signed: false }),
    ],
    bits: 64,
};

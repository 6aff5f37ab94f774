//! NVIDIA SASS of Turing, Ampere and Ada (sm_75, sm_80, sm_86, sm_89): instruction table, decoder,
//! disassembler, assembler. No instruction is executed yet.
//!
//! Code is a sequence of 128-bit instructions, each with its scheduling ([`warploom_sass::control`]). [`table`]
//! defines the encodings; [`warploom_sass::notation`] explains their notation.

#[macro_use]
extern crate warploom_guest;

use warploom_sass::notation::{Language, words};
use warploom_sass::row::{ImmKind, Location, Memory, OperandSlot, Role};
use warploom_sass::{FieldInfo, Guest, Table};

pub mod field;
pub mod instruction;
pub mod special;
pub mod table;

pub use field::Field;
pub use instruction::Instruction;
pub use table::Opcode;

/// Bytes of an instruction word.
pub const WORD_BYTES: u64 = 16;

/// The instruction set, for the kit.
#[derive(Clone, Copy, Debug)]
pub struct Turing;

/// The function that makes IR of an instruction.
pub type Lift = fn();

impl Guest for Turing {
    type Opcode = Opcode;
    type Field = Field;
    type Lift = Lift;

    const GUARD: u8 = 12;
    const WORD_BYTES: u64 = WORD_BYTES;
    const PART_BEHIND_BARS: bool = true;
    const SHOWS_SIGNALLING: bool = true;
    const SHOWS_ZERO_BASE: bool = true;

    fn table() -> &'static Table<Self> {
        &table::TABLE
    }

    fn info(field: Field) -> &'static FieldInfo {
        field.info()
    }

    fn special_register(number: u8, model: u8) -> Option<&'static str> {
        special::name(number, model)
    }

    fn reuse_slot(word: u128, operand: &OperandSlot) -> Option<u8> {
        operand.attributes.reuse_slot.or(match operand.role {
            // Operations with bit 8 set do not have the cache.
            _ if word >> 8 & 1 != 0 => None,
            Role::A => Some(0),
            Role::B => Some(1),
            Role::C => Some(2),
            _ => None,
        })
    }
}

const fn imm(kind: ImmKind) -> Location {
    Location::Imm32 { lo: 32, kind }
}

const MEMORY: Memory = Memory { base: Some(24), offset: 40, width: 24, ..Memory::AT_REGISTER };

/// Attribute memory.
const ATTRIBUTE: Memory = Memory { width: 11, attribute: true, ..MEMORY };
/// Attribute memory that the rasteriser interpolates.
const INTERPOLATED: Memory =
    Memory { base: None, offset: 64, width: 8, scale: 4, attribute: true, ..MEMORY };
/// The shared memory that LDGSTS stores to, and the global memory that it loads from.
const STORED: Memory = Memory { base: Some(16), offset: 44, width: 20, ..MEMORY };
const LOADED: Memory = Memory { offset: 32, width: 12, wide: Some(70), ..MEMORY };
/// ULDC's address.
const ABSOLUTE: Memory = Memory { base: None, offset: 38, width: 32, ..MEMORY };

/// Memory with a descriptor.
const fn described(wide: Option<u8>, descriptor: u8) -> Location {
    Location::Memory(Memory { wide, descriptor: Some(descriptor), shown: Some(101), ..MEMORY })
}

/// A constant whose offset is in units of 4 bytes.
const CONSTANT: Location =
    Location::Constant { offset: 40, width: 14, scale: 4, bank: 54, uniform: None };
const BYTE_CONSTANT: Location =
    Location::Constant { offset: 38, width: 16, scale: 1, bank: 54, uniform: None };

/// The language of the table's lines. `c` is a constant, `cx` one of a descriptor's bank, `cb` and
/// `cxb` these with an offset in bytes. `i` is a signed immediate, `b` an unsigned one, `f`, `d`,
/// `x`, `y` one of F32, the top of F64, two F16, two BF16. `m` is memory; after it `u32`, `u64`: a
/// uniform register in these bits is added, `f`: the register has a factor, `w`: it may be wide,
/// `d`: the uniform register has a descriptor, `l`: the offset has 32 bits. `k` is constant memory,
/// `a` attribute memory. `t`, `ts`, `tr`, `ta` are branch targets.
pub(crate) const LANGUAGE: Language<Field> = Language {
    words: words(Field::LIST),
    usual: &[
        (Role::D, Location::Register { lo: 16 }),
        (Role::A, Location::Register { lo: 24 }),
        (Role::C, Location::Register { lo: 64 }),
        (Role::Pd, Location::Predicate { lo: 81 }),
        (Role::Pe, Location::Predicate { lo: 84 }),
        (Role::Ps, Location::Predicate { lo: 87 }),
        (Role::Pt, Location::Predicate { lo: 77 }),
        (Role::Pa, Location::Predicate { lo: 87 }),
        (Role::T, Location::Target { lo: 34, width: 48, scale: 4 }),
        (Role::M, Location::Memory(MEMORY)),
    ],
    locations: &[
        ("c", CONSTANT),
        ("cx", Location::Constant { offset: 40, width: 14, scale: 4, bank: 54, uniform: Some(32) }),
        ("cb", BYTE_CONSTANT),
        (
            "cxb",
            Location::Constant { offset: 38, width: 16, scale: 1, bank: 54, uniform: Some(24) },
        ),
        ("i", imm(ImmKind::Int)),
        ("b", imm(ImmKind::Bits)),
        ("f", imm(ImmKind::F32)),
        ("d", imm(ImmKind::F64)),
        ("x", imm(ImmKind::Halves)),
        ("h", Location::ImmF16 { lo: 32 }),
        ("y", imm(ImmKind::Brains)),
        ("ts", Location::Target { lo: 34, width: 30, scale: 4 }),
        ("tr", Location::AbsoluteTarget { lo: 34, width: 48, scale: 4, signed: true }),
        ("ta", Location::AbsoluteTarget { lo: 34, width: 47, scale: 4, signed: false }),
        ("m", Location::Memory(MEMORY)),
        ("mu32", Location::Memory(Memory { uniform: Some(32), ..MEMORY })),
        ("mu32n", Location::Memory(Memory { width: 0, uniform: Some(32), ..MEMORY })),
        ("mu64", Location::Memory(Memory { uniform: Some(64), ..MEMORY })),
        ("mf", Location::Memory(Memory { factor: Some(78), ..MEMORY })),
        ("mfu32", Location::Memory(Memory { factor: Some(78), uniform: Some(32), ..MEMORY })),
        ("mfu64", Location::Memory(Memory { factor: Some(78), uniform: Some(64), ..MEMORY })),
        ("mwu32", Location::Memory(Memory { wide: Some(90), uniform: Some(32), ..MEMORY })),
        ("mau", Location::Memory(Memory { wide: Some(70), uniform: Some(64), ..MEMORY })),
        ("al", Location::Memory(ATTRIBUTE)),
        ("a24", Location::Memory(Memory { width: 0, attribute: true, ..MEMORY })),
        ("alu", Location::Memory(Memory { base: None, uniform: Some(24), ..ATTRIBUTE })),
        ("ai", Location::Memory(INTERPOLATED)),
        ("aiu", Location::Memory(Memory { uniform: Some(24), ..INTERPOLATED })),
        ("md32", described(Some(90), 32)),
        ("md64", described(Some(90), 64)),
        ("ld32", described(None, 32)),
        ("ld64", described(None, 64)),
        ("mad", described(Some(70), 64)),
        ("mwu64", Location::Memory(Memory { wide: Some(90), uniform: Some(64), ..MEMORY })),
        ("ms", Location::Memory(STORED)),
        ("msu", Location::Memory(Memory { uniform: Some(64), ..STORED })),
        ("mg", Location::Memory(LOADED)),
        ("mgu", Location::Memory(Memory { uniform: Some(64), ..LOADED })),
        ("mgd", Location::Memory(Memory { descriptor: Some(64), shown: Some(101), ..LOADED })),
        ("ml", Location::Memory(Memory { offset: 32, width: 32, ..MEMORY })),
        ("ma", Location::Memory(ABSOLUTE)),
        ("mu24", Location::Memory(Memory { uniform: Some(24), ..ABSOLUTE })),
        (
            "k",
            Location::ConstMemory {
                bank: 54,
                base: 24,
                offset: 38,
                width: 16,
                uniform: None,
                uniform_base: false,
            },
        ),
        (
            "kx",
            Location::ConstMemory {
                bank: 54,
                base: 64,
                offset: 38,
                width: 16,
                uniform: Some(24),
                uniform_base: false,
            },
        ),
        (
            "ku",
            Location::ConstMemory {
                bank: 54,
                base: 24,
                offset: 38,
                width: 16,
                uniform: None,
                uniform_base: true,
            },
        ),
    ],
    bits: 128,
};

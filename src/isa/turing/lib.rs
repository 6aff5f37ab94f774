//! NVIDIA SASS of Turing, Ampere and Ada (sm_75, sm_80, sm_86, sm_89): instruction table, decoder,
//! disassembler, assembler and lifter. Code of Hopper (sm_90) is text only.
//!
//! Code is a sequence of 128-bit instructions, each with its scheduling
//! ([`warploom_sass::control`]). [`table`] defines the encodings; [`warploom_sass::notation`]
//! explains their notation.

#[macro_use]
extern crate warploom_guest;
#[macro_use]
extern crate warploom_sass;

use warploom_sass::notation::{Language, words};
use warploom_sass::row::{ImmKind, Location, Memory, Role};
use warploom_sass::{FieldInfo, Guest, Table};

pub mod check;
pub mod driver;
pub mod field;
pub mod instruction;
pub mod lift;
pub mod special;
pub mod table;

pub use field::Field;
pub use instruction::Instruction;
pub use table::Opcode;

/// Bytes of an instruction word.
pub const WORD_BYTES: u64 = 16;

/// Returns the word at an address, which is a multiple of its size, in code from address 0 on.
pub fn word_at(code: &[u8], pc: u64) -> Option<u128> {
    let at = usize::try_from(pc).ok().filter(|_| pc.is_multiple_of(WORD_BYTES))?;
    let bytes = code.get(at..)?.first_chunk()?;
    Some(u128::from_le_bytes(*bytes))
}

/// The instruction set, for the kit.
#[derive(Clone, Copy, Debug)]
pub struct Turing;

impl Guest for Turing {
    type Opcode = Opcode;
    type Field = Field;
    type Lift = lift::Lift;

    const GUARD: u8 = 12;
    const WORD_BYTES: u64 = WORD_BYTES;
    const SHOWS_DESCRIPTORS: u8 = 90;
    const LOW_TARGET: Option<(u8, u8)> = Some((90, 16));
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

    fn has_reuse_slots(word: u128) -> bool {
        word >> 8 & 1 == 0
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
const fn constant(descriptor: Option<u8>) -> Location {
    Location::Constant { offset: 40, width: 14, scale: 4, bank: 54, descriptor }
}

/// A constant whose offset is in bytes.
const fn byte_constant(descriptor: Option<u8>) -> Location {
    Location::Constant { offset: 38, width: 16, scale: 1, bank: 54, descriptor }
}

const fn const_memory(base: u8, descriptor: Option<u8>, uniform_base: bool) -> Location {
    Location::ConstMemory { bank: 54, base, offset: 38, width: 16, descriptor, uniform_base }
}

/// The language of the table's lines:
///
/// | | |
/// |---|---|
/// | `c`, `cx` | a constant, offset in words; of the bank of the descriptor in 32 to 37 |
/// | `cb`, `cxb` | a constant, offset in bytes; of the bank of the descriptor in 24 to 29 |
/// | `i`, `b` | a 32-bit immediate in 32 to 63: signed, unsigned |
/// | `f`, `d`, `x`, `y` | an immediate in 32 to 63: F32, top of F64, two F16, two BF16 |
/// | `h` | an F16 in 32 to 47 |
/// | `ts`, `tr`, `ta` | a branch target: relative in 30 bits; absolute, signed and unsigned |
/// | `m` | memory: register in 24 to 31, plus 24 bits from 40 |
/// | `ml` | as `m`, but plus 32 bits from 32 |
/// | `mu32`, `mu64` | as `m`, plus the uniform register in 32 to 37, in 64 to 69 |
/// | `mu32n` | as `mu32` without an offset |
/// | `mf`, `mfu32`, `mfu64` | as `m`, `mu32`, `mu64`, with a factor of the register in 78 and 79 |
/// | `mwu32`, `mwu64` | as `mu32`, `mu64`; bit 90 makes the register 64 bits wide |
/// | `mau` | as `mu64`; bit 70 makes the register 64 bits wide |
/// | `md32`, `md64`, `mad` | as `mwu32`, `mwu64`, `mau`; the uniform register has a descriptor |
/// | `ld32`, `ld64` | as `mu32`, `mu64`; the uniform register has a descriptor |
/// | `ms` | memory: register in 16 to 23, plus 20 bits from 44 |
/// | `msu` | as `ms`, plus the uniform register in 64 to 69 |
/// | `mg` | memory: register in 24 to 31, 64 bits wide by bit 70, plus 12 bits from 32 |
/// | `mgu`, `mgd` | as `mg`, plus the uniform register in 64 to 69; this has a descriptor |
/// | `ma24` | memory: uniform register in 24 to 29, plus 24 bits from 40 |
/// | `mb`, `mc` | memory: uniform register in 32 to 37, in 24 to 29 |
/// | `ma`, `mu24` | memory: 32 bits from 38; plus the uniform register in 24 to 29 |
/// | `k`, `ku` | constant memory: register in 24 to 31, uniform register in 24 to 29 |
/// | `kx` | constant memory of the bank of the descriptor in 24 to 29: register in 64 to 71 |
/// | `al` | attribute memory: register in 24 to 31, plus 11 bits from 40 |
/// | `alu` | attribute memory: uniform register in 24 to 29, plus 11 bits from 40 |
/// | `a24` | attribute memory: register in 24 to 31 |
/// | `ai`, `aiu` | attribute memory: 8 bits from 64, in words; plus the uniform register in 24 |
pub(crate) const LANGUAGE: Language<Field> = Language {
    words: words(Field::LIST),
    usual: &[
        (Role::D, Location::Register { lo: 16 }),
        (Role::A, Location::Register { lo: 24 }),
        (Role::C, Location::Register { lo: 64 }),
        (Role::Pd, Location::predicate(81)),
        (Role::Pe, Location::predicate(84)),
        (Role::Ps, Location::predicate(87)),
        (Role::Pt, Location::predicate(77)),
        (Role::Pa, Location::predicate(87)),
        (Role::T, Location::Target { lo: 34, width: 48, scale: 4 }),
        (Role::M, Location::Memory(MEMORY)),
    ],
    locations: &[
        ("c", constant(None)),
        ("cx", constant(Some(32))),
        ("cb", byte_constant(None)),
        ("cxb", byte_constant(Some(24))),
        ("i", imm(ImmKind::Int)),
        ("b", imm(ImmKind::Bits)),
        ("f", imm(ImmKind::F32)),
        ("d", imm(ImmKind::F64)),
        ("x", imm(ImmKind::Halves)),
        ("y", imm(ImmKind::Brains)),
        ("h", Location::ImmF16 { lo: 32 }),
        ("ts", Location::Target { lo: 34, width: 30, scale: 4 }),
        ("tr", Location::AbsoluteTarget { lo: 34, width: 48, scale: 4, signed: true }),
        ("ta", Location::AbsoluteTarget { lo: 34, width: 47, scale: 4, signed: false }),
        ("ml", Location::Memory(Memory { offset: 32, width: 32, ..MEMORY })),
        ("mu32", Location::Memory(Memory { uniform: Some(32), ..MEMORY })),
        ("mu64", Location::Memory(Memory { uniform: Some(64), ..MEMORY })),
        ("mu32n", Location::Memory(Memory { width: 0, uniform: Some(32), ..MEMORY })),
        ("mf", Location::Memory(Memory { factor: Some(78), ..MEMORY })),
        ("mfu32", Location::Memory(Memory { factor: Some(78), uniform: Some(32), ..MEMORY })),
        ("mfu64", Location::Memory(Memory { factor: Some(78), uniform: Some(64), ..MEMORY })),
        ("mwu32", Location::Memory(Memory { wide: Some(90), uniform: Some(32), ..MEMORY })),
        ("mwu64", Location::Memory(Memory { wide: Some(90), uniform: Some(64), ..MEMORY })),
        ("mau", Location::Memory(Memory { wide: Some(70), uniform: Some(64), ..MEMORY })),
        ("md32", described(Some(90), 32)),
        ("md64", described(Some(90), 64)),
        ("mad", described(Some(70), 64)),
        ("ld32", described(None, 32)),
        ("ld64", described(None, 64)),
        ("ms", Location::Memory(STORED)),
        ("msu", Location::Memory(Memory { uniform: Some(64), ..STORED })),
        ("mg", Location::Memory(LOADED)),
        ("mgu", Location::Memory(Memory { uniform: Some(64), ..LOADED })),
        ("mgd", Location::Memory(Memory { descriptor: Some(64), shown: Some(101), ..LOADED })),
        ("ma24", Location::Memory(Memory { base: None, uniform: Some(24), ..MEMORY })),
        ("mb", Location::Memory(Memory { uniform: Some(32), ..Memory::AT_REGISTER })),
        ("mc", Location::Memory(Memory { uniform: Some(24), ..Memory::AT_REGISTER })),
        ("ma", Location::Memory(ABSOLUTE)),
        ("mu24", Location::Memory(Memory { uniform: Some(24), ..ABSOLUTE })),
        ("k", const_memory(24, None, false)),
        ("kx", const_memory(64, Some(24), false)),
        ("ku", const_memory(24, None, true)),
        ("al", Location::Memory(ATTRIBUTE)),
        ("a24", Location::Memory(Memory { width: 0, attribute: true, ..MEMORY })),
        ("alu", Location::Memory(Memory { base: None, uniform: Some(24), ..ATTRIBUTE })),
        ("ai", Location::Memory(INTERPOLATED)),
        ("aiu", Location::Memory(Memory { uniform: Some(24), ..INTERPOLATED })),
    ],
    bits: 128,
};

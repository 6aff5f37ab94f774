//! The notation of the instruction table, read at compile time.
//!
//! A mistake in a line is a compile error. A line consists of a variant of `Opcode`, its fidelity
//! with its lift function, a *signature*, and the opcode numbers:
//!
//! ```text
//! /// Sum.
//! VAddF32 (exact vector_float::v_add_f32) "v_add_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x01 }
//! ```
//!
//! **Signature**: the mnemonic without the suffix of the encoding, the operands in the order of the
//! text, and after `;` the [`Modifiers`] in small letters. An operand is a [`Role`] in small
//! letters and, if it is read or written, an [`OperandType`] in small letters. A float operand
//! can be negated and made absolute. `|` behind another type allows both modifiers too. `~` makes
//! the negation bit of VOP3 a sign extension.
//!
//! **Opcode numbers**: a [`Format`] in small letters and the number in it. VOP3 (`e64`), `sdwa` and
//! `dpp` come with VOP1, VOP2 and VOPC if the operands fit. `- e64`, `- sdwa` and `- dpp` each
//! remove one of these encodings.

use warploom_guest::words::Words;

use super::row::{Format, Modifiers, OperandType, Role, Slot, SourceModifiers, Without};

static ROLES: Words<Role> = Words::of(&[
    ("vdst", Role::Vdst),
    ("sdst", Role::Sdst),
    ("src0", Role::Src0),
    ("src1", Role::Src1),
    ("src2", Role::Src2),
    ("vsrc0", Role::Vsrc0),
    ("vsrc2", Role::Vsrc2),
    ("ssrc0", Role::Ssrc0),
    ("ssrc1", Role::Ssrc1),
    ("sreg0", Role::Sreg0),
    ("vcc", Role::Vcc),
    ("k", Role::K),
    ("simm16", Role::Simm16),
    ("optional_simm16", Role::OptionalSimm16),
    ("label", Role::Label),
    ("hwreg", Role::Hwreg),
    ("waitcnt", Role::Waitcnt),
    ("message", Role::Message),
    ("gpr_idx", Role::GprIdx),
    ("gpr_idx_mode", Role::GprIdxMode),
    ("parameter", Role::Parameter),
    ("attribute", Role::Attribute),
    ("sdata", Role::Sdata),
    ("probe", Role::Probe),
    ("sbase", Role::Sbase),
    ("offset", Role::Offset),
    ("addr", Role::Addr),
    ("data0", Role::Data0),
    ("data1", Role::Data1),
    ("vaddr", Role::Vaddr),
    ("vdata", Role::Vdata),
    ("saddr", Role::Saddr),
    ("srsrc", Role::Srsrc),
    ("soffset", Role::Soffset),
    ("ssamp", Role::Ssamp),
    ("export", Role::Export),
]);

static TYPES: Words<OperandType> = Words::of(&[
    ("b16", OperandType::B16),
    ("i16", OperandType::I16),
    ("u16", OperandType::U16),
    ("f16", OperandType::F16),
    ("b32", OperandType::B32),
    ("i32", OperandType::I32),
    ("u32", OperandType::U32),
    ("f32", OperandType::F32),
    ("b64", OperandType::B64),
    ("i64", OperandType::I64),
    ("u64", OperandType::U64),
    ("f64", OperandType::F64),
    ("v2b16", OperandType::V2B16),
    ("v2i16", OperandType::V2I16),
    ("v2u16", OperandType::V2U16),
    ("v2f16", OperandType::V2F16),
    ("mask", OperandType::Mask),
    ("b96", OperandType::B96),
    ("b128", OperandType::B128),
    ("b256", OperandType::B256),
    ("b512", OperandType::B512),
]);

static FORMATS: Words<Format> = Words::of(&[
    ("sop2", Format::Sop2),
    ("sopk", Format::Sopk),
    ("sop1", Format::Sop1),
    ("sopc", Format::Sopc),
    ("sopp", Format::Sopp),
    ("smem", Format::Smem),
    ("vop2", Format::Vop2),
    ("vop1", Format::Vop1),
    ("vopc", Format::Vopc),
    ("vop3", Format::Vop3),
    ("vop3p", Format::Vop3p),
    ("vintrp", Format::Vintrp),
    ("ds", Format::Ds),
    ("flat", Format::Flat),
    ("global", Format::Global),
    ("scratch", Format::Scratch),
    ("mubuf", Format::Mubuf),
    ("mtbuf", Format::Mtbuf),
    ("mimg", Format::Mimg),
    ("exp", Format::Exp),
]);

static MODIFIERS: Words<Modifiers> = Words::of(&Modifiers::NAMES);

/// Returns the format of a name.
pub const fn format(name: &str) -> Format {
    named(name.as_bytes(), &FORMATS)
}

/// Returns the encodings that a line removes.
pub const fn without(names: &[&str]) -> Without {
    let mut without = Without { e64: false, sdwa: false, dpp: false };
    let mut i = 0;
    while i < names.len() {
        match names[i].as_bytes() {
            b"e64" => without.e64 = true,
            b"sdwa" => without.sdwa = true,
            b"dpp" => without.dpp = true,
            _ => panic!("expected e64, sdwa or dpp"),
        }
        i += 1;
    }
    without
}

/// Returns the mnemonic of a signature.
pub const fn mnemonic(signature: &'static str) -> &'static str {
    let mut cursor = Cursor { bytes: signature.as_bytes(), at: 0 };
    cursor.word();
    signature.split_at(cursor.at).0
}

/// Returns the number of operands of a signature.
pub(crate) const fn slot_count(signature: &str) -> usize {
    let bytes = signature.as_bytes();
    let (mut count, mut i) = (0, 0);
    while i < bytes.len() && bytes[i] != b';' {
        count += (bytes[i] == b' ') as usize;
        i += 1;
    }
    count
}

/// Returns the operands of a signature.
pub const fn slots<const N: usize>(signature: &str) -> [Slot; N] {
    let mut cursor = Cursor { bytes: signature.as_bytes(), at: 0 };
    cursor.word();
    let mut slots =
        [Slot { role: Role::K, ty: OperandType::Varies, modifiers: SourceModifiers::None }; N];
    let mut n = 0;
    while let Some(slot) = cursor.slot() {
        slots[n] = slot;
        n += 1;
    }
    assert!(n == N, "an operand is a role and a type");
    slots
}

/// Returns the modifiers of a signature.
pub const fn modifiers(signature: &str) -> Modifiers {
    let mut cursor = Cursor { bytes: signature.as_bytes(), at: 0 };
    while cursor.at < cursor.bytes.len() && cursor.bytes[cursor.at] != b';' {
        cursor.at += 1;
    }
    let mut set = 0;
    if cursor.take(b';') {
        while cursor.take(b' ') {
            set |= named(cursor.word(), &MODIFIERS).0;
        }
    }
    assert!(cursor.at == cursor.bytes.len(), "expected the end of the signature");
    Modifiers(set)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    const fn take(&mut self, byte: u8) -> bool {
        let found = self.at < self.bytes.len() && self.bytes[self.at] == byte;
        self.at += found as usize;
        found
    }

    /// Takes a word of letters, digits and `_`.
    const fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.at < self.bytes.len()
            && (self.bytes[self.at].is_ascii_alphanumeric() || self.bytes[self.at] == b'_')
        {
            self.at += 1;
        }
        self.bytes.split_at(self.at).0.split_at(start).1
    }

    /// Takes an operand: `, role:type` and a mark.
    const fn slot(&mut self) -> Option<Slot> {
        self.take(b',');
        if !self.take(b' ') {
            return None;
        }
        let role = named(self.word(), &ROLES);
        let ty = if self.take(b':') { named(self.word(), &TYPES) } else { OperandType::Varies };
        let modifiers = if self.take(b'~') {
            SourceModifiers::Sext
        } else if self.take(b'|') || ty.is_float() {
            SourceModifiers::Float
        } else {
            SourceModifiers::None
        };
        Some(Slot { role, ty, modifiers })
    }
}

const fn named<T: Copy>(name: &[u8], words: &Words<T>) -> T {
    match words.get(name) {
        Some(meaning) => meaning,
        None => panic!("a word of the line is unknown"),
    }
}

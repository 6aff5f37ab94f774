//! A line of the instruction table, and the small language it is written in.
//!
//! A line has a *format*, shared by the encodings of one instruction, and an *encoding*. Both are
//! read at compile time; a mistake in a line is a compile error.
//!
//! **Encoding**: the bits from bit 63 down, as `0`, `1` and `-` (any), with spaces and underscores
//! at will. Omitted bits at the low end are any. Then come *bindings* `role=location attributes`,
//! which state where this encoding holds an operand that the format leaves open, and *constraints*.
//! A constraint `@lo=bits` gives further fixed bits, the highest first; the lowest is bit `lo`.
//! With `@lo#bits`, a word that has these bits is no instruction.
//!
//! **Format**: the text after the guard as it is printed, with placeholders in braces. After a
//! placeholder that prints nothing, a following `, ` is omitted, as are commas and spaces at the
//! end. A format that starts with `*` belongs to an instruction without a guard.
//!
//! | placeholder | prints |
//! |---|---|
//! | `{field@lo}` | the value of the field of this name ([`super::field`]), lowest bit `lo` |
//! | `{field@lo:n}` | a field of `n` bits, for a number or a field narrower than its type |
//! | `{field@lo:n+hi:k}` | a field of `n` bits, with `k` bits (default one) from bit `hi` on top |
//! | `{field@lo ?}` | nothing: the field is only read |
//! | `{phase}` | the phase of a texture instruction, which the control word holds |
//! | `{role}` | the operand at its usual location, or at the location that the encoding binds |
//! | `{role=location attributes}` | the operand at this location |
//!
//! The roles are the names of [`Role`] in small letters. A *location* is
//!
//! | | |
//! |---|---|
//! | `r8` | a register, whose number is in the 8 bits from bit 8 |
//! | `n20+1` | the register 1 after the register in 8 bits from bit 20; past the last: `???255` |
//! | `z` | RZ, without bits |
//! | `p39` | a predicate, in the 3 bits from bit 39 |
//! | `q30` | a predicate with its bits inverted: 0 is PT, 7 is P0 |
//! | `c` | a constant: signed word offset in bits 20 to 33, bank in bits 34 to 38 |
//! | `i`, `f`, `d` | a 20-bit immediate (bits 20 to 38 and 56): integer, top of F32, top of F64 |
//! | `b` | a 20-bit immediate integer as `i`, printed as 20 unsigned bits |
//! | `u20:16`, `s20:16` | an unsigned, a signed immediate, here 16 bits from bit 20 |
//! | `h` | an F16 in bits 20 to 35 |
//! | `x` | two F16, top 10 bits of each: low in bits 20 to 29, high in bits 30 to 38 and 56 |
//! | `i32`, `b32` | a 32-bit immediate in bits 20 to 51: integer, integer printed unsigned |
//! | `f32`, `x32` | a 32-bit immediate in bits 20 to 51: F32, two F16 |
//! | `w` | a constant: signed byte offset in bits 20 to 35, bank in bits 36 to 40 |
//! | `m8+20:24` | memory: register in bits 8 to 15 plus a signed offset of 24 bits from bit 20 |
//! | `m8+22:30*4` | as above, in units of 4 bytes; with `*0` an unsigned offset in bytes |
//! | `m8` | memory at the register, without an offset |
//! | `k36+20:16` | constant memory: bank in 5 bits from bit 36, address as in `m8+20:16` |
//! | `t` | a branch target: 24 bits from bit 20, signed, relative to the next word |
//! | `t32` | a branch target: 32 bits from bit 20, absolute |
//!
//! The *attributes* are separated by spaces, each with the bit that holds it: `-` negated, `|`
//! absolute value, `~` complemented, `!` (negated predicate), or a part. The part `.H` is the upper
//! half (1 bit), `.B` a byte (2 bits), `.S` a part in units of the integer type in bits 10 and 11
//! (2 bits), `.P` a half or the whole (2 bits), `.F` both F16, one of them or an F32 (2 bits), `.V`
//! a part as in [`super::field::VideoType`] (3 bits). Two attributes have no bit: `?` omits the
//! operand from the text if it is PT, RZ or 0; `%2` gives the operand slot 2 of the reuse cache,
//! not the usual slot (A 0, B 1, C 2).

use warploom_guest::words::Words;

use super::field::Field;
use super::row::{
    Attributes, FieldSlot, ImmKind, Location, OperandSlot, PartKind, PartSlot, Piece, Role,
};

/// The referent of a placeholder's name.
#[derive(Clone, Copy)]
enum Word {
    Role(Role),
    Field(Field),
    Phase,
}

static WORDS: Words<Word> = {
    let mut words = Words::NONE;
    words.add("phase", Word::Phase);
    let mut i = 0;
    while i < Role::NAMES.len() {
        let (name, role) = Role::NAMES[i];
        words.add(name, Word::Role(role));
        i += 1;
    }
    let mut i = 0;
    while i < Field::ALL.len() {
        words.add(Field::ALL[i].info().name, Word::Field(Field::ALL[i]));
        i += 1;
    }
    words
};

/// Returns the mask and bits of an encoding.
pub const fn pattern(encoding: &str) -> (u64, u64) {
    let mut cursor = Cursor::new(encoding);
    let (mut mask, mut bits, mut next) = (0u64, 0u64, 64u32);
    while let Some(byte) = cursor.peek() {
        match byte {
            b'0' | b'1' | b'-' => {
                assert!(next > 0, "an encoding has 64 bits");
                next -= 1;
                if byte != b'-' {
                    mask |= 1 << next;
                    bits |= ((byte - b'0') as u64) << next;
                }
            }
            b' ' | b'_' => {}
            _ => break,
        }
        cursor.at += 1;
    }
    while let Some(constraint) = cursor.constraint() {
        if !constraint.excluded {
            assert!(mask & constraint.mask == 0, "a constraint fixes a bit that is fixed already");
            mask |= constraint.mask;
            bits |= constraint.bits;
        }
    }
    (mask, bits)
}

/// Returns the number of exclusions of an encoding.
pub(crate) const fn exclusion_count(encoding: &str) -> usize {
    let mut cursor = Cursor::behind_bits(encoding);
    let mut count = 0;
    while let Some(constraint) = cursor.constraint() {
        count += constraint.excluded as usize;
    }
    count
}

/// Returns masks and values that an encoding excludes.
pub const fn exclusions<const N: usize>(encoding: &str) -> [(u64, u64); N] {
    let mut cursor = Cursor::behind_bits(encoding);
    let mut out = [(0, 0); N];
    let mut n = 0;
    while let Some(constraint) = cursor.constraint() {
        if constraint.excluded {
            out[n] = (constraint.mask, constraint.bits);
            n += 1;
        }
    }
    out
}

/// A constraint `@lo=bits` or `@lo#bits`.
struct Constraint {
    excluded: bool,
    mask: u64,
    bits: u64,
}

/// Returns the number of pieces of a format.
pub(crate) const fn piece_count(format: &str) -> usize {
    let bytes = format.as_bytes();
    let (mut count, mut i, mut in_text) = (0, 0, false);
    while i < bytes.len() {
        if bytes[i] == b'{' {
            count += 1;
            in_text = false;
            while bytes[i] != b'}' {
                i += 1;
            }
        } else if !in_text {
            count += 1;
            in_text = true;
        }
        i += 1;
    }
    count
}

/// Returns the pieces of a format with the bindings of an encoding.
pub const fn pieces<const N: usize>(format: &str, encoding: &str) -> [Piece; N] {
    let mut out = [Piece::Text { start: 0, end: 0 }; N];
    let mut cursor = Cursor::new(format);
    let bindings = Cursor::behind_bits(encoding);
    let mut n = 0;
    while let Some(byte) = cursor.peek() {
        if byte == b'{' {
            cursor.at += 1;
            out[n] = placeholder(&mut cursor, bindings);
            cursor.expect(b'}');
        } else {
            let start = cursor.at as u16;
            while let Some(byte) = cursor.peek()
                && byte != b'{'
            {
                cursor.at += 1;
            }
            out[n] = Piece::Text { start, end: cursor.at as u16 };
        }
        n += 1;
    }
    out
}

const fn placeholder(cursor: &mut Cursor, bindings: Cursor) -> Piece {
    let field = match WORDS.get(cursor.name()) {
        Some(Word::Role(role)) => return Piece::Operand(operand(cursor, role, bindings)),
        Some(Word::Phase) => return Piece::Phase,
        Some(Word::Field(field)) => field,
        None => panic!("a placeholder names neither a role nor a field"),
    };
    cursor.expect(b'@');
    let lo = cursor.number();
    let bits = if let Some(b':') = cursor.peek() {
        cursor.at += 1;
        cursor.number()
    } else {
        field.info().bits
    };
    let (mut hi, mut hi_bits) = (0, 0);
    if cursor.accept(b'+') {
        hi = cursor.number();
        hi_bits = if cursor.accept(b':') { cursor.number() } else { 1 };
    }
    assert!(
        bits > 0 && lo as u32 + bits as u32 <= 64,
        "a number needs its width, as in {{name@lo:width}}"
    );
    let width = bits + hi_bits;
    let silent = cursor.accept(b' ') && cursor.accept(b'?');
    assert!(
        field.info().bits == 0 || width <= field.info().bits,
        "a field is at most as wide as its type"
    );
    Piece::Field(FieldSlot { field, lo, bits, hi, hi_bits, silent })
}

const fn operand(cursor: &mut Cursor, role: Role, mut bindings: Cursor) -> OperandSlot {
    let mut location = role.usual();
    let mut attributes = Attributes::NONE;
    if let Some(b'=') = cursor.peek() {
        cursor.at += 1;
        location = Some(cursor.location());
    }
    cursor.attributes(&mut attributes);
    if bindings.seek_binding(role) {
        location = Some(bindings.location());
        bindings.attributes(&mut attributes);
    }
    let Some(location) = location else { panic!("an operand has no location") };
    OperandSlot { role, location, attributes }
}

/// Reads the strings of a table line.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    const fn new(text: &'a str) -> Self {
        Cursor { bytes: text.as_bytes(), at: 0 }
    }

    /// Returns a cursor behind the bits of an encoding.
    const fn behind_bits(encoding: &'a str) -> Self {
        let mut cursor = Cursor::new(encoding);
        while cursor.at < cursor.bytes.len()
            && matches!(cursor.bytes[cursor.at], b'0' | b'1' | b'-' | b' ' | b'_')
        {
            cursor.at += 1;
        }
        cursor
    }

    const fn peek(&self) -> Option<u8> {
        if self.at < self.bytes.len() { Some(self.bytes[self.at]) } else { None }
    }

    const fn expect(&mut self, byte: u8) {
        assert!(
            matches!(self.peek(), Some(found) if found == byte),
            "unexpected character in a table line"
        );
        self.at += 1;
    }

    const fn accept(&mut self, byte: u8) -> bool {
        let found = matches!(self.peek(), Some(found) if found == byte);
        if found {
            self.at += 1;
        }
        found
    }

    const fn name(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'0'..=b'9' | b'_') = self.peek() {
            self.at += 1;
        }
        assert!(self.at > start, "a name is missing in a table line");
        self.bytes.split_at(self.at).0.split_at(start).1
    }

    const fn number(&mut self) -> u8 {
        let start = self.at;
        let mut number = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number * 10 + (digit - b'0');
            self.at += 1;
        }
        assert!(self.at > start, "a number is missing in a table line");
        number
    }

    /// Reads the next constraint of an encoding.
    const fn constraint(&mut self) -> Option<Constraint> {
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'@' {
                let lo = self.number() as u32;
                let excluded = self.accept(b'#');
                if !excluded {
                    self.expect(b'=');
                }
                let (mut width, mut bits) = (0, 0);
                while let Some(digit @ (b'0' | b'1')) = self.peek() {
                    bits = bits << 1 | (digit - b'0') as u64;
                    width += 1;
                    self.at += 1;
                }
                assert!(width > 0 && lo + width <= 64, "a constraint names bits of the word");
                return Some(Constraint {
                    excluded,
                    mask: u64::MAX >> (64 - width) << lo,
                    bits: bits << lo,
                });
            }
        }
        None
    }

    /// Moves behind `role=` in an encoding's bindings.
    const fn seek_binding(&mut self, role: Role) -> bool {
        while self.peek().is_some() {
            if let Some(b'a'..=b'z') = self.peek() {
                let name = self.name();
                if self.accept(b'=')
                    && matches!(WORDS.get(name), Some(Word::Role(found)) if found as u8 == role as u8)
                {
                    return true;
                }
            } else {
                self.at += 1;
            }
        }
        false
    }

    const fn location(&mut self) -> Location {
        let kind = self.peek();
        self.at += 1;
        let digits = matches!(self.peek(), Some(b'0'..=b'9'));
        match kind {
            Some(b'r') => Location::Register { lo: self.number() },
            Some(b'p') => Location::Predicate { lo: self.number() },
            Some(b'q') => Location::InvertedPredicate { lo: self.number() },
            Some(b'n') => {
                let lo = self.number();
                self.expect(b'+');
                Location::RegisterAfter { lo, plus: self.number() }
            }
            Some(b'z') => Location::Zero,
            Some(b'c') => Location::Constant,
            Some(b'w') => Location::ConstantWide,
            Some(b't') if digits => {
                assert!(self.number() == 32, "a branch target is relative or has 32 bits");
                Location::AbsoluteTarget
            }
            Some(b't') => Location::Target,
            Some(b'h') => Location::ImmF16,
            Some(sign @ (b'u' | b's')) => {
                let lo = self.number();
                self.expect(b':');
                Location::Short { lo, width: self.number(), signed: sign == b's' }
            }
            Some(kind @ (b'm' | b'k')) => {
                let first = self.number();
                if kind == b'm' && !matches!(self.peek(), Some(b'+')) {
                    return Location::Memory { base: first, offset: 0, width: 0, scale: 1 };
                }
                self.expect(b'+');
                let offset = self.number();
                self.expect(b':');
                let width = self.number();
                if kind == b'k' {
                    return Location::ConstMemory { bank: first, offset, width };
                }
                let scale = if self.accept(b'*') { self.number() } else { 1 };
                Location::Memory { base: first, offset, width, scale }
            }
            Some(kind @ (b'i' | b'b' | b'f' | b'd' | b'x')) => {
                let imm = match kind {
                    b'i' => ImmKind::Int,
                    b'b' => ImmKind::Bits,
                    b'f' => ImmKind::F32,
                    b'x' => ImmKind::Halves,
                    _ => ImmKind::F64,
                };
                if digits {
                    assert!(self.number() == 32, "an immediate is short or of 32 bits");
                    Location::Imm32(imm)
                } else {
                    Location::Imm20(imm)
                }
            }
            _ => panic!("unknown location in a table line"),
        }
    }

    const fn attributes(&mut self, out: &mut Attributes) {
        loop {
            let start = self.at;
            while self.accept(b' ') {}
            if self.accept(b'-') {
                out.neg = Some(self.number());
            } else if self.accept(b'|') {
                out.abs = Some(self.number());
            } else if self.accept(b'~') {
                out.inv = Some(self.number());
            } else if self.accept(b'!') {
                out.not = Some(self.number());
            } else if self.accept(b'%') {
                out.reuse_slot = Some(self.number());
            } else if self.accept(b'?') {
                out.optional = true;
            } else if self.accept(b'.') {
                let kind = match self.peek() {
                    Some(b'H') => PartKind::Half,
                    Some(b'B') => PartKind::Byte,
                    Some(b'S') => PartKind::Sized,
                    Some(b'P') => PartKind::WholeOrHalf,
                    Some(b'F') => PartKind::Halves,
                    Some(b'V') => PartKind::Video,
                    _ => panic!("unknown part in a table line"),
                };
                self.at += 1;
                out.part = Some(PartSlot { kind, lo: self.number() });
            } else {
                self.at = start;
                return;
            }
        }
    }
}

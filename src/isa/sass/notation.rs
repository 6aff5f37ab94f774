//! A line of an instruction table, and the small language it is written in.
//!
//! A line has a *format*, shared by the encodings of one instruction, and an *encoding*. Both are
//! read at compile time; a mistake in a line is a compile error.
//!
//! **Encoding**: the bits that distinguish it. Either the bits from the highest bit down, as `0`,
//! `1` and `-` (any), with spaces and underscores at will; omitted bits at the low end are any. Or
//! `o` and the low nine bits as three hexadecimal digits. Then come *bindings* `role=location
//! attributes`, which state where this encoding holds an operand that the format leaves open, and
//! *constraints*:
//!
//! | constraint | |
//! |---|---|
//! | `@lo=bits` | further fixed bits, the highest first; the lowest is bit `lo` |
//! | `@lo#bits` | a word that has these bits is no instruction |
//! | `@lo^n` | exactly one of the `n` bits from bit `lo` is set |
//! | `>=80`, `<=75` | the models that have the encoding |
//!
//! **Format**: the text after the guard as it is printed, with placeholders in braces. After a
//! placeholder that prints nothing, a following `, ` is omitted, as are commas and spaces at the
//! end. A format that starts with `*` belongs to an instruction without a guard, one that starts
//! with `^` to an instruction whose guard is a uniform predicate.
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
//! The roles are the names of [`Role`] in small letters. A *location* is one that the guest names
//! ([`Language::locations`]) or
//!
//! | | |
//! |---|---|
//! | `r8` | a register, whose number is in the 8 bits from bit 8 |
//! | `n20+1` | the register 1 after the register in 8 bits from bit 20; past the last: `???255` |
//! | `z` | RZ, without bits |
//! | `ur32` | a uniform register, whose number is in the 6 bits from bit 32 |
//! | `p39`, `up39` | a predicate, a uniform predicate, in the 3 bits from bit 39 |
//! | `q30`, `uq30` | a predicate with its bits inverted: 0 is PT, 7 is P0 |
//! | `cb16` | a convergence barrier, in the 4 bits from bit 16 |
//! | `m8+20:24` | memory: register in bits 8 to 15 plus a signed offset of 24 bits from bit 20 |
//! | `m8+22:30*4` | as above, in units of 4 bytes; with `*0` an unsigned offset in bytes |
//! | `m8` | memory at the register, without an offset |
//! | `u20:16`, `s20:16` | an unsigned, a signed immediate, here 16 bits from bit 20 |
//!
//! The *attributes* are separated by spaces, each with the bit that holds it: `-` negated, `|`
//! absolute value, `~` complemented, `!` (negated predicate), or a part. Two attributes have no
//! bit: `?` omits the operand from the text if it is PT, RZ or 0; `%2` gives the operand slot 2 of
//! the reuse cache, not the slot of its role.
//!
//! | part | bits | |
//! |---|---|---|
//! | `.H` | 1 | the upper half |
//! | `.B` | 2 | a byte |
//! | `.S` | 2 | a part in units of the integer type in bits 10 and 11 |
//! | `.P` | 2 | the whole or a half |
//! | `.F` | 2 | both F16, an F32, or one of the F16 |
//! | `.Q`, `.X` | 2 | a half; they differ in the text of reserved values |
//! | `.V` | 3 | a byte, a half or the whole |
//! | `.G0` | 0 | the sign |

use warploom_guest::words::Words;

use super::row::{
    Attributes, FieldSlot, Location, Memory, Models, OperandSlot, PartKind, PartSlot, Piece, Role,
};

/// The referent of a placeholder's name.
#[derive(Clone, Copy)]
pub enum Word<F> {
    Role(Role),
    /// A field with its width in bits, which is 0 if each line states it.
    Field(F, u8),
    Phase,
}

/// The words and usual locations of a guest.
pub struct Language<F: 'static> {
    pub words: Words<Word<F>>,
    /// The location of an operand whose line states no other.
    pub usual: &'static [(Role, Location)],
    /// Locations by name.
    pub locations: &'static [(&'static str, Location)],
    /// Bits of an instruction word.
    pub bits: u32,
}

/// Returns the words of a language: the roles, the phase and the fields with their widths.
pub const fn words<F: Copy>(fields: &[(&'static str, F, u8)]) -> Words<Word<F>> {
    let mut words = Words::NONE;
    words.add("phase", Word::Phase);
    let mut i = 0;
    while i < Role::NAMES.len() {
        let (name, role) = Role::NAMES[i];
        words.add(name, Word::Role(role));
        i += 1;
    }
    let mut i = 0;
    while i < fields.len() {
        let (name, field, bits) = fields[i];
        words.add(name, Word::Field(field, bits));
        i += 1;
    }
    words
}

impl<F: Copy> Language<F> {
    /// Returns the mask and bits of an encoding.
    pub const fn pattern(&self, encoding: &str) -> (u128, u128) {
        let mut cursor = Cursor::new(encoding);
        let (mut mask, mut bits) = (0u128, 0u128);
        if cursor.accept(b'o') {
            let mut digits = 0;
            while let Some(digit) = cursor.hex_digit() {
                bits = bits << 4 | digit as u128;
                digits += 1;
            }
            assert!(digits == 3 && bits < 1 << 9, "an operation has nine bits, as in `o010`");
            mask = (1 << 9) - 1;
        } else {
            let mut next = self.bits;
            while let Some(byte @ (b'0' | b'1' | b'-' | b' ' | b'_')) = cursor.peek() {
                if byte != b' ' && byte != b'_' {
                    assert!(next > 0, "an encoding has more bits than a word");
                    next -= 1;
                    if byte != b'-' {
                        mask |= 1 << next;
                        bits |= ((byte - b'0') as u128) << next;
                    }
                }
                cursor.at += 1;
            }
        }
        while let Some(constraint) = cursor.constraint(self.bits) {
            if !constraint.excluded {
                assert!(
                    mask & constraint.mask == 0,
                    "a constraint fixes a bit that is fixed already"
                );
                mask |= constraint.mask;
                bits |= constraint.bits;
            }
        }
        (mask, bits)
    }

    /// Returns the number of exclusions of an encoding.
    pub const fn exclusion_count(&self, encoding: &str) -> usize {
        let mut cursor = Cursor::behind_bits(encoding);
        let mut count = 0;
        while let Some(constraint) = cursor.constraint(self.bits) {
            count += constraint.excluded as usize;
        }
        count
    }

    /// Returns masks and values that an encoding excludes.
    pub const fn exclusions<const N: usize>(&self, encoding: &str) -> [(u128, u128); N] {
        let mut cursor = Cursor::behind_bits(encoding);
        let mut out = [(0, 0); N];
        let mut n = 0;
        while let Some(constraint) = cursor.constraint(self.bits) {
            if constraint.excluded {
                out[n] = (constraint.mask, constraint.bits);
                n += 1;
            }
        }
        out
    }

    /// Returns the pieces of a format with the bindings of an encoding.
    pub const fn pieces<const N: usize>(&self, format: &str, encoding: &str) -> [Piece<F>; N] {
        let mut out = [Piece::Text { start: 0, end: 0 }; N];
        let mut cursor = Cursor::behind_marker(format);
        let bindings = Cursor::behind_bits(encoding);
        let mut n = 0;
        while let Some(byte) = cursor.peek() {
            if byte == b'{' {
                cursor.at += 1;
                out[n] = self.placeholder(&mut cursor, bindings);
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

    const fn placeholder(&self, cursor: &mut Cursor, bindings: Cursor) -> Piece<F> {
        let (field, usual_bits) = match self.words.get(cursor.name()) {
            Some(Word::Role(role)) => return Piece::Operand(self.operand(cursor, role, bindings)),
            Some(Word::Phase) => return Piece::Phase,
            Some(Word::Field(field, bits)) => (field, bits),
            None => panic!("a placeholder names neither a role nor a field"),
        };
        cursor.expect(b'@');
        let lo = cursor.number();
        let bits = if cursor.accept(b':') { cursor.number() } else { usual_bits };
        let (mut hi, mut hi_bits) = (0, 0);
        if cursor.accept(b'+') {
            hi = cursor.number();
            hi_bits = if cursor.accept(b':') { cursor.number() } else { 1 };
        }
        assert!(
            bits > 0 && lo as u32 + bits as u32 <= self.bits,
            "a number needs its width, as in {{name@lo:width}}"
        );
        let silent = cursor.accept(b' ') && cursor.accept(b'?');
        assert!(
            usual_bits == 0 || bits + hi_bits <= usual_bits,
            "a field is at most as wide as its type"
        );
        Piece::Field(FieldSlot { field, lo, bits, hi, hi_bits, silent })
    }

    const fn operand(&self, cursor: &mut Cursor, role: Role, mut bindings: Cursor) -> OperandSlot {
        let mut location = None;
        let mut i = 0;
        while i < self.usual.len() {
            if self.usual[i].0 as u8 == role as u8 {
                location = Some(self.usual[i].1);
            }
            i += 1;
        }
        let mut attributes = Attributes::NONE;
        if cursor.accept(b'=') {
            location = Some(cursor.location(self.locations));
        }
        cursor.attributes(&mut attributes);
        if bindings.seek_binding(role) {
            location = Some(bindings.location(self.locations));
            bindings.attributes(&mut attributes);
        }
        let Some(location) = location else { panic!("an operand has no location") };
        OperandSlot { role, location, attributes }
    }
}

/// A constraint `@lo=bits` or `@lo#bits`.
struct Constraint {
    excluded: bool,
    mask: u128,
    bits: u128,
}

/// Returns the models that have an encoding.
pub const fn models(encoding: &str) -> Models {
    let mut cursor = Cursor::behind_bits(encoding);
    let mut models = Models::ALL;
    while let Some(byte) = cursor.peek() {
        cursor.at += 1;
        if (byte == b'>' || byte == b'<') && cursor.accept(b'=') {
            let model = cursor.number();
            if byte == b'>' {
                models.first = model;
            } else {
                models.last = model;
            }
        }
    }
    models
}

/// Returns the bits of which exactly one is set.
pub const fn one_of(encoding: &str) -> u128 {
    let mut cursor = Cursor::behind_bits(encoding);
    let mut bits = 0;
    while let Some(byte) = cursor.peek() {
        cursor.at += 1;
        if byte == b'@' {
            let lo = cursor.number() as u32;
            if cursor.accept(b'^') {
                bits |= u128::MAX >> (128 - cursor.number() as u32) << lo;
            }
        }
    }
    bits
}

/// Returns the number of pieces of a format.
pub const fn piece_count(format: &str) -> usize {
    let bytes = format.as_bytes();
    let (mut count, mut i, mut in_text) = (0, Cursor::behind_marker(format).at, false);
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

    /// Returns a cursor behind the mark of a format whose guard is not the usual one.
    const fn behind_marker(format: &'a str) -> Self {
        let mut cursor = Cursor::new(format);
        let _ = cursor.accept(b'*') || cursor.accept(b'^');
        cursor
    }

    /// Returns a cursor behind the bits of an encoding.
    const fn behind_bits(encoding: &'a str) -> Self {
        let mut cursor = Cursor::new(encoding);
        if cursor.accept(b'o') {
            while cursor.hex_digit().is_some() {}
        }
        while let Some(b'0' | b'1' | b'-' | b' ' | b'_') = cursor.peek() {
            cursor.at += 1;
        }
        cursor
    }

    const fn peek(&self) -> Option<u8> {
        if self.at < self.bytes.len() { Some(self.bytes[self.at]) } else { None }
    }

    const fn expect(&mut self, byte: u8) {
        assert!(self.accept(byte), "unexpected character in a table line");
    }

    const fn accept(&mut self, byte: u8) -> bool {
        let found = matches!(self.peek(), Some(found) if found == byte);
        if found {
            self.at += 1;
        }
        found
    }

    const fn hex_digit(&mut self) -> Option<u8> {
        let digit = match self.peek() {
            Some(digit @ b'0'..=b'9') => digit - b'0',
            Some(digit @ b'a'..=b'f') => digit - b'a' + 10,
            _ => return None,
        };
        self.at += 1;
        Some(digit)
    }

    const fn name(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'0'..=b'9' | b'_') = self.peek() {
            self.at += 1;
        }
        assert!(self.at > start, "a name is missing in a table line");
        self.bytes.split_at(self.at).0.split_at(start).1
    }

    const fn letters(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'A'..=b'Z') = self.peek() {
            self.at += 1;
        }
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
    const fn constraint(&mut self, word_bits: u32) -> Option<Constraint> {
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'@' {
                let lo = self.number() as u32;
                if self.accept(b'^') {
                    continue;
                }
                let excluded = self.accept(b'#');
                if !excluded {
                    self.expect(b'=');
                }
                let (mut width, mut bits) = (0, 0);
                while let Some(digit @ (b'0' | b'1')) = self.peek() {
                    bits = bits << 1 | (digit - b'0') as u128;
                    width += 1;
                    self.at += 1;
                }
                assert!(
                    width > 0 && lo + width <= word_bits,
                    "a constraint names bits of the word"
                );
                return Some(Constraint {
                    excluded,
                    mask: u128::MAX >> (128 - width) << lo,
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
                if self.accept(b'=') {
                    let mut i = 0;
                    while i < Role::NAMES.len() {
                        let (known, found) = Role::NAMES[i];
                        if found as u8 == role as u8 && equal(known.as_bytes(), name) {
                            return true;
                        }
                        i += 1;
                    }
                }
            } else {
                self.at += 1;
            }
        }
        false
    }

    const fn location(&mut self, named: &[(&str, Location)]) -> Location {
        let start = *self;
        let letters = self.letters();
        if let Some(b'0'..=b'9') = self.peek() {
            let lo = self.number();
            match letters {
                b"r" => return Location::Register { lo },
                b"ur" => return Location::Uniform { lo },
                b"p" | b"q" | b"up" | b"uq" => {
                    let (uniform, inverted) =
                        (letters.len() == 2, letters[letters.len() - 1] == b'q');
                    return Location::Predicate { lo, uniform, inverted };
                }
                b"cb" => return Location::Barrier { lo },
                b"n" => {
                    self.expect(b'+');
                    return Location::RegisterAfter { lo, plus: self.number() };
                }
                b"m" => {
                    let mut memory = Memory::AT_REGISTER;
                    memory.base = Some(lo);
                    if self.accept(b'+') {
                        memory.offset = self.number();
                        self.expect(b':');
                        memory.width = self.number();
                        memory.scale = if self.accept(b'*') { self.number() } else { 1 };
                    }
                    return Location::Memory(memory);
                }
                b"u" | b"s" => {
                    self.expect(b':');
                    let signed = letters[0] == b's';
                    return Location::Short { lo, width: self.number(), signed };
                }
                _ => {}
            }
        } else if equal(letters, b"z") {
            return Location::Zero;
        }
        *self = start;
        let name = self.location_name();
        let mut i = 0;
        while i < named.len() {
            if equal(named[i].0.as_bytes(), name) {
                return named[i].1;
            }
            i += 1;
        }
        panic!("unknown location in a table line")
    }

    /// Reads a name of a guest's location: everything before a space or a closing brace.
    const fn location_name(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(byte) = self.peek()
            && byte != b' '
            && byte != b'}'
        {
            self.at += 1;
        }
        self.bytes.split_at(self.at).0.split_at(start).1
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
                    Some(b'G') => PartKind::Sign,
                    Some(b'Q') => PartKind::HalfOfTwo,
                    Some(b'X') => PartKind::AddendHalf,
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

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

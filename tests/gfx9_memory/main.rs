//! Each GFX9 vector memory instruction alone, on every engine, against models written from the
//! documents.

mod buffer;
mod buffer_format;
mod encode;
mod flat;
mod image;
mod lds;
#[path = "../support/random.rs"]
mod random;
mod wave;

pub use random::Random;

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    pub fn word(&mut self) -> u32 {
        self.bits() as u32
    }

    pub fn row(&mut self) -> [u32; 64] {
        std::array::from_fn(|_| self.word())
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word() as u8).collect()
    }
}

/// The way that a load changes memory into register contents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Words(usize),
    Narrow { bytes: usize, signed: bool },
    Half { bytes: usize, signed: bool, high: bool },
}

impl Kind {
    /// Returns the kind by the instruction's name.
    pub fn of(name: &str) -> Kind {
        let short = name.contains("short") || name.contains("16");
        let signed = ["sbyte", "sshort", "_i8", "_i16"].iter().any(|part| name.contains(part));
        let byte = ["byte", "_u8", "_i8", "_b8"].iter().any(|part| name.contains(part));
        let bytes = if byte { 1 } else { 2 };
        let words = [("x2", 2), ("x3", 3), ("x4", 4), ("b64", 2), ("b96", 3), ("b128", 4)];
        if name.contains("d16") {
            Kind::Half { bytes, signed, high: name.ends_with("hi") }
        } else if byte || short {
            Kind::Narrow { bytes, signed }
        } else {
            Kind::Words(
                words.iter().find(|(end, _)| name.ends_with(end)).map_or(1, |&(_, words)| words),
            )
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Kind::Words(words) => 4 * words,
            Kind::Narrow { bytes, .. } | Kind::Half { bytes, .. } => bytes,
        }
    }

    /// Returns the registers after a load of these bytes.
    pub fn loaded(self, bytes: &[u8], before: &[u32]) -> Vec<u32> {
        let narrow = |signed: bool| match (bytes, signed) {
            (&[a], false) => a.into(),
            (&[a], true) => a as i8 as u32,
            (&[a, b], false) => u16::from_le_bytes([a, b]).into(),
            (&[a, b], true) => i16::from_le_bytes([a, b]) as u32,
            _ => panic!("no narrow load"),
        };
        match self {
            Kind::Words(_) => {
                bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
            }
            Kind::Narrow { signed, .. } => vec![narrow(signed)],
            Kind::Half { signed, high: false, .. } => {
                vec![before[0] & 0xffff_0000 | narrow(signed) & 0xffff]
            }
            Kind::Half { signed, high: true, .. } => {
                vec![before[0] & 0xffff | narrow(signed) << 16]
            }
        }
    }

    /// Returns the bytes that a store of these registers writes.
    pub fn stored(self, registers: &[u32]) -> Vec<u8> {
        match self {
            Kind::Words(words) => {
                registers[..words].iter().flat_map(|word| word.to_le_bytes()).collect()
            }
            Kind::Half { bytes, high: true, .. } => {
                (registers[0] >> 16).to_le_bytes()[..bytes].to_vec()
            }
            _ => registers[0].to_le_bytes()[..self.bytes()].to_vec(),
        }
    }
}

/// Returns the value that an atomic leaves, of `m`, in 32 or 64 bits; `c` is the second operand.
pub fn atomic(name: &str, bits: u32, m: u64, b: u64, c: u64) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let signed = |x: u64| (x << (64 - bits)) as i64;
    let has = |part: &str| name.contains(part);
    let result = if has("rsub") {
        b.wrapping_sub(m)
    } else if has("add") {
        m.wrapping_add(b)
    } else if has("sub") {
        m.wrapping_sub(b)
    } else if has("inc") {
        if m >= b { 0 } else { m + 1 }
    } else if has("dec") {
        if m == 0 || m > b { b } else { m - 1 }
    } else if has("smin") || has("min") && has("_i") {
        if signed(b) < signed(m) { b } else { m }
    } else if has("smax") || has("max") && has("_i") {
        if signed(b) > signed(m) { b } else { m }
    } else if has("min") {
        m.min(b)
    } else if has("max") {
        m.max(b)
    } else if has("and") {
        m & b
    } else if has("xor") {
        m ^ b
    } else if has("mskor") {
        m & !c | b
    } else if has("or") {
        m | b
    } else if has("cmp") {
        if m == c { b } else { m }
    } else if has("wrap") {
        if m >= b { m - b } else { m.wrapping_add(c) }
    } else {
        assert!(has("swap") || has("wrxchg"), "{name}");
        b
    };
    result & mask
}

pub fn read_number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

//! Printed text of kernels: the buffer that compiled OpenCL code writes, and the host reads when
//! the launch is over.
//!
//! The buffer begins with a dword, the number of bytes used including itself. Then follows a record
//! for each call: the address of its format, and for each argument a dword with its kind, and its
//! value. A vector has one more dword, the number of components. Facts, `visa-semantics.md` 10.

use warploom_runtime::memory::Memory;

use super::super::Prints;
use crate::services::{MAX_STRING, Printed};
use crate::{Error, Program, printf};

/// The least size of the buffer, which compiled code has as a constant.
const LEAST_BYTES: usize = 4 << 20;
const HEADER_BYTES: u64 = 4;
/// The most characters of text per byte of records.
const TEXT_FOR_A_BYTE: usize = 64;

/// The buffer of a launch.
pub struct PrintBuffer {
    pub address: u64,
    bytes: usize,
}

impl PrintBuffer {
    /// Allocates a buffer with room for at least `bytes` bytes of records.
    pub fn new(memory: &Memory, bytes: usize) -> Result<PrintBuffer, Error> {
        let bytes = bytes.max(LEAST_BYTES);
        let address = memory.alloc(HEADER_BYTES + bytes as u64, 64)?;
        memory.write(address, &(HEADER_BYTES as u32).to_le_bytes())?;
        Ok(PrintBuffer { address, bytes })
    }

    /// Returns the bytes of the buffer with its header.
    pub fn bytes(&self) -> u64 {
        HEADER_BYTES + self.bytes as u64
    }
}

impl Prints for PrintBuffer {
    fn text(&self, program: &Program) -> Result<Printed, Error> {
        let memory = program.memory();
        let mut header = [0; 4];
        memory.read(self.address, &mut header)?;
        let used = (u32::from_le_bytes(header) as usize).saturating_sub(HEADER_BYTES as usize);
        let mut records = vec![0; used.min(self.bytes)];
        memory.read(self.address + HEADER_BYTES, &mut records)?;
        let mut printed = Printed::default();
        let mut record = Record { memory, rest: &records, vector: None };
        while !record.rest.is_empty() {
            let room = (TEXT_FOR_A_BYTE * self.bytes).saturating_sub(printed.text.len());
            let made = record.address().and_then(|address| {
                let format = string(memory, address, MAX_STRING)?;
                printf::format(&format, &mut record, room).ok()
            });
            match made {
                Some((Some(text), _)) => printed.text.extend(text),
                Some((None, _)) => printed.dropped += 1,
                // An invalid record ends the text: the kernel may have written anything there.
                None => {
                    printed.dropped += 1;
                    break;
                }
            }
        }
        Ok(printed)
    }
}

/// Returns the characters up to a 0, at most `most`, or `None` if they cannot be read.
fn string(memory: &Memory, address: u64, most: usize) -> Option<Vec<u8>> {
    let mut text = vec![];
    while text.len() < most {
        let mut byte = [0];
        memory.read(address.checked_add(text.len() as u64)?, &mut byte).ok()?;
        if byte[0] == 0 {
            break;
        }
        text.push(byte[0]);
    }
    Some(text)
}

/// The rest of the records.
struct Record<'r> {
    memory: &'r Memory,
    rest: &'r [u8],
    /// The kind and number of the components that come next.
    vector: Option<(u32, u32)>,
}

/// The error for bytes that are no argument.
struct Broken;

/// Kinds of arguments. Kinds of vectors follow in the order of `VECTORS`.
mod kind {
    pub const FLOAT: u32 = 4;
    pub const STRING: u32 = 5;
    pub const LONG: u32 = 6;
    pub const POINTER: u32 = 7;
    pub const DOUBLE: u32 = 8;
    /// Component kinds of vectors: byte, short, int, long, float, double.
    pub const VECTORS: [u32; 6] = [1, 2, 3, LONG, FLOAT, DOUBLE];
    pub const FIRST_VECTOR: u32 = 9;
}

impl Record<'_> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn address(&mut self) -> Option<u64> {
        let (word, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn value(&mut self, kind: u32, bytes: u64) -> Option<u64> {
        Some(match kind {
            1..=3 => self.word()?.into(),
            kind::FLOAT => {
                let bits = self.word()?;
                if bytes == 8 { f64::from(f32::from_bits(bits)).to_bits() } else { bits.into() }
            }
            kind::STRING..=kind::DOUBLE => self.address()?,
            _ => return None,
        })
    }
}

impl printf::Arguments<Broken> for Record<'_> {
    const VECTORS: bool = true;

    fn next(&mut self, bytes: u64) -> Result<u64, Broken> {
        let kind = match self.vector {
            Some((kind, left)) => {
                self.vector = (left > 1).then(|| (kind, left - 1));
                kind
            }
            None => self.word().ok_or(Broken)?,
        };
        self.value(kind, bytes).ok_or(Broken)
    }

    fn vector(&mut self, components: u64) -> Result<(), Broken> {
        let kind =
            self.word().and_then(|kind| kind.checked_sub(kind::FIRST_VECTOR)).ok_or(Broken)?;
        let count = self.word().ok_or(Broken)?;
        if u64::from(count) != components {
            return Err(Broken);
        }
        self.vector = Some((*kind::VECTORS.get(kind as usize).ok_or(Broken)?, count));
        Ok(())
    }

    fn string(&mut self, most: usize) -> Result<Option<Vec<u8>>, Broken> {
        let kind = self.word().ok_or(Broken)?;
        if !matches!(kind, kind::STRING | kind::POINTER) {
            return Err(Broken);
        }
        match self.address().ok_or(Broken)? {
            0 => Ok(None),
            address => string(self.memory, address, most.min(MAX_STRING)).map(Some).ok_or(Broken),
        }
    }
}

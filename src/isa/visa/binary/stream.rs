//! Reads and writes the numbers in a file's bytes.

use super::{BinaryError, has_wide_indices};
use crate::types::Version;

/// A position in a file, with an end. All numbers are little-endian, at any offset.
#[derive(Clone)]
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    pub at: usize,
    end: usize,
    pub version: Version,
}

impl<'a> Stream<'a> {
    pub fn new(bytes: &'a [u8], version: Version) -> Stream<'a> {
        Stream { bytes, at: 0, end: bytes.len(), version }
    }

    /// Returns a stream of the bytes from one offset to another.
    pub fn part(&self, from: usize, to: usize) -> Result<Stream<'a>, BinaryError> {
        if from > to || to > self.bytes.len() {
            let what = format!(
                "bytes {from:#x} to {to:#x}, expected a part of the file's {:#x}",
                self.bytes.len()
            );
            return Err(self.error(what));
        }
        Ok(Stream { bytes: self.bytes, at: from, end: to, version: self.version })
    }

    pub fn error(&self, what: impl Into<String>) -> BinaryError {
        BinaryError::new(self.at, what)
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Returns the number of bytes that are left.
    pub fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], BinaryError> {
        if self.left() < count {
            return Err(self.error(format!(
                "the file ends in {what}: expected {count} bytes, found {}",
                self.left()
            )));
        }
        let bytes = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], BinaryError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn byte(&mut self, what: &str) -> Result<u8, BinaryError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub fn peek(&self) -> Option<u8> {
        self.bytes[..self.end].get(self.at).copied()
    }

    pub fn word(&mut self, what: &str) -> Result<u16, BinaryError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub fn dword(&mut self, what: &str) -> Result<u32, BinaryError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub fn qword(&mut self, what: &str) -> Result<u64, BinaryError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Reads the index of a string or variable, or the count of them.
    pub fn index(&mut self, what: &str) -> Result<u32, BinaryError> {
        if has_wide_indices(self.version) { self.dword(what) } else { Ok(self.word(what)?.into()) }
    }

    /// Reads a string that ends in a byte 0.
    pub fn string(&mut self, what: &str) -> Result<String, BinaryError> {
        let rest = &self.bytes[self.at.min(self.end)..self.end];
        let length = rest
            .iter()
            .position(|&byte| byte == 0)
            .ok_or_else(|| self.error(format!("{what} without an end")))?;
        self.at += length + 1;
        String::from_utf8(rest[..length].to_vec())
            .map_err(|_| self.error(format!("{what} that is no text")))
    }
}

/// A file while it is being written.
#[derive(Clone)]
pub(super) struct Sink {
    pub bytes: Vec<u8>,
    pub version: Version,
}

impl Sink {
    pub fn new(version: Version) -> Sink {
        Sink { bytes: vec![], version }
    }

    pub fn byte(&mut self, number: u8) {
        self.bytes.push(number);
    }

    pub fn word(&mut self, number: u16) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn dword(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn qword(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes an index. Returns None if the number does not fit the version's indices.
    pub fn index(&mut self, number: u32) -> Option<()> {
        if has_wide_indices(self.version) {
            self.dword(number);
        } else {
            self.word(u16::try_from(number).ok()?);
        }
        Some(())
    }
}

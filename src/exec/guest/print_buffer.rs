//! Printed text of kernels: the buffer that compiled OpenCL code writes, and the host reads when
//! the launch is over.
//!
//! The buffer begins with two words: the number of bytes used behind them, and the number of bytes
//! available. Then follows a record for each call: the number of its format, and the arguments,
//! each in whole words. Strings lie in the record.
//!
//! Source: LLVM, `AMDGPUPrintfRuntimeBinding`; the device libraries' `__printf_alloc`.

use std::convert::Infallible;

use half::f16;
use warploom_runtime::memory::Memory;

use crate::guest::Prints;
use crate::services::Printed;
use crate::{Error, Program, printf};

/// Bytes used, and bytes available.
const HEADER_BYTES: u64 = 8;
/// The most characters of text per byte of records. Lines are longer than their records, which may
/// be only a format's number. Text beyond this limit comes from fields of thousands of characters.
const TEXT_FOR_A_BYTE: usize = 64;

/// The buffer of a launch.
pub struct PrintBuffer {
    pub address: u64,
    bytes: u32,
}

impl PrintBuffer {
    /// Allocates a buffer with room for `bytes` bytes of records.
    pub fn new(memory: &Memory, bytes: usize) -> Result<PrintBuffer, Error> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX) & !3;
        let address = memory.alloc(HEADER_BYTES + u64::from(bytes), HEADER_BYTES)?;
        memory.write(address + 4, &bytes.to_le_bytes())?;
        Ok(PrintBuffer { address, bytes })
    }

    /// Returns the text, whose room is in proportion to the room for records. `lines` are the
    /// formats in the code object. The kernel may have written anything there: an invalid record
    /// ends the text, and counts as one call that printed nothing.
    fn text_by(&self, memory: &Memory, lines: &[String]) -> Result<Printed, Error> {
        let mut header = [0; 4];
        memory.read(self.address, &mut header)?;
        let mut records = vec![0; u32::from_le_bytes(header).min(self.bytes) as usize];
        memory.read(self.address + HEADER_BYTES, &mut records)?;
        let formats: Vec<Format> = lines.iter().filter_map(|line| Format::parse(line)).collect();
        let mut printed = Printed::default();
        let mut rest = &records[..];
        while let Some((number, content)) = rest.split_first_chunk() {
            let format = formats.iter().find(|format| format.number == u32::from_le_bytes(*number));
            let split = format.and_then(|format| Some((format, format.split(content)?)));
            let Some((format, (arguments, behind))) = split else {
                printed.dropped += 1;
                break;
            };
            let room = TEXT_FOR_A_BYTE * self.bytes as usize - printed.text.len();
            let Ok((text, _)) = printf::format(&format.text, &mut Record { arguments }, room);
            match text {
                Some(text) => printed.text.extend(text),
                None => printed.dropped += 1,
            }
            rest = behind;
        }
        Ok(printed)
    }
}

impl Prints for PrintBuffer {
    fn text(&self, program: &Program) -> Result<Printed, Error> {
        let module = program.module().hsa.as_ref();
        self.text_by(program.memory(), module.map_or(&[], |module| &module.printf))
    }
}

/// `NUMBER:ARGUMENTS:BYTES OF EACH..:TEXT`
struct Format {
    number: u32,
    sizes: Vec<usize>,
    text: Vec<u8>,
}

impl Format {
    fn parse(line: &str) -> Option<Format> {
        let (number, rest) = line.split_once(':')?;
        let (count, mut rest) = rest.split_once(':')?;
        let mut sizes = Vec::new();
        for _ in 0..count.parse::<u32>().ok()? {
            let (size, behind) = rest.split_once(':')?;
            sizes.push(size.parse().ok()?);
            rest = behind;
        }
        Some(Format { number: number.parse().ok()?, sizes, text: unescape(rest.as_bytes()) })
    }

    /// Splits the arguments of a record from the bytes behind it.
    fn split<'r>(&self, mut record: &'r [u8]) -> Option<(Vec<&'r [u8]>, &'r [u8])> {
        let mut arguments = Vec::with_capacity(self.sizes.len());
        for &size in &self.sizes {
            arguments.push(record.get(..size)?);
            record = record.get(size.checked_next_multiple_of(4)?..)?;
        }
        // The first argument is read first.
        arguments.reverse();
        Some((arguments, record))
    }
}

/// Replaces escapes of the compiler by the characters: control characters, and the colon, which
/// ends fields.
fn unescape(text: &[u8]) -> Vec<u8> {
    const ESCAPES: [(&[u8], u8); 7] = [
        (b"\\72", b':'),
        (b"\\n", b'\n'),
        (b"\\r", b'\r'),
        (b"\\a", 7),
        (b"\\b", 8),
        (b"\\v", 11),
        (b"\\f", 12),
    ];
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((&first, behind)) = rest.split_first() {
        let escape = ESCAPES.iter().find(|(written, _)| rest.starts_with(written));
        let (character, behind) = match escape {
            Some(&(written, character)) => (character, &rest[written.len()..]),
            None => (first, behind),
        };
        out.push(character);
        rest = behind;
    }
    out
}

/// The arguments of a call, with the next argument last. Missing arguments are 0.
struct Record<'r> {
    arguments: Vec<&'r [u8]>,
}

impl printf::Arguments<Infallible> for Record<'_> {
    const VECTORS: bool = true;

    fn next(&mut self, bytes: u64) -> Result<u64, Infallible> {
        let argument = self.arguments.pop().unwrap_or_default();
        let mut word = [0; 8];
        let length = argument.len().min(8);
        word[..length].copy_from_slice(&argument[..length]);
        let bits = u64::from_le_bytes(word);
        // Narrow floats of the source are not widened.
        Ok(match (bytes, length) {
            (8, 2) => f64::from(f16::from_bits(bits as u16)).to_bits(),
            (8, 4) => f64::from(f32::from_bits(bits as u32)).to_bits(),
            _ => bits,
        })
    }

    fn vector(&mut self, components: u64) -> Result<(), Infallible> {
        let vector = self.arguments.pop().unwrap_or_default();
        // Three components take the space of four.
        let room = components.next_power_of_two() as usize;
        let parts = vector.chunks(vector.len().div_ceil(room).max(1)).take(components as usize);
        let parts: Vec<&[u8]> = parts.collect();
        self.arguments.extend(parts.iter().rev());
        Ok(())
    }

    fn string(&mut self, most: usize) -> Result<Option<Vec<u8>>, Infallible> {
        let text = self.arguments.pop().unwrap_or_default();
        let end = text.iter().position(|&c| c == 0).unwrap_or(text.len());
        Ok(Some(text[..end.min(most)].to_vec()))
    }
}

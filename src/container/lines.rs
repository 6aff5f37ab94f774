//! Source lines of machine code, from the line table of a file: DWARF, versions 2 to 5, sections
//! `.debug_line`, `.debug_line_str` and `.debug_str`.
//!
//! Source: the DWARF standards, section "Line Number Information", as `gimli` reads them. A table
//! that is malformed has fewer lines, or none, and is never an error: programs run without it.

use std::sync::{Arc, OnceLock};

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, DebugLineStr, DebugStr, EndianSlice,
    LineInstruction, LineRow, LittleEndian, Reader,
};

use super::SectionId;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The size of an address if a table does not say.
const ADDRESS_BYTES: u8 = 8;
/// The longest header of a unit that is read. Names of files are there, and a byte can be an entry
/// of some 150 bytes in memory.
const MAX_HEADER: usize = 1 << 18;
/// The most rows that are kept, of 16 bytes each.
const MAX_ROWS: usize = 1 << 22;

/// The lines of a module.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// One for each linked file.
    tables: Vec<Table>,
}

/// The lines of a file.
#[derive(Clone, Debug)]
struct Table {
    /// The section of an address: bits 32 and up are an index here, the others an offset.
    sections: Vec<Option<SectionId>>,
    content: Arc<Content>,
}

#[derive(Debug)]
struct Content {
    /// `.debug_line`, relocated; `.debug_line_str`; `.debug_str`.
    line: Vec<u8>,
    line_strings: Vec<u8>,
    strings: Vec<u8>,
    /// The rows, when they have been asked for.
    rows: OnceLock<Rows>,
}

/// All rows in the order of addresses. A row holds up to the next one.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// The unit, as an offset in `.debug_line`, and the number of each file in it.
    files: Vec<(usize, u64)>,
}

#[derive(Debug)]
struct Row {
    address: u64,
    /// Index into [`Rows::files`].
    file: u32,
    /// 0: the compiler knew no line, or this is the end of a sequence.
    line: u32,
}

impl Lines {
    /// The names of the sections of a file.
    pub(super) const SECTIONS: [&str; 3] = [".debug_line", ".debug_line_str", ".debug_str"];

    /// Keeps the sections of a file. An address in the table is an offset in the section that
    /// `sections` has at the index in bits 32 and up. Nothing is read yet.
    pub(super) fn new(
        sections: Vec<Option<SectionId>>,
        [line, line_strings, strings]: [Vec<u8>; 3],
    ) -> Lines {
        if line.is_empty() {
            return Lines::default();
        }
        let content = Content { line, line_strings, strings, rows: OnceLock::new() };
        Lines { tables: vec![Table { sections, content: Arc::new(content) }] }
    }

    /// Adds the lines of another module, whose sections are now those that `moved` returns.
    pub(super) fn append(&mut self, other: Lines, moved: impl Fn(SectionId) -> SectionId) {
        for mut table in other.tables {
            table.sections.iter_mut().flatten().for_each(|section| *section = moved(*section));
            self.tables.push(table);
        }
    }

    /// Returns the source file and line of an offset in a section.
    pub fn find(&self, section: SectionId, offset: u64) -> Option<(String, u32)> {
        self.tables.iter().find_map(|table| {
            let number = table.sections.iter().position(|of| *of == Some(section))? as u64;
            let offset = u32::try_from(offset).ok()?;
            table.content.find(number << 32 | u64::from(offset), &table.sections)
        })
    }
}

impl Content {
    fn find(&self, address: u64, sections: &[Option<SectionId>]) -> Option<(String, u32)> {
        // Linkers leave address 0 to functions that they have dropped. No code is there: an image
        // begins with the header of its file, and an address that is not relocated has no section.
        let is_code = |address: u64| {
            let number = usize::try_from(address >> 32).ok();
            address != 0 && number.and_then(|number| sections.get(number)?.as_ref()).is_some()
        };
        let Rows { rows, files } = self.rows.get_or_init(|| Rows::read(&self.line, is_code));
        let row = &rows[rows.partition_point(|row| row.address <= address).checked_sub(1)?];
        if row.line == 0 || row.address >> 32 != address >> 32 {
            return None;
        }
        let &(unit, file) = files.get(row.file as usize)?;
        Some((self.file(unit, file)?, row.line))
    }

    /// Returns the path of a unit's file.
    fn file(&self, unit: usize, number: u64) -> Option<String> {
        let table = DebugLine::new(&self.line, LittleEndian);
        let program = table.program(DebugLineOffset(unit), ADDRESS_BYTES, None, None).ok()?;
        let header = program.header();
        let entry = header.file(number)?;
        let name = self.string(entry.path_name())?;
        // Before version 5, directory 0 is that of the compiler, which is not in the table.
        let folder = entry.directory(header).and_then(|folder| self.string(folder));
        Some(match folder.filter(|folder| !matches!(folder.as_str(), "" | ".")) {
            Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
            _ => name,
        })
    }

    fn string(&self, value: AttributeValue<Slice<'_>>) -> Option<String> {
        let slice = match value {
            AttributeValue::String(slice) => slice,
            AttributeValue::DebugLineStrRef(at) => {
                DebugLineStr::new(&self.line_strings, LittleEndian).get_str(at).ok()?
            }
            AttributeValue::DebugStrRef(at) => {
                DebugStr::new(&self.strings, LittleEndian).get_str(at).ok()?
            }
            _ => return None,
        };
        Some(slice.to_string_lossy().into_owned())
    }
}

impl Rows {
    /// Reads all units. `is_code` tells whether a sequence may start at an address.
    fn read(line: &[u8], is_code: impl Fn(u64) -> bool) -> Rows {
        let mut read = Rows::default();
        let mut unit = 0;
        while let Some((bytes, header_bytes)) = line.get(unit..).and_then(extent) {
            if header_bytes <= MAX_HEADER {
                // A unit that is malformed has the sequences before the error.
                let _ = read.unit(line, unit, &is_code);
            }
            unit += bytes;
        }
        // Where a sequence ends, another may start.
        read.rows.sort_by_key(|row| (row.address, row.line != 0));
        read
    }

    /// Reads a unit's sequences. Returns `None` at an error.
    fn unit(&mut self, line: &[u8], unit: usize, is_code: impl Fn(u64) -> bool) -> Option<()> {
        let table = DebugLine::new(line, LittleEndian);
        let mut program = table.program(DebugLineOffset(unit), ADDRESS_BYTES, None, None).ok()?;
        let mut instructions = program.header().instructions();
        let mut row = LineRow::new(program.header());
        let mut sequence: Vec<Row> = vec![];
        let mut is_live = None;
        while let Some(instruction) = instructions.next_instruction(program.header()).ok()? {
            match instruction {
                LineInstruction::SetAddress(address) => {
                    let goes_on = is_live.unwrap_or(true) && address >= row.address();
                    is_live = Some(goes_on && is_code(address));
                }
                // No compiler writes these. The former number has no opposite, the latter demands
                // memory.
                LineInstruction::AdvanceLine(i64::MIN) | LineInstruction::DefineFile(_) => {
                    return None;
                }
                _ => {}
            }
            if !row.execute(instruction, &mut program).ok()? {
                continue;
            }
            let number = row.line().filter(|_| !row.end_sequence());
            let number = number.and_then(|number| u32::try_from(number.get()).ok()).unwrap_or(0);
            let file = (unit, row.file_index());
            if self.files.last() != Some(&file) {
                self.files.push(file);
            }
            let place = (self.files.len() as u32 - 1, number);
            if sequence.last().is_none_or(|last| (last.file, last.line) != place) {
                sequence.push(Row { address: row.address(), file: place.0, line: place.1 });
            }
            if (self.rows.len() + sequence.len()).max(self.files.len()) > MAX_ROWS {
                return None;
            }
            if row.end_sequence() {
                match is_live.take() {
                    Some(true) => self.rows.append(&mut sequence),
                    _ => sequence.clear(),
                }
            }
            row.reset(program.header());
        }
        Some(())
    }
}

/// Returns the size of the unit that begins here, and that of its header after the lengths.
fn extent(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut input = EndianSlice::new(bytes, LittleEndian);
    let (length, format) = input.read_initial_length().ok()?;
    let before = bytes.len() - input.len();
    let mut unit = input.split(length).ok()?;
    // Version 5 has the sizes of addresses and segments here.
    if unit.read_u16().ok()? >= 5 {
        unit.skip(2).ok()?;
    }
    Some((before + length, unit.read_length(format).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a unit of version 2 with a file `a.cu` and these sequences. A sequence starts at an
    /// address and has a line for each 8 bytes.
    fn unit(sequences: &[(u64, &[i64])]) -> Vec<u8> {
        // One byte to an instruction, lines -1 to 2 in special opcodes from 10 on.
        let mut header = vec![1, 1, -1_i8 as u8, 4, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1];
        header.extend(b"\0a.cu\0\0\0\0\0");
        let mut program = vec![];
        for (address, lines) in sequences {
            program.extend([0, 9, 2]);
            program.extend(address.to_le_bytes());
            let mut held = 1;
            for &line in *lines {
                // advance_line, copy, advance_pc
                program.extend([3, (line - held) as u8 & 0x7f, 1, 2, 8]);
                held = line;
            }
            program.extend([0, 1, 1]);
        }
        let mut unit = vec![2, 0];
        unit.extend((header.len() as u32).to_le_bytes());
        unit.extend(header);
        unit.extend(program);
        [&(unit.len() as u32).to_le_bytes(), &unit[..]].concat()
    }

    fn found(table: Vec<u8>, offsets: &[u64]) -> Vec<u32> {
        let sections = vec![Some(SectionId(0)), None, Some(SectionId(7))];
        let lines = Lines::new(sections, [table, vec![], vec![]]);
        let line = |&at: &u64| {
            let section = SectionId(if at >> 32 == 2 { 7 } else { at as usize >> 32 });
            let (file, line) = lines.find(section, at & 0xffff_ffff).unwrap_or_default();
            assert!(line == 0 || file == "a.cu", "{file}");
            line
        };
        offsets.iter().map(line).collect()
    }

    #[test]
    fn a_line_holds_up_to_the_next_or_to_the_end() {
        // The sequences meet, and the first one is the latter in the table.
        let table = unit(&[(0x110, &[30, 31]), (0x100, &[20, 21])]);
        let offsets = [0xff, 0x100, 0x107, 0x108, 0x110, 0x11f, 0x120, 0x1_0000];
        assert_eq!(found(table, &offsets), [0, 20, 20, 21, 30, 31, 0, 0]);
    }

    #[test]
    fn sequences_of_no_code_are_left_out() {
        // Functions that a linker has dropped, and one in a section that is not loaded.
        let dropped: &[i64] = &[50; 100];
        let table =
            unit(&[(0, dropped), (u64::MAX, dropped), (1 << 32 | 8, dropped), (0x18, &[20])]);
        assert_eq!(found(table, &[0x10, 0x18, 0x20, 1 << 32 | 8]), [0, 20, 0, 0]);
        let table = unit(&[(2 << 32 | 8, &[9]), (3 << 32, &[8])]);
        assert_eq!(found(table, &[8, 2 << 32 | 8, 2 << 32 | 16]), [0, 9, 0]);
    }

    #[test]
    fn a_unit_that_cannot_be_read_takes_no_other_along() {
        let good = |line| unit(&[(0x100 * line as u64, &[line])]);
        let mut wrong_version = good(5);
        wrong_version[4] = 9;
        let mut long_header = good(5);
        let length = |at: usize| u32::from_le_bytes(long_header[at..at + 4].try_into().unwrap());
        let [whole, header] = [0, 6].map(|at| length(at) + MAX_HEADER as u32);
        let end = 10 + length(6) as usize;
        long_header.splice(end..end, std::iter::repeat_n(0, MAX_HEADER));
        long_header[..4].copy_from_slice(&whole.to_le_bytes());
        long_header[6..10].copy_from_slice(&header.to_le_bytes());
        // The program names a file, and one advances by a number without an opposite.
        let with = |opcode: &[u8]| {
            let mut unit = unit(&[(0x600, &[6]), (0x700, &[7])]);
            let end = unit.len() - 3;
            unit.splice(end..end, opcode.iter().copied());
            let length = unit.len() as u32 - 4;
            unit[..4].copy_from_slice(&length.to_le_bytes());
            unit
        };
        let file = with(b"\0\x06\x03b\0\0\0\0");
        let least = with(b"\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f");
        for bad in [wrong_version, long_header, file, least] {
            let table = [good(1), bad, good(3)].concat();
            let lines = found(table, &[0x100, 0x300, 0x500, 0x700]);
            assert_eq!(lines, [1, 3, 0, 0]);
        }
    }
}

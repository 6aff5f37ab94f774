//! Notes of a code object.

use object::LittleEndian as LE;
use object::elf::{PT_NOTE, ProgramHeader64};
use object::read::elf::{NoteIterator, ProgramHeader};

use super::Header;
use crate::Error;

/// The alignment of names and contents in AMD's notes.
const ALIGN: u64 = 4;

/// A note.
pub(super) struct Note<'a> {
    pub owner: &'a [u8],
    pub kind: u32,
    pub content: &'a [u8],
    /// The offset in the file of the notes that contain it.
    pub at: u64,
}

/// Reads the notes of all segments with notes.
pub(super) fn of_segments<'a>(
    bytes: &'a [u8],
    segments: &[ProgramHeader64<LE>],
) -> Result<Vec<Note<'a>>, Error> {
    let mut notes = Vec::new();
    for segment in segments.iter().filter(|s| s.p_type(LE) == PT_NOTE) {
        let at = segment.p_offset(LE);
        let data = segment.data(LE, bytes).map_err(|()| wrong(at, "outside the file"))?;
        notes.extend(sequence(data, at, segment.p_align(LE))?);
    }
    Ok(notes)
}

/// Reads the notes of a section at an offset in the file.
pub(super) fn of_section(data: &[u8], at: u64) -> Result<Vec<Note<'_>>, Error> {
    sequence(data, at, ALIGN)
}

fn sequence(data: &[u8], at: u64, align: u64) -> Result<Vec<Note<'_>>, Error> {
    let mut notes = Vec::new();
    let mut left =
        NoteIterator::<Header>::new(LE, align, data).map_err(|e| wrong(at, &e.to_string()))?;
    while let Some(note) = left.next().map_err(|e| wrong(at, &e.to_string()))? {
        notes.push(Note { owner: note.name(), kind: note.n_type(LE).0, content: note.desc(), at });
    }
    Ok(notes)
}

fn wrong(at: u64, problem: &str) -> Error {
    Error::malformed(at, format!("notes: {problem}"), "notes within the file")
}

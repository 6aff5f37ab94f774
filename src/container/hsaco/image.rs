//! Joins the segments of a code object into one image, from address 0 to the end of the last
//! segment.

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{PF_X, PT_LOAD, ProgramHeader64, SHF_EXECINSTR, SHT_NOBITS};
use object::read::elf::{ProgramHeader, SectionHeader, SectionTable};

use super::Header;
use crate::{Error, Section, SectionKind};

/// The largest image.
const MAX_IMAGE: u64 = 1 << 30;
/// The most bytes by which an image's content may exceed the file: gaps between segments.
const MAX_GAPS: u64 = 16 << 20;
/// Segments are placed at multiples of a page.
const PAGE_BYTES: u64 = 0x1000;
/// The greatest alignment of a segment.
const MAX_ALIGN: u64 = 2 << 20;

pub(super) fn read(bytes: &[u8], segments: &[ProgramHeader64<LE>]) -> Result<Section, Error> {
    let mut image = Section {
        name: "image".into(),
        kind: SectionKind::Image,
        align: PAGE_BYTES,
        size: 0,
        data: Vec::new(),
    };
    for segment in segments.iter().filter(|s| s.p_type(LE) == PT_LOAD) {
        let (at, start) = (segment.p_offset(LE), segment.p_vaddr(LE));
        let (in_file, in_memory) = (segment.p_filesz(LE), segment.p_memsz(LE));
        let what = || {
            format!(
                "segment of {in_file:#x} bytes ({in_memory:#x} in memory) at address {start:#x}"
            )
        };
        let content = segment.data(LE, bytes).map_err(|()| {
            Error::malformed(
                at,
                what(),
                format!("it to lie within the file's {} bytes", bytes.len()),
            )
        })?;
        let end = start.checked_add(in_memory).filter(|&end| end <= MAX_IMAGE);
        let Some(end) = end else {
            return Err(Error::malformed(at, what(), "an image that ends below 1 GiB"));
        };
        if in_file > in_memory || start < image.size {
            return Err(Error::malformed(
                at,
                what(),
                "segments in ascending order that do not overlap",
            ));
        }
        if start + in_file > bytes.len() as u64 + MAX_GAPS {
            return Err(Error::malformed(at, what(), "segments that lie close to each other"));
        }
        let align = segment.p_align(LE).max(1);
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(Error::malformed(
                at,
                format!("alignment {align:#x} of a segment"),
                "a power of two to 2 MiB",
            ));
        }
        image.align = image.align.max(align);
        image.size = end;
        if !content.is_empty() {
            image.data.resize(start as usize, 0);
            image.data.extend_from_slice(content);
        }
    }
    if image.data.is_empty() {
        return Err(Error::malformed(0x20, "program headers", "segments to load"));
    }
    Ok(image)
}

/// Returns the ranges of an image of so many bytes that have instructions, in ascending order.
pub(super) fn code(
    segments: &[ProgramHeader64<LE>],
    sections: &SectionTable<'_, Header>,
    bytes: u64,
) -> Vec<Range<u64>> {
    let executable = |s: &&<Header as object::read::elf::FileHeader>::SectionHeader| {
        s.sh_flags(LE).contains(SHF_EXECINSTR) && s.sh_type(LE) != SHT_NOBITS
    };
    let named = sections.iter().filter(executable).map(|s| (s.sh_addr(LE), s.sh_size(LE)));
    let loaded =
        segments.iter().filter(|s| s.p_type(LE) == PT_LOAD && s.p_flags(LE).contains(PF_X));
    let loaded = loaded.map(|s| (s.p_vaddr(LE), s.p_filesz(LE)));
    let ranges = |of: &mut dyn Iterator<Item = (u64, u64)>| {
        let ends = of.map(|(start, size)| start.min(bytes)..start.saturating_add(size).min(bytes));
        ends.filter(|range| !range.is_empty()).collect::<Vec<_>>()
    };
    let mut code = ranges(&mut { named });
    if code.is_empty() {
        code = ranges(&mut { loaded });
    }
    code.sort_by_key(|range| (range.start, range.end));
    // Overlapping ranges are listed once.
    let mut end = 0;
    code.retain_mut(|range| {
        range.start = range.start.max(end);
        end = end.max(range.end);
        !range.is_empty()
    });
    code
}

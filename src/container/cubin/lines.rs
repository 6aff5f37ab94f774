//! The table of source lines, which `ptxas -lineinfo` makes.
//!
//! Each sequence of the table starts with address 0, which a relocation (`R_CUDA_64`) sets to a
//! function.

use object::LittleEndian as LE;
use object::elf::{SHT_REL, SHT_RELA};
use object::read::elf::{SectionHeader, SectionTable};

use super::elf::{File, Header, Reader};
use super::reloc;
use crate::{Lines, Part, RelocKind, SectionId};

/// Reads the table and applies its relocations. Malformed parts are left out.
pub(super) fn read(
    reader: &mut Reader<'_>,
    sections: &SectionTable<'_, Header>,
    file: &File,
) -> Lines {
    let Some((table, _)) = sections.section_by_name(LE, Lines::SECTIONS[0].as_bytes()) else {
        return Lines::default();
    };
    let mut contents = Lines::SECTIONS.map(|name| {
        let section = sections.section_by_name(LE, name.as_bytes());
        let content = section.and_then(|(_, header)| reader.content(header, name).ok());
        content.unwrap_or_default().to_vec()
    });
    for header in sections.iter().filter(|header| header.sh_info(LE) as usize == table.0) {
        let entry_bytes = match header.sh_type(LE) {
            SHT_REL => 16,
            SHT_RELA => 24,
            _ => continue,
        };
        let entries = reader.content(header, "of relocations").unwrap_or_default();
        for entry in entries.chunks_exact(entry_bytes) {
            // A relocation that makes no sense leaves an address without a section.
            let _ = relocate(&mut contents[0], entry, file);
        }
    }
    // Index 0 is for addresses without a relocation.
    let all = (0..file.module.sections.len()).map(|section| Some(SectionId(section)));
    Lines::new(std::iter::once(None).chain(all).collect(), contents)
}

/// Applies a relocation: a function's address is its offset in its section, with the section's
/// number from 1 on in bits 32 and up. Returns `None` if it cannot be applied.
fn relocate(line: &mut [u8], entry: &[u8], file: &File) -> Option<()> {
    let word = |i: usize| {
        let word = entry.get(8 * i..8 * i + 8)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    };
    let (offset, info) = (usize::try_from(word(0)?).ok()?, word(1)?);
    let (kind, _) = reloc::kind(info as u32)?;
    let RelocKind::Address { part: Part::Whole, at: 0, .. } = kind else { return None };
    let bytes = kind.bytes() as usize;
    let place = line.get_mut(offset..)?.get_mut(..bytes)?;
    let mut held = [0; 8];
    held[..bytes].copy_from_slice(place);
    let addend = word(2).unwrap_or(u64::from_le_bytes(held));
    // The other symbols are those of the strings' sections.
    let symbol = file.symbol_of_index.get((info >> 32) as usize).copied().flatten();
    let address = symbol.map(|id| file.module.symbol(id)).and_then(|symbol| {
        let number = symbol.section?.0 as u64 + 1;
        Some((number << 32).wrapping_add(symbol.offset))
    });
    let value = address.unwrap_or(0).wrapping_add(addend).to_le_bytes();
    place.copy_from_slice(&value[..bytes]);
    Some(())
}

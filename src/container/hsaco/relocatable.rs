//! Code objects from the finalizer of AMD's old OpenCL and HSA runtimes.
//!
//! They are relocatable files with code in `.hsatext` and data in `.hsadata_*`; code has
//! relocations to data. This module makes an image of their sections. Source: ROCr's
//! `amd_hsa_elf.h`.

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{
    FileHeader64, Rela64, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS, SHT_NOTE, SHT_RELA, SHT_SYMTAB,
    STT_OBJECT, STT_SECTION, SectionHeader64,
};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};

use super::metadata::Kernels;
use super::{Header, HsaModule, notes, reloc, symbols, target};
use crate::{
    Binding, Error, Isa, Module, Section, SectionId, SectionKind, Symbol, SymbolId, SymbolKind,
};

/// The largest image. `MAX_SECTIONS`: the most sections, although the format has six kinds.
const MAX_IMAGE: u64 = 1 << 30;
const MAX_SECTIONS: usize = 64;
const MAX_ALIGN: u64 = 1 << 16;
/// The alignment to which images are loaded.
const PAGE_BYTES: u64 = 0x1000;
/// `R_AMDGPU_INIT_SAMPLER` and `R_AMDGPU_INIT_IMAGE`.
const INITIAL: [(u32, &str); 2] = [(4, "sampler"), (5, "image")];

/// Reads the file.
///
/// `kernels` have descriptions from elsewhere; `name` returns a kernel's name from its symbol's.
pub(super) fn parse(
    bytes: &[u8],
    kernels: Kernels,
    name: impl Fn(&str) -> String,
) -> Result<Module, Error> {
    let header: &Header = FileHeader64::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(
            header.e_shoff.get(LE),
            format!("section table: {e}"),
            "a table of section headers",
        )
    })?;
    let mut target = None;
    for section in sections.iter().filter(|section| section.sh_type(LE) == SHT_NOTE) {
        let notes = notes::of_section(content(bytes, section)?, section.sh_offset(LE))?;
        target = target.or(target::of_notes(&notes)?);
    }
    let target = target.ok_or_else(|| {
        Error::malformed(
            0,
            "code object without a note of its GPU",
            "NT_AMD_HSA_ISA_VERSION in .note",
        )
    })?;
    let (image, places) = lay_out(bytes, &sections)?;
    let mut module = Module::new(Isa::Gfx9 { mach: target.mach }, vec![image]);
    let ids = read_symbols(bytes, &sections, &places, &name, &mut module)?;
    symbols::functions(&mut module, kernels, target.version);
    relocations(bytes, &sections, &places, &ids, &mut module)?;
    module.hsa = Some(Box::new(HsaModule {
        version: 1,
        xnack: target.xnack,
        sramecc: target.sramecc,
        target: None,
        printf: vec![],
        code: code(&sections, &places),
    }));
    module.readable()
}

/// Returns the ranges of the image with instructions, in ascending order.
fn code(sections: &SectionTable<'_, Header>, places: &[Option<u64>]) -> Vec<Range<u64>> {
    let is_code = |section: &SectionHeader64<LE>| {
        section.sh_flags(LE).contains(SHF_EXECINSTR) && section.sh_type(LE) != SHT_NOBITS
    };
    let placed = sections.iter().zip(places).filter(|(section, _)| is_code(section));
    let ranges =
        placed.filter_map(|(section, place)| place.map(|start| start..start + section.sh_size(LE)));
    ranges.filter(|range| !range.is_empty()).collect()
}

fn content<'a>(bytes: &'a [u8], section: &SectionHeader64<LE>) -> Result<&'a [u8], Error> {
    let at = section.sh_offset(LE);
    section
        .data(LE, bytes)
        .map_err(|e| Error::malformed(at, format!("section: {e}"), "it to lie within the file"))
}

/// Makes an image of the loaded sections, with content first, and returns where each begins.
///
/// The place of a section that is not loaded is `None`.
fn lay_out(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
) -> Result<(Section, Vec<Option<u64>>), Error> {
    let mut image = Section {
        name: "image".into(),
        kind: SectionKind::Image,
        align: PAGE_BYTES,
        size: 0,
        data: Vec::new(),
    };
    let mut places = vec![None; sections.len()];
    let mut count = 0;
    for zeros in [false, true] {
        for (section, place) in sections.iter().zip(&mut places) {
            let is_zeros = section.sh_type(LE) == SHT_NOBITS;
            if section.sh_flags(LE).0 & SHF_ALLOC.0 == 0 || is_zeros != zeros {
                continue;
            }
            let (at, align) = (section.sh_offset(LE), section.sh_addralign(LE).max(1));
            count += 1;
            if !align.is_power_of_two() || align > MAX_ALIGN || count > MAX_SECTIONS {
                let what = format!("section {count} to load, with alignment {align:#x}");
                return Err(Error::malformed(at, what, "at most 64, at powers of two to 64 KiB"));
            }
            let start = image.size.next_multiple_of(align);
            let end = start.checked_add(section.sh_size(LE)).filter(|&end| end <= MAX_IMAGE);
            image.size = end.ok_or_else(|| {
                Error::malformed(at, "sections to load", "an image of at most 1 GiB")
            })?;
            image.align = image.align.max(align);
            if !is_zeros {
                image.data.resize(start as usize, 0);
                image.data.extend_from_slice(content(bytes, section)?);
            }
            *place = Some(start);
        }
    }
    if image.data.is_empty() {
        return Err(Error::malformed(0x28, "section table", "sections to load"));
    }
    Ok((image, places))
}

/// Adds the symbols, and returns the module's symbol for each symbol of the file, the first
/// included.
fn read_symbols(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
    places: &[Option<u64>],
    name: &impl Fn(&str) -> String,
    module: &mut Module,
) -> Result<Vec<Option<SymbolId>>, Error> {
    let table = sections.symbols(LE, bytes, SHT_SYMTAB);
    let table = table.map_err(|e| {
        Error::malformed(0x28, format!("symbol table: {e}"), "symbols and their strings")
    })?;
    let at = sections.section(table.section()).map_or(0, |s| s.sh_offset(LE));
    let image = module.section(SectionId(0)).size;
    // Names may overlap in the string table.
    let mut names_left = 4 * bytes.len();
    let mut ids = vec![];
    for symbol in table.symbols() {
        let kind = match symbol.st_type() {
            symbols::STT_KERNEL => SymbolKind::Descriptor,
            STT_OBJECT => SymbolKind::Object,
            STT_SECTION => SymbolKind::Section,
            _ => {
                ids.push(None);
                continue;
            }
        };
        let raw = symbol.name(LE, table.strings()).map_err(|e| {
            Error::malformed(
                at,
                format!("name of symbol {}: {e}", ids.len()),
                "an offset in strings",
            )
        })?;
        names_left = names_left.checked_sub(raw.len()).ok_or_else(|| {
            Error::malformed(at, "names", "names that do not overlap in the string table")
        })?;
        let name = name(&String::from_utf8_lossy(raw));
        let place = places.get(usize::from(symbol.st_shndx(LE).0)).copied().flatten();
        let (value, size) = (symbol.st_value(LE), symbol.st_size(LE));
        let offset = place
            .unwrap_or(0)
            .checked_add(value)
            .filter(|at| at.checked_add(size).is_some_and(|end| end <= image));
        let offset = offset.ok_or_else(|| {
            let what = format!("symbol {name} at {value:#x} of {size:#x} bytes");
            Error::malformed(at, what, format!("it to lie within the image's {image:#x} bytes"))
        })?;
        ids.push(Some(SymbolId(module.symbols.len())));
        module.symbols.push(Symbol {
            name,
            kind: if place.is_none() && kind == SymbolKind::Descriptor {
                SymbolKind::Object
            } else {
                kind
            },
            section: place.map(|_| SectionId(0)),
            offset,
            size,
            binding: if symbol.is_local() { Binding::Local } else { Binding::Global },
            dynamic_shared: false,
        });
    }
    Ok(ids)
}

fn relocations(
    bytes: &[u8],
    sections: &SectionTable<'_, Header>,
    places: &[Option<u64>],
    ids: &[Option<SymbolId>],
    module: &mut Module,
) -> Result<(), Error> {
    let mut left = bytes.len();
    for section in sections.iter().filter(|section| section.sh_type(LE) == SHT_RELA) {
        let Some(start) = places.get(section.sh_info(LE) as usize).copied().flatten() else {
            continue;
        };
        let at = section.sh_offset(LE);
        let data = content(bytes, section)?;
        let overlap = || Error::malformed(at, "relocations", "tables that do not overlap");
        left = left.checked_sub(data.len()).ok_or_else(overlap)?;
        for (i, entry) in data.chunks_exact(size_of::<Rela64<LE>>()).enumerate() {
            let at = at + (i * entry.len()) as u64;
            if let Some((_, what)) = INITIAL.iter().find(|(number, _)| entry[8] == *number as u8) {
                return Err(Error::Unsupported {
                    what: format!(
                        "a constant {what} of the program (relocation at offset {at:#x})"
                    ),
                    why: format!(
                        "a driver would make its descriptor; pass the {what} as an argument"
                    ),
                });
            }
            let symbol = |_, index: usize| ids.get(index).copied().flatten();
            module.relocations.extend(reloc::relocation(entry, at, start, symbol, module)?);
        }
    }
    Ok(())
}

//! Data of a zebin: constants, variables, strings, their symbols and relocations.
//!
//! Facts, `visa-semantics.md` 9.

use std::collections::BTreeSet;
use std::sync::Arc;

use object::LittleEndian as LE;
use object::elf::{self, SectionHeader64};
use object::read::elf::{SectionHeader, Sym};
use rustc_hash::FxHashMap;

use super::zebin::{Sections, content};
use crate::Error;
use crate::module::{
    Binding, Module, Part, RelocKind, Relocation, Section, SectionId, SectionKind, Symbol,
    SymbolId, SymbolKind,
};

/// The most bytes of one section in memory.
const MAX_BYTES: u64 = 1 << 32;

/// The module's section for a section of the file, and the offset in it.
type Places = FxHashMap<usize, (SectionId, u64)>;

pub(super) fn read(
    bytes: &[u8],
    sections: &Sections<'_>,
    module: &mut Module,
) -> Result<(), Error> {
    let mut places = Places::default();
    for (data, zero) in
        [(".data.const", ".bss.const"), (".data.const.string", ""), (".data.global", ".bss.global")]
    {
        add(bytes, sections, (data, zero), module, &mut places)?;
    }
    let symbols = symbols(bytes, sections, &places, module)?;
    relocations(bytes, sections, &places, &symbols, module)?;
    let pointed_to =
        module.relocations.iter().map(|relocation| &module.symbols[relocation.symbol.0]);
    let functions = pointed_to.filter(|symbol| symbol.kind == SymbolKind::Function);
    let names: BTreeSet<String> = functions.map(|symbol| symbol.name.clone()).collect();
    if let Some(visa) = &mut module.visa {
        Arc::make_mut(visa).module.in_data = names.into_iter().collect();
    }
    Ok(())
}

fn find<'a>(sections: &Sections<'a>, name: &str) -> Option<(usize, &'a SectionHeader64<LE>)> {
    let is_it = |section: &SectionHeader64<LE>| {
        sections.section_name(LE, section).is_ok_and(|one| one == name.as_bytes())
    };
    sections
        .enumerate()
        .find(|(_, section)| is_it(section))
        .map(|(index, section)| (index.0, section))
}

/// Adds one allocation: content, and zeros after it.
fn add(
    bytes: &[u8],
    sections: &Sections<'_>,
    (data, zero): (&str, &str),
    module: &mut Module,
    places: &mut Places,
) -> Result<(), Error> {
    let (content_of, zero_of) =
        (find(sections, data), find(sections, zero).filter(|_| !zero.is_empty()));
    if content_of.is_none() && zero_of.is_none() {
        return Ok(());
    }
    let id = SectionId(module.sections.len());
    let mut made =
        Section { name: data.into(), kind: SectionKind::Global, align: 64, size: 0, data: vec![] };
    if let Some((index, section)) = content_of {
        made.data = content(bytes, section)?.to_vec();
        made.size = made.data.len() as u64;
        places.insert(index, (id, 0));
    }
    if let Some((index, section)) = zero_of {
        places.insert(index, (id, made.size));
        made.size = made.size.saturating_add(section.sh_size(LE));
    }
    if made.size > MAX_BYTES {
        return Err(Error::Unsupported {
            what: format!("{} bytes in {data}", made.size),
            why: "there are 4 GiB".into(),
        });
    }
    module.sections.push(made);
    Ok(())
}

/// Adds symbols with a place in data. Returns the module's symbols by their index in the file's
/// table.
fn symbols(
    bytes: &[u8],
    sections: &Sections<'_>,
    places: &Places,
    module: &mut Module,
) -> Result<FxHashMap<usize, SymbolId>, Error> {
    let table = sections
        .symbols(LE, bytes, elf::SHT_SYMTAB)
        .map_err(|e| Error::malformed(0, format!("symbol table: {e}"), "ELF symbols"))?;
    let mut known = FxHashMap::default();
    for (index, symbol) in table.enumerate() {
        let name = String::from_utf8_lossy(symbol.name(LE, table.strings()).unwrap_or_default())
            .into_owned();
        let section = table.symbol_section(LE, symbol, index).ok().flatten().map(|index| index.0);
        if let Some(&(section, start)) = section.and_then(|section| places.get(&section)) {
            // Offsets of symbols in zeros count from the start of the whole allocation.
            let offset = symbol.st_value(LE);
            if offset > module.sections[section.0].size {
                let what = format!("symbol `{name}` at {offset:#x}");
                return Err(Error::malformed(start, what, "a place in its section"));
            }
            known.insert(index.0, SymbolId(module.symbols.len()));
            module.symbols.push(Symbol {
                name,
                kind: SymbolKind::Object,
                section: Some(section),
                offset,
                size: symbol.st_size(LE),
                binding: if symbol.is_local() { Binding::Local } else { Binding::Global },
                dynamic_shared: false,
            });
        } else if let Some(function) =
            module.functions.iter().find(|function| function.name == name)
        {
            known.insert(index.0, function.symbol);
        }
    }
    Ok(known)
}

/// Adds the relocations of data. Relocations of machine code are not for us.
fn relocations(
    bytes: &[u8],
    sections: &Sections<'_>,
    places: &Places,
    symbols: &FxHashMap<usize, SymbolId>,
    module: &mut Module,
) -> Result<(), Error> {
    for section in sections.iter() {
        let Some(&(target, start)) = places.get(&(section.sh_info(LE) as usize)) else { continue };
        let at = section.sh_offset(LE);
        let malformed = |e: object::Error| {
            Error::malformed(at, format!("relocations: {e}"), "a table within the file")
        };
        let mut entries: Vec<(u64, u32, u32, Option<i64>)> = vec![];
        if let Some((rels, _)) = section.rel(LE, bytes).map_err(malformed)? {
            entries.extend(
                rels.iter()
                    .map(|rel| (rel.r_offset.get(LE), rel.r_type(LE).0, rel.r_sym(LE), None)),
            );
        }
        if let Some((relas, _)) = section.rela(LE, bytes).map_err(malformed)? {
            entries.extend(relas.iter().map(|rela| {
                let addend = Some(rela.r_addend.get(LE));
                (rela.r_offset.get(LE), rela.r_type(LE, false).0, rela.r_sym(LE, false), addend)
            }));
        }
        for (offset, kind, symbol, addend) in entries {
            let (kind, name) = match kind {
                1 => (RelocKind::Address { part: Part::Whole, at: 0, bits: 64 }, "R_ZE_SYM_ADDR"),
                2 => (RelocKind::Address { part: Part::Low, at: 0, bits: 32 }, "R_ZE_SYM_ADDR_32"),
                3 => (
                    RelocKind::Address { part: Part::High, at: 0, bits: 32 },
                    "R_ZE_SYM_ADDR_32_HI",
                ),
                _ => {
                    let what = format!("relocation of type {kind} of data");
                    return Err(Error::malformed(at, what, "type 1, 2 or 3"));
                }
            };
            let symbol = symbols.get(&(symbol as usize)).copied();
            let symbol = symbol.ok_or_else(|| {
                Error::malformed(
                    at,
                    "a relocation against a symbol that has no place",
                    "a variable or function",
                )
            })?;
            let offset = start.saturating_add(offset);
            if offset.saturating_add(kind.bytes()) > module.sections[target.0].size {
                return Err(Error::malformed(
                    at,
                    format!("a relocation at {offset:#x}"),
                    "a place in its section",
                ));
            }
            module.relocations.push(Relocation {
                section: target,
                offset,
                kind,
                name,
                symbol,
                addend,
            });
        }
    }
    Ok(())
}

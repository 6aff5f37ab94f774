//! Linking: several modules as one.
//!
//! Names of functions and variables that one module defines stand for uses of other modules, as
//! NVIDIA's nvlink has it. PTX is linked as text.

use std::collections::HashMap;

use object::read::archive::ArchiveFile;

use super::module::{
    Binding, Module, Relocation, Section, SectionId, SectionKind, SymbolId, SymbolKind,
};
use super::{Arch, Error, Format, modules_for, ptx, recognise};

/// The largest constant bank.
const MAX_BANK_BYTES: u64 = 1 << 16;

/// Links files with names: texts of PTX, or relocatable code for a GPU. Of containers and archives,
/// the code for the GPU.
///
/// # Errors
///
/// A file cannot be read or is of another kind than the first; two files define a name.
pub fn linked(files: &[(&str, &[u8])], arch: Option<Arch>) -> Result<Module, Error> {
    let is_text = |bytes: &[u8]| recognise(bytes) == Some(Format::Ptx);
    if files.first().is_none_or(|(_, bytes)| is_text(bytes)) {
        return ptx::parse_linked(files);
    }
    let mut parts = vec![];
    for &(name, bytes) in files {
        let named = |problem| Error::Linked { name: name.into(), problem: Box::new(problem) };
        for module in modules_of(bytes, arch).map_err(named)? {
            if module.ptx.is_some() {
                return Err(named(Error::NotCode));
            }
            parts.push((name, module));
        }
    }
    merge(parts)
}

/// Returns the modules for a GPU of a file, or of the files of an archive.
fn modules_of(bytes: &[u8], arch: Option<Arch>) -> Result<Vec<Module>, Error> {
    if !bytes.starts_with(&object::archive::MAGIC) {
        return modules_for(bytes, arch);
    }
    let malformed = |error: object::read::Error| {
        Error::malformed(0, format!("archive: {error}"), "an archive of object files")
    };
    let archive = ArchiveFile::parse(bytes).map_err(malformed)?;
    let mut modules = vec![];
    for member in archive.members() {
        let content = member.and_then(|member| member.data(bytes)).map_err(malformed)?;
        match recognise(content).map(|_| modules_for(content, arch)) {
            Some(Ok(found)) => modules.extend(found),
            Some(Err(error @ Error::Member { .. })) => return Err(error),
            // Objects of the host's own code, and code for other GPUs.
            _ => {}
        }
    }
    Ok(modules)
}

/// Makes one module of several, with names.
///
/// # Errors
///
/// The modules are for GPUs that do not run one program; two define a name; a constant bank is too
/// large.
pub fn merge<'a>(parts: impl IntoIterator<Item = (&'a str, Module)>) -> Result<Module, Error> {
    let mut parts = parts.into_iter();
    let Some((first, mut whole)) = parts.next() else { return Err(Error::NothingToLink) };
    let mut file_of: Vec<&str> = vec![first; whole.symbols.len()];
    for (name, part) in parts {
        let named = |problem| Error::Linked { name: name.into(), problem: Box::new(problem) };
        let both = Arch::of(&whole).zip(Arch::of(&part));
        let newer = both.is_some_and(|(held, added)| added.rank(held).is_some());
        if !newer && both.is_none_or(|(held, added)| held.rank(added).is_none()) {
            return Err(named(Error::OtherGpu { found: part.isa, expected: whole.isa }));
        }
        if newer {
            whole.isa = part.isa;
        }
        append(&mut whole, part).map_err(named)?;
        file_of.resize(whole.symbols.len(), name);
    }
    resolve(&mut whole, &file_of)?;
    Ok(whole)
}

/// Appends a module: its sections, symbols, functions and relocations get further numbers.
fn append(whole: &mut Module, part: Module) -> Result<(), Error> {
    let mut places: Vec<(SectionId, u64)> = vec![];
    for section in part.sections {
        let owned = |owner: Option<SectionId>| Some(places.get(owner?.0)?.0);
        let kind = match section.kind {
            SectionKind::Constant { bank, owner } => {
                SectionKind::Constant { bank, owner: owned(owner) }
            }
            SectionKind::Shared { owner } => SectionKind::Shared { owner: owned(owner) },
            kind => kind,
        };
        places.push(place(whole, Section { kind, ..section })?);
    }
    let first = whole.symbols.len();
    let moved = |id: SymbolId| SymbolId(first + id.0);
    for mut symbol in part.symbols {
        if let Some(section) = symbol.section {
            let (section, base) = places[section.0];
            symbol.section = Some(section);
            symbol.offset = symbol.offset.wrapping_add(base);
        }
        whole.symbols.push(symbol);
    }
    for mut function in part.functions {
        function.symbol = moved(function.symbol);
        function.section = places[function.section.0].0;
        function.externs.iter_mut().for_each(|symbol| *symbol = moved(*symbol));
        whole.functions.push(function);
    }
    whole.relocations.extend(part.relocations.into_iter().map(|relocation| {
        let (section, base) = places[relocation.section.0];
        let (offset, symbol) = (relocation.offset.wrapping_add(base), moved(relocation.symbol));
        Relocation { section, offset, symbol, ..relocation }
    }));
    whole.lines.append(part.lines, |section| places[section.0].0);
    whole.unreadable.extend(part.unreadable);
    Ok(())
}

/// Puts a section behind the others, or behind the content of its constant bank. Returns its
/// number, and the place of its first byte.
fn place(whole: &mut Module, section: Section) -> Result<(SectionId, u64), Error> {
    let is_bank = matches!(section.kind, SectionKind::Constant { owner: None, .. });
    let held = whole.sections.iter_mut().enumerate();
    let held = { held }.find(|(_, held)| is_bank && held.kind == section.kind);
    let Some((number, held)) = held else {
        whole.sections.push(section);
        return Ok((SectionId(whole.sections.len() - 1), 0));
    };
    let base = held.size.next_multiple_of(section.align);
    let size = base + section.size;
    if size > MAX_BANK_BYTES {
        let what = format!("{} of {size} bytes", section.name);
        return Err(Error::Unsupported { what, why: "a constant bank has 64 KiB".into() });
    }
    held.align = held.align.max(section.align);
    held.size = size;
    held.data.resize(base as usize, 0);
    held.data.extend(section.data);
    Ok((SectionId(number), base))
}

/// Lets uses of a name stand for its definition.
fn resolve(whole: &mut Module, file_of: &[&str]) -> Result<(), Error> {
    let is_name = |kind| kind != SymbolKind::Section;
    let mut definitions: HashMap<&str, usize> = HashMap::new();
    for (number, symbol) in whole.symbols.iter().enumerate() {
        let is_defined = symbol.section.is_some() && symbol.binding != Binding::Local;
        if !is_defined || !is_name(symbol.kind) {
            continue;
        }
        let Some(&held) = definitions.get(symbol.name.as_str()) else {
            definitions.insert(&symbol.name, number);
            continue;
        };
        match (whole.symbols[held].binding, symbol.binding) {
            (_, Binding::Weak) => {}
            (Binding::Weak, _) => {
                definitions.insert(&symbol.name, number);
            }
            _ => {
                let (first, second) = (file_of[held], file_of[number]);
                let problem =
                    Error::DefinedTwice { name: symbol.name.clone(), first: first.into() };
                return Err(Error::Linked { name: second.into(), problem: Box::new(problem) });
            }
        }
    }
    let target = |id: SymbolId| {
        let symbol = &whole.symbols[id.0];
        let takes_name = symbol.binding != Binding::Local && is_name(symbol.kind);
        let found = definitions.get(symbol.name.as_str()).filter(|_| takes_name);
        found.map_or(id, |&found| SymbolId(found))
    };
    let targets: Vec<SymbolId> = (0..whole.symbols.len()).map(|n| target(SymbolId(n))).collect();
    // Another definition has taken the place of a weak one.
    whole.functions.retain(|function| targets[function.symbol.0] == function.symbol);
    for function in &mut whole.functions {
        function.externs.iter_mut().for_each(|symbol| *symbol = targets[symbol.0]);
        // The files tell only the stack of their own functions.
        function.stack_bytes = None;
    }
    for relocation in &mut whole.relocations {
        relocation.symbol = targets[relocation.symbol.0];
    }
    // No undefined function remains that another module defines.
    for (number, target) in targets.iter().enumerate() {
        if target.0 != number {
            let definition = whole.symbols[target.0].clone();
            whole.symbols[number] = super::Symbol { binding: Binding::Local, ..definition };
        }
    }
    Ok(())
}

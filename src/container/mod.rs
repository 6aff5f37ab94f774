//! File formats -> [`Module`]: kernels, code, constants, symbols, relocations, argument layout.
//!
//! `module` is what the rest of warploom sees of a GPU binary, `link` places it in guest memory; `cubin`, `fatbin` and `hsaco`
//! read the formats; `text` assembles programs written by hand. Formats are recognised by content, never by name. Nothing here
//! decodes an instruction.

use std::collections::BTreeMap;

pub mod cubin;
mod error;
pub mod fatbin;
pub mod hsaco;
pub mod link;
pub mod module;
mod raw;
pub mod text;

pub use error::Error;
pub use link::{Addresses, Code, CodePlace, Linked};
pub use module::{
    Binding, Function, FunctionId, Half, IndirectBranch, Isa, Module, Param, RelocKind, Relocation, Section, SectionId,
    SectionKind, Symbol, SymbolId, SymbolKind,
};
pub use raw::{RawKernel, ScalarStart, VectorStart};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// An NVIDIA ELF file with the code of one GPU.
    Cubin,
    /// One or several NVIDIA fat binaries.
    FatBinary,
    /// An AMD ELF file with the code of one GPU.
    Hsaco,
    /// One or several of clang's offload bundles.
    OffloadBundle,
    /// An ELF file of another machine; fat binaries and offload bundles may be in its sections.
    HostElf,
    /// Text, see [`text`].
    Assembly,
    /// A function in the text form of the IR, see [`crate::ir::print`].
    Ir,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Cubin => "NVIDIA cubin",
            Format::FatBinary => "NVIDIA fat binary",
            Format::Hsaco => "AMD HSA code object",
            Format::OffloadBundle => "offload bundle",
            Format::HostElf => "ELF file of a host",
            Format::Assembly => "assembly",
            Format::Ir => "function of the IR",
        })
    }
}

/// The format of a file by its first bytes.
pub fn recognise(bytes: &[u8]) -> Option<Format> {
    use hsaco::{bundle, compressed};
    if bytes.starts_with(&fatbin::MAGIC) {
        return Some(Format::FatBinary);
    }
    if bytes.starts_with(bundle::MAGIC) || bytes.starts_with(compressed::MAGIC) {
        return Some(Format::OffloadBundle);
    }
    if !bytes.starts_with(b"\x7fELF") {
        return text::recognise(bytes);
    }
    let machine = bytes.get(0x12..0x14)?;
    Some(match object::elf::Machine(u16::from_le_bytes([machine[0], machine[1]])) {
        object::elf::EM_CUDA => Format::Cubin,
        object::elf::EM_AMDGPU => Format::Hsaco,
        _ => Format::HostElf,
    })
}

/// Every module in the file that can run: of a fat binary or an offload bundle the best member, nested ones included.
///
/// An sm_52 device runs code for sm_52 and sm_50, the best being its own; sm_53 is taken if there is nothing else. Of AMD's
/// GPUs gfx900 comes first.
pub fn modules(bytes: &[u8]) -> Result<Vec<Module>, Error> {
    let unrecognised = || Error::Unrecognised { start: bytes.iter().take(16).copied().collect() };
    let format = recognise(bytes).ok_or_else(unrecognised)?;
    match format {
        Format::Cubin => return Ok(vec![cubin::parse(bytes)?]),
        Format::Hsaco => return Ok(vec![hsaco::parse(bytes)?]),
        Format::Assembly | Format::Ir => return Ok(vec![text::parse(bytes, format)?]),
        Format::FatBinary | Format::OffloadBundle | Format::HostElf => {}
    }
    let mut found = Vec::new();
    let mut best = best_cubins(bytes, format, &mut found)?;
    best.extend(best_code_objects(bytes, format, &mut found)?);
    if best.is_empty() {
        if format == Format::HostElf && found.is_empty() {
            return Err(unrecognised());
        }
        let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
        return Err(Error::NoCandidate { found });
    }
    best.into_iter().collect()
}

/// The best cubin of each fat binary. The first members are added to what was found.
fn best_cubins(bytes: &[u8], format: Format, found: &mut Vec<String>) -> Result<Vec<Result<Module, Error>>, Error> {
    let mut best: BTreeMap<usize, (u32, Result<Module, Error>)> = BTreeMap::new();
    fatbin::visit(bytes, format, &mut |visited| {
        let member = visited.member;
        if found.len() < MAX_LISTED {
            found.push(member.label());
        }
        let rank = match member.arch {
            52 => 3,
            50 => 2,
            53 => 1,
            _ => return,
        };
        let is_cubin = match &visited.content {
            Ok(content) => recognise(content) == Some(Format::Cubin),
            Err(_) => member.kind == fatbin::MemberKind::Cubin,
        };
        if is_cubin && best.get(&visited.unit).is_none_or(|(held, _)| *held < rank) {
            let within =
                |source| Error::Member { member: member.label(), offset: member.offset, source: Box::new(source) };
            let module = visited.content.and_then(|content| cubin::parse(&content)).map_err(within);
            best.insert(visited.unit, (rank, module));
        }
    })?;
    Ok(best.into_values().map(|(_, module)| module).collect())
}

/// The best code object of each offload bundle, likewise.
fn best_code_objects(
    bytes: &[u8],
    format: Format,
    found: &mut Vec<String>,
) -> Result<Vec<Result<Module, Error>>, Error> {
    let mut best = Vec::new();
    for bundle in hsaco::bundle::bundles(bytes, format)? {
        let room = MAX_LISTED.saturating_sub(found.len());
        found.extend(bundle.entries.iter().take(room).map(|entry| entry.id.clone()));
        let code = bundle.entries.iter().filter(|entry| recognise(&entry.content) == Some(Format::Hsaco));
        let ranked = code.filter_map(|entry| Some((hsaco::rank(entry.target_id())?, entry)));
        let Some((_, entry)) = ranked.max_by_key(|(rank, _)| *rank) else { continue };
        let within =
            |source| Error::Member { member: entry.id.clone(), offset: entry.offset, source: Box::new(source) };
        best.push(hsaco::parse(&entry.content).map_err(within));
    }
    Ok(best)
}

/// Members that a message names.
const MAX_LISTED: usize = 12;

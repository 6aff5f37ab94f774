//! File formats -> [`Module`]: kernels, code, constants, symbols, relocations, argument layout.
//!
//! `module` is what the rest of warploom sees of a GPU binary, `link` places it in guest memory, `cubin` and `fatbin`
//! read the formats. Formats are recognised by content, never by name. Nothing here decodes an instruction.

pub mod cubin;
mod error;
pub mod fatbin;
pub mod link;
pub mod module;

pub use error::Error;
pub use link::{Addresses, Code, CodePlace, Linked};
pub use module::{
    Binding, Function, FunctionId, Half, IndirectBranch, Isa, Module, Param, RelocKind, Relocation, Section, SectionId,
    SectionKind, Symbol, SymbolId, SymbolKind,
};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// An NVIDIA ELF file with the code of one GPU.
    Cubin,
    /// One or several NVIDIA fat binaries.
    FatBinary,
    /// An ELF file of another machine; fat binaries may be in its sections.
    HostElf,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Cubin => "NVIDIA cubin",
            Format::FatBinary => "NVIDIA fat binary",
            Format::HostElf => "ELF file of a host",
        })
    }
}

/// The format of a file by its first bytes.
pub fn recognise(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(&fatbin::MAGIC) {
        return Some(Format::FatBinary);
    }
    let machine = bytes.starts_with(b"\x7fELF").then(|| bytes.get(0x12..0x14)).flatten()?;
    Some(if machine == object::elf::EM_CUDA.0.to_le_bytes() { Format::Cubin } else { Format::HostElf })
}

/// Every module in the file that can run: of a fat binary the best member, nested ones included.
///
/// An sm_52 device runs code for sm_52 and sm_50, the best being its own; sm_53 is taken if there is nothing else.
pub fn modules(bytes: &[u8]) -> Result<Vec<Module>, Error> {
    let unrecognised = || Error::Unrecognised { start: bytes.iter().take(16).copied().collect() };
    let format = recognise(bytes).ok_or_else(unrecognised)?;
    if format == Format::Cubin {
        return Ok(vec![cubin::parse(bytes)?]);
    }
    let mut best: std::collections::BTreeMap<usize, (u32, Result<Module, Error>)> = Default::default();
    let mut found = Vec::new();
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
    if best.is_empty() {
        if format == Format::HostElf && found.is_empty() {
            return Err(unrecognised());
        }
        let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
        return Err(Error::NoCandidate { found });
    }
    best.into_values().map(|(_, module)| module).collect()
}

/// Members that a message names.
const MAX_LISTED: usize = 12;

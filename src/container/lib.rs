//! File formats -> [`Module`]: kernels, code, constants, symbols, relocations, argument layout.
//!
//! `module` is what the rest of warploom sees of a GPU binary, `link` places it in guest memory; `cubin`, `fatbin` and `hsaco`
//! read the formats, as do `ptx` and `visa`; `select` takes what suits a GPU (`arch`); `text` assembles programs written by hand. Formats are recognised by content, never by name. Nothing here
//! decodes an instruction.

mod arch;
mod compression;
pub mod cubin;
mod error;
pub mod fatbin;
pub mod hsaco;
pub mod link;
pub mod module;
pub mod ptx;
mod raw;
mod select;
mod shader;
pub mod sph;
pub mod text;
pub mod visa;
mod yaml;

pub use arch::{Arch, TargetId};
pub use error::Error;
pub use link::{Addresses, Code, CodePlace, Linked};
pub use module::{
    Binding, Function, FunctionId, Half, IndirectBranch, Isa, Module, Param, RelocKind, Relocation, Section, SectionId,
    SectionKind, SharedLayout, SharedSections, Symbol, SymbolId, SymbolKind, Unreadable,
};
pub use raw::{RawKernel, ScalarStart, VectorStart};
pub use select::{Modules, each_module, modules, modules_for, read_for, texts_for};
pub use shader::{ExportTarget, Input, Parameter, ShaderArray, ShaderKernel, Stage, WaveInput, emitted};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// An NVIDIA ELF file with the code of one GPU.
    Cubin,
    /// One or several NVIDIA fat binaries.
    FatBinary,
    /// An AMD ELF file with the code of one GPU.
    Hsaco,
    /// A binary of AMD's OpenCL 2 drivers, with a code object in it.
    AmdOpenCl,
    /// One or several of clang's offload bundles.
    OffloadBundle,
    /// An ELF file of another machine; fat binaries and offload bundles may be in its sections.
    HostElf,
    /// NVIDIA's PTX, text that a driver compiles.
    Ptx,
    /// An ELF file of Intel's compiler.
    Zebin,
    /// vISA as text.
    VisaText,
    /// vISA in its old binary form.
    VisaBinary,
    /// A graphics program for NVIDIA Maxwell: its header and its code.
    MaxwellShader,
    /// Text, see [`text`].
    Assembly,
    /// A function in the text form of the IR, see [`warploom_ir::print`].
    Ir,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Cubin => "NVIDIA cubin",
            Format::FatBinary => "NVIDIA fat binary",
            Format::Hsaco => "AMD HSA code object",
            Format::AmdOpenCl => "AMD OpenCL 2 binary",
            Format::OffloadBundle => "offload bundle",
            Format::HostElf => "ELF file of a host",
            Format::Ptx => "NVIDIA PTX",
            Format::Zebin => "Intel zebin",
            Format::VisaText => "Intel vISA",
            Format::VisaBinary => "Intel vISA binary",
            Format::MaxwellShader => "Maxwell graphics program",
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
    if bytes.starts_with(&warploom_visa::binary::MAGIC) {
        return Some(Format::VisaBinary);
    }
    if !bytes.starts_with(b"\x7fELF") {
        if sph::recognise(bytes) {
            return Some(Format::MaxwellShader);
        }
        if visa::recognise_text(bytes) {
            return Some(Format::VisaText);
        }
        return if ptx::recognise(bytes) { Some(Format::Ptx) } else { text::recognise(bytes) };
    }
    let machine = bytes.get(0x12..0x14)?;
    let machine = u16::from_le_bytes([machine[0], machine[1]]);
    if hsaco::opencl::MACHINES.contains(&machine) {
        return Some(Format::AmdOpenCl);
    }
    if machine == visa::MACHINE {
        return Some(Format::Zebin);
    }
    Some(match object::elf::Machine(machine) {
        object::elf::EM_CUDA => Format::Cubin,
        object::elf::EM_AMDGPU => Format::Hsaco,
        _ => Format::HostElf,
    })
}

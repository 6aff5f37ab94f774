//! AMD HSA code objects, versions 2 to 6, for GFX9 ("Vega"), as ROCm's loaders take them.
//!
//! A code object is a linked ELF file whose segments form one image. Constants, code and variables
//! keep their distances, because code reaches everything relative to its own pc. A kernel is a
//! 64-byte descriptor in the image (symbol `NAME.kd`) and an entry in a note of MessagePack. In
//! version 2 it is a structure of 256 bytes before its code, and an entry in a note of YAML.
//!
//! `target` reads the ELF header, `image` the segments, `symbols` symbols and functions, `reloc`
//! the dynamic relocations, `metadata` and `yaml` the note (`notes`). A [`Module`] keeps the data
//! of `descriptor` and `kernel`; `kernel_code` reads the version 2 structure. `opencl` reads
//! binaries of AMD's OpenCL 2, and `relocatable` the code objects in them. `bundle` and
//! `compressed` read clang's containers of several code objects.
//!
//! Source: LLVM's "User Guide for AMDGPU Backend" (AMDGPUUsage), sections "ELF Code Object", "Code
//! Object Metadata" and "Kernel Dispatch"; checked against `llvm-readelf` 19.

pub mod bundle;
pub(super) mod compressed;
pub mod descriptor;
#[cfg(feature = "gfx9")]
mod image;
pub mod kernel;
#[cfg(feature = "gfx9")]
mod kernel_code;
#[cfg(feature = "gfx9")]
mod metadata;
mod notes;
#[cfg(feature = "gfx9")]
pub(super) mod opencl;
#[cfg(feature = "gfx9")]
mod reloc;
#[cfg(feature = "gfx9")]
mod relocatable;
#[cfg(feature = "gfx9")]
mod symbols;
mod target;
#[cfg(feature = "gfx9")]
mod yaml;

pub use descriptor::{FloatMode, KernelDescriptor, SystemSgpr, UserSgpr};
pub use kernel::{AddressSpace, Arg, HiddenArg, HiddenKind, HsaKernel, HsaModule, ValueKind};
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader, SectionTable};
pub use target::{Feature, Gfx9};

use super::{Error, Isa, Lines, Module, SectionId};
#[cfg(not(feature = "gfx9"))]
pub use crate::absent::hsaco::{opencl, parse};

type Header = FileHeader64<LE>;

/// Reads a code object. The memory used is at most a small multiple of the file's size, and 16 MiB.
#[cfg(feature = "gfx9")]
pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let segments = header.program_headers(LE, bytes).map_err(|e| {
        Error::malformed(
            header.e_phoff.get(LE),
            format!("program headers: {e}"),
            "a table within the file",
        )
    })?;
    target::check(header)?;
    let notes = notes::of_segments(bytes, segments)?;
    let target = target::read(header, &notes)?;
    let mut module =
        Module::new(Isa::Gfx9 { mach: target.mach }, vec![image::read(bytes, segments)?]);
    let metadata = metadata::read(&notes)?;
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(
            header.e_shoff.get(LE),
            format!("section table: {e}"),
            "a table of section headers",
        )
    })?;
    let dynamic = symbols::read(bytes, &sections, target.version, &mut module)?;
    symbols::functions(&mut module, metadata.kernels, target.version);
    reloc::read(bytes, &sections, &dynamic, &mut module)?;
    module.hsa = Some(Box::new(HsaModule {
        version: target.version,
        xnack: target.xnack,
        sramecc: target.sramecc,
        target: metadata.target,
        printf: metadata.printf,
        code: image::code(segments, &sections, module.sections[0].data.len() as u64),
    }));
    module.lines = lines(bytes, &sections);
    module.readable()
}

/// Returns the source lines of the image, in which addresses of the file are offsets.
#[cfg(feature = "gfx9")]
fn lines(bytes: &[u8], sections: &SectionTable<'_, Header>) -> Lines {
    let content = |name: &str| {
        let section = sections.section_by_name(LE, name.as_bytes());
        section.and_then(|(_, section)| section.data(LE, bytes).ok()).unwrap_or_default().to_vec()
    };
    Lines::new(vec![Some(SectionId(0))], Lines::SECTIONS.map(content))
}

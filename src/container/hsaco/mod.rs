//! AMD HSA code objects, versions 3 to 6, for GFX9 ("Vega"): what ROCm's loaders take.
//!
//! A code object is a linked ELF file whose segments form one image: constants, code and variables keep their distances,
//! because code reaches everything relative to its own pc. A kernel is a 64-byte descriptor in the image (symbol
//! `NAME.kd`) and an entry in a note of MessagePack.
//!
//! `target` reads the ELF header, `image` the segments, `symbols` symbols and functions, `reloc` the dynamic relocations,
//! `metadata` the note; `descriptor` and `kernel` are what a [`Module`] keeps of it. `bundle` and `compressed` read the
//! containers of several code objects that clang writes. Source: LLVM's "User Guide for AMDGPU Backend" (AMDGPUUsage), sections "ELF
//! Code Object", "Code Object Metadata" and "Kernel Dispatch"; checked against `llvm-readelf` 19.

pub mod bundle;
pub(super) mod compressed;
pub mod descriptor;
mod image;
pub mod kernel;
mod metadata;
mod reloc;
mod symbols;
mod target;

pub use descriptor::{FloatMode, KernelDescriptor, SystemSgpr, UserSgpr};
pub use kernel::{AddressSpace, Arg, HiddenArg, HiddenKind, HsaKernel, HsaModule, ValueKind};
pub use target::{Feature, Gfx9};

use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;

use super::{Error, Isa, Module};

type Header = FileHeader64<LE>;

/// Reads a code object. Memory used is bounded by a small multiple of the file's size, and 16 MiB.
pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let header = Header::parse(bytes)
        .map_err(|e| Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file"))?;
    let target = target::read(header)?;
    let segments = header.program_headers(LE, bytes).map_err(|e| {
        Error::malformed(header.e_phoff.get(LE), format!("program headers: {e}"), "a table within the file")
    })?;
    let mut module = Module {
        isa: Isa::Gfx9 { mach: target.mach },
        sections: vec![image::read(bytes, segments)?],
        symbols: vec![],
        functions: vec![],
        relocations: vec![],
        hsa: None,
    };
    let metadata = metadata::read(bytes, segments)?;
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(header.e_shoff.get(LE), format!("section table: {e}"), "a table of section headers")
    })?;
    let dynamic = symbols::read(bytes, &sections, &mut module)?;
    symbols::functions(&mut module, metadata.kernels)?;
    reloc::read(bytes, &sections, &dynamic, &mut module)?;
    module.hsa = Some(Box::new(HsaModule {
        version: target.version,
        xnack: target.xnack,
        sramecc: target.sramecc,
        target: metadata.target,
        printf: metadata.printf,
    }));
    Ok(module)
}

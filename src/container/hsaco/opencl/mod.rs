//! Binaries of AMD's OpenCL 2 drivers before ROCm (Catalyst from 1912.05 on, Crimson, amdgpu-pro).
//!
//! `clGetProgramInfo` returned these binaries. A binary is an ELF file of a machine of its own. Its
//! `.text` is a code object (`relocatable`), and its `.rodata` has a structure with each kernel's
//! arguments (`arguments`). Source: documents of CLRX ("AMD Catalyst OpenCL 2.0 ABI description"),
//! the output of its `clrxdisasm` for binaries, and binaries of ethminer.

mod arguments;

use object::LittleEndian as LE;
use object::elf::{FileHeader64, SHT_SYMTAB};
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::metadata::Kernels;
use super::{Header, relocatable};
use crate::recognise::OPENCL_MACHINES;
use crate::{Error, Module};

/// Reads a binary.
pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let unsupported = |what: &str| {
        Error::Unsupported {
        what: format!("an OpenCL binary of AMD's {what}"),
        why: "warploom reads 64-bit ones of driver 1912.05 and later, the only ones with code for GFX9".into(),
    }
    };
    if bytes.get(0x12..0x14) == Some(&OPENCL_MACHINES[0].to_le_bytes()) {
        return Err(unsupported("with addresses of 32 bits"));
    }
    let header: &Header = FileHeader64::parse(bytes).map_err(|e| {
        Error::malformed(0, format!("ELF header: {e}"), "a 64-bit little-endian ELF file")
    })?;
    let table = header.e_shoff.get(LE);
    let sections = header.sections(LE, bytes).map_err(|e| {
        Error::malformed(table, format!("section table: {e}"), "a table of section headers")
    })?;
    let Some((_, text)) = sections.section_by_name(LE, b".text") else {
        return Err(Error::malformed(table, "sections", "a code object in .text"));
    };
    let at = text.sh_offset(LE);
    let outside = |at| Error::malformed(at, "section", "it to lie within the file");
    let inner = text.data(LE, bytes).map_err(|_| outside(at))?;
    if !inner.starts_with(b"\x7fELF") {
        return Err(unsupported("drivers before 1912.05"));
    }
    let symbols = sections.symbols(LE, bytes, SHT_SYMTAB).map_err(|e| {
        Error::malformed(table, format!("symbol table: {e}"), "symbols and their strings")
    })?;
    let mut kernels = Kernels::default();
    let mut left = bytes.len();
    for symbol in symbols.symbols() {
        let Ok(name) = symbol.name(LE, symbols.strings()) else { continue };
        let name = String::from_utf8_lossy(name);
        let kernel = name
            .strip_prefix("__OpenCL_&__OpenCL_")
            .and_then(|rest| rest.strip_suffix("_kernel_metadata"));
        let Some(kernel) = kernel else { continue };
        let index = object::SectionIndex(symbol.st_shndx(LE).0.into());
        let section = sections.section(index).map_err(|e| {
            Error::malformed(table, format!("section of {name}: {e}"), "a section of the file")
        })?;
        let start = section.sh_offset(LE);
        let data = section.data(LE, bytes).map_err(|_| outside(start))?;
        let (value, size) = (symbol.st_value(LE), symbol.st_size(LE));
        let range = usize::try_from(value).ok().zip(usize::try_from(size).ok());
        let metadata = range.and_then(|(value, size)| data.get(value..)?.get(..size));
        let wrong = || {
            let what = format!("{name} at {value:#x} of {size:#x} bytes");
            Error::malformed(
                start,
                what,
                format!("a part of its section's {:#x} that is there once", data.len()),
            )
        };
        let metadata = metadata.ok_or_else(wrong)?;
        left = left.checked_sub(metadata.len()).ok_or_else(wrong)?;
        match arguments::read(kernel, metadata, start + value) {
            Ok(kernel) => kernels.described.push(kernel),
            Err(error) => kernels.unreadable.push((kernel.into(), error)),
        }
    }
    relocatable::parse(inner, kernels, kernel_name).map_err(|source| Error::Member {
        member: "the code object in .text".into(),
        offset: at,
        source: Box::new(source),
    })
}

/// Returns a kernel's name in the source.
fn kernel_name(symbol: &str) -> String {
    let name = symbol.strip_prefix("&__OpenCL_").and_then(|rest| rest.strip_suffix("_kernel"));
    name.unwrap_or(symbol).to_string()
}

//! NVIDIA cubin: a 64-bit little-endian ELF file of machine 190.
//!
//! `elf` reads sections, symbols and relocations, `reloc` lists the relocation types,
//! `info` reads the `.nv.info` attributes. Sources: the layout as `facts/
//! maxwell.md` has it (sections "Code layout" and "Launch environment"), checked against the vendor's tools.

mod elf;
mod info;
pub(super) mod reloc;

use super::{Error, Module};

/// Reads a cubin. Memory used is bounded by a small multiple of the file's size.
pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let mut file = elf::read(bytes)?;
    let index = info::Index::new(&file.module, file.symbol_of_index);
    for attributes in &file.info {
        info::apply(&mut file.module, &index, attributes)?;
    }
    Ok(file.module)
}

//! NVIDIA cubin: a 64-bit little-endian ELF file of machine 190.
//!
//! `elf` reads sections, symbols and relocations, `reloc` lists the relocation types, `info` reads
//! the `.nv.info` attributes, `lines` the table of source lines. Sources: the layout in
//! `facts/maxwell.md` (sections "Code layout" and "Launch environment"), checked against the
//! vendor's tools.

mod elf;
mod info;
mod lines;
pub(super) mod reloc;

use std::collections::BTreeMap;

use super::{Error, Module, SectionId, Unreadable};

/// The sections of kernels that cannot be read, each with its first error.
#[derive(Default)]
struct Refused(BTreeMap<SectionId, Error>);

impl Refused {
    /// Records an error in the code of a section.
    ///
    /// # Errors
    ///
    /// Returns the error itself if no kernel's section has it: the error may concern code that
    /// kernels call.
    fn add(
        &mut self,
        module: &Module,
        section: Option<SectionId>,
        error: Error,
    ) -> Result<(), Error> {
        let section = section
            .filter(|&section| module.kernels().any(|(_, kernel)| kernel.section == section));
        self.0.entry(section.ok_or_else(|| error.clone())?).or_insert(error);
        Ok(())
    }

    /// Makes the functions of these sections unreadable.
    fn take_out(self, module: &mut Module) {
        module.relocations.retain(|relocation| !self.0.contains_key(&relocation.section));
        let unreadable = &mut module.unreadable;
        module.functions.retain(|function| match self.0.get(&function.section) {
            Some(error) => {
                unreadable.push(Unreadable::new(function.name.clone(), error.clone()));
                false
            }
            None => true,
        });
    }
}

/// Reads a cubin. The memory used is at most a small multiple of the file's size.
pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
    let mut file = elf::read(bytes)?;
    let index = info::Index::new(&file.module, file.symbol_of_index);
    for attributes in &file.info {
        if let Err(error) = info::apply(&mut file.module, &index, attributes) {
            file.unreadable.add(&file.module, attributes.owner, error)?;
        }
    }
    file.unreadable.take_out(&mut file.module);
    file.module.readable()
}

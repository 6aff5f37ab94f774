//! File formats -> [`Module`]: kernels, code, constants, symbols, relocations, argument layout.
//!
//! `module` is what the rest of warploom sees of a GPU binary, `link` places it in guest memory, `cubin` and `fatbin`
//! read the formats. Formats are recognised by content, never by name. Nothing here decodes an instruction.

pub mod link;
pub mod module;

pub use module::{
    Function, FunctionId, IndirectBranch, Isa, Module, Param, RelocKind, Relocation, Section, SectionId, SectionKind,
    Symbol, SymbolId, SymbolKind,
};

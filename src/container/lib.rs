//! File formats -> [`Module`]: kernels, code, constants, symbols, relocations, argument layout.
//!
//! The rest of warploom sees a GPU binary as `module`, and `link` places it in guest memory.
//! `cubin`, `fatbin`, `hsaco`, `ptx` and `visa` read the formats, and `lines` reads tables of source
//! lines. `select` takes the code that suits a GPU (`arch`). `text` assembles programs written by
//! hand. Formats are recognised by content, never by name. Nothing here decodes an instruction.

#![cfg_attr(
    not(all(feature = "maxwell", feature = "gfx9", feature = "ptx", feature = "visa")),
    allow(
        dead_code,
        unused_imports,
        reason = "some of what guests share is used by those alone that are left out"
    )
)]

mod absent;
mod arch;
mod compression;
#[cfg(feature = "maxwell")]
pub mod cubin;
mod error;
mod extent;
pub mod fatbin;
mod foreign;
pub mod hsaco;
mod lines;
pub mod link;
mod merge;
pub mod module;
#[cfg(feature = "ptx")]
pub mod ptx;
mod raw;
mod recognise;
mod select;
mod shader;
#[cfg(feature = "maxwell")]
pub mod sph;
pub mod text;
#[cfg(feature = "visa")]
pub mod visa;
#[cfg(any(feature = "gfx9", feature = "visa"))]
mod yaml;

#[cfg(not(feature = "ptx"))]
pub use absent::ptx;
#[cfg(not(feature = "visa"))]
pub use absent::visa;
#[cfg(not(feature = "maxwell"))]
pub use absent::{cubin, sph};
pub use arch::{Arch, TargetId, cuda_device};
pub use error::Error;
pub use extent::{code_in_file, ze_info};
pub use foreign::{Foreign, foreign_kind};
pub use lines::Lines;
pub use link::{Addresses, Code, CodePlace, Linked};
pub use merge::{linked, merge};
pub use module::{
    Binding, Function, FunctionId, IndirectBranch, Isa, Module, Param, Part, RelocKind, Relocation,
    Section, SectionId, SectionKind, SharedLayout, SharedSections, Symbol, SymbolId, SymbolKind,
    Unreadable,
};
pub use raw::{RawKernel, ScalarStart, VectorStart};
pub use recognise::{Format, recognise};
pub use select::{Modules, each_module, modules, modules_for, read_for, texts_for};
pub use shader::{
    ExportTarget, Input, Parameter, ShaderArray, ShaderKernel, Stage, WaveInput, emitted,
};

//! Intel vISA: the virtual instruction set of Intel's graphics compiler, as text and in its old
//! binary form.
//!
//! Readers turn both forms into the types of `module` and `instruction`. `table` has every opcode.
//! `binary` and `text` read and write the forms. Nothing here knows of launches or arguments.
//! Sources: facts, `visa.md` and `visa-semantics.md`.

pub mod binary;
pub mod instruction;
pub mod lift;
pub mod module;
pub mod predefined;
pub mod table;
pub mod text;
pub mod types;
pub mod words;

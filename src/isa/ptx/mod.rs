//! NVIDIA PTX: the virtual instruction set that drivers are given as text.

pub mod layout;
pub mod lift;
pub mod module;
pub mod table;
pub mod text;
pub mod types;
pub mod word;

pub use text::{ReadErrors, read};

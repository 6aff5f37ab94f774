//! NVIDIA PTX: the virtual instruction set that drivers receive as text.

pub mod layout;
pub mod lift;
mod link;
pub mod module;
pub mod parts;
pub mod table;
pub mod text;
pub mod types;
pub mod word;

pub use link::{LinkError, LinkErrors, link};
pub use text::{ReadErrors, read};

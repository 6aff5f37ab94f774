//! The Maxwell instruction table against nvdisasm, and against itself.

mod assembly;
mod listings;
mod structure;
mod words;

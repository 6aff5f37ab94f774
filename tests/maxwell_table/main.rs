//! The Maxwell instruction table against nvdisasm, and against itself.

mod assembly;
mod listings;
#[path = "../support/random.rs"]
mod random;
mod structure;
mod words;

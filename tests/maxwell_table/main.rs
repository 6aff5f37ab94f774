//! The Maxwell instruction table against nvdisasm, and against itself.

mod listings;
mod structure;
mod words;

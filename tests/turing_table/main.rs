//! The instruction table of Turing, Ampere and Ada against nvdisasm and against itself.

mod assembly;
#[path = "../support/random.rs"]
mod random;
mod structure;
mod words;

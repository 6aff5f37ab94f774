//! The instruction table of Turing, Ampere and Ada against nvdisasm and against itself.

mod assembly;
mod structure;
mod words;

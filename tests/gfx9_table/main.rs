//! The GFX9 instruction table against LLVM, and against itself.

#[path = "../support/random.rs"]
mod random;
mod structure;
mod words;

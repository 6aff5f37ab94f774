//! The GFX9 instruction table against LLVM, and against itself.

mod structure;
mod words;

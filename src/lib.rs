//! warploom: a JIT dynamic binary translator that runs captured GPU binaries on a CPU.
//!
//! The way of the data: bytes -> [`container`] -> module -> [`isa`] decode and lift -> [`ir`] -> [`analysis`]
//! -> an engine ([`jit`] or [`interp`]) -> `warploom_runtime` -> outcome. Dependencies point that way only.

pub mod capture;
pub mod cli;
pub mod exec;
pub mod generate;
pub mod summary;

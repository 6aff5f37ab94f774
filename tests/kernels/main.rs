//! Whole kernels, compiled by NVIDIA's compiler and for AMD's GFX9 by LLVM, against plain loops of
//! Rust: on both engines, with one and two threads, in many launch shapes. `support` shows how a
//! test states its expectations.

mod behaviour;
mod contention;
mod corpus;
mod corpus_atomics;
mod cross_check;
mod draw;
mod examples;
mod faults;
mod floats;
mod gfx9;
mod manifests;
mod reference;
mod sparse;
mod support;
mod translation;
mod unroll;
mod visa;

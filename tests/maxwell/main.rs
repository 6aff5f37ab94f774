//! Maxwell instructions: each by itself, and random control flow; that none that compilers emit is forgotten.

mod atomics;
mod coverage;
mod divergence;
mod instructions;
mod shapes;
mod silent;
mod support;
#[path = "../support/variable.rs"]
mod variable;

//! Maxwell instructions, each by itself; random control flow; and a check that tests cover all
//! instructions that compilers emit.

mod atomics;
mod coverage;
mod divergence;
mod instructions;
#[path = "../support/random.rs"]
mod random;
mod shapes;
mod silent;
mod support;
#[path = "../support/variable.rs"]
mod variable;

//! Maxwell instructions: each by itself, and random control flow; that none that compilers emit is forgotten.

mod coverage;
mod divergence;
mod instructions;
mod shapes;
mod support;

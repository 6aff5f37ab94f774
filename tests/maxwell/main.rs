//! Maxwell instructions: each by itself, and random control flow.

mod divergence;
mod instructions;
mod shapes;
mod support;

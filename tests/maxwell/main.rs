//! Maxwell instructions: each by itself, and random control flow.

mod atomics;
mod divergence;
mod instructions;
mod shapes;
mod support;

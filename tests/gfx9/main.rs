//! GFX9 instructions, each by itself, on both engines, against references of their own.

mod compares;
mod control;
mod conversions;
mod coverage;
mod division;
mod floats;
mod lanes;
mod modifiers;
mod operands;
mod packed;
mod reference;
mod scalar;
mod smem;
mod support;
mod vector_int;

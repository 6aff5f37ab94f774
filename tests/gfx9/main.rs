//! GFX9 instructions, each by itself, on both engines, against references of their own.

mod compares;
mod conversions;
mod division;
mod floats;
mod modifiers;
mod operands;
mod packed;
mod reference;
mod support;

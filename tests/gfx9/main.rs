//! Each GFX9 instruction alone, on all engines, against a reference of its own.

#![allow(clippy::type_complexity, reason = "tables of names and functions")]
#![allow(clippy::needless_range_loop, reason = "lanes and operands are numbers")]
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    reason = "comparisons of floats are written as they are defined"
)]

mod compares;
mod control;
mod conversions;
mod coverage;
mod division;
mod faults;
mod floats;
mod lanes;
mod literals;
mod modifiers;
mod operands;
mod packed;
mod reference;
mod scalar;
mod silent;
mod smem;
mod support;
mod vector_int;

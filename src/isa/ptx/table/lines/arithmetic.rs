//! Integer arithmetic. Facts, `ptx.md` 2.2.

use super::{Line, line};
use crate::lift::integer;

pub const LINES: &[Line] = &[
    line(
        "add",
        integer::add,
        "d, s, s",
        "[10 1.0] .<int> .sat.s32 [10 1.2] .cc.(s32|u32) [20 4.3] .cc.(s64|u64) [120f 9.2] .sat.u32",
    ),
    line(
        "sub",
        integer::sub,
        "d, s, s",
        "[10 1.0] .<int> .sat.s32 [10 1.3] .cc.(s32|u32) [20 4.3] .cc.(s64|u64)",
    ),
    line("addc", integer::add, "d, s, s", "[10 1.2] .<int> .cc.(s32|u32) [20 4.3] .cc.(s64|u64)"),
    line("subc", integer::sub, "d, s, s", "[10 1.3] .<int> .cc.(s32|u32) [20 4.3] .cc.(s64|u64)"),
    line(
        "add",
        integer::packed_add,
        "d, r, r",
        "[90 8.0] .(u16x2|s16x2) [120f 9.2] .sat.(u16x2|s16x2)",
    ),
    line("mul.(lo|hi)", integer::mul, "d, s, s", "[10 1.0] .<int>"),
    line("mul.wide", integer::mul, "d:double, s, s", "[10 1.0] .(s16|s32|u16|u32)"),
    line(
        "mad.(lo|hi)",
        integer::mad,
        "d, s, s, s",
        "[10 1.0] .<int> [20 3.0] .cc.(s32|u32) [20 4.3] .cc.(s64|u64)",
    ),
    line("mad.hi", integer::mad, "d, s, s, s", "[10 1.0] .sat.s32"),
    line("mad.wide", integer::mad, "d:double, s, s, s:double", "[10 1.0] .(s16|s32|u16|u32)"),
    line(
        "madc.(lo|hi)",
        integer::mad,
        "d, s, s, s",
        "[20 3.0] .(s32|s64|u16|u32|u64) .cc.(s32|u32) [20 4.3] .cc.(s64|u64)",
    ),
    line("mul24.(lo|hi)", integer::mul24, "d, s, s", "[10 1.0] .(s32|u32)"),
    line("mad24.(lo|hi)", integer::mad24, "d, s, s, s", "[10 1.0] .(s32|u32)"),
    line("mad24.hi", integer::mad24, "d, s, s, s", "[10 1.0] .sat.s32"),
    line("sad", integer::sad, "d, s, s, s", "[10 1.0] .<int>"),
    line("div", integer::div, "d, s, s", "[10 1.0] .<int>"),
    line("rem", integer::rem, "d, s, s", "[10 1.0] .<int>"),
    line("abs", integer::abs, "d, s", "[10 1.0] .(s16|s32|s64)"),
    line("neg", integer::neg, "d, s", "[10 1.0] .(s16|s32|s64)"),
    line("min", integer::min, "d, s, s", "[10 1.0] .<int> [90 8.0] .relu.s32"),
    line("max", integer::max, "d, s, s", "[10 1.0] .<int> [90 8.0] .relu.s32"),
    line("min", integer::packed_min, "d, r, r", "[90 8.0] .(u16x2|s16x2) .relu.s16x2"),
    line("max", integer::packed_max, "d, r, r", "[90 8.0] .(u16x2|s16x2) .relu.s16x2"),
];

//! Logic, shifts and fields of bits. Facts, `ptx.md` 2.2.

use super::{Line, line};
use crate::lift::bits;

pub const LINES: &[Line] = &[
    line("and", bits::and, "d, s, s", "[10 1.0] .<bits>"),
    line("or", bits::or, "d, s, s", "[10 1.0] .<bits>"),
    line("xor", bits::xor, "d, s, s", "[10 1.0] .<bits>"),
    line("not", bits::not, "d, s", "[10 1.0] .<bits>"),
    line("and", bits::and, "p, q, q", "[10 1.0] .pred"),
    line("or", bits::or, "p, q, q", "[10 1.0] .pred"),
    line("xor", bits::xor, "p, q, q", "[10 1.0] .pred"),
    line("not", bits::not, "p, q", "[10 1.0] .pred"),
    line("cnot", bits::cnot, "d, s", "[10 1.0] .<bits>"),
    line("shl", bits::shl, "d, s, s:u32", "[10 1.0] .<bits>"),
    line("shr", bits::shr, "d, s, s:u32", "[10 1.0] .(b16|b32|b64|s16|s32|s64|u16|u32|u64)"),
    line("shf.(l|r)", bits::shf, "d, s, s, s", "[32 3.1] .(clamp|wrap).b32"),
    line("bfe", bits::bfe, "d, s, s:byte, s:byte", "[20 2.0] .(s32|s64|u32|u64)"),
    line("bfi", bits::bfi, "d, s, s, s:byte, s:byte", "[20 2.0] .(b32|b64)"),
    line("bfind", bits::bfind, "d:u32, s", "[20 2.0] {.shiftamt}.(s32|s64|u32|u64)"),
    line("clz", bits::clz, "d:u32, s", "[20 2.0] .(b32|b64)"),
    line("popc", bits::popc, "d:u32, s", "[20 2.0] .(b32|b64)"),
    line("brev", bits::brev, "d, s", "[20 2.0] .(b32|b64)"),
    line("lop3", bits::lop3, "d, s, s, s, i:..", "[50 4.3] .b32"),
    line("lop3", bits::lop3, "d_|p, s, s, s, i:.., q", "[70 8.2] .(and|or).b32"),
    line("prmt", bits::prmt, "d, s, s, s", "[20 2.0] {.f4e|b4e|rc8|ecl|ecr|rc16}.b32"),
    line("bmsk", bits::bmsk, "d, s, s", "[70 7.6] .(clamp|wrap).b32"),
    line("szext", bits::szext, "d, s, s:u32", "[70 7.6] .(clamp|wrap).(s32|u32)"),
    line("fns", bits::fns, "d, s, s, s", "[30 5.1] .b32"),
    line("dp4a", bits::dp4a, "d:u32, s:u32, s:u32, s:u32", "[61 5.0] .(s32|u32).(s32|u32)"),
    line("dp2a.(lo|hi)", bits::dp2a, "d:u32, s:u32, s:u32, s:u32", "[61 5.0] .(s32|u32).(s32|u32)"),
];

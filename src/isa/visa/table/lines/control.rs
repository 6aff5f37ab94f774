//! Control flow, synchronization, statements about the source.

use super::{Line, line, sub};
use crate::lift::control::nothing;
use crate::lift::{memory, moves};

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("subroutine",  0x30, "L",           "").lift(nothing),
    line("label",       0x31, "L",           "").lift(nothing),
    line("jmp",         0x32, "E P L",       ""),
    line("call",        0x33, "E P L",       ""),
    line("ret",         0x34, "E P",         ""),
    line("goto",        0x6c, "E P L",       ""),
    line("fcall",       0x67, "E P n b b",   ""),
    line("fret",        0x68, "E P",         ""),
    line("ifcall",      0x4f, "E P s b b t", ".call:3 E 0 1 2"),
    line("faddr",       0x50, "n D",         "").lift(moves::faddr),
    line("switchjmp",   0x69, "E #L s Ls",   "E 0 labels:1"),
    line("FILE",        0x51, "n",           "").lift(nothing),
    line("LOC",         0x52, "d",           "").lift(nothing),
    line("barrier",     0x59, "",            ""),
    line("sampler_cache_flush", 0x5a, "", "").lift(nothing),
    line("wait",        0x5b, "wait",        "").lift(nothing),
    line("fence",       0x5c, "b",           ".fence:0").lift(memory::fence),
    line("yield",       0x5f, "",            "").lift(nothing),
    sub("nbarrier.wait",   0x60, 0, "x s s",     "0"),
    sub("nbarrier.signal", 0x60, 1, "x s s",     ""),
    sub("nbarrier.signal", 0x60, 2, "x s s s s", ""),
    sub("sbarrier.wait",   0x7c, 0, "x",         ""),
    sub("sbarrier.signal", 0x7c, 1, "x",         "").lift(nothing),
    line("lifetime",    0x7b, "life",        "life:0").lift(nothing),
    line("breakpoint",  0x94, "",            "").trap(),
];

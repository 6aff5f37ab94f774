//! Control flow. Facts, `ptx.md` 2.14.

use super::{Line, line};
use crate::lift::control;

pub const LINES: &[Line] = &[
    line("bra", control::ends_block, "label", "[10 1.0] - .uni"),
    line("brx.idx", control::ends_block, "s:u32, targets", "[30 6.0] - .uni"),
    line("call", control::ends_block, "call", "[10 1.0] - .uni"),
    line("ret", control::ends_block, "", "[10 1.0] - .uni"),
    line("exit", control::ends_block, "", "[10 1.0] -"),
    line("trap", control::ends_block, "", "[10 1.0] -"),
    // There is no debugger, warps take turns anyway, and nothing counts events.
    line("brkpt", control::nothing, "", "[11 1.0] -"),
    line("nanosleep", control::nothing, "s", "[70 6.2] .u32"),
    line("pmevent", control::nothing, "i:0..15", "[10 1.4] -"),
    line("pmevent", control::nothing, "i:0..65535", "[20 3.0] .mask"),
    line("alloca", control::alloca, "d, s, i:1..?", "[52 7.3] .(u32|u64)"),
    line("stacksave", control::stacksave, "d", "[52 7.3] .(u32|u64)"),
    line("stackrestore", control::stackrestore, "s", "[52 7.3] .(u32|u64)"),
    // Neither registers nor dependent grids are scarce.
    line(
        "setmaxnreg",
        control::nothing,
        "registers",
        "[90a 8.0|100a 8.6|100f 8.8|120a 8.7|120f 8.8] .(inc|dec).sync.aligned.u32",
    ),
    line("griddepcontrol", control::nothing, "", "[90 7.8] .(launch_dependents|wait)"),
];

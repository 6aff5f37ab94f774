//! Video instructions. Facts, `ptx.md` 2.13.

use super::{Line, line};
use crate::lift::{Lift, video};

const fn scalar(opcode: &'static str, lift: Lift) -> Line {
    line(opcode, lift, "video", "[20 2.0] .<word>.<word>.<word>{.sat}{.add|min|max}")
}

const fn shift(opcode: &'static str, lift: Lift) -> Line {
    line(opcode, lift, "video", "[20 2.0] .<word>.<word>.u32{.sat}.(clamp|wrap){.add|min|max}")
}

const fn simd(opcode: &'static str) -> Line {
    line(opcode, video::simd, "simd", "[30 3.0] .<word>.<word>.<word>{.sat|add}")
}

pub const LINES: &[Line] = &[
    scalar("vadd", video::add),
    scalar("vsub", video::sub),
    scalar("vabsdiff", video::absdiff),
    scalar("vmin", video::min),
    scalar("vmax", video::max),
    shift("vshl", video::shl),
    shift("vshr", video::shr),
    line("vmad", video::mad, "vmad", "[20 2.0] .<word>.<word>.<word>{.po}{.sat}{.shr7|shr15}"),
    line("vset", video::set, "video", "[20 2.0] .<word>.<word>.<compare>{.add|min|max}"),
    simd("vadd2"),
    simd("vsub2"),
    simd("vavrg2"),
    simd("vabsdiff2"),
    simd("vmin2"),
    simd("vmax2"),
    simd("vadd4"),
    simd("vsub4"),
    simd("vavrg4"),
    simd("vabsdiff4"),
    simd("vmin4"),
    simd("vmax4"),
    line(
        "vset2",
        video::simd,
        "simd",
        "[30 3.0] .<word>.<word>.<compare>{.add} [30 3.0 until 20 9.5] .<word>.<word>.<compare_u>{.add}",
    ),
    line(
        "vset4",
        video::simd,
        "simd",
        "[30 3.0] .<word>.<word>.<compare>{.add} [30 3.0 until 20 9.5] .<word>.<word>.<compare_u>{.add}",
    ),
];

//! Comparisons and selections. Facts, `ptx.md` 2.4.

use super::{Line, line};
use crate::lift::compare;

/// The comparisons of types, and the minima of halves.
const SETP: &str = "[10 1.0] .(eq|ne).<bits> .<compare>.<int> .<compare_u>.(u16|u32|u64) .<compare_f>{.ftz}.f32 .<compare_f>.f64";
const SETP_HALF: &str = "[53 4.2] .<compare_f>{.ftz}.f16 [90 7.8] .<compare_f>.bf16";
const SETP_PAIR: &str = "[53 4.2] .<compare_f>{.ftz}.f16x2 [90 7.8] .<compare_f>.bf16x2";
const SETP_COMBINED: &str = "[10 1.0] .(eq|ne).<combine>.<bits> .<compare>.<combine>.<int> .<compare_u>.<combine>.(u16|u32|u64) .<compare_f>.<combine>{.ftz}.f32 .<compare_f>.<combine>.f64";
const SETP_HALF_COMBINED: &str =
    "[53 4.2] .<compare_f>.<combine>{.ftz}.f16 [90 7.8] .<compare_f>.<combine>.bf16";
const SETP_PAIR_COMBINED: &str =
    "[53 4.2] .<compare_f>.<combine>{.ftz}.f16x2 [90 7.8] .<compare_f>.<combine>.bf16x2";

pub const LINES: &[Line] = &[
    line("setp", compare::setp, "p|p?, s, s", SETP),
    line("setp", compare::setp, "p|p?, r, r", SETP_HALF),
    line("setp", compare::setp, "p|p?, r, r", SETP_PAIR),
    line("setp", compare::setp, "p|p?, s, s, q", SETP_COMBINED),
    line("setp", compare::setp, "p|p?, r, r, q", SETP_HALF_COMBINED),
    line("setp", compare::setp, "p|p?, r, r, q", SETP_PAIR_COMBINED),
    line(
        "set",
        compare::set,
        "d, s:1, s:1, combined",
        "[10 1.0] .(eq|ne){.<combine>}.(f32|s32|u32).<bits> .<compare>{.<combine>}.(f32|s32|u32).<int> \
         .<compare_u>{.<combine>}.(f32|s32|u32).(u16|u32|u64) .<compare_f>{.<combine>}{.ftz}.(f32|s32|u32).f32 .<compare_f>{.<combine>}.(f32|s32|u32).f64 \
         [53 4.2] .(eq|ne){.<combine>}.f16.<bits> .<compare>{.<combine>}.f16.<int> .<compare_u>{.<combine>}.f16.(u16|u32|u64) \
         .<compare_f>{.<combine>}{.ftz}.f16.(f16|f32) .<compare_f>{.<combine>}.f16.f64 .<compare_f>{.<combine>}{.ftz}.f16x2.f16x2 \
         [53 6.5] .<compare_f>{.<combine>}{.ftz}.(u16|s16).f16 .<compare_f>{.<combine>}{.ftz}.(u32|s32).(f16|f16x2)",
    ),
    line(
        "set",
        compare::set,
        "d, s:1, s:1, combined_register",
        "[90 7.8] .(eq|ne){.<combine>}.bf16.<bits> .<compare>{.<combine>}.bf16.<int> .<compare_u>{.<combine>}.bf16.(u16|u32|u64) \
         .<compare_f>{.<combine>}.bf16.(f16|f32|f64|bf16) .<compare_f>{.<combine>}.(u16|s16|u32|s32).bf16 .<compare_f>{.<combine>}.(bf16x2|u32|s32).bf16x2",
    ),
    line("selp", compare::selp, "d, s, s, q", "[10 1.0] .<any>"),
    line("slct", compare::slct, "d, s, s, s:1", "[10 1.0] .<any>.(f32|s32) .ftz.<any>.f32"),
];

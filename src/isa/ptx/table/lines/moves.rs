//! Moves and conversions of addresses. Facts, `ptx.md` 2.6, 2.15.

use super::{Line, line};
use crate::lift::{cluster, moves};

pub const LINES: &[Line] = &[
    line("mov", moves::mov, "mov", "[10 1.0] .<any> .pred {.v2|v4}.<any> [70 8.3] .b128"),
    line(
        "cvta{.to}",
        moves::cvta,
        "d, named",
        "[20 2.0] .(global|local|shared).(u32|u64) [20 3.1] .const.(u32|u64) [20 7.8] .shared::cta.(u32|u64) [90 7.8] .shared::cluster.(u32|u64) \
         [70 7.7] .param.(u32|u64) [70 8.3] .param::entry.(u32|u64)",
    ),
    line(
        "isspacep",
        moves::isspacep,
        "p, s:address",
        "[20 2.0] .(global|local|shared) [20 3.1] .const [20 7.8] .shared::cta [90 7.8] .shared::cluster [70 7.7] .param [70 8.3] .param::entry",
    ),
    line("istypep", moves::istypep, "p, s:b64", "[30 4.0] .(texref|samplerref|surfref)"),
    line("mapa", cluster::mapa, "d, named, s:u32", "[90 7.8] {.shared::cluster}.(u32|u64)"),
    line("getctarank", cluster::getctarank, "d:u32, s", "[90 7.8] {.shared::cluster}.(u32|u64)"),
];

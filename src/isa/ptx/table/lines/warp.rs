//! Exchanges and votes of a warp. Facts, `ptx.md` 2.10.

use super::{Line, line};
use crate::lift::warp;

pub const LINES: &[Line] = &[
    line("shfl", warp::shfl, "d|p?, s, s, s", "[30 3.0 until 70 6.4] .(up|down|bfly|idx).b32"),
    line("shfl", warp::shfl, "d|p?, s, s, s, s:b32", "[30 5.1] .sync.(up|down|bfly|idx).b32"),
    line("vote", warp::vote, "p, q", "[12 1.2 until 70 6.4] .(all|any|uni).pred"),
    line("vote", warp::vote, "d, q", "[20 2.0 until 70 6.4] .ballot.b32"),
    line("vote", warp::vote, "p, q, s:b32", "[30 5.1] .sync.(all|any|uni).pred"),
    line("vote", warp::vote, "d, q, s:b32", "[30 5.1] .sync.ballot.b32"),
    line("match", warp::match_lanes, "d:b32, s, s:b32", "[70 5.1] .any.sync.(b32|b64)"),
    line("match", warp::match_lanes, "d:b32_|p?, s, s:b32", "[70 5.1] .all.sync.(b32|b64)"),
    line("activemask", warp::activemask, "d", "[30 6.2] .b32"),
    line(
        "redux",
        warp::redux,
        "d, s, s:b32",
        "[80 7.0] .sync.(add|min|max).(u32|s32) .sync.(and|or|xor).b32 [100a 8.6|100f 8.8] .sync.(min|max){.abs}{.NaN}.f32",
    ),
    line("elect", warp::elect, "d:b32_|p, s:b32", "[90 8.0] .sync"),
    line("bar.warp.sync", warp::warp_sync, "s:b32", "[30 5.1] -"),
];

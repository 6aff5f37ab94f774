//! Textures and surfaces. Facts, `ptx.md` 2.9.

use super::{Line, line};
use crate::lift::{surface, texture};

const FILTERED: &str = "as an H200 samples, for the most part: see docs/fidelity.md";

pub const LINES: &[Line] = &[
    line(
        "tex",
        texture::tex,
        "texture",
        "[10 1.0] .(1d|2d|3d).v4.(f32|s32|u32).(f32|s32) [10 2.3] .(a1d|a2d).v4.(f32|s32|u32).(f32|s32) [20 3.0] .(cube|acube).v4.(f32|s32|u32).f32 \
         [30 3.2] .(2dms|a2dms).v4.(f32|s32|u32).s32 [53 4.2] .(1d|2d|3d|a1d|a2d).<texels_half>.(f32|s32) .(cube|acube).<texels_half>.f32 .(2dms|a2dms).<texels_half>.s32",
    )
    .approximate(FILTERED),
    line(
        "tex.(level|base)",
        texture::tex,
        "texture",
        "[20 3.1] .(1d|2d|3d|a1d|a2d).v4.(f32|s32|u32).(f32|s32) .(cube|acube).v4.(f32|s32|u32).f32 \
         [53 4.2] .(1d|2d|3d|a1d|a2d).<texels_half>.(f32|s32) .(cube|acube).<texels_half>.f32",
    )
    .approximate(FILTERED),
    line(
        "tex.base",
        texture::tex,
        "texture",
        "[30 3.2] .(2dms|a2dms).v4.(f32|s32|u32).s32 [53 4.2] .(2dms|a2dms).<texels_half>.s32",
    )
    .approximate(FILTERED),
    line(
        "tex.grad",
        texture::tex,
        "texture",
        "[20 3.1] .(1d|2d|3d|a1d|a2d).v4.(f32|s32|u32).(f32|s32) [20 4.3] .(cube|acube).v4.(f32|s32|u32).f32 \
         [53 4.2] .(1d|2d|3d|a1d|a2d).<texels_half>.(f32|s32) [53 4.3] .(cube|acube).<texels_half>.f32",
    )
    .approximate(FILTERED),
    line(
        "tld4",
        texture::tld4,
        "texture",
        "[20 2.2] .(r|g|b|a).2d.v4.(f32|s32|u32).f32 [30 4.3] .(r|g|b|a).(a2d|cube|acube).v4.(f32|s32|u32).f32",
    )
    .approximate(FILTERED),
    line(
        "txq",
        texture::txq,
        "d, handle",
        "[10 1.5] .(width|height|depth|normalized_coords|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2).b32 [10 2.1] .(channel_data_type|channel_order).b32 \
         [20 3.1] .force_unnormalized_coords.b32 [20 4.1] .(array_size|num_mipmap_levels).b32 [20 4.2] .memory_layout.b32 [30 4.1] .num_samples.b32",
    ),
    line("txq.level", texture::txq, "d, handle, s:b32", "[30 4.3] .(width|height|depth).b32"),
    line(
        "suq",
        surface::suq,
        "d, handle",
        "[10 1.5] .(width|height|depth).b32 [10 2.1] .(channel_data_type|channel_order).b32 [20 4.1] .array_size.b32 [20 4.2] .memory_layout.b32",
    ),
    line(
        "suld.b",
        surface::suld,
        "d*v^_, texel",
        "[10 1.5] .(1d|2d){.ca|cg|cs|cv}.<texels>.trap [10 2.0] .(1d|2d){.ca|cg|cs|cv}.<texels>.(clamp|zero) [20 3.0] .(3d|a1d|a2d){.ca|cg|cs|cv}.<texels>.<clamp>",
    ),
    line(
        "sust.b",
        surface::sust,
        "texel, s*v^",
        "[10 1.5] .(1d|2d){.cg|cs|wb|wt}.<texels>.trap [10 2.0] .(1d|2d){.cg|cs|wb|wt}.<texels>.(clamp|zero) [20 3.0] .(3d|a1d|a2d){.cg|cs|wb|wt}.<texels>.<clamp>",
    ),
    line(
        "sust.p",
        surface::sust,
        "texel, s*v^",
        "[20 2.0] .(1d|2d){.cg|cs|wb|wt}{.v2|v4}.b32.<clamp> [20 3.0] .3d{.cg|cs|wb|wt}{.v2|v4}.b32.<clamp> [30 4.1] .(a1d|a2d){.cg|cs|wb|wt}{.v2|v4}.b32.<clamp>",
    ),
    line(
        "sured.b",
        surface::sured,
        "texel, s",
        "[20 2.0] .(add.(1d|2d).(u32|s32|u64)|(min|max).(1d|2d).(u32|s32)|(and|or).(1d|2d).b32).<clamp> \
         [20 3.0] .(add.3d.(u32|s32|u64)|(min|max).3d.(u32|s32)|(and|or).3d.b32).<clamp> [50 8.1] .(min|max).(1d|2d|3d).(u64|s64).<clamp>",
    ),
    line(
        "sured.p",
        surface::sured,
        "texel, s",
        "[20 2.0] .(add|min|max|and|or).(1d|2d).b32.<clamp> [20 3.0] .(add|min|max|and|or).3d.b32.<clamp> [50 8.1] .(min|max).(1d|2d|3d).b64.<clamp>",
    ),
];

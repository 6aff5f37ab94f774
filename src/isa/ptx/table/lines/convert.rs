//! `cvt`. Facts, `ptx.md` 2.5.

use super::{Line, line};
use crate::lift::convert;

pub const LINES: &[Line] = &[
    line(
        "cvt",
        convert::cvt,
        "d^, converted:1^",
        "[10 1.0] .<int8>.<int8> \
         .sat.s8.(s16|s32|s64|u8|u16|u32|u64) .sat.u8.(s8|s16|s32|s64|u16|u32|u64) .sat.s16.(s32|s64|u16|u32|u64) .sat.u16.(s8|s16|s32|s64|u32|u64) \
         .sat.s32.(s64|u32|u64) .sat.u32.(s8|s16|s32|s64|u64) .sat.s64.u64 .sat.u64.(s8|s16|s32|s64) \
         {.sat}.f64.(f16|f32|f64) {.ftz}{.sat}.f32.(f16|f32) {.<round_int>}{.sat}.f16.f16 .<round_int>{.sat}.f64.f64 .<round_int>{.ftz}{.sat}.f32.f32 \
         .<round>{.sat}.(f16|f64).<int8> .<round>{.sat}.f32.(s8|u8) .<round>{.ftz}{.sat}.f32.<int> .<round>{.sat}.f16.f64 .<round>{.ftz}{.sat}.f16.f32 .<round>{.ftz}{.sat}.f32.f64 \
         .<round_int>{.sat}.<int8>.(f16|f64) .<round_int>{.sat}.(s64|u64).f32 .<round_int>{.ftz}{.sat}.(s8|s16|s32|u8|u16|u32).f32 \
         [10 1.5] .ftz{.sat}.f64.f32 .<round>.ftz{.sat}.f32.(s8|u8) .<round_int>.ftz{.sat}.(s64|u64).f32",
    ),
    line(
        "cvt",
        convert::cvt,
        "d, s:1^",
        "[70 8.1] .(rn|rz).satfinite.f16.f32 [80 7.0] .(rn|rz){.ftz}.bf16.f32 .(rm|rp){.ftz}.bf16.f32 .(rn|rz).relu.(f16|bf16).f32 .rna.tf32.f32 \
         [80 8.1] .(rn|rz){.relu}.satfinite.(f16|bf16).f32 .rna.satfinite.tf32.f32 [90 7.8] .<round>.bf16.(f16|f64|s16|s32|s64|u16|u32|u64) \
         .(rn|rz){.relu}.tf32.f32 [100 8.6] .(rn|rz){.relu}.satfinite.tf32.f32",
    ),
    line(
        "cvt",
        convert::cvt,
        "d^, r:1",
        "[80 7.1] {.<round>}{.ftz}.f32.bf16 [90 7.8] .bf16.(bf16|f16) {.<round>}.(f16|f64).bf16 .<round_int>.(bf16|s16|s32|s64|u16|u32|u64).bf16",
    ),
    line(
        "cvt",
        convert::cvt,
        "d, s:1, s:1",
        "[80 7.0] .(rn|rz){.relu}.(f16x2|bf16x2).f32 [80 8.1] .(rn|rz){.relu}.satfinite.(f16x2|bf16x2).f32 [89 8.1|90 7.8] .rn.satfinite{.relu}.(e4m3x2|e5m2x2).f32 \
         [100a 8.6|100f 8.8|120a 8.7|120f 8.8] .rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).f32 .(rp|rz){.satfinite}.ue8m0x2.f32",
    ),
    line(
        "cvt",
        convert::cvt,
        "d, r:1",
        "[89 8.1|90 7.8] .rn{.relu}.f16x2.(e4m3x2|e5m2x2) .rn.satfinite{.relu}.(e4m3x2|e5m2x2).f16x2 \
         [100a 8.6|100f 8.8|120a 8.7|120f 8.8] .rn{.relu}.f16x2.(e2m1x2|e2m3x2|e3m2x2) .rn.bf16x2.ue8m0x2 .(rp|rz){.satfinite}.ue8m0x2.bf16x2 \
         [100a 9.1|100f 9.1|120f 9.1] .rn.satfinite{.relu}.(e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2).bf16x2 .rn.satfinite{.relu}.(e2m1x2|e2m3x2|e3m2x2).f16x2 \
         [100a 9.2|100f 9.2|120f 9.2] .rn{.satfinite}{.relu}.bf16x2.(e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2)",
    ),
    line(
        "cvt",
        convert::cvt,
        "d, s:1, s:1, r:b32",
        "[100a 8.7|103a 8.8] .rs{.relu}{.satfinite}.(f16x2|bf16x2).f32",
    ),
    line(
        "cvt",
        convert::cvt,
        "d, s:1*4, r:b32",
        "[100a 8.7|103a 8.8] .rs.satfinite{.relu}.(e2m1x4|e2m3x4|e3m2x4|e4m3x4|e5m2x4).f32",
    ),
    line("cvt.pack", convert::cvt_pack, "d:b32, s:1, s:1", "[72 6.5] .sat.(u16|s16).s32"),
    line(
        "cvt.pack",
        convert::cvt_pack,
        "d:b32, s:1, s:1, s:2",
        "[72 6.5] .sat.(u8|s8).s32.b32 [75 6.5] .sat.(u4|s4|u2|s2).s32.b32",
    ),
];

//! Matrices. Facts, `ptx.md` 2.12.

use super::{Line, line, trap};
use crate::lift::{control, matrix};

const SUMS: &str = "sums of products in f32, in an order of our own";

const fn mma(operands: &'static str, forms: &'static str) -> Line {
    line("mma", matrix::mma, operands, forms)
}

pub const LINES: &[Line] = &[
    mma(
        "mma",
        "[75 6.5] .sync.aligned.row.col{.satfinite}.(m8n8k16.s32.<byte>.<byte>.s32|m8n8k32.s32.<nibble>.<nibble>.s32) \
         [80 7.0] .sync.aligned.row.col{.satfinite}.((m16n8k16|m16n8k32).s32.<byte>.<byte>.s32|(m16n8k32|m16n8k64).s32.<nibble>.<nibble>.s32) \
         [75 7.0] .sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.xor.popc [80 7.0] .sync.aligned.row.col.(m16n8k128|m16n8k256).s32.b1.b1.s32.xor.popc \
         [80 7.1] .sync.aligned.row.col.(m8n8k128|m16n8k128|m16n8k256).s32.b1.b1.s32.and.popc",
    ),
    mma(
        "mma",
        "[70 6.4] .sync.aligned.m8n8k4.<layout>.<layout>.(f32.f16.f16.(f32|f16)|f16.f16.f16.f16) \
         [75 6.5] .sync.aligned.m16n8k8.row.col.(f32.f16.f16.f32|f16.f16.f16.f16) \
         [80 7.0] .sync.aligned.m8n8k4.<layout>.<layout>.f32.bf16.bf16.f32 .sync.aligned.m16n8k16.row.col.(f32.f16.f16.f32|f16.f16.f16.f16) \
         .sync.aligned.(m16n8k8|m16n8k16).row.col.f32.bf16.bf16.f32 .sync.aligned.(m16n8k4|m16n8k8).row.col.f32.tf32.tf32.f32 \
         .sync.aligned.m8n8k4.row.col{.<round>}.f64.f64.f64.f64 [90 7.8] .sync.aligned.(m16n8k4|m16n8k8|m16n8k16).row.col{.<round>}.f64.f64.f64.f64 \
         [89 8.4] .sync.aligned.m16n8k32.row.col.f32.<fp8>.<fp8>.f32 [89 8.7] .sync.aligned.m16n8k32.row.col.f16.<fp8>.<fp8>.f16 \
         .sync.aligned.m16n8k16.row.col.(f32.<fp8>.<fp8>.f32|f16.<fp8>.<fp8>.f16)",
    )
    .approximate(SUMS),
    mma(
        "sparse",
        "[80 7.1] .sp.<sparse_int> [80 8.5] .sp::ordered_metadata.<sparse_int>",
    ),
    mma(
        "sparse",
        "[80 7.1] .sp.<sparse_float> [80 8.5] .sp::ordered_metadata.<sparse_float> [89 8.4] .sp.<sparse_fp8>.f32.<fp8>.<fp8>.f32 \
         [89 8.5] .sp::ordered_metadata.<sparse_fp8>.f32.<fp8>.<fp8>.f32 [120a 8.7|120f 8.8] .sp::ordered_metadata.<sparse_fp8>.f16.<fp8>.<fp8>.f16",
    )
    .approximate(SUMS),
    trap(
        "mma",
        "mma",
        "[100a 8.6|100f 8.8|120a 8.7|120f 8.8] .sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.<fp8>.<fp8>.f32 \
         [100a 8.7|100f 8.8|120a 8.7|120f 8.8] .sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.<fp8>.<fp8>.f16 \
         [120a 8.7|120f 8.8] .sync.aligned.m16n8k32.row.col.kind::f8f6f4.(f32.<fp864>.<fp864>.f32|f16.<fp864>.<fp864>.f16)",
    ),
    trap(
        "mma",
        "scaled",
        "[120a 8.7|120f 8.8] .sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.<fp864>.<fp864>.f32.ue8m0 \
         .sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 \
         .sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.(scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0|scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3)",
    ),
    line("ldmatrix", matrix::ldmatrix, "d:b32*x, address", "[75 6.5] .sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|shared::cta}.b16"),
    line("stmatrix", matrix::stmatrix, "address, r:b32*x", "[90 7.8] .sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|shared::cta}.b16"),
    line("movmatrix", matrix::movmatrix, "d:b32, r:b32", "[75 7.8] .sync.aligned.m8n8.trans.b16"),
    trap(
        "ldmatrix",
        "d:b32*x, address",
        "[100a 8.6|100f 8.8|120a 8.7|120f 8.8] .sync.aligned.m16n16.(x1|x2).trans{.shared|shared::cta}.(b8|b8x16.b6x16_p32|b8x16.b4x16_p64) \
         .sync.aligned.m8n16.(x1|x2|x4){.shared|shared::cta}.b8x16.(b6x16_p32|b4x16_p64)",
    ),
    trap("stmatrix", "address, r:b32*x", "[100a 8.6|100f 8.8|120a 8.7|120f 8.8] .sync.aligned.m16n8.(x1|x2|x4).trans{.shared|shared::cta}.b8"),
    line(
        "wmma.load.(a|b)",
        matrix::wmma_load,
        "d*f, address, s:u32?",
        "[70 6.3] .<wmma_load>.<wmma16>.f16 [72 6.3] .<wmma_load>.<wmma16>.(s8|u8) [80 7.0] .<wmma_load>.<wmma16>.bf16 .<wmma_load>.m16n16k8.tf32 .<wmma_load>.m8n8k4.f64",
    ),
    line(
        "wmma.load.a",
        matrix::wmma_load,
        "d*f, address, s:u32?",
        "[75 6.3] .sync.aligned{.<load_space>}.row.(m8n8k32.(s4|u4)|m8n8k128.b1)",
    ),
    line(
        "wmma.load.b",
        matrix::wmma_load,
        "d*f, address, s:u32?",
        "[75 6.3] .sync.aligned{.<load_space>}.col.(m8n8k32.(s4|u4)|m8n8k128.b1)",
    ),
    line("wmma.load.c", matrix::wmma_load, "d*f, address, s:u32?", WMMA_C),
    line("wmma.store.d", matrix::wmma_store, "address, r*f, s:u32?", WMMA_C),
    line(
        "wmma.mma",
        matrix::wmma_mma,
        "wmma",
        "[70 6.3] .sync.aligned.<layout>.<layout>.<wmma16>.(f16|f32).(f16|f32) [70 6.3 until 70 6.5] .sync.aligned.<layout>.<layout>.<wmma16>.(f16|f32).(f16|f32).satfinite \
         [80 7.0] .sync.aligned.<layout>.<layout>.(<wmma16>.f32.bf16.bf16.f32|m16n16k8.f32.tf32.tf32.f32|m8n8k4{.<round>}.f64.f64.f64.f64)",
    )
    .approximate(SUMS),
    line(
        "wmma.mma",
        matrix::wmma_mma,
        "wmma",
        "[72 6.3] .sync.aligned.<layout>.<layout>.<wmma16>.(s32.s8.s8.s32|s32.u8.u8.s32){.satfinite} \
         [75 6.3] .sync.aligned.row.col.m8n8k32.(s32.s4.s4.s32|s32.u4.u4.s32){.satfinite}",
    ),
    line("wmma.mma.xor.popc", matrix::wmma_mma, "wmma", "[75 6.3] .sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"),
    line("wmma.mma.and.popc", matrix::wmma_mma, "wmma", "[80 7.1] .sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"),
    // Products are performed where they are issued.
    line("wgmma.(fence|commit_group)", control::nothing, "", "[90a 8.0] .sync.aligned"),
    line("wgmma.wait_group", control::nothing, "i:0..", "[90a 8.0] .sync.aligned"),
    line(
        "wgmma.mma_async",
        matrix::wgmma,
        "wgmma",
        "[90a 8.0] .sync.aligned.(<m64k16>.(f32|f16).f16.f16|<m64k16>.f32.bf16.bf16|<m64k8>.f32.tf32.tf32|<m64k32>.(f32|f16).<fp8>.<fp8>)",
    )
    .approximate(SUMS),
    line(
        "wgmma.mma_async",
        matrix::wgmma,
        "wgmma",
        "[90a 8.0] .sync.aligned.(<m64k32>{.satfinite}.s32.<byte>.<byte>|<m64k256>.s32.b1.b1.and.popc)",
    ),
];

const WMMA_C: &str = "[70 6.3] .<wmma_load>.<wmma16>.(f16|f32) [72 6.3] .<wmma_load>.<wmma16>.s32 [75 6.3] .<wmma_load>.(m8n8k32|m8n8k128).s32 \
                      [80 7.0] .<wmma_load>.m16n16k8.f32 .<wmma_load>.m8n8k4.f64";

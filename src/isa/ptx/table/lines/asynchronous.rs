//! Asynchronous copies. Facts, `ptx.md` 2.11.

use super::{Line, line, trap};
use crate::lift::{control, copy};

pub const LINES: &[Line] = &[
    line(
        "cp.async",
        copy::cp_async,
        "copy",
        "[80 7.0] .(ca|cg).shared.global{.L2::cache_hint}{.<l2_bytes>} .(ca|cg).shared::cta.global{.L2::cache_hint}{.<l2_bytes>}",
    ),
    // Copies are performed at once: closing or awaiting a group has nothing left to do.
    line("cp.async.commit_group", control::nothing, "", "[80 7.0] -"),
    line("cp.async.wait_all", control::nothing, "", "[80 7.0] -"),
    line("cp.async.wait_group", control::nothing, "i:0..", "[80 7.0] -"),
    line(
        "cp.async.mbarrier.arrive",
        copy::mbarrier_arrive,
        "address",
        "[80 7.0] {.noinc}{.shared|shared::cta}.b64",
    ),
    line("cp.async.bulk.commit_group", control::nothing, "", "[90 8.0] -"),
    line("cp.async.bulk.wait_group", control::nothing, "i:0..", "[90 8.0] {.read}"),
    line(
        "cp.async.bulk.shared::cluster.global",
        copy::bulk,
        "a:shared, a:global, s:u32, a:shared, cluster_mask, policy",
        "[90 8.0] .mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint}",
    ),
    line(
        "cp.async.bulk.shared::cta.global",
        copy::bulk,
        "a:shared, a:global, s:u32, a:shared, policy",
        "[90 8.6] .mbarrier::complete_tx::bytes{.L2::cache_hint}",
    ),
    line(
        "cp.async.bulk.global.shared::cta",
        copy::bulk,
        "a:global, a:shared, s:u32, policy, byte_mask",
        "[90 8.0] .bulk_group{.L2::cache_hint} [100 8.6] .bulk_group{.L2::cache_hint}.cp_mask",
    ),
    line(
        "cp.async.bulk.shared::cluster.shared::cta",
        copy::bulk,
        "a:shared, a:shared, s:u32, a:shared",
        "[90 8.0] .mbarrier::complete_tx::bytes",
    ),
    line(
        "cp.reduce.async.bulk.global.shared::cta",
        copy::bulk_reduce,
        "a:global, a:shared, s:u32, policy",
        "[90 8.0] .bulk_group{.L2::cache_hint}.(add.(u32|s32|u64|f32|f64|noftz.(f16|bf16))|(min|max).(u32|s32|u64|s64|f16|bf16)|(inc|dec).u32|<combine>.(b32|b64)) \
         [90 9.4] .bulk_group{.L2::cache_hint}.add.noftz.f32",
    ),
    line(
        "cp.reduce.async.bulk.shared::cluster.shared::cta",
        copy::bulk_reduce,
        "a:shared, a:shared, s:u32, a:shared",
        "[90 8.0] .mbarrier::complete_tx::bytes.(add.(u32|s32|u64)|(min|max).(u32|s32)|(inc|dec).u32|<combine>.b32)",
    ),
    line(
        "cp.async.bulk.prefetch.L2.global",
        control::nothing,
        "a:global, s:u32, policy",
        "[90 8.0] {.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.<tensor>.shared::cluster.global",
        "a:shared, tensor, a:shared, cluster_mask, policy",
        "[90 8.0] .mbarrier::complete_tx::bytes{.tile}{.multicast::cluster}{.L2::cache_hint} \
         [100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes{.tile}{.multicast::cluster}{.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.(3d|4d|5d).shared::cluster.global",
        "a:shared, tensor, a:shared, offsets, cluster_mask, policy",
        "[90 8.0] .mbarrier::complete_tx::bytes.im2col{.multicast::cluster}{.L2::cache_hint} \
         [100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes.(im2col|im2col::w|im2col::w::128){.multicast::cluster}{.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.<tensor>.shared::cta.global",
        "a:shared, tensor, a:shared, policy",
        "[90 8.6] .mbarrier::complete_tx::bytes{.tile}{.L2::cache_hint} [100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes{.tile}{.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.(3d|4d|5d).shared::cta.global",
        "a:shared, tensor, a:shared, offsets, policy",
        "[90 8.6] .mbarrier::complete_tx::bytes.im2col{.L2::cache_hint} [100 8.6] .mbarrier::complete_tx::bytes.(im2col::w|im2col::w::128){.L2::cache_hint} \
         [100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes.(im2col|im2col::w|im2col::w::128){.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.2d.shared::cta.global",
        "a:shared, tensor, a:shared, policy",
        "[100 8.6] .mbarrier::complete_tx::bytes.tile::gather4{.L2::cache_hint} \
         [100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes.tile::gather4{.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.2d.shared::cluster.global",
        "a:shared, tensor, a:shared, cluster_mask, policy",
        "[100a 8.6|100f 8.8] .mbarrier::complete_tx::bytes.tile::gather4{.multicast::cluster}{.<cta_group>}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.2d.global.shared::cta",
        "tensor, a:shared, policy",
        "[100 8.6] .bulk_group.tile::scatter4{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.<tensor>.global.shared::cta",
        "tensor, a:shared, policy",
        "[90 8.0] .bulk_group{.tile}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.tensor.(3d|4d|5d).global.shared::cta",
        "tensor, a:shared, policy",
        "[90 8.0] .bulk_group.im2col_no_offs{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.prefetch.tensor.<tensor>.L2.global",
        "tensor, policy",
        "[90 8.0] {.tile}{.L2::cache_hint}",
    ),
    trap(
        "cp.async.bulk.prefetch.tensor.(3d|4d|5d).L2.global",
        "tensor, offsets, policy",
        "[90 8.0] .im2col{.L2::cache_hint} [100 8.6] .(im2col::w|im2col::w::128){.L2::cache_hint}",
    ),
    trap(
        "cp.reduce.async.bulk.tensor.<tensor>.global.shared::cta",
        "tensor, a:shared, policy",
        "[90 8.0] .(add|min|max|inc|dec|and|or|xor).bulk_group{.tile}{.L2::cache_hint}",
    ),
    trap(
        "cp.reduce.async.bulk.tensor.(3d|4d|5d).global.shared::cta",
        "tensor, a:shared, policy",
        "[90 8.0] .(add|min|max|inc|dec|and|or|xor).bulk_group.im2col_no_offs{.L2::cache_hint}",
    ),
    line(
        "st.async",
        copy::st_async,
        "a:shared, s*v, a:shared",
        "[90 8.1] {.shared::cluster|shared::cta}{.weak}.mbarrier::complete_tx::bytes.(<async>|v2.<async>|v4.(b32|s32|u32|f32)) [90 9.2] {.shared::cluster|shared::cta}{.weak}.mbarrier::complete_tx::bytes.b128",
    ),
    line(
        "st.async",
        copy::st_async,
        "a:global, s",
        "[100 8.7] .release.(gpu|sys).global.<async> .mmio.release.sys.global.<async> [100 8.7 until 20 9.0] .mmio.release.gpu.global.<async>",
    ),
];

//! Atomics and fences. Facts, `ptx.md` 2.8.

use super::{Line, line};
use crate::lift::{atomic, copy, fence};

pub const LINES: &[Line] = &[
    line(
        "atom",
        atomic::atom,
        "d_, address, s, policy",
        "[11 1.0] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.(u32|s32|u64|f32) {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(and|or|xor).b32 {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.exch.(b32|b64) {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(inc|dec).u32 {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(min|max).(u32|s32) \
         [32 3.1] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(and|or|xor).b64 {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(min|max).(u64|s64) [60 5.0] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.f64 [90 8.3] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.exch.b128",
    ),
    line(
        "atom",
        atomic::atom,
        "d_, address, s, s, policy",
        "[11 1.0] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.cas.(b32|b64) [70 6.3] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.cas.b16 [90 8.3] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.cas.b128",
    ),
    line(
        "atom",
        atomic::atom,
        "d_, address, r, policy",
        "[60 6.2] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f16x2 [70 6.3] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f16 [90 7.8] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.(bf16|bf16x2)",
    ),
    line(
        "atom",
        atomic::atom,
        "d*v_, address, r*v, policy",
        "[90 8.1] {.<atom>}{.<scopes>}{.global}{.L2::cache_hint}.add.(v2|v4).f32 {.<atom>}{.<scopes>}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).<halves> {.<atom>}{.<scopes>}{.global}{.L2::cache_hint}.(add|min|max).noftz.v8.(f16|bf16)",
    ),
    line(
        "red",
        atomic::red,
        "address, s, policy",
        "[11 1.2] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.(u32|s32|u64|f32) {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(and|or|xor).b32 {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(inc|dec).u32 {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(min|max).(u32|s32) \
         [32 3.1] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(and|or|xor).b64 {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.(min|max).(u64|s64) [60 5.0] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.f64",
    ),
    line(
        "red",
        atomic::red,
        "address, r, policy",
        "[60 6.2] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f16x2 [70 6.3] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f16 [90 7.8] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.(bf16|bf16x2)",
    ),
    line(
        "red",
        atomic::red,
        "address, r*v, policy",
        "[90 8.1] {.<red>}{.<scopes>}{.global}{.L2::cache_hint}.add.(v2|v4).f32 {.<red>}{.<scopes>}{.global}{.L2::cache_hint}.(add|min|max).noftz.(v2|v4).<halves> {.<red>}{.<scopes>}{.global}{.L2::cache_hint}.(add|min|max).noftz.v8.(f16|bf16)",
    ),
    line(
        "red.async",
        copy::red_async,
        "a:shared, s, a:shared",
        "[90 8.1] .relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(add.(s32|u32|s64|u64)|(and|or|xor).b32|(inc|dec).u32|(min|max).(s32|u32))",
    ),
    line(
        "atom",
        atomic::atom,
        "d*v_, address, s*v, policy",
        "[90 9.4] {.<atom>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f32 {.<atom>}{.<scopes>}{.global}{.L2::cache_hint}.add.noftz.(v2|v4).f32",
    ),
    line(
        "red",
        atomic::red,
        "address, s*v, policy",
        "[90 9.4] {.<red>}{.<scopes>}{.<strong_space>}{.L2::cache_hint}.add.noftz.f32 {.<red>}{.<scopes>}{.global}{.L2::cache_hint}.add.noftz.(v2|v4).f32",
    ),
    line(
        "membar",
        fence::fence,
        "",
        "[10 1.4] .(cta|gl) [20 2.0] .sys [60 7.5] .proxy.alias [90 8.0] .proxy.async",
    ),
    line(
        "fence",
        fence::fence,
        "",
        "[70 5.1] {.sc|acq_rel}.<scopes> .(acquire|release).<scopes> [90 8.0] .mbarrier_init.release.cluster \
         [90 8.6] .acquire.sync_restrict::shared::cluster.cluster .release.sync_restrict::shared::cta.cluster",
    ),
    line(
        "fence.proxy",
        fence::fence,
        "",
        "[70 7.5] .alias [90 8.0] .async{.global|shared::cta|shared::cluster} [90 8.3] .tensormap::generic.release.<scopes>",
    ),
    line(
        "fence.proxy",
        fence::fence,
        "address, i:128",
        "[90 8.3] .tensormap::generic.acquire.<scopes>",
    ),
    line(
        "fence{.acquire|release}.proxy",
        fence::fence,
        "",
        "[90 8.6] .async::generic{.acquire}.sync_restrict::shared::cluster.cluster .async::generic{.release}.sync_restrict::shared::cta.cluster",
    ),
];

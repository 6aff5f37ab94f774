//! Loads, stores and hints. Facts, `ptx.md` 2.7.

use super::{Line, line};
use crate::lift::{control, memory};

pub const LINES: &[Line] = &[
    line(
        "ld",
        memory::ld,
        "d*v^_, address, policy",
        "[20 8.3 until 20 9.0] {.weak}.param::func{.ca|cg|cs|cv|lu}.(<elements>|b128) [10 1.0] {.<ld_space>}{.ca|cg|cs|cv|lu}.(<elements>|b128) .volatile{.<strong_space>}.(<elements>|b128) \
         {.global}{.ca|cg|cs|cv|lu}{.<l1_hint>}{.L2::cache_hint}{.<l2_bytes>}.(<elements>|b128) \
         [20 9.1] .volatile.local.(<elements>|b128) [70 5.1] .weak{.<ld_space>}{.ca|cg|cs|cv|lu}.(<elements>|b128) .weak{.global}{.<l1_hint>}{.L2::cache_hint}{.<l2_bytes>}.(<elements>|b128) \
         .(relaxed|acquire){.<strong_space>}.<scopes>{.<l1_hint>}{.L2::cache_hint}{.<l2_bytes>}.<elements> \
         .(relaxed|acquire){.<strong_space>}.(cta|gpu|cluster).b128 [70 8.4] .(relaxed|acquire){.<strong_space>}.sys.b128 \
         [70 8.2] .mmio.relaxed.sys{.global}.<elements> [70 8.4] .mmio.relaxed.sys{.global}.b128 \
         [32 3.1] .global.nc{.ca|cg|cs}{.<l1_hint>}{.L2::cache_hint}{.<l2_bytes>}.(<elements>|b128) \
         [100 8.8] {.weak|volatile}{.global}{.ca|cg|cs|cv|lu}{.<l1_hint>}{.<l2_evict>}{.L2::cache_hint}{.<l2_bytes>}.<wide_elements> \
         .global.nc{.ca|cg|cs}{.<l1_hint>}{.<l2_evict>}{.L2::cache_hint}{.<l2_bytes>}.<wide_elements>",
    ),
    line("ldu", memory::ldu, "d*v^_, address", "[20 2.0] {.global}.(<elements>|b128)"),
    line(
        "st",
        memory::st,
        "address, s*v^_, policy",
        "[20 8.3 until 20 9.0] {.weak}.param::func{.cg|cs|wb|wt}.(<elements>|b128) [10 1.0] {.<st_space>}{.cg|cs|wb|wt}.(<elements>|b128) .volatile{.<strong_space>}.(<elements>|b128) \
         {.global}{.cg|cs|wb|wt}{.<l1_hint>}{.L2::cache_hint}.(<elements>|b128) \
         [20 9.1] .volatile.local.(<elements>|b128) [70 5.1] .weak{.<st_space>}{.cg|cs|wb|wt}.(<elements>|b128) .weak{.global}{.<l1_hint>}{.L2::cache_hint}.(<elements>|b128) \
         .(relaxed|release){.<strong_space>}.<scopes>{.<l1_hint>}{.L2::cache_hint}.<elements> \
         .(relaxed|release){.<strong_space>}.(cta|gpu|cluster).b128 [70 8.4] .(relaxed|release){.<strong_space>}.sys.b128 \
         [70 8.2] .mmio.relaxed.sys{.global}.<elements> [70 8.4] .mmio.relaxed.sys{.global}.b128 \
         [100 8.8] {.weak|volatile}{.global}{.cg|cs|wb|wt}{.<l1_hint>}{.<l2_evict>}{.L2::cache_hint}.<wide_elements>",
    ),
    line("st.bulk", memory::st_bulk, "address, s:u64, i:0", "[100 8.6] {.weak}{.shared::cta}"),
    // Hints.
    line(
        "prefetch",
        control::nothing,
        "address",
        "[20 2.0] {.global|local}.(L1|L2) [80 7.4] {.global}.(L2::evict_last|L2::evict_normal) [90 8.0] {.const|param}.tensormap",
    ),
    line("prefetchu", control::nothing, "address", "[20 2.0] .L1"),
    line("discard", control::nothing, "address, i:128", "[80 7.4] {.global}.L2"),
    line(
        "applypriority",
        control::nothing,
        "address, i:128",
        "[80 7.4] {.global}.L2::evict_normal",
    ),
    line(
        "createpolicy.fractional",
        memory::createpolicy,
        "d, s:f32?",
        "[80 7.4] .(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|L2::evict_unchanged}.b64",
    ),
    line(
        "createpolicy.range",
        memory::createpolicy,
        "d, address, s:u32, s:u32",
        "[80 7.4] {.global}.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|L2::evict_unchanged}.b64",
    ),
    line("createpolicy.cvt", memory::createpolicy, "d, s:b64", "[80 7.4] .L2.b64"),
];

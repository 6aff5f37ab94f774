//! Instructions that are read, but not executed: multimem, tensor maps, tcgen05, cluster launch
//! control. Facts, `ptx.md` 2.15.

use super::{Line, trap};

pub const LINES: &[Line] = &[
    trap(
        "multimem.ld_reduce",
        "d*v, a:global",
        "[90 8.1] {.weak|(relaxed|acquire).<scopes>}{.global}.(add.(u32|s32|u64|f32|f64|f16x2|bf16x2|<vectors>)|(min|max).(u32|s32|u64|s64|f16x2|bf16x2|<half_vectors>)|<combine>.(b32|b64))",
    ),
    trap(
        "multimem.st",
        "a:global, s*v",
        "[90 8.1] {.weak|(relaxed|release).<scopes>}{.global}.(u32|s32|b32|u64|s64|b64|f32|f64|f16x2|bf16x2|<vectors>)",
    ),
    trap(
        "multimem.red",
        "a:global, s*v",
        "[90 8.1] {.(relaxed|release).<scopes>}{.global}.(add.(u32|s32|u64|f32|f64|f16x2|bf16x2|<vectors>)|(min|max).(u32|s32|u64|s64|<half_vectors>)|<combine>.(b32|b64))",
    ),
    trap(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic",
        "a:global, a:shared, i:128",
        "[90 8.3] .release.<scopes>.sync.aligned",
    ),
    trap(
        "tensormap.replace.tile",
        "a, s",
        "[90a 8.3|100a 8.6|100f 8.8|120a 8.7|120f 8.8] .global_address{.global|shared::cta}.b1024.b64 .(rank|elemtype|interleave_layout|swizzle_mode|fill_mode){.global|shared::cta}.b1024.b32",
    ),
    trap(
        "tensormap.replace.tile",
        "a, i:0..4, s",
        "[90a 8.3|100a 8.6|100f 8.8|120a 8.7|120f 8.8] .global_stride{.global|shared::cta}.b1024.b64 .(box_dim|global_dim|element_stride){.global|shared::cta}.b1024.b32",
    ),
    trap(
        "clusterlaunchcontrol.try_cancel",
        "a:shared, a:shared",
        "[100 8.6] .async{.shared::cta}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128",
    ),
    trap("clusterlaunchcontrol.query_cancel.is_canceled", "p, s:b128", "[100 8.6] .pred.b128"),
    trap(
        "clusterlaunchcontrol.query_cancel.get_first_ctaid",
        "d:b32*4, s:b128",
        "[100 8.6] .v4.b32.b128",
    ),
    trap(
        "clusterlaunchcontrol.query_cancel.(get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z)",
        "d, s:b128",
        "[100 8.6] .b32.b128",
    ),
    trap(
        "tcgen05.alloc",
        "a:shared, s:u32",
        "[100a 8.6|100f 8.8] .<cta_group>.sync.aligned{.shared::cta}.b32",
    ),
    trap("tcgen05.dealloc", "s, s:u32", "[100a 8.6|100f 8.8] .<cta_group>.sync.aligned.b32"),
    trap("tcgen05.relinquish_alloc_permit", "", "[100a 8.6|100f 8.8] .<cta_group>.sync.aligned"),
    trap(
        "tcgen05.mma",
        "tcgen05",
        "[100a 8.6|100f 8.8] .<cta_group>.(kind::f16|kind::tf32|kind::f8f6f4) [100a 8.6] .<cta_group>.kind::i8",
    ),
    trap(
        "tcgen05.commit",
        "a",
        "[100a 8.6|100f 8.8] .<cta_group>.mbarrier::arrive::one{.shared::cluster}.b64",
    ),
    trap("tcgen05.cp", "a, s:b64", "[100a 8.6|100f 8.8] .<cta_group>.128x256b"),
    trap("tcgen05.shift", "a", "[100a 8.6|103a 8.8] .<cta_group>.down"),
    trap(
        "tcgen05.ld",
        "tensor_registers, a",
        "[100a 8.6|100f 8.8] .sync.aligned.<tensor_memory>.b32",
    ),
    trap(
        "tcgen05.st",
        "a, tensor_registers",
        "[100a 8.6|100f 8.8] .sync.aligned.<tensor_memory>.b32",
    ),
    trap("tcgen05.(wait::ld|wait::st)", "", "[100a 8.6|100f 8.8] .sync.aligned"),
    trap(
        "tcgen05.(fence::before_thread_sync|fence::after_thread_sync)",
        "",
        "[100a 8.6|100f 8.8] -",
    ),
];

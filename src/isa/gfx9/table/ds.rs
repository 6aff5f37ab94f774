//! LDS: atomics without return, counters, global wave synchronization.

family! { ($) ds {
    /// Atomic sum in LDS.
    DsAddU32 (exact lds_atomic::ds_add_u32) "ds_add_u32 addr:b32, data0:b32; offset gds" { ds 0x00 }
    /// Atomic difference in LDS.
    DsSubU32 (exact lds_atomic::ds_sub_u32) "ds_sub_u32 addr:b32, data0:b32; offset gds" { ds 0x01 }
    /// Atomic difference with swapped operands in LDS.
    DsRsubU32 (exact lds_atomic::ds_rsub_u32) "ds_rsub_u32 addr:b32, data0:b32; offset gds" { ds 0x02 }
    /// Atomic increment with wrap in LDS.
    DsIncU32 (exact lds_atomic::ds_inc_u32) "ds_inc_u32 addr:b32, data0:b32; offset gds" { ds 0x03 }
    /// Atomic decrement with wrap in LDS.
    DsDecU32 (exact lds_atomic::ds_dec_u32) "ds_dec_u32 addr:b32, data0:b32; offset gds" { ds 0x04 }
    /// Atomic minimum in LDS.
    DsMinI32 (exact lds_atomic::ds_min_i32) "ds_min_i32 addr:b32, data0:b32; offset gds" { ds 0x05 }
    /// Atomic maximum in LDS.
    DsMaxI32 (exact lds_atomic::ds_max_i32) "ds_max_i32 addr:b32, data0:b32; offset gds" { ds 0x06 }
    /// Atomic minimum in LDS.
    DsMinU32 (exact lds_atomic::ds_min_u32) "ds_min_u32 addr:b32, data0:b32; offset gds" { ds 0x07 }
    /// Atomic maximum in LDS.
    DsMaxU32 (exact lds_atomic::ds_max_u32) "ds_max_u32 addr:b32, data0:b32; offset gds" { ds 0x08 }
    /// Atomic and in LDS.
    DsAndB32 (exact lds_atomic::ds_and_b32) "ds_and_b32 addr:b32, data0:b32; offset gds" { ds 0x09 }
    /// Atomic or in LDS.
    DsOrB32 (exact lds_atomic::ds_or_b32) "ds_or_b32 addr:b32, data0:b32; offset gds" { ds 0x0a }
    /// Atomic exclusive or in LDS.
    DsXorB32 (exact lds_atomic::ds_xor_b32) "ds_xor_b32 addr:b32, data0:b32; offset gds" { ds 0x0b }
    /// Atomic masked or in LDS.
    DsMskorB32 (exact lds_atomic::ds_mskor_b32) "ds_mskor_b32 addr:b32, data0:b32, data1:b32; offset gds" { ds 0x0c }
    /// Atomic compare and store in LDS.
    DsCmpstB32 (exact lds_atomic::ds_cmpst_b32) "ds_cmpst_b32 addr:b32, data0:b32, data1:b32; offset gds" { ds 0x10 }
    /// Atomic compare and store in LDS.
    DsCmpstF32 (exact lds_atomic::ds_cmpst_f32) "ds_cmpst_f32 addr:b32, data0:b32, data1:b32; offset gds" { ds 0x11 }
    /// Atomic minimum in LDS.
    DsMinF32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_f32) "ds_min_f32 addr:b32, data0:b32; offset gds" { ds 0x12 }
    /// Atomic maximum in LDS.
    DsMaxF32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_f32) "ds_max_f32 addr:b32, data0:b32; offset gds" { ds 0x13 }
    /// Does nothing.
    DsNop (exact lds::ds_nop) "ds_nop" { ds 0x14 }
    /// Atomic sum in LDS.
    DsAddF32 (approximate "rounded to nearest whatever the mode, a NaN has no payload" lds_atomic::ds_add_f32) "ds_add_f32 addr:b32, data0:b32; offset gds" { ds 0x15 }
    /// Atomic sum in LDS.
    DsAddU64 (exact lds_atomic::ds_add_u64) "ds_add_u64 addr:b32, data0:b64; offset gds" { ds 0x40 }
    /// Atomic difference in LDS.
    DsSubU64 (exact lds_atomic::ds_sub_u64) "ds_sub_u64 addr:b32, data0:b64; offset gds" { ds 0x41 }
    /// Atomic difference with swapped operands in LDS.
    DsRsubU64 (exact lds_atomic::ds_rsub_u64) "ds_rsub_u64 addr:b32, data0:b64; offset gds" { ds 0x42 }
    /// Atomic increment with wrap in LDS.
    DsIncU64 (exact lds_atomic::ds_inc_u64) "ds_inc_u64 addr:b32, data0:b64; offset gds" { ds 0x43 }
    /// Atomic decrement with wrap in LDS.
    DsDecU64 (exact lds_atomic::ds_dec_u64) "ds_dec_u64 addr:b32, data0:b64; offset gds" { ds 0x44 }
    /// Atomic minimum in LDS.
    DsMinI64 (exact lds_atomic::ds_min_i64) "ds_min_i64 addr:b32, data0:b64; offset gds" { ds 0x45 }
    /// Atomic maximum in LDS.
    DsMaxI64 (exact lds_atomic::ds_max_i64) "ds_max_i64 addr:b32, data0:b64; offset gds" { ds 0x46 }
    /// Atomic minimum in LDS.
    DsMinU64 (exact lds_atomic::ds_min_u64) "ds_min_u64 addr:b32, data0:b64; offset gds" { ds 0x47 }
    /// Atomic maximum in LDS.
    DsMaxU64 (exact lds_atomic::ds_max_u64) "ds_max_u64 addr:b32, data0:b64; offset gds" { ds 0x48 }
    /// Atomic and in LDS.
    DsAndB64 (exact lds_atomic::ds_and_b64) "ds_and_b64 addr:b32, data0:b64; offset gds" { ds 0x49 }
    /// Atomic or in LDS.
    DsOrB64 (exact lds_atomic::ds_or_b64) "ds_or_b64 addr:b32, data0:b64; offset gds" { ds 0x4a }
    /// Atomic exclusive or in LDS.
    DsXorB64 (exact lds_atomic::ds_xor_b64) "ds_xor_b64 addr:b32, data0:b64; offset gds" { ds 0x4b }
    /// Atomic masked or in LDS.
    DsMskorB64 (exact lds_atomic::ds_mskor_b64) "ds_mskor_b64 addr:b32, data0:b64, data1:b64; offset gds" { ds 0x4c }
    /// Atomic compare and store in LDS.
    DsCmpstB64 (exact lds_atomic::ds_cmpst_b64) "ds_cmpst_b64 addr:b32, data0:b64, data1:b64; offset gds" { ds 0x50 }
    /// Atomic compare and store in LDS.
    DsCmpstF64 (exact lds_atomic::ds_cmpst_f64) "ds_cmpst_f64 addr:b32, data0:b64, data1:b64; offset gds" { ds 0x51 }
    /// Atomic minimum in LDS.
    DsMinF64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_f64) "ds_min_f64 addr:b32, data0:b64; offset gds" { ds 0x52 }
    /// Atomic maximum in LDS.
    DsMaxF64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_f64) "ds_max_f64 addr:b32, data0:b64; offset gds" { ds 0x53 }
    /// Subtracts the number of active lanes from a counter.
    DsConsume (exact lds::ds_consume) "ds_consume vdst:b32; offset gds" { ds 0xbd }
    /// Adds the number of active lanes to a counter.
    DsAppend (exact lds::ds_append) "ds_append vdst:b32; offset gds" { ds 0xbe }
    /// Global wave synchronization.
    DsGwsSemaReleaseAll unimplemented "ds_gws_sema_release_all; offset gds_only" { ds 0x98 }
    /// Global wave synchronization.
    DsGwsInit unimplemented "ds_gws_init addr:b32; offset gds_only" { ds 0x99 }
    /// Global wave synchronization.
    DsGwsSemaV unimplemented "ds_gws_sema_v; offset gds_only" { ds 0x9a }
    /// Global wave synchronization.
    DsGwsSemaBr unimplemented "ds_gws_sema_br addr:b32; offset gds_only" { ds 0x9b }
    /// Global wave synchronization.
    DsGwsSemaP unimplemented "ds_gws_sema_p; offset gds_only" { ds 0x9c }
    /// Global wave synchronization.
    DsGwsBarrier unimplemented "ds_gws_barrier addr:b32; offset gds_only" { ds 0x9d }
    /// Ordered count of the global data share.
    DsOrderedCount unimplemented "ds_ordered_count vdst:b32, addr:b32; offset gds_only" { ds 0xbf }
} }

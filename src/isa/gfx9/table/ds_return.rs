//! LDS: atomics that return the old value.

family! { ($) ds_return {
    /// Atomic sum in LDS; returns the old value.
    DsAddRtnU32 (exact lds_atomic::ds_add_rtn_u32) "ds_add_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x20 }
    /// Atomic difference in LDS; returns the old value.
    DsSubRtnU32 (exact lds_atomic::ds_sub_rtn_u32) "ds_sub_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x21 }
    /// Atomic difference with swapped operands in LDS; returns the old value.
    DsRsubRtnU32 (exact lds_atomic::ds_rsub_rtn_u32) "ds_rsub_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x22 }
    /// Atomic increment with wrap in LDS; returns the old value.
    DsIncRtnU32 (exact lds_atomic::ds_inc_rtn_u32) "ds_inc_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x23 }
    /// Atomic decrement with wrap in LDS; returns the old value.
    DsDecRtnU32 (exact lds_atomic::ds_dec_rtn_u32) "ds_dec_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x24 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnI32 (exact lds_atomic::ds_min_rtn_i32) "ds_min_rtn_i32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x25 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnI32 (exact lds_atomic::ds_max_rtn_i32) "ds_max_rtn_i32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x26 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnU32 (exact lds_atomic::ds_min_rtn_u32) "ds_min_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x27 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnU32 (exact lds_atomic::ds_max_rtn_u32) "ds_max_rtn_u32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x28 }
    /// Atomic and in LDS; returns the old value.
    DsAndRtnB32 (exact lds_atomic::ds_and_rtn_b32) "ds_and_rtn_b32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x29 }
    /// Atomic or in LDS; returns the old value.
    DsOrRtnB32 (exact lds_atomic::ds_or_rtn_b32) "ds_or_rtn_b32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x2a }
    /// Atomic exclusive or in LDS; returns the old value.
    DsXorRtnB32 (exact lds_atomic::ds_xor_rtn_b32) "ds_xor_rtn_b32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x2b }
    /// Atomic masked or in LDS; returns the old value.
    DsMskorRtnB32 (exact lds_atomic::ds_mskor_rtn_b32) "ds_mskor_rtn_b32 vdst:b32, addr:b32, data0:b32, data1:b32; offset gds" { ds 0x2c }
    /// Atomic exchange in LDS; returns the old value.
    DsWrxchgRtnB32 (exact lds_atomic::ds_wrxchg_rtn_b32) "ds_wrxchg_rtn_b32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x2d }
    /// Two atomic exchanges in LDS; returns the old values.
    DsWrxchg2RtnB32 (exact lds_atomic::ds_wrxchg2_rtn_b32) "ds_wrxchg2_rtn_b32 vdst:b64, addr:b32, data0:b32, data1:b32; offsets gds" { ds 0x2e }
    /// Two atomic exchanges in LDS, offsets in units of 64 elements; returns the old values.
    DsWrxchg2st64RtnB32 (exact lds_atomic::ds_wrxchg2st64_rtn_b32) "ds_wrxchg2st64_rtn_b32 vdst:b64, addr:b32, data0:b32, data1:b32; offsets gds" { ds 0x2f }
    /// Atomic compare and store in LDS; returns the old value.
    DsCmpstRtnB32 (exact lds_atomic::ds_cmpst_rtn_b32) "ds_cmpst_rtn_b32 vdst:b32, addr:b32, data0:b32, data1:b32; offset gds" { ds 0x30 }
    /// Atomic compare and store in LDS; returns the old value.
    DsCmpstRtnF32 (exact lds_atomic::ds_cmpst_rtn_f32) "ds_cmpst_rtn_f32 vdst:b32, addr:b32, data0:b32, data1:b32; offset gds" { ds 0x31 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnF32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_rtn_f32) "ds_min_rtn_f32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x32 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnF32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_rtn_f32) "ds_max_rtn_f32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x33 }
    /// Atomic wrapping subtraction in LDS; returns the old value.
    DsWrapRtnB32 (exact lds_atomic::ds_wrap_rtn_b32) "ds_wrap_rtn_b32 vdst:b32, addr:b32, data0:b32, data1:b32; offset gds" { ds 0x34 }
    /// Atomic sum in LDS; returns the old value.
    DsAddRtnF32 (approximate "rounded to nearest whatever the mode, a NaN has no payload" lds_atomic::ds_add_rtn_f32) "ds_add_rtn_f32 vdst:b32, addr:b32, data0:b32; offset gds" { ds 0x35 }
    /// Atomic sum in LDS; returns the old value.
    DsAddRtnU64 (exact lds_atomic::ds_add_rtn_u64) "ds_add_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x60 }
    /// Atomic difference in LDS; returns the old value.
    DsSubRtnU64 (exact lds_atomic::ds_sub_rtn_u64) "ds_sub_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x61 }
    /// Atomic difference with swapped operands in LDS; returns the old value.
    DsRsubRtnU64 (exact lds_atomic::ds_rsub_rtn_u64) "ds_rsub_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x62 }
    /// Atomic increment with wrap in LDS; returns the old value.
    DsIncRtnU64 (exact lds_atomic::ds_inc_rtn_u64) "ds_inc_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x63 }
    /// Atomic decrement with wrap in LDS; returns the old value.
    DsDecRtnU64 (exact lds_atomic::ds_dec_rtn_u64) "ds_dec_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x64 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnI64 (exact lds_atomic::ds_min_rtn_i64) "ds_min_rtn_i64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x65 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnI64 (exact lds_atomic::ds_max_rtn_i64) "ds_max_rtn_i64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x66 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnU64 (exact lds_atomic::ds_min_rtn_u64) "ds_min_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x67 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnU64 (exact lds_atomic::ds_max_rtn_u64) "ds_max_rtn_u64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x68 }
    /// Atomic and in LDS; returns the old value.
    DsAndRtnB64 (exact lds_atomic::ds_and_rtn_b64) "ds_and_rtn_b64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x69 }
    /// Atomic or in LDS; returns the old value.
    DsOrRtnB64 (exact lds_atomic::ds_or_rtn_b64) "ds_or_rtn_b64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x6a }
    /// Atomic exclusive or in LDS; returns the old value.
    DsXorRtnB64 (exact lds_atomic::ds_xor_rtn_b64) "ds_xor_rtn_b64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x6b }
    /// Atomic masked or in LDS; returns the old value.
    DsMskorRtnB64 (exact lds_atomic::ds_mskor_rtn_b64) "ds_mskor_rtn_b64 vdst:b64, addr:b32, data0:b64, data1:b64; offset gds" { ds 0x6c }
    /// Atomic exchange in LDS; returns the old value.
    DsWrxchgRtnB64 (exact lds_atomic::ds_wrxchg_rtn_b64) "ds_wrxchg_rtn_b64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x6d }
    /// Two atomic exchanges in LDS; returns the old values.
    DsWrxchg2RtnB64 (exact lds_atomic::ds_wrxchg2_rtn_b64) "ds_wrxchg2_rtn_b64 vdst:b128, addr:b32, data0:b64, data1:b64; offsets gds" { ds 0x6e }
    /// Two atomic exchanges in LDS, offsets in units of 64 elements; returns the old values.
    DsWrxchg2st64RtnB64 (exact lds_atomic::ds_wrxchg2st64_rtn_b64) "ds_wrxchg2st64_rtn_b64 vdst:b128, addr:b32, data0:b64, data1:b64; offsets gds" { ds 0x6f }
    /// Atomic compare and store in LDS; returns the old value.
    DsCmpstRtnB64 (exact lds_atomic::ds_cmpst_rtn_b64) "ds_cmpst_rtn_b64 vdst:b64, addr:b32, data0:b64, data1:b64; offset gds" { ds 0x70 }
    /// Atomic compare and store in LDS; returns the old value.
    DsCmpstRtnF64 (exact lds_atomic::ds_cmpst_rtn_f64) "ds_cmpst_rtn_f64 vdst:b64, addr:b32, data0:b64, data1:b64; offset gds" { ds 0x71 }
    /// Atomic minimum in LDS; returns the old value.
    DsMinRtnF64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_rtn_f64) "ds_min_rtn_f64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x72 }
    /// Atomic maximum in LDS; returns the old value.
    DsMaxRtnF64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_rtn_f64) "ds_max_rtn_f64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x73 }
    /// Conditional exchange of two dwords.
    DsCondxchg32RtnB64 unimplemented "ds_condxchg32_rtn_b64 vdst:b64, addr:b32, data0:b64; offset gds" { ds 0x7e }
} }

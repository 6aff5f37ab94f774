//! LDS: atomics with a second address.

family! { ($) ds_src2 {
    /// Atomic sum with a second address of LDS.
    DsAddSrc2U32 (exact lds_atomic::ds_add_src2_u32) "ds_add_src2_u32 addr:b32; offset gds" { ds 0x80 }
    /// Atomic difference with a second address of LDS.
    DsSubSrc2U32 (exact lds_atomic::ds_sub_src2_u32) "ds_sub_src2_u32 addr:b32; offset gds" { ds 0x81 }
    /// Atomic difference of swapped operands with a second address of LDS.
    DsRsubSrc2U32 (exact lds_atomic::ds_rsub_src2_u32) "ds_rsub_src2_u32 addr:b32; offset gds" { ds 0x82 }
    /// Atomic wrapping increment with a second address of LDS.
    DsIncSrc2U32 (exact lds_atomic::ds_inc_src2_u32) "ds_inc_src2_u32 addr:b32; offset gds" { ds 0x83 }
    /// Atomic wrapping decrement with a second address of LDS.
    DsDecSrc2U32 (exact lds_atomic::ds_dec_src2_u32) "ds_dec_src2_u32 addr:b32; offset gds" { ds 0x84 }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2I32 (exact lds_atomic::ds_min_src2_i32) "ds_min_src2_i32 addr:b32; offset gds" { ds 0x85 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2I32 (exact lds_atomic::ds_max_src2_i32) "ds_max_src2_i32 addr:b32; offset gds" { ds 0x86 }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2U32 (exact lds_atomic::ds_min_src2_u32) "ds_min_src2_u32 addr:b32; offset gds" { ds 0x87 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2U32 (exact lds_atomic::ds_max_src2_u32) "ds_max_src2_u32 addr:b32; offset gds" { ds 0x88 }
    /// Atomic and with a second address of LDS.
    DsAndSrc2B32 (exact lds_atomic::ds_and_src2_b32) "ds_and_src2_b32 addr:b32; offset gds" { ds 0x89 }
    /// Atomic or with a second address of LDS.
    DsOrSrc2B32 (exact lds_atomic::ds_or_src2_b32) "ds_or_src2_b32 addr:b32; offset gds" { ds 0x8a }
    /// Atomic exclusive or with a second address of LDS.
    DsXorSrc2B32 (exact lds_atomic::ds_xor_src2_b32) "ds_xor_src2_b32 addr:b32; offset gds" { ds 0x8b }
    /// Atomic write with a second address of LDS.
    DsWriteSrc2B32 (exact lds::ds_write_src2_b32) "ds_write_src2_b32 addr:b32; offset gds" { ds 0x8d }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2F32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_src2_f32) "ds_min_src2_f32 addr:b32; offset gds" { ds 0x92 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2F32 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_src2_f32) "ds_max_src2_f32 addr:b32; offset gds" { ds 0x93 }
    /// Atomic sum with a second address of LDS.
    DsAddSrc2F32 (approximate "rounded to nearest whatever the mode, a NaN has no payload" lds_atomic::ds_add_src2_f32) "ds_add_src2_f32 addr:b32; offset gds" { ds 0x95 }
    /// Atomic sum with a second address of LDS.
    DsAddSrc2U64 (exact lds_atomic::ds_add_src2_u64) "ds_add_src2_u64 addr:b32; offset gds" { ds 0xc0 }
    /// Atomic difference with a second address of LDS.
    DsSubSrc2U64 (exact lds_atomic::ds_sub_src2_u64) "ds_sub_src2_u64 addr:b32; offset gds" { ds 0xc1 }
    /// Atomic difference of swapped operands with a second address of LDS.
    DsRsubSrc2U64 (exact lds_atomic::ds_rsub_src2_u64) "ds_rsub_src2_u64 addr:b32; offset gds" { ds 0xc2 }
    /// Atomic wrapping increment with a second address of LDS.
    DsIncSrc2U64 (exact lds_atomic::ds_inc_src2_u64) "ds_inc_src2_u64 addr:b32; offset gds" { ds 0xc3 }
    /// Atomic wrapping decrement with a second address of LDS.
    DsDecSrc2U64 (exact lds_atomic::ds_dec_src2_u64) "ds_dec_src2_u64 addr:b32; offset gds" { ds 0xc4 }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2I64 (exact lds_atomic::ds_min_src2_i64) "ds_min_src2_i64 addr:b32; offset gds" { ds 0xc5 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2I64 (exact lds_atomic::ds_max_src2_i64) "ds_max_src2_i64 addr:b32; offset gds" { ds 0xc6 }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2U64 (exact lds_atomic::ds_min_src2_u64) "ds_min_src2_u64 addr:b32; offset gds" { ds 0xc7 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2U64 (exact lds_atomic::ds_max_src2_u64) "ds_max_src2_u64 addr:b32; offset gds" { ds 0xc8 }
    /// Atomic and with a second address of LDS.
    DsAndSrc2B64 (exact lds_atomic::ds_and_src2_b64) "ds_and_src2_b64 addr:b32; offset gds" { ds 0xc9 }
    /// Atomic or with a second address of LDS.
    DsOrSrc2B64 (exact lds_atomic::ds_or_src2_b64) "ds_or_src2_b64 addr:b32; offset gds" { ds 0xca }
    /// Atomic exclusive or with a second address of LDS.
    DsXorSrc2B64 (exact lds_atomic::ds_xor_src2_b64) "ds_xor_src2_b64 addr:b32; offset gds" { ds 0xcb }
    /// Atomic write with a second address of LDS.
    DsWriteSrc2B64 (exact lds::ds_write_src2_b64) "ds_write_src2_b64 addr:b32; offset gds" { ds 0xcd }
    /// Atomic minimum with a second address of LDS.
    DsMinSrc2F64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_min_src2_f64) "ds_min_src2_f64 addr:b32; offset gds" { ds 0xd2 }
    /// Atomic maximum with a second address of LDS.
    DsMaxSrc2F64 (approximate "denormals are kept; the one NaN of two operands gives way to the other; -0 is less than +0" lds_atomic::ds_max_src2_f64) "ds_max_src2_f64 addr:b32; offset gds" { ds 0xd3 }
} }

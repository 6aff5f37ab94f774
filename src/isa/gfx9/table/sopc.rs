//! Scalar comparisons.

family! { ($) sopc {
    /// Comparison: equal.
    SCmpEqI32 (exact scalar_compare::s_cmp_eq_i32) "s_cmp_eq_i32 src0:i32, src1:i32" { sopc 0x00 }
    /// Comparison: less or greater.
    SCmpLgI32 (exact scalar_compare::s_cmp_lg_i32) "s_cmp_lg_i32 src0:i32, src1:i32" { sopc 0x01 }
    /// Comparison: greater.
    SCmpGtI32 (exact scalar_compare::s_cmp_gt_i32) "s_cmp_gt_i32 src0:i32, src1:i32" { sopc 0x02 }
    /// Comparison: greater or equal.
    SCmpGeI32 (exact scalar_compare::s_cmp_ge_i32) "s_cmp_ge_i32 src0:i32, src1:i32" { sopc 0x03 }
    /// Comparison: less.
    SCmpLtI32 (exact scalar_compare::s_cmp_lt_i32) "s_cmp_lt_i32 src0:i32, src1:i32" { sopc 0x04 }
    /// Comparison: less or equal.
    SCmpLeI32 (exact scalar_compare::s_cmp_le_i32) "s_cmp_le_i32 src0:i32, src1:i32" { sopc 0x05 }
    /// Comparison: equal.
    SCmpEqU32 (exact scalar_compare::s_cmp_eq_u32) "s_cmp_eq_u32 src0:u32, src1:u32" { sopc 0x06 }
    /// Comparison: less or greater.
    SCmpLgU32 (exact scalar_compare::s_cmp_lg_u32) "s_cmp_lg_u32 src0:u32, src1:u32" { sopc 0x07 }
    /// Comparison: greater.
    SCmpGtU32 (exact scalar_compare::s_cmp_gt_u32) "s_cmp_gt_u32 src0:u32, src1:u32" { sopc 0x08 }
    /// Comparison: greater or equal.
    SCmpGeU32 (exact scalar_compare::s_cmp_ge_u32) "s_cmp_ge_u32 src0:u32, src1:u32" { sopc 0x09 }
    /// Comparison: less.
    SCmpLtU32 (exact scalar_compare::s_cmp_lt_u32) "s_cmp_lt_u32 src0:u32, src1:u32" { sopc 0x0a }
    /// Comparison: less or equal.
    SCmpLeU32 (exact scalar_compare::s_cmp_le_u32) "s_cmp_le_u32 src0:u32, src1:u32" { sopc 0x0b }
    /// Sets SCC to whether a bit is clear.
    SBitcmp0B32 (exact scalar_compare::s_bitcmp0_b32) "s_bitcmp0_b32 src0:b32, src1:u32" { sopc 0x0c }
    /// Sets SCC to whether a bit is set.
    SBitcmp1B32 (exact scalar_compare::s_bitcmp1_b32) "s_bitcmp1_b32 src0:b32, src1:u32" { sopc 0x0d }
    /// Sets SCC to whether a bit is clear.
    SBitcmp0B64 (exact scalar_compare::s_bitcmp0_b64) "s_bitcmp0_b64 src0:b64, src1:u32" { sopc 0x0e }
    /// Sets SCC to whether a bit is set.
    SBitcmp1B64 (exact scalar_compare::s_bitcmp1_b64) "s_bitcmp1_b64 src0:b64, src1:u32" { sopc 0x0f }
    /// Switches the skipping of vector instructions on or off.
    SSetvskip unimplemented "s_setvskip src0:b32, src1:b32" { sopc 0x10 }
    /// Switches VGPR indexing on.
    SSetGprIdxOn (exact control::s_set_gpr_idx_on) "s_set_gpr_idx_on src0:b32, gpr_idx" { sopc 0x11 }
    /// Comparison: equal.
    SCmpEqU64 (exact scalar_compare::s_cmp_eq_u64) "s_cmp_eq_u64 src0:u64, src1:u64" { sopc 0x12 }
    /// Comparison: less or greater.
    SCmpLgU64 (exact scalar_compare::s_cmp_lg_u64) "s_cmp_lg_u64 src0:u64, src1:u64" { sopc 0x13 }
} }

//! Comparisons of floats.

family! { ($) vopc_float {
    /// Comparison: never.
    VCmpFF16 (exact vector_compare::v_cmp_f_f16) "v_cmp_f_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x20 }
    /// Comparison: less.
    VCmpLtF16 (exact vector_compare::v_cmp_lt_f16) "v_cmp_lt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x21 }
    /// Comparison: equal.
    VCmpEqF16 (exact vector_compare::v_cmp_eq_f16) "v_cmp_eq_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x22 }
    /// Comparison: less or equal.
    VCmpLeF16 (exact vector_compare::v_cmp_le_f16) "v_cmp_le_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x23 }
    /// Comparison: greater.
    VCmpGtF16 (exact vector_compare::v_cmp_gt_f16) "v_cmp_gt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x24 }
    /// Comparison: less or greater.
    VCmpLgF16 (exact vector_compare::v_cmp_lg_f16) "v_cmp_lg_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x25 }
    /// Comparison: greater or equal.
    VCmpGeF16 (exact vector_compare::v_cmp_ge_f16) "v_cmp_ge_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x26 }
    /// Comparison: ordered.
    VCmpOF16 (exact vector_compare::v_cmp_o_f16) "v_cmp_o_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x27 }
    /// Comparison: unordered.
    VCmpUF16 (exact vector_compare::v_cmp_u_f16) "v_cmp_u_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x28 }
    /// Comparison: not greater or equal.
    VCmpNgeF16 (exact vector_compare::v_cmp_nge_f16) "v_cmp_nge_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x29 }
    /// Comparison: not less or greater.
    VCmpNlgF16 (exact vector_compare::v_cmp_nlg_f16) "v_cmp_nlg_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2a }
    /// Comparison: not greater.
    VCmpNgtF16 (exact vector_compare::v_cmp_ngt_f16) "v_cmp_ngt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2b }
    /// Comparison: not less or equal.
    VCmpNleF16 (exact vector_compare::v_cmp_nle_f16) "v_cmp_nle_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2c }
    /// Comparison: not equal.
    VCmpNeqF16 (exact vector_compare::v_cmp_neq_f16) "v_cmp_neq_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2d }
    /// Comparison: not less.
    VCmpNltF16 (exact vector_compare::v_cmp_nlt_f16) "v_cmp_nlt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2e }
    /// Comparison: always.
    VCmpTruF16 (exact vector_compare::v_cmp_tru_f16) "v_cmp_tru_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x2f }
    /// Comparison: never.
    VCmpFF32 (exact vector_compare::v_cmp_f_f32) "v_cmp_f_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x40 }
    /// Comparison: less.
    VCmpLtF32 (exact vector_compare::v_cmp_lt_f32) "v_cmp_lt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x41 }
    /// Comparison: equal.
    VCmpEqF32 (exact vector_compare::v_cmp_eq_f32) "v_cmp_eq_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x42 }
    /// Comparison: less or equal.
    VCmpLeF32 (exact vector_compare::v_cmp_le_f32) "v_cmp_le_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x43 }
    /// Comparison: greater.
    VCmpGtF32 (exact vector_compare::v_cmp_gt_f32) "v_cmp_gt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x44 }
    /// Comparison: less or greater.
    VCmpLgF32 (exact vector_compare::v_cmp_lg_f32) "v_cmp_lg_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x45 }
    /// Comparison: greater or equal.
    VCmpGeF32 (exact vector_compare::v_cmp_ge_f32) "v_cmp_ge_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x46 }
    /// Comparison: ordered.
    VCmpOF32 (exact vector_compare::v_cmp_o_f32) "v_cmp_o_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x47 }
    /// Comparison: unordered.
    VCmpUF32 (exact vector_compare::v_cmp_u_f32) "v_cmp_u_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x48 }
    /// Comparison: not greater or equal.
    VCmpNgeF32 (exact vector_compare::v_cmp_nge_f32) "v_cmp_nge_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x49 }
    /// Comparison: not less or greater.
    VCmpNlgF32 (exact vector_compare::v_cmp_nlg_f32) "v_cmp_nlg_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4a }
    /// Comparison: not greater.
    VCmpNgtF32 (exact vector_compare::v_cmp_ngt_f32) "v_cmp_ngt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4b }
    /// Comparison: not less or equal.
    VCmpNleF32 (exact vector_compare::v_cmp_nle_f32) "v_cmp_nle_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4c }
    /// Comparison: not equal.
    VCmpNeqF32 (exact vector_compare::v_cmp_neq_f32) "v_cmp_neq_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4d }
    /// Comparison: not less.
    VCmpNltF32 (exact vector_compare::v_cmp_nlt_f32) "v_cmp_nlt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4e }
    /// Comparison: always.
    VCmpTruF32 (exact vector_compare::v_cmp_tru_f32) "v_cmp_tru_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x4f }
    /// Comparison: never.
    VCmpFF64 (exact vector_compare::v_cmp_f_f64) "v_cmp_f_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x60 }
    /// Comparison: less.
    VCmpLtF64 (exact vector_compare::v_cmp_lt_f64) "v_cmp_lt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x61 }
    /// Comparison: equal.
    VCmpEqF64 (exact vector_compare::v_cmp_eq_f64) "v_cmp_eq_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x62 }
    /// Comparison: less or equal.
    VCmpLeF64 (exact vector_compare::v_cmp_le_f64) "v_cmp_le_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x63 }
    /// Comparison: greater.
    VCmpGtF64 (exact vector_compare::v_cmp_gt_f64) "v_cmp_gt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x64 }
    /// Comparison: less or greater.
    VCmpLgF64 (exact vector_compare::v_cmp_lg_f64) "v_cmp_lg_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x65 }
    /// Comparison: greater or equal.
    VCmpGeF64 (exact vector_compare::v_cmp_ge_f64) "v_cmp_ge_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x66 }
    /// Comparison: ordered.
    VCmpOF64 (exact vector_compare::v_cmp_o_f64) "v_cmp_o_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x67 }
    /// Comparison: unordered.
    VCmpUF64 (exact vector_compare::v_cmp_u_f64) "v_cmp_u_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x68 }
    /// Comparison: not greater or equal.
    VCmpNgeF64 (exact vector_compare::v_cmp_nge_f64) "v_cmp_nge_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x69 }
    /// Comparison: not less or greater.
    VCmpNlgF64 (exact vector_compare::v_cmp_nlg_f64) "v_cmp_nlg_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6a }
    /// Comparison: not greater.
    VCmpNgtF64 (exact vector_compare::v_cmp_ngt_f64) "v_cmp_ngt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6b }
    /// Comparison: not less or equal.
    VCmpNleF64 (exact vector_compare::v_cmp_nle_f64) "v_cmp_nle_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6c }
    /// Comparison: not equal.
    VCmpNeqF64 (exact vector_compare::v_cmp_neq_f64) "v_cmp_neq_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6d }
    /// Comparison: not less.
    VCmpNltF64 (exact vector_compare::v_cmp_nlt_f64) "v_cmp_nlt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6e }
    /// Comparison: always.
    VCmpTruF64 (exact vector_compare::v_cmp_tru_f64) "v_cmp_tru_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x6f }
} }

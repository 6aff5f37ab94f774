//! Comparisons of floats that write EXEC too.

family! { ($) vopc_x_float {
    /// Comparison: never; writes EXEC too.
    VCmpxFF16 (exact vector_compare::v_cmpx_f_f16) "v_cmpx_f_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x30 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtF16 (exact vector_compare::v_cmpx_lt_f16) "v_cmpx_lt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x31 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqF16 (exact vector_compare::v_cmpx_eq_f16) "v_cmpx_eq_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x32 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeF16 (exact vector_compare::v_cmpx_le_f16) "v_cmpx_le_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x33 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtF16 (exact vector_compare::v_cmpx_gt_f16) "v_cmpx_gt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x34 }
    /// Comparison: less or greater; writes EXEC too.
    VCmpxLgF16 (exact vector_compare::v_cmpx_lg_f16) "v_cmpx_lg_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x35 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeF16 (exact vector_compare::v_cmpx_ge_f16) "v_cmpx_ge_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x36 }
    /// Comparison: ordered; writes EXEC too.
    VCmpxOF16 (exact vector_compare::v_cmpx_o_f16) "v_cmpx_o_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x37 }
    /// Comparison: unordered; writes EXEC too.
    VCmpxUF16 (exact vector_compare::v_cmpx_u_f16) "v_cmpx_u_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x38 }
    /// Comparison: not greater or equal; writes EXEC too.
    VCmpxNgeF16 (exact vector_compare::v_cmpx_nge_f16) "v_cmpx_nge_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x39 }
    /// Comparison: not less or greater; writes EXEC too.
    VCmpxNlgF16 (exact vector_compare::v_cmpx_nlg_f16) "v_cmpx_nlg_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3a }
    /// Comparison: not greater; writes EXEC too.
    VCmpxNgtF16 (exact vector_compare::v_cmpx_ngt_f16) "v_cmpx_ngt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3b }
    /// Comparison: not less or equal; writes EXEC too.
    VCmpxNleF16 (exact vector_compare::v_cmpx_nle_f16) "v_cmpx_nle_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3c }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeqF16 (exact vector_compare::v_cmpx_neq_f16) "v_cmpx_neq_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3d }
    /// Comparison: not less; writes EXEC too.
    VCmpxNltF16 (exact vector_compare::v_cmpx_nlt_f16) "v_cmpx_nlt_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3e }
    /// Comparison: always; writes EXEC too.
    VCmpxTruF16 (exact vector_compare::v_cmpx_tru_f16) "v_cmpx_tru_f16 sdst:mask, src0:f16, src1:f16; clamp" { vopc 0x3f }
    /// Comparison: never; writes EXEC too.
    VCmpxFF32 (exact vector_compare::v_cmpx_f_f32) "v_cmpx_f_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x50 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtF32 (exact vector_compare::v_cmpx_lt_f32) "v_cmpx_lt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x51 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqF32 (exact vector_compare::v_cmpx_eq_f32) "v_cmpx_eq_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x52 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeF32 (exact vector_compare::v_cmpx_le_f32) "v_cmpx_le_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x53 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtF32 (exact vector_compare::v_cmpx_gt_f32) "v_cmpx_gt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x54 }
    /// Comparison: less or greater; writes EXEC too.
    VCmpxLgF32 (exact vector_compare::v_cmpx_lg_f32) "v_cmpx_lg_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x55 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeF32 (exact vector_compare::v_cmpx_ge_f32) "v_cmpx_ge_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x56 }
    /// Comparison: ordered; writes EXEC too.
    VCmpxOF32 (exact vector_compare::v_cmpx_o_f32) "v_cmpx_o_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x57 }
    /// Comparison: unordered; writes EXEC too.
    VCmpxUF32 (exact vector_compare::v_cmpx_u_f32) "v_cmpx_u_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x58 }
    /// Comparison: not greater or equal; writes EXEC too.
    VCmpxNgeF32 (exact vector_compare::v_cmpx_nge_f32) "v_cmpx_nge_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x59 }
    /// Comparison: not less or greater; writes EXEC too.
    VCmpxNlgF32 (exact vector_compare::v_cmpx_nlg_f32) "v_cmpx_nlg_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5a }
    /// Comparison: not greater; writes EXEC too.
    VCmpxNgtF32 (exact vector_compare::v_cmpx_ngt_f32) "v_cmpx_ngt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5b }
    /// Comparison: not less or equal; writes EXEC too.
    VCmpxNleF32 (exact vector_compare::v_cmpx_nle_f32) "v_cmpx_nle_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5c }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeqF32 (exact vector_compare::v_cmpx_neq_f32) "v_cmpx_neq_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5d }
    /// Comparison: not less; writes EXEC too.
    VCmpxNltF32 (exact vector_compare::v_cmpx_nlt_f32) "v_cmpx_nlt_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5e }
    /// Comparison: always; writes EXEC too.
    VCmpxTruF32 (exact vector_compare::v_cmpx_tru_f32) "v_cmpx_tru_f32 sdst:mask, src0:f32, src1:f32; clamp" { vopc 0x5f }
    /// Comparison: never; writes EXEC too.
    VCmpxFF64 (exact vector_compare::v_cmpx_f_f64) "v_cmpx_f_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x70 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtF64 (exact vector_compare::v_cmpx_lt_f64) "v_cmpx_lt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x71 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqF64 (exact vector_compare::v_cmpx_eq_f64) "v_cmpx_eq_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x72 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeF64 (exact vector_compare::v_cmpx_le_f64) "v_cmpx_le_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x73 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtF64 (exact vector_compare::v_cmpx_gt_f64) "v_cmpx_gt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x74 }
    /// Comparison: less or greater; writes EXEC too.
    VCmpxLgF64 (exact vector_compare::v_cmpx_lg_f64) "v_cmpx_lg_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x75 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeF64 (exact vector_compare::v_cmpx_ge_f64) "v_cmpx_ge_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x76 }
    /// Comparison: ordered; writes EXEC too.
    VCmpxOF64 (exact vector_compare::v_cmpx_o_f64) "v_cmpx_o_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x77 }
    /// Comparison: unordered; writes EXEC too.
    VCmpxUF64 (exact vector_compare::v_cmpx_u_f64) "v_cmpx_u_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x78 }
    /// Comparison: not greater or equal; writes EXEC too.
    VCmpxNgeF64 (exact vector_compare::v_cmpx_nge_f64) "v_cmpx_nge_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x79 }
    /// Comparison: not less or greater; writes EXEC too.
    VCmpxNlgF64 (exact vector_compare::v_cmpx_nlg_f64) "v_cmpx_nlg_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7a }
    /// Comparison: not greater; writes EXEC too.
    VCmpxNgtF64 (exact vector_compare::v_cmpx_ngt_f64) "v_cmpx_ngt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7b }
    /// Comparison: not less or equal; writes EXEC too.
    VCmpxNleF64 (exact vector_compare::v_cmpx_nle_f64) "v_cmpx_nle_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7c }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeqF64 (exact vector_compare::v_cmpx_neq_f64) "v_cmpx_neq_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7d }
    /// Comparison: not less; writes EXEC too.
    VCmpxNltF64 (exact vector_compare::v_cmpx_nlt_f64) "v_cmpx_nlt_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7e }
    /// Comparison: always; writes EXEC too.
    VCmpxTruF64 (exact vector_compare::v_cmpx_tru_f64) "v_cmpx_tru_f64 sdst:mask, src0:f64, src1:f64; clamp" { vopc 0x7f }
} }

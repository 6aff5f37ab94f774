//! Comparisons of integers.

family! { ($) vopc_int {
    /// Comparison: never.
    VCmpFI16 (exact vector_compare::v_cmp_f_i16) "v_cmp_f_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa0 }
    /// Comparison: less.
    VCmpLtI16 (exact vector_compare::v_cmp_lt_i16) "v_cmp_lt_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa1 }
    /// Comparison: equal.
    VCmpEqI16 (exact vector_compare::v_cmp_eq_i16) "v_cmp_eq_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa2 }
    /// Comparison: less or equal.
    VCmpLeI16 (exact vector_compare::v_cmp_le_i16) "v_cmp_le_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa3 }
    /// Comparison: greater.
    VCmpGtI16 (exact vector_compare::v_cmp_gt_i16) "v_cmp_gt_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa4 }
    /// Comparison: not equal.
    VCmpNeI16 (exact vector_compare::v_cmp_ne_i16) "v_cmp_ne_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa5 }
    /// Comparison: greater or equal.
    VCmpGeI16 (exact vector_compare::v_cmp_ge_i16) "v_cmp_ge_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa6 }
    /// Comparison: always.
    VCmpTI16 (exact vector_compare::v_cmp_t_i16) "v_cmp_t_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xa7 }
    /// Comparison: never.
    VCmpFU16 (exact vector_compare::v_cmp_f_u16) "v_cmp_f_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xa8 }
    /// Comparison: less.
    VCmpLtU16 (exact vector_compare::v_cmp_lt_u16) "v_cmp_lt_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xa9 }
    /// Comparison: equal.
    VCmpEqU16 (exact vector_compare::v_cmp_eq_u16) "v_cmp_eq_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xaa }
    /// Comparison: less or equal.
    VCmpLeU16 (exact vector_compare::v_cmp_le_u16) "v_cmp_le_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xab }
    /// Comparison: greater.
    VCmpGtU16 (exact vector_compare::v_cmp_gt_u16) "v_cmp_gt_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xac }
    /// Comparison: not equal.
    VCmpNeU16 (exact vector_compare::v_cmp_ne_u16) "v_cmp_ne_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xad }
    /// Comparison: greater or equal.
    VCmpGeU16 (exact vector_compare::v_cmp_ge_u16) "v_cmp_ge_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xae }
    /// Comparison: always.
    VCmpTU16 (exact vector_compare::v_cmp_t_u16) "v_cmp_t_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xaf }
    /// Comparison: never.
    VCmpFI32 (exact vector_compare::v_cmp_f_i32) "v_cmp_f_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc0 }
    /// Comparison: less.
    VCmpLtI32 (exact vector_compare::v_cmp_lt_i32) "v_cmp_lt_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc1 }
    /// Comparison: equal.
    VCmpEqI32 (exact vector_compare::v_cmp_eq_i32) "v_cmp_eq_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc2 }
    /// Comparison: less or equal.
    VCmpLeI32 (exact vector_compare::v_cmp_le_i32) "v_cmp_le_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc3 }
    /// Comparison: greater.
    VCmpGtI32 (exact vector_compare::v_cmp_gt_i32) "v_cmp_gt_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc4 }
    /// Comparison: not equal.
    VCmpNeI32 (exact vector_compare::v_cmp_ne_i32) "v_cmp_ne_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc5 }
    /// Comparison: greater or equal.
    VCmpGeI32 (exact vector_compare::v_cmp_ge_i32) "v_cmp_ge_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc6 }
    /// Comparison: always.
    VCmpTI32 (exact vector_compare::v_cmp_t_i32) "v_cmp_t_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xc7 }
    /// Comparison: never.
    VCmpFU32 (exact vector_compare::v_cmp_f_u32) "v_cmp_f_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xc8 }
    /// Comparison: less.
    VCmpLtU32 (exact vector_compare::v_cmp_lt_u32) "v_cmp_lt_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xc9 }
    /// Comparison: equal.
    VCmpEqU32 (exact vector_compare::v_cmp_eq_u32) "v_cmp_eq_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xca }
    /// Comparison: less or equal.
    VCmpLeU32 (exact vector_compare::v_cmp_le_u32) "v_cmp_le_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xcb }
    /// Comparison: greater.
    VCmpGtU32 (exact vector_compare::v_cmp_gt_u32) "v_cmp_gt_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xcc }
    /// Comparison: not equal.
    VCmpNeU32 (exact vector_compare::v_cmp_ne_u32) "v_cmp_ne_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xcd }
    /// Comparison: greater or equal.
    VCmpGeU32 (exact vector_compare::v_cmp_ge_u32) "v_cmp_ge_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xce }
    /// Comparison: always.
    VCmpTU32 (exact vector_compare::v_cmp_t_u32) "v_cmp_t_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xcf }
    /// Comparison: never.
    VCmpFI64 (exact vector_compare::v_cmp_f_i64) "v_cmp_f_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe0 }
    /// Comparison: less.
    VCmpLtI64 (exact vector_compare::v_cmp_lt_i64) "v_cmp_lt_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe1 }
    /// Comparison: equal.
    VCmpEqI64 (exact vector_compare::v_cmp_eq_i64) "v_cmp_eq_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe2 }
    /// Comparison: less or equal.
    VCmpLeI64 (exact vector_compare::v_cmp_le_i64) "v_cmp_le_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe3 }
    /// Comparison: greater.
    VCmpGtI64 (exact vector_compare::v_cmp_gt_i64) "v_cmp_gt_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe4 }
    /// Comparison: not equal.
    VCmpNeI64 (exact vector_compare::v_cmp_ne_i64) "v_cmp_ne_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe5 }
    /// Comparison: greater or equal.
    VCmpGeI64 (exact vector_compare::v_cmp_ge_i64) "v_cmp_ge_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe6 }
    /// Comparison: always.
    VCmpTI64 (exact vector_compare::v_cmp_t_i64) "v_cmp_t_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xe7 }
    /// Comparison: never.
    VCmpFU64 (exact vector_compare::v_cmp_f_u64) "v_cmp_f_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xe8 }
    /// Comparison: less.
    VCmpLtU64 (exact vector_compare::v_cmp_lt_u64) "v_cmp_lt_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xe9 }
    /// Comparison: equal.
    VCmpEqU64 (exact vector_compare::v_cmp_eq_u64) "v_cmp_eq_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xea }
    /// Comparison: less or equal.
    VCmpLeU64 (exact vector_compare::v_cmp_le_u64) "v_cmp_le_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xeb }
    /// Comparison: greater.
    VCmpGtU64 (exact vector_compare::v_cmp_gt_u64) "v_cmp_gt_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xec }
    /// Comparison: not equal.
    VCmpNeU64 (exact vector_compare::v_cmp_ne_u64) "v_cmp_ne_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xed }
    /// Comparison: greater or equal.
    VCmpGeU64 (exact vector_compare::v_cmp_ge_u64) "v_cmp_ge_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xee }
    /// Comparison: always.
    VCmpTU64 (exact vector_compare::v_cmp_t_u64) "v_cmp_t_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xef }
} }

//! Comparisons of integers that write EXEC too.

family! { ($) vopc_x_int {
    /// Comparison: never; writes EXEC too.
    VCmpxFI16 (exact vector_compare::v_cmpx_f_i16) "v_cmpx_f_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb0 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtI16 (exact vector_compare::v_cmpx_lt_i16) "v_cmpx_lt_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb1 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqI16 (exact vector_compare::v_cmpx_eq_i16) "v_cmpx_eq_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb2 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeI16 (exact vector_compare::v_cmpx_le_i16) "v_cmpx_le_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb3 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtI16 (exact vector_compare::v_cmpx_gt_i16) "v_cmpx_gt_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb4 }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeI16 (exact vector_compare::v_cmpx_ne_i16) "v_cmpx_ne_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb5 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeI16 (exact vector_compare::v_cmpx_ge_i16) "v_cmpx_ge_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb6 }
    /// Comparison: always; writes EXEC too.
    VCmpxTI16 (exact vector_compare::v_cmpx_t_i16) "v_cmpx_t_i16 sdst:mask, src0:i16, src1:i16" { vopc 0xb7 }
    /// Comparison: never; writes EXEC too.
    VCmpxFU16 (exact vector_compare::v_cmpx_f_u16) "v_cmpx_f_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xb8 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtU16 (exact vector_compare::v_cmpx_lt_u16) "v_cmpx_lt_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xb9 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqU16 (exact vector_compare::v_cmpx_eq_u16) "v_cmpx_eq_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xba }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeU16 (exact vector_compare::v_cmpx_le_u16) "v_cmpx_le_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xbb }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtU16 (exact vector_compare::v_cmpx_gt_u16) "v_cmpx_gt_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xbc }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeU16 (exact vector_compare::v_cmpx_ne_u16) "v_cmpx_ne_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xbd }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeU16 (exact vector_compare::v_cmpx_ge_u16) "v_cmpx_ge_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xbe }
    /// Comparison: always; writes EXEC too.
    VCmpxTU16 (exact vector_compare::v_cmpx_t_u16) "v_cmpx_t_u16 sdst:mask, src0:u16, src1:u16" { vopc 0xbf }
    /// Comparison: never; writes EXEC too.
    VCmpxFI32 (exact vector_compare::v_cmpx_f_i32) "v_cmpx_f_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd0 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtI32 (exact vector_compare::v_cmpx_lt_i32) "v_cmpx_lt_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd1 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqI32 (exact vector_compare::v_cmpx_eq_i32) "v_cmpx_eq_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd2 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeI32 (exact vector_compare::v_cmpx_le_i32) "v_cmpx_le_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd3 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtI32 (exact vector_compare::v_cmpx_gt_i32) "v_cmpx_gt_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd4 }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeI32 (exact vector_compare::v_cmpx_ne_i32) "v_cmpx_ne_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd5 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeI32 (exact vector_compare::v_cmpx_ge_i32) "v_cmpx_ge_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd6 }
    /// Comparison: always; writes EXEC too.
    VCmpxTI32 (exact vector_compare::v_cmpx_t_i32) "v_cmpx_t_i32 sdst:mask, src0:i32, src1:i32" { vopc 0xd7 }
    /// Comparison: never; writes EXEC too.
    VCmpxFU32 (exact vector_compare::v_cmpx_f_u32) "v_cmpx_f_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xd8 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtU32 (exact vector_compare::v_cmpx_lt_u32) "v_cmpx_lt_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xd9 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqU32 (exact vector_compare::v_cmpx_eq_u32) "v_cmpx_eq_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xda }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeU32 (exact vector_compare::v_cmpx_le_u32) "v_cmpx_le_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xdb }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtU32 (exact vector_compare::v_cmpx_gt_u32) "v_cmpx_gt_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xdc }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeU32 (exact vector_compare::v_cmpx_ne_u32) "v_cmpx_ne_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xdd }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeU32 (exact vector_compare::v_cmpx_ge_u32) "v_cmpx_ge_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xde }
    /// Comparison: always; writes EXEC too.
    VCmpxTU32 (exact vector_compare::v_cmpx_t_u32) "v_cmpx_t_u32 sdst:mask, src0:u32, src1:u32" { vopc 0xdf }
    /// Comparison: never; writes EXEC too.
    VCmpxFI64 (exact vector_compare::v_cmpx_f_i64) "v_cmpx_f_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf0 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtI64 (exact vector_compare::v_cmpx_lt_i64) "v_cmpx_lt_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf1 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqI64 (exact vector_compare::v_cmpx_eq_i64) "v_cmpx_eq_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf2 }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeI64 (exact vector_compare::v_cmpx_le_i64) "v_cmpx_le_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf3 }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtI64 (exact vector_compare::v_cmpx_gt_i64) "v_cmpx_gt_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf4 }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeI64 (exact vector_compare::v_cmpx_ne_i64) "v_cmpx_ne_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf5 }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeI64 (exact vector_compare::v_cmpx_ge_i64) "v_cmpx_ge_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf6 }
    /// Comparison: always; writes EXEC too.
    VCmpxTI64 (exact vector_compare::v_cmpx_t_i64) "v_cmpx_t_i64 sdst:mask, src0:i64, src1:i64" { vopc 0xf7 }
    /// Comparison: never; writes EXEC too.
    VCmpxFU64 (exact vector_compare::v_cmpx_f_u64) "v_cmpx_f_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xf8 }
    /// Comparison: less; writes EXEC too.
    VCmpxLtU64 (exact vector_compare::v_cmpx_lt_u64) "v_cmpx_lt_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xf9 }
    /// Comparison: equal; writes EXEC too.
    VCmpxEqU64 (exact vector_compare::v_cmpx_eq_u64) "v_cmpx_eq_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xfa }
    /// Comparison: less or equal; writes EXEC too.
    VCmpxLeU64 (exact vector_compare::v_cmpx_le_u64) "v_cmpx_le_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xfb }
    /// Comparison: greater; writes EXEC too.
    VCmpxGtU64 (exact vector_compare::v_cmpx_gt_u64) "v_cmpx_gt_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xfc }
    /// Comparison: not equal; writes EXEC too.
    VCmpxNeU64 (exact vector_compare::v_cmpx_ne_u64) "v_cmpx_ne_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xfd }
    /// Comparison: greater or equal; writes EXEC too.
    VCmpxGeU64 (exact vector_compare::v_cmpx_ge_u64) "v_cmpx_ge_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xfe }
    /// Comparison: always; writes EXEC too.
    VCmpxTU64 (exact vector_compare::v_cmpx_t_u64) "v_cmpx_t_u64 sdst:mask, src0:u64, src1:u64" { vopc 0xff }
} }

//! Tests for classes of floats.

family! { ($) vopc_class {
    /// Test for classes of floats.
    VCmpClassF32 (exact vector_compare::v_cmp_class_f32) "v_cmp_class_f32 sdst:mask, src0:f32, src1:b32" { vopc 0x10 }
    /// Test for classes of floats; writes EXEC too.
    VCmpxClassF32 (exact vector_compare::v_cmpx_class_f32) "v_cmpx_class_f32 sdst:mask, src0:f32, src1:b32" { vopc 0x11 }
    /// Test for classes of floats.
    VCmpClassF64 (exact vector_compare::v_cmp_class_f64) "v_cmp_class_f64 sdst:mask, src0:f64, src1:b32" { vopc 0x12 }
    /// Test for classes of floats; writes EXEC too.
    VCmpxClassF64 (exact vector_compare::v_cmpx_class_f64) "v_cmpx_class_f64 sdst:mask, src0:f64, src1:b32" { vopc 0x13 }
    /// Test for classes of floats.
    VCmpClassF16 (exact vector_compare::v_cmp_class_f16) "v_cmp_class_f16 sdst:mask, src0:f16, src1:b32" { vopc 0x14 }
    /// Test for classes of floats; writes EXEC too.
    VCmpxClassF16 (exact vector_compare::v_cmpx_class_f16) "v_cmpx_class_f16 sdst:mask, src0:f16, src1:b32" { vopc 0x15 }
} }

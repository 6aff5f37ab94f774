//! Scalar instructions with a 16-bit constant.

family! { ($) sopk {
    /// Moves a sign-extended constant.
    SMovkI32 (exact scalar_alu::s_movk_i32) "s_movk_i32 sdst:i32, simm16" { sopk 0x00 }
    /// Moves a sign-extended constant if SCC is set.
    SCmovkI32 (exact scalar_alu::s_cmovk_i32) "s_cmovk_i32 sdst:i32, simm16" { sopk 0x01 }
    /// Comparison: equal.
    SCmpkEqI32 (exact scalar_compare::s_cmpk_eq_i32) "s_cmpk_eq_i32 src0:i32, simm16" { sopk 0x02 }
    /// Comparison: less or greater.
    SCmpkLgI32 (exact scalar_compare::s_cmpk_lg_i32) "s_cmpk_lg_i32 src0:i32, simm16" { sopk 0x03 }
    /// Comparison: greater.
    SCmpkGtI32 (exact scalar_compare::s_cmpk_gt_i32) "s_cmpk_gt_i32 src0:i32, simm16" { sopk 0x04 }
    /// Comparison: greater or equal.
    SCmpkGeI32 (exact scalar_compare::s_cmpk_ge_i32) "s_cmpk_ge_i32 src0:i32, simm16" { sopk 0x05 }
    /// Comparison: less.
    SCmpkLtI32 (exact scalar_compare::s_cmpk_lt_i32) "s_cmpk_lt_i32 src0:i32, simm16" { sopk 0x06 }
    /// Comparison: less or equal.
    SCmpkLeI32 (exact scalar_compare::s_cmpk_le_i32) "s_cmpk_le_i32 src0:i32, simm16" { sopk 0x07 }
    /// Comparison: equal.
    SCmpkEqU32 (exact scalar_compare::s_cmpk_eq_u32) "s_cmpk_eq_u32 src0:u32, simm16" { sopk 0x08 }
    /// Comparison: less or greater.
    SCmpkLgU32 (exact scalar_compare::s_cmpk_lg_u32) "s_cmpk_lg_u32 src0:u32, simm16" { sopk 0x09 }
    /// Comparison: greater.
    SCmpkGtU32 (exact scalar_compare::s_cmpk_gt_u32) "s_cmpk_gt_u32 src0:u32, simm16" { sopk 0x0a }
    /// Comparison: greater or equal.
    SCmpkGeU32 (exact scalar_compare::s_cmpk_ge_u32) "s_cmpk_ge_u32 src0:u32, simm16" { sopk 0x0b }
    /// Comparison: less.
    SCmpkLtU32 (exact scalar_compare::s_cmpk_lt_u32) "s_cmpk_lt_u32 src0:u32, simm16" { sopk 0x0c }
    /// Comparison: less or equal.
    SCmpkLeU32 (exact scalar_compare::s_cmpk_le_u32) "s_cmpk_le_u32 src0:u32, simm16" { sopk 0x0d }
    /// Sum.
    SAddkI32 (exact scalar_alu::s_addk_i32) "s_addk_i32 sdst:i32, simm16" { sopk 0x0e }
    /// Product.
    SMulkI32 (exact scalar_alu::s_mulk_i32) "s_mulk_i32 sdst:i32, simm16" { sopk 0x0f }
    /// Fork of control flow by the mask; not emitted for GFX9.
    SCbranchIFork unimplemented "s_cbranch_i_fork src0:b64, label" { sopk 0x10 }
    /// Reads bits of a hardware register.
    SGetregB32 (exact hardware::s_getreg_b32) "s_getreg_b32 sdst:b32, hwreg" { sopk 0x11 }
    /// Writes bits of a hardware register.
    SSetregB32 (exact hardware::s_setreg_b32) "s_setreg_b32 hwreg, src0:b32" { sopk 0x12 }
    /// Writes bits of a hardware register with a literal.
    SSetregImm32B32 (exact hardware::s_setreg_imm32_b32) "s_setreg_imm32_b32 hwreg, k:b32" { sopk 0x14 }
    /// Call: the return address goes to the destination.
    SCallB64 (exact control::s_call_b64) "s_call_b64 sdst:b64, label" { sopk 0x15 }
} }

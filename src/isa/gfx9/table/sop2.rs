//! Scalar instructions of two sources.

family! { ($) sop2 {
    /// Sum.
    SAddU32 (exact scalar_alu::s_add_u32) "s_add_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x00 }
    /// Difference.
    SSubU32 (exact scalar_alu::s_sub_u32) "s_sub_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x01 }
    /// Sum.
    SAddI32 (exact scalar_alu::s_add_i32) "s_add_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x02 }
    /// Difference.
    SSubI32 (exact scalar_alu::s_sub_i32) "s_sub_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x03 }
    /// Sum with carry in and out.
    SAddcU32 (exact scalar_alu::s_addc_u32) "s_addc_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x04 }
    /// Difference with borrow in and out.
    SSubbU32 (exact scalar_alu::s_subb_u32) "s_subb_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x05 }
    /// Minimum.
    SMinI32 (exact scalar_alu::s_min_i32) "s_min_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x06 }
    /// Minimum.
    SMinU32 (exact scalar_alu::s_min_u32) "s_min_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x07 }
    /// Maximum.
    SMaxI32 (exact scalar_alu::s_max_i32) "s_max_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x08 }
    /// Maximum.
    SMaxU32 (exact scalar_alu::s_max_u32) "s_max_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x09 }
    /// Selects one of two sources by SCC.
    SCselectB32 (exact scalar_alu::s_cselect_b32) "s_cselect_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x0a }
    /// Selects one of two sources by SCC.
    SCselectB64 (exact scalar_alu::s_cselect_b64) "s_cselect_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x0b }
    /// Bitwise and.
    SAndB32 (exact scalar_alu::s_and_b32) "s_and_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x0c }
    /// Bitwise and.
    SAndB64 (exact scalar_alu::s_and_b64) "s_and_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x0d }
    /// Bitwise or.
    SOrB32 (exact scalar_alu::s_or_b32) "s_or_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x0e }
    /// Bitwise or.
    SOrB64 (exact scalar_alu::s_or_b64) "s_or_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x0f }
    /// Bitwise exclusive or.
    SXorB32 (exact scalar_alu::s_xor_b32) "s_xor_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x10 }
    /// Bitwise exclusive or.
    SXorB64 (exact scalar_alu::s_xor_b64) "s_xor_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x11 }
    /// Bitwise and of the first source and the complement of the second.
    SAndn2B32 (exact scalar_alu::s_andn2_b32) "s_andn2_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x12 }
    /// Bitwise and of the first source and the complement of the second.
    SAndn2B64 (exact scalar_alu::s_andn2_b64) "s_andn2_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x13 }
    /// Bitwise or of the first source and the complement of the second.
    SOrn2B32 (exact scalar_alu::s_orn2_b32) "s_orn2_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x14 }
    /// Bitwise or of the first source and the complement of the second.
    SOrn2B64 (exact scalar_alu::s_orn2_b64) "s_orn2_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x15 }
    /// Complement of the bitwise and.
    SNandB32 (exact scalar_alu::s_nand_b32) "s_nand_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x16 }
    /// Complement of the bitwise and.
    SNandB64 (exact scalar_alu::s_nand_b64) "s_nand_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x17 }
    /// Complement of the bitwise or.
    SNorB32 (exact scalar_alu::s_nor_b32) "s_nor_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x18 }
    /// Complement of the bitwise or.
    SNorB64 (exact scalar_alu::s_nor_b64) "s_nor_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x19 }
    /// Complement of the bitwise exclusive or.
    SXnorB32 (exact scalar_alu::s_xnor_b32) "s_xnor_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x1a }
    /// Complement of the bitwise exclusive or.
    SXnorB64 (exact scalar_alu::s_xnor_b64) "s_xnor_b64 sdst:b64, src0:b64, src1:b64" { sop2 0x1b }
    /// Shift left.
    SLshlB32 (exact scalar_alu::s_lshl_b32) "s_lshl_b32 sdst:b32, src0:b32, src1:u32" { sop2 0x1c }
    /// Shift left.
    SLshlB64 (exact scalar_alu::s_lshl_b64) "s_lshl_b64 sdst:b64, src0:b64, src1:u32" { sop2 0x1d }
    /// Logical shift right.
    SLshrB32 (exact scalar_alu::s_lshr_b32) "s_lshr_b32 sdst:b32, src0:b32, src1:u32" { sop2 0x1e }
    /// Logical shift right.
    SLshrB64 (exact scalar_alu::s_lshr_b64) "s_lshr_b64 sdst:b64, src0:b64, src1:u32" { sop2 0x1f }
    /// Arithmetic shift right.
    SAshrI32 (exact scalar_alu::s_ashr_i32) "s_ashr_i32 sdst:i32, src0:i32, src1:u32" { sop2 0x20 }
    /// Arithmetic shift right.
    SAshrI64 (exact scalar_alu::s_ashr_i64) "s_ashr_i64 sdst:i64, src0:i64, src1:u32" { sop2 0x21 }
    /// Mask of a number of bits at an offset.
    SBfmB32 (exact scalar_alu::s_bfm_b32) "s_bfm_b32 sdst:b32, src0:b32, src1:b32" { sop2 0x22 }
    /// Mask of a number of bits at an offset.
    SBfmB64 (exact scalar_alu::s_bfm_b64) "s_bfm_b64 sdst:b64, src0:u32, src1:u32" { sop2 0x23 }
    /// Product.
    SMulI32 (exact scalar_alu::s_mul_i32) "s_mul_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x24 }
    /// Bit field, its offset and width from the second source.
    SBfeU32 (exact scalar_alu::s_bfe_u32) "s_bfe_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x25 }
    /// Bit field, its offset and width from the second source.
    SBfeI32 (exact scalar_alu::s_bfe_i32) "s_bfe_i32 sdst:i32, src0:i32, src1:u32" { sop2 0x26 }
    /// Bit field, its offset and width from the second source.
    SBfeU64 (exact scalar_alu::s_bfe_u64) "s_bfe_u64 sdst:u64, src0:u64, src1:u32" { sop2 0x27 }
    /// Bit field, its offset and width from the second source.
    SBfeI64 (exact scalar_alu::s_bfe_i64) "s_bfe_i64 sdst:i64, src0:i64, src1:u32" { sop2 0x28 }
    /// Fork of control flow by the mask; not emitted for GFX9.
    SCbranchGFork unimplemented "s_cbranch_g_fork src0:b64, src1:b64" { sop2 0x29 }
    /// Absolute difference.
    SAbsdiffI32 (exact scalar_alu::s_absdiff_i32) "s_absdiff_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x2a }
    /// Return from a trap handler.
    SRfeRestoreB64 unimplemented "s_rfe_restore_b64 src0:b64, src1:b32" { sop2 0x2b }
    /// High half of the product.
    SMulHiU32 (exact scalar_alu::s_mul_hi_u32) "s_mul_hi_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x2c }
    /// High half of the product.
    SMulHiI32 (exact scalar_alu::s_mul_hi_i32) "s_mul_hi_i32 sdst:i32, src0:i32, src1:i32" { sop2 0x2d }
    /// First source, shifted left by the number in the name, plus the second.
    SLshl1AddU32 (exact scalar_alu::s_lshl1_add_u32) "s_lshl1_add_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x2e }
    /// First source, shifted left by the number in the name, plus the second.
    SLshl2AddU32 (exact scalar_alu::s_lshl2_add_u32) "s_lshl2_add_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x2f }
    /// First source, shifted left by the number in the name, plus the second.
    SLshl3AddU32 (exact scalar_alu::s_lshl3_add_u32) "s_lshl3_add_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x30 }
    /// First source, shifted left by the number in the name, plus the second.
    SLshl4AddU32 (exact scalar_alu::s_lshl4_add_u32) "s_lshl4_add_u32 sdst:u32, src0:u32, src1:u32" { sop2 0x31 }
    /// Packs two 16-bit halves into a dword.
    SPackLlB32B16 (exact scalar_alu::s_pack_ll_b32_b16) "s_pack_ll_b32_b16 sdst:b32, src0:b32, src1:b32" { sop2 0x32 }
    /// Packs two 16-bit halves into a dword.
    SPackLhB32B16 (exact scalar_alu::s_pack_lh_b32_b16) "s_pack_lh_b32_b16 sdst:b32, src0:b32, src1:b32" { sop2 0x33 }
    /// Packs two 16-bit halves into a dword.
    SPackHhB32B16 (exact scalar_alu::s_pack_hh_b32_b16) "s_pack_hh_b32_b16 sdst:b32, src0:b32, src1:b32" { sop2 0x34 }
} }

//! Vector instructions of two sources.

family! { ($) vop2 {
    /// Selects one of two sources for each lane.
    VCndmaskB32 (exact vector_int::v_cndmask_b32) "v_cndmask_b32 vdst:b32, src0:b32|, src1:b32|, src2:mask" { vop2 0x00 }
    /// Sum.
    VAddF32 (exact vector_float::v_add_f32) "v_add_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x01 }
    /// Difference.
    VSubF32 (exact vector_float::v_sub_f32) "v_sub_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x02 }
    /// Difference, operands swapped.
    VSubrevF32 (exact vector_float::v_subrev_f32) "v_subrev_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x03 }
    /// Product in which zero times anything is zero.
    VMulLegacyF32 (exact vector_float::v_mul_legacy_f32) "v_mul_legacy_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x04 }
    /// Product.
    VMulF32 (exact vector_float::v_mul_f32) "v_mul_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x05 }
    /// Product.
    VMulI32I24 (exact vector_int::v_mul_i32_i24) "v_mul_i32_i24 vdst:i32, src0:i32, src1:i32; clamp" { vop2 0x06 }
    /// High half of the product.
    VMulHiI32I24 (exact vector_int::v_mul_hi_i32_i24) "v_mul_hi_i32_i24 vdst:i32, src0:i32, src1:i32" { vop2 0x07 }
    /// Product.
    VMulU32U24 (exact vector_int::v_mul_u32_u24) "v_mul_u32_u24 vdst:u32, src0:u32, src1:u32; clamp" { vop2 0x08 }
    /// High half of the product.
    VMulHiU32U24 (exact vector_int::v_mul_hi_u32_u24) "v_mul_hi_u32_u24 vdst:u32, src0:u32, src1:u32" { vop2 0x09 }
    /// Minimum.
    VMinF32 (exact vector_float::v_min_f32) "v_min_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x0a }
    /// Maximum.
    VMaxF32 (exact vector_float::v_max_f32) "v_max_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x0b }
    /// Minimum.
    VMinI32 (exact vector_int::v_min_i32) "v_min_i32 vdst:i32, src0:i32, src1:i32" { vop2 0x0c }
    /// Maximum.
    VMaxI32 (exact vector_int::v_max_i32) "v_max_i32 vdst:i32, src0:i32, src1:i32" { vop2 0x0d }
    /// Minimum.
    VMinU32 (exact vector_int::v_min_u32) "v_min_u32 vdst:u32, src0:u32, src1:u32" { vop2 0x0e }
    /// Maximum.
    VMaxU32 (exact vector_int::v_max_u32) "v_max_u32 vdst:u32, src0:u32, src1:u32" { vop2 0x0f }
    /// Logical shift right, the amount first.
    VLshrrevB32 (exact vector_int::v_lshrrev_b32) "v_lshrrev_b32 vdst:b32, src0:u32, src1:b32" { vop2 0x10 }
    /// Arithmetic shift right, the amount first.
    VAshrrevI32 (exact vector_int::v_ashrrev_i32) "v_ashrrev_i32 vdst:i32, src0:u32, src1:i32" { vop2 0x11 }
    /// Shift left, the amount first.
    VLshlrevB32 (exact vector_int::v_lshlrev_b32) "v_lshlrev_b32 vdst:b32, src0:u32, src1:b32" { vop2 0x12 }
    /// Bitwise and.
    VAndB32 (exact vector_int::v_and_b32) "v_and_b32 vdst:b32, src0:b32, src1:b32" { vop2 0x13 }
    /// Bitwise or.
    VOrB32 (exact vector_int::v_or_b32) "v_or_b32 vdst:b32, src0:b32, src1:b32" { vop2 0x14 }
    /// Bitwise exclusive or.
    VXorB32 (exact vector_int::v_xor_b32) "v_xor_b32 vdst:b32, src0:b32, src1:b32" { vop2 0x15 }
    /// Product plus the destination, rounded twice.
    VMacF32 (exact vector_float::v_mac_f32) "v_mac_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x16 - sdwa }
    /// Product with a literal, plus a register.
    VMadmkF32 (exact vector_float::v_madmk_f32) "v_madmk_f32 vdst:f32, src0:f32, k:f32, src1:f32" { vop2 0x17 - e64 - sdwa - dpp }
    /// Product plus a literal.
    VMadakF32 (exact vector_float::v_madak_f32) "v_madak_f32 vdst:f32, src0:f32, src1:f32, k:f32" { vop2 0x18 - e64 - sdwa - dpp }
    /// Sum; the carry goes to the mask.
    VAddCoU32 (exact vector_int::v_add_co_u32) "v_add_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32; clamp" { vop2 0x19 }
    /// Difference; the borrow goes to the mask.
    VSubCoU32 (exact vector_int::v_sub_co_u32) "v_sub_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32; clamp" { vop2 0x1a }
    /// Difference, operands swapped; the borrow goes to the mask.
    VSubrevCoU32 (exact vector_int::v_subrev_co_u32) "v_subrev_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32; clamp" { vop2 0x1b }
    /// Sum with carry in and out.
    VAddcCoU32 (exact vector_int::v_addc_co_u32) "v_addc_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32, src2:mask; clamp" { vop2 0x1c }
    /// Difference with borrow in and out.
    VSubbCoU32 (exact vector_int::v_subb_co_u32) "v_subb_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32, src2:mask; clamp" { vop2 0x1d }
    /// Difference with borrow in and out, operands swapped.
    VSubbrevCoU32 (exact vector_int::v_subbrev_co_u32) "v_subbrev_co_u32 vdst:u32, sdst:mask, src0:u32, src1:u32, src2:mask; clamp" { vop2 0x1e }
    /// Sum.
    VAddF16 (exact vector_half::v_add_f16) "v_add_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x1f }
    /// Difference.
    VSubF16 (exact vector_half::v_sub_f16) "v_sub_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x20 }
    /// Difference, operands swapped.
    VSubrevF16 (exact vector_half::v_subrev_f16) "v_subrev_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x21 }
    /// Product.
    VMulF16 (exact vector_half::v_mul_f16) "v_mul_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x22 }
    /// Product plus the destination, rounded twice.
    VMacF16 (exact vector_half::v_mac_f16) "v_mac_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x23 - sdwa }
    /// Product with a literal, plus a register.
    VMadmkF16 (exact vector_half::v_madmk_f16) "v_madmk_f16 vdst:f16, src0:f16, k:f16, src1:f16" { vop2 0x24 - e64 - sdwa - dpp }
    /// Product plus a literal.
    VMadakF16 (exact vector_half::v_madak_f16) "v_madak_f16 vdst:f16, src0:f16, src1:f16, k:f16" { vop2 0x25 - e64 - sdwa - dpp }
    /// Sum.
    VAddU16 (exact vector_short::v_add_u16) "v_add_u16 vdst:u16, src0:u16, src1:u16; clamp" { vop2 0x26 }
    /// Difference.
    VSubU16 (exact vector_short::v_sub_u16) "v_sub_u16 vdst:u16, src0:u16, src1:u16; clamp" { vop2 0x27 }
    /// Difference, operands swapped.
    VSubrevU16 (exact vector_short::v_subrev_u16) "v_subrev_u16 vdst:u16, src0:u16, src1:u16; clamp" { vop2 0x28 }
    /// Low half of the product.
    VMulLoU16 (exact vector_short::v_mul_lo_u16) "v_mul_lo_u16 vdst:u16, src0:u16, src1:u16" { vop2 0x29 }
    /// Shift left, the amount first.
    VLshlrevB16 (exact vector_short::v_lshlrev_b16) "v_lshlrev_b16 vdst:b16, src0:u16, src1:u16" { vop2 0x2a }
    /// Logical shift right, the amount first.
    VLshrrevB16 (exact vector_short::v_lshrrev_b16) "v_lshrrev_b16 vdst:b16, src0:u16, src1:u16" { vop2 0x2b }
    /// Arithmetic shift right, the amount first.
    VAshrrevI16 (exact vector_short::v_ashrrev_i16) "v_ashrrev_i16 vdst:i16, src0:u16, src1:i16" { vop2 0x2c }
    /// Maximum.
    VMaxF16 (exact vector_half::v_max_f16) "v_max_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x2d }
    /// Minimum.
    VMinF16 (exact vector_half::v_min_f16) "v_min_f16 vdst:f16, src0:f16, src1:f16; clamp omod" { vop2 0x2e }
    /// Maximum.
    VMaxU16 (exact vector_short::v_max_u16) "v_max_u16 vdst:u16, src0:u16, src1:u16" { vop2 0x2f }
    /// Maximum.
    VMaxI16 (exact vector_short::v_max_i16) "v_max_i16 vdst:i16, src0:i16, src1:i16" { vop2 0x30 }
    /// Minimum.
    VMinU16 (exact vector_short::v_min_u16) "v_min_u16 vdst:u16, src0:u16, src1:u16" { vop2 0x31 }
    /// Minimum.
    VMinI16 (exact vector_short::v_min_i16) "v_min_i16 vdst:i16, src0:i16, src1:i16" { vop2 0x32 }
    /// Product of the first source and a power of two.
    VLdexpF16 (exact vector_half::v_ldexp_f16) "v_ldexp_f16 vdst:f16, src0:f16, src1:i16~; clamp omod" { vop2 0x33 }
    /// Sum.
    VAddU32 (exact vector_int::v_add_u32) "v_add_u32 vdst:u32, src0:u32, src1:u32; clamp" { vop2 0x34 }
    /// Difference.
    VSubU32 (exact vector_int::v_sub_u32) "v_sub_u32 vdst:u32, src0:u32, src1:u32; clamp" { vop2 0x35 }
    /// Difference, operands swapped.
    VSubrevU32 (exact vector_int::v_subrev_u32) "v_subrev_u32 vdst:u32, src0:u32, src1:u32; clamp" { vop2 0x36 }
    /// Product plus the destination, rounded once; gfx906 only.
    VFmacF32 (exact vector_float::v_fmac_f32) "v_fmac_f32 vdst:f32, src0:f32, src1:f32; clamp omod" { vop2 0x3b - sdwa }
    /// Complement of the bitwise exclusive or; gfx906 only.
    VXnorB32 (exact vector_int::v_xnor_b32) "v_xnor_b32 vdst:b32, src0:b32, src1:b32" { vop2 0x3d }
} }

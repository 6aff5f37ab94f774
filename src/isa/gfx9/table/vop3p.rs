//! Packed halves, mixed precision and dot products.

family! { ($) vop3p {
    /// Halves: product plus a third source.
    VPkMadI16 (exact packed::v_pk_mad_i16) "v_pk_mad_i16 vdst:v2i16, src0:v2i16, src1:v2i16, src2:v2i16" { vop3p 0x00 }
    /// Halves: low half of the product.
    VPkMulLoU16 (exact packed::v_pk_mul_lo_u16) "v_pk_mul_lo_u16 vdst:v2u16, src0:v2u16, src1:v2u16" { vop3p 0x01 }
    /// Halves: sum.
    VPkAddI16 (exact packed::v_pk_add_i16) "v_pk_add_i16 vdst:v2i16, src0:v2i16, src1:v2i16" { vop3p 0x02 }
    /// Halves: difference.
    VPkSubI16 (exact packed::v_pk_sub_i16) "v_pk_sub_i16 vdst:v2i16, src0:v2i16, src1:v2i16" { vop3p 0x03 }
    /// Halves: shift left, the amount first.
    VPkLshlrevB16 (exact packed::v_pk_lshlrev_b16) "v_pk_lshlrev_b16 vdst:v2b16, src0:v2u16, src1:v2b16" { vop3p 0x04 }
    /// Halves: logical shift right, the amount first.
    VPkLshrrevB16 (exact packed::v_pk_lshrrev_b16) "v_pk_lshrrev_b16 vdst:v2b16, src0:v2u16, src1:v2b16" { vop3p 0x05 }
    /// Halves: arithmetic shift right, the amount first.
    VPkAshrrevI16 (exact packed::v_pk_ashrrev_i16) "v_pk_ashrrev_i16 vdst:v2i16, src0:v2u16, src1:v2i16" { vop3p 0x06 }
    /// Halves: maximum.
    VPkMaxI16 (exact packed::v_pk_max_i16) "v_pk_max_i16 vdst:v2i16, src0:v2i16, src1:v2i16" { vop3p 0x07 }
    /// Halves: minimum.
    VPkMinI16 (exact packed::v_pk_min_i16) "v_pk_min_i16 vdst:v2i16, src0:v2i16, src1:v2i16" { vop3p 0x08 }
    /// Halves: product plus a third source.
    VPkMadU16 (exact packed::v_pk_mad_u16) "v_pk_mad_u16 vdst:v2u16, src0:v2u16, src1:v2u16, src2:v2u16" { vop3p 0x09 }
    /// Halves: sum.
    VPkAddU16 (exact packed::v_pk_add_u16) "v_pk_add_u16 vdst:v2u16, src0:v2u16, src1:v2u16" { vop3p 0x0a }
    /// Halves: difference.
    VPkSubU16 (exact packed::v_pk_sub_u16) "v_pk_sub_u16 vdst:v2u16, src0:v2u16, src1:v2u16" { vop3p 0x0b }
    /// Halves: maximum.
    VPkMaxU16 (exact packed::v_pk_max_u16) "v_pk_max_u16 vdst:v2u16, src0:v2u16, src1:v2u16" { vop3p 0x0c }
    /// Halves: minimum.
    VPkMinU16 (exact packed::v_pk_min_u16) "v_pk_min_u16 vdst:v2u16, src0:v2u16, src1:v2u16" { vop3p 0x0d }
    /// Halves: product plus a third source, rounded once.
    VPkFmaF16 (exact packed::v_pk_fma_f16) "v_pk_fma_f16 vdst:v2f16, src0:v2f16, src1:v2f16, src2:v2f16" { vop3p 0x0e }
    /// Halves: sum.
    VPkAddF16 (exact packed::v_pk_add_f16) "v_pk_add_f16 vdst:v2f16, src0:v2f16, src1:v2f16" { vop3p 0x0f }
    /// Halves: product.
    VPkMulF16 (exact packed::v_pk_mul_f16) "v_pk_mul_f16 vdst:v2f16, src0:v2f16, src1:v2f16" { vop3p 0x10 }
    /// Halves: minimum.
    VPkMinF16 (exact packed::v_pk_min_f16) "v_pk_min_f16 vdst:v2f16, src0:v2f16, src1:v2f16" { vop3p 0x11 }
    /// Halves: maximum.
    VPkMaxF16 (exact packed::v_pk_max_f16) "v_pk_max_f16 vdst:v2f16, src0:v2f16, src1:v2f16" { vop3p 0x12 }
    /// Product plus a third source, of mixed precision (`v_fma_mix*`, rounded once, on gfx906).
    VMadMixF32 (exact packed::v_mad_mix_f32) "v_mad_mix_f32 vdst:f32, src0:f16, src1:f16, src2:f16; mix" { vop3p 0x20 }
    /// Product plus a third source, of mixed precision (`v_fma_mix*`, rounded once, on gfx906).
    VMadMixloF16 (exact packed::v_mad_mixlo_f16) "v_mad_mixlo_f16 vdst:f16, src0:f16, src1:f16, src2:f16; mix" { vop3p 0x21 }
    /// Product plus a third source, of mixed precision (`v_fma_mix*`, rounded once, on gfx906).
    VMadMixhiF16 (exact packed::v_mad_mixhi_f16) "v_mad_mixhi_f16 vdst:f16, src0:f16, src1:f16, src2:f16; mix" { vop3p 0x22 }
    /// Dot product plus a third source; gfx906 only.
    VDot2F32F16 (approximate "the low product is added to S2 and the high one to that, each sum rounded; hardware may add in another order" packed::v_dot2_f32_f16) "v_dot2_f32_f16 vdst:f32, src0:v2f16, src1:v2f16, src2:f32" { vop3p 0x23 }
    /// Dot product plus a third source; gfx906 only.
    VDot2I32I16 (exact packed::v_dot2_i32_i16) "v_dot2_i32_i16 vdst:i32, src0:v2i16, src1:v2i16, src2:i32" { vop3p 0x26 }
    /// Dot product plus a third source; gfx906 only.
    VDot2U32U16 (exact packed::v_dot2_u32_u16) "v_dot2_u32_u16 vdst:u32, src0:v2u16, src1:v2u16, src2:u32" { vop3p 0x27 }
    /// Dot product plus a third source; gfx906 only.
    VDot4I32I8 (exact packed::v_dot4_i32_i8) "v_dot4_i32_i8 vdst:i32, src0:b32, src1:b32, src2:i32" { vop3p 0x28 }
    /// Dot product plus a third source; gfx906 only.
    VDot4U32U8 (exact packed::v_dot4_u32_u8) "v_dot4_u32_u8 vdst:u32, src0:b32, src1:b32, src2:u32" { vop3p 0x29 }
    /// Dot product plus a third source; gfx906 only.
    VDot8I32I4 (exact packed::v_dot8_i32_i4) "v_dot8_i32_i4 vdst:i32, src0:b32, src1:b32, src2:i32" { vop3p 0x2a }
    /// Dot product plus a third source; gfx906 only.
    VDot8U32U4 (exact packed::v_dot8_u32_u4) "v_dot8_u32_u4 vdst:u32, src0:b32, src1:b32, src2:u32" { vop3p 0x2b }
} }

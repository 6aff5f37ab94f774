//! Other vector instructions that only VOP3 has.

family! { ($) vop3_other {
    /// Low half of the product.
    VMulLoU32 (exact vector_int::v_mul_lo_u32) "v_mul_lo_u32 vdst:u32, src0:u32, src1:u32" { vop3 0x285 }
    /// High half of the product.
    VMulHiU32 (exact vector_int::v_mul_hi_u32) "v_mul_hi_u32 vdst:u32, src0:u32, src1:u32" { vop3 0x286 }
    /// High half of the product.
    VMulHiI32 (exact vector_int::v_mul_hi_i32) "v_mul_hi_i32 vdst:i32, src0:i32, src1:i32" { vop3 0x287 }
    /// Value of a lane.
    VReadlaneB32 (exact vector_lanes::v_readlane_b32) "v_readlane_b32 sdst:b32, vsrc0:b32, ssrc1:b32" { vop3 0x289 }
    /// Writes one lane.
    VWritelaneB32 (exact vector_lanes::v_writelane_b32) "v_writelane_b32 vdst:b32, ssrc0:b32, ssrc1:b32" { vop3 0x28a }
    /// Number of set bits plus the second source.
    VBcntU32B32 (exact vector_int::v_bcnt_u32_b32) "v_bcnt_u32_b32 vdst:u32, src0:b32, src1:u32" { vop3 0x28b }
    /// Number of set mask bits below the lane, plus the second source.
    VMbcntLoU32B32 (exact vector_lanes::v_mbcnt_lo_u32_b32) "v_mbcnt_lo_u32_b32 vdst:u32, src0:b32, src1:u32" { vop3 0x28c }
    /// Number of set mask bits below the lane, plus the second source.
    VMbcntHiU32B32 (exact vector_lanes::v_mbcnt_hi_u32_b32) "v_mbcnt_hi_u32_b32 vdst:u32, src0:b32, src1:u32" { vop3 0x28d }
    /// Shift left, the amount first.
    VLshlrevB64 (exact vector_int::v_lshlrev_b64) "v_lshlrev_b64 vdst:b64, src0:u32, src1:b64" { vop3 0x28f }
    /// Logical shift right, the amount first.
    VLshrrevB64 (exact vector_int::v_lshrrev_b64) "v_lshrrev_b64 vdst:b64, src0:u32, src1:b64" { vop3 0x290 }
    /// Arithmetic shift right, the amount first.
    VAshrrevI64 (exact vector_int::v_ashrrev_i64) "v_ashrrev_i64 vdst:i64, src0:u32, src1:i64" { vop3 0x291 }
    /// Mask of a number of bits at an offset.
    VBfmB32 (exact vector_int::v_bfm_b32) "v_bfm_b32 vdst:b32, src0:b32, src1:b32" { vop3 0x293 }
    /// Converts two integers with saturation and packs them.
    VCvtPkU16U32 (exact vector_short::v_cvt_pk_u16_u32) "v_cvt_pk_u16_u32 vdst:v2u16, src0:u32, src1:u32" { vop3 0x297 }
    /// Converts two integers with saturation and packs them.
    VCvtPkI16I32 (exact vector_short::v_cvt_pk_i16_i32) "v_cvt_pk_i16_i32 vdst:v2i16, src0:i32, src1:i32" { vop3 0x298 }
    /// Sum.
    VAddI32 (exact vector_int::v_add_i32) "v_add_i32 vdst:i32, src0:i32, src1:i32; clamp" { vop3 0x29c }
    /// Difference.
    VSubI32 (exact vector_int::v_sub_i32) "v_sub_i32 vdst:i32, src0:i32, src1:i32; clamp" { vop3 0x29d }
    /// Sum.
    VAddI16 (exact vector_short::v_add_i16) "v_add_i16 vdst:i16, src0:i16, src1:i16; clamp op_sel" { vop3 0x29e }
    /// Difference.
    VSubI16 (exact vector_short::v_sub_i16) "v_sub_i16 vdst:i16, src0:i16, src1:i16; clamp op_sel" { vop3 0x29f }
} }

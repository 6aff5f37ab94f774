//! Vector instructions of three integers that only VOP3 has.

family! { ($) vop3_int {
    /// Product plus a third source.
    VMadI32I24 (exact vector_int::v_mad_i32_i24) "v_mad_i32_i24 vdst:i32, src0:i32, src1:i32, src2:i32; clamp" { vop3 0x1c2 }
    /// Product plus a third source.
    VMadU32U24 (exact vector_int::v_mad_u32_u24) "v_mad_u32_u24 vdst:u32, src0:u32, src1:u32, src2:u32; clamp" { vop3 0x1c3 }
    /// Bit field, its offset and width from the second source.
    VBfeU32 (exact vector_int::v_bfe_u32) "v_bfe_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1c8 }
    /// Bit field, its offset and width from the second source.
    VBfeI32 (exact vector_int::v_bfe_i32) "v_bfe_i32 vdst:i32, src0:i32, src1:u32, src2:u32" { vop3 0x1c9 }
    /// Bits of the second source where the first is set, bits of the third elsewhere.
    VBfiB32 (exact vector_int::v_bfi_b32) "v_bfi_b32 vdst:b32, src0:b32, src1:b32, src2:b32" { vop3 0x1ca }
    /// Average of bytes with rounding.
    VLerpU8 (exact vector_short::v_lerp_u8) "v_lerp_u8 vdst:b32, src0:b32, src1:b32, src2:b32" { vop3 0x1cd }
    /// Two registers as 64 bits, shifted right by bits.
    VAlignbitB32 (exact vector_int::v_alignbit_b32) "v_alignbit_b32 vdst:b32, src0:b32, src1:b32, src2:u32" { vop3 0x1ce }
    /// Two registers as 64 bits, shifted right by bytes.
    VAlignbyteB32 (exact vector_int::v_alignbyte_b32) "v_alignbyte_b32 vdst:b32, src0:b32, src1:b32, src2:u32" { vop3 0x1cf }
    /// Minimum of three sources.
    VMin3I32 (exact vector_int::v_min3_i32) "v_min3_i32 vdst:i32, src0:i32, src1:i32, src2:i32" { vop3 0x1d1 }
    /// Minimum of three sources.
    VMin3U32 (exact vector_int::v_min3_u32) "v_min3_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1d2 }
    /// Maximum of three sources.
    VMax3I32 (exact vector_int::v_max3_i32) "v_max3_i32 vdst:i32, src0:i32, src1:i32, src2:i32" { vop3 0x1d4 }
    /// Maximum of three sources.
    VMax3U32 (exact vector_int::v_max3_u32) "v_max3_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1d5 }
    /// Median of three sources.
    VMed3I32 (exact vector_int::v_med3_i32) "v_med3_i32 vdst:i32, src0:i32, src1:i32, src2:i32" { vop3 0x1d7 }
    /// Median of three sources.
    VMed3U32 (exact vector_int::v_med3_u32) "v_med3_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1d8 }
    /// Sum of absolute differences.
    VSadU8 (exact vector_short::v_sad_u8) "v_sad_u8 vdst:u32, src0:b32, src1:b32, src2:u32; clamp" { vop3 0x1d9 }
    /// Sum of absolute differences.
    VSadHiU8 (exact vector_short::v_sad_hi_u8) "v_sad_hi_u8 vdst:u32, src0:b32, src1:b32, src2:u32; clamp" { vop3 0x1da }
    /// Sum of absolute differences.
    VSadU16 (exact vector_short::v_sad_u16) "v_sad_u16 vdst:u32, src0:b32, src1:b32, src2:u32; clamp" { vop3 0x1db }
    /// Sum of absolute differences.
    VSadU32 (exact vector_short::v_sad_u32) "v_sad_u32 vdst:u32, src0:b32, src1:b32, src2:u32; clamp" { vop3 0x1dc }
    /// Sum of masked absolute differences.
    VMsadU8 (exact vector_short::v_msad_u8) "v_msad_u8 vdst:u32, src0:b32, src1:b32, src2:u32; clamp" { vop3 0x1e4 }
    /// Four sums of absolute differences.
    VQsadPkU16U8 (exact vector_short::v_qsad_pk_u16_u8) "v_qsad_pk_u16_u8 vdst:b64, src0:b64, src1:b32, src2:b64; clamp" { vop3 0x1e5 }
    /// Four sums of masked absolute differences.
    VMqsadPkU16U8 (exact vector_short::v_mqsad_pk_u16_u8) "v_mqsad_pk_u16_u8 vdst:b64, src0:b64, src1:b32, src2:b64; clamp" { vop3 0x1e6 }
    /// Four sums of masked absolute differences.
    VMqsadU32U8 (exact vector_short::v_mqsad_u32_u8) "v_mqsad_u32_u8 vdst:b128, src0:b64, src1:b32, src2:b128; clamp" { vop3 0x1e7 }
    /// Product plus a third source.
    VMadU64U32 (exact vector_int::v_mad_u64_u32) "v_mad_u64_u32 vdst:u64, sdst:mask, src0:u32, src1:u32, src2:u64; clamp" { vop3 0x1e8 }
    /// Product plus a third source.
    VMadI64I32 (exact vector_int::v_mad_i64_i32) "v_mad_i64_i32 vdst:i64, sdst:mask, src0:i32, src1:i32, src2:i64; clamp" { vop3 0x1e9 }
    /// Product plus a third source, as in older hardware.
    VMadLegacyU16 (exact vector_short::v_mad_legacy_u16) "v_mad_legacy_u16 vdst:u16, src0:u16, src1:u16, src2:u16; clamp" { vop3 0x1eb }
    /// Product plus a third source, as in older hardware.
    VMadLegacyI16 (exact vector_short::v_mad_legacy_i16) "v_mad_legacy_i16 vdst:i16, src0:i16, src1:i16, src2:i16; clamp" { vop3 0x1ec }
    /// Bytes of two sources, chosen by the third source.
    VPermB32 (exact vector_int::v_perm_b32) "v_perm_b32 vdst:b32, src0:b32, src1:b32, src2:b32" { vop3 0x1ed }
    /// Product plus a third source.
    VMadU32U16 (exact vector_int::v_mad_u32_u16) "v_mad_u32_u16 vdst:u32, src0:u16, src1:u16, src2:u32; clamp op_sel" { vop3 0x1f1 }
    /// Product plus a third source.
    VMadI32I16 (exact vector_int::v_mad_i32_i16) "v_mad_i32_i16 vdst:i32, src0:i16, src1:i16, src2:i32; clamp op_sel" { vop3 0x1f2 }
    /// Bitwise exclusive or, then sum.
    VXadU32 (exact vector_int::v_xad_u32) "v_xad_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1f3 }
    /// Minimum of three sources.
    VMin3I16 (exact vector_short::v_min3_i16) "v_min3_i16 vdst:i16, src0:i16, src1:i16, src2:i16; clamp op_sel" { vop3 0x1f5 }
    /// Minimum of three sources.
    VMin3U16 (exact vector_short::v_min3_u16) "v_min3_u16 vdst:u16, src0:u16, src1:u16, src2:u16; clamp op_sel" { vop3 0x1f6 }
    /// Maximum of three sources.
    VMax3I16 (exact vector_short::v_max3_i16) "v_max3_i16 vdst:i16, src0:i16, src1:i16, src2:i16; clamp op_sel" { vop3 0x1f8 }
    /// Maximum of three sources.
    VMax3U16 (exact vector_short::v_max3_u16) "v_max3_u16 vdst:u16, src0:u16, src1:u16, src2:u16; clamp op_sel" { vop3 0x1f9 }
    /// Median of three sources.
    VMed3I16 (exact vector_short::v_med3_i16) "v_med3_i16 vdst:i16, src0:i16, src1:i16, src2:i16; clamp op_sel" { vop3 0x1fb }
    /// Median of three sources.
    VMed3U16 (exact vector_short::v_med3_u16) "v_med3_u16 vdst:u16, src0:u16, src1:u16, src2:u16; clamp op_sel" { vop3 0x1fc }
    /// Shift left, then sum.
    VLshlAddU32 (exact vector_int::v_lshl_add_u32) "v_lshl_add_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1fd }
    /// Sum, then shift left.
    VAddLshlU32 (exact vector_int::v_add_lshl_u32) "v_add_lshl_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1fe }
    /// Sum of three sources.
    VAdd3U32 (exact vector_int::v_add3_u32) "v_add3_u32 vdst:u32, src0:u32, src1:u32, src2:u32" { vop3 0x1ff }
    /// Shift left, then bitwise or.
    VLshlOrB32 (exact vector_int::v_lshl_or_b32) "v_lshl_or_b32 vdst:b32, src0:b32, src1:u32, src2:b32" { vop3 0x200 }
    /// Bitwise and, then bitwise or.
    VAndOrB32 (exact vector_int::v_and_or_b32) "v_and_or_b32 vdst:b32, src0:b32, src1:b32, src2:b32" { vop3 0x201 }
    /// Bitwise or of three sources.
    VOr3B32 (exact vector_int::v_or3_b32) "v_or3_b32 vdst:b32, src0:b32, src1:b32, src2:b32" { vop3 0x202 }
    /// Product plus a third source.
    VMadU16 (exact vector_short::v_mad_u16) "v_mad_u16 vdst:u16, src0:u16, src1:u16, src2:u16; clamp op_sel" { vop3 0x204 }
    /// Product plus a third source.
    VMadI16 (exact vector_short::v_mad_i16) "v_mad_i16 vdst:i16, src0:i16, src1:i16, src2:i16; clamp op_sel" { vop3 0x205 }
} }

//! Vector instructions on floats that only VOP3 has.

family! { ($) vop3_float {
    /// Product plus a third source, as in older hardware.
    VMadLegacyF32 (exact vector_float::v_mad_legacy_f32) "v_mad_legacy_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c0 }
    /// Product plus a third source, rounded twice.
    VMadF32 (exact vector_float::v_mad_f32) "v_mad_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c1 }
    /// Cube map: face.
    VCubeidF32 (exact vector_float::v_cubeid_f32) "v_cubeid_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c4 }
    /// Cube map: S coordinate on the face.
    VCubescF32 (exact vector_float::v_cubesc_f32) "v_cubesc_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c5 }
    /// Cube map: T coordinate on the face.
    VCubetcF32 (exact vector_float::v_cubetc_f32) "v_cubetc_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c6 }
    /// Cube map: major axis.
    VCubemaF32 (exact vector_float::v_cubema_f32) "v_cubema_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1c7 }
    /// Product plus a third source, rounded once.
    VFmaF32 (exact vector_float::v_fma_f32) "v_fma_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1cb }
    /// Product plus a third source, rounded once.
    VFmaF64 (exact vector_double::v_fma_f64) "v_fma_f64 vdst:f64, src0:f64, src1:f64, src2:f64; clamp omod" { vop3 0x1cc }
    /// Minimum of three sources.
    VMin3F32 (exact vector_float::v_min3_f32) "v_min3_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1d0 }
    /// Maximum of three sources.
    VMax3F32 (exact vector_float::v_max3_f32) "v_max3_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1d3 }
    /// Median of three sources.
    VMed3F32 (exact vector_float::v_med3_f32) "v_med3_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1d6 }
    /// Converts to a byte and puts it into a byte of a dword.
    VCvtPkU8F32 (exact convert::v_cvt_pk_u8_f32) "v_cvt_pk_u8_f32 vdst:b32, src0:f32, src1:i32~, src2:b32~; clamp" { vop3 0x1dd }
    /// Last step of a division: special cases.
    VDivFixupF32 (exact division::v_div_fixup_f32) "v_div_fixup_f32 vdst:f32, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1de }
    /// Last step of a division: special cases.
    VDivFixupF64 (exact division::v_div_fixup_f64) "v_div_fixup_f64 vdst:f64, src0:f64, src1:f64, src2:f64; clamp omod" { vop3 0x1df }
    /// First step of a division: scaling.
    VDivScaleF32 (exact division::v_div_scale_f32) "v_div_scale_f32 vdst:f32, sdst:mask, src0:f32, src1:f32, src2:f32; clamp omod" { vop3 0x1e0 }
    /// First step of a division: scaling.
    VDivScaleF64 (exact division::v_div_scale_f64) "v_div_scale_f64 vdst:f64, sdst:mask, src0:f64, src1:f64, src2:f64; clamp omod" { vop3 0x1e1 }
    /// Step of a division: fused product and sum, scaled by VCC.
    VDivFmasF32 (exact division::v_div_fmas_f32) "v_div_fmas_f32 vdst:f32, src0:f32, src1:f32, src2:f32, vcc:mask; clamp omod" { vop3 0x1e2 }
    /// Step of a division: fused product and sum, scaled by VCC.
    VDivFmasF64 (exact division::v_div_fmas_f64) "v_div_fmas_f64 vdst:f64, src0:f64, src1:f64, src2:f64, vcc:mask; clamp omod" { vop3 0x1e3 }
    /// Product plus a third source, as in older hardware.
    VMadLegacyF16 (exact vector_half::v_mad_legacy_f16) "v_mad_legacy_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod" { vop3 0x1ea }
    /// Product plus a third source, rounded once; clears the high half.
    VFmaLegacyF16 (exact vector_half::v_fma_legacy_f16) "v_fma_legacy_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod" { vop3 0x1ee }
    /// Last step of a division: special cases.
    VDivFixupLegacyF16 (exact division::v_div_fixup_legacy_f16) "v_div_fixup_legacy_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod" { vop3 0x1ef }
    /// Converts to a byte and puts it into a byte of a dword.
    VCvtPkaccumU8F32 (exact convert::v_cvt_pkaccum_u8_f32) "v_cvt_pkaccum_u8_f32 vdst:b32, src0:f32, src1:u32~; clamp" { vop3 0x1f0 }
    /// Minimum of three sources.
    VMin3F16 (exact vector_half::v_min3_f16) "v_min3_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x1f4 }
    /// Maximum of three sources.
    VMax3F16 (exact vector_half::v_max3_f16) "v_max3_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x1f7 }
    /// Median of three sources.
    VMed3F16 (exact vector_half::v_med3_f16) "v_med3_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x1fa }
    /// Product plus a third source, rounded twice.
    VMadF16 (exact vector_half::v_mad_f16) "v_mad_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x203 }
    /// Product plus a third source, rounded once.
    VFmaF16 (exact vector_half::v_fma_f16) "v_fma_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x206 }
    /// Last step of a division: special cases.
    VDivFixupF16 (exact division::v_div_fixup_f16) "v_div_fixup_f16 vdst:f16, src0:f16, src1:f16, src2:f16; clamp omod op_sel" { vop3 0x207 }
    /// Sum.
    VAddF64 (exact vector_double::v_add_f64) "v_add_f64 vdst:f64, src0:f64, src1:f64; clamp omod" { vop3 0x280 }
    /// Product.
    VMulF64 (exact vector_double::v_mul_f64) "v_mul_f64 vdst:f64, src0:f64, src1:f64; clamp omod" { vop3 0x281 }
    /// Minimum.
    VMinF64 (exact vector_double::v_min_f64) "v_min_f64 vdst:f64, src0:f64, src1:f64; clamp omod" { vop3 0x282 }
    /// Maximum.
    VMaxF64 (exact vector_double::v_max_f64) "v_max_f64 vdst:f64, src0:f64, src1:f64; clamp omod" { vop3 0x283 }
    /// Product of the first source and a power of two.
    VLdexpF64 (exact vector_double::v_ldexp_f64) "v_ldexp_f64 vdst:f64, src0:f64, src1:i32~; clamp omod" { vop3 0x284 }
    /// Product of the first source and a power of two.
    VLdexpF32 (exact vector_float::v_ldexp_f32) "v_ldexp_f32 vdst:f32, src0:f32, src1:i32~; clamp omod" { vop3 0x288 }
    /// Part of 2/pi, for argument reduction.
    VTrigPreopF64 (exact transcendental::v_trig_preop_f64) "v_trig_preop_f64 vdst:f64, src0:f64, src1:i32~; clamp omod" { vop3 0x292 }
    /// Conversion of two floats to normalized integers.
    VCvtPknormI16F32 (exact convert::v_cvt_pknorm_i16_f32) "v_cvt_pknorm_i16_f32 vdst:v2i16, src0:f32, src1:f32; clamp" { vop3 0x294 }
    /// Conversion of two floats to normalized integers.
    VCvtPknormU16F32 (exact convert::v_cvt_pknorm_u16_f32) "v_cvt_pknorm_u16_f32 vdst:v2u16, src0:f32, src1:f32; clamp" { vop3 0x295 }
    /// Conversion of two floats, rounded toward zero.
    VCvtPkrtzF16F32 (exact convert::v_cvt_pkrtz_f16_f32) "v_cvt_pkrtz_f16_f32 vdst:v2f16, src0:f32, src1:f32; clamp omod" { vop3 0x296 }
    /// Conversion of two floats to normalized integers.
    VCvtPknormI16F16 (exact convert::v_cvt_pknorm_i16_f16) "v_cvt_pknorm_i16_f16 vdst:v2i16, src0:f16, src1:f16; clamp op_sel" { vop3 0x299 }
    /// Conversion of two floats to normalized integers.
    VCvtPknormU16F16 (exact convert::v_cvt_pknorm_u16_f16) "v_cvt_pknorm_u16_f16 vdst:v2u16, src0:f16, src1:f16; clamp op_sel" { vop3 0x29a }
    /// Packs two halves into a dword.
    VPackB32F16 (exact vector_short::v_pack_b32_f16) "v_pack_b32_f16 vdst:v2f16, src0:f16, src1:f16; clamp op_sel" { vop3 0x2a0 }
} }

//! Vector instructions of one source.

family! { ($) vop1 {
    /// Does nothing.
    VNop (exact vector_lanes::v_nop) "v_nop" { vop1 0x00 - sdwa }
    /// Move.
    VMovB32 (exact vector_int::v_mov_b32) "v_mov_b32 vdst:b32, src0:b32" { vop1 0x01 }
    /// Value of the first active lane.
    VReadfirstlaneB32 (exact vector_lanes::v_readfirstlane_b32) "v_readfirstlane_b32 sdst:b32, vsrc0:b32" { vop1 0x02 - e64 - sdwa - dpp }
    /// Conversion.
    VCvtI32F64 (exact convert::v_cvt_i32_f64) "v_cvt_i32_f64 vdst:i32, src0:f64; clamp omod" { vop1 0x03 }
    /// Conversion.
    VCvtF64I32 (exact convert::v_cvt_f64_i32) "v_cvt_f64_i32 vdst:f64, src0:i32; clamp omod" { vop1 0x04 }
    /// Conversion.
    VCvtF32I32 (exact convert::v_cvt_f32_i32) "v_cvt_f32_i32 vdst:f32, src0:i32; clamp omod" { vop1 0x05 }
    /// Conversion.
    VCvtF32U32 (exact convert::v_cvt_f32_u32) "v_cvt_f32_u32 vdst:f32, src0:u32; clamp omod" { vop1 0x06 }
    /// Conversion.
    VCvtU32F32 (exact convert::v_cvt_u32_f32) "v_cvt_u32_f32 vdst:u32, src0:f32; clamp omod" { vop1 0x07 }
    /// Conversion.
    VCvtI32F32 (exact convert::v_cvt_i32_f32) "v_cvt_i32_f32 vdst:i32, src0:f32; clamp omod" { vop1 0x08 }
    /// Conversion.
    VCvtF16F32 (exact convert::v_cvt_f16_f32) "v_cvt_f16_f32 vdst:f16, src0:f32; clamp omod" { vop1 0x0a }
    /// Conversion.
    VCvtF32F16 (exact convert::v_cvt_f32_f16) "v_cvt_f32_f16 vdst:f32, src0:f16; clamp omod" { vop1 0x0b }
    /// Conversion, rounded to nearest, ties up.
    VCvtRpiI32F32 (exact convert::v_cvt_rpi_i32_f32) "v_cvt_rpi_i32_f32 vdst:i32, src0:f32; clamp" { vop1 0x0c }
    /// Conversion, rounded down.
    VCvtFlrI32F32 (exact convert::v_cvt_flr_i32_f32) "v_cvt_flr_i32_f32 vdst:i32, src0:f32; clamp" { vop1 0x0d }
    /// Converts four bits to an offset in sixteenths.
    VCvtOffF32I4 (exact convert::v_cvt_off_f32_i4) "v_cvt_off_f32_i4 vdst:f32, src0:b32; clamp omod" { vop1 0x0e }
    /// Conversion.
    VCvtF32F64 (exact convert::v_cvt_f32_f64) "v_cvt_f32_f64 vdst:f32, src0:f64; clamp omod" { vop1 0x0f }
    /// Conversion.
    VCvtF64F32 (exact convert::v_cvt_f64_f32) "v_cvt_f64_f32 vdst:f64, src0:f32; clamp omod" { vop1 0x10 }
    /// Conversion of a byte.
    VCvtF32Ubyte0 (exact convert::v_cvt_f32_ubyte0) "v_cvt_f32_ubyte0 vdst:f32, src0:u32; clamp omod" { vop1 0x11 }
    /// Conversion of a byte.
    VCvtF32Ubyte1 (exact convert::v_cvt_f32_ubyte1) "v_cvt_f32_ubyte1 vdst:f32, src0:u32; clamp omod" { vop1 0x12 }
    /// Conversion of a byte.
    VCvtF32Ubyte2 (exact convert::v_cvt_f32_ubyte2) "v_cvt_f32_ubyte2 vdst:f32, src0:u32; clamp omod" { vop1 0x13 }
    /// Conversion of a byte.
    VCvtF32Ubyte3 (exact convert::v_cvt_f32_ubyte3) "v_cvt_f32_ubyte3 vdst:f32, src0:u32; clamp omod" { vop1 0x14 }
    /// Conversion.
    VCvtU32F64 (exact convert::v_cvt_u32_f64) "v_cvt_u32_f64 vdst:u32, src0:f64; clamp omod" { vop1 0x15 }
    /// Conversion.
    VCvtF64U32 (exact convert::v_cvt_f64_u32) "v_cvt_f64_u32 vdst:f64, src0:u32; clamp omod" { vop1 0x16 }
    /// Rounded toward zero.
    VTruncF64 (exact vector_double::v_trunc_f64) "v_trunc_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x17 }
    /// Rounded up.
    VCeilF64 (exact vector_double::v_ceil_f64) "v_ceil_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x18 }
    /// Rounded to nearest even.
    VRndneF64 (exact vector_double::v_rndne_f64) "v_rndne_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x19 }
    /// Rounded down.
    VFloorF64 (exact vector_double::v_floor_f64) "v_floor_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x1a }
    /// Fractional part.
    VFractF32 (exact vector_float::v_fract_f32) "v_fract_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x1b }
    /// Rounded toward zero.
    VTruncF32 (exact vector_float::v_trunc_f32) "v_trunc_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x1c }
    /// Rounded up.
    VCeilF32 (exact vector_float::v_ceil_f32) "v_ceil_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x1d }
    /// Rounded to nearest even.
    VRndneF32 (exact vector_float::v_rndne_f32) "v_rndne_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x1e }
    /// Rounded down.
    VFloorF32 (exact vector_float::v_floor_f32) "v_floor_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x1f }
    /// Two to the power.
    VExpF32 (approximate "evaluated in f64 and rounded once; hardware within 1 ulp. Denormals are zeros" transcendental::v_exp_f32) "v_exp_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x20 }
    /// Logarithm to base two.
    VLogF32 (approximate "evaluated in f64 and rounded once; hardware within 1 ulp. Denormals are zeros" transcendental::v_log_f32) "v_log_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x21 }
    /// Reciprocal.
    VRcpF32 (approximate "correctly rounded; hardware within 1 ulp. Denormals are zeros" vector_float::v_rcp_f32) "v_rcp_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x22 }
    /// Reciprocal for integer division; raises only the integer division flag.
    VRcpIflagF32 (approximate "correctly rounded; hardware within 1 ulp. Denormals are zeros" vector_float::v_rcp_iflag_f32) "v_rcp_iflag_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x23 }
    /// Reciprocal square root.
    VRsqF32 (approximate "correctly rounded; hardware within 1 ulp. Denormals are zeros" vector_float::v_rsq_f32) "v_rsq_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x24 }
    /// Reciprocal.
    VRcpF64 (approximate "correctly rounded; hardware within 2^29 ulp" vector_double::v_rcp_f64) "v_rcp_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x25 }
    /// Reciprocal square root.
    VRsqF64 (approximate "root and quotient each correctly rounded; hardware within 2^29 ulp" vector_double::v_rsq_f64) "v_rsq_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x26 }
    /// Square root.
    VSqrtF32 (approximate "correctly rounded; hardware within 1 ulp. Denormals are zeros" vector_float::v_sqrt_f32) "v_sqrt_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x27 }
    /// Square root.
    VSqrtF64 (approximate "correctly rounded; hardware within 2^29 ulp" vector_double::v_sqrt_f64) "v_sqrt_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x28 }
    /// Sine of an angle in turns.
    VSinF32 (approximate "evaluated in f64 and rounded once; hardware within about 2^-20. Past 256 turns 0" transcendental::v_sin_f32) "v_sin_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x29 }
    /// Cosine of an angle in turns.
    VCosF32 (approximate "evaluated in f64 and rounded once; hardware within about 2^-20. Past 256 turns 1" transcendental::v_cos_f32) "v_cos_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x2a }
    /// Bitwise complement.
    VNotB32 (exact vector_int::v_not_b32) "v_not_b32 vdst:b32, src0:b32" { vop1 0x2b }
    /// Bits in reverse order.
    VBfrevB32 (exact vector_int::v_bfrev_b32) "v_bfrev_b32 vdst:b32, src0:b32" { vop1 0x2c }
    /// Number of bits above the highest set bit, or -1.
    VFfbhU32 (exact vector_int::v_ffbh_u32) "v_ffbh_u32 vdst:u32, src0:u32" { vop1 0x2d }
    /// Index of the lowest set bit, or -1.
    VFfblB32 (exact vector_int::v_ffbl_b32) "v_ffbl_b32 vdst:b32, src0:b32" { vop1 0x2e }
    /// Number of bits above the highest bit that differs from the sign, or -1.
    VFfbhI32 (exact vector_int::v_ffbh_i32) "v_ffbh_i32 vdst:i32, src0:i32" { vop1 0x2f }
    /// Exponent.
    VFrexpExpI32F64 (exact vector_double::v_frexp_exp_i32_f64) "v_frexp_exp_i32_f64 vdst:i32, src0:f64; clamp omod" { vop1 0x30 }
    /// Significand in [0.5, 1).
    VFrexpMantF64 (exact vector_double::v_frexp_mant_f64) "v_frexp_mant_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x31 }
    /// Fractional part.
    VFractF64 (exact vector_double::v_fract_f64) "v_fract_f64 vdst:f64, src0:f64; clamp omod" { vop1 0x32 }
    /// Exponent.
    VFrexpExpI32F32 (exact vector_float::v_frexp_exp_i32_f32) "v_frexp_exp_i32_f32 vdst:i32, src0:f32; clamp" { vop1 0x33 }
    /// Significand in [0.5, 1).
    VFrexpMantF32 (exact vector_float::v_frexp_mant_f32) "v_frexp_mant_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x34 }
    /// Clears the exceptions.
    VClrexcp (exact vector_lanes::v_clrexcp) "v_clrexcp" { vop1 0x35 - sdwa - dpp }
    /// Screen partition of a tile.
    VScreenPartition4seB32 unimplemented "v_screen_partition_4se_b32 vdst:b32, src0:b32" { vop1 0x37 }
    /// Conversion.
    VCvtF16U16 (exact convert::v_cvt_f16_u16) "v_cvt_f16_u16 vdst:f16, src0:u16; clamp omod" { vop1 0x39 }
    /// Conversion.
    VCvtF16I16 (exact convert::v_cvt_f16_i16) "v_cvt_f16_i16 vdst:f16, src0:i16; clamp omod" { vop1 0x3a }
    /// Conversion.
    VCvtU16F16 (exact convert::v_cvt_u16_f16) "v_cvt_u16_f16 vdst:u16, src0:f16; clamp omod" { vop1 0x3b }
    /// Conversion.
    VCvtI16F16 (exact convert::v_cvt_i16_f16) "v_cvt_i16_f16 vdst:i16, src0:f16; clamp omod" { vop1 0x3c }
    /// Reciprocal.
    VRcpF16 (approximate "correctly rounded; hardware within 1 ulp" vector_half::v_rcp_f16) "v_rcp_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x3d }
    /// Square root.
    VSqrtF16 (approximate "correctly rounded; hardware within 1 ulp" vector_half::v_sqrt_f16) "v_sqrt_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x3e }
    /// Reciprocal square root.
    VRsqF16 (approximate "the f32 result, rounded; hardware within 1 ulp" vector_half::v_rsq_f16) "v_rsq_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x3f }
    /// Logarithm to base two.
    VLogF16 (approximate "the f32 result, rounded; hardware within 1 ulp" vector_half::v_log_f16) "v_log_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x40 }
    /// Two to the power.
    VExpF16 (approximate "the f32 result, rounded; hardware within 1 ulp" vector_half::v_exp_f16) "v_exp_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x41 }
    /// Significand in [0.5, 1).
    VFrexpMantF16 (exact vector_half::v_frexp_mant_f16) "v_frexp_mant_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x42 }
    /// Exponent.
    VFrexpExpI16F16 (exact vector_half::v_frexp_exp_i16_f16) "v_frexp_exp_i16_f16 vdst:i16, src0:f16; clamp omod" { vop1 0x43 }
    /// Rounded down.
    VFloorF16 (exact vector_half::v_floor_f16) "v_floor_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x44 }
    /// Rounded up.
    VCeilF16 (exact vector_half::v_ceil_f16) "v_ceil_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x45 }
    /// Rounded toward zero.
    VTruncF16 (exact vector_half::v_trunc_f16) "v_trunc_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x46 }
    /// Rounded to nearest even.
    VRndneF16 (exact vector_half::v_rndne_f16) "v_rndne_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x47 }
    /// Fractional part.
    VFractF16 (exact vector_half::v_fract_f16) "v_fract_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x48 }
    /// Sine of an angle in turns.
    VSinF16 (approximate "the f32 result, rounded; hardware within about 2^-10. Past 256 turns 0" vector_half::v_sin_f16) "v_sin_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x49 }
    /// Cosine of an angle in turns.
    VCosF16 (approximate "the f32 result, rounded; hardware within about 2^-10. Past 256 turns 1" vector_half::v_cos_f16) "v_cos_f16 vdst:f16, src0:f16; clamp omod" { vop1 0x4a }
    /// Two to the power, as in older hardware.
    VExpLegacyF32 (approximate "as v_exp_f32; hardware slightly less exact" transcendental::v_exp_legacy_f32) "v_exp_legacy_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x4b }
    /// Logarithm to base two, as in older hardware.
    VLogLegacyF32 (approximate "as v_log_f32; hardware slightly different" transcendental::v_log_legacy_f32) "v_log_legacy_f32 vdst:f32, src0:f32; clamp omod" { vop1 0x4c }
    /// Conversion to a normalized integer.
    VCvtNormI16F16 (exact convert::v_cvt_norm_i16_f16) "v_cvt_norm_i16_f16 vdst:i16, src0:f16; clamp omod" { vop1 0x4d }
    /// Conversion to a normalized integer.
    VCvtNormU16F16 (exact convert::v_cvt_norm_u16_f16) "v_cvt_norm_u16_f16 vdst:u16, src0:f16; clamp omod" { vop1 0x4e }
    /// Saturates two integers to bytes and packs them.
    VSatPkU8I16 (exact vector_short::v_sat_pk_u8_i16) "v_sat_pk_u8_i16 vdst:b32, src0:v2i16" { vop1 0x4f }
    /// Swaps two registers.
    VSwapB32 (exact vector_lanes::v_swap_b32) "v_swap_b32 vdst:b32, vsrc0:b32" { vop1 0x51 - e64 - sdwa - dpp }
} }

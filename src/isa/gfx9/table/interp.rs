//! Interpolation of attributes.

family! { ($) interp {
    /// First step of interpolation.
    VInterpP1F32 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p1_f32) "v_interp_p1_f32 vdst:f32, vsrc0:f32, attribute; clamp omod" { vintrp 0x00 vop3 0x270 }
    /// Second step of interpolation.
    VInterpP2F32 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p2_f32) "v_interp_p2_f32 vdst:f32, vsrc0:f32, attribute; clamp omod" { vintrp 0x01 vop3 0x271 }
    /// An attribute of a vertex.
    VInterpMovF32 (exact graphics::v_interp_mov_f32) "v_interp_mov_f32 vdst:f32, parameter, attribute; clamp omod" { vintrp 0x02 vop3 0x272 }
    /// First step of interpolation.
    VInterpP1llF16 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p1ll_f16) "v_interp_p1ll_f16 vdst:f32, vsrc0:f32, attribute; high clamp omod" { vop3 0x274 }
    /// First step of interpolation.
    VInterpP1lvF16 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p1lv_f16) "v_interp_p1lv_f16 vdst:f32, vsrc0:f32, attribute, vsrc2:f16; high clamp omod" { vop3 0x275 }
    /// Second step of interpolation.
    VInterpP2LegacyF16 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p2_legacy_f16) "v_interp_p2_legacy_f16 vdst:f16, vsrc0:f32, attribute, vsrc2:f32; high clamp" { vop3 0x276 }
    /// Second step of interpolation.
    VInterpP2F16 (approximate "product and sum are rounded; whether hardware fuses them is not known" graphics::v_interp_p2_f16) "v_interp_p2_f16 vdst:f16, vsrc0:f32, attribute, vsrc2:f32; high clamp" { vop3 0x277 }
} }

//! Images: samples.

family! { ($) mimg_sample {
    /// Samples.
    ImageSample (approximate "linear images of one level and sample; weights are not rounded; volumes are not filtered between planes" image_sample::image_sample) "image_sample vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x20 }
    /// Samples with level clamp.
    ImageSampleCl unimplemented "image_sample_cl vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x21 }
    /// Samples with derivatives.
    ImageSampleD unimplemented "image_sample_d vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x22 }
    /// Samples with derivatives, level clamp.
    ImageSampleDCl unimplemented "image_sample_d_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x23 }
    /// Samples with level.
    ImageSampleL (approximate "linear images of one level and sample; weights are not rounded; volumes are not filtered between planes" image_sample::image_sample_l) "image_sample_l vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x24 }
    /// Samples with bias.
    ImageSampleB unimplemented "image_sample_b vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x25 }
    /// Samples with bias, level clamp.
    ImageSampleBCl unimplemented "image_sample_b_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x26 }
    /// Samples with level zero.
    ImageSampleLz (approximate "linear images of one level and sample; weights are not rounded; volumes are not filtered between planes" image_sample::image_sample_lz) "image_sample_lz vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x27 }
    /// Samples with comparison.
    ImageSampleC unimplemented "image_sample_c vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x28 }
    /// Samples with comparison, level clamp.
    ImageSampleCCl unimplemented "image_sample_c_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x29 }
    /// Samples with comparison, derivatives.
    ImageSampleCD unimplemented "image_sample_c_d vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2a }
    /// Samples with comparison, derivatives, level clamp.
    ImageSampleCDCl unimplemented "image_sample_c_d_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2b }
    /// Samples with comparison, level.
    ImageSampleCL unimplemented "image_sample_c_l vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x2c }
    /// Samples with comparison, bias.
    ImageSampleCB unimplemented "image_sample_c_b vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2d }
    /// Samples with comparison, bias, level clamp.
    ImageSampleCBCl unimplemented "image_sample_c_b_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2e }
    /// Samples with comparison, level zero.
    ImageSampleCLz unimplemented "image_sample_c_lz vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x2f }
    /// Samples with offset.
    ImageSampleO unimplemented "image_sample_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x30 }
    /// Samples with level clamp, offset.
    ImageSampleClO unimplemented "image_sample_cl_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x31 }
    /// Samples with derivatives, offset.
    ImageSampleDO unimplemented "image_sample_d_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x32 }
    /// Samples with derivatives, level clamp, offset.
    ImageSampleDClO unimplemented "image_sample_d_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x33 }
    /// Samples with level, offset.
    ImageSampleLO unimplemented "image_sample_l_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x34 }
    /// Samples with bias, offset.
    ImageSampleBO unimplemented "image_sample_b_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x35 }
    /// Samples with bias, level clamp, offset.
    ImageSampleBClO unimplemented "image_sample_b_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x36 }
    /// Samples with level zero, offset.
    ImageSampleLzO unimplemented "image_sample_lz_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x37 }
    /// Samples with comparison, offset.
    ImageSampleCO unimplemented "image_sample_c_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x38 }
    /// Samples with comparison, level clamp, offset.
    ImageSampleCClO unimplemented "image_sample_c_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x39 }
    /// Samples with comparison, derivatives, offset.
    ImageSampleCDO unimplemented "image_sample_c_d_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3a }
    /// Samples with comparison, derivatives, level clamp, offset.
    ImageSampleCDClO unimplemented "image_sample_c_d_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3b }
    /// Samples with comparison, level, offset.
    ImageSampleCLO unimplemented "image_sample_c_l_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x3c }
    /// Samples with comparison, bias, offset.
    ImageSampleCBO unimplemented "image_sample_c_b_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3d }
    /// Samples with comparison, bias, level clamp, offset.
    ImageSampleCBClO unimplemented "image_sample_c_b_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3e }
    /// Samples with comparison, level zero, offset.
    ImageSampleCLzO unimplemented "image_sample_c_lz_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x3f }
    /// Samples with coarse derivatives.
    ImageSampleCd unimplemented "image_sample_cd vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x68 }
    /// Samples with coarse derivatives, level clamp.
    ImageSampleCdCl unimplemented "image_sample_cd_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x69 }
    /// Samples with comparison, coarse derivatives.
    ImageSampleCCd unimplemented "image_sample_c_cd vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6a }
    /// Samples with comparison, coarse derivatives, level clamp.
    ImageSampleCCdCl unimplemented "image_sample_c_cd_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6b }
    /// Samples with coarse derivatives, offset.
    ImageSampleCdO unimplemented "image_sample_cd_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6c }
    /// Samples with coarse derivatives, level clamp, offset.
    ImageSampleCdClO unimplemented "image_sample_cd_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6d }
    /// Samples with comparison, coarse derivatives, offset.
    ImageSampleCCdO unimplemented "image_sample_c_cd_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x6e }
    /// Samples with comparison, coarse derivatives, level clamp, offset.
    ImageSampleCCdClO unimplemented "image_sample_c_cd_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x6f }
} }

//! Images: samples.

family! { ($) mimg_sample {
    /// Samples an image.
    ImageSample (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample) "image_sample vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x20 }
    /// Samples with level clamp.
    ImageSampleCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cl) "image_sample_cl vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x21 }
    /// Samples with derivatives.
    ImageSampleD (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_d) "image_sample_d vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x22 }
    /// Samples with derivatives, level clamp.
    ImageSampleDCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_d_cl) "image_sample_d_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x23 }
    /// Samples with level.
    ImageSampleL (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_l) "image_sample_l vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x24 }
    /// Samples with bias.
    ImageSampleB (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_b) "image_sample_b vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x25 }
    /// Samples with bias, level clamp.
    ImageSampleBCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_b_cl) "image_sample_b_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x26 }
    /// Samples with level zero.
    ImageSampleLz (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_lz) "image_sample_lz vdata, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x27 }
    /// Samples with comparison.
    ImageSampleC (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c) "image_sample_c vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x28 }
    /// Samples with comparison, level clamp.
    ImageSampleCCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cl) "image_sample_c_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x29 }
    /// Samples with comparison, derivatives.
    ImageSampleCD (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_d) "image_sample_c_d vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2a }
    /// Samples with comparison, derivatives, level clamp.
    ImageSampleCDCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_d_cl) "image_sample_c_d_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2b }
    /// Samples with comparison, level.
    ImageSampleCL (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_l) "image_sample_c_l vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x2c }
    /// Samples with comparison, bias.
    ImageSampleCB (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_b) "image_sample_c_b vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2d }
    /// Samples with comparison, bias, level clamp.
    ImageSampleCBCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_b_cl) "image_sample_c_b_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x2e }
    /// Samples with comparison, level zero.
    ImageSampleCLz (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_lz) "image_sample_c_lz vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x2f }
    /// Samples with offset.
    ImageSampleO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_o) "image_sample_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x30 }
    /// Samples with level clamp, offset.
    ImageSampleClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cl_o) "image_sample_cl_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x31 }
    /// Samples with derivatives, offset.
    ImageSampleDO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_d_o) "image_sample_d_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x32 }
    /// Samples with derivatives, level clamp, offset.
    ImageSampleDClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_d_cl_o) "image_sample_d_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x33 }
    /// Samples with level, offset.
    ImageSampleLO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_l_o) "image_sample_l_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x34 }
    /// Samples with bias, offset.
    ImageSampleBO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_b_o) "image_sample_b_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x35 }
    /// Samples with bias, level clamp, offset.
    ImageSampleBClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_b_cl_o) "image_sample_b_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x36 }
    /// Samples with level zero, offset.
    ImageSampleLzO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_lz_o) "image_sample_lz_o vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x37 }
    /// Samples with comparison, offset.
    ImageSampleCO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_o) "image_sample_c_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x38 }
    /// Samples with comparison, level clamp, offset.
    ImageSampleCClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cl_o) "image_sample_c_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x39 }
    /// Samples with comparison, derivatives, offset.
    ImageSampleCDO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_d_o) "image_sample_c_d_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3a }
    /// Samples with comparison, derivatives, level clamp, offset.
    ImageSampleCDClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_d_cl_o) "image_sample_c_d_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3b }
    /// Samples with comparison, level, offset.
    ImageSampleCLO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_l_o) "image_sample_c_l_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x3c }
    /// Samples with comparison, bias, offset.
    ImageSampleCBO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_b_o) "image_sample_c_b_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3d }
    /// Samples with comparison, bias, level clamp, offset.
    ImageSampleCBClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_b_cl_o) "image_sample_c_b_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x3e }
    /// Samples with comparison, level zero, offset.
    ImageSampleCLzO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_lz_o) "image_sample_c_lz_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x3f }
    /// Samples with coarse derivatives.
    ImageSampleCd (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cd) "image_sample_cd vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x68 }
    /// Samples with coarse derivatives, level clamp.
    ImageSampleCdCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cd_cl) "image_sample_cd_cl vdata, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x69 }
    /// Samples with comparison, coarse derivatives.
    ImageSampleCCd (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cd) "image_sample_c_cd vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6a }
    /// Samples with comparison, coarse derivatives, level clamp.
    ImageSampleCCdCl (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cd_cl) "image_sample_c_cd_cl vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6b }
    /// Samples with coarse derivatives, offset.
    ImageSampleCdO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cd_o) "image_sample_cd_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6c }
    /// Samples with coarse derivatives, level clamp, offset.
    ImageSampleCdClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_cd_cl_o) "image_sample_cd_cl_o vdata, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x6d }
    /// Samples with comparison, coarse derivatives, offset.
    ImageSampleCCdO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cd_o) "image_sample_c_cd_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x6e }
    /// Samples with comparison, coarse derivatives, level clamp, offset.
    ImageSampleCCdClO (approximate "linear images of one sample; weights are not rounded" image_sample::image_sample_c_cd_cl_o) "image_sample_c_cd_cl_o vdata, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x6f }
} }

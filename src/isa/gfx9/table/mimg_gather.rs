//! Images: gathers.

family! { ($) mimg_gather {
    /// Gathers four texels.
    ImageGather4 (approximate "linear images of one sample" image_sample::image_gather4) "image_gather4 vdata:b128, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x40 }
    /// Gathers four texels with level clamp.
    ImageGather4Cl (approximate "linear images of one sample" image_sample::image_gather4_cl) "image_gather4_cl vdata:b128, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x41 }
    /// Gathers four texels.
    ImageGather4h unimplemented "image_gather4h vdata:b128, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x42 }
    /// Gathers four texels with level.
    ImageGather4L (approximate "linear images of one sample" image_sample::image_gather4_l) "image_gather4_l vdata:b128, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x44 }
    /// Gathers four texels with bias.
    ImageGather4B (approximate "linear images of one sample" image_sample::image_gather4_b) "image_gather4_b vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x45 }
    /// Gathers four texels with bias, level clamp.
    ImageGather4BCl (approximate "linear images of one sample" image_sample::image_gather4_b_cl) "image_gather4_b_cl vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x46 }
    /// Gathers four texels with level zero.
    ImageGather4Lz (approximate "linear images of one sample" image_sample::image_gather4_lz) "image_gather4_lz vdata:b128, vaddr:b32, srsrc:b256, ssamp:b128; d16" { mimg 0x47 }
    /// Gathers four texels with comparison.
    ImageGather4C (approximate "linear images of one sample" image_sample::image_gather4_c) "image_gather4_c vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x48 }
    /// Gathers four texels with comparison, level clamp.
    ImageGather4CCl (approximate "linear images of one sample" image_sample::image_gather4_c_cl) "image_gather4_c_cl vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x49 }
    /// Gathers four texels with comparison, level.
    ImageGather4CL (approximate "linear images of one sample" image_sample::image_gather4_c_l) "image_gather4_c_l vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x4c }
    /// Gathers four texels with comparison, bias.
    ImageGather4CB (approximate "linear images of one sample" image_sample::image_gather4_c_b) "image_gather4_c_b vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x4d }
    /// Gathers four texels with comparison, bias, level clamp.
    ImageGather4CBCl (approximate "linear images of one sample" image_sample::image_gather4_c_b_cl) "image_gather4_c_b_cl vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x4e }
    /// Gathers four texels with comparison, level zero.
    ImageGather4CLz (approximate "linear images of one sample" image_sample::image_gather4_c_lz) "image_gather4_c_lz vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x4f }
    /// Gathers four texels with offset.
    ImageGather4O (approximate "linear images of one sample" image_sample::image_gather4_o) "image_gather4_o vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x50 }
    /// Gathers four texels with level clamp, offset.
    ImageGather4ClO (approximate "linear images of one sample" image_sample::image_gather4_cl_o) "image_gather4_cl_o vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x51 }
    /// Gathers four texels with level, offset.
    ImageGather4LO (approximate "linear images of one sample" image_sample::image_gather4_l_o) "image_gather4_l_o vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x54 }
    /// Gathers four texels with bias, offset.
    ImageGather4BO (approximate "linear images of one sample" image_sample::image_gather4_b_o) "image_gather4_b_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x55 }
    /// Gathers four texels with bias, level clamp, offset.
    ImageGather4BClO (approximate "linear images of one sample" image_sample::image_gather4_b_cl_o) "image_gather4_b_cl_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x56 }
    /// Gathers four texels with level zero, offset.
    ImageGather4LzO (approximate "linear images of one sample" image_sample::image_gather4_lz_o) "image_gather4_lz_o vdata:b128, vaddr:b64, srsrc:b256, ssamp:b128; d16" { mimg 0x57 }
    /// Gathers four texels with comparison, offset.
    ImageGather4CO (approximate "linear images of one sample" image_sample::image_gather4_c_o) "image_gather4_c_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x58 }
    /// Gathers four texels with comparison, level clamp, offset.
    ImageGather4CClO (approximate "linear images of one sample" image_sample::image_gather4_c_cl_o) "image_gather4_c_cl_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x59 }
    /// Gathers four texels with comparison, level, offset.
    ImageGather4CLO (approximate "linear images of one sample" image_sample::image_gather4_c_l_o) "image_gather4_c_l_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x5c }
    /// Gathers four texels with comparison, bias, offset.
    ImageGather4CBO (approximate "linear images of one sample" image_sample::image_gather4_c_b_o) "image_gather4_c_b_o vdata:b128, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x5d }
    /// Gathers four texels with comparison, bias, level clamp, offset.
    ImageGather4CBClO (approximate "linear images of one sample" image_sample::image_gather4_c_b_cl_o) "image_gather4_c_b_cl_o vdata:b128, vaddr:b128, srsrc:b256, ssamp:b128; d16" { mimg 0x5e }
    /// Gathers four texels with comparison, level zero, offset.
    ImageGather4CLzO (approximate "linear images of one sample" image_sample::image_gather4_c_lz_o) "image_gather4_c_lz_o vdata:b128, vaddr:b96, srsrc:b256, ssamp:b128; d16" { mimg 0x5f }
} }

//! Textures. The predicate (sparse status), `.LC` and `.F16` exist from sm_52 on.

family! { ($) texture {
    /// Samples.
    Tex (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tex) {
        "TEX{texture_lod@55}{lod_bound@58}{offsets@54}{depth_compare@50}{ndv@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 0--- ---- ----"
        }
        "TEX.B{texture_lod@37}{lod_bound@40}{offsets@36}{depth_compare@50}{ndv@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 10-- ----"
        }
    }
    /// Gathers one component of four texels.
    Tld4 (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tld4) {
        "TLD4{gather_component@56}{gather_offsets@54}{depth_compare@50}{ndv@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 10-- ---- ----"
        }
        "TLD4{gather_component@38}.B{gather_offsets@36}{depth_compare@50}{ndv@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 11-- ---- @40=0"
        }
    }
    /// Fetches a texel.
    Tld (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tld) {
        "TLD{fetch_lod@55}{offsets@35}{multisample@50}{coordinate_clamp@54}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1100 ---- ----"
        }
        "TLD.B{fetch_lod@55}{offsets@35}{multisample@50}{coordinate_clamp@54}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1101 ---- ----"
        }
    }
    /// Samples with given derivatives.
    Txd (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::txd) {
        "TXD{lod_bound@50}{offsets@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 00-- ----"
        }
        "TXD.B{lod_bound@50}{offsets@35}{nodep@49}{phase} {pd=p51 ?}, {d}, {a}, {b=r20}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 01-- ----"
        }
    }
    /// Queries properties.
    Txq (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::txq) {
        "TXQ{nodep@49}{phase} {d}, {a}, {texture_query@22}, {handle@36:13}, {component_mask@31:4}" {
            "1101 1111 0100 1--- @22=0 @22#000000 @22#000100"
            "1101 1111 0100 1--- @22=000001"
            "1101 1111 0100 1--- @22=000101"
        }
        "TXQ.B{nodep@49}{phase} {d}, {a}, {texture_query@22}, 0x0, {component_mask@31:4}" {
            "1101 1111 0101 0--- @22=0 @22#000000 @22#000100"
            "1101 1111 0101 0--- @22=000001"
            "1101 1111 0101 0--- @22=000101"
        }
    }
    /// Computes the level of detail.
    Tmml (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tmml) {
        "TMML.LOD{ndv@35}{nodep@49}{phase} {d}, {a}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1111 0101 1---"
        }
        "TMML.B.LOD{ndv@35}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1111 0110 0---"
        }
    }
    /// Texture address.
    Txa unimplemented {
        "TXA{ndv@35}{nodep@49}{phase} {d}, {a}, {handle@36:13}, {component_mask@31:4}" {
            "1101 1111 0100 0---"
        }
    }
    /// Samples, short form.
    Texs (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::texs) {
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 -000 000-"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 -000 000- @28=11111111"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 001-"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 001- @28=11111111"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 010-"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 010- @28=11111111"
        }
        "TEXS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 011-"
        }
        "TEXS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 011- @28=11111111"
        }
        "TEXS{texel_format@59}.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 100-"
        }
        "TEXS{texel_format@59}.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 100- @28=11111111"
        }
        "TEXS{texel_format@59}.LL.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 101-"
        }
        "TEXS{texel_format@59}.LL.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 101- @28=11111111"
        }
        "TEXS{texel_format@59}.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -000 110-"
        }
        "TEXS{texel_format@59}.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -000 110- @28=11111111"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 -000 111-"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 -000 111- @28=11111111"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 -001 000-"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 -001 000- @28=11111111"
        }
        "TEXS{texel_format@59}.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 -001 001-"
        }
        "TEXS{texel_format@59}.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 -001 001- @28=11111111"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 -001 010-"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 -001 010- @28=11111111"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 -001 011-"
        }
        "TEXS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 -001 011- @28=11111111"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_pair@50}" {
            "1101 -001 100-"
        }
        "TEXS{texel_format@59}{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_single@50}" {
            "1101 -001 100- @28=11111111"
        }
        "TEXS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_pair@50}" {
            "1101 -001 101-"
        }
        "TEXS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_single@50}" {
            "1101 -001 101- @28=11111111"
        }
    }
    /// Fetches a texel, short form.
    Tlds (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tlds) {
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 -010 000-"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 -010 000- @28=11111111"
        }
        "TLDS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 -010 001-"
        }
        "TLDS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 -010 001- @28=11111111"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -010 010-"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -010 010- @28=11111111"
        }
        "TLDS{texel_format@59}.LZ.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -010 100-"
        }
        "TLDS{texel_format@59}.LZ.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -010 100- @28=11111111"
        }
        "TLDS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -010 101-"
        }
        "TLDS{texel_format@59}.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -010 101- @28=11111111"
        }
        "TLDS{texel_format@59}.LZ.MS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -010 110-"
        }
        "TLDS{texel_format@59}.LZ.MS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -010 110- @28=11111111"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 -010 111-"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 -010 111- @28=11111111"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 -011 000-"
        }
        "TLDS{texel_format@59}.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 -011 000- @28=11111111"
        }
        "TLDS{texel_format@59}.LL.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 -011 100-"
        }
        "TLDS{texel_format@59}.LL.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 -011 100- @28=11111111"
        }
    }
    /// Gathers, short form.
    Tld4s (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tld4s) {
        "TLD4S{half@55}{gather_component@52}{offsets@51}{depth_compare@50}{nodep@49}{phase} {e}, {d}, {a}, {b=r20}, {handle@36:13}" {
            "1101 1111 -0-- ----"
        }
    }
} }

//! Textures.

family! { ($) texture {
    /// Samples.
    Tex unimplemented {
        "TEX{texture_lod@55}{offsets@54}{depth_compare@50}{ndv@35}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 00-- --11 1---"
        }
        "TEX.B{texture_lod@37}{offsets@36}{depth_compare@50}{ndv@35}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 1011 1--- @40=0"
        }
    }
    /// Gathers one component of four texels.
    Tld4 unimplemented {
        "TLD4{gather_component@56}{gather_offsets@54}{depth_compare@50}{ndv@35}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 10-- --11 1---"
        }
        "TLD4{gather_component@38}.B{gather_offsets@36}{depth_compare@50}{ndv@35}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 1111 1--- @40=0"
        }
    }
    /// Fetches a texel.
    Tld unimplemented {
        "TLD{fetch_lod@55}{offsets@35}{multisample@50}{lod_clamp@54}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1100 --11 1---"
        }
        "TLD.B{fetch_lod@55}{offsets@35}{multisample@50}{lod_clamp@54}{nodep@49}{phase} {d}, {a}, {b=r20 ?}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1101 --11 1---"
        }
    }
    /// Samples with given derivatives.
    Txd unimplemented {
        "TXD{offsets@35}{nodep@49}{phase} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 0011 1--- @50=0"
        }
        "TXD.B{offsets@35}{nodep@49}{phase} {d}, {a}, {b=r20}, 0x0, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 0111 1--- @50=0"
        }
    }
    /// Asks for properties.
    Txq unimplemented {
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
    /// Level of detail.
    Tmml unimplemented {
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
    Texs unimplemented {
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 1000 000-"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 1000 000- @28=11111111"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 001-"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 001- @28=11111111"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 010-"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 010- @28=11111111"
        }
        "TEXS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 011-"
        }
        "TEXS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 011- @28=11111111"
        }
        "TEXS.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 100-"
        }
        "TEXS.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 100- @28=11111111"
        }
        "TEXS.LL.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 101-"
        }
        "TEXS.LL.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 101- @28=11111111"
        }
        "TEXS.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1000 110-"
        }
        "TEXS.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1000 110- @28=11111111"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 1000 111-"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 1000 111- @28=11111111"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 1001 000-"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 1001 000- @28=11111111"
        }
        "TEXS.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 1001 001-"
        }
        "TEXS.LZ.DC{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 1001 001- @28=11111111"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 1001 010-"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 1001 010- @28=11111111"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 1001 011-"
        }
        "TEXS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 1001 011- @28=11111111"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_pair@50}" {
            "1101 1001 100-"
        }
        "TEXS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_single@50}" {
            "1101 1001 100- @28=11111111"
        }
        "TEXS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_pair@50}" {
            "1101 1001 101-"
        }
        "TEXS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, CUBE, {mask_single@50}" {
            "1101 1001 101- @28=11111111"
        }
    }
    /// Fetches a texel, short form.
    Tlds unimplemented {
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 1010 000-"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 1010 000- @28=11111111"
        }
        "TLDS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_pair@50}" {
            "1101 1010 001-"
        }
        "TLDS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 1D, {mask_single@50}" {
            "1101 1010 001- @28=11111111"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1010 010-"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1010 010- @28=11111111"
        }
        "TLDS.LZ.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1010 100-"
        }
        "TLDS.LZ.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1010 100- @28=11111111"
        }
        "TLDS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1010 101-"
        }
        "TLDS.LL{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1010 101- @28=11111111"
        }
        "TLDS.LZ.MS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1010 110-"
        }
        "TLDS.LZ.MS{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1010 110- @28=11111111"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_pair@50}" {
            "1101 1010 111-"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 3D, {mask_single@50}" {
            "1101 1010 111- @28=11111111"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_pair@50}" {
            "1101 1011 000-"
        }
        "TLDS.LZ{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, ARRAY_2D, {mask_single@50}" {
            "1101 1011 000- @28=11111111"
        }
        "TLDS.LL.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_pair@50}" {
            "1101 1011 100-"
        }
        "TLDS.LL.AOFFI{nodep@49}{phase} {e}, {d}, {a}, {b=r20 ?}, {handle@36:13}, 2D, {mask_single@50}" {
            "1101 1011 100- @28=11111111"
        }
    }
    /// Gathers, short form.
    Tld4s unimplemented {
        "TLD4S{gather_component@52}{offsets@51}{depth_compare@50}{nodep@49}{phase} {e}, {d}, {a}, {b=r20}, {handle@36:13}" {
            "1101 1111 00-- ----"
        }
    }
} }

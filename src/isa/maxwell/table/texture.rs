//! Textures.

family! { ($) texture {
    /// Samples.
    Tex unimplemented {
        "TEX{texture_lod@55}{offsets@54}{depth_compare@50}{ndv@35}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 00-- --11 1---"
        }
        "TEX.B{texture_lod@37}{offsets@36}{depth_compare@50}{ndv@35}{nodep@49} {d}, {a}, {b=r20}, {number@41:8}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 1011 1--- @40=0"
        }
    }
    /// Gathers one component of four texels.
    Tld4 unimplemented {
        "TLD4{gather_component@56}{gather_offsets@54}{depth_compare@50}{ndv@35}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1100 10-- --11 1---"
        }
        "TLD4{gather_component@38}.B{gather_offsets@36}{depth_compare@50}{ndv@35}{nodep@49} {d}, {a}, {b=r20}, {number@41:8}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 1111 1--- @40=0"
        }
    }
    /// Fetches a texel.
    Tld unimplemented {
        "TLD{fetch_lod@55}{offsets@35}{multisample@50}{lod_clamp@54}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1100 --11 1---"
        }
        "TLD.B{fetch_lod@55}{offsets@35}{multisample@50}{lod_clamp@54}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1101 --11 1---"
        }
    }
    /// Samples with given derivatives.
    Txd unimplemented {
        "TXD{offsets@35}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 0011 1--- @50=0"
        }
        "TXD.B{offsets@35}{nodep@49} {d}, {a}, {b=r20}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1110 0111 1--- @50=0"
        }
    }
    /// Asks for properties.
    Txq unimplemented {
        "TXQ{nodep@49} {d}, {a}, {texture_query@22}, {handle@36:13}, {component_mask@31:4}" {
            "1101 1111 0100 1---"
        }
        "TXQ.B{nodep@49} {d}, {a}, {texture_query@22}, {handle@36:13}, {component_mask@31:4}" {
            "1101 1111 0101 0---"
        }
    }
    /// Level of detail.
    Tmml unimplemented {
        "TMML.LOD{ndv@35}{nodep@49} {d}, {a}, {handle@36:13}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1111 0101 1---"
        }
        "TMML.B.LOD{ndv@35}{nodep@49} {d}, {a}, {b=r20}, {number@41:8}, {texture_dim@28}, {component_mask@31:4}" {
            "1101 1111 0110 0---"
        }
    }
    /// Texture address.
    Txa unimplemented {
        "TXA{ndv@35}{nodep@49} {d}, {a}, {handle@36:13}, {component_mask@31:4}" {
            "1101 1111 0100 0---"
        }
    }
} }

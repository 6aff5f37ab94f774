//! Textures.

family! { ($) texture {
    Tex (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tex) {
        "TEX{scr@60}" {
            tex "161" "160" "162" "160"
                "{texel_format@79}{texture_lod@87}{offsets@76}{depth_compare@78}{eviction@84}\
                    {ndv@77}{nodep@90} {pd ?}, {e=r64}, {d}, {a}, {b=r32 ?}, "
                "{texture_dim@61}, {component_mask@72:4}";
        }
    }
    /// Fetches a texel.
    Tld (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tld) {
        "TLD{scr@60}" {
            tex "167" "166" "168" "166"
                "{texel_format@79}{fetch_lod@87}{offsets@76}{eviction@84}{multisample@78}\
                    {coordinate_clamp@77}{nodep@90} {pd ?}, {e=r64}, {d}, {a}, {b=r32 ?}, "
                "{fetch_dim@61}, {component_mask@72:4}";
        }
    }
    /// Gathers a component of four texels.
    Tld4 (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tld4) {
        "TLD4{scr@60}{gather_component@87}" {
            tex "164" "163" "165" "163"
                "{texel_format@79}{gather_offsets@76}{depth_compare@78}{eviction@84}{nodep@90} \
                    {pd ?}, {e=r64}, {d}, {a}, {b=r32 ?}, "
                "{gather_dim@61}, {component_mask@72:4}";
        }
    }
    /// With derivatives.
    Txd (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::txd) {
        "TXD" {
            tex "16d" "16c" "16e" "16c"
                "{texel_format@79}{lod_clamp@87}{offsets@76}{eviction@84}{nodep@90} {pd ?}, \
                    {e=r64}, {d}, {a}, {b=r32}, "
                "{derivative_dim@61}, {component_mask@72:4}";
        }
    }
    /// The level of detail.
    Tmml (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::tmml) {
        "TMML" {
            tex "16a" "169" "16b" "169"
                ".LOD{ndv@77}{nodep@90} {e=r64}, {d}, {a}, {b=r32 ?}, "
                "{texture_dim@61}, {component_mask@72:4}";
        }
    }
    /// Properties of a texture.
    Txq (approximate "as an H200 samples, for the most part: see docs/fidelity.md" texture::txq) {
        "TXQ" {
            tex "170" "16f" "171" "16f"
                "{nodep@90} {e=r64}, {d}, {a}, {texture_query@62}, "
                "{query_mask@72:4}";
        }
    }
    /// The texels that an access touches.
    Footprint unimplemented {
        "FOOTPRINT{scr@60}" {
            tex "173" "172" "174" "174"
                "{footprint_kind@78}{coarse@76}{texture_lod@87}{ndv@77}{nodep@90} {pd ?}, {e=r64}, \
                    {d}, {a}, {b=r32 ?}, "
                "{footprint_dim@61}";
        }
    }
} }

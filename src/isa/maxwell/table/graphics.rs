//! Attributes, interpolation and other instructions that only graphics shaders use.

family! { ($) graphics {
    /// Attribute address to physical address.
    Al2p (approximate "physical addresses are logical ones here" attribute::al2p) {
        "AL2P{output@32}{attribute_size@47} {pd=p44 ?}, {d}, {a ?}, {attribute_offset@20:11}" {
            "1110 1111 1010 0---"
        }
        "AL2P{output@32}{attribute_size@47} {pd=p44 ?}, {d}, {tag@20:10}" {
            "1110 1111 1010 0--- @8=11111111"
        }
    }
    /// Attribute load.
    Ald (approximate "words that nobody gave are 0, 0, 0, 1" attribute::ald) {
        "ALD{output@32}.P{attribute_size@47} {d}, a{m=m8+20:11}, {c ?}" {
            "1110 1111 1101 1--- @31=1"
        }
        "ALD{output@32}.P{attribute_size@47} {d}, a{m=m8+20:10*0}, {c ?}" {
            "1110 1111 1101 1--- @31=1 @8=11111111"
        }
        "ALD{output@32}{attribute_size@47} {d}, a{m=m8+20:10*0}, {c ?}" {
            "1110 1111 1101 1--- @31=0 @8=11111111"
        }
        "ALD{output@32}.PHYS{attribute_size@47} {d}, a{m=m8+20:10*0}, {c ?}" {
            "1110 1111 1101 1--- @31=0 @20=00000000000 @8#11111111"
        }
    }
    /// Attribute store.
    Ast (exact attribute::ast) {
        "AST.P{attribute_size@47} a{m=m8+20:11}, {b=r0}, {c ?}" {
            "1110 1111 1111 0--- @31=1"
        }
        "AST.P{attribute_size@47} a{m=m8+20:10*0}, {b=r0}, {c ?}" {
            "1110 1111 1111 0--- @31=1 @8=11111111"
        }
        "AST{attribute_size@47} a{m=m8+20:10*0}, {b=r0}, {c ?}" {
            "1110 1111 1111 0--- @31=0 @8=11111111"
        }
        "AST.PHYS{attribute_size@47} a{m=m8+20:10*0}, {b=r0}, {c ?}" {
            "1110 1111 1111 0--- @31=0 @20=00000000000 @8#11111111"
        }
    }
    /// Interpolates an attribute.
    Ipa (approximate "how the hardware rounds is not documented" pixel::ipa) {
        "IPA.IDX{ipa_mode@54}{ipa_place@52}{sat@51} {d}, a[{a}], {b=r20}, {c ?}, {ps=p47 !50}" {
            "1110 0000 ---- ---- @38=1"
        }
        "IPA{ipa_mode@54}{ipa_place@52}{sat@51} {d}, a[{number@28:10}], {b=r20}, {c ?}, {ps=p47 !50 ?}" {
            "1110 0000 ---- ---- @38=0 @8=11111111"
        }
    }
    /// Internal stage buffer read.
    Isberd (approximate "handles of vertices are their numbers here" attribute::isberd) {
        "ISBERD{output@32}{isberd_mode@33}{skew@31}{isberd_size@47} {d}, [{a}]" {
            "1110 1111 1101 0---"
        }
    }
    /// Pixel information.
    Pixld (approximate "a pixel has one sample, at its centre, unless the launch says otherwise" pixel::pixld) {
        "PIXLD{pixel_mode@31} {d}, {pd=p45 ?}, {m=m8+20:8}" {
            "1110 1111 1110 1---"
        }
    }
    /// Geometry shader output.
    Out (approximate "handles of vertices are their numbers here" attribute::out) {
        "OUT{out_mode@39} {d}, {a}, {b}" {
            "1111 1011 1110 0--- b=r20"
            "1110 1011 1110 0--- b=c"
            "1111 011- 1110 0--- b=i"
        }
    }
    /// Stream output.
    Stp unimplemented {
        "*STP{wait@31} {number@20:8}" {
            "1110 1110 1010 0---"
        }
    }
} }

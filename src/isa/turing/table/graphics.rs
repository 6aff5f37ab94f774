//! Graphics: attributes, interpolation, primitives.

family! { ($) graphics {
    /// The address of an attribute.
    Al2p unimplemented {
        "AL2P{output@79}{attribute_size@74} {d}, {a ?}, {b=s40:11}" {
            one "o120 @9=100 @91=0";
        }
    }
    /// Loads an attribute.
    Ald unimplemented {
        "ALD{output@79}{patch@76}{attribute_size@74} {d}, {m=al}, {b=r32 ?}" {
            one "o121 @9=001 @24=11111111 @77=0 @91=0";
            one "o121 @9=001 @76=01 @91=0";
        }
        "ALD{output@79}.PHYS{attribute_size_of_one@74} {d}, {m=a24}, {b=r32 ?}" {
            one "o121 @9=001 @24#11111111 @76=10 @91=0";
        }
        "ALD{output@79}{patch@76}{attribute_size@74} {d}, {m=alu}, {b=r32 ?}" {
            one "o121 @9=010 @77=0 @91=1";
        }
    }
    /// Stores an attribute.
    Ast unimplemented {
        "AST{patch@76}{attribute_size@74} {m=al}, {b=r32}, {c ?}" {
            one "o122 @9=001 @24=11111111 @77=0 @91=0";
            one "o122 @9=001 @76=01 @91=0";
        }
        "AST.PHYS{attribute_size_of_one@74} {m=a24}, {b=r32}, {c ?}" {
            one "o122 @9=001 @24#11111111 @76=10 @91=0";
        }
        "AST{patch@76}{attribute_size@74} {m=alu}, {b=r32}, {c ?}" {
            one "o122 @9=010 @77=0 @91=1";
        }
    }
    /// Interpolates an attribute.
    Ipa unimplemented {
        "IPA{ipa_mode@78}{ipa_place@76:1} {d}, {pd ?}, {m=ai}" {
            one "o126 @9=001 @77=0 @91=0";
        }
        "IPA{ipa_mode@78}{ipa_place@76:1} {d}, {pd ?}, {m=aiu}" {
            one "o126 @9=010 @77=0 @91=1";
        }
        "IPA{ipa_mode@78}{ipa_offset@76} {d}, {pd ?}, {m=ai}, {b}" {
            one "o126 @9=001 @77=1 @91=0 b=r32";
            one "o126 @9=100 @91=0 b=b";
            one "o126 @9=101 @91=0 b=c";
        }
        "IPA{ipa_mode@78}{ipa_offset@76} {d}, {pd ?}, {m=aiu}, {b}" {
            one "o126 @9=010 @77=1 @91=1 b=r32";
            one "o126 @9=100 @91=1 b=b";
        }
    }
    /// Emits a vertex, cuts a primitive.
    Out unimplemented {
        "OUT{out_mode@78} {d}, {a}, {b}" {
            one "o124 @9=001 @91=0 b=r32";
            one "o124 @9=100 @91=0 b=i";
            one "o124 @9=110 @91=1 b=ur32";
        }
    }
    /// Reads the buffer of primitives.
    Isberd unimplemented {
        "ISBERD{output@79}{isbe_mode@76}{skew@78}{isbe_size@74} {d}, {m=m24}" {
            one "o123 @9=100 @91=0";
        }
    }
    /// Writes the buffer of primitives.
    Isbewr unimplemented {
        "ISBEWR{isbe_output@79}{isbe_write_mode@76}{skew@78}{isbe_size@74} {m=m24}, {b=r32}" {
            one "o127 @9=100 @91=0";
        }
    }
    /// Information about a pixel.
    Pixld unimplemented {
        "PIXLD{pixel_mode@78} {d}, {pd ?}" {
            one "o125 @9=100 @91=0";
        }
    }
    /// Loads coefficients of a triangle.
    Ldtram unimplemented {
        "LDTRAM{ldtram_part@72} {d}, {m=aiu}" {
            one "o1ad @9=001 @24=111111 @91=1 m=ai";
            one "o1ad @9=001 @91=1";
        }
    }
} }

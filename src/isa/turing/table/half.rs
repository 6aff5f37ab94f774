//! Arithmetic of pairs of F16 or BF16.

family! { ($) half {
    Hadd2 unimplemented {
        "HADD2{half_type@78:1}{ftz@80}{sat@77} {d}, {a -72 |73 .F74}, {b}" {
            s "030" "x" "r32 -63 |62 .F60 %2" " -63 |62 .F60";
        }
    }
    Hmul2 unimplemented {
        "HMUL2{half_type@78:1}{flush@80:1+76}{sat@77} {d}, {a -72 |73 .F74}, {b}" {
            b "032" "x" " -63 |62 .F60";
        }
    }
    Hfma2 unimplemented {
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}" {
            bc "031 @79=0 @85=0" "x" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}" {
            bc "031 @79=0 @78=0 @85=1" "y" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}" {
            bc "031 @79=0 @78=1 @85=1" "x" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}, {ps !90 ?}" {
            bc "031 @79=1 @77=0 @85=0" "x" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}, {ps !90 ?}" {
            bc "031 @79=1 @77=0 @78=0 @85=1" "y" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
        "HFMA2{half_type@78:1+85}{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73 .F74}, {b}, {c}, {ps !90 ?}" {
            bc "031 @79=1 @77=0 @78=1 @85=1" "x" " -63 |62 .F60" " -84 |83 .F81" " -84 |83 .F81" " -63 |62 .F60";
        }
    }
    /// The unit of matrices computes it.
    Hfma2Mma unimplemented {
        "HFMA2.MMA{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73}, {b}, {c}" {
            bc "035 @79=0" "x" " -63 |62" " -84 |83" " -84 |83" " -63 |62";
        }
        "HFMA2.MMA{flush@80:1+76}{relu@79}{sat@77} {d}, {a -72 |73}, {b}, {c}, {ps !90 ?}" {
            bc "035 @79=1 @77=0" "x" " -63 |62" " -84 |83" " -84 |83" " -63 |62";
        }
    }
    Hmnmx2 unimplemented {
        "HMNMX2{half_type@78:1+85}{ftz@80}{nan@81} {d}, {a -72 |73 .F74}, {b}, {ps !90}" {
            b "040 @85=0" "x" " -63 |62 .F60";
            b "040 @78=0 @85=1" "y" " -63 |62 .F60";
            b "040 @78=1 @85=1" "x" " -63 |62 .F60";
        }
    }
    Hset2 unimplemented {
        "HSET2{bool_float@71}{float_compare@76}{ftz@80}{half_bool_op@69} {d}, {a -72 |73 .F74}, {b}, {ps !90}" {
            s "033" "x" "r32 -63 |62 .F60 %2" " -63 |62 .F60";
        }
    }
    Hsetp2 unimplemented {
        "HSETP2{float_compare@76}{h_and@71}{ftz@80}{half_bool_op@69} {pd}, {pe}, {a -72 |73 .F74}, {b}, {ps !90}" {
            s "034" "x" "r32 -63 |62 .F60 %2" " -63 |62 .F60";
        }
    }
} }

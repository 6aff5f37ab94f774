//! Integer arithmetic, shifts and comparison.

family! { ($) integer {
    /// A + B + C, with carries.
    Iadd3 (exact integer::iadd3) {
        "IADD3 {d}, {pd ?}, {pe ?}, {a -72}, {b}, {c}" {
            b3 "010 @74=0" "i" " -63" " -75";
        }
        "IADD3.X {d}, {pd ?}, {pe ?}, {a ~72}, {b}, {c}, {ps !90}, {pt !80}" {
            b3 "010 @74=1" "i" " ~63" " ~75";
        }
    }
    /// A * B + C, the low word.
    Imad (exact integer::imad) {
        "IMAD.MOV{signed@73} {d}, {a}, {b}, {c}" {
            one "o024 @9=001 @24=11111111 @74=0 @91=0 b=r32 c=r64 -75";
            one "o024 @9=100 @24=11111111 @74=0 @91=0 b=i c=r64 -75";
            one "o024 @9=100 @24=11111111 @32=00000000000000000000000000000001 \
                @74=0 @91=0 b=i c=r64 -75";
            one "o024 @9=100 @24=11111111 @32^31 @48=0 @63=0 @64=11111111 \
                @74=0 @91=0 b=i c=r64 -75";
            one "o024 @9=101 @24=11111111 @74=0 @91=0 b=c c=r64 -75";
            one "o024 @9=010 @24=11111111 @74=0 @91=0 b=r64 c=i";
            one "o024 @9=011 @24=11111111 @74=0 @91=0 b=r64 c=c -63";
            one "o024 @9=001 @32=11111111 @74=0 @91=0 b=r32 c=r64 -75";
            one "o024 @9=100 @32=00000000000000000000000000000000 @74=0 @91=0 b=i c=r64 -75";
            one "o024 @9=100 @32=00000000000000000000000000000001 @64=11111111 \
                @74=0 @91=0 b=i c=r64 -75";
            one "o024 @9=010 @64=11111111 @74=0 @91=0 b=r64 c=i";
            one "o024 @9=011 @64=11111111 @74=0 @91=0 b=r64 c=c -63";
        }
        "IMAD.IADD{signed@73} {d}, {a}, {b}, {c}" {
            one "o024 @9=100 @32=00000000000000000000000000000001 @74=0 @91=0 b=i c=r64 -75";
        }
        "IMAD.SHL{signed@73} {d}, {a}, {b}, {c}" {
            one "o024 @9=100 @32^31 @48=0 @63=0 @64=11111111 @74=0 @91=0 b=i c=r64 -75";
        }
        "IMAD{signed@73} {d}, {a}, {b}, {c}" {
            b3 "024 @74=0" "i" "" " -75";
            c "024 @74=0" "i" "" " -63";
        }
        "IMAD{signed@73}.X {d}, {a}, {b}, {c}, {ps !90}" {
            b3 "024 @74=1" "i" "" " ~75";
            c "024 @74=1" "i" "" " ~63";
        }
    }
    /// A * B + C in 64 bits.
    ImadWide (exact integer::imad_wide) {
        "IMAD.WIDE{signed@73} {d}, {pd ?}, {a}, {b}, {c}" {
            b3 "025 @74=0" "i" "" " -75";
            c "025 @74=0" "i" "" " -63";
        }
        "IMAD.WIDE{signed@73}.X {d}, {pd ?}, {a}, {b}, {c}, {ps !90}" {
            b3 "025 @74=1" "i" "" " ~75";
            c "025 @74=1" "i" "" " ~63";
        }
    }
    /// A * B + C, the high word.
    ImadHi (exact integer::imad_hi) {
        "IMAD.HI{signed@73} {d}, {pd ?}, {a}, {b}, {c}" {
            b3 "027 @74=0" "i" "" " -75";
            c "027 @74=0" "i" "" " -63";
        }
        "IMAD.HI{signed@73}.X {d}, {pd ?}, {a}, {b}, {c}, {ps !90}" {
            b3 "027 @74=1" "i" "" " ~75";
            c "027 @74=1" "i" "" " ~63";
        }
    }
    /// A * B + C of polynomials over GF(2).
    Clmad unimplemented {
        "CLMAD{product_word@77} {d}, {a}, {b}, {c}" {
            one "o02c @9=001 @91=0 b=r32";
            one "o02c @9=101 @91=0 b=c";
            one "o02c @9=101 @91=1 b=cx";
            one "o02c @9=110 @91=1 b=ur32";
            one "o02c @9=011 @91=0 b=r64 c=c";
            one "o02c @9=011 @91=1 b=r64 c=cx";
            one "o02c @9=111 @91=1 b=r64 c=ur32";
        }
    }
    /// Sum of the products of bytes or halves, + C.
    Idp (exact integer::idp) {
        "IDP.4A{dot_signs@73} {d}, {a}, {b}, {c -75}" {
            noimm "026 @76=00" "";
        }
        "IDP.2A.LO{dot_wide_signs@73} {d}, {a}, {b}, {c -75}" {
            noimm "026 @76=01" "";
        }
        "IDP.2A.HI{dot_wide_signs@73} {d}, {a}, {b}, {c -75}" {
            noimm "026 @76=11" "";
        }
    }
    /// (A << shift) + B.
    Lea (exact integer::lea) {
        "LEA {d}, {pd ?}, {a -72}, {b}, {lea_shift@75:5}" {
            b "011 @73=0 @74=0 @80=0" "b" " -63";
        }
        "LEA.X {d}, {pd ?}, {a ~72}, {b}, {lea_shift@75:5}, {ps !90}" {
            b "011 @73=0 @74=1 @80=0" "b" " ~63";
        }
    }
    /// The high word of (C:A) << shift, + B.
    LeaHi (exact integer::lea_hi) {
        "LEA.HI {d}, {pd ?}, {a -72}, {b}, {c}, {lea_shift@75:5}" {
            b3 "011 @73=0 @74=0 @80=1" "b" " -63" "";
            one "o011 @9=010 @74=0 @80=1 @91=0 b=r64 c=b";
        }
        "LEA.HI.X {d}, {pd ?}, {a ~72}, {b}, {c}, {lea_shift@75:5}, {ps !90}" {
            b3 "011 @73=0 @74=1 @80=1" "b" " ~63" "";
            one "o011 @9=010 @74=1 @80=1 @91=0 b=r64 c=b";
        }
        "LEA.HI.SX32 {d}, {pd ?}, {a -72}, {b}, {lea_shift@75:5}" {
            b "011 @73=1 @74=0 @80=1" "b" " -63";
        }
        "LEA.HI.X.SX32 {d}, {pd ?}, {a ~72}, {b}, {lea_shift@75:5}, {ps !90}" {
            b "011 @73=1 @74=1 @80=1" "b" " ~63";
        }
    }
    /// Shifts (C:A).
    Shf (exact shift::shf) {
        "SHF{shift_direction@76}{wrap@75}{shift_type@73}{high@80} {d}, {a}, {b}, {c}" {
            b3 "019" "b" "" "";
            c "019" "b" "" "";
        }
    }
    /// Minimum if the predicate is true, else maximum.
    Imnmx (exact compare::imnmx) {
        "IMNMX{signed@73} {d}, {a}, {b}, {ps !90}" {
            b "017" "i" "";
        }
    }
    /// |B|.
    Iabs (exact integer::iabs) {
        "IABS {d}, {b}" {
            b "013" "i" "";
        }
    }
    /// |A - B| + C.
    Vabsdiff (exact integer::vabsdiff) {
        "VABSDIFF{signed@73} {d}, {pd ?}, {a}, {b}, {c}" {
            b3 "014" "b" "" "";
            c "014" "b" "" "";
        }
    }
    /// |A - B| of bytes, and C or their sum + C.
    Vabsdiff4 (exact integer::vabsdiff4) {
        "VABSDIFF4{byte_signed@73}{accumulate@75} {d}, {pd ?}, {a}, {b}, {c}" {
            b3 "015" "b" "" "";
            c "015" "b" "" "";
        }
    }
    /// Compare and set two predicates.
    Isetp (exact compare::isetp) {
        "ISETP{int_compare@76}{signed@73}{bool_op@74} {pd}, {pe}, {a}, {b}, {ps !90}" {
            b "00c @72=0" "i" "";
        }
        "ISETP{int_compare@76}{signed@73}{bool_op@74}.EX {pd}, {pe}, {a}, {b}, {ps !90}, \
            {pc=p68 !71}" {
            b "00c @72=1" "i" "";
        }
    }
} }

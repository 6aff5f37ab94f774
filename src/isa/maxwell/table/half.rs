//! Arithmetic and comparison of pairs of F16 (sm_53). A constant is an F32, as is a register that
//! is read as `.F32`.

family! { ($) half {
    /// A + B of two halves.
    Hadd2 (approximate "an F32 source is rounded to F16 first" half::hadd2) {
        "HADD2{half_merge@49}{ftz@39}{sat@32} {d}, {a .F47 -43 |44}, {b .F28 -31 |30 %2}" {
            "0101 1101 0001 0--- b=r20"
        }
        "HADD2{half_merge@49}{ftz@39}{sat@52} {d}, {a .F47 -43 |44}, {b}" {
            "0111 101- 1--- b=c -56 |54"
            "0111 101- 0--- b=x"
        }
    }
    /// A + B of two halves, B two immediates.
    Hadd232i (approximate "an F32 source is rounded to F16 first" half::hadd2) {
        "HADD2_32I{ftz@55}{sat@52} {d}, {a .F53 -56}, {b}" {
            "0010 110- b=x32"
        }
    }
    /// A * B of two halves.
    Hmul2 (approximate "an F32 source is rounded to F16 first" half::hmul2) {
        "HMUL2{half_merge@49}{half_flush@39}{sat@32} {d}, {a .F47 |44}, {b .F28 -31 |30}" {
            "0101 1101 0000 1--- b=r20"
        }
        "HMUL2{half_merge@49}{half_flush@39}{sat@52} {d}, {a .F47 |44}, {b}" {
            "0111 100- 1--- b=c -43 |54"
        }
        "HMUL2{half_merge@49}{half_flush@39}{sat@52} {d}, {a .F47 -43 |44}, {b}" {
            "0111 100- 0--- b=x"
        }
    }
    /// A * B of two halves, B two immediates.
    Hmul232i (approximate "an F32 source is rounded to F16 first" half::hmul2) {
        "HMUL2_32I{half_flush@55}{sat@52} {d}, {a .F53}, {b}" {
            "0010 101- b=x32"
        }
    }
    /// A * B + C of two halves, rounded once.
    Hfma2 (approximate "an F32 source is rounded to F16 first" half::hfma2) {
        "HFMA2{half_merge@49}{half_flush@37}{sat@32} {d}, {a .F47}, {b .F28 -31}, {c .F35 -30}" {
            "0101 1101 0000 0--- b=r20"
        }
        "HFMA2{half_merge@49}{half_flush@57}{sat@52} {d}, {a .F47}, {b}, {c .F53 -51}" {
            "0111 0--- 1--- b=c -56"
            "0111 0--- 0--- b=x"
        }
        "HFMA2{half_merge@49}{flush@57}{sat@52} {d}, {a .F47}, {b=r39 .F53 -56}, {c=c -51}" {
            "0110 0--- 1---"
        }
    }
    /// A * B + C of two halves, rounded once; B two immediates, C the destination register.
    Hfma232i (approximate "an F32 source is rounded to F16 first" half::hfma2) {
        "HFMA2_32I{flush@55} {d}, {a .F53}, {b}, {c=r0 -52}" {
            "0010 100- b=x32"
        }
    }
    /// Compares two halves, and sets the halves of a register.
    Hset2 (approximate "an F32 source is rounded to F16 first" half::hset2) {
        "HSET2{bool_float@49}{float_compare@35}{ftz@50}{half_bool_op@45} {d}, {a .F47 -43 |44}, {b .F28 -31 |30}, {ps !42}" {
            "0101 1101 0001 1--- b=r20"
        }
        "HSET2{bool_float@53}{float_compare@49}{ftz@54}{half_bool_op@45} {d}, {a .F47 -43 |44}, {b}, {ps !42}" {
            "0111 110- 1--- b=c -56"
            "0111 110- 0--- b=x"
        }
    }
    /// Compares two halves, and sets a predicate for each, or for both.
    Hsetp2 (approximate "an F32 source is rounded to F16 first; the second predicate of .H_AND is a guess" half::hsetp2) {
        "HSETP2{float_compare@35}{h_and@49}{ftz@6}{bool_op@45} {pd}, {pe}, {a .F47 -43 |44}, {b .F28 -31 |30}, {ps !42}" {
            "0101 1101 0010 0--- b=r20"
        }
        "HSETP2{float_compare@49}{h_and@53}{ftz@6}{bool_op@45} {pd}, {pe}, {a .F47 -43 |44}, {b}, {ps !42}" {
            "0111 111- 1--- b=c -56 |54"
            "0111 111- 0--- b=x"
        }
    }
} }

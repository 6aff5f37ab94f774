//! F32 and F64 arithmetic and comparison.

family! { ($) float {
    /// A + B.
    Fadd (exact float::fadd) {
        "FADD{ftz@44}{rounding@39}{sat@50} {d}{cc@47}, {a -48 |46}, {b -45 |49}" {
            "0101 1100 0101 1--- b=r20"
            "0100 1100 0101 1--- b=c"
            "0011 100- 0101 1--- b=f"
        }
    }
    /// A * B.
    Fmul (exact float::fmul) {
        "FMUL{flush@44}{scale@41}{rounding@39}{sat@50} {d}{cc@47}, {a}, {b -48}" {
            "0101 1100 0110 1--- b=r20"
            "0100 1100 0110 1--- b=c"
            "0011 100- 0110 1--- b=f"
        }
    }
    /// A * B + C, rounded once.
    Ffma (exact float::ffma) {
        "FFMA{flush@53}{rounding@51}{sat@50} {d}{cc@47}, {a}, {b -48}, {c -49}" {
            "0101 1001 1--- ---- b=r20"
            "0100 1001 1--- ---- b=c"
            "0101 0001 1--- ---- b=r39 c=c"
            "0011 001- 1--- ---- b=f"
        }
    }
    /// Compare and set two predicates.
    Fsetp (exact float_compare::fsetp) {
        "FSETP{float_compare@48}{ftz@47}{bool_op@45} {pd}, {pe}, {a -43 |7}, {b -6 |44}, {ps !42}" {
            "0101 1011 1011 ---- b=r20"
            "0100 1011 1011 ---- b=c"
            "0011 011- 1011 ---- b=f"
        }
    }
} }

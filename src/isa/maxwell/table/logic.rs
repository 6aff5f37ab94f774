//! Shifts, bitwise logic, bit fields and bytes.

family! { ($) logic {
    /// Shift left.
    Shl (exact shift::shl) {
        "SHL{wrap@39}{x@43} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0100 1--- b=r20"
            "0100 1100 0100 1--- b=c"
            "0011 100- 0100 1--- b=i"
        }
    }
    /// Shift right.
    Shr (exact shift::shr) {
        "SHR{sign@48}{wrap@39}{shift_word@43}{brev@40} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0010 1--- b=r20"
            "0100 1100 0010 1--- b=c"
            "0011 100- 0010 1--- b=i"
        }
    }
    /// The high word of (C:A) << B.
    ShfL (exact shift::shf_l) {
        "SHF.L{wrap@50}{funnel_type@37}{funnel_word@48} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1011 1111 1--- b=r20"
            "0011 011- 1111 1--- b=u20:6"
        }
    }
    /// The low word of (C:A) >> B.
    ShfR (exact shift::shf_r) {
        "SHF.R{wrap@50}{funnel_type@37}{funnel_word@48} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1100 1111 1--- b=r20"
            "0011 100- 1111 1--- b=u20:6"
        }
    }
    /// Bitwise logic.
    Lop (exact logic::lop) {
        "LOP{logic_op@41}{x@43}{logic_test@44} {pd=p48 ?}, {d}{cc@47}, {a ~39}, {b ~40}" {
            "0101 1100 0100 0--- b=r20"
            "0100 1100 0100 0--- b=c"
            "0011 100- 0100 0--- b=i"
        }
    }
    /// Bitwise logic with a 32-bit immediate.
    Lop32i (exact logic::lop) {
        "LOP32I{logic_op@53}{x@57} {d}{cc@52}, {a ~55}, {b ~56}" {
            "0000 01-- b=b32"
        }
    }
    /// Bitwise logic of three operands by a truth table.
    Lop3 (exact logic::lop3) {
        "LOP3.LUT{x@38}{logic_test@36} {pd=p48 ?}, {d}{cc@47}, {a}, {b}, {c}, {truth_table@28:8}" {
            "0101 1011 1110 0--- b=r20"
        }
        "LOP3.LUT{x@56} {d}{cc@47}, {a}, {b}, {c}, {truth_table@48:8}" {
            "0000 001- b=c"
        }
        "LOP3.LUT{x@57} {d}{cc@47}, {a}, {b}, {c}, {truth_table@48:8}" {
            "0011 11-- b=i"
        }
    }
    /// Count of the set bits.
    Popc (exact bits::popc) {
        "POPC {d}, {b ~40}" {
            "0101 1100 0000 1--- b=r20"
            "0100 1100 0000 1--- b=c"
            "0011 100- 0000 1--- b=i"
        }
    }
    /// Index of the leading bit.
    Flo (exact bits::flo) {
        "FLO{sign@48}{shift_amount@41} {d}{cc@47}, {b ~40}" {
            "0101 1100 0011 0--- b=r20"
            "0100 1100 0011 0--- b=c"
            "0011 100- 0011 0--- b=i"
        }
    }
    /// Extracts a bit field of A: byte 0 of B is its lowest bit, byte 1 its length.
    Bfe (exact bits::bfe) {
        "BFE{sign@48}{brev@40} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0000 0--- b=r20"
            "0100 1100 0000 0--- b=c"
            "0011 100- 0000 0--- b=i"
        }
    }
    /// Inserts A in C as a bit field: byte 0 of B is the field's lowest bit, byte 1 its length.
    Bfi (exact bits::bfi) {
        "BFI {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1011 1111 0--- b=r20"
            "0100 1011 1111 0--- b=c"
            "0101 0011 1111 0--- b=r39 c=c"
            "0011 011- 1111 0--- b=i"
        }
    }
    /// Selects bytes of C:A by B.
    Prmt (exact bits::prmt) {
        "PRMT{permute_mode@48} {d}, {a}, {b}, {c}" {
            "0101 1011 1100 ---- b=r20"
            "0100 1011 1100 ---- b=c"
            "0101 0011 1100 ---- b=r39 c=c"
            "0011 011- 1100 ---- b=i"
        }
    }
} }

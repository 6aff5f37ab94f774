//! Integer arithmetic, shifts, logic and comparison.

family! { ($) integer {
    /// A + B.
    Iadd (exact add::iadd) {
        "IADD{sat@50}{x@43} {d}{cc@47}, {a -49}, {b -48}" {
            "0101 1100 0001 0--- b=r20"
            "0100 1100 0001 0--- b=c"
            "0011 100- 0001 0--- b=i"
        }
        "IADD.PO{sat@50}{x@43} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0001 0-11 b=r20"
            "0100 1100 0001 0-11 b=c"
            "0011 100- 0001 0-11 b=i"
        }
    }
    /// A + B, B a 32-bit immediate.
    Iadd32i (exact add::iadd) {
        "IADD32I{sat@54}{x@53} {d}{cc@52}, {a -56}, {b}" {
            "0001 110- 0--- b=i32"
        }
        "IADD32I.PO{sat@54}{x@53} {d}{cc@52}, {a}, {b}" {
            "0001 1101 1--- b=i32"
        }
    }
    /// (A << shift) + B.
    Iscadd (exact add::iscadd) {
        "ISCADD {d}{cc@47}, {a -49}, {b -48}, {shift@39:5}" {
            "0101 1100 0001 1--- b=r20"
            "0100 1100 0001 1--- b=c"
            "0011 100- 0001 1--- b=i"
        }
    }
    /// 16 x 16 bit multiply and 32 bit add.
    Xmad (exact multiply::xmad) {
        "XMAD{xmad_signs@48}{psl@36}{xmad_mode@50}{mrg@37}{x@38} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0101 1011 00-- ---- b=r20 .H35"
            "0011 011- 00-- ---- b=u20:16"
        }
        "XMAD{xmad_signs@48}{psl@55}{xmad_mode@50:2}{mrg@56}{x@54} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0100 111- ---- ---- b=c .H52"
        }
        "XMAD{xmad_signs@48}{xmad_mode@50:2}{x@54} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0101 0001 0--- ---- b=r39 .H52 c=c"
        }
    }
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
        "SHR{wrap@39}{sign@48}{brev@40}{x@44} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0010 1--- b=r20"
            "0100 1100 0010 1--- b=c"
            "0011 100- 0010 1--- b=i"
        }
    }
    /// Bitwise logic with a 32-bit immediate.
    Lop32i (exact logic::lop) {
        "LOP32I{logic_op@53}{x@57} {d}{cc@52}, {a ~55}, {b ~56}" {
            "0000 01-- b=i32"
        }
    }
    /// Compare and set two predicates.
    Isetp (exact compare::isetp) {
        "ISETP{int_compare@49}{sign@48}{x@43}{bool_op@45} {pd}, {pe}, {a}, {b}, {ps !42}" {
            "0101 1011 0110 ---- b=r20"
            "0100 1011 0110 ---- b=c"
            "0011 011- 0110 ---- b=i"
        }
    }
} }

//! Integer addition, multiplication, minimum and comparison.

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
    /// A + B + C.
    Iadd3 (exact add::iadd3) {
        "IADD3{add_shift@37}{x@48} {d}{cc@47}, {a -51 .P35}, {b -50 .P33}, {c -49 .P31}" {
            "0101 1100 1100 ---- b=r20"
        }
        "IADD3{x@48} {d}{cc@47}, {a -51}, {b -50}, {c -49}" {
            "0100 1100 1100 ---- b=c"
            "0011 100- 1100 ---- b=b"
        }
    }
    /// (A << shift) + B.
    Iscadd (exact add::iscadd) {
        "ISCADD {d}{cc@47}, {a -49}, {b -48}, {shift@39:5}" {
            "0101 1100 0001 1--- b=r20"
            "0100 1100 0001 1--- b=c"
            "0011 100- 0001 1--- b=i"
        }
        "ISCADD.PO {d}{cc@47}, {a}, {b}, {shift@39:5}" {
            "0101 1100 0001 1-11 b=r20"
            "0100 1100 0001 1-11 b=c"
            "0011 100- 0001 1-11 b=i"
        }
    }
    /// (A << shift) + B, B a 32-bit immediate.
    Iscadd32i (exact add::iscadd) {
        "ISCADD32I {d}{cc@52}, {a}, {b}, {shift@53:5}" {
            "0001 01-- b=i32"
        }
    }
    /// (A << shift) + B; `.HI`: the high word of the 64-bit (C:A) << shift, + B.
    Lea (exact add::lea) {
        "LEA{x@46} {pd=p48 ?}, {d}{cc@47}, {a -45}, {b}, {lea_shift@39:5}" {
            "0101 1011 1101 0--- b=r20"
            "0100 1011 1101 0--- b=c"
            "0011 011- 1101 0--- b=i"
        }
    }
    /// The high word of (C:A) << shift, + B.
    LeaHi (exact add::lea_hi) {
        "LEA.HI{x@38} {pd=p48 ?}, {d}{cc@47}, {a -37}, {b}, {c}, {lea_shift@28:5}" {
            "0101 1011 1101 1--- b=r20"
        }
        "LEA.HI{x@57} {pd=p48 ?}, {d}{cc@47}, {a -56}, {b}, {c}, {lea_shift@51:5}" {
            "0001 10-- b=c"
        }
    }
    /// 16 x 16 bit multiply and 32 bit add.
    Xmad (exact multiply::xmad) {
        "XMAD{xmad_signs@48}{psl@36}{xmad_mode@50}{mrg@37}{x@38} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0101 1011 00-- ---- b=r20 .H35"
            "0011 011- 00-- --0- b=u20:16"
            "0011 011- 00-- --1- b=s20:16"
        }
        "XMAD{xmad_signs@48}{psl@55}{xmad_mode@50:2}{mrg@56}{x@54} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0100 111- ---- ---- b=c .H52"
        }
        "XMAD{xmad_signs@48}{xmad_mode@50:2}{x@54} {d}{cc@47}, {a .H53}, {b}, {c}" {
            "0101 0001 0--- ---- b=r39 .H52 c=c"
        }
    }
    /// Low or high word of A * B.
    Imul (exact multiply::imul) {
        "IMUL{mul_signs@40}{high@39} {d}{cc@47}, {a}, {b}" {
            "0101 1100 0011 1--- b=r20"
            "0100 1100 0011 1--- b=c"
            "0011 100- 0011 1--- b=i"
        }
    }
    /// Low or high word of A * B, B a 32-bit immediate.
    Imul32i (exact multiply::imul) {
        "IMUL32I{mul_signs@54}{high@53} {d}{cc@52}, {a}, {b}" {
            "0001 1111 b=i32"
        }
    }
    /// Low or high word of A * B, + C.
    Imad (exact multiply::imad) {
        "IMAD{mul_signs@48:1+53}{high@54}{sat@50}{x@49} {d}{cc@47}, {a -52}, {b}, {c -51}" {
            "0101 1010 0--- ---- b=r20"
            "0100 1010 0--- ---- b=c"
            "0101 0010 0--- ---- b=r39 c=c"
            "0011 010- 0--- ---- b=i"
        }
        "IMAD{mul_signs@48:1+53}{high@54}.PO{sat@50}{x@49} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1010 0--1 1--- b=r20"
            "0100 1010 0--1 1--- b=c"
            "0101 0010 0--1 1--- b=r39 c=c"
            "0011 010- 0--1 1--- b=i"
        }
    }
    /// Low or high word of A * B, + C; B a 32-bit immediate, C the destination register.
    Imad32i (exact multiply::imad) {
        "IMAD32I{mul_signs@54:1+57}{high@53} {d}{cc@52}, {a -56}, {b}, {c=r0 -55}" {
            "0001 00-- b=i32"
        }
        "IMAD32I{mul_signs@54:1+57}{high@53}.PO {d}{cc@52}, {a}, {b}, {c=r0}" {
            "0001 00-1 1--- b=i32"
        }
    }
    /// Multiply and add of parts.
    Imadsp unimplemented {
        "IMADSP{imadsp_au@49}{imadsp_bu@54}{imadsp_cu@51} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1010 1-0- ---0 @51#11 b=r20"
            "0100 1010 1-0- ---0 @51#11 b=c"
            "0101 0010 1-0- ---0 @51#11 b=r39 c=c"
            "0011 010- 1-0- ---0 @51#11 b=i"
        }
        "IMADSP{imadsp_as@49}{imadsp_b@53}{imadsp_cs@51} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1010 1--- ---1 @51#11 b=r20"
            "0100 1010 1--- ---1 @51#11 b=c"
            "0101 0010 1--- ---1 @51#11 b=r39 c=c"
            "0011 010- 1--- ---1 @51#11 b=i"
        }
        "IMADSP{imadsp_au@49}{imadsp_bs@54}{imadsp_cs@51} {d}{cc@47}, {a}, {b}, {c}" {
            "0101 1010 1-1- ---0 @51#11 b=r20"
            "0100 1010 1-1- ---0 @51#11 b=c"
            "0101 0010 1-1- ---0 @51#11 b=r39 c=c"
            "0011 010- 1-1- ---0 @51#11 b=i"
        }
    }
    /// Minimum if the predicate is true, else maximum.
    Imnmx (exact compare::imnmx) {
        "IMNMX{sign@48}{min_max_word@43} {d}{cc@47}, {a}, {b}, {ps !42}" {
            "0101 1100 0010 0--- b=r20"
            "0100 1100 0010 0--- b=c"
            "0011 100- 0010 0--- b=i"
        }
    }
    /// A if C compares with 0, else B.
    Icmp (exact compare::icmp) {
        "ICMP{int_compare@49}{sign@48} {d}, {a}, {b}, {c}" {
            "0101 1011 0100 ---- b=r20"
            "0100 1011 0100 ---- b=c"
            "0101 0011 0100 ---- b=r39 c=c"
            "0011 011- 0100 ---- b=i"
        }
    }
    /// Compare and set a register.
    Iset (exact compare::iset) {
        "ISET{bool_float@44}{int_compare@49}{sign@48}{x@43}{bool_op@45} {d}{cc@47}, {a}, {b}, {ps !42}" {
            "0101 1011 0101 ---- b=r20"
            "0100 1011 0101 ---- b=c"
            "0011 011- 0101 ---- b=i"
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

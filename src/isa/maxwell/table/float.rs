//! F32 and F64 arithmetic and comparison.

family! { ($) float {
    /// A + B.
    Fadd (exact float::fadd) {
        "FADD{ftz@44}{rounding@39}{sat@50} {d}{cc@47}, {a -48 |46}, {b -45 |49 %2}" {
            "0101 1100 0101 1--- b=r20"
            "0100 1100 0101 1--- b=c"
            "0011 100- 0101 1--- b=f"
        }
    }
    /// A + B, B a 32-bit immediate.
    Fadd32i (exact float::fadd) {
        "FADD32I{ftz@55} {d}{cc@52}, {a -56 |54}, {b -53 |57}" {
            "0000 10-- b=f32"
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
    /// A * B, B a 32-bit immediate.
    Fmul32i (exact float::fmul) {
        "FMUL32I{flush@53}{sat@55} {d}{cc@52}, {a}, {b}" {
            "0001 1110 b=f32"
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
    /// A * B + C, rounded once; B a 32-bit immediate, C the destination register.
    Ffma32i (exact float::ffma) {
        "FFMA32I{flush@53}{sat@55} {d}{cc@52}, {a -56}, {b}, {c=r0 -57}" {
            "0000 11-- b=f32"
        }
    }
    /// Minimum if the predicate is true, else maximum.
    Fmnmx (exact float::fmnmx) {
        "FMNMX{ftz@44} {d}{cc@47}, {a -48 |46}, {b -45 |49}, {ps !42}" {
            "0101 1100 0110 0--- b=r20"
            "0100 1100 0110 0--- b=c"
            "0011 100- 0110 0--- b=f"
        }
    }
    /// A if C compares with 0, else B.
    Fcmp (exact float_compare::fcmp) {
        "FCMP{fcmp_compare@48}{ftz@47} {d}, {a}, {b}, {c}" {
            "0101 1011 1010 ---- b=r20"
            "0100 1011 1010 ---- b=c"
            "0101 0011 1010 ---- b=r39 c=c"
            "0011 011- 1010 ---- b=f"
        }
    }
    /// Compare and set a register.
    Fset (exact float_compare::fset) {
        "FSET{bool_float@52}{float_compare@48}{ftz@55}{bool_op@45} {d}{cc@47}, {a -43 |54}, {b -53 |44}, {ps !42}" {
            "0101 1000 ---- ---- b=r20"
            "0100 1000 ---- ---- b=c"
            "0011 000- ---- ---- b=f"
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
    /// Whether A / B needs the slow path.
    Fchk (approximate "true in every unsafe case, and in some more" float::fchk) {
        "FCHK{check_mode@39} {pd}, {a -48 |46}, {b -45 |49}" {
            "0101 1100 1000 1--- b=r20"
            "0100 1100 1000 1--- b=c"
            "0011 100- 1000 1--- b=f"
        }
    }
    /// Prepares the operand of MUFU.
    Rro (approximate "a float: the prepared form is private to MUFU" transcendental::rro) {
        "RRO{range_reduction@39} {d}, {b -45 |49}" {
            "0101 1100 1001 0--- b=r20"
            "0100 1100 1001 0--- b=c"
            "0011 100- 1001 0--- b=f"
        }
    }
    /// Approximate functions of A.
    Mufu (approximate "RCP and RSQ are correctly rounded, the others as an H200 has them" transcendental::mufu) {
        "MUFU{mufu_op@20}{sat@50} {d}, {a -48 |46}" {
            "0101 0000 1000 0---"
        }
    }
    /// Adds A and B with separate signs for each lane of a quad.
    Fswzadd (exact float::fswzadd) {
        "FSWZADD{ftz@44}{rounding@39}{ndv@38} {d}{cc@47}, {a}, {b}, {swizzle@28:8}" {
            "0101 0000 1111 1--- b=r20"
        }
    }
    /// A + B.
    Dadd (exact double::dadd) {
        "DADD{rounding@39} {d}{cc@47}, {a -48 |46}, {b -45 |49 %2}" {
            "0101 1100 0111 0--- b=r20"
            "0100 1100 0111 0--- b=c"
            "0011 100- 0111 0--- b=d"
        }
    }
    /// A * B.
    Dmul (exact double::dmul) {
        "DMUL{rounding@39} {d}{cc@47}, {a}, {b -48}" {
            "0101 1100 1000 0--- b=r20"
            "0100 1100 1000 0--- b=c"
            "0011 100- 1000 0--- b=d"
        }
    }
    /// A * B + C, rounded once.
    Dfma (exact double::dfma) {
        "DFMA{rounding@50} {d}{cc@47}, {a}, {b -48}, {c -49}" {
            "0101 1011 0111 ---- b=r20"
            "0100 1011 0111 ---- b=c"
            "0101 0011 0111 ---- b=r39 c=c"
            "0011 011- 0111 ---- b=d"
        }
    }
    /// Minimum if the predicate is true, else maximum.
    Dmnmx (exact double::dmnmx) {
        "DMNMX {d}{cc@47}, {a -48 |46}, {b -45 |49}, {ps !42}" {
            "0101 1100 0101 0--- b=r20"
            "0100 1100 0101 0--- b=c"
            "0011 100- 0101 0--- b=d"
        }
    }
    /// Compare and set a register.
    Dset (exact float_compare::dset) {
        "DSET{bool_float@52}{float_compare@48}{bool_op@45} {d}{cc@47}, {a -43 |54}, {b -53 |44}, {ps !42}" {
            "0101 1001 0--- ---- b=r20"
            "0100 1001 0--- ---- b=c"
            "0011 001- 0--- ---- b=d"
        }
    }
    /// Compare and set two predicates.
    Dsetp (exact float_compare::dsetp) {
        "DSETP{float_compare@48}{bool_op@45} {pd}, {pe}, {a -43 |7}, {b -6 |44}, {ps !42}" {
            "0101 1011 1000 ---- b=r20"
            "0100 1011 1000 ---- b=c"
            "0011 011- 1000 ---- b=d"
        }
    }
} }

//! Moves and selection: registers, predicates, special registers, lanes.

family! { ($) moves {
    /// Moves B.
    Mov (exact moves::mov) {
        "MOV {d}, {b}, {quad_mask@39:4}" {
            "0101 1100 1001 1--- b=r20"
            "0100 1100 1001 1--- b=c"
            "0011 100- 1001 1--- b=i"
        }
    }
    /// Moves a 32-bit immediate.
    Mov32i (exact moves::mov) {
        "MOV32I {d}, {b}, {quad_mask@12:4}" {
            "0000 0001 0000 ---- b=b32"
        }
    }
    /// A if the predicate is true, else B.
    Sel (exact compare::sel) {
        "SEL {d}, {a}, {b}, {ps !42}" {
            "0101 1100 1010 0--- b=r20"
            "0100 1100 1010 0--- b=c"
            "0011 100- 1010 0--- b=i"
        }
    }
    /// Reads a special register.
    S2r (exact moves::s2r) {
        "S2R {d}, {special_register@20:8}" {
            "1111 0000 1100 1---"
        }
    }
    /// Reads a special register without waiting.
    Cs2r (approximate "clocks count guest instructions" moves::s2r) {
        "CS2R {d}, {special_register@20:8}" {
            "0101 0000 1100 1---"
        }
    }
    /// Moves predicates or CC to a byte of a register.
    P2r (exact predicate::p2r) {
        "P2R{byte_index@41} {d}, {pred_file@40}, {a}, {b}" {
            "0101 1100 1110 1--- b=r20"
            "0100 1100 1110 1--- b=c"
            "0011 100- 1110 1--- b=i"
        }
    }
    /// Moves a byte of a register to predicates or CC.
    R2p (exact predicate::r2p) {
        "R2P {pred_file@40}, {a .B41}, {b}" {
            "0101 1100 1111 0--- b=r20"
            "0100 1100 1111 0--- b=c"
            "0011 100- 1111 0--- b=b"
        }
    }
    /// Writes predicate logic to a register.
    Pset (exact predicate::pset) {
        "PSET{bool_float@44}{bool_op@24}{bool_op2@45} {d}{cc@47}, {pa=p12 !15}, {pb=p29 !32}, {ps !42}" {
            "0101 0000 1000 1---"
        }
    }
    /// Writes predicate logic to two predicates.
    Psetp (exact predicate::psetp) {
        "PSETP{bool_op@24}{bool_op2@45} {pd}, {pe}, {pa=p12 !15}, {pb=p29 !32}, {ps !42}" {
            "0101 0000 1001 0---"
        }
    }
    /// Writes a test of CC to a register.
    Cset (exact predicate::cset) {
        "CSET{bool_float@44}{cc_compare@8}{bool_op@45} {d}{cc@47}, CC, {ps !42}" {
            "0101 0000 1001 1---"
        }
    }
    /// Writes a test of CC to two predicates.
    Csetp (exact predicate::csetp) {
        "CSETP{cc_compare@8}{bool_op@45} {pd}, {pe}, CC, {ps !42}" {
            "0101 0000 1010 0---"
        }
    }
    /// Address of the next instruction.
    Lepc unimplemented {
        "LEPC {d}" {
            "0101 0000 1101 0---"
        }
    }
    /// Returns the lanes where the predicate is true, and whether it is true in any lane, true in
    /// all lanes, or equal in all lanes.
    Vote (exact warp::vote) {
        "VOTE{vote_mode@48} {d ?}, {pd=p45}, {ps !42}" {
            "0101 0000 1101 1---"
        }
    }
    /// A vote of graphics programs.
    VoteVtg (approximate "taken for a hint" attribute::vote_vtg) {
        "VOTE.VTG{vote_vtg_mode@48} {number@20:28}" {
            "0101 0000 1110 0---"
        }
    }
    /// Reads A of another lane, chosen by B and C.
    Shfl (exact warp::shfl) {
        "SHFL{shuffle_mode@30} {pd=p48}, {d}, {a}, {b}, {c}" {
            "1110 1111 0001 0--- @28=00 b=r20"
            "1110 1111 0001 0--- @28=01 b=u20:5"
            "1110 1111 0001 0--- @28=10 b=r20 c=u34:13"
            "1110 1111 0001 0--- @28=11 b=u20:5 c=u34:13"
        }
    }
} }

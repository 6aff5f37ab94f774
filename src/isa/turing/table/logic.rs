//! Bitwise operations, moves and selection.

family! { ($) logic {
    /// Any function of the bits of A, B and C.
    Lop3 (exact bits::lop3) {
        "LOP3.LUT{pand@80} {pd ?}, {d}, {a}, {b}, {c}, {truth_table@72:8}, {ps !90}" {
            b3 "012" "b" "" "";
        }
    }
    /// Two functions of three predicates.
    Plop3 (exact bits::plop3) {
        "PLOP3.LUT {pd}, {pe}, {pa !90}, {pb=p77 !80}, {pc=p68 !71}, {truth_table@64:3+72:5}, \
            {second_truth_table@16:8}" {
            one "o01c @9=100 @67=0 @91=0";
        }
        "PLOP3.LUT {pd}, {pe}, {pa !90}, {pb=p77 !80}, {pc=up68 !71}, {truth_table@64:3+72:5}, \
            {second_truth_table@16:8}" {
            one "o01c @9=100 @67=1 @91=0";
        }
        "PLOP3.LUT {pd}, {pe}, {pa !90}, {b}, {pc=p68 !71}, {truth_table@72:8}, \
            {second_truth_table@16:8}" {
            noimm "01d" " .G0";
        }
        "PLOP3.LUT {pd}, {pe}, {pa !90}, {b}, {c .G0}, {truth_table@72:8}, \
            {second_truth_table@16:8}" {
            noimm "01e" " .G0";
        }
        "PLOP3.LUT {pd}, {pe}, {a .G0}, {b}, {c .G0}, {truth_table@72:8}, \
            {second_truth_table@16:8}" {
            noimm "01f" " .G0";
        }
    }
    /// Bytes of A and C, chosen by B.
    Prmt (exact bits::prmt) {
        "PRMT{permute_mode@72} {d}, {a}, {b}, {c}" {
            b3 "016" "b" "" "";
            c "016" "b" "" "";
        }
    }
    /// Sign extension of A from bit B.
    Sgxt (exact bits::sgxt) {
        "SGXT{wrap@75}{signed@73} {d}, {a}, {b}" {
            b "01a" "b" "";
        }
    }
    /// B ones from bit A.
    Bmsk (exact bits::bmsk) {
        "BMSK{wrap@75} {d}, {a}, {b}" {
            b "01b" "b" "";
        }
    }
    /// The highest bit that differs from the sign.
    Flo (exact bits::flo) {
        "FLO{signed@73}{shift_amount@74} {d}, {pd ?}, {b}" {
            b "100" "b" " ~63";
        }
    }
    /// Bits in reverse order.
    Brev (exact bits::brev) {
        "BREV {d}, {b}" {
            b "101" "b" "";
        }
    }
    /// Number of ones.
    Popc (exact bits::popc) {
        "POPC {d}, {b}" {
            b "109" "b" " ~63";
        }
    }
    Mov (exact moves::mov) {
        "MOV {d}, {b}, {quad_mask@72:4}" {
            b "002" "b" "";
        }
    }
    /// A if the predicate is true, else B.
    Sel (exact compare::sel) {
        "SEL {d}, {a}, {b}, {ps !90}" {
            b "007" "b" "";
        }
    }
    /// Predicates to bits of a byte.
    P2r (exact bits::p2r) {
        "P2R{byte_index@76} {d}, PR, {a}, {b}" {
            b "003" "i" "";
        }
    }
    /// Bits of a byte to predicates.
    R2p (exact bits::r2p) {
        "R2P PR, {a .B76}" {
            one "o004 @9=100 @32=00000000000000000000000011111111 @91=0";
        }
        "R2P PR, {a .B76}, {b}" {
            b "004" "b" "";
        }
    }
    S2r (exact moves::s2r) {
        "S2R {d}, {special_register@72:8}" {
            one "o119 @9=100 @91=0";
        }
    }
    Cs2r (exact moves::cs2r) {
        "CS2R{clock_width@80} {d}, {special_register@72:8}" {
            one "o005 @9=100 @91=0";
        }
    }
    /// The state of a barrier.
    B2r unimplemented {
        "B2R {d}, {barrier@54:4}" {
            one "o11c @9=001 @78=00 @91=0";
        }
    }
    /// The result of a reducing barrier.
    B2rResult (exact moves::b2r_result) {
        "B2R.RESULT {d}, {pd ?}" {
            one "o11c @9=001 @78=01 @91=0";
        }
    }
    /// The state of the warp.
    B2rWarp unimplemented {
        "B2R.WARP {d}" {
            one "o11c @9=001 @78=10 @91=0";
        }
    }
} }

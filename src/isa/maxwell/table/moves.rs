//! Moves between registers, predicates and special registers.

family! { ($) moves {
    /// B.
    Mov (exact moves::mov) {
        "MOV {d}, {b}, {byte_mask@39:4}" {
            "0101 1100 1001 1--- b=r20"
            "0100 1100 1001 1--- b=c"
            "0011 100- 1001 1--- b=i"
        }
    }
    /// Special register.
    S2r (exact moves::s2r) {
        "S2R {d}, {special_register@20:8}" {
            "1111 0000 1100 1---"
        }
    }
} }

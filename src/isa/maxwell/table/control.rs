//! Control flow, barriers and what has no operands.

family! { ($) control {
    /// No operation.
    Nop (exact control::nop) {
        "NOP {cc_test@8}" {
            "0101 0000 1011 0---"
        }
    }
    /// Relative branch.
    Bra (exact control::bra) {
        "BRA{uniform@7}{limit@6} {cc_test@0}, {t}" {
            "1110 0010 0100 ---- @5=0"
        }
    }
    /// Branch to a register plus an offset.
    Brx (exact control::brx) {
        "BRX {a} {t}" {
            "1110 0010 0101 ---- @5=0"
        }
    }
    /// Ends the lanes.
    Exit (exact control::exit) {
        "EXIT {cc_test@0}" {
            "1110 0011 0000 ----"
        }
    }
    /// Pushes a reconvergence point.
    Ssy (exact control::ssy) {
        "SSY {t}" {
            "1110 0010 1001 ---- @5=0"
        }
    }
    /// Lanes wait at the nearest reconvergence point.
    Sync (exact control::sync) {
        "SYNC {cc_test@0}" {
            "1111 0000 1111 1---"
        }
    }
} }

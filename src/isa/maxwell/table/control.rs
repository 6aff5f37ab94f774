//! Control flow, barriers, scoreboards and traps.

family! { ($) control {
    /// No operation.
    Nop (exact control::nop) {
        "NOP{trigger@13} {cc_condition@8:5}, {tag@20:16}" {
            "0101 0000 1011 0---"
        }
    }
    /// Relative branch.
    Bra (exact control::bra) {
        "BRA{uniform@7}{limit@6} {cc_condition@0:5}, {t}" {
            "1110 0010 0100 ---- @5=0"
        }
    }
    /// Relative branch with the offset in a constant.
    BraConst unimplemented {
        "BRA{uniform@7}{limit@6} {cc_condition@0:5}, {b=w}" {
            "1110 0010 0100 ---- @5=1"
        }
    }
    /// Absolute branch.
    Jmp (exact control::bra) {
        "JMP{uniform@7}{limit@6} {cc_condition@0:5}, {t=t32}" {
            "1110 0010 0001 ---- @5=0"
        }
        "JMP{uniform@7}{limit@6} {cc_condition@0:5}, {b=w}" {
            "1110 0010 0001 ---- @5=1"
        }
    }
    /// Indirect relative branch.
    Brx (exact control::brx) {
        "BRX{limit@6} {cc_condition@0:5}, {a} {code_offset@20:24}" {
            "1110 0010 0101 ---- @5=0"
        }
        "BRX{limit@6} {cc_condition@0:5}, {m=k}" {
            "1110 0010 0101 ---- @5=1"
        }
    }
    /// Indirect absolute branch.
    Jmx (exact control::jmx) {
        "JMX{limit@6} {cc_condition@0:5}, {a} {code_offset@20:32}" {
            "1110 0010 0000 ---- @5=0"
        }
        "JMX{limit@6} {cc_condition@0:5}, {m=k}" {
            "1110 0010 0000 ---- @5=1"
        }
    }
    /// Relative call.
    Cal (exact control::cal) {
        "*CAL{call_count@6} {t}" {
            "1110 0010 0110 ---- @5=0"
        }
        "*CAL{call_count@6} {b=w}" {
            "1110 0010 0110 ---- @5=1"
        }
    }
    /// Absolute call.
    Jcal (exact control::cal) {
        "*JCAL{call_count@6} {t=t32}" {
            "1110 0010 0010 ---- @5=0"
        }
        "*JCAL{call_count@6} {b=w}" {
            "1110 0010 0010 ---- @5=1"
        }
    }
    /// Pushes the return point of an indirect call.
    Pret (exact control::pret) {
        "*PRET{call_count@6} {t}" {
            "1110 0010 0111 ---- @5=0"
        }
        "*PRET{call_count@6} {b=w}" {
            "1110 0010 0111 ---- @5=1"
        }
    }
    /// Pushes a reconvergence point.
    Ssy (exact control::ssy) {
        "*SSY {t}" {
            "1110 0010 1001 ---- @5=0"
        }
        "*SSY {b=w}" {
            "1110 0010 1001 ---- @5=1"
        }
    }
    /// Pushes the end of a loop.
    Pbk (exact control::pbk) {
        "*PBK {t}" {
            "1110 0010 1010 ---- @5=0"
        }
        "*PBK {b=w}" {
            "1110 0010 1010 ---- @5=1"
        }
    }
    /// Pushes the continuation point of a loop.
    Pcnt (exact control::pcnt) {
        "*PCNT {t}" {
            "1110 0010 1011 ---- @5=0"
        }
        "*PCNT {b=w}" {
            "1110 0010 1011 ---- @5=1"
        }
    }
    /// Pushes the target of LONGJMP.
    Plongjmp unimplemented {
        "*PLONGJMP {t}" {
            "1110 0010 1000 ---- @5=0"
        }
        "*PLONGJMP {b=w}" {
            "1110 0010 1000 ---- @5=1"
        }
    }
    /// Pushes the place where lanes go when they exit.
    Pexit unimplemented {
        "*PEXIT {t}" {
            "1110 0010 0011 ----"
        }
    }
    /// Lanes wait at the nearest reconvergence point.
    Sync (exact control::sync) {
        "SYNC {cc_condition@0:5}" {
            "1111 0000 1111 1---"
        }
    }
    /// Lanes leave their loop.
    Brk (exact control::brk) {
        "BRK {cc_condition@0:5}" {
            "1110 0011 0100 ----"
        }
    }
    /// Lanes go to the continuation point of their loop.
    Cont (exact control::cont) {
        "CONT {cc_condition@0:5}" {
            "1110 0011 0101 ----"
        }
    }
    /// Lanes return from a call.
    Ret (exact control::ret) {
        "RET {cc_condition@0:5}" {
            "1110 0011 0010 ----"
        }
    }
    /// Lanes go to the target that PLONGJMP pushed.
    Longjmp unimplemented {
        "LONGJMP {cc_condition@0:5}" {
            "1110 0011 0001 ----"
        }
    }
    /// Ends the lanes.
    Exit (exact control::exit) {
        "EXIT{keep_refcount@5} {cc_condition@0:5}" {
            "1110 0011 0000 ----"
        }
    }
    /// Discards the pixels.
    Kil (approximate "what pixels do behind it is not documented: they go on as helpers" pixel::kil) {
        "KIL {cc_condition@0:5}" {
            "1110 0011 0011 ----"
        }
    }
    /// Returns from a trap handler.
    Rtt unimplemented {
        "*RTT{trap_return@0}" {
            "1110 0011 0110 ----"
        }
    }
    /// Makes all lanes active.
    Sam (approximate "what it does to lanes that do not exist is not documented: see docs/fidelity.md" control::sam) {
        "*SAM" {
            "1110 0011 0111 ----"
        }
    }
    /// Restores the active lanes.
    Ram (approximate "what it does to lanes that do not exist is not documented: see docs/fidelity.md" control::ram) {
        "*RAM" {
            "1110 0011 1000 ----"
        }
    }
    /// Enables or disables interrupts.
    Ide unimplemented {
        "*IDE{interrupt_enable@5} {number@20:16}" {
            "1110 0011 1001 ----"
        }
    }
    /// Breakpoint or trap.
    Bpt (exact control::bpt) {
        "*BPT{breakpoint_kind@6} {tag@20:20}" {
            "1110 0011 1010 ----"
        }
    }
    /// Reads the pointer to the call stack.
    Getcrsptr unimplemented {
        "*GETCRSPTR {d}" {
            "1110 0010 1100 ----"
        }
    }
    /// Reads the base of local memory.
    Getlmembase unimplemented {
        "*GETLMEMBASE {d}" {
            "1110 0010 1101 ----"
        }
    }
    /// Sets the pointer to the call stack.
    Setcrsptr unimplemented {
        "*SETCRSPTR {a}" {
            "1110 0010 1110 ----"
        }
    }
    /// Sets the base of local memory.
    Setlmembase unimplemented {
        "*SETLMEMBASE {a}" {
            "1110 0010 1111 ----"
        }
    }
    /// Waits for scoreboards.
    Depbar (exact control::nop) {
        "DEPBAR {scoreboard_mask@0:6}" {
            "1111 0000 1111 0--- @29=0"
        }
        "DEPBAR.LE {scoreboard@26}, {scoreboard_count@20:6}, {scoreboard_mask@0:6}" {
            "1111 0000 1111 0--- @29=1"
        }
    }
} }

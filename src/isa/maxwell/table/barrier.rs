//! Barriers of the thread block. A is the barrier's number, B the count of threads.

family! { ($) barrier {
    /// Waits until the threads have arrived.
    BarSync (exact barrier::bar_sync) {
        "BAR.SYNC {a}, {b}" {
            "1111 0000 1010 1--- @32=000 @39=0111 @43=00 b=r20"
            "1111 0000 1010 1--- @32=000 @39=0111 @43=01 b=u20:12 ?"
            "1111 0000 1010 1--- @32=000 @39=0111 @43=10 a=u8:8 b=r20"
            "1111 0000 1010 1--- @32=000 @39=0111 @43=11 a=u8:8 b=u20:12 ?"
        }
    }
    /// Arrives and goes on.
    BarArv (exact barrier::bar_arv) {
        "BAR.ARV {a}, {b}" {
            "1111 0000 1010 1--- @32=001 @39=0111 @43=00 b=r20"
            "1111 0000 1010 1--- @32=001 @39=0111 @43=01 b=u20:12"
            "1111 0000 1010 1--- @32=001 @39=0111 @43=10 a=u8:8 b=r20"
            "1111 0000 1010 1--- @32=001 @39=0111 @43=11 a=u8:8 b=u20:12"
        }
    }
    /// Waits, and combines a predicate of all threads.
    BarRed (exact barrier::bar_red) {
        "BAR.RED{barrier_reduction@35} {a}, {b}, {ps !42}" {
            "1111 0000 1010 1--- @32=010 @43=00 b=r20"
            "1111 0000 1010 1--- @32=010 @43=01 b=u20:12 ?"
            "1111 0000 1010 1--- @32=010 @43=10 a=u8:8 b=r20"
            "1111 0000 1010 1--- @32=010 @43=11 a=u8:8 b=u20:12 ?"
        }
    }
    /// Waits, and counts the predicate over the preceding threads.
    BarScan unimplemented {
        "BAR.SCAN {a}, {b}, {ps !42}" {
            "1111 0000 1010 1--- @32=011 @43=00 b=r20"
            "1111 0000 1010 1--- @32=011 @43=01 b=u20:12"
            "1111 0000 1010 1--- @32=011 @43=10 a=u8:8 b=r20"
            "1111 0000 1010 1--- @32=011 @43=11 a=u8:8 b=u20:12"
        }
    }
    /// Waits for all threads.
    BarSyncall unimplemented {
        "*BAR.SYNCALL" {
            "1111 0000 1010 1--- @32=100 @39=0111 @20=11111111"
        }
    }
    /// Reads a barrier, or the result of the last reduction.
    B2r (exact barrier::b2r) {
        "B2R{barrier_part@32} {d}, {number@8:8}" {
            "1111 0000 1011 1--- @32=00"
            "1111 0000 1011 1--- @32=11"
        }
        "B2R{barrier_part@32} {d}, {pd=p45 ?}" {
            "1111 0000 1011 1--- @32=01 @8=11111111"
        }
        "B2R{barrier_part@32} {d}" {
            "1111 0000 1011 1--- @32=10 @8=11111111"
        }
    }
    /// Writes a barrier.
    R2b unimplemented {
        "R2B{barrier_part@32} {number@28:4}, {b=r20}" {
            "1111 0000 1100 0---"
        }
    }
} }

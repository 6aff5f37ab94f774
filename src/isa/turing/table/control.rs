//! Control flow, barriers, special registers.

family! { ($) control {
    Bra (exact control::bra) {
        "BRA{call_depth@85}{branch_convergence@32} {ps !90 ?}, {t}" {
            one "o147 @9=100 @91=0";
        }
        "BRA{call_depth@85}{branch_vote@32} {ps !90 ?}, {a=ur24 ~30}, {t}" {
            one "o147 @9=100 @91=1";
        }
        "BRA{call_depth@85}{branch_uniform@32} {ps !90 ?}, {pa=up24 !27}, {t}" {
            one "o147 @9=010 @91=1";
        }
    }
    Brx (exact control::brx) {
        "BRX{call_depth@85} {ps !90 ?}, {a} {code_offset@34:48}" {
            one "o149 @9=100 @91=0 <=89";
        }
        "BRX{call_depth@85} {ps !90 ?}, {a} {code_offset@16:8+34:48}" {
            one "o149 @9=100 @91=0 >=90";
        }
    }
    Brxu (exact control::brx) {
        "BRXU{call_depth@85}{branch_convergence@32} {ps !90 ?}, {a=ur24} {code_offset@34:48}" {
            one "o158 @9=100 @91=1 <=89";
        }
        "BRXU{call_depth@85}{branch_convergence@32} {ps !90 ?}, {a=ur24} {code_offset@16:8+34:48}" {
            one "o158 @9=100 @91=1 >=90";
        }
    }
    Jmp (exact control::bra) {
        "JMP{call_depth@85}{branch_convergence@32} {ps !90 ?}, {t=ta}" {
            one "o14a @9=100 @91=0";
        }
        "JMP{call_depth@85}{branch_vote@32} {ps !90 ?}, {a=ur24 ~30}, {t=ta}" {
            one "o14a @9=100 @91=1";
        }
        "JMP{call_depth@85}{branch_convergence@32} {ps !90 ?}, {b}" {
            one "o14a @9=101 @91=0 b=c";
        }
        "JMP{call_depth@85}{branch_vote@32} {ps !90 ?}, {a=ur24 ~30}, {b}" {
            one "o14a @9=101 @91=1 b=c";
        }
        "JMP{call_depth@85}{branch_uniform@32} {ps !90 ?}, {pa=up24 !27}, {t=ta}" {
            one "o14a @9=010 @91=1";
        }
        "JMP{call_depth@85}{branch_uniform@32} {ps !90 ?}, {pa=up24 !27}, {b}" {
            one "o14a @9=011 @91=1 b=c";
        }
    }
    Jmx (exact control::jmx) {
        "JMX{call_depth@85} {ps !90 ?}, {a} {code_offset@34:48}" {
            one "o14c @9=100 @91=0 <=89";
        }
        "JMX{call_depth@85} {ps !90 ?}, {a} {code_offset@16:8+34:48}" {
            one "o14c @9=100 @91=0 >=90";
        }
    }
    Jmxu (exact control::jmx) {
        "JMXU{call_depth@85}{branch_convergence@32} {ps !90 ?}, {a=ur24} {code_offset@34:48}" {
            one "o159 @9=100 @91=1 <=89";
        }
        "JMXU{call_depth@85}{branch_convergence@32} {ps !90 ?}, {a=ur24} {code_offset@16:8+34:48}" {
            one "o159 @9=100 @91=1 >=90";
        }
    }
    Call (exact control::call) {
        "CALL.ABS{no_increment@86} {ps !90 ?}, {t=ta}" {
            one "o143 @9=100 @91=0";
        }
        "CALL.ABS{no_increment@86} {ps !90 ?}, {a=ur24} {code_offset@34:48}" {
            one "o143 @9=100 @91=1 <=89";
        }
        "CALL.ABS{no_increment@86} {ps !90 ?}, {a=ur24} {code_offset@16:8+34:48}" {
            one "o143 @9=100 @91=1 >=90";
        }
        "CALL.ABS{no_increment@86} {ps !90 ?}, {a} {code_offset@34:48}" {
            one "o143 @9=001 @91=0 <=89";
        }
        "CALL.ABS{no_increment@86} {ps !90 ?}, {a} {code_offset@16:8+34:48}" {
            one "o143 @9=001 @91=0 >=90";
        }
        "CALL.ABS{no_increment@86} {ps !90 ?}, {b}" {
            one "o143 @9=101 @91=0 b=c";
        }
        "CALL.REL{no_increment@86} {ps !90 ?}, {t}" {
            one "o144 @9=100 @91=0";
        }
        "CALL.REL{no_increment@86} {ps !90 ?}, {a=ur24} {t}" {
            one "o144 @9=100 @91=1";
        }
        "CALL.REL{no_increment@86} {ps !90 ?}, {a} {t}" {
            one "o144 @9=001 @91=0";
        }
    }
    Ret (exact control::ret) {
        "RET.ABS{no_decrement@86} {ps !90 ?}, {a} {t=tr}" {
            one "o150 @9=100 @85=1 @91=0";
        }
        "RET.ABS{no_decrement@86} {ps !90 ?}, {a=ur24} {t=tr}" {
            one "o150 @9=100 @85=1 @91=1";
        }
        "RET.REL{no_decrement@86} {ps !90 ?}, {a} {t}" {
            one "o150 @9=100 @85=0 @91=0";
        }
        "RET.REL{no_decrement@86} {ps !90 ?}, {a=ur24} {t}" {
            one "o150 @9=100 @85=0 @91=1";
        }
    }
    Exit (exact control::exit) {
        "EXIT{exit_mode@84}{no_atexit@86} {ps !90 ?}" {
            one "o14d @9=100 @91=0";
        }
    }
    Kill unimplemented {
        "KILL {ps !90 ?}" {
            one "o15b @9=100 @91=0";
        }
    }
    Bssy (exact control::bssy) {
        "BSSY {ps !90 ?}, {e=cb16}, {t=ts}" {
            one "o145 @9=100 @91=0";
        }
    }
    Bsync (exact control::bsync) {
        "BSYNC {ps !90 ?}, {e=cb16}" {
            one "o141 @9=100 @91=0";
        }
    }
    Break (exact control::break_) {
        "BREAK {ps !90 ?}, {e=cb16}" {
            one "o142 @9=100 @91=0";
        }
    }
    Yield (exact control::nop) {
        "YIELD {ps !90 ?}" {
            one "o146 @9=100 @91=0";
        }
    }
    Warpsync (exact control::warpsync) {
        "WARPSYNC {ps !90 ?}, {b}" {
            one "o148 @9=100 @91=0 <=89 b=b";
            one "o148 @9=101 @91=0 b=c";
            one "o148 @9=101 @91=1 b=cx";
            one "o148 @9=110 @91=1 b=ur32";
        }
        "WARPSYNC{exclusive@86} {ps !90 ?}, {b}" {
            one "o148 @9=001 @91=0 <=89 b=r32";
        }
        "WARPSYNC{exclusive@85} {ps !90 ?}, {a}" {
            one "o148 @9=001 @86=0 @91=0 >=90";
        }
        "WARPSYNC.ALL {ps !90 ?}" {
            one "o148 @9=100 @91=0 >=90";
        }
        "WARPSYNC.COLLECTIVE {ps !90 ?}, {a}, {t}" {
            one "o148 @9=001 @86=1 @91=0 >=90";
        }
    }
    Nanosleep (exact control::nop) {
        "NANOSLEEP{sleep_mode@85} {ps !90 ?}, {b}" {
            noimm "15d" "";
            one "o15d @9=100 @83=0 @91=0 b=b";
        }
        "NANOSLEEP{sleep_mode@85}.SYNCS {ps !90 ?}, {b}" {
            noimm "15d @84=1 >=90" "";
            one "o15d @9=100 @83=0 @84=1 @91=0 >=90 b=b";
        }
        "NANOSLEEP.CLEAR {ps !90 ?}" {
            one "o15d @9=100 @83=1 @91=0";
        }
    }
    /// From a register of convergence.
    BmovFrom (exact control::bmov_from) {
        "BMOV.32{clear@84} {d}, {barrier_register@24:6}" {
            one "o155 @9=001 @91=0";
        }
        "BMOV.32{clear@84} {e=cb16}, {barrier_register@24:6}" {
            one "o155 @9=111 @91=0";
        }
    }
    /// To a register of convergence.
    BmovTo (exact control::bmov_to) {
        "BMOV.32{pquad@84} {barrier_register@24:6}, {b}" {
            b "156" "b" "";
        }
        "BMOV.32{pquad@84} {barrier_register@24:6}, {e=cb16}" {
            one "o156 @9=111 @91=0";
        }
    }
    /// To the address of the handler of EXIT.
    BmovWide unimplemented {
        "BMOV.64 ATEXIT_PC, {b}" {
            noimm "157" "";
        }
        "BMOV.64 ATEXIT_PC, {t=ta}" {
            one "o157 @9=100 @91=0";
        }
    }
    Rpcmov unimplemented {
        "RPCMOV.32 Rpc{rpc_word@31}, {b}" {
            b "152" "b" " %1";
        }
        "RPCMOV.32 {d}, Rpc{rpc_word@31}" {
            one "o153 @9=001 @91=0";
        }
        "RPCMOV.64 Rpc, {b}" {
            noimm "154" "";
        }
        "RPCMOV.64 Rpc, {t=ta}" {
            one "o154 @9=100 @91=0";
        }
    }
    Lepc (exact moves::lepc) {
        "LEPC {d}" {
            one "o14e @9=001 @91=0";
        }
    }
    Bpt (exact control::bpt) {
        "BPT{breakpoint_kind@84} {breakpoint_number@34:3}" {
            one "o15c @9=100 @84#000 @84#001 @84#111 @91=0";
        }
    }
    Nop (exact control::nop) {
        "NOP" {
            one "o118 @9=100 @91=0";
        }
    }
    Pmtrig (exact control::nop) {
        "PMTRIG {ps !90 ?}, {number@32:16}" {
            one "o001 @9=100 @91=0";
        }
    }
    Vote (exact warp::vote) {
        "VOTE{vote_mode@72} {d ?}, {pd}, {ps !90}" {
            one "o006 @9=100 @91=0";
        }
    }
    MatchAll (exact warp::match_all) {
        "MATCH.ALL{match_wide@73} {pd}, {d}, {a}" {
            one "o1a1 @9=001 @79=0 @91=0";
        }
    }
    MatchAny (exact warp::match_any) {
        "MATCH.ANY{match_wide@73} {d}, {a}" {
            one "o1a1 @9=001 @79=1 @91=0";
        }
    }
    Shfl (exact warp::shfl) {
        "SHFL{shuffle_mode@58} {pd}, {d}, {a}, {b}, {c}" {
            one "o189 @9=001 @91=0 b=r32 c=r64";
            one "o189 @9=010 @91=0 b=r32 c=u40:13";
            one "o189 @9=100 @91=0 b=u53:5 c=r64";
            one "o189 @9=111 @91=0 b=u53:5 c=u40:13";
        }
    }
    Bar (exact control::bar) {
        "BAR.SYNC{defer_blocking@80} {barrier@54:4}, {b=r32}" {
            one "o11d @9=100 @77=000 @91=0";
        }
        "BAR.ARV {barrier@54:4}, {b=r32}" {
            one "o11d @9=100 @77=0001 @91=0";
        }
        "BAR.RED{barrier_reduction@74}{defer_blocking@80} {barrier@54:4}, {b=r32}, {ps !90}" {
            one "o11d @9=100 @77=010 @91=0";
        }
        "BAR.SCAN {barrier@54:4}, {b=r32}, {ps !90}" {
            one "o11d @9=100 @77=0011 @91=0";
        }
        "BAR.SYNC{defer_blocking@80} {b=r32}, {c=r32}" {
            one "o11d @9=001 @77=000 @91=0";
        }
        "BAR.ARV {b=r32}, {c=r32}" {
            one "o11d @9=001 @77=0001 @91=0";
        }
        "BAR.RED{barrier_reduction@74}{defer_blocking@80} {b=r32}, {c=r32}, {ps !90}" {
            one "o11d @9=001 @77=010 @91=0";
        }
        "BAR.SCAN {b=r32}, {c=r32}, {ps !90}" {
            one "o11d @9=001 @77=0011 @91=0";
        }
        "BAR.SYNC{defer_blocking@80} {b=r32}, {c=u42:12 ?}" {
            one "o11d @9=010 @77=000 @91=0";
        }
        "BAR.ARV {b=r32}, {c=u42:12}" {
            one "o11d @9=010 @77=0001 @91=0";
        }
        "BAR.RED{barrier_reduction@74}{defer_blocking@80} {b=r32}, {c=u42:12 ?}, {ps !90}" {
            one "o11d @9=010 @77=010 @91=0";
        }
        "BAR.SCAN {b=r32}, {c=u42:12}, {ps !90}" {
            one "o11d @9=010 @77=0011 @91=0";
        }
        "BAR.SYNC{defer_blocking@80} {barrier@54:4}, {b ?}" {
            one "o11d @9=101 @77=000 @91=0 b=u42:12";
        }
        "BAR.ARV {barrier@54:4}, {b}" {
            one "o11d @9=101 @77=0001 @91=0 b=u42:12";
        }
        "BAR.RED{barrier_reduction@74}{defer_blocking@80} {barrier@54:4}, {b ?}, {ps !90}" {
            one "o11d @9=101 @77=010 @91=0 b=u42:12";
        }
        "BAR.SCAN {barrier@54:4}, {b}, {ps !90}" {
            one "o11d @9=101 @77=0011 @91=0 b=u42:12";
        }
        "BAR.SYNCALL{defer_blocking@80}" {
            one "o11d @9=101 @77=100 @91=0";
        }
    }
    Depbar (exact control::nop) {
        "DEPBAR {scoreboard_mask@32:6}" {
            one "o11a @9=100 @47=0 @91=0";
        }
        "DEPBAR.LE {scoreboard@44}, {scoreboard_count@38:6}, {scoreboard_mask@32:6}" {
            one "o11a @9=100 @47=1 @91=0";
        }
    }
    Setctaid unimplemented {
        "SETCTAID{cta_dimension@78} {a}" {
            one "o11f @9=001 @91=0";
        }
    }
    Getlmembase unimplemented {
        "GETLMEMBASE {d}" {
            one "o1c0 @9=001 @91=0";
        }
    }
    Setlmembase unimplemented {
        "SETLMEMBASE {a}" {
            one "o1c1 @9=001 @91=0";
        }
    }
    Csmtest unimplemented {
        "CSMTEST{csm_mode@62}{csm_compare@76}{bool_op@74} {pd}, {pe}, {number@32:28}, {ps !90}" {
            one "o00d @9=100 @91=0";
        }
    }
} }

//! The uniform datapath: one value for a warp.

family! { ($) uniform {
    Uiadd3 (exact integer::iadd3) {
        "^UIADD3 {d=ur16}, {pd=up81 ?}, {pe=up84 ?}, {a=ur24 -72}, {b}, {c=ur64 -75}" {
            u "090 @74=0" "i" " -63";
        }
        "^UIADD3.X {d=ur16}, {pd=up81 ?}, {pe=up84 ?}, {a=ur24 ~72}, {b}, {c=ur64 ~75}, \
            {ps=up87 !90}, {pt=up77 !80}" {
            u "090 @74=1" "i" " ~63";
        }
    }
    /// In 64 bits.
    Uiadd3Wide unimplemented {
        "^UIADD3.64 {d=ur16}, {pd=up81 ?}, {pe=up84 ?}, {a=ur24 -72}, {b}, {c=ur64 -75}" {
            u "097 @74=0" "i" " -63";
        }
        "^UIADD3.64.X {d=ur16}, {pd=up81 ?}, {pe=up84 ?}, {a=ur24 ~72}, {b}, {c=ur64 ~75}, \
            {ps=up87 !90}, {pt=up77 !80}" {
            u "097 @74=1" "i" " ~63";
        }
    }
    Uimad (exact integer::imad) {
        "^UIMAD{signed@73} {d=ur16}, {a=ur24}, {b}, {c}" {
            uc "0a4 @74=0" "i" " -75";
        }
        "^UIMAD{signed@73}.X {d=ur16}, {a=ur24}, {b}, {c}, {ps=up87 !90}" {
            uc "0a4 @74=1" "i" " ~75";
        }
    }
    UimadWide (exact integer::imad_wide) {
        "^UIMAD.WIDE{signed@73} {d=ur16}, {pd=up81 ?}, {a=ur24}, {b}, {c}" {
            one "o0a5 @9=001 @74=0 @91=1 b=ur32 c=ur64 -75";
            one "o0a5 @9=100 @74=0 @91=1 b=i c=ur64 -75";
        }
        "^UIMAD.WIDE{signed@73}.X {d=ur16}, {pd=up81 ?}, {a=ur24}, {b}, {c}, {ps=up87 !90}" {
            one "o0a5 @9=001 @74=1 @91=1 b=ur32 c=ur64 ~75";
            one "o0a5 @9=100 @74=1 @91=1 b=i c=ur64 ~75";
        }
    }
    Ulea (exact integer::lea) {
        "^ULEA {d=ur16}, {pd=up81 ?}, {a=ur24 -72}, {b}, {lea_shift@75:5}" {
            u "091 @73=0 @74=0 @80=0" "b" " -63";
        }
        "^ULEA.X {d=ur16}, {pd=up81 ?}, {a=ur24 ~72}, {b}, {lea_shift@75:5}, {ps=up87 !90}" {
            u "091 @73=0 @74=1 @80=0" "b" " ~63";
        }
    }
    UleaHi (exact integer::lea_hi) {
        "^ULEA.HI {d=ur16}, {pd=up81 ?}, {a=ur24 -72}, {b}, {c}, {lea_shift@75:5}" {
            u "091 @73=0 @74=0 @80=1 c=ur64" "b" " -63";
            one "o091 @9=010 @74=0 @80=1 @91=1 b=ur64 c=b";
        }
        "^ULEA.HI.X {d=ur16}, {pd=up81 ?}, {a=ur24 ~72}, {b}, {c}, {lea_shift@75:5}, \
            {ps=up87 !90}" {
            u "091 @73=0 @74=1 @80=1 c=ur64" "b" " ~63";
            one "o091 @9=010 @74=1 @80=1 @91=1 b=ur64 c=b";
        }
        "^ULEA.HI.SX32 {d=ur16}, {pd=up81 ?}, {a=ur24 -72}, {b}, {lea_shift@75:5}" {
            u "091 @73=1 @74=0 @80=1" "b" " -63";
        }
        "^ULEA.HI.X.SX32 {d=ur16}, {pd=up81 ?}, {a=ur24 ~72}, {b}, {lea_shift@75:5}, \
            {ps=up87 !90}" {
            u "091 @73=1 @74=1 @80=1" "b" " ~63";
        }
    }
    Uisetp (exact compare::isetp) {
        "^UISETP{int_compare@76}{signed@73}{bool_op@74} {pd=up81}, {pe=up84}, {a=ur24}, {b}, \
            {ps=up87 !90}" {
            u "08c @72=0" "i" "";
        }
        "^UISETP{int_compare@76}{signed@73}{bool_op@74}.EX {pd=up81}, {pe=up84}, {a=ur24}, {b}, \
            {ps=up87 !90}, {pc=up68 !71}" {
            u "08c @72=1" "i" "";
        }
    }
    Ulop3 (exact bits::lop3) {
        "^ULOP3.LUT{pand@80} {pd=up81 ?}, {d=ur16}, {a=ur24}, {b}, {c=ur64}, {truth_table@72:8}, \
            {ps=up87 !90}" {
            u "092" "b" "";
        }
    }
    Uplop3 (exact bits::plop3) {
        "^UPLOP3.LUT {pd=up81}, {pe=up84}, {pa=up87 !90}, {pb=up77 !80}, {pc=up68 !71}, \
            {truth_table@64:3+72:5}, {second_truth_table@16:8}" {
            one "o09c @9=100 @91=0";
        }
        "^UPLOP3.LUT {pd=up81}, {pe=up84}, {pa=up87 !90}, {b=ur32 .G0}, {pc=up68 !71}, \
            {truth_table@72:8}, {second_truth_table@16:8}" {
            one "o09d @9=001 @91=1";
            one "o09d @9=101 @91=1";
        }
        "^UPLOP3.LUT {pd=up81}, {pe=up84}, {pa=up87 !90}, {b=ur32 .G0}, {c=ur64 .G0}, \
            {truth_table@72:8}, {second_truth_table@16:8}" {
            one "o09e @9=001 @91=1";
            one "o09e @9=101 @91=1";
        }
        "^UPLOP3.LUT {pd=up81}, {pe=up84}, {a=ur24 .G0}, {b=ur32 .G0}, {c=ur64 .G0}, \
            {truth_table@72:8}, {second_truth_table@16:8}" {
            one "o09f @9=001 @91=1";
            one "o09f @9=101 @91=1";
        }
    }
    Uprmt (exact bits::prmt) {
        "^UPRMT{uprmt_mode@72} {d=ur16}, {a=ur24}, {b}, {c}" {
            one "o096 @9=001 @91=1 b=ur32 c=ur64";
            one "o096 @9=100 @91=1 b=b c=ur64";
        }
    }
    Ushf (exact shift::shf) {
        "^USHF{shift_direction@76}{wrap@75}{shift_type@73}{high@80} {d=ur16}, {a=ur24}, {b}, {c}" {
            uc "099" "b" "";
        }
    }
    Usgxt (exact bits::sgxt) {
        "^USGXT{wrap@75}{signed@73} {d=ur16}, {a=ur24}, {b}" {
            u "09a" "b" "";
        }
    }
    Ubmsk (exact bits::bmsk) {
        "^UBMSK{wrap@75} {d=ur16}, {a=ur24}, {b}" {
            u "09b" "b" "";
        }
    }
    Uflo (exact bits::flo) {
        "^UFLO{signed@73}{shift_amount@74} {d=ur16}, {pd=up81 ?}, {b}" {
            u "0bd" "b" " ~63";
        }
    }
    Ubrev (exact bits::brev) {
        "^UBREV {d=ur16}, {b}" {
            u "0be" "b" "";
        }
    }
    Upopc (exact bits::popc) {
        "^UPOPC {d=ur16}, {b}" {
            u "0bf" "b" " ~63";
        }
    }
    Usel (exact compare::sel) {
        "^USEL {d=ur16}, {a=ur24}, {b}, {ps=up87 !90}" {
            u "087" "b" "";
        }
    }
    Umov (exact moves::mov) {
        "^UMOV {d=ur16}, {b}" {
            one "o082 @9=100 @91=0 b=b";
            one "o082 @9=110 @91=1 b=ur32";
        }
    }
    Up2ur (exact bits::p2r) {
        "^UP2UR{byte_index@76} {d=ur16}, UPR, {a=ur24}, {b}" {
            one "o083 @9=100 @91=1 b=b";
            one "o083 @9=110 @91=1 b=ur32";
        }
    }
    Ur2up (exact bits::r2p) {
        "^UR2UP UPR, {a=ur24 .B76}" {
            one "o084 @9=100 @32=00000000000000000000000011111111 @91=1";
        }
        "^UR2UP UPR, {a=ur24 .B76}, {b}" {
            one "o084 @9=100 @91=1 b=b";
            one "o084 @9=110 @91=1 b=ur32";
        }
    }
    R2ur (exact moves::r2ur) {
        "R2UR {pd ?}, {d=ur16}, {a}" {
            one "o1c2 @9=001 @84=0 @91=0 <=89";
            one "o0ca @9=001 @84=0 @91=0 >=90";
        }
        "R2UR.OR {pd}, {d=ur16}, {a}" {
            one "o1c2 @9=001 @84=1 @91=0 <=89";
            one "o0ca @9=001 @84=1 @91=0 >=90";
        }
    }
    S2ur (exact moves::s2r) {
        "^S2UR {d=ur16}, {special_register@72:8}" {
            one "o1c3 @9=100 @91=0";
        }
    }
    Voteu (exact warp::vote) {
        "VOTEU{vote_mode@72} {d=ur16 ?}, {pd=up81}, {ps !90}" {
            one "o086 @9=100 @91=0";
        }
    }
    Redux (exact warp::redux) {
        "REDUX{redux_op@78}{redux_type@73} {d=ur16}, {a}" {
            one "o1c4 @9=001 @91=0";
        }
    }
    Uldc (exact moves::uldc) {
        "^ULDC{const_size@73} {d=ur16}, {b}" {
            one "o0b9 @9=101 @91=0 b=cb";
            one "o0b9 @9=101 @91=1 b=cxb";
        }
        "^ULDC{const_size@73} {d=ur16}, {m}" {
            one "o0bb @9=101 @91=1 m=ku";
        }
        "^ULDC{const_size@73} {d=ur16}, {m=ma}" {
            one "o0b8 @9=100 @24=111111 @91=1";
        }
        "^ULDC{const_size@73} {d=ur16}, {m}, {ps=up87 !90}" {
            one "o0b8 @9=100 @91=1 m=mu24";
        }
    }
    Uclea unimplemented {
        "^UCLEA {d=ur16}, {pd=up81}, {a=ur24}, {b}, {uclea_shift@73:4}" {
            one "o0bc @9=100 @91=1 b=u32:16";
            one "o0bc @9=110 @91=1 b=ur32";
        }
    }
} }

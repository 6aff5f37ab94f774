//! Instructions that sm_90 (Hopper) adds. They are text only.

family! { ($) hopper {
    /// A sum.
    Viadd unimplemented {
        "VIADD{packed@73} {d}, {a}, {b}" {
            b "036 >=90" "b" " -63";
        }
    }
    Vimnmx unimplemented {
        "VIMNMX{video_type@72}{relu@76} {d}, {a}, {b}, {ps !90}" {
            b "048 @81=111 >=90" "i" "";
        }
        "VIMNMX{video_type@72}{relu@76} {d}, {pd}, {pe}, {a}, {b}, {ps !90}" {
            b "048 >=90" "i" "";
        }
    }
    Vimnmx3 unimplemented {
        "VIMNMX3{video_type@72}{relu@76} {d}, {a}, {b}, {c}, {ps !90}" {
            b3 "00f >=90" "b" "" "";
        }
    }
    /// The minimum or maximum of a sum and C.
    Viaddmnmx unimplemented {
        "VIADDMNMX{video_type@72}{relu@76} {d}, {a}, {b}, {c}, {ps !90}" {
            b3 "046 >=90" "b" " -63" "";
            c "046 >=90" "b" " -75" "";
        }
    }
    /// Of three pairs of halves.
    Vhmnmx unimplemented {
        "VHMNMX{brain@85}{ftz@80}{nan@81}{xorsign@82} {d}, {a -72 |73 .F74}, {b}, {c}, {ps !90}" {
            b3 "047 @78=0 @85=0 >=90" "x" " -63 |62 .F60" " -84 |83 .F76";
            b3 "047 @78=0 @85=1 >=90" "y" " -63 |62 .F60" " -84 |83 .F76";
        }
    }
    /// Of BF16.
    BrainToInteger unimplemented {
        "F2I{ftz@80}{f2i_narrow@72:1+75:2}.BF16{int_rounding@78}{ntz@77} {d}, {b}" {
            noimm "105 @84=00 >=90" " -63 |62 .Q60";
        }
        "F2I{ftz@80}{f2i_type@72:1+75:2}.BF16{int_rounding@78}{ntz@77} {d}, {b}" {
            noimm "111 @75=11 @84=00 >=90" " -63 |62 .Q60";
        }
    }
    IntegerToBrain unimplemented {
        "I2F.BF16{i2f_source@74:1+84:2}{rounding@78} {d}, {b}" {
            noimm "106 @75=00 @84=00 >=90" " .B60";
            noimm "106 @75=00 @84=01 >=90" " .Q60";
            b "106 @75=00 @84=10 >=90" "b" "";
            noimm "112 @75=00 @84=11 >=90" "";
        }
    }
    /// Matrices to shared memory.
    Stsm unimplemented {
        "STSM.16{stored_matrix@78}{matrix_count@72} {m}, {b=r32}" {
            one "o044 @9=100 @75=0 @91=0 >=90";
            one "o044 @9=100 @75=0 @91=1 >=90 m=mu64";
        }
    }
    /// Atomic operations on vectors of floats.
    AtomVector unimplemented {
        "ATOM{extended@72}{vector_op@88}{eviction@84}{float_vector@73:4+87}{store_scope@77} {pd}, \
            {d}, {m}, {b=r32}" {
            one "o1a2 @9=001 @91=0 >=90";
            one "o1a2 @9=100 @91=1 @71=0 m=mau >=90";
            one "o1a2 @9=100 @91=1 @71=1 @70=1 m=mad >=90";
        }
        "ATOMG{extended@72}{vector_op@88}{eviction@84}{float_vector@73:4+87}{store_scope@77} \
            {pd}, {d}, {m}, {b=r32}" {
            one "o1a3 @9=001 @91=0 >=90";
            one "o1a3 @9=100 @91=1 @71=0 m=mau >=90";
            one "o1a3 @9=100 @91=1 @71=1 @70=1 m=mad >=90";
        }
        "REDG{extended@72}{vector_op@88}{eviction@84}{float_vector@73:4+87}{store_scope@77} {m}, \
            {b=r32}" {
            one "o1a6 @9=100 @91=0 >=90";
            one "o1a6 @9=100 @91=1 @71=0 m=mwu64 >=90";
            one "o1a6 @9=100 @91=1 @71=1 @90=1 m=md64 >=90";
        }
    }
    AtomWide unimplemented {
        "ATOM{extended@72}{atomic_op@87}{eviction@84}{wide_atomic_type@73}{store_scope@77} {pd}, \
            {d}, {m}, {b=r32}" {
            one "o18a @9=001 @91=0 >=90";
            one "o18a @9=100 @91=1 @71=0 m=mau >=90";
            one "o18a @9=100 @91=1 @71=1 @70=1 m=mad >=90";
        }
        "ATOMG{extended@72}{global_atomic_op@87}{eviction@84}{wide_atomic_type@73}{store_scope@77} \
            {pd}, {d}, {m}, {b=r32}" {
            one "o1a8 @9=001 @91=0 >=90";
            one "o1a8 @9=100 @91=1 @71=0 m=mau >=90";
            one "o1a8 @9=100 @91=1 @71=1 @70=1 m=mad >=90";
        }
        "ATOMS{shared_atomic_op@87}{wide_atomic_type@73} {d}, {m}, {b=r32}" {
            one "o18c @9=001 @91=0 m=mf >=90";
            one "o18c @9=100 @91=1 m=mfu64 >=90";
        }
    }
    Redg unimplemented {
        "REDG{extended@72}{reduce_op@87:3}{eviction@84}{wide_atomic_type@73}{store_scope@77} \
            {m}, {b=r32}" {
            one "o18e @9=100 @91=0 >=90";
            one "o18e @9=100 @91=1 @71=0 m=mwu64 >=90";
            one "o18e @9=100 @91=1 @71=1 @90=1 m=md64 >=90";
        }
    }
    /// Barriers in shared memory.
    Syncs unimplemented {
        "^SYNCS.EXCH.64 {d=ur16}, {m=ma24}, {b=ur32}" {
            one "o1b2 @9=010 @72=01 @91=1 >=90";
        }
        "^SYNCS.LD.64 {d=ur16}, {m=ma24}" {
            one "o1b2 @9=100 @72=00 @91=1 >=90";
        }
        "SYNCS.PHASECHK.TRANS64{try_wait@72} {pd}, {m=mu64}, {b=r32}" {
            one "o1a7 @9=010 @70=01 @91=1 >=90";
        }
        "SYNCS.ARRIVE.TRANS64{arrive_kind@73}{opt_out@75}{arrive_count@84} {d}, {m=mu64}, {b=r32}" {
            one "o1a7 @9=100 @70=00 @91=1 >=90";
        }
        "SYNCS.LD.64 {d}, {m=mu64}" { one "o1b1 @9=010 @91=1 >=90"; }
        "SYNCS.CCTL.IVALL" { one "o1b1 @9=100 @72=00 @91=0 >=90"; }
        "SYNCS.CCTL.WBALL" { one "o1b1 @9=100 @72=01 @91=0 >=90"; }
        "SYNCS.CCTL.IV {m=mu64}" { one "o1b1 @9=100 @72=00 @91=1 >=90"; }
        "SYNCS.CCTL.WB {m=mu64}" { one "o1b1 @9=100 @72=01 @91=1 >=90"; }
    }
    /// Copies of tensors.
    Utma unimplemented {
        "^UTMALDG{tensor_dim@79}{multicast@75} {m=mb}, {g=mc}, {c=ur64}" {
            one "o1b4 @9=001 @76=0 @91=1 >=90";
        }
        "^UTMALDG{tensor_dim@79}{multicast@75} {m=mb}, {g=mc}, {c=ur64}, desc[{h=ur40}]" {
            one "o1b4 @9=001 @76=1 @91=1 >=90";
        }
        "^UTMASTG{tensor_dim@79} {m=mb}, {g=mc}" { one "o1b5 @9=001 @76=0 @91=1 >=90"; }
        "^UTMASTG{tensor_dim@79} {m=mb}, {g=mc}, desc[{h=ur40}]" {
            one "o1b5 @9=001 @76=1 @91=1 >=90";
        }
        "^UTMAREDG{tensor_dim@79}{reduce_op@87:3} {m=mb}, {g=mc}" {
            one "o1b6 @9=001 @76=0 @91=1 >=90";
        }
        "^UTMAREDG{tensor_dim@79}{reduce_op@87:3} {m=mb}, {g=mc}, desc[{h=ur40}]" {
            one "o1b6 @9=001 @76=1 @91=1 >=90";
        }
        "^UTMAPF.L2{tensor_dim@79} {m=mb}, {g=mc}, {c=ur64}" {
            one "o1b8 @9=001 @76=0 @82=1 @91=1 >=90";
        }
        "^UTMAPF.L2{tensor_dim@79} {m=mb}, {g=mc}, {c=ur64}, desc[{h=ur40}]" {
            one "o1b8 @9=001 @76=1 @82=1 @91=1 >=90";
        }
        "^UTMAPF.L2{tensor_dim@79:3} {m=mb}, {g=mc}" { one "o1b8 @9=010 @76=0 @91=1 >=90"; }
        "^UTMAPF.L2{tensor_dim@79:3} {m=mb}, {g=mc}, desc[{h=ur40}]" {
            one "o1b8 @9=010 @76=1 @91=1 >=90";
        }
        "^UTMALDG{tensor_dim@79:3} {m=mb}, {g=mc}" { one "o1b4 @9=010 @76=0 @91=1 >=90"; }
        "^UTMALDG{tensor_dim@79:3} {m=mb}, {g=mc}, desc[{h=ur40}]" {
            one "o1b4 @9=010 @76=1 @91=1 >=90";
        }
        "^UTMACMDFLUSH" { one "o1b7 @9=100 @91=0 >=90"; }
        "^UTMACCTL.IVALL" { one "o1b9 @9=100 @83=1 @91=0 >=90"; }
        "^UTMACCTL.IV {m=mc}" { one "o1b9 @9=100 @72=0 @91=1 >=90"; }
    }
    /// Bulk copies.
    Ublk unimplemented {
        "^UBLKCP{bulk_spaces@73}{multicast@75}{bulk_prefetch@81}{sequenced@83} {m=mb}, {g=mc}, \
            {c=ur64}" {
            one "o1ba @9=001 @76=0 @91=1 >=90";
        }
        "^UBLKCP{bulk_spaces@73}{multicast@75}{bulk_prefetch@81}{sequenced@83} {m=mb}, {g=mc}, \
            {c=ur64}, desc[{h=ur40}]" {
            one "o1ba @9=001 @76=1 @91=1 >=90";
        }
        "^UBLKPF.L2 {g=mc}, {c=ur64}" { one "o1bc @9=001 @76=0 @91=1 >=90"; }
        "^UBLKPF.L2 {g=mc}, {c=ur64}, desc[{h=ur40}]" { one "o1bc @9=001 @76=1 @91=1 >=90"; }
    }
    FenceViewAsync unimplemented {
        "FENCE.VIEW.ASYNC{fence_view@72}" { one "o1c6 @9=001 @91=0 >=90"; }
    }
    Usetshmsz unimplemented {
        "^USETSHMSZ {b=ur32}" { one "o1c9 @9=001 @91=1 >=90"; }
        "^USETSHMSZ {b=u32:20}" { one "o1c9 @9=100 @72=0 @91=1 >=90"; }
        "^USETSHMSZ.FLUSH" { one "o1c9 @9=100 @72=1 @91=1 >=90"; }
    }
    Ulepc unimplemented {
        "^ULEPC {d=ur16}" { one "o1ce @9=001 @91=1 >=90"; }
    }
    Cgaerrbar unimplemented {
        "CGAERRBAR" { one "o1ab @9=010 @91=0 >=90"; }
    }
    /// The barrier of a cluster's blocks.
    Ucgabar unimplemented {
        "^UCGABAR_ARV" { one "o1c7 @9=100 @72=0 @91=1 >=90"; }
        "^UCGABAR_WAIT" { one "o1c7 @9=110 @91=1 >=90"; }
    }
    Preexit unimplemented {
        "PREEXIT" { one "o02d @9=100 @91=0 >=90"; }
    }
    Acqbulk unimplemented {
        "ACQBULK" { one "o02e @9=100 @91=0 >=90"; }
    }
    Elect unimplemented {
        "ELECT{ignore_kill@85} {pd}, {d=ur16}, {ps !90}" { one "o02f @9=100 @91=0 >=90"; }
    }
    Endcollective unimplemented {
        "ENDCOLLECTIVE {ps !90 ?}" { one "o11b @9=100 @91=0 >=90"; }
    }
    /// Groups of four warps.
    Warpgroup unimplemented {
        "WARPGROUP.ARRIVE" { one "o1c5 @9=100 @79=0 @80=0 @91=0 >=90"; }
        "WARPGROUP.WAIT" { one "o1c5 @9=100 @79=1 @80=0 @91=0 >=90"; }
        "WARPGROUP.DEPBAR.LE gsb0, {group_count@72:3}" {
            one "o1c5 @9=100 @47=1 @79=0 @80=1 @84=000 @91=0 >=90";
        }
        "WARPGROUPSET.AC {b=ur32}" { one "o15e @9=110 @79=0 @91=1 >=90"; }
        "WARPGROUPSET.SB {b=ur32}, gsb0" { one "o15e @9=110 @79=1 @84=000 @91=1 >=90"; }
    }
    Usetmaxreg unimplemented {
        "^USETMAXREG.DEALLOC{register_pool@74} {b=u32:10}" {
            one "o1c8 @9=100 @72=01 @91=1 >=90";
        }
        "^USETMAXREG.TRY_ALLOC{register_pool@74} {pd=up81}, {b=u32:10}" {
            one "o1c8 @9=100 @72=10 @91=1 >=90";
        }
    }
    /// Products of warp groups.
    Hgmma unimplemented {
        "HGMMA" {
            gmma "1f0" "{hgmma_shape@53:6}" "{sparse_hgmma_shape@53:7}" "{hgmma_types@75} {d}, "
                "{negated_a@72}{negated_b@63}{transposed_a@61}{transposed_b@62}"
                "{negated_b@63}{transposed_b@62}" ", {e=r40}, {sparsity@48:2}";
        }
    }
    Qgmma unimplemented {
        "QGMMA" {
            gmma "1f3" "{qgmma_shape@53:6}" "{sparse_qgmma_shape@53:6}" "{qgmma_types@75} {d}, "
                "{negated_a@72}{negated_b@63}" "{negated_b@63}" ", {e=r40}";
        }
    }
} }

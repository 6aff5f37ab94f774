// As for sm_50. s[4:5] words, s[6:7] how far the first workgroup is, s[8:9] what the second found, s10 bytes, s11 the workgroup.
.target gfx900
    s_mov_b32 s12, 0
    s_mov_b32 s13, 0
    v_mov_b32_e32 v0, 0
    s_cmp_lg_u32 s11, 0
    s_cbranch_scc1 .Lread
.Lwrite:
    s_add_u32 s12, s12, 4
    v_mov_b32_e32 v1, s12
    v_add_u32_e32 v2, 7, v1
    global_store_dword v1, v2, s[4:5]
    s_waitcnt vmcnt(0)
    global_store_dword v0, v1, s[6:7]
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lwrite
    s_endpgm
.Lread:
    global_load_dword v1, v0, s[6:7] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s12, v1
    s_cmp_eq_u32 s12, 0
    s_cbranch_scc1 .Lread
    buffer_wbinvl1_vol
    global_load_dword v2, v1, s[4:5]
    v_add_u32_e32 v3, 7, v1
    s_waitcnt vmcnt(0)
    v_cmp_ne_u32_e32 vcc, v2, v3
    s_cmp_lg_u64 vcc, 0
    s_cselect_b32 s16, 1, 0
    s_add_u32 s13, s13, s16
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lread
    v_mov_b32_e32 v4, s13
    v_mov_b32_e32 v5, s12
    global_store_dwordx2 v0, v[4:5], s[8:9]
    s_endpgm

// As for sm_50. s[4:5] the word, s[6:7] how often it went back, and what was seen last, s10 rounds, s11 the workgroup.
.target gfx900
    s_mov_b32 s12, 0
    s_mov_b32 s13, 0
    v_mov_b32_e32 v0, 0
    s_cmp_lg_u32 s11, 0
    s_cbranch_scc1 .Lread
.Lwrite:
    s_add_u32 s12, s12, 1
    v_mov_b32_e32 v1, s12
    global_store_dword v0, v1, s[4:5]
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lwrite
    s_endpgm
.Lread:
    global_load_dword v2, v0, s[4:5] glc
    s_waitcnt vmcnt(0)
    global_load_dword v3, v0, s[4:5] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s14, v2
    v_readfirstlane_b32 s15, v3
    s_cmp_lt_u32 s14, s12
    s_cselect_b32 s16, 1, 0
    s_add_u32 s13, s13, s16
    s_cmp_lt_u32 s15, s14
    s_cselect_b32 s16, 1, 0
    s_add_u32 s13, s13, s16
    s_mov_b32 s12, s15
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Lread
    v_mov_b32_e32 v4, s13
    v_mov_b32_e32 v5, s12
    global_store_dwordx2 v0, v[4:5], s[6:7]
    s_endpgm

// As for sm_50. s[4:5] the lock, s[6:7] the words, s10 rounds.
.target gfx900
    s_mov_b32 s12, 0
    v_mov_b32_e32 v0, 0
    v_mov_b32_e32 v2, 1
    v_mov_b32_e32 v3, 0
.Ltake:
    global_atomic_cmpswap v4, v0, v[2:3], s[4:5] glc
    s_waitcnt vmcnt(0)
    v_cmp_ne_u32_e32 vcc, 0, v4
    s_cbranch_vccnz .Ltake
    buffer_wbinvl1_vol
    global_load_dwordx2 v[6:7], v0, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v6, 1, v6
    v_add_u32_e32 v7, 1, v7
    global_store_dwordx2 v0, v[6:7], s[6:7]
    s_waitcnt vmcnt(0)
    global_store_dword v0, v0, s[4:5]
    s_add_u32 s12, s12, 1
    s_cmp_lt_u32 s12, s10
    s_cbranch_scc1 .Ltake
    s_endpgm
